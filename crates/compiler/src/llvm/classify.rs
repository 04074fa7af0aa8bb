//! A child's report -> outcome, or the reason why there is none.
//!
//! This is where a compiler's failure and the harness's own are told apart.
//!
//! **Invariant:** pure. A report that fits nothing is an error, never a guess.

use optsleuth_model::{
    Crash, CrashCause, Execution, Invocation, Outcome, ProgramEnd, Signature, Stage, signal_name,
};

use super::protocol::{End, Phase, Report, Verdict};

const SIGKILL: i32 = 9;
const SIGXFSZ: i32 = 25;

/// A report and what belongs to it, read from the shared memory.
pub(crate) struct Evidence<'a> {
    pub(crate) report: &'a Report,
    /// Demangled, without the harness's own.
    pub(crate) frames: Vec<String>,
    /// The invocation in which the child ended.
    pub(crate) invocation: Option<Invocation>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

/// Why a run has no outcome.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoOutcome {
    BadOptions(String),
    BadModule(String),
    BadPipeline(String),
    /// The source is no C program.
    DoesNotCompile(String),
    /// There is no such function to interpret.
    CannotCall(String),
    /// The edited program is none.
    BadEdit(String),
    /// The program has to be executed as a process of its own.
    NeedsProcess(String),
    /// Another process killed the child.
    Killed,
    Trouble(String),
}

pub(crate) fn classify(evidence: Evidence<'_>) -> Result<Outcome, NoOutcome> {
    let report = evidence.report;
    let executing = report.phase == Phase::Execute;
    match report.end {
        End::TimeLimit | End::WallLimit if executing => Ok(executed(evidence, ProgramEnd::Timeout)),
        // Nor is interpreting it: the referee has no verdict then.
        End::TimeLimit | End::MemoryLimit if report.phase == Phase::Interpret => {
            Ok(Outcome::Ok(None))
        }
        // Loading the program is not the compiler's work.
        End::TimeLimit | End::MemoryLimit if report.phase == Phase::Link => {
            Err(NoOutcome::NeedsProcess("the loader used up a limit".to_owned()))
        }
        // LLVM waits for nothing: the machine was too busy.
        End::WallLimit => Err(NoOutcome::Killed),
        End::TimeLimit => Ok(Outcome::Timeout { invocation: evidence.invocation }),
        End::ThreadLimit if executing => Ok(executed(evidence, ProgramEnd::ThreadLimit)),
        End::ThreadLimit => Err(NoOutcome::Trouble("LLVM started too many threads".to_owned())),
        End::MemoryLimit if executing => Ok(executed(evidence, ProgramEnd::OutOfMemory)),
        End::MemoryLimit => Ok(Outcome::OutOfMemory { invocation: evidence.invocation }),
        End::Signaled if executing => {
            let signal = report.end_value;
            let end = if signal == SIGXFSZ || report.output_cut {
                ProgramEnd::OutputLimit
            } else {
                ProgramEnd::Signaled(signal)
            };
            Ok(executed(evidence, end))
        }
        // LLVM has no way to end itself like this, and our limits say so when
        // they were it.
        End::Signaled if report.end_value == SIGKILL => Err(NoOutcome::Killed),
        End::Signaled if report.phase == Phase::Link => {
            Err(NoOutcome::NeedsProcess(format!("the loader: {}", signal_name(report.end_value))))
        }
        End::Signaled => crash_by_signal(evidence),
        End::Exited if executing && report.verdict == Verdict::None => {
            let end = match report.output_cut {
                true => ProgramEnd::OutputLimit,
                false => ProgramEnd::Exited(report.end_value),
            };
            Ok(executed(evidence, end))
        }
        End::Exited => by_verdict(evidence),
        End::None => Err(NoOutcome::Trouble(report.message.clone())),
    }
}

fn executed(evidence: Evidence<'_>, end: ProgramEnd) -> Outcome {
    Outcome::Ok(Some(Execution { end, stdout: evidence.stdout, stderr: evidence.stderr }))
}

