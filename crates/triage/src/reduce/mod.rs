//! `optsleuth reduce`: a case -> the same failure with fewer passes and a
//! smaller program.
//!
//! ```text
//! passes ──► parameters ──► program ──► reduced.ll or reduced.c
//!    └──────────┴─ judge: the same failure? defined behaviour? ──► keeper
//! ```
//!
//! **Invariant:** after every step the case's folder holds a case that fails as
//! the original does; the original is beside it.

mod c;
mod c_text;
mod external;
mod ir;
mod judge;
mod keeper;
mod lane;
mod of_driver;
mod of_llvm;
mod question;
mod sequence;
mod sight;
mod source;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fs_err as fs;
use optsleuth_case::CaseError;
use optsleuth_case::driver::LoadedDriverCase;
use optsleuth_case::folder::{kept_reduction, llvm_of, open_case};
use optsleuth_case::loaded::{FailingCase, LoadedCase, WorkerPlan};
use optsleuth_case::workers::LlvmChoice;
use optsleuth_compiler::driver::Driver;
use optsleuth_compiler::llvm::Flavor;
use optsleuth_model::{
    CaseFolder, CaseKind, CheckStatus, Limits, Progress, ReduceReport, Reduction, ReductionEnd,
    Trust,
};

use crate::TriageError;
pub use external::ask;
pub use judge::{Judge, Patience};
use keeper::Keeper;
pub use keeper::restore as restore_original;
use of_driver::OfDriver;
use of_llvm::OfLlvm;
pub use question::{Candidate, Question};
pub use sequence::fewer_passes;

/// A hang's candidates get this much CPU time.
const HANG: Duration = Duration::from_secs(1);

/// What is to be reduced, and how.
#[derive(Clone, Debug)]
pub struct ReducePlan {
    pub folder: PathBuf,
    pub trust: Trust,
    /// Another LLVM than the case's.
    pub llvm: Option<LlvmChoice>,
    /// For the failing run.
    pub limits: Limits,
    /// Begin with the original, whatever was reached before.
    pub again: bool,
    pub how: Reducing,
}

/// How a case is reduced.
#[derive(Clone, Debug)]
pub struct Reducing {
    pub part: Part,
    /// What to make the program smaller with.
    pub tool: Reducer,
    /// How long, at most.
    pub budget: Option<Duration>,
    /// The program that other reducers' tests start: `optsleuth` itself.
    pub callback_binary: PathBuf,
}

/// What of a case is reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Passes, then the program.
    Both,
    /// Passes alone.
    Passes,
    /// The program alone.
    Program,
}

/// What makes programs smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reducer {
    /// Whatever is best of what is installed.
    Auto,
    /// Our own.
    BuiltIn,
    /// LLVM's, for IR.
    LlvmReduce,
    /// cvise, or creduce, for C.
    Cvise,
}

/// Sees a case fail and reduces it.
pub fn reduce(plan: &ReducePlan, progress: &dyn Progress) -> Result<ReduceReport, TriageError> {
    let mut case = open_case(&plan.folder, plan.trust)?;
    if plan.again {
        keeper::restore(&case)?;
        case = open_case(&plan.folder, plan.trust)?;
    }
    if let Some(done) = finished(&case, plan.how.part)? {
        return Ok(done);
    }
    let Some(driver) = Driver::of_case(&case.case.compiler) else {
        let worker_plan =
            WorkerPlan { llvm: plan.llvm.as_ref(), flavor: Flavor::Plain, n_workers: None };
        let mut loaded = LoadedCase::set_up(case, &worker_plan, plan.limits, progress)?;
        loaded.repeat_hangs_within(HANG);
        let mut failing = FailingCase::see(loaded, progress)?;
        let done = reduce_failing(&mut failing, &plan.how, progress)?;
        return ask_again(done, progress, |case| match failing.reopen(case, progress) {
            Err(CaseError::NotReproduced { status, what }) => Ok((status, what)),
            other => Ok(other.map(|()| (CheckStatus::Reproduces, String::new()))?),
        });
    };
    if plan.llvm.is_some() {
        llvm_of(&case.case)?; // There is none to put another in the place of.
    }
    let mut loaded = LoadedDriverCase::set_up(case, driver?, plan.limits, progress)?;
    loaded.repeat_hangs_within(HANG);
    reduce_driver(&mut loaded, &plan.how, progress)
}

