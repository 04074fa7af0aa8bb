//! `optsleuth localize`: a case -> its failing run -> a search for witnesses ->
//! suspects.
//!
//! ```text
//! search.ask ──► runs on all workers ──► verdict, similarity ──► search.tell
//!                                              │
//!                                              └──► spectrum ──► ranking
//! ```
//!
//! **Invariant:** what is found depends on the seed and the number of runs
//! alone. Time decides only when to stop.

mod account;
mod candidates;
mod tally;

use std::cmp::Reverse;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use optsleuth_compiler::llvm::{Flavor, RunError};
use optsleuth_model::{
    CodeMap, Coverage, Emit, Limits, Localization, Outcome, RunRequest, RunResult,
    Stage as LlvmStage, StopReason,
};
use optsleuth_rank::{Recipe, Row};
use optsleuth_search::{Alphabet, Method, Parameters, Reference, Sequence, Similarity};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::Progress;
use crate::case_folder::CaseFolder;
use crate::check::{CheckStatus, Reproduction, Stage, Staging};
use crate::culprit::Premises;
use crate::oracle::{Oracle, Verdict};
use crate::setup::{LabError, LlvmChoice};
use crate::witness::Setting;
pub(crate) use account::{Account, CuresByEntity};
pub(crate) use tally::{Measured, Source, Tally, ranked_truth};

/// What is to be localized.
#[derive(Clone, Debug)]
pub struct ScenePlan {
    /// The case's folder.
    pub folder: PathBuf,
    /// Another LLVM than the case's.
    pub llvm: Option<LlvmChoice>,
    /// For the failing run.
    pub limits: Limits,
    /// CPU time for a candidate. Also decides what is a hang.
    pub candidate_time: Duration,
    /// How many workers; one for each core if nothing is said.
    pub n_workers: Option<NonZero<usize>>,
}

/// How to localize it.
#[derive(Clone, Copy, Debug)]
pub struct SearchPlan {
    /// How to look for witnesses.
    pub method: Method,
    /// Where the random numbers start.
    pub seed: u64,
    /// When to stop.
    pub stop: Stop,
    /// How to make a ranking of the runs.
    pub recipe: Recipe,
}

/// When a search ends, whichever comes first. Nothing given: never, unless
/// there is nothing left to try.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stop {
    /// After this many runs.
    pub runs: Option<usize>,
    /// After this long.
    pub budget: Option<Duration>,
    /// When the top of the ranking stayed the same for this many witnesses.
    pub stable: Option<usize>,
}

impl Stop {
    /// Why to stop after a batch, if there is a reason.
    pub(crate) fn reason(&self, tally: &Tally<'_>, course: &Course<'_>) -> Option<StopReason> {
        if course.progress.stop_requested() {
            return Some(StopReason::Interrupted);
        }
        if self.runs.is_some_and(|runs| tally.runs() >= runs) {
            return Some(StopReason::Runs);
        }
        if course.is_cut {
            return Some(StopReason::Budget);
        }
        let is_stable = self.stable.is_some_and(|witnesses| tally.unchanged_for() >= witnesses);
        is_stable.then_some(StopReason::Stable)
    }

    /// Whether time has a say.
    pub(crate) fn is_timed(&self) -> bool {
        self.budget.is_some() || self.runs.is_none()
    }
}

/// How a batch of a search ended.
pub(crate) struct Course<'a> {
    /// The time is up: some of it may not have been run.
    pub(crate) is_cut: bool,
    pub(crate) progress: &'a dyn Progress,
}

/// How far a search is, for whoever is watching.
#[derive(Clone, Debug)]
pub struct SearchStatus {
    /// Candidates run so far.
    pub runs: usize,
    /// Witnesses among them.
    pub witnesses: usize,
    /// The best one's similarity.
    pub best_similarity: f64,
    /// Since the search began.
    pub elapsed: Duration,
    /// The most suspect files.
    pub top: Vec<String>,
}

/// A localization, and where its time went.
#[derive(Clone, Debug)]
pub struct Localized {
    /// What was found.
    pub localization: Localization,
    /// How long the search took.
    pub wall: Duration,
    /// How long workers were occupied, all together.
    pub occupied: Duration,
    /// How long LLVM was at work in them.
    pub worked: Duration,
    /// How many workers there were.
    pub n_workers: usize,
}

/// A case whose failure was seen, with workers that are ready to look for
/// witnesses. Any number of searches, one after the other.
#[derive(Debug)]
pub struct Scene {
    pub(crate) stage: Stage,
    pub(crate) reproduction: Reproduction,
    pub(crate) ground: Ground,
    /// What the culprit method needs to know; found out when it is asked for.
    pub(crate) premises: Option<Arc<Premises>>,
    /// What searches for witness programs need to know; the same.
    pub(crate) setting: Option<Setting>,
}