fn by_verdict(evidence: Evidence<'_>) -> Result<Outcome, NoOutcome> {
    let report = evidence.report;
    let message = report.message.trim().to_owned();
    let crash = |cause| crash(&evidence, cause, Some(message.clone()));
    let in_loader = report.phase == Phase::Link;
    match report.verdict {
        Verdict::OutOfMemory | Verdict::Assertion if in_loader => {
            Err(NoOutcome::NeedsProcess(message))
        }
        Verdict::OutOfMemory if report.phase == Phase::Interpret => Ok(Outcome::Ok(None)),
        Verdict::Ok => Ok(Outcome::Ok(None)),
        Verdict::BadOptions => Err(NoOutcome::BadOptions(message)),
        Verdict::BadModule => Err(NoOutcome::BadModule(message)),
        Verdict::BadPipeline => Err(NoOutcome::BadPipeline(message)),
        Verdict::BadEdit => Err(NoOutcome::BadEdit(message)),
        Verdict::DoesNotCompile => Err(NoOutcome::DoesNotCompile(message)),
        Verdict::CannotCall => Err(NoOutcome::CannotCall(message)),
        Verdict::InvalidIr => Ok(Outcome::InvalidIr { invocation: evidence.invocation, message }),
        Verdict::FatalError => crash(CrashCause::FatalError),
        Verdict::ErrorExit => crash(CrashCause::ErrorExit),
        // Where it stands follows, and is no part of what it says.
        Verdict::Assertion => {
            let text = message.lines().next().map(str::to_owned);
            self::crash(&evidence, CrashCause::Assertion, text)
        }
        Verdict::CodegenFailure => Ok(Outcome::CodegenFailure { message }),
        Verdict::OutOfMemory => Ok(Outcome::OutOfMemory { invocation: evidence.invocation }),
        Verdict::NeedsProcess => Err(NoOutcome::NeedsProcess(message)),
        Verdict::Trouble => Err(NoOutcome::Trouble(message)),
        // `-help` and `-version` print and end the process.
        Verdict::None if report.phase == Phase::Options => {
            Err(NoOutcome::BadOptions("one of them makes it print something and end".to_owned()))
        }
        // Only LLVM calls exit() in there.
        Verdict::None => {
            let said = first_line(&evidence.stderr);
            let text = said.unwrap_or_else(|| format!("exit({})", report.end_value));
            self::crash(&evidence, CrashCause::ErrorExit, Some(text))
        }
    }
}

fn crash_by_signal(evidence: Evidence<'_>) -> Result<Outcome, NoOutcome> {
    let cause = match evidence.report.stack_overflow {
        true => CrashCause::StackOverflow,
        false => CrashCause::Signal(evidence.report.end_value),
    };
    // An assertion-enabled LLVM prints this one before it aborts.
    let unreachable = String::from_utf8_lossy(&evidence.stderr)
        .lines()
        .find(|line| line.contains("UNREACHABLE executed"))
        .map(str::to_owned);
    crash(&evidence, cause, unreachable)
}

fn crash(
    evidence: &Evidence<'_>,
    cause: CrashCause,
    message: Option<String>,
) -> Result<Outcome, NoOutcome> {
    let report = evidence.report;
    let signature = match (&message, cause) {
        (Some(text), _) => Signature::of_text(text),
        (None, CrashCause::StackOverflow) => Signature::of_stack_overflow(&evidence.frames),
        (None, _) => Signature::of_frames(&signal_name(report.end_value), &evidence.frames),
    };
    let stage = match report.phase {
        Phase::Start => Stage::Start,
        Phase::Options => Stage::Options,
        Phase::Parse => Stage::Parse,
        Phase::Pipeline => Stage::Pipeline,
        Phase::Verify => Stage::Verify,
        Phase::Emit => Stage::Emit,
        Phase::Codegen => Stage::Codegen,
        Phase::Link | Phase::Execute | Phase::Interpret | Phase::Done => {
            return Err(NoOutcome::Trouble(format!("a crash in phase {:?}", report.phase)));
        }
    };
    Ok(Outcome::Crash(Box::new(Crash {
        signature,
        cause,
        message,
        frames: evidence.frames.clone(),
        stage,
        invocation: evidence.invocation.clone(),
    })))
}

