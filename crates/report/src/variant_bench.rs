//! What variants were measured to be: for a terminal, as JSON and Markdown, and
//! as a picture of what they reach (Figure 7 of the Hermes paper).
//!
//! **Invariant:** all forms show the same tables, rounded alike; a strategy
//! without variants has no averages.

use std::fmt::Write as _;

use optsleuth_model::{VariantBench, VariantBenchCoverage, VariantBenchGain, VariantBenchStrategy};

use crate::campaign::errors_table;
use crate::svg::{Axis, Line, Look, Plot, Shape};
use crate::table::{Cell, Column, Kind, Table};
use crate::{Style, to_json, words};

/// Coverage is told for so many variants of each program, and for all.
const TOLD: [usize; 3] = [1, 5, 10];

/// For a terminal.
pub fn variant_bench_text(found: &VariantBench, style: Style) -> String {
    let mut out = format!("{}\n\n", style.heading(&headline(found)));
    strategies(found).text(&mut out, style);
    if let Some(coverage) = &found.coverage {
        let _ = writeln!(out, "\n{}", style.notable(&covered(coverage)));
        gained(coverage).text(&mut out, style);
    }
    if !found.errors.is_empty() {
        let _ = writeln!(out, "\n{}", style.notable("variants that are not equivalent"));
        errors_table(&found.errors).text(&mut out, style);
    }
    out
}

