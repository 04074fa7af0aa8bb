//! Does a case fail as it says? Folder -> workers -> references, repetitions,
//! the distribution's tools -> an answer with its reason.
//!
//! A compiler that was broken on purpose is beside its unmodified self: that
//! one says what the program should do, and has to pass where the other fails.
//!
//! A case of gcc or of clang's driver goes to [`crate::driver`].
//!
//! **Invariant:** no case counts as reproduced on the word of one run.

use std::path::PathBuf;
use std::time::Duration;

use optsleuth_compiler::driver::Driver;
use optsleuth_compiler::llvm::Flavor;
use optsleuth_model::{CheckReport, CheckStatus, Confirmation, Limits, Outcome, Progress, Trust};

use crate::CaseError;
use crate::driver::LoadedDriverCase;
use crate::folder::{llvm_of, open_case};
use crate::loaded::{LoadedCase, Reproduction, WorkerPlan};
use crate::repetition::{REPETITIONS, unexpected_output};
use crate::workers::LlvmChoice;

/// What is to be checked.
#[derive(Clone, Debug)]
pub struct CheckPlan {
    pub folder: PathBuf,
    pub trust: Trust,
    /// Another LLVM than the case's.
    pub llvm: Option<LlvmChoice>,
    pub limits: Limits,
    /// Ask the distribution's tools, too.
    pub confirm: bool,
    /// All repetitions of a hang but the first get this much time.
    pub repeat_hangs_within: Option<Duration>,
}

/// Checks a case.
pub fn check(plan: &CheckPlan, progress: &dyn Progress) -> Result<CheckReport, CaseError> {
    let case = open_case(&plan.folder, plan.trust)?;
    if let Some(driver) = Driver::of_case(&case.case.compiler) {
        if plan.llvm.is_some() {
            llvm_of(&case.case)?; // There is none to put another in the place of.
        }
        let mut loaded = LoadedDriverCase::set_up(case, driver?, plan.limits, progress)?;
        if let Some(time) = plan.repeat_hangs_within {
            loaded.repeat_hangs_within(time);
        }
        return loaded.check(progress);
    }
    let worker_plan =
        WorkerPlan { llvm: plan.llvm.as_ref(), flavor: Flavor::Plain, n_workers: None };
    let mut loaded = LoadedCase::set_up(case, &worker_plan, plan.limits, progress)?;
    if let Some(time) = plan.repeat_hangs_within {
        loaded.repeat_hangs_within(time);
    }
    let reproduction = loaded.reproduce(progress)?;
    let confirmation = match plan.confirm && reproduction.status == CheckStatus::Reproduces {
        true => loaded.confirm(&reproduction, progress)?,
        false => None,
    };
    Ok(report(&loaded, &reproduction, confirmation))
}

/// What is known about a case after its failing run was repeated.
pub fn report(
    loaded: &LoadedCase,
    reproduction: &Reproduction,
    confirmation: Option<Confirmation>,
) -> CheckReport {
    CheckReport {
        llvm: loaded.workers.install.version.clone(),
        passes: loaded.request.passes.as_ref().map(ToString::to_string).unwrap_or_default(),
        driver: None,
        note: unexpected_output(&loaded.case.case, &reproduction.oracle),
        case: loaded.case.clone(),
        status: reproduction.status,
        what: reproduction.what.clone(),
        references: reproduction.references.clone(),
        n_failing: reproduction.n_failing,
        n_repetitions: REPETITIONS,
        frames: match &reproduction.first.outcome {
            Outcome::Crash(crash) => crash.frames.clone(),
            _ => Vec::new(),
        },
        confirmation,
        unmodified: reproduction.unmodified.clone(),
        definedness: reproduction.definedness.clone(),
    }
}
