//! The result of `optsleuth triage PROJECT`: which unit, which function.

use std::fmt::Write as _;

use optsleuth_model::ProjectFinding;

use crate::{Style, to_json};

/// For programs.
pub fn project_json(found: &ProjectFinding) -> String {
    to_json(found)
}

/// For people.
pub fn project_text(found: &ProjectFinding, style: Style) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}: {}", style.heading(&found.project), found.what);
    if let Some(said) = &found.sanitizers {
        let _ = writeln!(text, "{}", style.bad("sanitizers object to the guilty unit:"));
        for line in said.text.lines() {
            let _ = writeln!(text, "  {line}");
        }
    }
    for unit in &found.units {
        let level = unit.level.as_ref().map_or_else(String::new, |level| format!(" at -{level}"));
        let _ = writeln!(
            text,
            "guilty unit      {}{level} (one of {})",
            style.bad(&unit.name),
            found.n_units
        );
        if let Some(n_functions) = unit.n_functions {
            let names = match unit.functions.is_empty() {
                true => "none alone".to_owned(),
                false => unit.functions.join(", "),
            };
            let _ = writeln!(text, "guilty function  {} (of {n_functions})", style.bad(&names));
        }
    }
    for others in &found.several {
        let _ = writeln!(text, "it fails without that, too, because of {}", others.join(", "));
    }
    for note in &found.notes {
        let _ = writeln!(text, "{}", style.quiet(note));
    }
    let _ = writeln!(
        text,
        "{}",
        style.quiet(&format!(
            "{} links, {} checks, {:.1} s",
            found.links, found.checks, found.seconds
        ))
    );
    text
}
