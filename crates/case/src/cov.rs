//! `optsleuth cov`: what of the compiler a run executed, by file and function.

use std::num::NonZero;
use std::path::PathBuf;

use optsleuth_compiler::llvm::{Flavor, Targets};
use optsleuth_model::{
    CovReport, CovRun, Invocation, Limits, PassSequence, Progress, RunRequest, RunResult,
};

use crate::CaseError;
use crate::workers::{LlvmChoice, Workers};

/// What is to be covered.
#[derive(Clone, Debug)]
pub struct CovPlan {
    pub llvm: LlvmChoice,
    pub targets: Targets,
    /// A `.c`, `.ll` or `.bc` file.
    pub program: PathBuf,
    /// For clang, if it is C.
    pub c_flags: Vec<String>,
    pub options: Vec<String>,
    /// The passes of each run; one, or two to compare.
    pub passes: Vec<String>,
    /// Invocations to cover by themselves.
    pub window: Option<(u32, u32)>,
    pub limits: Limits,
}

pub fn cov(plan: &CovPlan, progress: &dyn Progress) -> Result<CovReport, CaseError> {
    let one = NonZero::new(1);
    let mut workers = Workers::set_up(&plan.llvm, plan.targets, Flavor::Covered, one, progress)?;
    let sequences: Vec<PassSequence> =
        plan.passes.iter().map(|text| workers.passes(text)).collect::<Result<_, _>>()?;
    progress.step("loading the program");
    workers.load(&plan.program, &plan.c_flags, &plan.options, plan.limits)?;
    progress.step("reading the code map");
    let map = workers.provisioned.code_map()?;
    progress.step("running");
    let mut runs = Vec::new();
    for passes in sequences {
        let request = RunRequest {
            coverage: true,
            window: plan.window,
            list_invocations: plan.window.is_some(),
            limits: plan.limits,
            ..RunRequest::new(Some(passes.clone()))
        };
        runs.push(cov_run(passes, plan.window, workers.pool.first().run(&request)?)?);
    }
    Ok(CovReport { llvm: workers.install.version, map, runs })
}

fn cov_run(
    passes: PassSequence,
    range: Option<(u32, u32)>,
    result: RunResult,
) -> Result<CovRun, CaseError> {
    let window = match range {
        None => None,
        Some((first, end)) => {
            let coverage = result.window.ok_or(CaseError::NoSuchInvocation {
                first,
                n_invocations: result.n_invocations,
            })?;
            let inside = |invocation: &Invocation| (first..end).contains(&invocation.index);
            Some((coverage, result.invocations.into_iter().filter(inside).collect()))
        }
    };
    let coverage = result.coverage.unwrap_or_default();
    Ok(CovRun { passes, outcome: result.outcome, coverage, window })
}
