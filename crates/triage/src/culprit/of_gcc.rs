//! The culprit method on gcc: a failing run of a cc1 with probes, its guilty invocation
//! -> suspects among gcc's files and functions.
//!
//! ```text
//! small programs at every level ──► rarity ─────┐
//! -fno-OPTION, those that pass ───► witnesses ──┼──► clues ──► ranking
//! conditions decided otherwise ───► cures ──────┘
//! ```
//! Everything else is as for LLVM. That passing configurations point at the culprit is
//! the idea of ODFL (Yang, Yang and others, "Isolating Compiler Optimization Faults via
//! Differentiating Finer-grained Options", SANER 2022).
//!
//! **Invariant:** nothing is compiled here but through [`CoveredGcc`].

use std::path::Path;
use std::time::{Duration, Instant};

use fs_err as fs;
use optsleuth_case::CaseError;
use optsleuth_case::driver::FailingDriverCase;
use optsleuth_compiler::driver::PluginOrders;
use optsleuth_compiler::llvm::Pool;
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{CodeMap, Localization, OptLevel, Progress, StopReason};
use optsleuth_rank::Cure;

use super::CulpritPlan;
use super::detours::{Attempt, Detours};
use super::findings::Findings;
use crate::TriageError;
use crate::baseline::SOURCES;
use crate::covered_gcc::{CoveredGcc, GccJob, covered};
use crate::localize::Measured;

/// What configurations may use of the time.
const OPTIONS: f64 = 0.25;
/// How many runs are made between two looks at the ranking.
const BATCH: usize = 16;
const LEVELS: [OptLevel; 5] =
    [OptLevel::O0, OptLevel::O1, OptLevel::O2, OptLevel::O3, OptLevel::Os];

/// Gathers clues and ranks suspects.
pub fn find_culprit_of_gcc(
    failing: &mut FailingDriverCase,
    gcc: &CoveredGcc,
    plan: &CulpritPlan,
    progress: &dyn Progress,
) -> Result<Localization, TriageError> {
    let (findings, stopped, wall) = investigate(failing, gcc, plan, progress)?;
    progress.step("gathering evidence");
    Ok(findings.conclude(plan, &gcc.described, stopped, wall))
}

/// Where the method has the true culprits; `None` if it was told to end early.
pub fn measure_culprit_of_gcc(
    failing: &mut FailingDriverCase,
    gcc: &CoveredGcc,
    plan: &CulpritPlan,
    progress: &dyn Progress,
) -> Result<Option<(Measured, Duration)>, TriageError> {
    let (findings, stopped, wall) = investigate(failing, gcc, plan, progress)?;
    let is_whole = stopped != StopReason::Interrupted;
    Ok(is_whole.then(|| (findings.measure(&|_| true), wall)))
}