fn first_line(stderr: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(stderr);
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use zerocopy::FromZeros;

    use super::*;
    use crate::llvm::protocol::wire;

    fn report(phase: Phase, end: End, end_value: i32, verdict: Verdict) -> Report {
        let empty = Report::decode(&wire::Report::new_zeroed()).unwrap();
        Report { phase, end, end_value, verdict, ..empty }
    }

    fn judge(report: &Report) -> Result<Outcome, NoOutcome> {
        let frames = vec!["llvm::Value::dump()".to_owned()];
        let (stdout, stderr) = (b"out".to_vec(), Vec::new());
        classify(Evidence { report, frames, invocation: None, stdout, stderr })
    }

    fn check(phase: Phase, end: End, value: i32, verdict: Verdict, expected: &str) {
        let said = match judge(&report(phase, end, value, verdict)) {
            Ok(Outcome::Ok(Some(execution))) => format!("{:?}", execution.end),
            Ok(outcome) => outcome.kind().to_owned(),
            Err(no) => format!("{no:?}"),
        };
        assert_eq!(said, expected);
    }

    #[test]
    fn the_same_end_means_different_things_before_and_after_main_is_called() {
        check(Phase::Pipeline, End::TimeLimit, 9, Verdict::None, "timeout");
        check(Phase::Execute, End::TimeLimit, 9, Verdict::None, "Timeout");
        check(Phase::Pipeline, End::MemoryLimit, 9, Verdict::None, "out-of-memory");
        check(Phase::Execute, End::MemoryLimit, 9, Verdict::None, "OutOfMemory");
        check(Phase::Execute, End::ThreadLimit, 9, Verdict::None, "ThreadLimit");
        check(Phase::Pipeline, End::Signaled, 11, Verdict::None, "crash");
        check(Phase::Execute, End::Signaled, 11, Verdict::None, "Signaled(11)");
        check(Phase::Pipeline, End::Exited, 1, Verdict::None, "crash");
        check(Phase::Execute, End::Exited, 1, Verdict::None, "Exited(1)");
    }

    #[test]
    fn limits_that_the_loader_hits_are_not_the_compilers() {
        let expected = "NeedsProcess(\"the loader used up a limit\")";
        check(Phase::Link, End::MemoryLimit, 9, Verdict::None, expected);
        check(Phase::Link, End::TimeLimit, 9, Verdict::None, expected);
        check(Phase::Link, End::Exited, 0, Verdict::OutOfMemory, "NeedsProcess(\"\")");
    }

    #[test]
    fn a_compiler_that_was_kept_waiting_did_not_hang() {
        check(Phase::Pipeline, End::WallLimit, 9, Verdict::None, "Killed");
        check(Phase::Execute, End::WallLimit, 9, Verdict::None, "Timeout");
    }

    #[test]
    fn a_kill_from_outside_is_not_a_crash() {
        check(Phase::Pipeline, End::Signaled, 9, Verdict::None, "Killed");
        check(Phase::Execute, End::Signaled, 9, Verdict::None, "Signaled(9)");
    }

    #[test]
    fn a_program_that_wrote_too_much_is_told_apart() {
        check(Phase::Execute, End::Signaled, 25, Verdict::None, "OutputLimit");
    }

    #[test]
    fn trouble_of_the_loader_is_not_the_compilers() {
        check(
            Phase::Link,
            End::Signaled,
            11,
            Verdict::None,
            "NeedsProcess(\"the loader: SIGSEGV\")",
        );
    }

    #[test]
    fn an_exit_from_within_llvm_is_a_crash_with_its_words() {
        let report = report(Phase::Pipeline, End::Exited, 1, Verdict::None);
        let stderr = b"\nerror: no such thing\nmore".to_vec();
        let evidence =
            Evidence { report: &report, frames: vec![], invocation: None, stdout: vec![], stderr };
        let Ok(Outcome::Crash(crash)) = classify(evidence) else { panic!("not a crash") };
        assert_eq!(crash.cause, CrashCause::ErrorExit);
        assert_eq!(crash.signature.as_str(), "error: no such thing");
    }
}
