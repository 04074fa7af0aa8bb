//! The histories of searches -> how far down the true culprit is as time goes
//! by: the median over all cases and seeds, and the quartiles around it.
//!
//! **Invariant:** a search has no rank before its first entry, and keeps its
//! last one after its end. Without a rank it stands behind all others; it is
//! never left out.

use optsleuth_model::{HistoryEntry, Measurement};

use crate::scoreboard::{Granularity, counted};
use crate::summary::quartile;

/// What is counted while searches go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Seconds since a search began.
    Seconds,
    /// Runs that it made.
    Runs,
}

/// The searches of a method at one moment: the rank of the best true culprit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Seconds or runs since the beginning.
    pub at: f64,
    /// A quarter of the searches is not below; `None` if fewer have a rank.
    pub lower: Option<f64>,
    /// Half is not below; `None` if fewer have a rank.
    pub median: Option<f64>,
    /// Three quarters are not below; `None` if fewer have a rank.
    pub upper: Option<f64>,
}

impl Clock {
    /// Seconds if all of these have them, otherwise runs.
    pub fn of<'a>(measurements: impl IntoIterator<Item = &'a Measurement>) -> Clock {
        let mut entries = measurements.into_iter().flat_map(|found| &found.history);
        let is_timed = |entry: &HistoryEntry| entry.seconds.is_some_and(f64::is_finite);
        if entries.all(is_timed) { Clock::Seconds } else { Clock::Runs }
    }

    /// When an entry was made.
    pub fn at(self, entry: &HistoryEntry) -> f64 {
        match self {
            Clock::Seconds => entry.seconds.unwrap_or_default(),
            Clock::Runs => entry.runs as f64,
        }
    }
}

/// The course of a method's searches, by the cases that count and name a
/// culprit: the state after each of `steps` equal parts of the longest search.
/// Nothing if no search of the method ever had a rank.
pub fn course<'a>(
    method: &str,
    measurements: impl IntoIterator<Item = &'a Measurement>,
    what: Granularity,
    clock: Clock,
    steps: usize,
) -> Vec<Moment> {
    let names_any = |found: &Measurement| match what {
        Granularity::Files => !found.files.culprits.is_empty(),
        Granularity::Functions => !found.functions.culprits.is_empty(),
    };
    let rank = |entry: &HistoryEntry| match what {
        Granularity::Files => entry.true_file,
        Granularity::Functions => entry.true_function,
    };
    let searches: Vec<&[HistoryEntry]> = counted(method, measurements)
        .into_values()
        .flatten()
        .filter(|found| names_any(found))
        .map(|found| found.history.as_slice())
        .collect();
    let entries = || searches.iter().copied().flatten();
    if entries().all(|entry| rank(entry).is_none()) {
        return Vec::new();
    }
    let end = entries().map(|entry| clock.at(entry)).fold(0.0, f64::max);
    let moment = |at: f64| {
        let of_search = |history: &&[HistoryEntry]| {
            let last = history.iter().rev().find(|entry| clock.at(entry) <= at);
            last.and_then(rank).map_or(f64::INFINITY, |rank| rank as f64)
        };
        let mut ranks: Vec<f64> = searches.iter().map(of_search).collect();
        ranks.sort_by(f64::total_cmp);
        let [lower, median, upper] = [1, 2, 3]
            .map(|quarters| Some(quartile(&ranks, quarters)).filter(|rank| rank.is_finite()));
        Moment { at, lower, median, upper }
    };
    let steps = steps.max(1);
    (0..=steps).map(|step| moment(end * step as f64 / steps as f64)).collect()
}

#[cfg(test)]
mod tests {
    use optsleuth_model::{Budget, MEASUREMENT_VERSION, Sought};

    use super::*;

    fn entry(runs: usize, true_file: Option<usize>) -> HistoryEntry {
        HistoryEntry {
            runs,
            seconds: None,
            witnesses: 0,
            best_similarity: 0.0,
            batch_similarity: None,
            true_file,
            true_function: None,
        }
    }

    fn measured(case: &str, history: &[(usize, Option<usize>)]) -> Measurement {
        let sought = |culprits: &[&str]| Sought {
            culprits: culprits.iter().map(|&name| name.to_owned()).collect(),
            suspects: 100,
        };
        Measurement {
            version: MEASUREMENT_VERSION,
            case: case.to_owned(),
            kind: "crash".to_owned(),
            confidence: None,
            components: Vec::new(),
            llvm: "19.1.7".to_owned(),
            method: "m".to_owned(),
            seed: 1,
            budget: Budget::default(),
            setup: String::new(),
            runs: 0,
            witnesses: 0,
            failing: 0,
            discarded: 0,
            programs: None,
            seconds: None,
            best_similarity: 0.0,
            files: sought(&["a.cpp"]),
            functions: sought(&[]),
            rankings: Vec::new(),
            top_files: Vec::new(),
            top_functions: Vec::new(),
            history: history.iter().map(|&(runs, rank)| entry(runs, rank)).collect(),
        }
    }

    #[test]
    fn a_search_is_unranked_before_its_first_entry_and_keeps_its_last_rank() {
        let all = [
            measured("a", &[(10, Some(8)), (20, Some(4)), (40, Some(2))]),
            measured("b", &[(20, Some(6))]),
            measured("c", &[(30, None), (40, Some(9))]),
        ];
        let clock = Clock::of(&all);
        assert_eq!(clock, Clock::Runs);
        let found = course("m", &all, Granularity::Files, clock, 4);
        let found: Vec<(f64, Option<f64>, Option<f64>)> =
            found.iter().map(|moment| (moment.at, moment.lower, moment.median)).collect();
        let expected = [
            (0.0, None, None),
            (10.0, None, None),           // 8, none, none
            (20.0, Some(5.0), Some(6.0)), // 4, 6, none
            (30.0, Some(5.0), Some(6.0)), // the same
            (40.0, Some(4.0), Some(6.0)), // 2, 6, 9
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn searches_without_ranks_have_no_course() {
        let all = [measured("a", &[(10, None)]), measured("b", &[])];
        assert_eq!(course("m", &all, Granularity::Files, Clock::Runs, 4), []);
        let ranked = [measured("a", &[(10, Some(1))])];
        assert_eq!(course("m", &ranked, Granularity::Functions, Clock::Runs, 4), []);
        assert_eq!(course("other", &ranked, Granularity::Files, Clock::Runs, 4), []);
    }

    #[test]
    fn seconds_count_where_all_have_them() {
        let mut timed = measured("a", &[(10, Some(1))]);
        timed.history[0].seconds = Some(2.5);
        assert_eq!(Clock::of([&timed]), Clock::Seconds);
        assert_eq!(course("m", [&timed], Granularity::Files, Clock::Seconds, 1)[1].at, 2.5);
        let untimed = measured("b", &[(10, Some(1))]);
        assert_eq!(Clock::of([&timed, &untimed]), Clock::Runs);
    }
}
