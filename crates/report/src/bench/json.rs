//! A bench as a JSON document: the figures, for scripts.
//!
//! **Invariant:** `methods` is over all cases, `firm` over those whose culprits
//! are known. Keys stand in a fixed order, methods in that of the report.

use optsleuth_eval::{Comparison, Evaluation, FigureSummaries, Figures, MethodScore, Scoreboard};
use optsleuth_model::{Budget, Measurement, Unmeasured};
use serde::{Serialize, Serializer};

use super::BenchReport;
use super::board::Board;
use crate::{JSON_VERSION, to_json};

#[derive(Serialize)]
struct BenchJson<'a> {
    version: u32,
    methods: Methods<'a>,
    firm: Methods<'a>,
    comparisons: &'a [Comparison],
    firm_comparisons: &'a [Comparison],
    unmeasured: &'a [Unmeasured],
    incomplete: Vec<IncompleteJson<'a>>,
    title: &'a str,
    budget: Budget,
    seeds: &'a [u64],
}

/// Methods by their names, in their order.
struct Methods<'a>(&'a Scoreboard);

#[derive(Serialize)]
struct MethodJson<'a> {
    cases: usize,
    files: Option<SideJson<'a>>,
    functions: Option<SideJson<'a>>,
    without_witness: usize,
    searches: usize,
    runs: f64,
    witnesses: f64,
    over_seeds: OverSeedsJson<'a>,
}

#[derive(Serialize)]
struct SideJson<'a> {
    #[serde(flatten)]
    figures: &'a Figures,
    cases: usize,
}

#[derive(Serialize)]
struct OverSeedsJson<'a> {
    files: Option<&'a FigureSummaries>,
    functions: Option<&'a FigureSummaries>,
}

#[derive(Serialize)]
struct IncompleteJson<'a> {
    method: &'a str,
    case: &'a str,
}

impl Serialize for Methods<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.methods.iter().map(|score| (&score.method, method(score))))
    }
}

fn method(score: &MethodScore) -> MethodJson<'_> {
    fn side(found: &Option<Evaluation>) -> Option<SideJson<'_>> {
        found.as_ref().map(|found| SideJson { figures: &found.headline, cases: found.cases })
    }
    fn over_seeds(found: &Option<Evaluation>) -> Option<&FigureSummaries> {
        found.as_ref().map(|found| &found.over_seeds)
    }
    MethodJson {
        cases: score.cases,
        files: side(&score.files),
        functions: side(&score.functions),
        without_witness: score.without_witness,
        searches: score.searches,
        runs: score.runs,
        witnesses: score.witnesses,
        over_seeds: OverSeedsJson {
            files: over_seeds(&score.files),
            functions: over_seeds(&score.functions),
        },
    }
}

/// The figures of a bench as a JSON document.
pub fn bench_json(report: &BenchReport<'_>) -> String {
    let board = Board::of(report);
    let all = board.all();
    let those = all.measurements.iter().copied().filter(|found: &&Measurement| found.is_firm());
    let firm = Scoreboard::of(report.methods, those);
    let incomplete = all.incomplete().map(|(method, case)| IncompleteJson { method, case });
    let json = BenchJson {
        version: JSON_VERSION,
        methods: Methods(&all.scores),
        firm: Methods(&firm),
        comparisons: &all.scores.comparisons,
        firm_comparisons: &firm.comparisons,
        unmeasured: report.unmeasured,
        incomplete: incomplete.collect(),
        title: report.title,
        budget: report.budget,
        seeds: report.seeds,
    };
    to_json(&json)
}
