//! The culprit method: a failing run, its guilty invocation -> clues of all
//! kinds -> suspects.
//!
//! ```text
//! other programs, sequences, mutants ──► witnesses ─┐
//! baseline runs of this LLVM ──────────► rarity ────┼──► clues ──► ranking
//! conditions decided otherwise ────────► cures ─────┘
//! ```
//! Witnesses are soon enough; the rest of the time goes to detours.
//! `docs/culprit.md` says why.
//!
//! **Invariant:** what is found depends on the seed and the number of runs
//! alone. Time decides only when to stop.

mod authors;
mod detours;
mod findings;
mod lines;
mod mutants;
mod of_gcc;

use std::time::{Duration, Instant};

use optsleuth_case::loaded::{FailingCase, LoadedCase, Reproduction, patience};
use optsleuth_model::{
    Authorship, Bisection, BlockId, CaseKind, Coverage, Execute, Limits, Localization, Outcome,
    Program, Progress, RunRequest, SearchStatus, StopReason,
};
use optsleuth_rank::Recipe;
use optsleuth_search::Method;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::TriageError;
use crate::baseline::Baseline;
use crate::bisect::{self, bisect_failing};
use crate::localize::{
    CoveredFailure, Described, Measured, SearchInput, SearchPlan, Stop, look_for_witnesses,
};
use authors::FailingChanges;
use detours::Detours;
use findings::Findings;
pub use of_gcc::{find_culprit_of_gcc, measure_culprit_of_gcc};

/// The method's name.
pub const CULPRIT: &str = "culprit";

/// How to find the culprit.
#[derive(Clone, Copy, Debug)]
pub struct CulpritPlan {
    /// Where the random numbers start.
    pub seed: u64,
    pub stop: Stop,
}

/// More witnesses of a kind say little that is new.
const ENOUGH_WITNESSES: usize = 50;
/// What sequences and mutants may use of the runs and of the time.
const SEQUENCES: Share = Share { runs: 60, part: 0.15 };
const MUTANTS: Share = Share { runs: 200, part: 0.25 };
/// How many runs are made between two looks at the ranking.
const BATCH: usize = 50;
/// In a hang, every run that fails costs all of its time.
const HANG: Duration = Duration::from_millis(200);
/// A compiler on a detour gets so many times the time it needs otherwise, and
/// not less than this.
const LEAST_TIME: Duration = Duration::from_millis(200);
/// A compiler that went astray may ask for any amount.
const DETOUR_MEMORY: u64 = 1 << 30;

struct Share {
    runs: usize,
    part: f64,
}

impl Share {
    fn of(&self, stop: Stop) -> Stop {
        let part = |runs: usize| (runs as f64 * self.part) as usize;
        Stop {
            runs: Some(stop.runs.map_or(self.runs, |runs| self.runs.min(part(runs)))),
            budget: stop.budget.map(|budget| budget.mul_f64(self.part)),
            stable: None,
        }
    }
}

/// An investigation that has ended.
pub(crate) struct Investigated<'a> {
    pub(crate) findings: Findings<'a>,
    pub(crate) stopped: StopReason,
    pub(crate) wall: Duration,
}

/// What the method has to know about a failure beforehand; the same for any
/// number of investigations.
#[derive(Debug)]
pub struct CulpritInput {
    /// The number of the guilty invocation, where there is one.
    guilty: Option<u32>,
    baseline: Baseline,
}

impl CulpritInput {
    /// Bisects the failure, and takes what is known about its LLVM.
    pub fn find(
        failure: &mut CoveredFailure,
        progress: &dyn Progress,
    ) -> Result<CulpritInput, TriageError> {
        let deadline = Instant::now() + bisect::BUDGET;
        let bisection = bisect_failing(&mut failure.failing, deadline, progress)?;
        CulpritInput::of_bisection(failure, &bisection, progress)
    }

