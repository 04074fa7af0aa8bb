//! A campaign as Markdown: what was done, and the table of findings.

use std::fmt::Write as _;

use optsleuth_model::Campaign;

use super::facts;
use super::tables::{self, Detail};
use super::text::nothing;
use crate::markdown::inline;

/// A campaign's facts and findings as Markdown, for a repository or an issue
/// tracker.
pub fn campaign_markdown(campaign: &Campaign) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "# {}\n", inline(&facts::headline(campaign)));
    for (name, said) in facts::facts(campaign) {
        let _ = writeln!(out, "- {name}: {}", inline(&said));
    }
    out.push('\n');
    if campaign.findings.is_empty() {
        let _ = writeln!(out, "There is no finding: {}.", nothing(campaign));
        return out;
    }
    tables::findings(campaign, Detail::Row, |_| None).markdown(&mut out);
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}
