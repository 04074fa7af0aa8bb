//! A report -> the sets of cases that it is about, each with its scoreboard.
//!
//! **Invariant:** no two sets are the same: where no case is weak, or all are,
//! there is one.

use std::collections::BTreeSet;

use optsleuth_eval::Scoreboard;
use optsleuth_model::{Budget, Measurement};

use super::BenchReport;
use crate::words;

/// A report, with its figures.
pub(super) struct Board<'a> {
    pub(super) report: &'a BenchReport<'a>,
    /// Cases whose culprits are known, unless all are or none; then all cases.
    pub(super) sets: Vec<CaseSet<'a>>,
}

pub(super) struct CaseSet<'a> {
    /// Which, as in `all cases`.
    pub(super) name: &'static str,
    /// In the order of cases, then methods, then seeds.
    pub(super) measurements: Vec<&'a Measurement>,
    pub(super) scores: Scoreboard,
}

impl<'a> Board<'a> {
    pub(super) fn of(report: &'a BenchReport<'a>) -> Board<'a> {
        let all = CaseSet::of("all cases", report, |_| true);
        let is_weak = |found: &&&Measurement| !found.is_firm();
        let n_weak = all.measurements.iter().filter(is_weak).count();
        let sets = match n_weak {
            0 => vec![all],
            n if n == all.measurements.len() => {
                vec![CaseSet { name: "cases with weak truth", ..all }]
            }
            _ => vec![CaseSet::of("cases with firm truth", report, Measurement::is_firm), all],
        };
        Board { report, sets }
    }

    /// What most tables are about.
    pub(super) fn main(&self) -> &CaseSet<'a> {
        &self.sets[0]
    }

    pub(super) fn all(&self) -> &CaseSet<'a> {
        &self.sets[self.sets.len() - 1]
    }

    /// Methods that were not measured at all.
    pub(super) fn missing(&self) -> Vec<&'a str> {
        let is_there = |method: &&String| {
            self.all().scores.methods.iter().any(|score| score.method == **method)
        };
        let missing = self.report.methods.iter().filter(|method| !is_there(method));
        missing.map(String::as_str).collect()
    }

    /// What was done, as pairs of a name and words.
    pub(super) fn facts(&self) -> Vec<(&'static str, String)> {
        let report = self.report;
        let mut facts = vec![("Methods", report.methods.join(", "))];
        let n_cases = self.all().cases().len();
        let weak = self.all().measurements.iter().filter(|found| !found.is_firm());
        let n_weak = weak.map(|found| &found.case).collect::<BTreeSet<_>>().len();
        let mut cases = words::count(n_cases);
        if n_weak > 0 {
            let weak = words::count(n_weak);
            cases.push_str(&format!(", of which {weak} with weak truth"));
        }
        facts.push(("Cases", cases));
        facts.push(("Seeds", seeds(report.seeds)));
        facts.push(("Budget", budget(report.budget)));
        facts.push(("Measurements", words::count(report.measurements.len())));
        let llvms: BTreeSet<&str> =
            report.measurements.iter().map(|found| found.llvm.as_str()).collect();
        if !llvms.is_empty() {
            facts.push(("LLVM", llvms.into_iter().collect::<Vec<_>>().join(", ")));
        }
        if let Some(searching) = report.searching {
            facts.push(("All searches together", words::duration(searching)));
        }
        facts
    }
}

impl<'a> CaseSet<'a> {
    fn of(
        name: &'static str,
        report: &'a BenchReport<'a>,
        is_meant: fn(&Measurement) -> bool,
    ) -> CaseSet<'a> {
        let order =
            |found: &Measurement| report.methods.iter().position(|method| *method == found.method);
        let mut measurements: Vec<&Measurement> = report
            .measurements
            .iter()
            .filter(|found| is_meant(found) && order(found).is_some())
            .collect();
        measurements.sort_by_key(|found| (&found.case, order(found), found.seed));
        let scores = Scoreboard::of(report.methods, measurements.iter().copied());
        CaseSet { name, measurements, scores }
    }

    /// The names of all cases.
    pub(super) fn cases(&self) -> BTreeSet<&'a str> {
        self.measurements.iter().map(|found| found.case.as_str()).collect()
    }

    /// The kinds of failures, and the figures of each.
    pub(super) fn kinds(&self, methods: &[String]) -> Vec<(&'a str, Scoreboard)> {
        let kinds: BTreeSet<&str> =
            self.measurements.iter().map(|found| found.kind.as_str()).collect();
        let of_kind = |kind: &'a str| {
            let those = self.measurements.iter().copied().filter(|found| found.kind == kind);
            (kind, Scoreboard::of(methods, those))
        };
        kinds.into_iter().map(of_kind).collect()
    }

    /// A method with each case of which a seed is missing.
    pub(super) fn incomplete(&self) -> impl Iterator<Item = (&str, &str)> {
        self.scores.methods.iter().flat_map(|score| {
            score.incomplete.iter().map(|case| (score.method.as_str(), case.as_str()))
        })
    }
}

fn budget(budget: Budget) -> String {
    let runs = budget.runs.map(|runs| words::counted(runs, "run", "runs"));
    let seconds = budget.seconds.map(|seconds| format!("{seconds} s"));
    match (runs, seconds) {
        (Some(runs), Some(seconds)) => format!("{runs} or {seconds} per search"),
        (Some(one), None) | (None, Some(one)) => format!("{one} per search"),
        (None, None) => "none".to_owned(),
    }
}

fn seeds(seeds: &[u64]) -> String {
    let list: Vec<String> = seeds.iter().map(u64::to_string).collect();
    match list.len() {
        0 => "none".to_owned(),
        1..=12 => list.join(", "),
        n => format!("{} ({} to {})", words::count(n), list[0], list[n - 1]),
    }
}
