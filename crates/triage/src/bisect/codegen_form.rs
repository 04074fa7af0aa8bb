//! The form of a failure in code generation: the IR that the code generator got, and
//! no pass. Bisected as a case of its own, it says which machine pass fails.
//!
//! **Invariant:** a form that is handed out was seen to fail as the case does, several
//! times; of wrong code, with a program that is right if its code is generated without
//! optimization. The pool has the case's own program loaded, before and after.

use std::time::{Duration, Instant};

use optsleuth_case::loaded::{FailingCase, failing_request};
use optsleuth_case::oracle::Verdict;
use optsleuth_compiler::distribution::Job;
use optsleuth_compiler::spawn::quote;
use optsleuth_model::{
    Bisection, BisectionVerdict, CaseKind, CodegenLevel, Emit, Execute, FirstWrongStep, OptLevel,
    Outcome, Pipeline, Program, Progress, RunRequest, SINGLE_PASS_FILE, SinglePass, SinglePassForm,
    Stage,
};

use super::trials::{Halt, Trials, plain};
use crate::TriageError;

/// How often a form has to fail.
const TIMES: usize = 3;
/// It takes a few runs, which are worth it however long the passes took.
const LEAST: Duration = Duration::from_secs(5);

/// Whether the failure is in code generation, as far as the bisection of the passes
/// can tell.
pub(super) fn is_wanted(failing: &FailingCase, found: &Bisection) -> bool {
    let FailingCase { loaded, reproduction } = failing;
    if loaded.case.case.pipeline.is_codegen() {
        return false;
    }
    let is_late = match &reproduction.first.outcome {
        Outcome::Crash(crash) => crash.stage == Stage::Codegen,
        Outcome::CodegenFailure { .. } => true,
        Outcome::Timeout { invocation } | Outcome::OutOfMemory { invocation } => {
            invocation.is_none() && loaded.request.emit == Emit::Object
        }
        Outcome::Ok(_) | Outcome::InvalidIr { .. } => false,
    };
    is_late
        || found.verdict == BisectionVerdict::InCodegen
        || found.first_wrong == FirstWrongStep::NoPass
}

/// Makes it, or says why there is none.
pub(super) fn codegen_form(
    failing: &mut FailingCase,
    found: &Bisection,
    deadline: Instant,
    progress: &dyn Progress,
) -> Result<SinglePassForm, TriageError> {
    progress.step("taking the IR before code generation");
    let level = match failing.loaded.case.case.pipeline {
        Pipeline::Level(level) | Pipeline::Codegen(level) => level,
        Pipeline::Passes(_) => OptLevel::O0,
    };
    let FailingCase { loaded, reproduction } = failing;
    let mut trials = Trials::of_log(loaded, reproduction, Vec::new(), deadline, progress);
    trials.extend_by(LEAST);
    let Some(ir) = before_codegen(&mut trials, found)? else {
        let why = "the IR before code generation could not be printed".to_owned();
        return Ok(SinglePassForm::Missing { why });
    };
    trials.load_ir(&ir)?;
    let fails = fails(&mut trials, level);
    let form = form(&trials, ir, level);
    trials.restore()?;
    let missing = |why: &str| Ok(SinglePassForm::Missing { why: why.to_owned() });
    match fails {
        Ok(true) => Ok(SinglePassForm::Found(form)),
        Ok(false) => missing("the printed IR before code generation does not fail"),
        Err(Halt::Failed(error)) => Err(error),
        Err(Halt::Interrupted) => missing("it was interrupted"),
        Err(Halt::OutOfTime) => missing("the time was up"),
    }
}

/// The module after the passes; as it is, where they do not matter.
fn before_codegen(
    trials: &mut Trials<'_>,
    found: &Bisection,
) -> Result<Option<String>, TriageError> {
    let passes = match found.verdict {
        BisectionVerdict::InCodegen => None,
        _ => trials.template.passes.clone(),
    };
    let printing = RunRequest { emit: Emit::Text, passes, ..plain(&trials.template) };
    let result = trials.run_one(&printing)?;
    let is_sound = matches!(result.outcome, Outcome::Ok(_)) && !result.emitted.is_empty();
    Ok(is_sound.then(|| String::from_utf8_lossy(&result.emitted).into_owned()))
}

/// Whether the loaded module fails without passes.
fn fails(trials: &mut Trials<'_>, level: OptLevel) -> Result<bool, Halt> {
    let bare = RunRequest {
        passes: None,
        machine_passes: true,
        emit: Emit::Object,
        ..trials.template.clone()
    };
    if trials.loaded.case.case.kind == CaseKind::WrongCode {
        let plain = RunRequest { codegen: CodegenLevel::O0, machine_passes: false, ..bare.clone() };
        let is_optimized = Pipeline::Codegen(level).codegen() != CodegenLevel::O0;
        if is_optimized && trials.run(&[plain])?[0].0 != Verdict::Passes {
            return Ok(false);
        }
    }
    let answers = trials.run(&vec![bare; TIMES])?;
    Ok(answers.iter().all(|(verdict, _)| *verdict == Verdict::Fails))
}

fn form(trials: &Trials<'_>, ir: String, level: OptLevel) -> SinglePass {
    let loaded = &trials.loaded;
    let case = &loaded.case.case;
    let request = failing_request(case.kind, &Pipeline::Codegen(level), None);
    let executes = request.execute != Execute::No;
    let job = Job {
        install: &loaded.workers.install,
        program: &Program { name: SINGLE_PASS_FILE.to_owned(), ir: ir.as_bytes().to_vec() },
        options: &case.llvm_options(),
        passes: None,
        verify_each: false,
        codegen: Some(request.codegen),
        link: executes,
        link_words: &case.execution.link_words(),
        limits: trials.template.limits,
    };
    // The distribution's tools have no planted fault, and some are not installed.
    let mut commands = match case.fault {
        Some(_) => Vec::new(),
        None => job.commands().unwrap_or_default(),
    };
    if executes && !commands.is_empty() {
        commands.push(case.execution.command_line(quote));
    }
    let what = trials.what.clone();
    SinglePass { passes: String::new(), n_passes: 0, codegen: Some(level), ir, commands, what }
}
