//! `optsleuth run`: one program, one sequence, once or many times.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Duration;

use optsleuth_compiler::llvm::{Flavor, Targets};
use optsleuth_compiler::surroundings::Surroundings;
use optsleuth_model::{
    CodegenLevel, Conditions, Emit, Execute, IndexSet, Limits, Outcome, Progress, Repetition,
    RunReport, RunRequest, RunResult, Trust,
};

use crate::CaseError;
use crate::confirm::confirm;
use crate::workers::{LlvmChoice, Workers};

/// What is to be run.
#[derive(Clone, Debug)]
pub struct RunPlan {
    pub llvm: LlvmChoice,
    pub targets: Targets,
    /// A `.c`, `.cpp`, `.ll` or `.bc` file.
    pub program: PathBuf,
    /// For clang, if it is C: `-I`, `-D`.
    pub c_flags: Vec<String>,
    /// The passes, in LLVM's words.
    pub passes: String,
    pub options: Vec<String>,
    /// Invocations to leave out.
    pub skips: IndexSet,
    /// Verify after every pass.
    pub verify_each: bool,
    /// Execute the result.
    pub execute: Execute,
    /// How hard the code generator works.
    pub codegen: CodegenLevel,
    /// What the program gets when it is executed.
    pub conditions: Conditions,
    /// Whether a script that judges the program runs without a fence.
    pub trust: Trust,
    pub limits: Limits,
    pub runs: NonZero<usize>,
    /// Workers at a time; one for each core by default.
    pub n_workers: Option<NonZero<usize>>,
    /// Repeat it with the distribution's own tools.
    pub confirm: bool,
    /// Read the log of invocations back.
    pub list_invocations: bool,
}

pub fn run(plan: &RunPlan, progress: &dyn Progress) -> Result<RunReport, CaseError> {
    // More workers than runs would only wait.
    let n_workers = match plan.n_workers {
        Some(n_workers) => Some(n_workers.min(plan.runs)),
        None if plan.runs.get() == 1 => NonZero::new(1),
        None => None,
    };
    let mut workers =
        Workers::set_up(&plan.llvm, plan.targets, Flavor::Plain, n_workers, progress)?;
    let is_free = plan.trust == Trust::Author;
    workers.pool.surround(Surroundings::find(&plan.conditions, Path::new("."), is_free)?);
    let passes = workers.passes(&plan.passes)?;
    progress.step("loading the program");
    let program = workers.load(&plan.program, &plan.c_flags, &plan.options, plan.limits)?;
    if plan.execute != Execute::No {
        Workers::note_missing_target(&program, &plan.options, progress);
    }
    let request = RunRequest {
        skips: plan.skips.clone(),
        verify_each: plan.verify_each,
        // As `opt` does: some crashes show only when the module is printed.
        emit: Emit::Text,
        codegen: plan.codegen,
        execute: plan.execute,
        list_invocations: plan.list_invocations,
        limits: plan.limits,
        ..RunRequest::new(Some(passes.clone()))
    };
    progress.step("running");
    let requests = vec![request.clone(); plan.runs.get()];
    let n_runs = requests.len();
    let results = workers.pool.run_all(&requests, &|done| progress.count(done, n_runs));
    let mut results = results.into_iter().collect::<Result<Vec<RunResult>, _>>()?;
    let repetition = (n_runs > 1).then(|| repetition(&results));
    let mut result = results.swap_remove(0);
    name_breaking_pass(&mut result, &request, &mut workers)?;
    let confirmation = if plan.confirm {
        progress.step("asking the distribution's tools");
        let source = workers.source_command(Path::new(""), &plan.program, &plan.c_flags)?;
        Some(confirm(&mut workers, &program, source, &plan.options, &request, &result)?)
    } else {
        None
    };
    Ok(RunReport { llvm: workers.install.version, passes, result, repetition, confirmation })
}

fn repetition(results: &[RunResult]) -> Repetition {
    let first = &results[0];
    let same = |other: &&RunResult| {
        first.outcome.agrees_with(&other.outcome) && first.emitted == other.emitted
    };
    let different: Vec<&RunResult> = results.iter().filter(|other| !same(other)).collect();
    let mut times: Vec<Duration> = results.iter().map(|result| result.wall).collect();
    times.sort();
    Repetition {
        runs: results.len(),
        median: times[times.len() / 2],
        n_different: different.len(),
        other: different.first().map(|result| result.outcome.clone()),
    }
}

/// IR that is found invalid at the end was broken by some pass: one more run,
/// verified after each, says which.
fn name_breaking_pass(
    result: &mut RunResult,
    request: &RunRequest,
    workers: &mut Workers,
) -> Result<(), CaseError> {
    if let Outcome::InvalidIr { invocation: invocation @ None, .. } = &mut result.outcome {
        let verified = RunRequest { verify_each: true, ..request.clone() };
        if let Outcome::InvalidIr { invocation: Some(found), .. } =
            workers.pool.first().run(&verified)?.outcome
        {
            *invocation = Some(found);
        }
    }
    Ok(())
}
