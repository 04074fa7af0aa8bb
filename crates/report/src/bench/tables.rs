//! Scoreboards -> the tables that the terminal, Markdown and the page show.
//!
//! **Invariant:** nothing is computed but shares and differences of counts.

use std::collections::BTreeMap;

use optsleuth_eval::{
    CaseRanks, Evaluation, Figures, Granularity, MethodScore, Scoreboard, Summary, case_ranks,
};

use super::board::{Board, CaseSet};
use crate::table::{Cell, Column, Kind, Table};
use crate::words;

const CASES: &str = "Cases that name what is ranked, and were measured with all seeds";
const MFR: &str = "Mean first rank: the best true one of each case, over all cases";
const MAR: &str = "Mean average rank: of all true ones of each case, over all cases";
const TOP: &str = "Cases with a true one among so many";

/// Both things that are ranked, with their plural and singular.
pub(super) const SIDES: [(Granularity, &str, &str); 2] =
    [(Granularity::Files, "files", "File"), (Granularity::Functions, "functions", "Function")];

fn side(score: &MethodScore, what: Granularity) -> Option<&Evaluation> {
    match what {
        Granularity::Files => score.files.as_ref(),
        Granularity::Functions => score.functions.as_ref(),
    }
}

/// One row per method: the figures of the papers. `None` if no case names what
/// is ranked.
pub(super) fn headline(scores: &Scoreboard, what: Granularity) -> Option<Table> {
    let mut columns = vec![Column::words("Method"), Column::new("Cases", Kind::Number, CASES)];
    for name in ["Top-1", "Top-5", "Top-10", "Top-20"] {
        columns.push(Column::new(name, Kind::MoreIsBetter, TOP));
    }
    columns.push(Column::new("MFR", Kind::LessIsBetter, MFR));
    columns.push(Column::new("MAR", Kind::LessIsBetter, MAR));
    let row = |score: &MethodScore| {
        let found = side(score, what)?;
        let Figures { top1, top5, top10, top20, mfr, mar } = found.headline;
        let mut cells = vec![Cell::words(&score.method), Cell::count(found.cases)];
        cells.extend([top1, top5, top10, top20].map(|top| share(top, found.cases)));
        cells.extend([mfr, mar].map(mean));
        Some(cells)
    };
    let rows: Vec<Vec<Cell>> = scores.methods.iter().filter_map(row).collect();
    (!rows.is_empty()).then(|| Table { columns, rows }.with_best())
}

/// One row per method: how far the seeds are apart. `None` without seeds to be
/// apart.
pub(super) fn spread(scores: &Scoreboard, what: Granularity) -> Option<Table> {
    let mut columns = vec![Column::words("Method"), Column::new("Seeds", Kind::Number, "")];
    for name in ["Top-5", "MFR"] {
        columns.push(Column::new(&format!("{name} mean"), Kind::Number, "Over the seeds"));
        columns.push(Column::new("SD", Kind::Number, "Standard deviation over the seeds"));
        columns.push(Column::new("min–max", Kind::Number, "Over the seeds"));
    }
    let summary = |summary: &Summary| {
        let Summary { mean: middle, sd, min, max, .. } = *summary;
        let range = format!("{}–{}", words::middle(min), words::middle(max));
        let sd = sd.map_or_else(Cell::none, |sd| Cell::number(format!("{sd:.2}"), sd));
        [mean(middle), sd, Cell::number(range, max - min)]
    };
    let row = |score: &MethodScore| {
        let found = side(score, what).filter(|found| found.seeds > 1)?;
        let mut cells = vec![Cell::words(&score.method), Cell::count(found.seeds)];
        cells.extend(summary(&found.over_seeds.top5));
        cells.extend(summary(&found.over_seeds.mfr));
        Some(cells)
    };
    let rows: Vec<Vec<Cell>> = scores.methods.iter().filter_map(row).collect();
    (!rows.is_empty()).then_some(Table { columns, rows })
}

