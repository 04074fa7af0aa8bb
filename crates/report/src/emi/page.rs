//! A campaign of variants -> one HTML file that needs no other, in the look of a
//! case's page.
//!
//! **Invariant:** as for a case's page: no network, readable without JavaScript,
//! foreign text through `escape` alone. The only links out of the page lead to
//! the files of cases, which lie beside it.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use optsleuth_model::{CASE_FILE, EmiCampaign, EmiFinding};

use super::pictures::pictures;
use super::{facts, tables};
use crate::escape::{Beside, Text};
use crate::html::sections::{self, Section, tabled};
use crate::{html, words};

/// What triage leaves in a case's folder for a browser.
const CASE_PAGE: &str = "index.html";

/// The page of a campaign, as one HTML document for its folder. Some cases were
/// triaged: the names of their folders, as the findings have them. These lead to
/// their `index.html`, others to their `case.toml`.
pub fn emi_page(campaign: &EmiCampaign, triaged: &BTreeSet<String>) -> String {
    let mut out = String::new();
    match page(&mut out, campaign, triaged) {
        Ok(()) => out,
        Err(error) => unreachable!("a string takes every text: {error}"),
    }
}

fn page(out: &mut String, campaign: &EmiCampaign, triaged: &BTreeSet<String>) -> fmt::Result {
    html::open(out, &facts::headline(campaign))?;
    let compilers = campaign.settings.compilers.iter();
    let compilers: Vec<&str> = compilers.map(|(name, _)| name.as_str()).collect();
    write!(
        out,
        "<header>\n<p class=\"kicker\">Campaign of variants, seed {}</p>\n<h1>{} in {}</h1>\n\
         <p class=\"tags\">",
        campaign.settings.seed,
        words::counted(campaign.findings.len(), "finding", "findings"),
        Text(&compilers.join(", ")),
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
        let nothing = facts::nothing(campaign);
        writeln!(out, "<p class=\"what\">There is no finding: {}.</p>", Text(&nothing))?;
    }
    out.push_str("</section>\n");
    sections::write(out, &sections)?;
    html::close(out)
}

/// The key figures.
fn tags(campaign: &EmiCampaign) -> Vec<String> {
    vec![
        words::counted(campaign.tests, "test", "tests"),
        words::counted(campaign.seeds, "program", "programs"),
        words::counted(facts::n_variants(campaign), "variant", "variants"),
        words::seconds(campaign.seconds),
    ]
}

fn parts(campaign: &EmiCampaign, triaged: &BTreeSet<String>) -> Result<[Section; 8], fmt::Error> {
    let link = |finding: &EmiFinding| {
        let file = if triaged.contains(&finding.case) { CASE_PAGE } else { CASE_FILE };
        Some(Beside { folder: &finding.case, file }.to_string())
    };
    let found = "In the order in which they were found, each with the kinds of snippets that it \
                 needs.";
    let findings = tables::findings(campaign, link);
    let made = "Variants are tested only if they do what their program does.";
    let seen = "What the compilers did with programs and variants.";
    let dismissed = "What deviated from what should happen, and is no finding.";
    let rejected = "Programs that were made or read, and not used.";
    let errors = "Variants that did something else than their programs: errors of OptSleuth's \
                  own, never of a compiler.";
    let (why, unused) = (&campaign.dismissed, &campaign.rejected);
    let (why, unused) = (tables::reasons("Tests", why), tables::reasons("Programs", unused));
    let (mut pictured, mut settings) = (String::new(), String::new());
    sections::pictures(&mut pictured, "", &pictures(campaign))?;
    sections::facts(&mut settings, &facts::settings(&campaign.settings))?;
    let section = |id, title, body| Section { id, title, body };
    let strategies = tables::strategies(campaign);
    let tallies = tables::tallies(campaign);
    let wrong = tables::errors(&campaign.errors);
    Ok([
        section("findings", "Findings", tabled(found, &findings, "by-number", "Findings")?),
        section("pictures", "Pictures", pictured),
        section("strategies", "Strategies", tabled(made, &strategies, "made", "Strategies")?),
        section("compilers", "Compilers", tabled(seen, &tallies, "seen", "Compilers")?),
        section("dismissed", "Dismissed", tabled(dismissed, &why, "no-finding", "Dismissed")?),
        section("rejected", "Rejected programs", tabled(rejected, &unused, "unused", "Rejected")?),
        section("errors", "Errors of our own", tabled(errors, &wrong, "wrong", "Errors")?),
        section("settings", "Settings", settings),
    ])
}
