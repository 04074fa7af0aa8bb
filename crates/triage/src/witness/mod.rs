//! Witness programs: a case in C, of LLVM or of gcc -> slightly changed programs that pass ->
//! suspects. The searches of DiWi and RecBi, and their baselines.
//!
//! ```text
//! guide ──► mutants ──► front end, passes, execution on all workers ──► verdicts
//!   ▲                                                                      │
//!   └──── accepted? distance, gain ◄── collection ◄── coverages ◄──────────┘
//!                                           └──► spectrum ──► ranking
//! ```
//!
//! J. Chen et al., "Compiler Bug Isolation via Effective Witness Test Program
//! Generation", ESEC/FSE 2019 (DiWi), and J. Chen, H. Ma and L. Zhang, "Enhanced
//! Compiler Bug Isolation via Memoized Search", ASE 2020 (RecBi).
//!
//! **Invariant:** what is found depends on the seed, the programs at hand and the
//! number of runs alone: batches have the same size on any number of cores, and
//! what came of them is learnt in the order in which they were asked for.

mod blend;
mod c_tools;
mod candidate;
mod choices;
mod collection;
mod effect;
mod ingredient_pool;
mod lines;
mod mutable;
mod mutants;
mod of_gcc;
mod of_llvm;
mod proposal;
mod trial;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use optsleuth_case::driver::FailingDriverCase;
use optsleuth_case::loaded::{FailingCase, LoadedCase, Reproduction};
use optsleuth_case::oracle::Verdict;
use optsleuth_compiler::CompilerError;
use optsleuth_model::{CodeMap, Localization, ProgramCounts, Progress, StopReason, Truth};
use optsleuth_rank::Recipe;
use optsleuth_search::ProgramMethod;

use crate::TriageError;
use crate::covered_gcc::{CoveredGcc, GccFailure};
use crate::localize::{
    Course, CoveredFailure, Described, Judged, Localized, Measured, Searched, Source, Stop, Tally,
    Trouble,
};
use blend::Blender;
use candidate::Candidate;
use collection::{Collection, Weighed};
pub use ingredient_pool::programs_at_hand;
use mutable::MutableProgram;
pub use of_gcc::GccPrograms;
pub use of_llvm::LlvmPrograms;
use of_llvm::TrialWorkers;
use proposal::Proposer;
use trial::{Compiler, GoOn, Judgement, Text, Tried};

/// How to look for witness programs.
#[derive(Clone, Debug)]
pub struct WitnessPlan {
    /// Where they come from, and what guides the search.
    pub method: ProgramMethod,
    /// Where the random numbers start.
    pub seed: u64,
    pub stop: Stop,
    /// How to make a ranking of the runs.
    pub recipe: Recipe,
    /// A folder of C programs: ingredients of insertions, and the witnesses of
    /// `dev`. The tool's own small programs, and some of csmith's, if not given.
    pub pool: Option<PathBuf>,
    /// Every witness gets a statement of another program (DiWi, 5.6.4).
    pub blend: bool,
    /// Leave out what passes although the compiler does what it does wrong.
    pub guard: bool,
}

/// So many programs are asked for before anything is learnt of them.
const BATCH: usize = 8;

impl WitnessPlan {
    /// Whether something of other programs goes into mutants.
    fn needs_ingredients(&self) -> bool {
        let inserts = match self.method {
            ProgramMethod::Recbi
            | ProgramMethod::RecbiMh
            | ProgramMethod::RecbiRandom
            | ProgramMethod::RecbiFilter => true,
            ProgramMethod::Diwi
            | ProgramMethod::DiwiRandom
            | ProgramMethod::Dev
            | ProgramMethod::Csmith => false,
        };
        inserts || self.blend
    }
}

/// Looks for witness programs of a failure of LLVM and ranks suspects.
pub fn localize_by_programs(
    failure: &mut CoveredFailure,
    programs: &mut LlvmPrograms,
    plan: &WitnessPlan,
    progress: &dyn Progress,
) -> Result<Localized, TriageError> {
    in_llvm(failure, programs, plan, progress, |searched, loaded, reproduction| {
        let Searched { tally, stopped, wall, .. } = searched;
        if tally.witnesses() == 0 {
            return Err(tally.no_witness(stopped));
        }
        progress.step("gathering evidence");
        let who = (plan.method.name(), plan.seed, plan.stop);
        let ((worked, occupied), n_workers) = (tally.worked(), loaded.workers.pool.size());
        let described = Described::of(loaded, reproduction);
        let localization = tally.conclude(who, &described, stopped, wall);
        Ok(Localized { localization, wall, occupied, worked, n_workers })
    })
}

