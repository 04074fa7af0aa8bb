//! A failing configuration of gcc -> nearby ones that pass -> suspects.
//!
//! ```text
//! -fno-OPTION, -fdisable-PASS, each by itself ──► those that fail, those that pass
//!            two of them at once ◄──────────────────────┴──► spectrum ──► ranking
//! ```
//! That configurations which differ in one option, one failing and one passing, point at
//! the culprit is the idea of ODFL (Yang, Yang and others, "Isolating Compiler
//! Optimization Faults via Differentiating Finer-grained Options", SANER 2022); that many
//! such pairs, from different failing configurations, say more than one is MultiConf's
//! ("Isolating Compiler Faults via Multiple Pairs of Adversarial Compilation
//! Configurations", arXiv:2512.22538). The program is the case's own, always.
//!
//! **Invariant:** a configuration that gcc does not survive is no witness. What is found
//! depends on the seed and the number of runs alone.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use optsleuth_case::driver::FailingDriverCase;
use optsleuth_case::oracle::Verdict;
use optsleuth_model::{Coverage, Localization, Progress, StopReason};
use optsleuth_rank::Recipe;
use optsleuth_search::Reference;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::TriageError;
use crate::covered_gcc::{CoveredGcc, GccFailure, GccJob, GccRun};
use crate::localize::{Course, Judged, Measured, Searched, Source, Stop, Tally};

/// The method's name.
pub const OPTIONS: &str = "options";

/// How to look for passing configurations.
#[derive(Clone, Copy, Debug)]
pub struct OptionsPlan {
    /// Where the random numbers start.
    pub seed: u64,
    pub stop: Stop,
    /// How to make a ranking of the runs.
    pub recipe: Recipe,
}

/// What single toggles may use of the runs and of the time, once some of them pass; the
/// rest is for pairs.
const SINGLES: f64 = 0.67;
/// How many runs are made between two looks at the clock.
const BATCH: usize = 16;
/// After so many draws in a row that gave no new pair, there is none.
const NOTHING_NEW: usize = 1000;

/// Looks for passing configurations and ranks suspects.
pub fn localize_by_options(
    GccFailure { failing, gcc, .. }: &mut GccFailure,
    plan: &OptionsPlan,
    progress: &dyn Progress,
) -> Result<Localization, TriageError> {
    let Searched { tally, stopped, wall, .. } = search(failing, gcc, plan, progress)?;
    if tally.witnesses() == 0 {
        return Err(tally.no_witness(stopped));
    }
    progress.step("gathering evidence");
    let who = (OPTIONS, plan.seed, plan.stop);
    Ok(tally.conclude(who, &gcc.described, stopped, wall))
}

/// Where the method has the true culprits; `None` if it was told to end early.
pub fn measure_options(
    GccFailure { failing, gcc, .. }: &mut GccFailure,
    plan: &OptionsPlan,
    progress: &dyn Progress,
) -> Result<Option<(Measured, Duration)>, TriageError> {
    let Searched { tally, stopped, wall, .. } = search(failing, gcc, plan, progress)?;
    let is_whole = stopped != StopReason::Interrupted;
    Ok(is_whole.then(|| (tally.measure(&Recipe::all()), wall)))
}

