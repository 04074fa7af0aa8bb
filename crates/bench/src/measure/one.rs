//! One method on one case of LLVM with one seed -> a [`Measurement`].

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fs_err as fs;
use optsleuth_case::loaded::FailingCase;
use optsleuth_compiler::llvm::{self, Flavor, Provisioned, SourceChoice};
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{
    Budget, CaseFolder, Limits, MEASUREMENT_VERSION, Measurement, Progress, Sought, StopReason,
    Truth, in_words,
};
use optsleuth_rank::{Precedence, Recipe};
use optsleuth_search::{Method, ProgramMethod};
use optsleuth_triage::TriageError;
use optsleuth_triage::culprit::{CulpritInput, CulpritPlan, find_culprit, measure_culprit};
use optsleuth_triage::localize::{
    CoveredFailure, Measured, SearchInput, SearchPlan, Searched, Stop, look_for_witnesses,
};
use optsleuth_triage::plain::{Plain, measure_plainly, of_top_frame};
use optsleuth_triage::reduce::Reducer;
use optsleuth_triage::triage::{TriageInput, TriagePlan, triage};
use optsleuth_triage::witness::{LlvmPrograms, WitnessPlan, measure_programs};
use optsleuth_triage::zoom::{AUTO, ZoomPlan, zoom_in};

use super::baseline::of_last_pass;
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
    pub(super) fn programs(&self, method: ProgramMethod) -> WitnessPlan {
        WitnessPlan {
            method,
            seed: self.seed,
            stop: self.stop,
            recipe: Recipe::default(),
            pool: self.pool.map(Path::to_owned),
            blend: false,
            guard: true,
        }
    }

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
    program: Option<LlvmPrograms>,
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
                let plan = trial.programs(method);
                let program = match self.program.take() {
                    Some(program) => program,
                    None => LlvmPrograms::read(&mut self.failure, progress)?,
                };
                let program = self.program.insert(program);
                match measure_programs(&mut self.failure, program, &plan, progress)? {
                    None => return Ok(None),
                    Some((measured, wall)) => {
                        (measured, stop.is_timed().then_some(wall.as_secs_f64()))
                    }
                }
            }
            Contender::Plain(plain) => {
                let first = match plain {
                    Plain::BySize => Precedence::default(),
                    Plain::PassName => of_last_pass(&mut self.failure)?,
                    Plain::TopFrame => of_top_frame(
                        &self.failure.input.map,
                        &self.failure.failing.reproduction.first.outcome,
                    ),
                };
                let SearchInput { map, failing, .. } = &self.failure.input;
                let truth = self.failure.case().case.truth.as_ref();
                (measure_plainly(plain, &first, map, failing, truth), None)
            }
            Contender::Options => return Err(contender.refused(false)),
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

    fn record(&self, trial: &Trial<'_>, measured: Measured, seconds: Option<f64>) -> Measurement {
        let version = self.failure.failing.loaded.workers.install.version.clone();
        record(self.failure.case(), version, trial, measured, seconds)
    }
}

/// What was measured of a case of this version of its compiler.
pub(super) fn record(
    folder: &CaseFolder,
    version: String,
    trial: &Trial<'_>,
    measured: Measured,
    seconds: Option<f64>,
) -> Measurement {
    let case = &folder.case;
    let truth = case.truth.clone().unwrap_or_default();
    let Truth { files, functions, confidence, components, .. } = truth;
    let own = measured.own;
    Measurement {
        version: MEASUREMENT_VERSION,
        case: super::name_of(&folder.folder),
        kind: case.kind.name().to_owned(),
        confidence,
        components,
        llvm: version,
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
