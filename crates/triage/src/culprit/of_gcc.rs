//! The culprit method on gcc: a failing case, its guilty invocation, a cc1 of ours
//! -> suspects among gcc's files and functions.
//!
//! ```text
//! small programs at every level ──► rarity ─────┐
//! -fno-OPTION, those that pass ───► witnesses ──┼──► clues ──► ranking
//! conditions decided otherwise ───► cures ──────┘
//! ```
//! A run is a compilation by the distribution's driver with our cc1; everything else
//! is as for LLVM. That passing configurations point at the culprit is the idea of
//! ODFL (Yang, Yang and others, "Isolating Compiler Optimization Faults via
//! Differentiating Finer-grained Options", SANER 2022).
//!
//! **Invariant:** a case that does not fail on our cc1 is not ranked.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fs_err as fs;
use optsleuth_case::CaseError;
use optsleuth_case::driver::{DriverUnderTest, FailingDriverCase, LoadedDriverCase, Tried};
use optsleuth_case::oracle::{Oracle, Verdict};
use optsleuth_compiler::driver::{CoveredCc1, Driver, GccPlugin, PluginLog, PluginOrders};
use optsleuth_compiler::llvm::Worker;
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{
    CaseFolder, CaseKind, CheckStatus, CodeMap, Limits, Localization, OptLevel, Outcome, Progress,
    StopReason,
};
use optsleuth_rank::Cure;

use super::CulpritPlan;
use super::detours::{Attempt, Detours};
use super::findings::Findings;
use crate::TriageError;
use crate::baseline::SOURCES;
use crate::bisect::{BUDGET, bisect_gcc};
use crate::localize::Described;

/// What configurations may use of the time.
const OPTIONS: f64 = 0.25;
/// How many runs are made between two looks at the ranking.
const BATCH: usize = 16;
/// A run gets so many times what the failing one took, and not less than this.
const PATIENCE: u32 = 4;
const LEAST_TIME: Duration = Duration::from_millis(500);
const LEVELS: [OptLevel; 5] =
    [OptLevel::O0, OptLevel::O1, OptLevel::O2, OptLevel::O3, OptLevel::Os];

/// Sees a case of gcc fail, bisects it, and ranks suspects.
pub fn localize_gcc(
    case: CaseFolder,
    driver: Driver,
    limits: Limits,
    plan: &CulpritPlan,
    progress: &dyn Progress,
) -> Result<Localization, TriageError> {
    let cc1 = covered_cc1(&driver)?;
    let loaded = LoadedDriverCase::set_up(case, driver, limits, progress)?;
    let mut failing = FailingDriverCase::see(loaded, progress)?;
    let bisection = bisect_gcc(&mut failing, Instant::now() + BUDGET, progress)?;
    let guilty = bisection.culprit().map(|invocation| invocation.index);
    find_culprit_of_gcc(&mut failing, &cc1, guilty, plan, progress)
}

/// The cc1 of ours for a gcc; an error, if there is none.
pub fn covered_cc1(driver: &Driver) -> Result<CoveredCc1, TriageError> {
    let missing = TriageError::NoCoveredGcc { major: driver.major };
    CoveredCc1::find(driver)?.ok_or(missing)
}

