//! A case of gcc on a cc1 with probes: seen to fail there, and compiled any number of
//! times, with other options, without some passes, on detours, or with another program
//! in its place.
//!
//! ```text
//! failing case, cc1 ──► the failing run: coverage, window ──► what methods ask for
//! ```
//! A run is a compilation by the distribution's driver with our cc1. Every method that
//! ranks gcc's own code makes its runs here.
//!
//! **Invariant:** a case that does not fail on our cc1 is not ranked.

use std::num::NonZero;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use optsleuth_case::CaseError;
use optsleuth_case::driver::{DriverUnderTest, FailingDriverCase, LoadedDriverCase, Tried};
use optsleuth_case::oracle::{Oracle, Verdict};
use optsleuth_compiler::driver::{CoveredCc1, Driver, GccPlugin, PluginLog, PluginOrders};
use optsleuth_compiler::llvm::{Pool, Worker};
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{
    Bisection, CaseFolder, CaseKind, CheckStatus, CodeMap, Coverage, Limits, OptLevel, Outcome,
    Progress,
};

use crate::TriageError;
use crate::bisect::{BUDGET, bisect_gcc};
use crate::localize::Described;

/// A run gets so many times what the failing one took, and not less than this.
const PATIENCE: u32 = 4;
const LEAST_TIME: Duration = Duration::from_millis(500);

/// The cc1 of ours for a gcc; an error, if there is none.
pub fn covered_cc1(driver: &Driver) -> Result<CoveredCc1, TriageError> {
    let missing = TriageError::NoCoveredGcc { major: driver.major };
    CoveredCc1::find(driver)?.ok_or(missing)
}

/// A case of gcc that was seen to fail and bisected, and its run on the cc1. Any number
/// of methods, one after the other.
#[derive(Debug)]
pub struct GccFailure {
    pub failing: FailingDriverCase,
    pub bisection: Bisection,
    pub gcc: CoveredGcc,
}

/// Whose case it is, and how it is opened.
#[derive(Debug)]
pub struct GccFailurePlan {
    pub case: CaseFolder,
    pub driver: Driver,
    pub limits: Limits,
    /// CPU time after which a repetition of a hang counts as one.
    pub candidate_time: Duration,
    /// One for each core if nothing is said.
    pub n_workers: Option<NonZero<usize>>,
}

impl GccFailure {
    pub fn open(plan: GccFailurePlan, progress: &dyn Progress) -> Result<GccFailure, TriageError> {
        let GccFailurePlan { case, driver, limits, candidate_time, n_workers } = plan;
        // Before anything that takes time.
        let cc1 = covered_cc1(&driver)?;
        let mut loaded = LoadedDriverCase::set_up_on(case, driver, limits, n_workers, progress)?;
        loaded.repeat_hangs_within(candidate_time);
        let mut failing = FailingDriverCase::see(loaded, progress)?;
        let bisection = bisect_gcc(&mut failing, Instant::now() + BUDGET, progress)?;
        let gcc = CoveredGcc::see(&mut failing, cc1, Some(&bisection), progress)?;
        Ok(GccFailure { failing, bisection, gcc })
    }
}

/// What all methods know of a failing run of gcc.
#[derive(Debug)]
pub struct CoveredGcc {
    pub cc1: CoveredCc1,
    pub map: CodeMap,
    /// What the failing run executes, and what it came to.
    pub failing: Coverage,
    pub outcome: Outcome,
    /// What the guilty invocation executes; all of the run, if there is none.
    pub window: Coverage,
    /// The number of the guilty invocation.
    pub guilty: Option<u32>,
    pub described: Described,
    pub(crate) trial: GccTrial,
}

impl CoveredGcc {
    /// Sees a case fail on the cc1.
    pub fn see(
        failing: &mut FailingDriverCase,
        cc1: CoveredCc1,
        bisection: Option<&Bisection>,
        progress: &dyn Progress,
    ) -> Result<CoveredGcc, TriageError> {
        let map = cc1.code_map()?;
        let FailingDriverCase { loaded, reproduction } = failing;
        let described = describe(loaded, &reproduction.what)?;
        let mut trial = GccTrial::new(loaded, &reproduction.oracle, &cc1);
        progress.step("seeing it fail on a gcc with probes");
        let guilty = bisection.and_then(Bisection::culprit).map(|found| found.index);
        let window = guilty.map(|guilty| (guilty, guilty + 1));
        let orders = PluginOrders { coverage: true, window, ..PluginOrders::default() };
        let first = Instant::now();
        let GccRun { verdict, tried, log } =
            trial.run(&GccJob::of_case(orders), loaded.fence.pool.first())?;
        trial.limit_to(first.elapsed());
        if verdict != Verdict::Fails {
            let what = "a gcc of the same source, built without inlining, does not fail".to_owned();
            return Err(CaseError::NotReproduced { status: CheckStatus::Passes, what }.into());
        }
        let outcome = match tried {
            Tried::Ran(outcome) => outcome,
            Tried::Refused(_) => Outcome::Ok(None),
        };
        let coverage = log.coverage.unwrap_or_default();
        let window = log.window.filter(|window| !window.is_empty());
        let window = window.unwrap_or(coverage.clone());
        Ok(CoveredGcc { cc1, map, failing: coverage, outcome, window, guilty, described, trial })
    }