/// Where such a search has the true culprits; `None` if it was told to end early.
pub fn measure_programs(
    failure: &mut CoveredFailure,
    programs: &mut LlvmPrograms,
    plan: &WitnessPlan,
    progress: &dyn Progress,
) -> Result<Option<(Measured, Duration)>, TriageError> {
    in_llvm(failure, programs, plan, progress, |searched, _, _| measured(searched))
}

/// Looks for witness programs of a failure of gcc and ranks suspects.
pub fn localize_gcc_by_programs(
    failure: &mut GccFailure,
    programs: &mut GccPrograms,
    plan: &WitnessPlan,
    progress: &dyn Progress,
) -> Result<Localization, TriageError> {
    let GccFailure { failing, gcc, .. } = failure;
    let Searched { tally, stopped, wall, .. } = in_gcc(failing, gcc, programs, plan, progress)?;
    if tally.witnesses() == 0 {
        return Err(tally.no_witness(stopped));
    }
    progress.step("gathering evidence");
    let who = (plan.method.name(), plan.seed, plan.stop);
    Ok(tally.conclude(who, &gcc.described, stopped, wall))
}

/// Where such a search has the true culprits; `None` if it was told to end early.
pub fn measure_gcc_programs(
    failure: &mut GccFailure,
    programs: &mut GccPrograms,
    plan: &WitnessPlan,
    progress: &dyn Progress,
) -> Result<Option<(Measured, Duration)>, TriageError> {
    let GccFailure { failing, gcc, .. } = failure;
    measured(in_gcc(failing, gcc, programs, plan, progress)?)
}

fn measured(searched: Searched<'_>) -> Result<Option<(Measured, Duration)>, TriageError> {
    let Searched { tally, stopped, wall, n_troubled } = searched;
    // A figure may not depend on how busy the machine was.
    if n_troubled > 0 {
        return Err(TriageError::Troubled(n_troubled));
    }
    let is_whole = stopped != StopReason::Interrupted;
    Ok(is_whole.then(|| (tally.measure(&Recipe::all()), wall)))
}

/// A search on LLVM's workers, and what is made of it.
fn in_llvm<T>(
    failure: &mut CoveredFailure,
    programs: &mut LlvmPrograms,
    plan: &WitnessPlan,
    progress: &dyn Progress,
    conclude: impl FnOnce(Searched<'_>, &LoadedCase, &Reproduction) -> Result<T, TriageError>,
) -> Result<T, TriageError> {
    failure.with_other_programs(|failure| {
        programs.mutable.fill_pool(plan, &programs.c, progress)?;
        let CoveredFailure { failing: FailingCase { loaded, reproduction }, input } = failure;
        let case = loaded.case.case.clone();
        let (pool, unmodified) = loaded.pools();
        let trial = programs.trial(&case, &reproduction.oracle);
        let mut workers = TrialWorkers { pool, unmodified, trial };
        let failure = Failure { map: &input.map, truth: case.truth.as_ref() };
        let searched =
            look_for_programs(&failure, &programs.mutable, &mut workers, plan, progress)?;
        conclude(searched, loaded, reproduction)
    })
}

/// A search on a cc1 with probes.
fn in_gcc<'a>(
    failing: &mut FailingDriverCase,
    gcc: &'a CoveredGcc,
    programs: &mut GccPrograms,
    plan: &WitnessPlan,
    progress: &dyn Progress,
) -> Result<Searched<'a>, TriageError> {
    programs.mutable.fill_pool(plan, &programs.c, progress)?;
    let failure = Failure { map: &gcc.map, truth: gcc.described.case.truth.as_ref() };
    let mut trials = programs.trials(gcc, &mut failing.loaded.fence.pool);
    look_for_programs(&failure, &programs.mutable, &mut trials, plan, progress)
}

/// What a search has to know of a failure besides its program.
struct Failure<'a> {
    map: &'a CodeMap,
    truth: Option<&'a Truth>,
}

