//! Ways to hunt, side by side: for a terminal, as JSON, CSV and Markdown.
//!
//! **Invariant:** all forms show the same table, rounded alike; which bugs are
//! one is for the hunts to say.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use optsleuth_eval::{a12, mann_whitney, mean};
use optsleuth_model::{Compared, ComparedRun, SequenceChoice};

use crate::table::{Cell, Column, Kind, Table};
use crate::{Style, words};

/// What others are compared with.
const BASELINE: SequenceChoice = SequenceChoice::Random;

/// The comparison for a terminal.
pub fn compare_text(compared: &Compared, style: Style) -> String {
    let mut out = format!("{}\n\n", style.heading(&headline(compared)));
    table(compared).text(&mut out, style);
    out.push('\n');
    bugs(compared).text(&mut out, style);
    if compared.interrupted {
        out.push_str("\nIt was interrupted; the same command goes on.\n");
    }
    out
}

pub fn compare_markdown(compared: &Compared) -> String {
    let mut out = format!("# {}\n\n", headline(compared));
    table(compared).markdown(&mut out);
    out.push_str("Bugs, and with how many of the seeds each way found them:\n\n");
    bugs(compared).markdown(&mut out);
    out
}

/// All runs as JSON.
pub fn compare_json(compared: &Compared) -> String {
    let mut json = serde_json::json!({ "version": 1 });
    if let (Some(all), Ok(serde_json::Value::Object(own))) =
        (json.as_object_mut(), serde_json::to_value(compared))
    {
        all.extend(own);
    }
    json.to_string()
}

/// One line per run.
pub fn compare_csv(compared: &Compared) -> String {
    let mut out = "strategy,seed,bugs,tests,programs,seconds,blocks\n".to_owned();
    for run in &compared.runs {
        let ComparedRun { strategy, seed, tests, programs, seconds, blocks, bugs } = run;
        let _ = writeln!(
            out,
            "{},{seed},{},{tests},{programs},{seconds:.1},{blocks}",
            strategy.name(),
            bugs.len()
        );
    }
    out
}

fn headline(compared: &Compared) -> String {
    let seeds: BTreeSet<u64> = compared.runs.iter().map(|run| run.seed).collect();
    let seconds: Vec<f64> = compared.runs.iter().map(|run| run.seconds).collect();
    format!(
        "Ways to hunt on LLVM {}: {}, {} s each on average",
        compared.llvm,
        words::counted(seeds.len() as u64, "seed", "seeds"),
        mean(&seconds).unwrap_or_default().round(),
    )
}

/// The ways that ran, in their order.
fn strategies(compared: &Compared) -> Vec<SequenceChoice> {
    let ran = |strategy: &SequenceChoice| compared.runs.iter().any(|run| run.strategy == *strategy);
    SequenceChoice::ALL.into_iter().filter(ran).collect()
}

fn figures(compared: &Compared, strategy: SequenceChoice, of: fn(&ComparedRun) -> f64) -> Vec<f64> {
    compared.runs.iter().filter(|run| run.strategy == strategy).map(of).collect()
}

fn table(compared: &Compared) -> Table {
    let columns = vec![
        Column::words("Sequences"),
        Column::new("Bugs", Kind::MoreIsBetter, "Unique bugs, mean of the seeds"),
        Column::new("Fewest", Kind::Number, "With the worst seed"),
        Column::new("Most", Kind::Number, "With the best seed"),
        Column::new("In all", Kind::MoreIsBetter, "Unique bugs of all seeds together"),
        Column::new("p", Kind::Number, "Mann-Whitney U, two-sided, against random"),
        Column::new("A12", Kind::Number, "How often a run finds more than one of random"),
        Column::new("Tests", Kind::MoreIsBetter, "Mean of the seeds"),
        Column::new("Programs", Kind::Number, "Mean of the seeds"),
        Column::new("Blocks", Kind::MoreIsBetter, "Executed blocks of the compiler, mean"),
    ];
    let baseline = figures(compared, BASELINE, n_bugs);
    let row = |strategy: SequenceChoice| {
        let bugs = figures(compared, strategy, n_bugs);
        let all: BTreeSet<&String> = compared
            .runs
            .iter()
            .filter(|run| run.strategy == strategy)
            .flat_map(|run| &run.bugs)
            .collect();
        let is_compared = strategy != BASELINE && !baseline.is_empty();
        let p = mann_whitney(&bugs, &baseline).filter(|_| is_compared);
        let effect = a12(&bugs, &baseline).filter(|_| is_compared);
        let averaged = |of| average(&figures(compared, strategy, of));
        vec![
            Cell::words(strategy.name()),
            average(&bugs),
            extreme(&bugs, f64::min),
            extreme(&bugs, f64::max),
            Cell::count(all.len()),
            p.map_or_else(Cell::none, |test| Cell::number(format!("{:.3}", test.p), test.p)),
            effect.map_or_else(Cell::none, |a12| Cell::number(format!("{a12:.2}"), a12)),
            averaged(|run| run.tests as f64),
            averaged(|run| run.programs as f64),
            averaged(|run| run.blocks as f64),
        ]
    };
    let rows = strategies(compared).into_iter().map(row).collect();
    Table { columns, rows }.with_best()
}

