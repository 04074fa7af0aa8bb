//! What variants were measured to be: for a terminal, as JSON and Markdown.
//!
//! **Invariant:** all forms show the same tables, rounded alike; a strategy
//! without variants has no averages.

use std::fmt::Write as _;

use optsleuth_lab::{EmiBench, EmiBenchCoverage, EmiBenchStrategy};

use super::tables;
use crate::Style;
use crate::table::{Cell, Column, Kind, Table};
use crate::words;

/// For a terminal.
pub fn emi_bench_text(found: &EmiBench, style: Style) -> String {
    let mut out = format!("{}\n\n", style.heading(&headline(found)));
    strategies(found).text(&mut out, style);
    if let Some(coverage) = &found.coverage {
        let _ = writeln!(out, "\n{}", style.notable(&covered(coverage)));
        gained(coverage).text(&mut out, style);
    }
    if !found.errors.is_empty() {
        let _ = writeln!(out, "\n{}", style.notable("variants that are not equivalent"));
        tables::errors(&found.errors).text(&mut out, style);
    }
    out
}

/// The same as Markdown.
pub fn emi_bench_markdown(found: &EmiBench) -> String {
    let mut out = format!("# {}\n\n", headline(found));
    let _ = writeln!(out, "Programs: {}. Judged by {}.\n", found.source, found.judges.join(", "));
    strategies(found).markdown(&mut out);
    if let Some(coverage) = &found.coverage {
        let _ = writeln!(out, "{}:\n", covered(coverage));
        gained(coverage).markdown(&mut out);
    }
    if !found.errors.is_empty() {
        out.push_str("Variants that are not equivalent:\n\n");
        tables::errors(&found.errors).markdown(&mut out);
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// Everything as JSON.
pub fn emi_bench_json(found: &EmiBench) -> String {
    serde_json::to_string(found).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
}

fn headline(found: &EmiBench) -> String {
    format!(
        "Variants of {}, {} of each by each strategy, seed {}",
        words::counted(found.seeds, "program", "programs"),
        words::count(found.variants),
        found.seed
    )
}

fn strategies(found: &EmiBench) -> Table {
    let columns = vec![
        Column::words("Strategy"),
        Column::new("Variants", Kind::Number, "Equivalent to their programs"),
        Column::new("Errors", Kind::LessIsBetter, "Variants that are not"),
        Column::new("None made", Kind::Number, "How often there was nothing to do"),
        Column::new("Snippets", Kind::Number, "New ones in a variant, mean"),
        Column::new("s to make", Kind::LessIsBetter, "Seconds for a variant, mean"),
        Column::new("longest", Kind::Number, "Seconds for the slowest one"),
        Column::new("s to judge", Kind::Number, "Seconds for a variant, mean"),
    ];
    let row = |made: &EmiBenchStrategy| {
        let all = made.variants + made.errors;
        let mean = |sum: f64, of: u64| match of {
            0 => Cell::none(),
            of => Cell::number(format!("{:.2}", sum / of as f64), sum / of as f64),
        };
        vec![
            Cell::words(&made.strategy),
            count(made.variants),
            count(made.errors),
            count(made.nothing),
            mean(made.snippets as f64, made.variants),
            mean(made.deriving, all),
            Cell::number(format!("{:.2}", made.longest), made.longest),
            mean(made.judging, all),
        ]
    };
    Table { columns, rows: found.strategies.iter().map(row).collect() }
}

fn covered(coverage: &EmiBenchCoverage) -> String {
    format!(
        "Programs alone execute {} of {} blocks of LLVM {} ({})",
        words::count(coverage.seeds),
        words::count(coverage.n_blocks),
        coverage.llvm,
        words::percent(coverage.seeds, coverage.n_blocks)
    )
}

fn gained(coverage: &EmiBenchCoverage) -> Table {
    let columns = vec![
        Column::words("Strategy"),
        Column::new("Variants of each", Kind::Number, ""),
        Column::new("Blocks", Kind::Number, "By programs and variants"),
        Column::new("More", Kind::MoreIsBetter, "Than by the programs alone"),
        Column::new("% of all", Kind::Number, "What is more, in percent of all blocks"),
    ];
    let row = |(strategy, variants, blocks): &(String, u64, u64)| {
        let more = blocks.saturating_sub(coverage.seeds);
        let share = 100.0 * more as f64 / (coverage.n_blocks.max(1)) as f64;
        vec![
            Cell::words(strategy),
            count(*variants),
            count(*blocks),
            count(more),
            Cell::number(format!("{share:.2}"), share),
        ]
    };
    Table { columns, rows: coverage.gained.iter().map(row).collect() }
}

fn count(n: u64) -> Cell {
    Cell::count(usize::try_from(n).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found() -> EmiBench {
        let hermes = EmiBenchStrategy {
            strategy: "hermes".to_owned(),
            variants: 19,
            nothing: 0,
            errors: 1,
            snippets: 57,
            deriving: 4.0,
            longest: 0.75,
            judging: 30.0,
        };
        let orion = EmiBenchStrategy {
            strategy: "orion".to_owned(),
            nothing: 20,
            ..EmiBenchStrategy::default()
        };
        EmiBench {
            version: 1,
            seeds: 2,
            unsuited: 1,
            variants: 10,
            seed: 7,
            source: "csmith, small programs".to_owned(),
            judges: vec!["clang 19.1.7 -O0".to_owned()],
            strategies: vec![hermes, orion],
            coverage: Some(EmiBenchCoverage {
                llvm: "19.1.7".to_owned(),
                n_blocks: 1000,
                seeds: 200,
                gained: vec![("hermes".to_owned(), 1, 230)],
            }),
            errors: Vec::new(),
            interrupted: false,
        }
    }

    fn check(text: &str, row: &str) {
        let words: Vec<&str> = row.split(' ').collect();
        let has = |line: &str| line.split_whitespace().collect::<Vec<_>>() == words;
        assert!(text.lines().any(has), "no `{row}` in\n{text}");
    }

    #[test]
    fn figures_are_means_over_all_variants() {
        let text = emi_bench_text(&found(), Style::Plain);
        check(&text, "hermes 19 1 0 3.00 0.20 0.75 1.50");
        check(&text, "orion 0 0 20 – – 0.00 –");
        check(&text, "hermes 1 230 30 3.00");
        assert!(text.contains("200 of 1,000 blocks of LLVM 19.1.7 (20.0 %)"), "{text}");
    }

    #[test]
    fn markdown_and_json_have_the_same() {
        let markdown = emi_bench_markdown(&found());
        assert!(markdown.starts_with("# Variants of 2 programs, 10 of each"), "{markdown}");
        assert!(markdown.contains("Judged by clang 19.1.7 -O0."), "{markdown}");
        let json: serde_json::Value = serde_json::from_str(&emi_bench_json(&found())).unwrap();
        assert_eq!((&json["version"], &json["strategies"][0]["errors"]), (&1.into(), &1.into()));
    }
}
