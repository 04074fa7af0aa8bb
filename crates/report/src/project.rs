//! The result of `optsleuth triage PROJECT`: which unit, which function.

use std::fmt::Write as _;

use optsleuth_model::ProjectFinding;

use serde::Serialize;
use serde_json::Value;

use crate::{Style, to_json};

/// For programs. What triage said of the guilty unit's case is JSON already.
pub fn project_json(found: &ProjectFinding, triage: Option<&str>) -> String {
    #[derive(Serialize)]
    struct WithTriage<'a> {
        #[serde(flatten)]
        found: &'a ProjectFinding,
        triage: Option<Value>,
    }
    let triage = triage.and_then(|text| serde_json::from_str(text).ok());
    to_json(&WithTriage { found, triage })
}

/// The first part of a report.
pub fn project_markdown(found: &ProjectFinding) -> String {
    let mut text = String::from("# In the project\n\n");
    let _ = writeln!(text, "`{}`: {}.\n", found.check, found.what);
    if let Some(said) = &found.sanitizers {
        let _ = writeln!(
            text,
            "**Sanitizers object to the guilty unit**, compiled without optimization. Look at \
             this first: the program is likely to be wrong, not the compiler.\n\n```\n{}\n```\n",
            said.text
        );
    }
    for unit in &found.units {
        let level = unit.level.as_deref().map(|level| format!(" at `-{level}`"));
        let _ = write!(
            text,
            "- `{}`{}, one of {} units, has to be optimized so that it fails",
            unit.name,
            level.unwrap_or_default(),
            found.n_units
        );
        let functions: Vec<String> =
            unit.functions.iter().map(|name| format!("`{name}`")).collect();
        let _ = match functions.is_empty() {
            true => writeln!(text, "."),
            false => writeln!(text, "; of its functions, {}.", functions.join(" and ")),
        };
    }
    for others in &found.several {
        let _ =
            writeln!(text, "- It fails without that, too, because of `{}`.", others.join("`, `"));
    }
    for note in &found.notes {
        let _ = writeln!(text, "- {note}");
    }
    text.push('\n');
    text
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
