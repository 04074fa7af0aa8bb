//! `optsleuth triage`: a failing input -> everything that a bug report needs.
//!
//! ```text
//! program ──► case ──► fewer passes ──► smaller program ──► bisection
//!                                                              │
//!      report ◄── suspects ◄── smaller module ◄── single-pass form
//! ```
//! Workers start once; a [`FailingCase`] goes from step to step. Every step is a
//! command of its own and leaves its result in the case's folder; what is written
//! here is only their order, and how they share the time (`budget.rs`).
//!
//! **Invariant:** a step that fails costs its own result and no other; what it
//! could not do is said. Ctrl-C ends the step that it meets and all that follow,
//! and what was found until then is reported.

mod budget;
mod front_end;
mod of_gcc;
mod open;
mod several;
mod unseen;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fs_err as fs;
use optsleuth_case::CaseError;
use optsleuth_case::check::report;
use optsleuth_case::folder::{
    forget, open_case, save_bisection, save_definedness, save_localization,
};
use optsleuth_case::loaded::{FailingCase, LoadedCase, WorkerPlan};
use optsleuth_case::write::{copies_of, write_case_with};
use optsleuth_compiler::CompilerError;
use optsleuth_compiler::llvm::Flavor;
use optsleuth_model::{
    Bisection, BisectionVerdict, Case, CaseFolder, CheckReport, CheckStatus, Limits, Localization,
    Pipeline, Progress, Reduction, SINGLE_PASS, SingleCase, SinglePass, SinglePassForm, StopReason,
    Triage, Trust, ZoomReport, in_words, nameless,
};

use crate::TriageError;
use crate::bisect::{bisect_to_single_pass, gcc_of};
use crate::culprit::{CULPRIT, CulpritInput, CulpritPlan, find_culprit};
use crate::localize::{CoveredFailure, Stop};
use crate::reduce::{Part, Reducer, Reducing, reduce_failing, restore_original};
use crate::zoom::{ZoomPlan, ZoomedRanking, find_culprit_zoomed};
use budget::{Budget, Step};
pub use of_gcc::GccSuspicion;
pub use open::Suspicion;
pub use several::{SeveralPrograms, Suspect};
use unseen::Asserting;

/// What is to be triaged.
#[derive(Clone, Debug)]
pub enum TriageInput {
    /// A case's folder.
    Case(PathBuf, Trust),
    /// A program; its case is made first.
    Program(Box<Suspicion>),
    /// The same for a gcc.
    GccProgram(Box<GccSuspicion>),
    /// Programs of one command, of which one is guilty.
    Several(SeveralPrograms),
}

#[derive(Clone, Debug)]
pub struct TriagePlan {
    pub input: TriageInput,
    /// For the failing run.
    pub limits: Limits,
    /// CPU time for all other runs.
    pub candidate_time: Duration,
    /// For everything that comes after making workers.
    pub budget: Duration,
    /// Where the random numbers start.
    pub seed: u64,
    /// How far to zoom into LLVM's source.
    pub zoom: Option<ZoomPlan>,
    /// What to make programs smaller with.
    pub reducer: Reducer,
    /// The program that other reducers' tests start: `optsleuth` itself.
    pub callback_binary: PathBuf,
}

/// Does it all.
pub fn triage(plan: &TriagePlan, progress: &dyn Progress) -> Result<Triage, TriageError> {
    match &plan.input {
        TriageInput::Program(suspicion) => front_end::triage_suspicion(plan, suspicion, progress),
        TriageInput::Several(several) => several::triage_several(plan, several, progress),
        TriageInput::GccProgram(suspicion) => of_gcc::triage_program(plan, suspicion, progress),
        TriageInput::Case(folder, trust) => {
            let case = open_case(folder, *trust)?;
            // Of clang's driver nothing can be found out, whether it fails or not.
            match gcc_of(&case.case, None)? {
                Some(driver) => of_gcc::triage_case(plan, case, driver, progress),
                None => triage_llvm(plan, &LlvmInput::Case(&case), progress),
            }
        }
    }
}