/// Gathers clues and ranks suspects. `guilty` is the number of an invocation.
pub fn find_culprit_of_gcc(
    failing: &mut FailingDriverCase,
    cc1: &CoveredCc1,
    guilty: Option<u32>,
    plan: &CulpritPlan,
    progress: &dyn Progress,
) -> Result<Localization, TriageError> {
    let begun = Instant::now();
    let map = cc1.code_map()?;
    let mut trials = Trials::new(failing, cc1)?;
    progress.step("seeing it fail on a gcc with probes");
    let whole = PluginOrders {
        coverage: true,
        window: guilty.map(|guilty| (guilty, guilty + 1)),
        ..PluginOrders::default()
    };
    let first = Instant::now();
    let Run { verdict, tried, log } = trials.one(&Job::of_case(whole.clone()))?;
    trials.trial.limit_to(first.elapsed());
    if verdict != Verdict::Fails {
        let what = "a gcc of the same source, built without inlining, does not fail".to_owned();
        return Err(CaseError::NotReproduced { status: CheckStatus::Passes, what }.into());
    }
    let failing_run = log.coverage.unwrap_or_default();
    let window = log.window.filter(|window| !window.is_empty()).unwrap_or(failing_run.clone());
    let described = describe(trials.loaded, &trials.reproduction_what)?;
    let outcome = match tried {
        Tried::Ran(outcome) => outcome,
        Tried::Refused(_) => Outcome::Ok(None),
    };
    let timed = plan.stop.is_timed();
    let mut findings = Findings::new(&map, &failing_run, &described, &outcome, timed);
    findings.set_window(&window);

    progress.step("comparing with the baseline programs");
    let baseline = Baseline::of(cc1, &mut trials, &map)?;
    findings.set_baseline(&baseline.shares());
    let level = trials.trial.tested.level;
    for job in baseline_jobs(trials.programs.path(), &[level], &trials.trial.tested.flags) {
        let run = trials.one(&job)?;
        findings.take_other(run.log.coverage.as_ref());
    }
    findings.rank(begun.elapsed());

    let out_of_time =
        |part: f64| plan.stop.budget.is_some_and(|budget| begun.elapsed() >= budget.mul_f64(part));
    progress.step("leaving options out");
    let mut options = trials.trial.tested.driver.optimizations(level)?;
    let part = plan.stop.runs.map(|runs| (runs as f64 * OPTIONS) as usize);
    options.truncate(part.unwrap_or(usize::MAX));
    let jobs: Vec<Job> = options.iter().map(|option| Job::with(option)).collect();
    let go_on = || !out_of_time(OPTIONS) && !progress.stop_requested();
    for (run, option) in trials.all(&jobs, &go_on)?.into_iter().zip(&options) {
        let passes = format!("{} {option}", described.passes);
        findings.take_configuration(run.verdict, run.log.coverage.as_ref(), passes);
    }
    findings.rank(begun.elapsed());

    progress.step("deciding otherwise");
    let found = cc1.conditions(&window)?;
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
        let jobs: Vec<Job> = batch.iter().map(|attempt| Job::on_detour(&whole, attempt)).collect();
        let go_on = || !out_of_time(1.0) && !progress.stop_requested();
        let runs = trials.all(&jobs, &go_on)?;
        let mut verdicts = Vec::new();
        for (attempt, run) in batch.into_iter().zip(runs) {
            let executed = run.log.coverage.unwrap_or_default().intersection(&window).count();
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
    progress.step("gathering evidence");
    Ok(findings.conclude(plan, &described, stopped, begun.elapsed()))
}

/// What a result says about the case.
fn describe(loaded: &LoadedDriverCase, what: &str) -> Result<Described, TriageError> {
    let uses = loaded.driver_use()?;
    let mut passes = format!("-{}", uses.level.name());
    for flag in &loaded.case.case.cflags {
        passes += &format!(" {flag}");
    }
    Ok(Described {
        case: loaded.case.case.clone(),
        version: loaded.tested.driver.version.clone(),
        of_gcc: true,
        what: what.to_owned(),
        passes,
        commands: uses.commands,
    })
}

/// One compilation.
struct Job {
    orders: PluginOrders,
    /// Besides the case's own.
    flags: Vec<String>,
    /// Another program than the case's, its level and flags.
    other: Option<(PathBuf, OptLevel, Vec<String>)>,
}

impl Job {
    fn of_case(orders: PluginOrders) -> Job {
        Job { orders, flags: Vec::new(), other: None }
    }

    fn with(option: &str) -> Job {
        let orders = PluginOrders { coverage: true, ..PluginOrders::default() };
        Job { orders, flags: vec![option.to_owned()], other: None }
    }

    fn on_detour(whole: &PluginOrders, attempt: &Attempt) -> Job {
        let orders = PluginOrders { detours: attempt.detours(), window: None, ..whole.clone() };
        Job::of_case(orders)
    }
}

struct Run {
    verdict: Verdict,
    tried: Tried,
    log: PluginLog,
}

/// Compilations of one case and of the baseline programs.
struct Trials<'a> {
    loaded: &'a mut LoadedDriverCase,
    reproduction_what: String,
    trial: Trial,
    /// The baseline programs.
    programs: Workdir,
}