fn n_bugs(run: &ComparedRun) -> f64 {
    run.bugs.len() as f64
}

fn average(values: &[f64]) -> Cell {
    match mean(values) {
        Some(mean) if mean >= 100.0 => Cell::number(words::count(mean.round() as u64), mean),
        Some(mean) => Cell::number(format!("{mean:.1}"), mean),
        None => Cell::none(),
    }
}

fn extreme(values: &[f64], of: fn(f64, f64) -> f64) -> Cell {
    match values.iter().copied().reduce(of) {
        Some(value) => Cell::number(format!("{value}"), value),
        None => Cell::none(),
    }
}

/// Which bug was found by whom.
fn bugs(compared: &Compared) -> Table {
    let strategies = strategies(compared);
    let mut found: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for run in &compared.runs {
        let Some(place) = strategies.iter().position(|known| *known == run.strategy) else {
            continue;
        };
        for bug in &run.bugs {
            found.entry(bug).or_insert_with(|| vec![0; strategies.len()])[place] += 1;
        }
    }
    let mut columns = vec![Column::words("Bug")];
    columns.extend(strategies.iter().map(|way| Column::new(way.name(), Kind::Number, "")));
    let rows = found.into_iter().map(|(bug, counts)| {
        std::iter::once(Cell::words(bug)).chain(counts.into_iter().map(Cell::count)).collect()
    });
    Table { columns, rows: rows.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(strategy: SequenceChoice, seed: u64, bugs: &[&str]) -> ComparedRun {
        let bugs = bugs.iter().map(|&bug| bug.to_owned()).collect();
        ComparedRun {
            strategy,
            seed,
            tests: 1000 + seed,
            programs: 8,
            seconds: 60.2,
            blocks: 5,
            bugs,
        }
    }

    fn compared() -> Compared {
        let runs = vec![
            run(SequenceChoice::Ctos, 1, &["crash | gvn | x", "hang | licm"]),
            run(SequenceChoice::Random, 1, &["crash | gvn | x"]),
            run(SequenceChoice::Ctos, 2, &["crash | gvn | x"]),
            run(SequenceChoice::Random, 2, &[]),
        ];
        Compared { llvm: "14.0.6".to_owned(), runs, n_blocks: 10, interrupted: false }
    }

    #[test]
    fn ways_are_compared_with_random() {
        let text = compare_text(&compared(), Style::Plain);
        assert!(text.contains("LLVM 14.0.6: 2 seeds, 60 s each"), "{text}");
        let rows: Vec<Vec<&str>> =
            text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert!(
            rows.contains(&vec![
                "ctos", "1.5", "1", "2", "2", "0.414", "0.88", "1,002", "8.0", "5.0"
            ]),
            "{text}"
        );
        assert!(
            rows.contains(&vec!["random", "0.5", "0", "1", "1", "–", "–", "1,002", "8.0", "5.0"]),
            "{text}"
        );
        assert!(rows.contains(&vec!["crash", "|", "gvn", "|", "x", "2", "1"]), "{text}");
    }

    #[test]
    fn raw_figures_are_kept() {
        let csv = compare_csv(&compared());
        assert_eq!(csv.lines().nth(1), Some("ctos,1,2,1001,8,60.2,5"));
        let json: serde_json::Value = serde_json::from_str(&compare_json(&compared())).unwrap();
        assert_eq!(json["version"], 1);
        assert_eq!(json["runs"][0]["bugs"][1], "hang | licm");
        assert!(compare_markdown(&compared()).contains("| hang \\| licm | 1 | 0 |"));
    }
}
