//! A bench as Markdown: every table, for a repository or an issue tracker.

use std::fmt::Write as _;

use super::BenchReport;
use super::board::Board;
use super::searches::searches;
use super::tables::{self, CASES_NOTE, SIDES};
use crate::markdown::inline;
use crate::table::Table;

/// All tables of a bench as Markdown.
pub fn bench_markdown(report: &BenchReport<'_>) -> String {
    let board = Board::of(report);
    let mut out = String::new();
    let _ = writeln!(out, "# {}\n", inline(report.title));
    for (name, said) in board.facts() {
        let _ = writeln!(out, "- {name}: {}", inline(&said));
    }
    out.push('\n');
    if board.all().measurements.is_empty() {
        out.push_str("Nothing was measured.\n\n");
    }
    for set in &board.sets {
        for (what, plural, _) in SIDES {
            if let Some(table) = tables::headline(&set.scores, what) {
                section(&mut out, &format!("Ranks of {plural}, {}", set.name), "", &table);
            }
        }
    }
    let main = board.main();
    let over = format!("Over {}.", main.name);
    for (what, plural, _) in SIDES {
        if let Some(table) = tables::spread(&main.scores, what) {
            section(&mut out, &format!("Spread over seeds, {plural}"), &over, &table);
        }
    }
    section(&mut out, "By kind of failure", &over, &tables::kinds(&board));
    let said = format!("The same runs, ranked anew. {over}");
    section(&mut out, "Formulas and aggregations", &said, &tables::recipes(&main.scores));
    let said = format!("First ranks, by the median over seeds. {over}");
    section(&mut out, "Against the first method", &said, &tables::comparisons(&main.scores));
    section(
        &mut out,
        "What searches did",
        "Sums over all cases and seeds.",
        &searches(board.all()),
    );
    section(&mut out, "Cases", CASES_NOTE, &tables::cases(&board));
    if let Some(table) = tables::unmeasured(&board) {
        section(&mut out, "Not measured", "", &table);
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// A table under its heading; nothing if it has no rows.
fn section(out: &mut String, title: &str, said: &str, table: &Table) {
    if table.rows.is_empty() {
        return;
    }
    let _ = writeln!(out, "## {title}\n");
    if !said.is_empty() {
        let _ = writeln!(out, "{said}\n");
    }
    table.markdown(out);
}