/// One row per kind of failure and method.
pub(super) fn kinds(board: &Board<'_>) -> Table {
    let mut columns = vec![
        Column::words("Kind"),
        Column::words("Method"),
        Column::new("Cases", Kind::Number, "Measured with all seeds"),
    ];
    columns.extend(short_columns());
    let kinds = board.main().kinds(board.report.methods);
    let row = |kind: &str, score: &MethodScore| {
        let mut cells =
            vec![Cell::words(kind), Cell::words(&score.method), Cell::count(score.cases)];
        cells.extend(short_cells(score.files.as_ref(), score.functions.as_ref()));
        cells
    };
    let rows = kinds
        .iter()
        .flat_map(|(kind, scores)| scores.methods.iter().map(move |score| row(kind, score)));
    Table { columns, rows: rows.collect() }
}

/// One row per method and recipe: the same runs, ranked anew. Methods with one
/// recipe are left out.
pub(super) fn recipes(scores: &Scoreboard) -> Table {
    let mut columns: Vec<Column> =
        ["Method", "Formula", "Aggregation", "Weights", "Own"].map(Column::words).into();
    columns.extend(short_columns());
    let mut rows = Vec::new();
    for score in scores.methods.iter().filter(|score| score.recipes.len() > 1) {
        for (i, scored) in score.recipes.iter().enumerate() {
            let recipe = &scored.recipe;
            let own = if i == 0 { "own" } else { "" };
            let names = [&score.method, &recipe.formula, &recipe.aggregation, &recipe.weights, own];
            let mut cells: Vec<Cell> = names.map(Cell::words).into();
            cells.extend(short_cells(scored.files.as_ref(), scored.functions.as_ref()));
            rows.push(cells);
        }
    }
    Table { columns, rows }
}

fn short_columns() -> Vec<Column> {
    let columns = |singular: &str| {
        let top = ["Top-1", "Top-5", "Top-10"]
            .map(|top| Column::new(&format!("{singular} {top}"), Kind::MoreIsBetter, TOP));
        let mfr = Column::new(&format!("{singular} MFR"), Kind::LessIsBetter, MFR);
        top.into_iter().chain([mfr]).collect::<Vec<_>>()
    };
    SIDES.iter().flat_map(|(_, _, singular)| columns(singular)).collect()
}

fn short_cells(files: Option<&Evaluation>, functions: Option<&Evaluation>) -> Vec<Cell> {
    let cells = |found: Option<&Evaluation>| match found {
        None => [(); 4].map(|()| Cell::none()),
        Some(found) => {
            let Figures { top1, top5, top10, mfr, .. } = found.headline;
            [Cell::count(top1), Cell::count(top5), Cell::count(top10), mean(mfr)]
        }
    };
    cells(files).into_iter().chain(cells(functions)).collect()
}

/// One row per method and thing that is ranked: against the first method.
pub(super) fn comparisons(scores: &Scoreboard) -> Table {
    let numbers = [
        ("Cases", "That both have"),
        ("Better", "Cases in which the method has the better first rank"),
        ("Worse", "Cases in which it has the worse one"),
        ("Same", "Cases in which both have the same"),
        ("Wilcoxon p", "Signed ranks, paired by case, two-sided"),
        ("Mann-Whitney p", "Not paired, two-sided"),
        (
            "A12",
            "How likely a rank of the method is larger, so worse: below 0.5 it is the better one",
        ),
    ];
    let mut columns: Vec<Column> = ["Ranked", "Method", "Against"].map(Column::words).into();
    columns.extend(numbers.map(|(name, hint)| Column::new(name, Kind::Number, hint)));
    let mut rows = Vec::new();
    for (what, plural, _) in SIDES {
        for found in scores.comparisons.iter().filter(|found| found.granularity == what) {
            let same = found.cases - found.better - found.worse;
            let mut cells: Vec<Cell> =
                [plural, &found.method, &found.baseline].map(Cell::words).into();
            cells.extend([found.cases, found.better, found.worse, same].map(Cell::count));
            cells.extend(
                [found.wilcoxon.p, found.mann_whitney.p]
                    .map(|p| Cell::number(words::probability(p), p)),
            );
            cells.push(Cell::number(format!("{:.2}", found.a12), found.a12));
            rows.push(cells);
        }
    }
    Table { columns, rows }
}

