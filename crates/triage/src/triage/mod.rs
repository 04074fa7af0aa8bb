//! `optsleuth triage`: a failing input -> everything that a bug report needs.
//!
//! ```text
//! program ──► case ──► fewer passes ──► smaller program ──► bisection
//!                                                              │
//!      report ◄── suspects ◄── smaller module ◄── single-pass form
//! ```
//! Every step is a command of its own and leaves its result in the case's
//! folder; what is written here is only their order.
//!
//! **Invariant:** a step that fails costs its own result and no other; what it
//! could not do is said. Ctrl-C ends the step that it meets and all that follow,
//! and what was found until then is reported.

mod open;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fs_err as fs;
use optsleuth_case::CaseError;
use optsleuth_case::check::{CheckPlan, check};
use optsleuth_case::folder::{forget, llvm_of, open_case, save_bisection, save_localization};
use optsleuth_case::write::write_case;
use optsleuth_model::{
    Bisection, BisectionVerdict, Case, CheckReport, CheckStatus, Limits, Localization, Pipeline,
    Progress, Reduction, SINGLE_PASS, SingleCase, SinglePass, SinglePassForm, StopReason, Triage,
    in_words, nameless,
};

use crate::TriageError;
use crate::bisect::{BisectPlan, bisect};
use crate::culprit::{CULPRIT, CulpritInput, CulpritPlan, find_culprit};
use crate::localize::{CoveredFailure, FailurePlan, Stop};
use crate::reduce::{Part, ReducePlan, Reducer, reduce};
pub use open::Suspicion;

/// What is to be triaged.
#[derive(Clone, Debug)]
pub enum TriageInput {
    /// A case's folder.
    Case(PathBuf),
    /// A program; its case is made first.
    Program(Box<Suspicion>),
}

/// How.
#[derive(Clone, Debug)]
pub struct TriagePlan {
    /// What.
    pub input: TriageInput,
    /// For the failing run.
    pub limits: Limits,
    /// CPU time for all other runs.
    pub candidate_time: Duration,
    /// For everything that can take any amount of time.
    pub budget: Duration,
    /// Where the random numbers start.
    pub seed: u64,
    /// What to make programs smaller with.
    pub reducer: Reducer,
    /// The program that other reducers' tests start: `optsleuth` itself.
    pub asker: PathBuf,
}

/// What each step may use of the budget.
const PROGRAM: f64 = 0.4;
const SINGLE: f64 = 0.2;
const RANKING: f64 = 0.1;