pub fn variant_bench_markdown(found: &VariantBench) -> String {
    let mut out = format!("# {}\n\n", headline(found));
    let _ = writeln!(out, "Programs: {}. Judged by {}.\n", found.source, found.judges.join(", "));
    strategies(found).markdown(&mut out);
    if let Some(coverage) = &found.coverage {
        let _ = writeln!(out, "{}:\n", covered(coverage));
        gained(coverage).markdown(&mut out);
    }
    if !found.errors.is_empty() {
        out.push_str("Variants that are not equivalent:\n\n");
        errors_table(&found.errors).markdown(&mut out);
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

pub fn variant_bench_json(found: &VariantBench) -> String {
    to_json(found)
}

fn headline(found: &VariantBench) -> String {
    format!(
        "Variants of {}, {} of each by each strategy, seed {}",
        words::counted(found.programs, "program", "programs"),
        words::count(found.variants),
        found.seed
    )
}

fn strategies(found: &VariantBench) -> Table {
    let columns = vec![
        Column::words("Strategy"),
        Column::new("Variants", Kind::Number, "Equivalent to their programs"),
        Column::new("Errors", Kind::LessIsBetter, "Variants that are not"),
        Column::new("Undecided", Kind::LessIsBetter, "A judge's compiler crashed on them"),
        Column::new("None made", Kind::Number, "How often there was nothing to do"),
        Column::new("Snippets", Kind::Number, "New ones in a variant, mean"),
        Column::new("s to make", Kind::LessIsBetter, "Seconds for a variant, mean"),
        Column::new("longest", Kind::Number, "Seconds for the slowest one"),
        Column::new("s to judge", Kind::Number, "Seconds for a variant, mean"),
    ];
    let row = |made: &VariantBenchStrategy| {
        let all = made.variants + made.errors + made.undecided;
        let mean = |sum: f64, of: u64| match of {
            0 => Cell::none(),
            of => Cell::number(format!("{:.2}", sum / of as f64), sum / of as f64),
        };
        vec![
            Cell::words(&made.strategy),
            count(made.variants),
            count(made.errors),
            count(made.undecided),
            count(made.nothing),
            mean(made.snippets as f64, made.variants),
            mean(made.deriving, all),
            Cell::number(format!("{:.2}", made.longest), made.longest),
            mean(made.judging, all),
        ]
    };
    Table { columns, rows: found.strategies.iter().map(row).collect() }
}

fn covered(coverage: &VariantBenchCoverage) -> String {
    format!(
        "Programs alone execute {} of {} blocks of LLVM {} ({})",
        words::count(coverage.programs),
        words::count(coverage.n_blocks),
        coverage.llvm,
        words::percent(coverage.programs, coverage.n_blocks)
    )
}

fn gained(coverage: &VariantBenchCoverage) -> Table {
    let columns = vec![
        Column::words("Strategy"),
        Column::new("Variants of each", Kind::Number, ""),
        Column::new("Blocks", Kind::Number, "By programs and variants"),
        Column::new("More", Kind::MoreIsBetter, "Than by the programs alone"),
        Column::new(
            "% of theirs",
            Kind::Number,
            "What is more, in percent of the programs' blocks",
        ),
        Column::new("% of all", Kind::Number, "What is more, in percent of all blocks"),
    ];
    let row = |strategy: &str, variants: usize, blocks: u64| {
        let more = blocks.saturating_sub(coverage.programs);
        vec![
            Cell::words(strategy),
            Cell::count(variants),
            count(blocks),
            count(more),
            percent(more, coverage.programs),
            percent(more, coverage.n_blocks),
        ]
    };
    let rows_of = |gain: &VariantBenchGain| -> Vec<Vec<Cell>> {
        let blocks = gain.blocks.iter().enumerate().map(|(place, blocks)| (place + 1, *blocks));
        let told = blocks.filter(|(n, _)| TOLD.contains(n) || *n == gain.blocks.len());
        told.map(|(n, blocks)| row(&gain.strategy, n, blocks)).collect()
    };
    Table { columns, rows: coverage.gained.iter().flat_map(rows_of).collect() }
}

fn percent(part: u64, whole: u64) -> Cell {
    let share = 100.0 * part as f64 / whole.max(1) as f64;
    Cell::number(format!("{share:.2}"), share)
}

/// A file's text: blocks that variants add, over their number; `None` without
/// coverage.
pub fn variant_bench_picture(found: &VariantBench) -> Option<String> {
    let coverage = found.coverage.as_ref()?;
    let more = |blocks: u64| blocks.saturating_sub(coverage.programs) as f64;
    let most = coverage.gained.iter().flat_map(|gain| &gain.blocks).copied().max()?;
    let line = |(series, gain): (usize, &'_ VariantBenchGain)| {
        let reached = gain.blocks.iter().enumerate();
        let points = reached.map(|(place, blocks)| ((place + 1) as f64, Some(more(*blocks))));
        (series, std::iter::once((0.0, Some(0.0))).chain(points).collect::<Vec<_>>())
    };
    let drawn = coverage.gained.iter().enumerate().map(line);
    let lines = drawn.zip(&coverage.gained).map(|((series, points), gain)| Line {
        label: &gain.strategy,
        look: Look::Series(series),
        shape: Shape::Straight,
        points,
    });
    let said = |gain: &VariantBenchGain| {
        let last = gain.blocks.last().map_or(0.0, |blocks| more(*blocks));
        format!("{}: {} more with {} variants of each.", gain.strategy, last, gain.blocks.len())
    };
    let plot = Plot {
        id: "gained".to_owned(),
        title: "Blocks that variants execute beyond their programs",
        description: coverage.gained.iter().map(said).collect::<Vec<_>>().join(" "),
        x_label: "variants of each program",
        y_label: "more blocks",
        x: Axis::counts(usize::try_from(found.variants).unwrap_or(usize::MAX)),
        y: Axis::up_to(more(most)),
        bands: Vec::new(),
        lines: lines.collect(),
    };
    Some(plot.picture().alone())
}

fn count(n: u64) -> Cell {
    Cell::count(usize::try_from(n).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found() -> VariantBench {
        let hermes = VariantBenchStrategy {
            strategy: "hermes".to_owned(),
            variants: 19,
            nothing: 0,
            errors: 1,
            undecided: 0,
            snippets: 57,
            deriving: 4.0,
            longest: 0.75,
            judging: 30.0,
        };
        let orion = VariantBenchStrategy {
            strategy: "orion".to_owned(),
            nothing: 20,
            ..VariantBenchStrategy::default()
        };
        VariantBench {
            version: 3,
            programs: 2,
            unsuited: 1,
            variants: 3,
            seed: 7,
            source: "csmith, small programs".to_owned(),
            judges: vec!["clang 19.1.7 -O0".to_owned()],
            strategies: vec![hermes, orion],
            coverage: Some(VariantBenchCoverage {
                llvm: "19.1.7".to_owned(),
                n_blocks: 1000,
                programs: 200,
                gained: vec![VariantBenchGain {
                    strategy: "hermes".to_owned(),
                    blocks: vec![230, 240, 250],
                }],
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
        let text = variant_bench_text(&found(), Style::Plain);
        check(&text, "hermes 19 1 0 0 3.00 0.20 0.75 1.50");
        check(&text, "orion 0 0 0 20 – – 0.00 –");
        check(&text, "hermes 1 230 30 15.00 3.00");
        check(&text, "hermes 3 250 50 25.00 5.00");
        assert!(!text.contains("240"), "{text}");
        assert!(text.contains("200 of 1,000 blocks of LLVM 19.1.7 (20.0 %)"), "{text}");
    }

    #[test]
    fn markdown_and_json_have_the_same() {
        let markdown = variant_bench_markdown(&found());
        assert!(markdown.starts_with("# Variants of 2 programs, 3 of each"), "{markdown}");
        assert!(markdown.contains("Judged by clang 19.1.7 -O0."), "{markdown}");
        let json: serde_json::Value = serde_json::from_str(&variant_bench_json(&found())).unwrap();
        assert_eq!((&json["version"], &json["strategies"][0]["errors"]), (&3.into(), &1.into()));
        assert_eq!(json["coverage"]["gained"][0]["blocks"][1], 240);
    }

    #[test]
    fn the_picture_begins_with_the_programs_alone() {
        let picture = variant_bench_picture(&found()).unwrap();
        assert!(picture.contains("hermes: 50 more with 3 variants of each."), "{picture}");
        let none = VariantBench { coverage: None, ..found() };
        assert_eq!(variant_bench_picture(&none), None);
    }
}