/// What a compilation needs, for any thread.
struct Trial {
    plugin: GccPlugin,
    tested: DriverUnderTest,
    source: PathBuf,
    limits: Limits,
    oracle: Oracle,
}

impl<'a> Trials<'a> {
    fn new(
        failing: &'a mut FailingDriverCase,
        cc1: &CoveredCc1,
    ) -> Result<Trials<'a>, TriageError> {
        let FailingDriverCase { loaded, reproduction } = failing;
        let mut tested = loaded.tested.clone();
        if loaded.case.case.kind != CaseKind::WrongCode {
            // What compiles has passed, whether it links or not.
            tested.flags.push("-S".to_owned());
        }
        let trial = Trial {
            plugin: GccPlugin::of_cc1(cc1),
            tested,
            source: loaded.case.input(),
            limits: loaded.repeat_limits(),
            oracle: reproduction.oracle.clone(),
        };
        let programs = Workdir::new().map_err(CaseError::from)?;
        Ok(Trials { loaded, reproduction_what: reproduction.what.clone(), trial, programs })
    }

    fn one(&mut self, job: &Job) -> Result<Run, TriageError> {
        self.trial.run(job, self.loaded.fence.pool.first())
    }

    /// On all cores, as long as there is time.
    fn all(
        &mut self,
        jobs: &[Job],
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<Run>, TriageError> {
        let trial = &self.trial;
        let work = |worker: &mut Worker, _: Option<&mut Worker>, job: &Job| trial.run(job, worker);
        let runs = self.loaded.fence.pool.each_while(None, jobs, go_on, &work);
        runs.into_iter().collect()
    }
}

impl Trial {
    /// What takes much longer than the failing run does something else.
    fn limit_to(&mut self, failing: Duration) {
        let patient = (failing * PATIENCE).max(LEAST_TIME);
        self.limits.compile = self.limits.compile.min(patient);
        self.limits.execute = self.limits.execute.min(patient);
    }

    fn run(&self, job: &Job, worker: &mut Worker) -> Result<Run, TriageError> {
        let folder = Workdir::new().map_err(CaseError::from)?;
        let mut tested = self.tested.clone();
        let mut source = self.source.as_path();
        if let Some((program, level, flags)) = &job.other {
            (tested.level, tested.flags, source) = (*level, flags.clone(), program);
        }
        tested.flags.extend(self.plugin.flags(&job.orders, folder.path())?);
        tested.flags.extend(job.flags.iter().cloned());
        let tried = tested.run(source, worker, self.limits)?;
        let log = self.plugin.log(folder.path()).map_err(CaseError::from)?;
        Ok(Run { verdict: tried.verdict(&self.oracle), tried, log })
    }
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
        cc1: &CoveredCc1,
        trials: &mut Trials<'_>,
        map: &CodeMap,
    ) -> Result<Baseline, TriageError> {
        let kept = cc1.beside(BASELINE)?;
        let read = fs::read(&kept).ok().and_then(|bytes| postcard::from_bytes(&bytes).ok());
        for (name, text) in SOURCES {
            fs::write(trials.programs.file(name), text)?;
        }
        if let Some(baseline) = read {
            return Ok(baseline);
        }
        let jobs = baseline_jobs(trials.programs.path(), &LEVELS, &["-S".to_owned()]);
        let mut baseline = Baseline { n_runs: 0, counts: vec![0; map.n_blocks as usize] };
        for run in trials.all(&jobs, &|| true)? {
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
fn baseline_jobs(folder: &Path, levels: &[OptLevel], flags: &[String]) -> Vec<Job> {
    let orders = PluginOrders { coverage: true, ..PluginOrders::default() };
    let all = levels.iter().flat_map(|&level| SOURCES.iter().map(move |(name, _)| (level, name)));
    all.map(|(level, name)| Job {
        orders: orders.clone(),
        flags: Vec::new(),
        other: Some((folder.join(name), level, flags.to_vec())),
    })
    .collect()
}
