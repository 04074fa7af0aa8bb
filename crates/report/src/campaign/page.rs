//! A campaign -> one HTML file that needs no other, in the look of a case's
//! page.
//!
//! **Invariant:** as for a case's page: no network, readable without JavaScript,
//! foreign text through `escape` alone. The only links out of the page lead to
//! the files of cases, which lie beside it.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use optsleuth_model::{CASE_FILE, Campaign, Finding, Hunt};

use super::facts;
use super::pictures::pictures;
use super::tables::{Detail, Part, parts};
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
    let of_variants = match campaign.hunt {
        Hunt::Passes(_) => "",
        Hunt::Variants(_) => " of variants",
    };
    write!(
        out,
        "<header>\n<p class=\"kicker\">Campaign{of_variants}, seed {}</p>\n<h1>{} in {}</h1>\n\
         <p class=\"tags\">",
        campaign.seed,
        words::counted(campaign.findings.len(), "finding", "findings"),
        Text(&facts::compilers(campaign)),
    )?;
    for tag in tags(campaign) {
        write!(out, "<span>{}</span> ", Text(&tag))?;
    }
    out.push_str("</p>\n");
    let sections = all_sections(campaign, triaged)?;
    sections::links(out, &sections)?;
    out.push_str("</header>\n<main>\n<section id=\"done\">\n<h2>What was done</h2>\n");
    sections::facts(out, &facts::facts(campaign))?;
    if campaign.findings.is_empty() {
        let nothing = facts::nothing(campaign);
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
    ];
    if let Hunt::Variants(hunt) = &campaign.hunt {
        tags.push(words::counted(facts::n_variants(hunt), "variant", "variants"));
    }
    tags.push(words::seconds(campaign.seconds));
    tags.extend(facts::rate(campaign));
    if let Some(blocks) = facts::executed(campaign) {
        let share = words::percent(blocks, campaign.n_blocks);
        tags.push(format!("{share} of the compiler executed"));
    }
    tags
}

/// The tables, with pictures after the findings and settings at the end.
fn all_sections(
    campaign: &Campaign,
    triaged: &BTreeSet<String>,
) -> Result<Vec<Section>, fmt::Error> {
    let link = |finding: &Finding| {
        let file = if triaged.contains(&finding.case) { CASE_PAGE } else { CASE_FILE };
        Some(Beside { folder: &finding.case, file }.to_string())
    };
    let mut all = Vec::new();
    for Part { id, title, note, table } in parts(campaign, Detail::Row, &link) {
        let body = tabled(note, &table, &format!("{id}-table"), title)?;
        all.push(Section { id, title, body });
    }
    let mut body = String::new();
    sections::pictures(&mut body, "", &pictures(campaign))?;
    let after_findings = usize::from(!campaign.findings.is_empty());
    all.insert(after_findings, Section { id: "pictures", title: "Pictures", body });
    all.push(Section { id: "settings", title: "Settings", body: settings(campaign)? });
    Ok(all)
}

fn settings(campaign: &Campaign) -> Result<String, fmt::Error> {
    let mut out = String::new();
    sections::facts(&mut out, &facts::settings(campaign))?;
    if let Hunt::Passes(hunt) = &campaign.hunt
        && let passes = &hunt.settings.passes
        && !passes.is_empty()
    {
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
