//! A few measurements, small enough to check figures by hand.

use optsleuth_model::{
    Budget, HistoryEntry, MEASUREMENT_VERSION, Measurement, RankedTruth, RecipeName, Sought,
};

use super::BenchReport;

/// A measurement with one seed and one recipe: the ranks of its true files
/// among 100, and of its true functions among 1,000.
pub(super) fn measured(
    case: &str,
    method: &str,
    files: &[Option<usize>],
    functions: &[Option<usize>],
) -> Measurement {
    let sought = |n: usize, suspects| Sought {
        culprits: (0..n).map(|i| format!("culprit {i}")).collect(),
        suspects,
    };
    let recipe = RecipeName {
        formula: "ochiai".to_owned(),
        aggregation: "mean".to_owned(),
        weights: "equal".to_owned(),
    };
    Measurement {
        version: MEASUREMENT_VERSION,
        case: case.to_owned(),
        kind: "crash".to_owned(),
        confidence: Some("fix".to_owned()),
        components: Vec::new(),
        llvm: "19.1.7".to_owned(),
        method: method.to_owned(),
        seed: 1,
        budget: Budget { runs: Some(1000), seconds: None },
        setup: "0123456789abcdef".to_owned(),
        runs: 1000,
        witnesses: 10,
        failing: 900,
        discarded: 90,
        programs: None,
        seconds: None,
        best_similarity: 0.75,
        files: sought(files.len(), 100),
        functions: sought(functions.len(), 1000),
        rankings: vec![RankedTruth {
            recipe,
            files: files.to_vec(),
            functions: functions.to_vec(),
        }],
        top_files: Vec::new(),
        top_functions: Vec::new(),
        history: Vec::new(),
    }
}

pub(super) fn entry(runs: usize, true_file: Option<usize>) -> HistoryEntry {
    HistoryEntry {
        runs,
        seconds: None,
        witnesses: 1,
        best_similarity: 0.5,
        batch_similarity: None,
        true_file,
        true_function: None,
    }
}

/// Three cases with two methods. The first names no function.
pub(super) fn measurements() -> Vec<Measurement> {
    let mut all = vec![
        measured("a", "new", &[Some(1)], &[]),
        measured("b", "new", &[Some(4), Some(8)], &[Some(12)]),
        measured("c", "new", &[None], &[Some(30)]),
        measured("a", "old", &[Some(2)], &[]),
        measured("b", "old", &[Some(4), None], &[None]),
        measured("c", "old", &[Some(40)], &[Some(30)]),
    ];
    for found in &mut all {
        if found.case == "b" {
            found.kind = "invalid-ir".to_owned();
        }
    }
    all
}

/// A report about these.
pub(super) fn report<'a>(methods: &'a [String], all: &'a [Measurement]) -> BenchReport<'a> {
    BenchReport {
        title: "a bench",
        methods,
        measurements: all,
        unmeasured: &[],
        budget: Budget { runs: Some(1000), seconds: None },
        seeds: &[1],
        searching: None,
    }
}

pub(super) fn methods() -> Vec<String> {
    ["new", "old"].map(str::to_owned).into()
}
