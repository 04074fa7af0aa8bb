//! The culprit method: a failing run, its guilty invocation -> clues of all
//! kinds -> suspects.
//!
//! ```text
//! strangers, sequences, mutants ──► witnesses ─┐
//! ordinary runs of this LLVM ─────► rarity ────┼──► clues ──► ranking
//! conditions decided otherwise ───► cures ─────┘
//! ```
//! Witnesses are soon enough; the rest of the time goes to detours.
//! `docs/culprit.md` says why.
//!
//! **Invariant:** what is found depends on the seed and the number of runs
//! alone. Time decides only when to stop.

mod detours;
mod findings;
mod mutants;
mod ordinary;
mod rarity;
mod technique;

use std::sync::Arc;
use std::time::{Duration, Instant};

use optsleuth_compiler::llvm::Install;
use optsleuth_model::{
    CaseKind, Coverage, Execute, Limits, Localization, Outcome, Program, RunRequest, StopReason,
};
use optsleuth_rank::Recipe;
use optsleuth_search::Method;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::Progress;
use crate::bisect::bisect_stage;
use crate::check::{Reproduction, Stage};
use crate::localize::{
    Ground, Measured, Scene, SearchPlan, SearchStatus, Stop, look_for_witnesses,
};
use crate::setup::LabError;
use detours::Detours;
use findings::Findings;
pub(crate) use ordinary::SOURCES;
use rarity::Rarity;
pub(crate) use technique::CULPRIT;
pub use technique::Technique;

/// How to find the culprit.
#[derive(Clone, Copy, Debug)]
pub struct CulpritPlan {
    /// Where the random numbers start.
    pub seed: u64,
    /// When to stop.
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
const PATIENCE: u32 = 10;
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

/// What is ordinary for an LLVM.
#[derive(Debug, Default)]
struct Ordinary {
    rarity: Rarity,
    programs: Vec<Program>,
}

impl Ordinary {
    /// Without a clang there is nothing ordinary; the method does without.
    fn of(install: &Install, progress: &dyn Progress) -> Result<Ordinary, LabError> {
        match ordinary::programs(install) {
            Ok(programs) => Ok(Ordinary { rarity: Rarity::of(install, progress)?, programs }),
            Err(LabError::Program(error)) => {
                tracing::warn!(%error, "nothing is known about what is ordinary for this LLVM");
                Ok(Ordinary::default())
            }
            Err(error) => Err(error),
        }
    }
}

/// An investigation that has ended.
pub(crate) struct Investigated<'a> {
    pub(crate) findings: Findings<'a>,
    pub(crate) stopped: StopReason,
    pub(crate) wall: Duration,
}

/// What an investigation has to know beforehand.
#[derive(Debug)]
pub(crate) struct Premises {
    /// The number of the guilty invocation, where there is one.
    guilty: Option<u32>,
    ordinary: Ordinary,
}

impl Scene {
    /// Gathers clues and ranks suspects.
    pub fn accuse(
        &mut self,
        plan: &CulpritPlan,
        progress: &dyn Progress,
    ) -> Result<Localization, LabError> {
        let premises = self.premises(progress)?;
        let Scene { stage, reproduction, ground, .. } = self;
        let Investigated { findings, stopped, wall } =
            investigate(stage, reproduction, ground, &premises, plan, progress)?;
        progress.step("gathering evidence");
        Ok(findings.conclude(plan, stage, reproduction, stopped, wall))
    }

    /// Where the culprit method has the true culprits; `None` if somebody
    /// wanted it to end early.
    pub(crate) fn measure_culprit(
        &mut self,
        plan: &CulpritPlan,
        progress: &dyn Progress,
    ) -> Result<Option<(Measured, Duration)>, LabError> {
        let premises = self.premises(progress)?;
        let Scene { stage, reproduction, ground, .. } = self;
        let found = investigate(stage, reproduction, ground, &premises, plan, progress)?;
        let is_whole = found.stopped != StopReason::Interrupted;
        Ok(is_whole.then(|| (found.findings.measure(), found.wall)))
    }

    /// What an investigation has to know beforehand; found out once.
    fn premises(&mut self, progress: &dyn Progress) -> Result<Arc<Premises>, LabError> {
        if let Some(known) = &self.premises {
            return Ok(Arc::clone(known));
        }
        let ordinary = Ordinary::of(&self.stage.bench.install, progress)?;
        let bisection = bisect_stage(&mut self.stage, &self.reproduction, progress)?;
        let guilty = bisection.culprit().map(|invocation| invocation.index);
        let premises = Arc::new(Premises { guilty, ordinary });
        self.premises = Some(Arc::clone(&premises));
        Ok(premises)
    }
}

