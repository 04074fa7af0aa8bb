//! One program -> the referee's word on it.

use std::num::NonZero;
use std::path::PathBuf;

use optsleuth_compiler::llvm::{Flavor, Targets};
use optsleuth_model::{
    Interpret, InterpretReport, Limits, Outcome, Progress, RunRequest, is_source,
};

use crate::CaseError;
use crate::workers::{LlvmChoice, Workers};

/// What `optsleuth interpret` is asked.
#[derive(Clone, Debug)]
pub struct InterpretPlan {
    pub llvm: LlvmChoice,
    pub targets: Targets,
    /// A C, LL or BC file.
    pub program: PathBuf,
    /// For clang, if it is C: `-I`, `-D`.
    pub c_flags: Vec<String>,
    pub options: Vec<String>,
    /// Passes that run first, in LLVM's words.
    pub passes: Option<String>,
    pub interpret: Interpret,
    pub limits: Limits,
}

pub fn interpret(
    plan: &InterpretPlan,
    progress: &dyn Progress,
) -> Result<InterpretReport, CaseError> {
    let mut workers =
        Workers::set_up(&plan.llvm, plan.targets, Flavor::Plain, NonZero::new(1), progress)?;
    let passes = plan.passes.as_deref().map(|text| workers.passes(text)).transpose()?;
    progress.step("loading the program");
    let mut c_flags = plan.c_flags.clone();
    if is_source(&plan.program) {
        // So that the referee can name lines.
        c_flags.push("-gline-tables-only".to_owned());
    }
    workers.load(&plan.program, &c_flags, &plan.options, plan.limits)?;
    progress.step("interpreting");
    let request = RunRequest {
        interpret: Some(plan.interpret.clone()),
        limits: plan.limits,
        ..RunRequest::new(passes)
    };
    let result = workers.pool.first().run(&request)?;
    match (result.interpretation, result.outcome) {
        (Some(interpretation), _) => {
            Ok(InterpretReport { llvm: workers.install.version, interpretation, cpu: result.cpu })
        }
        (
            None,
            outcome @ (Outcome::Ok(_)
            | Outcome::Crash(_)
            | Outcome::InvalidIr { .. }
            | Outcome::Timeout { .. }
            | Outcome::OutOfMemory { .. }
            | Outcome::CodegenFailure { .. }),
        ) => Err(CaseError::NotInterpreted(outcome.kind())),
    }
}