/// Reduces a driver's case.
pub fn reduce_driver(
    loaded: &mut LoadedDriverCase,
    how: &Reducing,
    progress: &dyn Progress,
) -> Result<ReduceReport, TriageError> {
    if let Some(done) = finished(&loaded.case, how.part)? {
        return Ok(done);
    }
    let earlier = kept_reduction(&loaded.case)?;
    let done = work_on(&mut OfDriver::new(loaded, earlier, progress)?, how, progress)?;
    ask_again(done, progress, |case| {
        loaded.case = case;
        let again = loaded.reproduce(progress)?;
        Ok((again.status, again.what))
    })
}

/// Asks everybody once more about wrong code: candidates were many, and were looked
/// at in haste. A program that is not defined goes, and the original comes back.
fn ask_again(
    done: ReduceReport,
    progress: &dyn Progress,
    check: impl FnOnce(CaseFolder) -> Result<(CheckStatus, String), TriageError>,
) -> Result<ReduceReport, TriageError> {
    if done.case.case.kind != CaseKind::WrongCode || progress.stop_requested() {
        return Ok(done);
    }
    match check(done.case.clone())? {
        (status @ CheckStatus::Unstable, what) => {
            keeper::restore(&done.case)?;
            let what = format!("the reduced program is gone, the original is back: {what}");
            Err(CaseError::NotReproduced { status, what }.into())
        }
        _ => Ok(done),
    }
}

/// Reduces a case that was seen to fail. Who goes on with it reopens it.
pub fn reduce_failing(
    failing: &mut FailingCase,
    how: &Reducing,
    progress: &dyn Progress,
) -> Result<ReduceReport, TriageError> {
    if let Some(done) = finished(&failing.loaded.case, how.part)? {
        return Ok(done);
    }
    let earlier = kept_reduction(&failing.loaded.case)?;
    work_on(&mut OfLlvm::new(failing, earlier)?, how, progress)
}

/// What there is to say of a case that was reduced as far as this before.
fn finished(case: &CaseFolder, part: Part) -> Result<Option<ReduceReport>, TriageError> {
    let earlier = kept_reduction(case)?.filter(|reduction| is_finished(part, reduction));
    Ok(earlier.map(|reduction| ReduceReport { case: case.clone(), reduction, was_finished: true }))
}

fn work_on(
    work: &mut dyn Work,
    how: &Reducing,
    progress: &dyn Progress,
) -> Result<ReduceReport, TriageError> {
    // Making a worker is no part of the budget.
    let begun = Instant::now();
    let patience = Patience { deadline: how.budget.map(|budget| begun + budget), progress };
    let done = work.reduce(how, patience);
    let (keeper, reduction) = work.state();
    reduction.seconds += begun.elapsed().as_secs_f64();
    reduction.end = match (progress.stop_requested(), patience.is_over()) {
        _ if is_finished(how.part, reduction) => ReductionEnd::Finished,
        (true, _) => ReductionEnd::Interrupted,
        (false, true) => ReductionEnd::Budget,
        (false, false) => ReductionEnd::Unfinished,
    };
    keeper.keep_state(reduction)?;
    done?;
    let case = open_case(keeper.folder(), keeper.trust())?;
    Ok(ReduceReport { case, reduction: reduction.clone(), was_finished: false })
}

fn is_finished(part: Part, reduction: &Reduction) -> bool {
    let (passes, program) = (reduction.sequence.finished, reduction.program.finished);
    match part {
        Part::Both => passes && program,
        Part::Passes => passes,
        Part::Program => program,
    }
}

/// A case that was seen to fail, and how far it is reduced.
trait Work {
    /// Makes it smaller, as long as there is patience.
    fn reduce(&mut self, how: &Reducing, patience: Patience<'_>) -> Result<(), TriageError>;

    /// How far it is, and who keeps that.
    fn state(&mut self) -> (&Keeper, &mut Reduction);
}

fn read_file(path: &Path) -> Result<Vec<u8>, TriageError> {
    Ok(fs::read(path)?)
}

fn note(reduction: &mut Reduction, note: &str) {
    if !reduction.notes.iter().any(|known| known == note) {
        reduction.notes.push(note.to_owned());
    }
}

fn with(tools: &[String], tool: &str) -> Vec<String> {
    let mut tools = tools.to_vec();
    if !tools.iter().any(|known| known == tool) {
        tools.push(tool.to_owned());
    }
    tools
}
