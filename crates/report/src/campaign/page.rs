//! A campaign -> one HTML file that needs no other, in the look of a case's
//! page.
//!
//! **Invariant:** as for a case's page: no network, readable without JavaScript,
//! foreign text through `escape` alone. The only links out of the page lead to
//! the files of cases, which lie beside it.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use optsleuth_model::{CASE_FILE, Campaign, Finding};

use super::pictures::pictures;
use super::tables::{self, Detail};
use super::{facts, text};
use crate::escape::{Beside, Text};
use crate::html::sections::{self, Section, tabled};
use crate::{html, words};

/// What triage leaves in a case's folder for a browser.
const CASE_PAGE: &str = "index.html";

/// The page of a campaign, as one HTML document for its folder. Findings lead to
/// their `case.toml`, which is always there.
pub fn campaign_page(campaign: &Campaign) -> String {
    campaign_page_with_reports(campaign, &BTreeSet::new())
}

/// The same, where some cases were triaged: the names of their folders, as the
/// findings have them. These lead to their `index.html`.
pub fn campaign_page_with_reports(campaign: &Campaign, triaged: &BTreeSet<String>) -> String {
    let mut out = String::new();
    match page(&mut out, campaign, triaged) {
        Ok(()) => out,
        Err(error) => unreachable!("a string takes every text: {error}"),
    }
}

fn page(out: &mut String, campaign: &Campaign, triaged: &BTreeSet<String>) -> fmt::Result {
    html::open(out, &facts::headline(campaign))?;
    let n_findings = campaign.findings.len();
    write!(
        out,
        "<header>\n<p class=\"kicker\">Campaign, seed {}</p>\n<h1>{} in LLVM {}</h1>\n\
         <p class=\"tags\">",
        campaign.settings.seed,
        words::counted(n_findings, "finding", "findings"),
        Text(&campaign.llvm),
    )?;
    for tag in tags(campaign) {
        write!(out, "<span>{}</span> ", Text(&tag))?;
    }
    out.push_str("</p>\n");
    let sections = parts(campaign, triaged)?;
    sections::links(out, &sections)?;
    out.push_str("</header>\n<main>\n<section id=\"done\">\n<h2>What was done</h2>\n");
    sections::facts(out, &facts::facts(campaign))?;
    if campaign.findings.is_empty() {
        let nothing = text::nothing(campaign);
        writeln!(out, "<p class=\"what\">There is no finding: {}.</p>", Text(&nothing))?;
    }
    out.push_str("</section>\n");
    sections::write(out, &sections)?;
    html::close(out)
}

/// The key figures.
fn tags(campaign: &Campaign) -> Vec<String> {
    let mut tags = vec![
        words::counted(campaign.tests, "test", "tests"),
        words::counted(campaign.programs, "program", "programs"),
        words::seconds(campaign.seconds),
    ];
    tags.extend(facts::rate(campaign));
    if let Some(blocks) = facts::executed(campaign) {
        let share = words::percent(blocks, campaign.n_blocks);
        tags.push(format!("{share} of the compiler executed"));
    }
    tags
}

fn parts(campaign: &Campaign, triaged: &BTreeSet<String>) -> Result<[Section; 6], fmt::Error> {
    let dismissed = "What deviated from what should happen, and is no finding.";
    let rejected = "Programs that were made or read, and not used for tests.";
    let exclusions = "Passes that were not to follow each other, at whatever distance.";
    Ok([
        Section { id: "findings", title: "Findings", body: findings(campaign, triaged)? },
        Section { id: "pictures", title: "Pictures", body: pictured(campaign)? },
        Section {
            id: "dismissed",
            title: "Dismissed",
            body: tabled(dismissed, &tables::dismissed(campaign), "no-finding", "Dismissed")?,
        },
        Section {
            id: "rejected",
            title: "Rejected programs",
            body: tabled(rejected, &tables::rejected(campaign), "unused", "Rejected programs")?,
        },
        Section {
            id: "exclusions",
            title: "Exclusions",
            body: tabled(exclusions, &tables::exclusions(campaign), "apart", "Exclusions")?,
        },
        Section { id: "settings", title: "Settings", body: settings(campaign)? },
    ])
}

fn findings(campaign: &Campaign, triaged: &BTreeSet<String>) -> Result<String, fmt::Error> {
    let link = |finding: &Finding| {
        let file = if triaged.contains(&finding.case) { CASE_PAGE } else { CASE_FILE };
        Some(Beside { folder: &finding.case, file }.to_string())
    };
    let table = tables::findings(campaign, Detail::Row, link);
    if table.rows.is_empty() {
        return Ok(String::new());
    }
    let mut out = "<p class=\"note\">In the order in which they were found, each with its reduced \
                   sequence of passes. Who is to blame is said by \
                   <code>optsleuth triage CAMPAIGN/CASE</code>.</p>\n"
        .to_owned();
    table.html(&mut out, "by-number", "Findings")?;
    Ok(out)
}

fn pictured(campaign: &Campaign) -> Result<String, fmt::Error> {
    let mut out = String::new();
    sections::pictures(&mut out, "", &pictures(campaign))?;
    Ok(out)
}

fn settings(campaign: &Campaign) -> Result<String, fmt::Error> {
    let mut out = String::new();
    sections::facts(&mut out, &facts::settings(&campaign.settings))?;
    let passes = &campaign.settings.passes;
    if !passes.is_empty() {
        writeln!(
            out,
            "<details id=\"passes-used\">\n<summary>Sequences are made of {}</summary>\n\
             <pre class=\"wrap\"><code>{}</code></pre>\n</details>",
            words::counted(passes.len(), "pass", "passes"),
            Text(&passes.join(", "))
        )?;
    }
    Ok(out)
}
