//! A campaign for a terminal: what was done, what was found, what was left out
//! and why, and what to do next.

use std::fmt::Write as _;

use optsleuth_model::{Campaign, Finding};

use super::facts;
use super::tables::{self, Detail};
use crate::table::Table;
use crate::{Style, words};

/// A campaign, for a person.
pub fn campaign_text(campaign: &Campaign, style: Style) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}", style.heading(&facts::headline(campaign)));
    for (name, said) in facts::facts(campaign) {
        let _ = writeln!(out, "  {} {said}", style.quiet(&format!("{name:<8}")));
    }
    section(&mut out, "findings", &tables::findings(campaign, Detail::Line, |_| None), style);
    section(&mut out, "dismissed", &tables::dismissed(campaign), style);
    section(&mut out, "rejected programs", &tables::rejected(campaign), style);
    section(&mut out, "exclusions", &tables::exclusions(campaign), style);
    out.push('\n');
    let _ = match first_to_triage(&campaign.findings) {
        Some(finding) => writeln!(
            out,
            "next: {} (CAMPAIGN: the campaign's folder)",
            style.heading(&format!("optsleuth triage CAMPAIGN/{}", finding.case))
        ),
        None => writeln!(out, "{}", nothing(campaign)),
    };
    out
}

fn section(out: &mut String, title: &str, table: &Table, style: Style) {
    if !table.rows.is_empty() {
        let _ = writeln!(out, "\n{}", style.notable(title));
        table.text(out, style);
    }
}

/// What is worth most to the compiler's developers: what users can meet, then
/// what others can see, then what came first.
fn first_to_triage(findings: &[Finding]) -> Option<&Finding> {
    let worth = |finding: &&Finding| {
        (finding.levels.is_empty(), !finding.confirmed, !finding.default_passes_only)
    };
    findings.iter().min_by_key(worth)
}

/// That there is no finding, in words.
pub(super) fn nothing(campaign: &Campaign) -> String {
    match campaign.tests {
        0 => "nothing was tested".to_owned(),
        n => format!("nothing was found in {}", words::counted(n, "test", "tests")),
    }
}