/// Searches until there is a reason to stop.
fn look_for_programs<'a>(
    failure: &Failure<'a>,
    mutable: &MutableProgram,
    compiler: &mut dyn Compiler,
    plan: &WitnessPlan,
    progress: &dyn Progress,
) -> Result<Searched<'a>, TriageError> {
    let mut proposer = Proposer::new(plan, mutable)?;
    let covered = std::slice::from_ref(&mutable.failing);
    let mut state = SearchState {
        plan,
        mutable,
        tally: Tally::new(failure.map, covered, plan.recipe, failure.truth),
        collection: Collection::new(plan.method.acceptance(), &mutable.failing),
        counts: ProgramCounts {
            fakes: mutable.effect.as_ref().map(|_| 0),
            ..ProgramCounts::default()
        },
        trouble: Trouble::default(),
    };
    let mut blender = if plan.blend { Blender::new(plan.seed, mutable) } else { None };
    progress.step("looking for witness programs");
    let started = Instant::now();
    let out_of_time = || plan.stop.budget.is_some_and(|budget| started.elapsed() >= budget);
    let go_on = || !out_of_time() && !progress.stop_requested();
    let stopped = loop {
        let runs = state.tally.runs();
        let room = plan.stop.runs.map_or(BATCH, |limit| BATCH.min(limit.saturating_sub(runs)));
        let batch = proposer.ask(room, compiler, &go_on)?;
        if batch.is_empty() && go_on() {
            break StopReason::Exhausted;
        }
        let tried = state.try_all(compiler, &batch, &go_on)?;
        let is_cut = tried.len() < batch.len();
        let mut judged = Vec::new();
        for (candidate, tried) in batch.iter().zip(tried) {
            let (weighed, verdict) = state.weigh(&tried.judgement);
            proposer.learn(candidate, &tried.judgement, weighed);
            let blends = match &mut blender {
                Some(blender) if weighed.accepted => blender.blends(candidate),
                Some(_) | None => Vec::new(),
            };
            let blended = state.try_all(compiler, &blends, &go_on)?;
            judged.extend(state.take((candidate, tried, verdict, weighed), &blends, blended));
        }
        state.tally.take(judged, plan.stop.is_timed().then(|| started.elapsed()));
        progress.search(&state.tally.status(started.elapsed()));
        let course = Course { is_cut: is_cut || out_of_time(), progress };
        if let Some(reason) = plan.stop.reason(&state.tally, &course) {
            break reason;
        }
    };
    let SearchState { mut tally, counts, trouble, .. } = state;
    tally.set_programs(counts);
    Ok(Searched { tally, stopped, wall: started.elapsed(), n_troubled: trouble.in_all })
}

/// What a search brings in.
struct SearchState<'t, 'a> {
    plan: &'a WitnessPlan,
    mutable: &'a MutableProgram,
    tally: Tally<'t>,
    collection: Collection,
    counts: ProgramCounts,
    trouble: Trouble,
}

impl SearchState<'_, '_> {
    /// Tries programs. The answers are those of the first.
    fn try_all(
        &mut self,
        compiler: &mut dyn Compiler,
        candidates: &[Candidate],
        go_on: GoOn<'_>,
    ) -> Result<Vec<Tried>, CompilerError> {
        let texts: Vec<Text> = candidates.iter().map(|one| one.text.clone()).collect();
        self.trouble.sift(compiler.try_all(&texts, go_on), Tried::trouble)
    }

    /// What a program would be worth, and what it says about the case.
    fn weigh(&mut self, judgement: &Judgement) -> (Weighed, Verdict) {
        match judgement {
            Judgement::Passes(coverage) => {
                let hides = self.mutable.effect.as_ref().is_some_and(|it| it.shows_in(coverage));
                if let Some(fakes) = &mut self.counts.fakes {
                    *fakes += usize::from(hides);
                }
                if hides && self.plan.guard {
                    return (Weighed::default(), Verdict::Passes);
                }
                let weighed = self.collection.weigh(coverage);
                self.counts.unneeded += usize::from(!weighed.accepted);
                (weighed, Verdict::Passes)
            }
            Judgement::Fails => (Weighed::default(), Verdict::Fails),
            Judgement::Other => (Weighed::default(), Verdict::Other),
            Judgement::Invalid => {
                self.counts.invalid += 1;
                (Weighed::default(), Verdict::Other)
            }
        }
    }

    /// Makes a witness of a program that was accepted, or of the first of its
    /// blends that is.
    fn take(
        &mut self,
        (candidate, tried, verdict, weighed): (&Candidate, Tried, Verdict, Weighed),
        blends: &[Candidate],
        blended: Vec<Tried>,
    ) -> Vec<(Source, Judged)> {
        let mut runs = Vec::new();
        let mut has_witness = !weighed.accepted;
        for (blend, tried) in blends.iter().zip(blended) {
            let (weighed, verdict) = self.weigh(&tried.judgement);
            let is_witness = weighed.accepted && !has_witness;
            has_witness |= is_witness;
            runs.push(self.judged(blend, tried, verdict, is_witness));
        }
        runs.insert(0, self.judged(candidate, tried, verdict, !has_witness));
        runs
    }

    fn judged(
        &mut self,
        candidate: &Candidate,
        tried: Tried,
        verdict: Verdict,
        is_witness: bool,
    ) -> (Source, Judged) {
        let Tried { judgement, wall, occupied } = tried;
        let witness = match judgement {
            Judgement::Passes(coverage) if is_witness => {
                self.collection.add(&coverage);
                let similarity = self.mutable.reference.compare(&coverage);
                Some((similarity, self.tally.project(&coverage)))
            }
            Judgement::Passes(_) | Judgement::Fails | Judgement::Other | Judgement::Invalid => None,
        };
        let source = (self.mutable.passes.clone(), Some(candidate.what.clone()));
        (source, Judged { verdict, witness, wall, occupied })
    }
}
