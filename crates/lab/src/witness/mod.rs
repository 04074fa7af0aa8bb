//! Witness programs: a case in C -> slightly changed programs that pass ->
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
mod collection;
mod effect;
mod lines;
mod mutants;
mod pantry;
mod proposal;
mod setting;
mod trial;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use optsleuth_compiler::llvm::Pool;
use optsleuth_model::{ProgramCounts, StopReason};
use optsleuth_rank::Recipe;
use optsleuth_search::ProgramMethod;

use crate::Progress;
use crate::check::{Reproduction, Stage};
use crate::localize::{
    Ground, Judged, Localized, Measured, Scene, Searched, Source, Stop, Tally, Trouble,
};
use crate::measure::recipes;
use crate::oracle::Verdict;
use crate::setup::LabError;
use blend::Blender;
use collection::{Collection, Weighed};
pub(crate) use pantry::c_files;
use proposal::{Candidate, Proposer};
pub(crate) use setting::Setting;
use trial::{Judgement, Trial, Tried};

/// How to look for witness programs.
#[derive(Clone, Debug)]
pub struct WitnessPlan {
    /// Where they come from, and what guides the search.
    pub method: ProgramMethod,
    /// Where the random numbers start.
    pub seed: u64,
    /// When to stop.
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

impl Scene {
    /// Looks for witness programs and ranks suspects.
    pub fn localize_by_programs(
        &mut self,
        plan: &WitnessPlan,
        progress: &dyn Progress,
    ) -> Result<Localized, LabError> {
        self.set(progress)?;
        let Scene { stage, reproduction, ground, setting, .. } = self;
        let Searched { tally, stopped, wall, .. } =
            look_for_programs(stage, reproduction, ground, setting.as_ref(), plan, progress)?;
        if tally.witnesses() == 0 {
            return Err(tally.no_witness(stopped));
        }
        progress.step("gathering evidence");
        let who = (plan.method.name(), plan.seed, plan.stop);
        let ((worked, occupied), n_workers) = (tally.worked(), stage.bench.pool.size());
        let localization = tally.conclude(who, stage, reproduction, stopped, wall);
        Ok(Localized { localization, wall, occupied, worked, n_workers })
    }

    /// Where such a search has the true culprits; `None` if somebody wanted it
    /// to end early.
    pub(crate) fn measure_programs(
        &mut self,
        plan: &WitnessPlan,
        progress: &dyn Progress,
    ) -> Result<Option<(Measured, Duration)>, LabError> {
        self.set(progress)?;
        let Scene { stage, reproduction, ground, setting, .. } = self;
        let Searched { tally, stopped, wall, n_troubled } =
            look_for_programs(stage, reproduction, ground, setting.as_ref(), plan, progress)?;
        // A figure may not depend on how busy the machine was.
        if n_troubled > 0 {
            return Err(LabError::Troubled(n_troubled));
        }
        let is_whole = stopped != StopReason::Interrupted;
        Ok(is_whole.then(|| (tally.measure(&recipes()), wall)))
    }
}

/// Searches until there is a reason to stop.
fn look_for_programs<'a>(
    stage: &mut Stage,
    reproduction: &Reproduction,
    ground: &'a Ground,
    setting: Option<&'a Setting>,
    plan: &WitnessPlan,
    progress: &dyn Progress,
) -> Result<Searched<'a>, LabError> {
    let Some(setting) = setting else { return Err(LabError::NotInC(stage.case.input())) };
    let (case, pool) = (&stage.case.case, &mut stage.bench.pool);
    let mut proposer = Proposer::new(plan, setting, case)?;
    let blender = plan.blend.then(|| Blender::new(plan, setting)).transpose()?;
    let mut harvest = Harvest {
        plan,
        setting,
        tally: Tally::new(&ground.map, &setting.failing, plan.recipe, case.truth.as_ref()),
        collection: Collection::new(plan.method.acceptance(), &setting.failing),
        counts: ProgramCounts::default(),
        blender,
    };
    let trial = setting.trial(case, &reproduction.oracle);
    let mut trouble = Trouble::default();
    progress.step("looking for witness programs");
    let started = Instant::now();
    let out_of_time = || plan.stop.budget.is_some_and(|budget| started.elapsed() >= budget);
    let go_on = || !out_of_time() && !progress.stop_requested();
    let stopped = loop {
        let runs = harvest.tally.runs();
        let room = plan.stop.runs.map_or(BATCH, |limit| BATCH.min(limit.saturating_sub(runs)));
        let batch = proposer.ask(room, pool);
        if batch.is_empty() {
            break StopReason::Exhausted;
        }
        let tried = pool.each_while(&batch, &go_on, &|worker, one| trial.of(worker, &one.text));
        let tried = trouble.sift(tried, Tried::trouble)?;
        let n_tried = tried.len();
        let mut judged = Vec::new();
        for (candidate, tried) in batch.iter().zip(tried) {
            judged.push(harvest.take(candidate, tried, &mut proposer, &trial, pool));
        }
        harvest.tally.take(judged, plan.stop.is_timed().then(|| started.elapsed()));
        progress.search(&harvest.tally.status(started.elapsed()));
        if progress.stop_requested() {
            break StopReason::Interrupted;
        }
        if plan.stop.runs.is_some_and(|runs| harvest.tally.runs() >= runs) {
            break StopReason::Runs;
        }
        if n_tried < batch.len() || out_of_time() {
            break StopReason::Budget;
        }
        let unchanged = harvest.tally.unchanged_for();
        if plan.stop.stable.is_some_and(|n_witnesses| unchanged >= n_witnesses) {
            break StopReason::Stable;
        }
    };
    let wall = started.elapsed();
    let Harvest { mut tally, counts, .. } = harvest;
    tally.set_programs(counts);
    // The case's own program is what others expect to find.
    let program = stage.program.clone();
    stage.load(&program, &[])?;
    Ok(Searched { tally, stopped, wall, n_troubled: trouble.in_all })
}