    /// The same for a failure that was bisected already.
    pub fn of_bisection(
        failure: &CoveredFailure,
        bisection: &Bisection,
        progress: &dyn Progress,
    ) -> Result<CulpritInput, TriageError> {
        let baseline = Baseline::of(&failure.failing.loaded.workers.install, progress)?;
        let guilty = bisection.culprit().map(|invocation| invocation.index);
        Ok(CulpritInput { guilty, baseline })
    }

    /// The same for a worker whose LLVM was compiled anew in part: invocations
    /// have the same numbers, blocks do not.
    pub fn of_zoomed(
        &self,
        failure: &CoveredFailure,
        progress: &dyn Progress,
    ) -> Result<CulpritInput, TriageError> {
        let provisioned = &failure.failing.loaded.workers.provisioned;
        let baseline = self.baseline.of_zoomed(provisioned, progress)?;
        Ok(CulpritInput { guilty: self.guilty, baseline })
    }
}

/// Gathers clues and ranks suspects.
pub fn find_culprit(
    failure: &mut CoveredFailure,
    known: &CulpritInput,
    plan: &CulpritPlan,
    progress: &dyn Progress,
) -> Result<Localization, TriageError> {
    let CoveredFailure { failing: FailingCase { loaded, reproduction }, input } = failure;
    let Investigated { findings, stopped, wall } =
        investigate(loaded, reproduction, input, known, plan, progress)?;
    progress.step("gathering evidence");
    Ok(findings.conclude(plan, &Described::of(loaded, reproduction), stopped, wall))
}

/// Where the method has the true culprits, among the functions whose symbols are
/// known; `None` if it was told to end early.
pub fn measure_culprit(
    failure: &mut CoveredFailure,
    known: &CulpritInput,
    plan: &CulpritPlan,
    is_known: &dyn Fn(&str) -> bool,
    progress: &dyn Progress,
) -> Result<Option<(Measured, Duration)>, TriageError> {
    let CoveredFailure { failing: FailingCase { loaded, reproduction }, input } = failure;
    let found = investigate(loaded, reproduction, input, known, plan, progress)?;
    let is_whole = found.stopped != StopReason::Interrupted;
    Ok(is_whole.then(|| (found.findings.measure(is_known), found.wall)))
}

/// Gathers clues until there is a reason to stop.
fn investigate<'a>(
    loaded: &mut LoadedCase,
    reproduction: &Reproduction,
    input: &'a SearchInput,
    known: &CulpritInput,
    plan: &CulpritPlan,
    progress: &dyn Progress,
) -> Result<Investigated<'a>, TriageError> {
    let template = candidate(loaded, input);
    let outcome = &reproduction.first.outcome;
    let timed = plan.stop.is_timed();
    let described = Described::of(loaded, reproduction);
    let mut findings = Findings::new(&input.map, &input.failing, &described, outcome, timed);
    let started = Instant::now();
    let out_of_time = || plan.stop.budget.is_some_and(|budget| started.elapsed() >= budget);
    let go_on = || !out_of_time() && !progress.stop_requested();

    progress.step("comparing with the baseline programs");
    let (window, authorship) = window(loaded, &template, known.guilty, input)?;
    findings.set_window(&window);
    if let Some(authorship) = &authorship {
        findings.set_authors(authorship, writers(loaded, input, authorship)?);
    }
    let mut failing = FailingChanges::new(&window, authorship.as_ref());
    findings.set_stack(loaded.workers.provisioned.instructions(&reproduction.first.stack)?);
    findings.set_baseline(&known.baseline.coverage.shares(&input.map));
    run_baseline_programs(loaded, &template, &known.baseline.programs, &mut findings)?;

    let search = SearchPlan {
        method: Method::LocseqRwc,
        seed: plan.seed,
        stop: SEQUENCES.of(plan.stop),
        recipe: Recipe::default(),
    };
    // A failure without passes has no sequence that could be varied.
    if template.passes.is_some() {
        let quiet = Quiet(progress);
        let searched = look_for_witnesses(loaded, reproduction, input, &template, &search, &quiet)?;
        findings.take_sequences(searched.tally);
    }
    findings.rank(started.elapsed());

    progress.step("varying the program");
    vary(loaded, reproduction, input, &template, plan, &go_on, &mut findings)?;
    findings.rank(started.elapsed());

    progress.step("deciding otherwise");
    let promise = findings.promise();
    let found = loaded.workers.provisioned.detours(&window)?;
    let mut detours = Detours::new(found, findings.universe(), &promise);
    let template = detouring(&template, reproduction);
    let grading = with_authors(&template, known.guilty);
    let mut way = None;
    let stopped = loop {
        if progress.stop_requested() {
            break StopReason::Interrupted;
        }
        if plan.stop.runs.is_some_and(|runs| findings.runs() >= runs) {
            break StopReason::Runs;
        }
        if out_of_time() {
            break StopReason::Budget;
        }
        if detours.is_exhausted() {
            break StopReason::Exhausted;
        }
        if plan.stop.stable.is_some_and(|runs| findings.unchanged_for() >= runs) {
            break StopReason::Stable;
        }
        let room = plan.stop.runs.map_or(BATCH, |runs| BATCH.min(runs - findings.runs()));
        let pool = &mut loaded.workers.pool;
        let verdicts = detours.go_on(room, pool, &reproduction.oracle, &template, &go_on);
        let has_news = detours.grade(pool, &grading, &mut failing);
        findings.take_detours(&verdicts, &detours);
        if has_news && way != failing.wrong_events() {
            way = failing.wrong_events();
            findings.set_way(&leading_to(way, loaded, &grading)?);
            detours.reorder(&findings.promise());
        }
        findings.rank(started.elapsed());
        progress.search(&findings.status(started.elapsed()));
    };
    Ok(Investigated { findings, stopped, wall: started.elapsed() })
}