/// What all searches in a scene have in common.
#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) map: CodeMap,
    pub(crate) failing: Coverage,
    pub(crate) reference: Reference,
    alphabet: Alphabet,
    /// A candidate's run, but for its passes.
    pub(crate) template: RunRequest,
}

/// A search that has ended.
pub(crate) struct Searched<'a> {
    pub(crate) tally: Tally<'a>,
    pub(crate) stopped: StopReason,
    pub(crate) wall: Duration,
    /// Runs that the harness could not make.
    pub(crate) n_troubled: usize,
}

impl Scene {
    /// Starts workers and sees the case fail.
    pub fn open(plan: &ScenePlan, progress: &dyn Progress) -> Result<Scene, LabError> {
        let case = CaseFolder::open(&plan.folder)?;
        let staging = Staging {
            llvm: plan.llvm.as_ref(),
            flavor: Flavor::Covered,
            n_workers: plan.n_workers,
        };
        let mut stage = Stage::set_up(case, &staging, plan.limits, progress)?;
        stage.repeat_hangs_within(plan.candidate_time);
        let reproduction = stage.reproduce(progress)?;
        if reproduction.status != CheckStatus::Reproduces {
            let Reproduction { status, what, .. } = reproduction;
            return Err(LabError::NotReproduced { status, what });
        }
        progress.step("reading the code map");
        let map = stage.bench.provisioned.code_map()?;
        let failing = reproduction.first.coverage.clone().ok_or(RunError::NotInstrumented)?;
        let reference = Reference::new(&failing, &map);
        let template = candidate_request(plan.candidate_time, &stage.request, &reproduction);
        let buggy = stage.request.passes.as_ref();
        let alphabet = candidates::alphabet(&stage.bench, buggy, &reproduction.first.outcome)?;
        let ground = Ground { map, failing, reference, alphabet, template };
        Ok(Scene { stage, reproduction, ground, premises: None, setting: None })
    }

    /// The case.
    pub fn case(&self) -> &CaseFolder {
        &self.stage.case
    }

    /// Looks for witnesses and ranks suspects.
    pub fn localize(
        &mut self,
        plan: &SearchPlan,
        progress: &dyn Progress,
    ) -> Result<Localized, LabError> {
        let Scene { stage, reproduction, ground, .. } = self;
        let Searched { tally, stopped, wall, .. } =
            look_for_witnesses(stage, reproduction, ground, &ground.template, plan, progress)?;
        if tally.witnesses() == 0 {
            return Err(tally.no_witness(stopped));
        }
        progress.step("gathering evidence");
        let ((worked, occupied), n_workers) = (tally.worked(), stage.bench.pool.size());
        let who = (plan.method.name(), plan.seed, plan.stop);
        let localization = tally.conclude(who, stage, reproduction, stopped, wall);
        Ok(Localized { localization, wall, occupied, worked, n_workers })
    }
}

/// Searches until there is a reason to stop. `template` is a candidate's run,
/// but for its passes.
pub(crate) fn look_for_witnesses<'a>(
    stage: &mut Stage,
    reproduction: &Reproduction,
    ground: &'a Ground,
    template: &RunRequest,
    plan: &SearchPlan,
    progress: &dyn Progress,
) -> Result<Searched<'a>, LabError> {
    let Ground { map, failing, reference, alphabet, .. } = ground;
    let rng = ChaCha8Rng::seed_from_u64(plan.seed);
    let mut search = plan.method.search(alphabet.clone(), Parameters::default(), rng);
    let mut tally = Tally::new(map, failing, plan.recipe, stage.case.case.truth.as_ref());
    let mut trouble = Trouble::default();
    progress.step("looking for witnesses");
    let started = Instant::now();
    let out_of_time = || plan.stop.budget.is_some_and(|budget| started.elapsed() >= budget);
    let go_on = || !out_of_time() && !progress.stop_requested();
    let stopped = loop {
        let batch = search.ask();
        if batch.is_empty() {
            break StopReason::Exhausted;
        }
        let room = plan.stop.runs.map_or(batch.len(), |runs| runs.saturating_sub(tally.runs()));
        let order = longest_first(&batch[..room.min(batch.len())]);
        let requests: Vec<RunRequest> = order
            .iter()
            .map(|&place| RunRequest {
                passes: Some(alphabet.render(&batch[place])),
                ..template.clone()
            })
            .collect();
        let digest = |result, occupied| Judged {
            occupied,
            ..Judged::of(result, &reproduction.oracle, reference, &tally)
        };
        let judged = stage.bench.pool.run_while(&requests, &go_on, &digest);
        // Back to the order in which they were asked for.
        let mut judged: Vec<(usize, Judged)> =
            order.into_iter().zip(trouble.sift(judged, Judged::trouble)?).collect();
        judged.sort_by_key(|(place, _)| *place);
        let fitness: Vec<f64> = judged.iter().map(|(_, judged)| judged.fitness()).collect();
        let source = |place: usize| (alphabet.render(&batch[place]).to_string(), None);
        let named = judged.into_iter().map(|(place, judged)| (source(place), judged));
        tally.take(named.collect(), plan.stop.is_timed().then(|| started.elapsed()));
        progress.search(&tally.status(started.elapsed()));
        let course = Course { is_cut: fitness.len() < batch.len() || out_of_time(), progress };
        if let Some(reason) = plan.stop.reason(&tally, &course) {
            break reason;
        }
        search.tell(&fitness);
    };
    Ok(Searched { tally, stopped, wall: started.elapsed(), n_troubled: trouble.in_all })
}