fn search<'a>(
    failing: &mut FailingDriverCase,
    gcc: &'a CoveredGcc,
    plan: &OptionsPlan,
    progress: &dyn Progress,
) -> Result<Searched<'a>, TriageError> {
    let begun = Instant::now();
    let pool = &mut failing.loaded.fence.pool;
    let level = gcc.level();
    let driver = &gcc.tested().driver;
    let mut singles = driver.optimizations(level)?;
    let passes = driver.passes(level, &gcc.described.case.cflags)?;
    singles.extend(passes.iter().map(|pass| format!("-fdisable-{pass}")));

    let out_of_time =
        |part: f64| plan.stop.budget.is_some_and(|budget| begun.elapsed() >= budget.mul_f64(part));
    let elapsed = || plan.stop.is_timed().then(|| begun.elapsed());
    let go_on = || !out_of_time(1.0) && !progress.stop_requested();
    progress.step("leaving options and passes out");
    singles.truncate(plan.stop.runs.unwrap_or(usize::MAX));
    let part = plan.stop.runs.map_or(usize::MAX, |runs| (runs as f64 * SINGLES) as usize);
    let mut runs: Vec<GccRun> = Vec::new();
    let mut failing_runs = vec![gcc.failing.clone()];
    let mut toggles = Toggles::default();
    for batch in singles.chunks(BATCH) {
        // Pairs are worth their time where singles pass, and after all singles.
        let is_enough = runs.len() >= part || out_of_time(SINGLES);
        if !go_on() || (is_enough && !toggles.passing.is_empty()) {
            break;
        }
        let jobs: Vec<GccJob> = batch.iter().map(|one| GccJob::with(vec![one.clone()])).collect();
        for (run, one) in gcc.all(pool, &jobs, &go_on)?.into_iter().zip(batch) {
            match (run.verdict, &run.log.coverage) {
                (Verdict::Fails, coverage) => {
                    toggles.failing.push(one.clone());
                    failing_runs.extend(coverage.clone());
                }
                (Verdict::Passes, _) => toggles.passing.push(one.clone()),
                (Verdict::Other, _) => {}
            }
            runs.push(run);
        }
    }
    let reference = Reference::new(&gcc.failing, &gcc.map);
    let truth = gcc.described.case.truth.as_ref();
    let mut tally = Tally::new(&gcc.map, &failing_runs, plan.recipe, truth);
    let judge = |tally: &Tally<'_>, run: GccRun, flags: String| -> (Source, Judged) {
        let witness = |coverage: Coverage| (reference.compare(&coverage), tally.project(&coverage));
        let judged = Judged {
            verdict: run.verdict,
            witness: match run.verdict {
                Verdict::Passes => run.log.coverage.map(witness),
                Verdict::Fails | Verdict::Other => None,
            },
            wall: Duration::ZERO,
            occupied: Duration::ZERO,
        };
        ((format!("{} {flags}", gcc.described.passes), None), judged)
    };
    let judged = runs.into_iter().zip(&singles).map(|(run, one)| judge(&tally, run, one.clone()));
    let judged = judged.collect();
    tally.take(judged, elapsed());
    progress.search(&tally.status(begun.elapsed()));

    progress.step("leaving two of them out at once");
    let mut rng = ChaCha8Rng::seed_from_u64(plan.seed);
    let stopped = loop {
        let course = Course { is_cut: out_of_time(1.0), progress };
        if let Some(reason) = plan.stop.reason(&tally, &course) {
            break reason;
        }
        let room = plan.stop.runs.map_or(BATCH, |runs| BATCH.min(runs - tally.runs()));
        let batch = toggles.pairs(room, &mut rng);
        if batch.is_empty() {
            break StopReason::Exhausted;
        }
        let jobs: Vec<GccJob> = batch.iter().map(|pair| GccJob::with(pair.to_vec())).collect();
        let runs = gcc.all(pool, &jobs, &go_on)?;
        let pairs = runs.into_iter().zip(&batch);
        let judged = pairs.map(|(run, pair)| judge(&tally, run, pair.join(" "))).collect();
        tally.take(judged, elapsed());
        progress.search(&tally.status(begun.elapsed()));
    };
    Ok(Searched { tally, stopped, wall: begun.elapsed(), n_troubled: 0 })
}

/// Single toggles by what comes of them, and the pairs that were drawn.
#[derive(Debug, Default)]
struct Toggles {
    failing: Vec<String>,
    passing: Vec<String>,
    drawn: BTreeSet<[String; 2]>,
}

impl Toggles {
    /// New pairs. One of each two is a failing configuration by itself; where there are
    /// toggles that pass, every other pair takes the second from them: two configurations
    /// that differ in nothing but that one.
    fn pairs(&mut self, n_wanted: usize, rng: &mut ChaCha8Rng) -> Vec<[String; 2]> {
        let mut pairs = Vec::new();
        let mut n_vain = 0;
        while pairs.len() < n_wanted && n_vain < NOTHING_NEW {
            let from_passing = !self.passing.is_empty() && rng.random_bool(0.5);
            let second = if from_passing { &self.passing } else { &self.failing };
            let (Some(one), Some(other)) = (self.failing.choose(rng), second.choose(rng)) else {
                break;
            };
            let mut pair = [one.clone(), other.clone()];
            pair.sort();
            if one != other && self.drawn.insert(pair.clone()) {
                pairs.push(pair);
                n_vain = 0;
            } else {
                n_vain += 1;
            }
        }
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_differs_from_a_failing_configuration_in_one_toggle() {
        let names = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
        let check = |failing: &[&str], passing: &[&str], n_pairs: usize| {
            let mut toggles =
                Toggles { failing: names(failing), passing: names(passing), ..Toggles::default() };
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let pairs = toggles.pairs(100, &mut rng);
            assert_eq!(pairs.len(), n_pairs, "{pairs:?}");
            for pair in &pairs {
                assert!(pair.iter().any(|one| toggles.failing.contains(one)), "{pair:?}");
            }
            assert!(toggles.pairs(1, &mut rng).is_empty(), "each pair once");
        };
        check(&["a", "b", "c"], &["x"], 6);
        check(&["a", "b"], &[], 1);
        check(&["a"], &[], 0);
        check(&[], &["x"], 0);
    }
}
