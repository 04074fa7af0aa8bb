//! One method on one case with one seed -> a [`Measurement`].

use std::path::Path;

use optsleuth_case::loaded::FailingCase;
use optsleuth_model::{
    Budget, MEASUREMENT_VERSION, Measurement, Progress, RecipeName, Sought, StopReason, Truth,
};
use optsleuth_rank::{Culprits, Precedence, Ranker, Recipe, Spectrum};
use optsleuth_search::Method;
use optsleuth_triage::TriageError;
use optsleuth_triage::culprit::{CulpritInput, CulpritPlan, measure_culprit};
use optsleuth_triage::localize::{
    CoveredFailure, Measured, SearchPlan, Searched, Stop, look_for_witnesses, ranked_truth,
};
use optsleuth_triage::witness::{MutableProgram, WitnessPlan, measure_programs};

use super::baseline::{of_last_pass, of_top_frame};
use super::contender::Contender;
use crate::BenchError;

/// How many of the most suspect are kept by name.
const TOP: usize = 20;

/// What is to be measured in a failure.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial<'a> {
    pub(super) contender: Contender,
    pub(super) seed: u64,
    pub(super) stop: Stop,
    /// See [`WitnessPlan::pool`].
    pub(super) pool: Option<&'a Path>,
    /// See [`Measurement::setup`].
    pub(super) setup: &'a str,
}

/// A failure to measure methods on, and what methods found out about it once for
/// all of their searches.
#[derive(Debug)]
pub(super) struct Subject {
    failure: CoveredFailure,
    culprit: Option<CulpritInput>,
    program: Option<MutableProgram>,
}

impl Subject {
    pub(super) fn new(failure: CoveredFailure) -> Subject {
        Subject { failure, culprit: None, program: None }
    }

    /// Where a method has the true culprits of the case; `None` if it was told to
    /// end early.
    pub(super) fn measure(
        &mut self,
        trial: &Trial<'_>,
        progress: &dyn Progress,
    ) -> Result<Option<Measurement>, BenchError> {
        let &Trial { contender, seed, stop, .. } = trial;
        let (measured, seconds) = match contender {
            Contender::Culprit => {
                let known = match self.culprit.take() {
                    Some(known) => known,
                    None => CulpritInput::find(&mut self.failure, progress)?,
                };
                let known = self.culprit.insert(known);
                let plan = CulpritPlan { seed, stop };
                match measure_culprit(&mut self.failure, known, &plan, progress)? {
                    None => return Ok(None),
                    Some((measured, wall)) => {
                        (measured, stop.is_timed().then_some(wall.as_secs_f64()))
                    }
                }
            }
            Contender::Search(method) => match self.search(method, seed, stop, progress)? {
                None => return Ok(None),
                Some((measured, seconds)) => (measured, stop.is_timed().then_some(seconds)),
            },
            Contender::Programs(method) => {
                let plan = WitnessPlan {
                    method,
                    seed,
                    stop,
                    recipe: Recipe::default(),
                    pool: trial.pool.map(Path::to_owned),
                    blend: false,
                    guard: true,
                };
                let program = match self.program.take() {
                    Some(program) => program,
                    None => MutableProgram::read(&mut self.failure, progress)?,
                };
                let program = self.program.insert(program);
                match measure_programs(&mut self.failure, program, &plan, progress)? {
                    None => return Ok(None),
                    Some((measured, wall)) => {
                        (measured, stop.is_timed().then_some(wall.as_secs_f64()))
                    }
                }
            }
            Contender::BySize => (self.without_search(contender, &Precedence::default()), None),
            Contender::PassName => {
                let precedence = of_last_pass(&mut self.failure)?;
                (self.without_search(contender, &precedence), None)
            }
            Contender::TopFrame => {
                let precedence = of_top_frame(
                    &self.failure.input,
                    &self.failure.failing.reproduction.first.outcome,
                );
                (self.without_search(contender, &precedence), None)
            }
        };
        Ok(Some(self.record(trial, measured, seconds)))
    }

    fn search(
        &mut self,
        method: Method,
        seed: u64,
        stop: Stop,
        progress: &dyn Progress,
    ) -> Result<Option<(Measured, f64)>, BenchError> {
        let plan = SearchPlan { method, seed, stop, recipe: Recipe::default() };
        let CoveredFailure { failing: FailingCase { loaded, reproduction }, input } =
            &mut self.failure;
        let Searched { tally, stopped, wall, n_troubled } =
            look_for_witnesses(loaded, reproduction, input, &input.template, &plan, progress)?;
        // A figure may not depend on how busy the machine was.
        if n_troubled > 0 {
            return Err(TriageError::Troubled(n_troubled).into());
        }
        let is_whole = stopped != StopReason::Interrupted;
        Ok(is_whole.then(|| (tally.measure(&Recipe::all()), wall.as_secs_f64())))
    }

    fn without_search(&self, contender: Contender, first: &Precedence) -> Measured {
        let input = &self.failure.input;
        let spectrum = Spectrum::new(std::slice::from_ref(&input.failing));
        let own = Ranker::new(&input.map, spectrum.universe()).rank_by_size(first);
        let truth = self.failure.case().case.truth.clone().unwrap_or_default();
        let truth = Culprits::find(&input.map, &truth).ranks(&own);
        let recipe = RecipeName {
            formula: contender.name().to_owned(),
            aggregation: String::new(),
            weights: String::new(),
        };
        let rankings = vec![ranked_truth(recipe, &truth)];
        Measured { rankings, own, ..Measured::default() }
    }

    fn record(&self, trial: &Trial<'_>, measured: Measured, seconds: Option<f64>) -> Measurement {
        let (case, map) = (&self.failure.case().case, &self.failure.input.map);
        let truth = case.truth.clone().unwrap_or_default();
        let Truth { files, functions, confidence, components, .. } = truth;
        let own = &measured.own;
        let top_files = own.files.iter().take(TOP).map(|suspect| map.file(suspect.id).to_owned());
        let top_functions =
            own.functions.iter().take(TOP).map(|suspect| map.function(suspect.id).name.clone());
        Measurement {
            version: MEASUREMENT_VERSION,
            case: super::name_of(&self.failure.case().folder),
            kind: case.kind.name().to_owned(),
            confidence,
            components,
            llvm: self.failure.failing.loaded.workers.install.version.clone(),
            method: trial.contender.name().to_owned(),
            seed: trial.seed,
            budget: budget(trial.stop),
            setup: trial.setup.to_owned(),
            runs: measured.runs,
            witnesses: measured.witnesses,
            failing: measured.failing,
            discarded: measured.discarded,
            programs: measured.programs,
            seconds,
            best_similarity: measured.best_similarity,
            files: Sought { culprits: files, suspects: own.files.len() },
            functions: Sought { culprits: functions, suspects: own.functions.len() },
            rankings: measured.rankings,
            top_files: top_files.collect(),
            top_functions: top_functions.collect(),
            history: measured.history,
        }
    }
}

pub(super) fn budget(stop: Stop) -> Budget {
    Budget { runs: stop.runs, seconds: stop.budget.map(|budget| budget.as_secs_f64()) }
}