/// What a search brings in.
struct Harvest<'t, 'a> {
    plan: &'a WitnessPlan,
    setting: &'a Setting,
    tally: Tally<'t>,
    collection: Collection,
    counts: ProgramCounts,
    blender: Option<Blender<'a>>,
}

impl Harvest<'_, '_> {
    /// Decides what a program is good for, and tells whoever proposed it.
    fn take(
        &mut self,
        candidate: &Candidate,
        tried: Tried,
        proposer: &mut Proposer<'_>,
        trial: &Trial<'_>,
        pool: &mut Pool,
    ) -> (Source, Judged) {
        let Tried { judgement, wall, occupied } = tried;
        let (weighed, verdict) = self.weigh(&judgement);
        proposer.learn(candidate, &judgement, weighed);
        let mut what = candidate.what.clone();
        let mut coverage = match judgement {
            Judgement::Passes(coverage) if weighed.accepted => Some(coverage),
            Judgement::Passes(_) | Judgement::Fails | Judgement::Other | Judgement::Invalid => None,
        };
        if coverage.is_some()
            && let Some(blender) = &mut self.blender
            && let Some((blend, blended)) = blender.blend(candidate, trial, pool)
        {
            what = blend;
            coverage = Some(blended);
        }
        let witness = coverage.map(|coverage| {
            self.collection.add(&coverage);
            (self.setting.reference.compare(&coverage), self.tally.project(&coverage))
        });
        let source = (self.setting.passes.clone(), Some(what));
        (source, Judged { verdict, witness, wall, occupied })
    }

    fn weigh(&mut self, judgement: &Judgement) -> (Weighed, Verdict) {
        match judgement {
            Judgement::Passes(coverage) => {
                let hides = self.setting.effect.as_ref().is_some_and(|it| it.shows_in(coverage));
                let weighed = self.collection.weigh(coverage);
                self.counts.fakes += usize::from(hides);
                let accepted = weighed.accepted && !(hides && self.plan.guard);
                self.counts.unneeded += usize::from(!weighed.accepted);
                (Weighed { accepted, ..weighed }, Verdict::Passes)
            }
            Judgement::Fails => (Weighed::default(), Verdict::Fails),
            Judgement::Other => (Weighed::default(), Verdict::Other),
            Judgement::Invalid => {
                self.counts.invalid += 1;
                (Weighed::default(), Verdict::Other)
            }
        }
    }
}
