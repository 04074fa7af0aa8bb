//! One method on one case with one seed -> a [`Measurement`].

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fs_err as fs;
use optsleuth_case::loaded::FailingCase;
use optsleuth_compiler::llvm::{self, Flavor, Provisioned, SourceChoice};
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{
    Budget, CaseFolder, Limits, MEASUREMENT_VERSION, Measurement, Progress, RecipeName, Sought,
    StopReason, Truth, in_words,
};
use optsleuth_rank::{Culprits, Precedence, Ranker, Recipe, Spectrum};
use optsleuth_search::Method;
use optsleuth_triage::TriageError;
use optsleuth_triage::culprit::{CulpritInput, CulpritPlan, find_culprit, measure_culprit};
use optsleuth_triage::localize::{
    CoveredFailure, Measured, SearchPlan, Searched, Stop, Top, look_for_witnesses, ranked_truth,
};
use optsleuth_triage::reduce::Reducer;
use optsleuth_triage::triage::{TriageInput, TriagePlan, triage};
use optsleuth_triage::witness::{MutableProgram, WitnessPlan, measure_programs};
use optsleuth_triage::zoom::{AUTO, ZoomPlan, zoom_in};

use super::baseline::{of_last_pass, of_top_frame};
use super::contender::Contender;
use crate::BenchError;

/// What a triage is given where only runs are limited.
const WHOLE_TRIAGE: Duration = Duration::from_secs(180);

/// What is to be measured in a failure.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial<'a> {
    pub(super) contender: Contender,
    pub(super) seed: u64,
    pub(super) stop: Stop,
    /// See [`WitnessPlan::pool`].
    pub(super) pool: Option<&'a Path>,
    /// CPU time for a candidate.
    pub(super) candidate_time: Duration,
    /// For the failing run.
    pub(super) limits: Limits,
    /// See [`Measurement::setup`].
    pub(super) setup: &'a str,
}

impl Trial<'_> {
    /// As a person would have it, but for what says nothing about a ranking.
    fn zoom(&self) -> ZoomPlan {
        ZoomPlan {
            n_files: AUTO,
            source: SourceChoice::Package,
            deadline: None,
            end: None,
            candidate_time: self.candidate_time,
            assertions: false,
        }
    }
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
                let plan = CulpritPlan { seed, stop };
                self.known(progress)?;
                let Some(known) = &self.culprit else { return Ok(None) };
                let installed = installed_symbols(&self.failure)?;
                let is_known =
                    |symbol: &str| installed.as_ref().is_none_or(|all| all.contains(symbol));
                match measure_culprit(&mut self.failure, known, &plan, &is_known, progress)? {
                    None => return Ok(None),
                    Some((measured, wall)) => {
                        (measured, stop.is_timed().then_some(wall.as_secs_f64()))
                    }
                }
            }
            Contender::Zoom => return self.zoom(trial, progress),
            Contender::Triage => return self.triage(trial, progress),
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

    /// Bisects once for all searches.
    fn known(&mut self, progress: &dyn Progress) -> Result<(), BenchError> {
        if self.culprit.is_none() {
            self.culprit = Some(CulpritInput::find(&mut self.failure, progress)?);
        }
        Ok(())
    }

    /// The ranking on the zoomed worker; on the installed code where there is no
    /// source.
    fn zoom(
        &mut self,
        trial: &Trial<'_>,
        progress: &dyn Progress,
    ) -> Result<Option<Measurement>, BenchError> {
        let plan = CulpritPlan { seed: trial.seed, stop: trial.stop };
        self.known(progress)?;
        let Some(known) = &self.culprit else { return Ok(None) };
        let first = find_culprit(&mut self.failure, known, &plan, progress)?;
        if first.stopped == StopReason::Interrupted {
            return Ok(None);
        }
        let zoomed = match zoom_in(&self.failure, &first, &trial.zoom(), progress) {
            Ok(zoomed) => zoomed,
            Err(error) => {
                tracing::warn!(case = first.case, error = in_words(&error), "not zoomed");
                let seconds = first.seconds;
                return Ok(Some(self.record(trial, Measured::of(&first), seconds)));
            }
        };
        let mut failure = zoomed.failure;
        let known = known.of_zoomed(&failure, progress)?;
        let Some((measured, wall)) =
            measure_culprit(&mut failure, &known, &plan, &|_| true, progress)?
        else {
            return Ok(None);
        };
        let seconds = trial.stop.is_timed().then_some(wall.as_secs_f64());
        Ok(Some(self.record(trial, measured, seconds)))
    }

    /// A whole triage of a copy of the case, under one budget.
    fn triage(
        &mut self,
        trial: &Trial<'_>,
        progress: &dyn Progress,
    ) -> Result<Option<Measurement>, BenchError> {
        let copy = Workdir::new()?;
        let folder = copy.file("case");
        let CaseFolder { folder: original, trust, .. } = self.failure.case().clone();
        copy_case(&original, &folder)?;
        let plan = TriagePlan {
            input: TriageInput::Case(folder, trust),
            limits: trial.limits,
            candidate_time: trial.candidate_time,
            budget: trial.stop.budget.unwrap_or(WHOLE_TRIAGE),
            seed: trial.seed,
            zoom: Some(trial.zoom()),
            reducer: Reducer::BuiltIn,
            callback_binary: PathBuf::from("optsleuth"),
        };
        let begun = Instant::now();
        let found = triage(&plan, progress)?;
        let seconds = begun.elapsed().as_secs_f64();
        let Some(localization) = found.localization else {
            return Err(BenchError::NotRanked(found.notes.join("; ")));
        };
        let is_whole = !found.interrupted;
        let measured = Measured::of(&localization);
        Ok(is_whole.then(|| self.record(trial, measured, Some(seconds))))
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
        Measured { rankings, own: Top::of(&input.map, &own), ..Measured::default() }
    }

    fn record(&self, trial: &Trial<'_>, measured: Measured, seconds: Option<f64>) -> Measurement {
        let case = &self.failure.case().case;
        let truth = case.truth.clone().unwrap_or_default();
        let Truth { files, functions, confidence, components, .. } = truth;
        let own = measured.own;
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
            files: Sought { culprits: files, suspects: own.n_files },
            functions: Sought { culprits: functions, suspects: own.n_functions },
            rankings: measured.rankings,
            top_files: own.files,
            top_functions: own.functions,
            history: measured.history,
        }
    }
}

pub(super) fn budget(stop: Stop) -> Budget {
    Budget { runs: stop.runs, seconds: stop.budget.map(|budget| budget.as_secs_f64()) }
}

/// Where the fault is in an object that was compiled anew: the symbols that the
/// installed LLVM has. A method that does not zoom knows no others.
fn installed_symbols(failure: &CoveredFailure) -> Result<Option<BTreeSet<String>>, BenchError> {
    let is_anew = failure.case().case.fault.as_ref().is_some_and(|fault| fault.object.zoomed);
    if !is_anew {
        return Ok(None);
    }
    let Provisioned { install, targets, .. } = &failure.failing.loaded.workers.provisioned;
    let installed = llvm::provision(install, *targets, Flavor::Covered, &mut |_| ())?;
    let functions = installed.code_map()?.functions;
    Ok(Some(functions.into_iter().map(|function| function.symbol).collect()))
}

/// The files of a case, not what was found out about it.
fn copy_case(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        if path.is_file() {
            fs::copy(&path, to.join(path.file_name().unwrap_or_default()))?;
        }
    }
    Ok(())
}
