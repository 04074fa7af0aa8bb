//! A campaign for a terminal, as JSON and as Markdown: what was done, what was
//! found, what was left out and why, and what to do next.

use std::fmt::Write as _;

use optsleuth_model::{Campaign, Finding, Trigger};

use super::facts;
use super::tables::{Detail, Part, parts};
use crate::markdown::inline;
use crate::{Style, to_json};

/// A campaign, for a person.
pub fn campaign_text(campaign: &Campaign, style: Style) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}", style.heading(&facts::headline(campaign)));
    for (name, said) in facts::facts(campaign) {
        let _ = writeln!(out, "  {} {said}", style.quiet(&format!("{name:<8}")));
    }
    for Part { title, table, .. } in parts(campaign, Detail::Line, &|_| None) {
        let _ = writeln!(out, "\n{}", style.notable(&title.to_lowercase()));
        table.text(&mut out, style);
    }
    out.push('\n');
    let _ = match first_to_triage(&campaign.findings) {
        Some(finding) => writeln!(
            out,
            "next: {} (CAMPAIGN: the campaign's folder)",
            style.heading(&next_command(finding))
        ),
        None => writeln!(out, "{}", facts::nothing(campaign)),
    };
    out
}

/// A campaign as a JSON document. The keys are those of [`Campaign`], which can be
/// read from it again.
pub fn campaign_json(campaign: &Campaign) -> String {
    to_json(campaign)
}

/// A campaign's facts and tables as Markdown, for a repository or an issue
/// tracker.
pub fn campaign_markdown(campaign: &Campaign) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "# {}\n", inline(&facts::headline(campaign)));
    for (name, said) in facts::facts(campaign) {
        let _ = writeln!(out, "- {name}: {}", inline(&said));
    }
    for Part { title, table, .. } in parts(campaign, Detail::Row, &|_| None) {
        let _ = writeln!(out, "\n## {title}\n");
        table.markdown(&mut out);
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
    if campaign.findings.is_empty() {
        let _ = writeln!(out, "\nThere is no finding: {}.", facts::nothing(campaign));
    }
    out
}

/// What is worth most to the compiler's developers: what users can meet, then
/// what others can see, then what came first.
fn first_to_triage(findings: &[Finding]) -> Option<&Finding> {
    let worth = |finding: &&Finding| {
        let is_usual = match &finding.trigger {
            Trigger::Passes(trigger) => trigger.default_passes_only,
            Trigger::Variant(_) => true,
        };
        (finding.levels.is_empty(), !finding.confirmed, !is_usual)
    };
    findings.iter().min_by_key(worth)
}

/// What to do with a finding: only what is LLVM's can be triaged.
fn next_command(finding: &Finding) -> String {
    let is_llvms = match finding.trigger {
        Trigger::Passes(_) => true,
        Trigger::Variant(_) => finding.guilty.is_some(),
    };
    let command = if is_llvms { "triage" } else { "case check" };
    format!("optsleuth {command} CAMPAIGN/{}", finding.case)
}
