//! A bench -> one HTML file that needs no other, in the look of a case's page.
//!
//! **Invariant:** as for a case's page: no network, readable without JavaScript,
//! foreign text through `escape` alone. A section without content is left out,
//! and so is the link to it.

use std::fmt::{self, Write as _};

use super::BenchReport;
use super::board::Board;
use super::pictures::pictures;
use super::searches::searches;
use super::tables::{self, CASES_NOTE, SIDES};
use crate::escape::Text;
use crate::html::sections::{self, Section, tabled};
use crate::{html, words};

/// The page of a bench, as one HTML document.
pub fn bench_html(report: &BenchReport<'_>) -> String {
    let mut out = String::new();
    match page(&mut out, &Board::of(report)) {
        Ok(()) => out,
        Err(error) => unreachable!("a string takes every text: {error}"),
    }
}

fn page(out: &mut String, board: &Board<'_>) -> fmt::Result {
    let report = board.report;
    html::open(out, report.title)?;
    let n_cases = board.all().cases().len();
    write!(
        out,
        "<header>\n<p class=\"kicker\">Bench of localization methods</p>\n<h1>{}</h1>\n\
         <p class=\"tags\"><span>{}</span> <span>{}</span> <span>{}</span></p>\n",
        Text(report.title),
        words::counted(report.methods.len(), "method", "methods"),
        words::counted(n_cases, "case", "cases"),
        words::counted(report.seeds.len(), "seed", "seeds"),
    )?;
    let sections = parts(board)?;
    sections::links(out, &sections)?;
    out.push_str("</header>\n<main>\n<section id=\"measured\">\n<h2>What was measured</h2>\n");
    sections::facts(out, &board.facts())?;
    if board.all().measurements.is_empty() {
        out.push_str("<p class=\"note\">Nothing was measured.</p>\n");
    }
    out.push_str("</section>\n");
    sections::write(out, &sections)?;
    html::close(out)
}

fn parts(board: &Board<'_>) -> Result<[Section; 9], fmt::Error> {
    let main = board.main();
    let over = format!("Over {}.", main.name);
    let anew =
        format!("The same runs, ranked anew with other formulas, aggregations and weights. {over}");
    let first = format!(
        "First ranks of each case, by the median over seeds. p is the probability of a difference \
         this large by chance; A12 below 0.5 says that the method is the better one. {over}"
    );
    Ok([
        Section { id: "results", title: "Results", body: results(board)? },
        Section { id: "pictures", title: "Pictures", body: pictured(board)? },
        Section { id: "spread", title: "Spread over seeds", body: spread(board)? },
        Section {
            id: "kinds",
            title: "By kind of failure",
            body: tabled(&over, &tables::kinds(board), "kinds", "By kind of failure")?,
        },
        Section {
            id: "recipes",
            title: "Formulas and aggregations",
            body: tabled(&anew, &tables::recipes(&main.scores), "recipes", "Recipes")?,
        },
        Section {
            id: "comparisons",
            title: "Against the first method",
            body: tabled(&first, &tables::comparisons(&main.scores), "compared", "Comparisons")?,
        },
        Section {
            id: "searches",
            title: "What searches did",
            body: tabled(
                "Sums over all cases and seeds.",
                &searches(board.all()),
                "searched",
                "What searches did",
            )?,
        },
        Section {
            id: "cases",
            title: "Cases",
            body: tabled(CASES_NOTE, &tables::cases(board), "by-case", "Cases")?,
        },
        Section { id: "unmeasured", title: "Not measured", body: unmeasured(board)? },
    ])
}

fn results(board: &Board<'_>) -> Result<String, fmt::Error> {
    let mut out = String::new();
    for (i, set) in board.sets.iter().enumerate() {
        for (what, plural, _) in SIDES {
            let Some(table) = tables::headline(&set.scores, what) else { continue };
            let title = format!("Ranks of {plural}");
            writeln!(out, "<h3>{title} <span class=\"quiet\">{}</span></h3>", set.name)?;
            table.html(&mut out, &format!("headline-{i}-{plural}"), &title)?;
        }
    }
    if !out.is_empty() {
        out.push_str(
            "<p class=\"note\">Top-N: cases with a true one among the first N suspects. MFR, MAR: \
             the mean over cases of the first and of the average rank of the true ones; smaller \
             is better. One that is not among the suspects counts as the last of them. In each \
             case, the median over seeds counts. The best of a column is bold.</p>\n",
        );
    }
    Ok(out)
}

fn pictured(board: &Board<'_>) -> Result<String, fmt::Error> {
    let mut out = String::new();
    sections::pictures(&mut out, &format!("Over {}.", board.main().name), &pictures(board))?;
    Ok(out)
}

fn spread(board: &Board<'_>) -> Result<String, fmt::Error> {
    let mut out = String::new();
    for (what, plural, _) in SIDES {
        let Some(table) = tables::spread(&board.main().scores, what) else { continue };
        let title = format!("Ranks of {plural}");
        writeln!(out, "<h3>{title} <span class=\"quiet\">{}</span></h3>", board.main().name)?;
        table.html(&mut out, &format!("spread-{plural}"), &title)?;
    }
    Ok(out)
}

fn unmeasured(board: &Board<'_>) -> Result<String, fmt::Error> {
    match tables::unmeasured(board) {
        Some(table) => tabled("", &table, "missing", "Not measured"),
        None => Ok(String::new()),
    }
}