/// Looks for mutants that pass.
fn vary(
    loaded: &mut LoadedCase,
    reproduction: &Reproduction,
    input: &SearchInput,
    template: &RunRequest,
    plan: &CulpritPlan,
    go_on: &(dyn Fn() -> bool + Sync),
    findings: &mut Findings<'_>,
) -> Result<(), TriageError> {
    let quota = MUTANTS.of(plan.stop);
    let (begun, before) = (Instant::now(), findings.runs());
    let in_time = || go_on() && quota.budget.is_none_or(|budget| begun.elapsed() < budget);
    let mut rng = ChaCha8Rng::seed_from_u64(plan.seed);
    let edits = mutants::edits(loaded, &mut rng)?;
    let batch_size = quota.runs.map_or(BATCH, |runs| runs.clamp(1, BATCH));
    for batch in edits.chunks(batch_size) {
        let used = findings.runs() - before;
        let enough = findings.n_mutants() >= ENOUGH_WITNESSES;
        if enough || !in_time() || quota.runs.is_some_and(|runs| used >= runs) {
            break;
        }
        let (pool, kind) = (&mut loaded.workers.pool, loaded.case.case.kind);
        let ran = mutants::run(pool, kind, &reproduction.oracle, template, batch, &in_time);
        for (edit, mutant) in batch.iter().zip(&ran) {
            findings.take_mutant(edit, mutant, &input.reference);
        }
    }
    Ok(())
}

/// A candidate's run. A hang has to show soon: there will be many.
fn candidate(loaded: &LoadedCase, input: &SearchInput) -> RunRequest {
    let mut template = input.template.clone();
    if loaded.case.case.kind == CaseKind::Hang {
        template.limits.compile = template.limits.compile.min(HANG);
    }
    template
}

/// The authors' calls that change the IR, where they have lines.
fn writers(
    loaded: &LoadedCase,
    input: &SearchInput,
    authorship: &Authorship,
) -> Result<Vec<(BlockId, u32)>, TriageError> {
    if input.map.source.is_none() {
        return Ok(Vec::new());
    }
    let authors = authorship.events.iter().filter_map(|event| authorship.author(event));
    let calls: Vec<u64> = authors.map(|author| author.address).collect();
    Ok(loaded.workers.provisioned.instructions(&calls)?)
}

