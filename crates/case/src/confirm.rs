//! A worker's result against the distribution's own tools.

use optsleuth_compiler::distribution::{Answer, Job, Step};
use optsleuth_compiler::spawn::{ToolEnd, ToolOutput};
use optsleuth_model::{
    Confirmation, CrashCause, Emit, Execute, Execution, Outcome, Program, RunRequest, RunResult,
    signal_name,
};

use crate::CaseError;
use crate::workers::Workers;

/// Repeats a run with `opt`, and with `llc`, the linker and a process of its
/// own if it was executed. `source` is the command that made the program's IR,
/// where it was not given as IR.
pub fn confirm(
    workers: &mut Workers,
    program: &Program,
    source: Option<String>,
    options: &[String],
    request: &RunRequest,
    result: &RunResult,
) -> Result<Confirmation, CaseError> {
    let executes = request.execute != Execute::No;
    let generates_code = executes || request.emit == Emit::Object;
    let link_words = workers.pool.first().surroundings().link_words();
    let job = Job {
        install: &workers.install,
        program,
        options,
        passes: request.passes.as_ref(),
        verify_each: request.verify_each,
        codegen: generates_code.then_some(request.codegen),
        link: executes,
        link_words: &link_words,
        limits: request.limits,
    };
    let answer = job.run()?;
    let execution = match &answer.program {
        Some(file) => Some(workers.pool.first().execute(file, request.limits)?),
        None => None,
    };
    let (agrees, theirs) = compare(result, &answer, execution.as_ref());
    // Where an assertion of ours fails, theirs goes on, and crashes if it does.
    let agrees = agrees || workers.provisioned.asserts && answer.crash().is_some();
    let surroundings = workers.pool.first().surroundings();
    let theirs_as_typed = answer.commands.iter().map(|command| surroundings.for_people(command));
    let mut commands: Vec<String> = source.into_iter().chain(theirs_as_typed).collect();
    if execution.is_some() {
        commands.push(surroundings.command_line());
    }
    Ok(Confirmation { agrees, theirs, execution, commands })
}

/// Whether two results are the same, and theirs in words.
fn compare(result: &RunResult, answer: &Answer, execution: Option<&Execution>) -> (bool, String) {
    let Some((step, output)) = &answer.failure else {
        return match (&result.outcome, execution) {
            (Outcome::Ok(None), None) => {
                let same = without_module_id(&result.emitted) == without_module_id(&answer.module);
                let word = if same { "the same module" } else { "another module" };
                (same, word.to_owned())
            }
            (Outcome::Ok(Some(ours)), Some(theirs)) => {
                let same = ours.end == theirs.end && ours.stdout == theirs.stdout;
                let word = if same { "the same output" } else { "another output" };
                (same, word.to_owned())
            }
            _ => (false, "no failure".to_owned()),
        };
    };
    let theirs = describe(*step, output);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let says = |text: &str| text.lines().next().is_some_and(|line| stderr.contains(line.trim()));
    let agrees = match &result.outcome {
        Outcome::Ok(_) => false,
        Outcome::Crash(crash) => match (crash.cause, output.end) {
            // Which signal corrupted memory ends in is chance.
            (CrashCause::Signal(_) | CrashCause::StackOverflow, ToolEnd::Signaled(_)) => true,
            (CrashCause::FatalError | CrashCause::Assertion, ToolEnd::Signaled(_))
            | (CrashCause::ErrorExit, ToolEnd::Exited(_)) => {
                crash.message.as_deref().is_some_and(says)
            }
            _ => false,
        },
        Outcome::InvalidIr { message, .. } => *step == Step::Opt && says(message),
        Outcome::Timeout { .. } => output.end == ToolEnd::Timeout,
        Outcome::OutOfMemory { .. } => {
            stderr.contains("out of memory") || stderr.contains("bad_alloc")
        }
        Outcome::CodegenFailure { .. } => *step != Step::Opt,
    };
    (agrees, theirs)
}

fn describe(step: Step, output: &ToolOutput) -> String {
    let tool = match step {
        Step::Opt => "opt",
        Step::Llc => "llc",
        Step::Link => "the linker",
    };
    match output.end {
        ToolEnd::Signaled(signal) => format!("{tool} was ended by {}", signal_name(signal)),
        ToolEnd::Exited(status) => format!("{tool} exited with status {status}"),
        ToolEnd::Timeout => format!("{tool} did not end in time"),
    }
}

/// The first line of a printed module is a comment that names its file.
fn without_module_id(text: &[u8]) -> &[u8] {
    match text.iter().position(|&byte| byte == b'\n') {
        Some(end) if text.starts_with(b"; ModuleID") => &text[end..],
        _ => text,
    }
}