/// What is to be triaged, if LLVM fails.
enum LlvmInput<'a> {
    Case(&'a CaseFolder),
    Program(&'a Suspicion),
}

fn triage_llvm(
    plan: &TriagePlan,
    input: &LlvmInput<'_>,
    progress: &dyn Progress,
) -> Result<Triage, TriageError> {
    let mut notes = Vec::new();
    let begun = Instant::now();
    // A case that does not fail ends here, with the reason.
    let (mut failing, asserting) = opened(plan, input, &mut notes, progress)?;
    // A part of something larger cannot be made smaller without breaking that.
    let is_part = failing.loaded.case.case.execution.unlinked;
    let budget = Budget::begin(plan.budget, plan.zoom.is_some(), !is_part);
    let mut steps = Steps { plan, progress, budget, asserting, notes, seconds: Vec::new() };
    steps.took("check", begun);
    let CaseFolder { folder, trust, .. } = failing.loaded.case.clone();
    forget(&failing.loaded.case, CULPRIT)?;
    let reduction = match is_part {
        true => None,
        false => {
            let reduced = steps
                .attempt("reduce", |steps| steps.reduce(&mut failing, Part::Both, Step::Reduce));
            steps.timed("check", |steps| steps.reopen(&mut failing, &folder))?;
            reduced
        }
    };
    let check = steps.timed("confirm", |steps| steps.confirmed(&mut failing))?;
    let bisection = steps.attempt("bisect", |steps| steps.bisect(&mut failing, Step::Bisect));
    let single = match &bisection {
        Some(Bisection { single_pass: SinglePassForm::Found(form), .. }) => {
            let single =
                steps.attempt("single pass", |steps| steps.single(&mut failing, &folder, form));
            if single.is_none() {
                failing.reopen(open_case(&folder, trust)?, progress)?;
            }
            single
        }
        _ => None,
    };
    let of_smallest = match &single {
        Some(single) => single.bisection.as_ref(),
        None => bisection.as_ref(),
    };
    let has_culprit = single.is_some() || bisection.as_ref().is_some_and(needs_a_pass);
    let localization = match has_culprit {
        true => steps.ranking(failing, &folder, of_smallest),
        false => None,
    };
    Ok(Triage {
        case: open_case(&folder, trust)?,
        check,
        reduction,
        bisection,
        single,
        localization,
        program: None,
        in_front_end: false,
        notes: steps.notes,
        interrupted: progress.stop_requested(),
        seconds: steps.seconds,
    })
}

/// Workers, with a case in them that was seen to fail. They have probes, so that
/// the same ones can rank suspects; where that is in the way, they do without. Where
/// it fails with assertions on alone: what they check.
fn opened(
    plan: &TriagePlan,
    input: &LlvmInput<'_>,
    notes: &mut Vec<String>,
    progress: &dyn Progress,
) -> Result<(FailingCase, Option<ZoomReport>), TriageError> {
    let error = match opened_with(plan, input, Flavor::Covered, progress) {
        // Probes do not make a program undefined.
        Err(
            error @ (TriageError::NoFailure { status: CheckStatus::Unstable, .. }
            | TriageError::Case(CaseError::NotReproduced {
                status: CheckStatus::Unstable,
                ..
            })),
        ) => return Err(error),
        Err(error @ TriageError::NoFailure { .. })
        | Err(error @ TriageError::Case(CaseError::NotReproduced { .. }))
        | Err(error @ TriageError::Case(CaseError::Compiler(CompilerError::Cover { .. }))) => error,
        other => return Ok((other?, None)),
    };
    // What depends on where things lie in memory may show without probes alone, or
    // in the distribution's tools alone.
    let failing = match opened_with(plan, input, Flavor::Plain, progress) {
        Err(error) if nothing_fails(&error) => {
            return opened_asserting(plan, input, error, notes, progress);
        }
        other => other?,
    };
    notes.push(format!("suspects are not ranked, because with probes: {}", in_words(&error)));
    Ok((failing, None))
}

/// Whether nothing at all goes wrong.
fn nothing_fails(error: &TriageError) -> bool {
    matches!(
        error,
        TriageError::NoFailure { status: CheckStatus::Passes, .. }
            | TriageError::Case(CaseError::NotReproduced { status: CheckStatus::Passes, .. })
    )
}

/// The same on workers with assertions on, if the distribution's `opt` crashes
/// where others do not.
fn opened_asserting(
    plan: &TriagePlan,
    input: &LlvmInput<'_>,
    error: TriageError,
    notes: &mut Vec<String>,
    progress: &dyn Progress,
) -> Result<(FailingCase, Option<ZoomReport>), TriageError> {
    let Some(unseen) = unseen::look(plan, input, progress)? else { return Err(error) };
    let theirs = unseen.theirs.clone();
    let only_opt = |with_assertions: String| {
        Err(TriageError::OnlyOpt { theirs: theirs.clone(), with_assertions })
    };
    let Some(zoom) = &plan.zoom else {
        return only_opt("assertions were not tried, without `--zoom`".to_owned());
    };
    let seen = || -> Result<(FailingCase, Asserting), TriageError> {
        let (workers, asserting) = unseen.with_assertions(zoom, progress)?;
        let loaded = match input {
            LlvmInput::Program(suspicion) => {
                open::open_in(workers, suspicion, plan.limits, progress)?
            }
            LlvmInput::Case(case) => LoadedCase::load_into(
                workers,
                None,
                CaseFolder::clone(case),
                plan.limits,
                progress,
            )?,
        };
        Ok((seen(loaded, plan, progress)?, asserting))
    };
    match seen() {
        Ok((failing, asserting)) => {
            let what = "the workers of the same LLVM fail with assertions on alone";
            notes.push(format!("{theirs}, and {what}: what follows is about the assertion"));
            let report = asserting.report(&failing.reproduction.first);
            Ok((failing, Some(report)))
        }
        Err(error) => only_opt(format!("with assertions: {}", in_words(&error))),
    }
}

fn opened_with(
    plan: &TriagePlan,
    input: &LlvmInput<'_>,
    flavor: Flavor,
    progress: &dyn Progress,
) -> Result<FailingCase, TriageError> {
    let loaded = match input {
        LlvmInput::Program(suspicion) => open::open(suspicion, flavor, plan.limits, progress)?,
        LlvmInput::Case(case) => {
            let worker_plan = WorkerPlan { llvm: None, flavor, n_workers: None };
            LoadedCase::set_up((*case).clone(), &worker_plan, plan.limits, progress)?
        }
    };
    seen(loaded, plan, progress)
}

fn seen(
    mut loaded: LoadedCase,
    plan: &TriagePlan,
    progress: &dyn Progress,
) -> Result<FailingCase, TriageError> {
    loaded.repeat_hangs_within(plan.candidate_time);
    Ok(FailingCase::see(loaded, progress)?)
}

/// Whether a pass is to blame, as far as is known.
fn needs_a_pass(bisection: &Bisection) -> bool {
    match bisection.verdict {
        BisectionVerdict::Guilty { .. }
        | BisectionVerdict::SeveralCulprits { .. }
        | BisectionVerdict::RequiredPass { .. }
        | BisectionVerdict::Unfinished => true,
        BisectionVerdict::InCodegen | BisectionVerdict::BeforeAnyPass => false,
    }
}

/// What the steps have in common.
struct Steps<'a> {
    plan: &'a TriagePlan,
    progress: &'a dyn Progress,
    budget: Budget,
    /// Where the case fails with assertions on alone: what they check.
    asserting: Option<ZoomReport>,
    notes: Vec<String>,
    seconds: Vec<(&'static str, f64)>,
}

impl Steps<'_> {
    fn timed<T>(&mut self, name: &'static str, step: impl FnOnce(&mut Self) -> T) -> T {
        let begun = Instant::now();
        let done = step(self);
        self.took(name, begun);
        done
    }

    fn took(&mut self, name: &'static str, begun: Instant) {
        let took = begun.elapsed().as_secs_f64();
        match self.seconds.iter_mut().find(|(known, _)| *known == name) {
            Some((_, seconds)) => *seconds += took,
            None => self.seconds.push((name, took)),
        }
    }

    /// A step that others can do without.
    fn attempt<T>(
        &mut self,
        name: &'static str,
        step: impl FnOnce(&mut Self) -> Result<T, TriageError>,
    ) -> Option<T> {
        if self.progress.stop_requested() {
            return None;
        }
        let done = self.timed(name, step);
        done.map_err(|error| self.notes.push(format!("{name}: {}", in_words(&error)))).ok()
    }

    fn reduce(
        &mut self,
        failing: &mut FailingCase,
        part: Part,
        step: Step,
    ) -> Result<Reduction, TriageError> {
        let how = Reducing {
            part,
            tool: self.plan.reducer,
            budget: Some(self.budget.of(step)),
            callback_binary: self.plan.callback_binary.clone(),
        };
        Ok(reduce_failing(failing, &how, self.progress)?.reduction)
    }

    /// Goes on with the case as it is in its folder now; with the original, where
    /// that does not fail.
    fn reopen(&mut self, failing: &mut FailingCase, folder: &Path) -> Result<(), TriageError> {
        let trust = failing.loaded.case.trust;
        match failing.reopen(open_case(folder, trust)?, self.progress) {
            Err(CaseError::NotReproduced { what, .. }) => {
                self.notes.push(format!("reduce: what was reduced does not fail always: {what}"));
                restore_original(&open_case(folder, trust)?)?;
                Ok(failing.reopen(open_case(folder, trust)?, self.progress)?)
            }
            other => Ok(other?),
        }
    }

    /// What is known about a case that fails, the distribution's tools' opinion
    /// included where they are here.
    fn confirmed(&mut self, failing: &mut FailingCase) -> Result<CheckReport, TriageError> {
        let FailingCase { loaded, reproduction } = failing;
        let confirmation = match loaded.confirm(reproduction, self.progress) {
            Err(CaseError::Compiler(
                CompilerError::NoTool { .. }
                | CompilerError::ToolStart { .. }
                | CompilerError::ToolFailed { .. },
            )) => None,
            other => other?,
        };
        save_definedness(&loaded.case, &reproduction.definedness)?;
        Ok(report(loaded, reproduction, confirmation))
    }

    fn bisect(&mut self, failing: &mut FailingCase, step: Step) -> Result<Bisection, TriageError> {
        let found = bisect_to_single_pass(failing, self.budget.deadline(step), self.progress)?;
        save_bisection(&failing.loaded.case, &found)?;
        Ok(found)
    }

    /// Makes a case of a single-pass form, and reduces it.
    fn single(
        &mut self,
        failing: &mut FailingCase,
        folder: &Path,
        form: &SinglePass,
    ) -> Result<SingleCase, TriageError> {
        let parent = failing.loaded.case.case.clone();
        let place = folder.join(SINGLE_PASS);
        let case = Case {
            id: format!("{}-{SINGLE_PASS}", parent.id),
            title: parent.title.as_ref().map(|title| match form.codegen {
                Some(_) => format!("{title}, without passes"),
                None => format!("{title}, with one pass"),
            }),
            input: "input.ll".to_owned(),
            pipeline: match form.codegen {
                Some(level) => Pipeline::Codegen(level),
                None => Pipeline::Passes(form.passes.clone()),
            },
            front_end: None,
            flags: parent.llvm_options(),
            cflags: Vec::new(),
            expected: None,
            observed: Some(form.what.clone()),
            signature: None,
            ..parent
        };
        let copies = copies_of(&case.execution, &failing.loaded.case.folder);
        let module = nameless(&form.ir);
        write_case_with(&place, &case, module.as_bytes(), &copies, true)?;
        let trust = failing.loaded.case.trust;
        failing.reopen(open_case(&place, trust)?, self.progress)?;
        if !failing.loaded.case.case.execution.unlinked {
            self.reduce(failing, Part::Both, Step::ReduceSingle)?;
            self.reopen(failing, &place)?;
        }
        let check = self.confirmed(failing)?;
        let bisection = self.bisect(failing, Step::BisectSingle).ok();
        let case = open_case(&place, trust)?;
        let module = fs::read_to_string(case.input())?;
        Ok(SingleCase { case, check, module, bisection, n_passes: form.n_passes })
    }

    /// The ranking as a step; its parts have their own times.
    fn ranking(
        &mut self,
        failing: FailingCase,
        folder: &Path,
        bisection: Option<&Bisection>,
    ) -> Option<Localization> {
        let (begun, n_parts) = (Instant::now(), self.seconds.len());
        let done = match self.progress.stop_requested() {
            true => return None,
            false => self.rank(failing, folder, bisection),
        };
        if self.seconds.len() == n_parts {
            self.took("rank", begun);
        }
        done.map_err(|error| self.notes.push(format!("rank: {}", in_words(&error)))).ok()
    }

    /// Ranks suspects on the smallest form of the failure, and keeps the result
    /// with the case.
    fn rank(
        &mut self,
        failing: FailingCase,
        folder: &Path,
        bisection: Option<&Bisection>,
    ) -> Result<Localization, TriageError> {
        let trust = failing.loaded.case.trust;
        let mut failure = CoveredFailure::of(failing, self.plan.candidate_time, self.progress)?;
        let known = match bisection {
            Some(bisection) => CulpritInput::of_bisection(&failure, bisection, self.progress)?,
            None => CulpritInput::find(&mut failure, self.progress)?,
        };
        let plan = |step: Step| {
            let stop = Stop { budget: Some(self.budget.of(step)), ..Stop::default() };
            CulpritPlan { seed: self.plan.seed, stop }
        };
        let found = match &self.plan.zoom {
            _ if self.asserting.is_some() => {
                let known = known.of_zoomed(&failure, self.progress)?;
                let found = find_culprit(&mut failure, &known, &plan(Step::Rank), self.progress)?;
                Localization { zoom: self.asserting.take(), ..found }
            }
            None => find_culprit(&mut failure, &known, &plan(Step::Rank), self.progress)?,
            Some(zoom) => {
                let plans = [&plan(Step::Rank), &plan(Step::RankZoomed)];
                let deadline = self.budget.deadline(Step::Rank) + self.budget.of(Step::Zoom);
                let end = Some(self.budget.end());
                let zoom = ZoomPlan { deadline: Some(deadline), end, ..zoom.clone() };
                let ZoomedRanking { found, not_zoomed, seconds } =
                    find_culprit_zoomed(&mut failure, &known, plans, &zoom, self.progress)?;
                self.seconds.extend(seconds);
                self.notes.extend(not_zoomed.map(|why| format!("zoom: {why}")));
                found
            }
        };
        save_localization(&open_case(folder, trust)?, &found)?;
        if found.stopped == StopReason::Interrupted {
            self.notes.push("the ranking was interrupted".to_owned());
        }
        Ok(found)
    }
}