/// What the failing run executes while these events of its guilty invocation
/// happen.
fn leading_to(
    events: Option<(u32, u32)>,
    loaded: &mut LoadedCase,
    template: &RunRequest,
) -> Result<Coverage, TriageError> {
    if events.is_none() {
        return Ok(Coverage::default());
    }
    let run =
        loaded.workers.pool.first().run(&RunRequest { narrow: events, ..template.clone() })?;
    Ok(run.window.unwrap_or_default())
}

/// The same on a detour.
fn detouring(template: &RunRequest, reproduction: &Reproduction) -> RunRequest {
    let compile = match reproduction.first.outcome {
        Outcome::Timeout { .. } => template.limits.compile,
        _ => patience(reproduction.first.cpu, LEAST_TIME).min(template.limits.compile),
    };
    let limits = Limits {
        compile,
        execute: patience(reproduction.reference_time, LEAST_TIME).min(template.limits.execute),
        memory: template.limits.memory.min(DETOUR_MEMORY),
        ..template.limits
    };
    RunRequest { limits, ..template.clone() }
}

/// What the guilty invocation executes, and who writes in it; everything, where
/// there is none.
fn window(
    loaded: &mut LoadedCase,
    template: &RunRequest,
    guilty: Option<u32>,
    input: &SearchInput,
) -> Result<(Coverage, Option<Authorship>), TriageError> {
    if guilty.is_none() {
        return Ok((input.failing.clone(), None));
    }
    let run = loaded.workers.pool.first().run(&with_authors(template, guilty))?;
    let inside = run.window.unwrap_or_default().intersection(&input.failing);
    let inside = if inside.is_empty() { input.failing.clone() } else { inside };
    Ok((inside, run.authorship))
}

/// The same, and who writes what in the guilty invocation.
fn with_authors(template: &RunRequest, guilty: Option<u32>) -> RunRequest {
    RunRequest {
        window: guilty.map(|guilty| (guilty, guilty.saturating_add(1))),
        // Machine instructions have no authors that could be told.
        authors: guilty.is_some() && !template.machine_passes,
        coverage: true,
        ..template.clone()
    }
}

/// The same passes on other programs.
fn run_baseline_programs(
    loaded: &mut LoadedCase,
    template: &RunRequest,
    programs: &[Program],
    findings: &mut Findings<'_>,
) -> Result<(), TriageError> {
    let request = RunRequest { execute: Execute::No, ..template.clone() };
    let options = &loaded.case.case.llvm_options();
    let worker = loaded.workers.pool.first();
    for program in programs {
        // Options of the case may not fit other programs.
        let ran =
            worker.load(program, options, template.limits).and_then(|()| worker.run(&request));
        if let Ok(result) = ran {
            findings.take_baseline_run(&result);
        }
    }
    worker.load(&loaded.program, options, template.limits)?;
    Ok(())
}

/// Says what it is doing, but not how its own search goes.
struct Quiet<'a>(&'a dyn Progress);

impl Progress for Quiet<'_> {
    fn step(&self, what: &str) {
        self.0.step(what);
    }
    fn count(&self, _: usize, _: usize) {}
    fn search(&self, _: &SearchStatus) {}
    fn stop_requested(&self) -> bool {
        self.0.stop_requested()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_of_whatever_there_is() {
        let share = |runs, seconds: Option<u64>| {
            let stop = Stop { runs, budget: seconds.map(Duration::from_secs), stable: Some(9) };
            let Stop { runs, budget, stable } = MUTANTS.of(stop);
            assert_eq!(stable, None);
            (runs, budget)
        };
        assert_eq!(share(Some(100), None), (Some(25), None));
        assert_eq!(share(Some(100_000), None), (Some(200), None));
        assert_eq!(share(None, Some(10)), (Some(200), Some(Duration::from_millis(2500))));
    }
}