/// Gathers clues until there is a reason to stop.
fn investigate<'a>(
    stage: &mut Stage,
    reproduction: &Reproduction,
    ground: &'a Ground,
    premises: &Premises,
    plan: &CulpritPlan,
    progress: &dyn Progress,
) -> Result<Investigated<'a>, LabError> {
    let template = candidate(stage, ground);
    let outcome = &reproduction.first.outcome;
    let timed = plan.stop.is_timed();
    let mut findings = Findings::new(&ground.map, &ground.failing, stage, outcome, timed);
    let started = Instant::now();
    let out_of_time = || plan.stop.budget.is_some_and(|budget| started.elapsed() >= budget);
    let go_on = || !out_of_time() && !progress.stop_requested();

    progress.step("comparing with ordinary programs");
    let window = window(stage, &template, premises.guilty, ground)?;
    findings.set_window(&window);
    findings.set_ordinary(&premises.ordinary.rarity.shares(&ground.map));
    strangers(stage, &template, &premises.ordinary.programs, &mut findings)?;

    let search = SearchPlan {
        method: Method::LocseqRwc,
        seed: plan.seed,
        stop: SEQUENCES.of(plan.stop),
        recipe: Recipe::default(),
    };
    let quiet = Quiet(progress);
    let searched = look_for_witnesses(stage, reproduction, ground, &template, &search, &quiet)?;
    findings.take_sequences(searched.tally);
    findings.rank(started.elapsed());

    progress.step("varying the program");
    vary(stage, reproduction, ground, &template, plan, &go_on, &mut findings)?;
    findings.rank(started.elapsed());

    progress.step("deciding otherwise");
    let promise = findings.promise();
    let mut detours = Detours::of(stage, &window, findings.universe(), &promise)?;
    let template = detouring(&template, reproduction);
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
        let pool = &mut stage.bench.pool;
        let verdicts = detours.go_on(room, pool, &reproduction.oracle, &template, &go_on);
        findings.take_detours(&verdicts, &detours);
        findings.rank(started.elapsed());
        progress.search(&findings.status(started.elapsed()));
    };
    Ok(Investigated { findings, stopped, wall: started.elapsed() })
}

/// Looks for mutants that pass.
fn vary(
    stage: &mut Stage,
    reproduction: &Reproduction,
    ground: &Ground,
    template: &RunRequest,
    plan: &CulpritPlan,
    go_on: &(dyn Fn() -> bool + Sync),
    findings: &mut Findings<'_>,
) -> Result<(), LabError> {
    let quota = MUTANTS.of(plan.stop);
    let (begun, before) = (Instant::now(), findings.runs());
    let in_time = || go_on() && quota.budget.is_none_or(|budget| begun.elapsed() < budget);
    let mut rng = ChaCha8Rng::seed_from_u64(plan.seed);
    let edits = mutants::edits(stage, &mut rng)?;
    for batch in edits.chunks(BATCH) {
        let used = findings.runs() - before;
        let enough = findings.n_mutants() >= ENOUGH_WITNESSES;
        if enough || !in_time() || quota.runs.is_some_and(|runs| used >= runs) {
            break;
        }
        let (pool, kind) = (&mut stage.bench.pool, stage.case.case.kind);
        let ran = mutants::run(pool, kind, &reproduction.oracle, template, batch, &in_time);
        for (edit, mutant) in batch.iter().zip(&ran) {
            findings.take_mutant(edit, mutant, &ground.reference);
        }
    }
    Ok(())
}

/// A candidate's run. A hang has to show soon: there will be many.
fn candidate(stage: &Stage, ground: &Ground) -> RunRequest {
    let mut template = ground.template.clone();
    if stage.case.case.kind == CaseKind::Hang {
        template.limits.compile = template.limits.compile.min(HANG);
    }
    template
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

/// Far more than a run usually takes, and not less than this. In large steps: the
/// same run takes a little more or less every time, and that must not decide
/// anything.
pub(crate) fn patience(usual: Duration, least: Duration) -> Duration {
    let mut time = least;
    while time < usual * PATIENCE {
        time *= 4;
    }
    time
}

/// What the guilty invocation executes; everything, where there is none.
fn window(
    stage: &mut Stage,
    template: &RunRequest,
    guilty: Option<u32>,
    ground: &Ground,
) -> Result<Coverage, LabError> {
    let Some(guilty) = guilty else { return Ok(ground.failing.clone()) };
    let window = Some((guilty, guilty.saturating_add(1)));
    let run = stage.bench.pool.first().run(&RunRequest { window, ..template.clone() })?;
    let inside = run.window.unwrap_or_default().intersection(&ground.failing);
    Ok(if inside.is_empty() { ground.failing.clone() } else { inside })
}

/// The same passes on other programs.
fn strangers(
    stage: &mut Stage,
    template: &RunRequest,
    programs: &[Program],
    findings: &mut Findings<'_>,
) -> Result<(), LabError> {
    let request = RunRequest { execute: Execute::No, ..template.clone() };
    let flags = &stage.case.case.flags;
    let worker = stage.bench.pool.first();
    for program in programs {
        // Options of the case may not fit other programs.
        let ran = worker.load(program, flags, template.limits).and_then(|()| worker.run(&request));
        if let Ok(result) = ran {
            findings.take_stranger(&result);
        }
    }
    worker.load(&stage.program, flags, template.limits)?;
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

    #[test]
    fn patience_grows_in_large_steps() {
        let millis = |usual| patience(Duration::from_millis(usual), LEAST_TIME).as_millis();
        assert_eq!([0, 5, 20, 21, 80, 300].map(millis), [200, 200, 200, 800, 800, 3200]);
    }
}
