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
use std::time::{Duration, Instant};

use optsleuth_case::folder::open_case;
use optsleuth_case::loaded::{
    FailingCase, LoadedCase, Reproduction, WorkerPlan, candidate_request,
};
use optsleuth_case::oracle::{Oracle, Verdict};
use optsleuth_case::workers::LlvmChoice;
use optsleuth_compiler::CompilerError;
use optsleuth_compiler::llvm::Flavor;
use optsleuth_model::{
    CaseFolder, CodeMap, Coverage, Limits, Localization, Progress, RunRequest, RunResult,
    StopReason, Trust,
};
use optsleuth_rank::{Recipe, Row};
use optsleuth_search::{Alphabet, Method, Parameters, Reference, Sequence, Similarity};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::TriageError;
pub use account::{Account, CuresByEntity, Described};
pub use tally::{Measured, Source, Tally, Top, ranked_truth};

/// What is to be localized.
#[derive(Clone, Debug)]
pub struct FailurePlan {
    pub folder: PathBuf,
    pub trust: Trust,
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
    pub fn reason(&self, tally: &Tally<'_>, course: &Course<'_>) -> Option<StopReason> {
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
    pub fn is_timed(&self) -> bool {
        self.budget.is_some() || self.runs.is_none()
    }
}

/// How a batch of a search ended.
pub struct Course<'a> {
    /// The time is up: some of it may not have been run.
    pub is_cut: bool,
    pub progress: &'a dyn Progress,
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
pub struct CoveredFailure {
    pub failing: FailingCase,
    pub input: SearchInput,
}

/// What all searches in a failure have in common.
#[derive(Debug)]
pub struct SearchInput {
    pub map: CodeMap,
    pub failing: Coverage,
    pub reference: Reference,
    alphabet: Alphabet,
    /// A candidate's run, but for its passes.
    pub template: RunRequest,
}

/// A search that has ended.
pub struct Searched<'a> {
    pub tally: Tally<'a>,
    pub stopped: StopReason,
    pub wall: Duration,
    /// Runs that the harness could not make.
    pub n_troubled: usize,
}

impl CoveredFailure {
    /// Starts workers and sees the case fail.
    pub fn open(
        plan: &FailurePlan,
        progress: &dyn Progress,
    ) -> Result<CoveredFailure, TriageError> {
        let case = open_case(&plan.folder, plan.trust)?;
        let worker_plan = WorkerPlan {
            llvm: plan.llvm.as_ref(),
            flavor: Flavor::Covered,
            n_workers: plan.n_workers,
        };
        let mut loaded = LoadedCase::set_up(case, &worker_plan, plan.limits, progress)?;
        loaded.repeat_hangs_within(plan.candidate_time);
        let failing = FailingCase::see(loaded, progress)?;
        CoveredFailure::of(failing, plan.candidate_time, progress)
    }

    /// The same for a case that covered workers were seen to fail on.
    pub fn of(
        failing: FailingCase,
        candidate_time: Duration,
        progress: &dyn Progress,
    ) -> Result<CoveredFailure, TriageError> {
        progress.step("reading the code map");
        let FailingCase { loaded, reproduction } = &failing;
        let map = loaded.workers.provisioned.code_map()?;
        let covered = reproduction.first.coverage.clone().ok_or(CompilerError::NotInstrumented)?;
        let reference = Reference::new(&covered, &map);
        let template = candidate_request(candidate_time, &loaded.request, reproduction);
        let buggy = loaded.request.passes.as_ref();
        let alphabet = candidates::alphabet(&loaded.workers, buggy, &reproduction.first.outcome)?;
        let input = SearchInput { map, failing: covered, reference, alphabet, template };
        Ok(CoveredFailure { failing, input })
    }

    pub fn case(&self) -> &CaseFolder {
        &self.failing.loaded.case
    }

    /// Looks for witnesses and ranks suspects.
    pub fn localize(
        &mut self,
        plan: &SearchPlan,
        progress: &dyn Progress,
    ) -> Result<Localized, TriageError> {
        let CoveredFailure { failing: FailingCase { loaded, reproduction }, input } = self;
        let Searched { tally, stopped, wall, .. } =
            look_for_witnesses(loaded, reproduction, input, &input.template, plan, progress)?;
        if tally.witnesses() == 0 {
            return Err(tally.no_witness(stopped));
        }
        progress.step("gathering evidence");
        let ((worked, occupied), n_workers) = (tally.worked(), loaded.workers.pool.size());
        let who = (plan.method.name(), plan.seed, plan.stop);
        let localization = tally.conclude(who, &Described::of(loaded, reproduction), stopped, wall);
        Ok(Localized { localization, wall, occupied, worked, n_workers })
    }
}

impl CoveredFailure {
    /// Loads any other programs meanwhile. However that ends, the case's own
    /// program is what the next one finds.
    pub fn with_other_programs<T>(
        &mut self,
        work: impl FnOnce(&mut CoveredFailure) -> Result<T, TriageError>,
    ) -> Result<T, TriageError> {
        let done = work(self);
        let loaded = &mut self.failing.loaded;
        let program = loaded.program.clone();
        let restored = loaded.load(&program, &[]);
        let value = done?;
        restored?;
        Ok(value)
    }
}

/// Searches until there is a reason to stop. `template` is a candidate's run,
/// but for its passes.
pub fn look_for_witnesses<'a>(
    loaded: &mut LoadedCase,
    reproduction: &Reproduction,
    input: &'a SearchInput,
    template: &RunRequest,
    plan: &SearchPlan,
    progress: &dyn Progress,
) -> Result<Searched<'a>, TriageError> {
    let SearchInput { map, failing, reference, alphabet, .. } = input;
    let rng = ChaCha8Rng::seed_from_u64(plan.seed);
    let mut search = plan.method.search(alphabet.clone(), Parameters::default(), rng);
    let mut tally = Tally::new(
        map,
        std::slice::from_ref(failing),
        plan.recipe,
        loaded.case.case.truth.as_ref(),
    );
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
        let judged = loaded.workers.pool.run_while(&requests, &go_on, &digest);
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

/// Runs that the harness could not make. A few of them cost a search nothing
/// but these runs; many mean that something is wrong.
#[derive(Debug, Default)]
pub struct Trouble {
    in_a_row: usize,
    pub in_all: usize,
}

impl Trouble {
    /// So many in a row end a search.
    const TOO_MANY: usize = 10;

    /// What there is of runs; `none` stands for those that could not be made.
    pub fn sift<T>(
        &mut self,
        runs: Vec<Result<T, CompilerError>>,
        none: impl Fn() -> T,
    ) -> Result<Vec<T>, CompilerError> {
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
pub struct Judged {
    pub verdict: Verdict,
    /// Of a witness.
    pub witness: Option<(Similarity, Row)>,
    /// How long LLVM was at it.
    pub wall: Duration,
    /// How long its worker was occupied with it.
    pub occupied: Duration,
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