    pub fn level(&self) -> OptLevel {
        self.trial.tested.level
    }

    /// What of gcc's driver and flags a case says.
    pub fn tested(&self) -> &DriverUnderTest {
        &self.trial.tested
    }

    /// On all cores, as long as there is time.
    pub(crate) fn all(
        &self,
        pool: &mut Pool,
        jobs: &[GccJob],
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<GccRun>, TriageError> {
        let work =
            |worker: &mut Worker, _: Option<&mut Worker>, job: &GccJob| self.trial.run(job, worker);
        let runs: Result<_, CaseError> =
            pool.each_while(None, jobs, go_on, &work).into_iter().collect();
        Ok(runs?)
    }
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
pub(crate) struct GccJob {
    pub(crate) orders: PluginOrders,
    /// Besides the case's own.
    pub(crate) flags: Vec<String>,
    /// Another program than the case's, its level and flags.
    pub(crate) other: Option<(PathBuf, OptLevel, Vec<String>)>,
}

impl GccJob {
    pub(crate) fn of_case(orders: PluginOrders) -> GccJob {
        GccJob { orders, flags: Vec::new(), other: None }
    }

    /// The case with more flags, covered.
    pub(crate) fn with(flags: Vec<String>) -> GccJob {
        GccJob { flags, ..GccJob::of_case(covered()) }
    }
}

/// What asks for coverage and nothing else.
pub(crate) fn covered() -> PluginOrders {
    PluginOrders { coverage: true, ..PluginOrders::default() }
}

pub(crate) struct GccRun {
    pub(crate) verdict: Verdict,
    pub(crate) tried: Tried,
    pub(crate) log: PluginLog,
}

/// What a compilation needs, for any thread.
#[derive(Debug)]
pub(crate) struct GccTrial {
    plugin: GccPlugin,
    pub(crate) tested: DriverUnderTest,
    source: PathBuf,
    pub(crate) limits: Limits,
    pub(crate) oracle: Oracle,
}

impl GccTrial {
    fn new(loaded: &LoadedDriverCase, oracle: &Oracle, cc1: &CoveredCc1) -> GccTrial {
        let mut tested = loaded.tested.clone();
        if loaded.case.case.kind != CaseKind::WrongCode {
            // What compiles has passed, whether it links or not.
            tested.flags.push("-S".to_owned());
        }
        GccTrial {
            plugin: GccPlugin::of_cc1(cc1),
            tested,
            source: loaded.case.input(),
            limits: loaded.repeat_limits(),
            oracle: oracle.clone(),
        }
    }

    /// What takes much longer than the failing run does something else.
    fn limit_to(&mut self, failing: Duration) {
        let patient = (failing * PATIENCE).max(LEAST_TIME);
        self.limits.compile = self.limits.compile.min(patient);
        self.limits.execute = self.limits.execute.min(patient);
    }

    pub(crate) fn run(&self, job: &GccJob, worker: &mut Worker) -> Result<GccRun, CaseError> {
        self.run_within(job, self.limits, worker)
    }

    /// With limits of its own.
    pub(crate) fn run_within(
        &self,
        job: &GccJob,
        limits: Limits,
        worker: &mut Worker,
    ) -> Result<GccRun, CaseError> {
        let folder = Workdir::new()?;
        let mut tested = self.tested.clone();
        let mut source = self.source.as_path();
        if let Some((program, level, flags)) = &job.other {
            (tested.level, tested.flags, source) = (*level, flags.clone(), program);
        }
        tested.flags.extend(self.plugin.flags(&job.orders, folder.path())?);
        tested.flags.extend(job.flags.iter().cloned());
        // Assembly is nothing to be executed.
        let tried = match tested.flags.iter().any(|flag| flag == "-S") {
            true => tested.compile(source, limits)?,
            false => tested.run(source, worker, limits)?,
        };
        let log = self.plugin.log(folder.path())?;
        Ok(GccRun { verdict: tried.verdict(&self.oracle), tried, log })
    }
}