/// The places of a batch's sequences, those with the most passes first: then
/// all workers come to the end of the batch at about the same time.
fn longest_first(batch: &[Sequence]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..batch.len()).collect();
    order.sort_by_key(|&place| Reverse(batch[place].genes().len())); // Stable.
    order
}

/// What every candidate's run has in common: as the failing run, but nothing is
/// printed or generated unless the failure is there. Where IR becomes invalid,
/// a later pass may remove what is wrong with it: such a run is no witness, so
/// the IR is verified after every pass.
pub(crate) fn candidate_request(
    time: Duration,
    failing: &RunRequest,
    reproduction: &Reproduction,
) -> RunRequest {
    let outcome = &reproduction.first.outcome;
    let emit = match outcome {
        Outcome::CodegenFailure { .. } => Emit::Object,
        Outcome::Crash(crash) => match crash.stage {
            LlvmStage::Codegen => Emit::Object,
            LlvmStage::Emit => Emit::Text,
            LlvmStage::Start
            | LlvmStage::Options
            | LlvmStage::Parse
            | LlvmStage::Pipeline
            | LlvmStage::Verify
            | LlvmStage::Compile => Emit::Nothing,
        },
        // After the last pass.
        Outcome::Timeout { invocation: None } | Outcome::OutOfMemory { invocation: None } => {
            failing.emit
        }
        Outcome::Ok(_)
        | Outcome::InvalidIr { .. }
        | Outcome::Timeout { .. }
        | Outcome::OutOfMemory { .. } => Emit::Nothing,
    };
    RunRequest {
        emit,
        verify_each: matches!(outcome, Outcome::InvalidIr { .. }),
        limits: Limits {
            compile: time,
            // A program may be slow by itself.
            execute: time.max(reproduction.reference_time * 4),
            ..failing.limits
        },
        ..failing.clone()
    }
}

/// Runs that the harness could not make. A few of them cost a search nothing
/// but these runs; many mean that something is wrong.
#[derive(Debug, Default)]
pub(crate) struct Trouble {
    in_a_row: usize,
    pub(crate) in_all: usize,
}

impl Trouble {
    /// So many in a row end a search.
    const TOO_MANY: usize = 10;

    /// What there is of runs; `none` stands for those that could not be made.
    pub(crate) fn sift<T>(
        &mut self,
        runs: Vec<Result<T, RunError>>,
        none: impl Fn() -> T,
    ) -> Result<Vec<T>, RunError> {
        let one = |run| match run {
            Ok(ran) => {
                self.in_a_row = 0;
                Ok(ran)
            }
            Err(error) => {
                self.in_a_row += 1;
                self.in_all += 1;
                if self.in_a_row >= Trouble::TOO_MANY {
                    return Err(error);
                }
                tracing::warn!(%error, "a candidate is left out");
                Ok(none())
            }
        };
        runs.into_iter().map(one).collect()
    }
}

/// A candidate's run, and what it means.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) verdict: Verdict,
    /// Of a witness.
    pub(crate) witness: Option<(Similarity, Row)>,
    /// How long LLVM was at it.
    pub(crate) wall: Duration,
    /// How long its worker was occupied with it.
    pub(crate) occupied: Duration,
}

impl Judged {
    fn of(result: RunResult, oracle: &Oracle, reference: &Reference, tally: &Tally<'_>) -> Judged {
        let verdict = oracle.judge(&result.outcome);
        let witness = match (verdict, result.coverage) {
            (Verdict::Passes, Some(coverage)) => {
                Some((reference.compare(&coverage), tally.project(&coverage)))
            }
            _ => None,
        };
        Judged { verdict, witness, wall: result.wall, occupied: result.wall }
    }

    /// A run that the harness could not make.
    fn trouble() -> Judged {
        let (wall, occupied) = (Duration::ZERO, Duration::ZERO);
        Judged { verdict: Verdict::Other, witness: None, wall, occupied }
    }

    fn fitness(&self) -> f64 {
        self.witness.as_ref().map_or(0.0, |(similarity, _)| similarity.fitness)
    }
}