fn investigate<'a>(
    failing: &mut FailingDriverCase,
    gcc: &'a CoveredGcc,
    plan: &CulpritPlan,
    progress: &dyn Progress,
) -> Result<(Findings<'a>, StopReason, Duration), TriageError> {
    let begun = Instant::now();
    let pool = &mut failing.loaded.fence.pool;
    let CoveredGcc { map, window, described, .. } = gcc;
    let whole = PluginOrders { window: gcc.guilty.map(|guilty| (guilty, guilty + 1)), ..covered() };
    let timed = plan.stop.is_timed();
    let mut findings = Findings::new(map, &gcc.failing, described, &gcc.outcome, timed);
    findings.set_window(window);

    progress.step("comparing with the baseline programs");
    let programs = Workdir::new().map_err(CaseError::from)?;
    for (name, text) in SOURCES {
        fs::write(programs.file(name), text)?;
    }
    let baseline = Baseline::of(gcc, pool, programs.path(), map)?;
    findings.set_baseline(&baseline.shares());
    let level = gcc.level();
    let others = baseline_jobs(programs.path(), &[level], &gcc.tested().flags);
    for run in gcc.all(pool, &others, &|| true)? {
        findings.take_other(run.log.coverage.as_ref());
    }
    findings.rank(begun.elapsed());

    let out_of_time =
        |part: f64| plan.stop.budget.is_some_and(|budget| begun.elapsed() >= budget.mul_f64(part));
    progress.step("leaving options out");
    let mut options = gcc.tested().driver.optimizations(level)?;
    let part = plan.stop.runs.map(|runs| (runs as f64 * OPTIONS) as usize);
    options.truncate(part.unwrap_or(usize::MAX));
    let jobs: Vec<GccJob> =
        options.iter().map(|option| GccJob::with(vec![option.clone()])).collect();
    let go_on = || !out_of_time(OPTIONS) && !progress.stop_requested();
    for (run, option) in gcc.all(pool, &jobs, &go_on)?.into_iter().zip(&options) {
        let passes = format!("{} {option}", described.passes);
        findings.take_configuration(run.verdict, run.log.coverage.as_ref(), passes);
    }
    findings.rank(begun.elapsed());

    progress.step("deciding otherwise");
    let found = gcc.cc1.conditions(window)?;
    let mut detours = Detours::new(found, findings.universe(), &findings.promise());
    let stopped = loop {
        if progress.stop_requested() {
            break StopReason::Interrupted;
        }
        if plan.stop.runs.is_some_and(|runs| findings.runs() >= runs) {
            break StopReason::Runs;
        }
        if out_of_time(1.0) {
            break StopReason::Budget;
        }
        if detours.is_exhausted() {
            break StopReason::Exhausted;
        }
        let room = plan.stop.runs.map_or(BATCH, |runs| BATCH.min(runs - findings.runs()));
        let batch = detours.next(room);
        let jobs: Vec<GccJob> = batch.iter().map(|attempt| on_detour(&whole, attempt)).collect();
        let go_on = || !out_of_time(1.0) && !progress.stop_requested();
        let runs = gcc.all(pool, &jobs, &go_on)?;
        let mut verdicts = Vec::new();
        for (attempt, run) in batch.into_iter().zip(runs) {
            let executed = run.log.coverage.unwrap_or_default().intersection(window).count();
            let executed = executed as f64 / window.count().max(1) as f64;
            detours.take_graded(attempt, run.verdict, |by_return| Cure {
                cures: true,
                by_return,
                executed,
                written: 1.0,
            });
            verdicts.push(run.verdict);
        }
        findings.take_detours(&verdicts, &detours);
        findings.rank(begun.elapsed());
        progress.search(&findings.status(begun.elapsed()));
    };
    Ok((findings, stopped, begun.elapsed()))
}

fn on_detour(whole: &PluginOrders, attempt: &Attempt) -> GccJob {
    let orders = PluginOrders { detours: attempt.detours(), window: None, ..whole.clone() };
    GccJob::of_case(orders)
}

/// How many baseline runs execute each block; kept with the cc1.
#[derive(serde::Serialize, serde::Deserialize)]
struct Baseline {
    n_runs: u32,
    counts: Vec<u32>,
}

/// What its file is called.
const BASELINE: &str = "baseline";

impl Baseline {
    fn of(
        gcc: &CoveredGcc,
        pool: &mut Pool,
        programs: &Path,
        map: &CodeMap,
    ) -> Result<Baseline, TriageError> {
        let kept = gcc.cc1.beside(BASELINE)?;
        let read = fs::read(&kept).ok().and_then(|bytes| postcard::from_bytes(&bytes).ok());
        if let Some(baseline) = read {
            return Ok(baseline);
        }
        let jobs = baseline_jobs(programs, &LEVELS, &["-S".to_owned()]);
        let mut baseline = Baseline { n_runs: 0, counts: vec![0; map.n_blocks as usize] };
        for run in gcc.all(pool, &jobs, &|| true)? {
            let Some(coverage) = run.log.coverage else { continue };
            baseline.n_runs += 1;
            for block in coverage.blocks() {
                if let Some(count) = baseline.counts.get_mut(block.0 as usize) {
                    *count += 1;
                }
            }
        }
        let bytes = postcard::to_stdvec(&baseline).map_err(std::io::Error::other)?;
        let beside = kept.with_extension(std::process::id().to_string());
        fs::write(&beside, bytes)?;
        fs::rename(&beside, &kept)?;
        Ok(baseline)
    }

    /// The share of runs that execute each block.
    fn shares(&self) -> Vec<f64> {
        let n_runs = f64::from(self.n_runs.max(1));
        self.counts.iter().map(|&count| f64::from(count) / n_runs).collect()
    }
}

/// The baseline programs at these levels.
fn baseline_jobs(folder: &Path, levels: &[OptLevel], flags: &[String]) -> Vec<GccJob> {
    let all = levels.iter().flat_map(|&level| SOURCES.iter().map(move |(name, _)| (level, name)));
    all.map(|(level, name)| GccJob {
        orders: covered(),
        flags: Vec::new(),
        other: Some((folder.join(name), level, flags.to_vec())),
    })
    .collect()
}