/// One row per case: the first rank of a file and of a function, per method.
pub(super) fn cases(board: &Board<'_>) -> Table {
    let all = board.all();
    let methods: Vec<&str> = all.scores.methods.iter().map(|score| score.method.as_str()).collect();
    let mut columns: Vec<Column> = ["Case", "Kind", "LLVM", "Truth"].map(Column::words).into();
    for method in &methods {
        columns.push(Column::new(method, Kind::LessIsBetter, "First rank of a file / a function"));
    }
    let ranks: Vec<[Ranks<'_>; 2]> = methods
        .iter()
        .map(|method| SIDES.map(|(what, _, _)| ranks_of(all, method, what)))
        .collect();
    let mut rows = Vec::new();
    for case in all.cases() {
        let Some(found) = all.measurements.iter().find(|found| found.case == case) else {
            continue;
        };
        let truth = found.confidence.as_deref().unwrap_or("–");
        let mut cells: Vec<Cell> = [case, &found.kind, &found.llvm, truth].map(Cell::words).into();
        let named = [&found.files, &found.functions].map(|sought| !sought.culprits.is_empty());
        for ranks in &ranks {
            cells.push(first_ranks(named, [ranks[0].get(case), ranks[1].get(case)]));
        }
        rows.push(cells);
    }
    Table { columns, rows }
}

type Ranks<'a> = BTreeMap<&'a str, CaseRanks>;

fn ranks_of<'a>(set: &CaseSet<'a>, method: &str, what: Granularity) -> Ranks<'a> {
    case_ranks(method, set.measurements.iter().copied(), what)
}

/// What the per-case table's cells mean.
pub(super) const CASES_NOTE: &str = "The first rank of a true file / of a true function, by the \
    median over seeds. – means that no true one is among the suspects, × that not all seeds were \
    measured. Where there is one number only, the case names no function.";

fn first_ranks(named: [bool; 2], ranks: [Option<&CaseRanks>; 2]) -> Cell {
    let text = |ranks: Option<&CaseRanks>| match ranks.map(CaseRanks::found) {
        None => "×".to_owned(),
        Some(None) => "–".to_owned(),
        Some(Some(rank)) => words::middle(rank),
    };
    let text = match named {
        [true, true] => format!("{} / {}", text(ranks[0]), text(ranks[1])),
        [true, false] => text(ranks[0]),
        [false, true] => format!("· / {}", text(ranks[1])),
        [false, false] => "·".to_owned(),
    };
    let value = ranks.iter().flatten().next().and_then(|ranks| ranks.found());
    Cell { text, value, ..Cell::default() }
}

/// One row for each thing that was not measured, or does not count; `None` if
/// there is none.
pub(super) fn unmeasured(board: &Board<'_>) -> Option<Table> {
    let columns = ["Case", "Method", "Seed", "Why"].map(Column::words).into();
    let row = |cells: [&str; 4]| cells.map(Cell::words).to_vec();
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for method in board.missing() {
        rows.push(row(["all", method, "all", "was not measured"]));
    }
    let mut unmeasured: Vec<_> = board.report.unmeasured.iter().collect();
    unmeasured.sort_by_key(|one| (&one.case, &one.search, &one.why));
    for one in unmeasured {
        rows.push(match &one.search {
            None => row([&one.case, "all", "all", &one.why]),
            Some((method, seed)) => row([&one.case, method, &seed.to_string(), &one.why]),
        });
    }
    for (method, case) in board.all().incomplete() {
        let why = "does not count for this method: not measured with all of its seeds";
        rows.push(row([case, method, "some", why]));
    }
    (!rows.is_empty()).then_some(Table { columns, rows })
}

fn mean(value: f64) -> Cell {
    Cell::number(words::decimal(value), value)
}

/// A count, and its share.
fn share(n: usize, all: usize) -> Cell {
    let percent = 100.0 * n as f64 / all.max(1) as f64;
    Cell::number(format!("{} ({percent:.0} %)", words::count(n)), n as f64)
}
