//! A campaign of variants for a terminal, as JSON and as Markdown.

use std::fmt::Write as _;

use optsleuth_model::{EmiCampaign, EmiFinding};

use super::{facts, tables};
use crate::markdown::inline;
use crate::table::Table;
use crate::{Style, to_json};

/// A campaign, for a person.
pub fn emi_text(campaign: &EmiCampaign, style: Style) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}", style.heading(&facts::headline(campaign)));
    for (name, said) in facts::facts(campaign) {
        let _ = writeln!(out, "  {} {said}", style.quiet(&format!("{name:<8}")));
    }
    for (title, table) in sections(campaign) {
        if !table.rows.is_empty() {
            let _ = writeln!(out, "\n{}", style.notable(title));
            table.text(&mut out, style);
        }
    }
    out.push('\n');
    let _ = match campaign.findings.first() {
        Some(finding) => writeln!(
            out,
            "next: {} (CAMPAIGN: the campaign's folder)",
            style.heading(&next_command(finding))
        ),
        None => writeln!(out, "{}", facts::nothing(campaign)),
    };
    out
}

/// A campaign as a JSON document. The keys are those of [`EmiCampaign`], which
/// can be read from it again.
pub fn emi_json(campaign: &EmiCampaign) -> String {
    to_json(campaign)
}

/// A campaign's facts and tables as Markdown, for a repository or an issue
/// tracker.
pub fn emi_markdown(campaign: &EmiCampaign) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "# {}\n", inline(&facts::headline(campaign)));
    for (name, said) in facts::facts(campaign) {
        let _ = writeln!(out, "- {name}: {}", inline(&said));
    }
    for (title, table) in sections(campaign) {
        if !table.rows.is_empty() {
            let _ = writeln!(out, "\n## {title}\n");
            table.markdown(&mut out);
            out.truncate(out.trim_end().len());
            out.push('\n');
        }
    }
    if campaign.findings.is_empty() {
        let _ = writeln!(out, "\nThere is no finding: {}.", facts::nothing(campaign));
    }
    out
}

/// All tables under their titles.
fn sections(campaign: &EmiCampaign) -> [(&'static str, Table); 6] {
    [
        ("findings", tables::findings(campaign, |_| None)),
        ("strategies", tables::strategies(campaign)),
        ("compilers", tables::tallies(campaign)),
        ("dismissed", tables::reasons("Tests", &campaign.dismissed)),
        ("rejected programs", tables::reasons("Programs", &campaign.rejected)),
        ("errors of our own", tables::errors(&campaign.errors)),
    ]
}

/// What is worth doing with a finding: only what is LLVM's can be triaged.
fn next_command(finding: &EmiFinding) -> String {
    match finding.guilty {
        Some(_) => format!("optsleuth triage CAMPAIGN/{}", finding.case),
        None => format!("optsleuth case check CAMPAIGN/{}", finding.case),
    }
}