/// Does it all.
pub fn triage(plan: &TriagePlan, progress: &dyn Progress) -> Result<Triage, TriageError> {
    let mut steps = Steps { plan, progress, notes: Vec::new(), seconds: Vec::new() };
    let folder = match &plan.input {
        TriageInput::Case(folder) => folder.clone(),
        TriageInput::Program(suspicion) => {
            steps.timed("open", || open::open(suspicion, plan.limits, progress))?.folder
        }
    };
    // Of a driver nothing can be found out, whether it fails or not.
    llvm_of(&open_case(&folder)?.case)?;
    // A case that does not fail ends here, with the reason.
    steps.timed("check", || fails(&folder, plan, progress))?;
    forget(&open_case(&folder)?, CULPRIT)?;
    steps.attempt("reduce", |steps| steps.reduce(&folder, Part::Passes, PROGRAM));
    let reduction = steps.attempt("reduce", |steps| steps.reduce(&folder, Part::Program, PROGRAM));
    let bisection = steps.attempt("bisect", |steps| steps.bisect(&folder));
    let single = match &bisection {
        Some(Bisection { single_pass: SinglePassForm::Found(form), .. }) => {
            steps.attempt("single pass", |steps| steps.single(&folder, form))
        }
        _ => None,
    };
    let localization = match bisection.as_ref().is_some_and(needs_a_pass) {
        true => {
            let smallest = single.as_ref().map_or(&folder, |single| &single.case.folder).clone();
            steps.attempt("rank", |steps| steps.rank(&folder, &smallest))
        }
        false => None,
    };
    let check = steps.timed("confirm", || confirmed(&folder, plan, progress))?;
    Ok(Triage {
        case: open_case(&folder)?,
        check,
        reduction,
        bisection,
        single,
        localization,
        notes: steps.notes,
        interrupted: progress.stop_requested(),
        seconds: steps.seconds,
    })
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

/// Sees a case fail.
fn fails(folder: &Path, plan: &TriagePlan, progress: &dyn Progress) -> Result<(), TriageError> {
    let report = checked(folder, plan, false, progress)?;
    match report.status {
        CheckStatus::Reproduces => Ok(()),
        status => Err(CaseError::NotReproduced { status, what: report.what }.into()),
    }
}

fn confirmed(
    folder: &Path,
    plan: &TriagePlan,
    progress: &dyn Progress,
) -> Result<CheckReport, TriageError> {
    match checked(folder, plan, true, progress) {
        // The distribution's tools may be missing.
        Err(TriageError::Case(CaseError::Distribution(_))) => {
            checked(folder, plan, false, progress)
        }
        other => other,
    }
}

fn checked(
    folder: &Path,
    plan: &TriagePlan,
    confirm: bool,
    progress: &dyn Progress,
) -> Result<CheckReport, TriageError> {
    let plan = CheckPlan {
        folder: folder.to_owned(),
        llvm: None,
        limits: plan.limits,
        confirm,
        repeat_hangs_within: Some(plan.candidate_time),
    };
    Ok(check(&plan, progress)?)
}

/// What the steps have in common.
struct Steps<'a> {
    plan: &'a TriagePlan,
    progress: &'a dyn Progress,
    notes: Vec<String>,
    seconds: Vec<(&'static str, f64)>,
}

impl Steps<'_> {
    fn timed<T>(&mut self, name: &'static str, step: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let done = step();
        self.took(name, begun);
        done
    }

    fn took(&mut self, name: &'static str, begun: Instant) {
        let took = begun.elapsed().as_secs_f64();
        match self.seconds.last_mut() {
            Some((last, seconds)) if *last == name => *seconds += took,
            _ => self.seconds.push((name, took)),
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
        let begun = Instant::now();
        let done = step(self);
        self.took(name, begun);
        done.map_err(|error| self.notes.push(format!("{name}: {}", in_words(&error)))).ok()
    }

    fn reduce(&mut self, folder: &Path, part: Part, share: f64) -> Result<Reduction, TriageError> {
        let plan = ReducePlan {
            folder: folder.to_owned(),
            llvm: None,
            limits: self.plan.limits,
            part,
            tool: self.plan.reducer,
            budget: Some(self.plan.budget.mul_f64(share)),
            again: false,
            asker: self.plan.asker.clone(),
        };
        Ok(reduce(&plan, self.progress)?.reduction)
    }

    fn bisect(&mut self, folder: &Path) -> Result<Bisection, TriageError> {
        let plan = BisectPlan {
            folder: folder.to_owned(),
            llvm: None,
            limits: self.plan.limits,
            candidate_time: self.plan.candidate_time,
        };
        let found = bisect(&plan, self.progress)?;
        save_bisection(&open_case(folder)?, &found)?;
        Ok(found)
    }

    /// Makes a case of a single-pass form, and reduces it.
    fn single(&mut self, folder: &Path, form: &SinglePass) -> Result<SingleCase, TriageError> {
        let parent = open_case(folder)?.case;
        let place = folder.join(SINGLE_PASS);
        let case = Case {
            id: format!("{}-{SINGLE_PASS}", parent.id),
            title: parent.title.as_ref().map(|title| format!("{title} (one pass)")),
            input: "input.ll".to_owned(),
            pipeline: Pipeline::Passes(form.passes.clone()),
            cflags: Vec::new(),
            expected: None,
            observed: Some(form.what.clone()),
            signature: None,
            ..parent
        };
        write_case(&place, &case, nameless(&form.ir).as_bytes(), true)?;
        self.reduce(&place, Part::Both, SINGLE)?;
        let check = confirmed(&place, self.plan, self.progress)?;
        if check.status != CheckStatus::Reproduces {
            let CheckReport { status, what, .. } = check;
            return Err(CaseError::NotReproduced { status, what }.into());
        }
        let bisection = self.bisect(&place).ok();
        let case = open_case(&place)?;
        let input = case.input();
        let module = fs::read_to_string(&input)?;
        Ok(SingleCase { case, check, module, bisection, n_passes: form.n_passes })
    }

    /// Ranks suspects on the smallest form of the failure, and keeps the result
    /// with the case.
    fn rank(&mut self, folder: &Path, smallest: &Path) -> Result<Localization, TriageError> {
        let plan = FailurePlan {
            folder: smallest.to_owned(),
            llvm: None,
            limits: self.plan.limits,
            candidate_time: self.plan.candidate_time,
            n_workers: None,
        };
        let mut failure = match CoveredFailure::open(&plan, self.progress) {
            // What is small may depend on where things lie in memory.
            Err(TriageError::Case(CaseError::NotReproduced { .. })) if smallest != folder => {
                CoveredFailure::open(
                    &FailurePlan { folder: folder.to_owned(), ..plan },
                    self.progress,
                )?
            }
            other => other?,
        };
        let known = CulpritInput::find(&mut failure, self.progress)?;
        let budget = Some(self.plan.budget.mul_f64(RANKING));
        let stop = Stop { budget, ..Stop::default() };
        let found = find_culprit(
            &mut failure,
            &known,
            &CulpritPlan { seed: self.plan.seed, stop },
            self.progress,
        )?;
        save_localization(&open_case(folder)?, &found)?;
        if found.stopped == StopReason::Interrupted {
            self.notes.push("the ranking was interrupted".to_owned());
        }
        Ok(found)
    }
}
