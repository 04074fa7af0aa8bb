//! A bench for a terminal: the figures of the papers, and what is missing.

use std::fmt::Write as _;

use super::BenchReport;
use super::board::Board;
use super::tables::{self, SIDES};
use crate::Style;

/// The headline of a bench, for a person.
pub fn bench_text(report: &BenchReport<'_>, style: Style) -> String {
    let board = Board::of(report);
    let mut out = String::new();
    let _ = writeln!(out, "{}", style.heading(report.title));
    for (name, said) in board.facts() {
        let _ = writeln!(out, "{} {said}", style.quiet(&format!("{name:<8}")));
    }
    if board.all().measurements.is_empty() {
        let _ = writeln!(out, "\n{}", style.bad("nothing was measured"));
    }
    for set in &board.sets {
        for (what, plural, _) in SIDES {
            if let Some(table) = tables::headline(&set.scores, what) {
                let name = format!("{plural}, {}", set.name);
                let _ = writeln!(out, "\n{}", style.notable(&name));
                table.text(&mut out, style);
            }
        }
    }
    if let Some(table) = tables::unmeasured(&board) {
        let _ = writeln!(out, "\n{}", style.notable("not measured"));
        table.text(&mut out, style);
    }
    out
}
