//! Outcome -> does this run fail as the case does?
//!
//! **Invariant:** a run that fails in another way is neither failing nor
//! passing: it says nothing about the case, and is never a witness.

use optsleuth_model::{
    CaseKind, Crash, CrashCause, Execution, Outcome, ProgramEnd, Signature, Stage, signal_name,
};

/// What a run means for a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It fails as the case does.
    Fails,
    /// Nothing is wrong with it.
    Passes,
    /// Something else is wrong with it.
    Other,
}

/// Knows how one case fails.
#[derive(Clone, Debug)]
pub struct Oracle {
    kind: CaseKind,
    /// Of a crash; `None` takes any.
    signature: Option<String>,
    /// Of what the verifier or the code generator says; `None` takes any.
    message: Option<Signature>,
    /// Of a program that the failing run did not let end.
    limit: Option<ProgramEnd>,
    /// What the program does when it is compiled rightly.
    expected: Option<Execution>,
    /// What is called an execution is that of a script that judges the program.
    by_script: bool,
}

impl Oracle {
    /// For a case of this kind. Wrong code needs the right behaviour.
    pub fn new(kind: CaseKind, expected: Option<Execution>) -> Oracle {
        Oracle { kind, signature: None, message: None, limit: None, expected, by_script: false }
    }

    /// Whether executions are those of a script that judges the program.
    #[must_use]
    pub fn judged_by_script(mut self, by_script: bool) -> Oracle {
        self.by_script = by_script;
        self
    }

    /// Only crashes with this signature count.
    #[must_use]
    pub fn with_signature(mut self, signature: &str) -> Oracle {
        self.signature = Some(signature.to_owned());
        self
    }

    /// From now on only failures like this one count.
    #[must_use]
    pub fn like(mut self, outcome: &Outcome) -> Oracle {
        match outcome {
            Outcome::Crash(crash) if self.signature.is_none() => {
                self.signature = Some(crash.signature.as_str().to_owned());
            }
            Outcome::Ok(Some(execution)) if is_limit(execution.end) => {
                self.limit = Some(execution.end);
            }
            _ => {}
        }
        self
    }

    /// The same, and what the verifier or the code generator says has to be the
    /// same, too.
    #[must_use]
    pub fn just_like(mut self, outcome: &Outcome) -> Oracle {
        self.message = message(outcome);
        self.like(outcome)
    }

    /// The same for a program that does this when it is compiled rightly.
    #[must_use]
    pub fn expecting(mut self, expected: Execution) -> Oracle {
        self.expected = Some(expected);
        self
    }

    /// How the case fails.
    pub fn kind(&self) -> CaseKind {
        self.kind
    }

    /// What the program does when it is compiled rightly, where that is known.
    pub fn expected(&self) -> Option<&Execution> {
        self.expected.as_ref()
    }

    /// What the program should print, where that is known.
    pub fn expected_output(&self) -> Option<String> {
        self.expected.as_ref().map(|execution| String::from_utf8_lossy(&execution.stdout).into())
    }

    /// Judges a run.
    pub fn judge(&self, outcome: &Outcome) -> Verdict {
        let fails = match (self.kind, outcome) {
            (CaseKind::Crash, Outcome::Crash(crash)) => self.is_known_crash(crash),
            (CaseKind::Codegen, Outcome::Crash(crash)) => {
                crash.stage == Stage::Codegen && self.is_known_crash(crash)
            }
            (CaseKind::InvalidIr, Outcome::InvalidIr { .. })
            | (CaseKind::Codegen, Outcome::CodegenFailure { .. }) => {
                self.message.is_none() || self.message == message(outcome)
            }
            (CaseKind::Hang, Outcome::Timeout { .. })
            | (CaseKind::Memory, Outcome::OutOfMemory { .. }) => true,
            (CaseKind::WrongCode, Outcome::Ok(Some(execution))) => {
                // What our own limits ended may just be slow.
                if is_limit(execution.end) && self.limit != Some(execution.end) {
                    return Verdict::Other;
                }
                self.expected.as_ref().is_some_and(|expected| !same_behaviour(expected, execution))
            }
            (CaseKind::WrongCode, Outcome::Ok(None)) => return Verdict::Other,
            _ => false,
        };
        match outcome {
            _ if fails => Verdict::Fails,
            Outcome::Ok(_) => Verdict::Passes,
            Outcome::Crash(_)
            | Outcome::InvalidIr { .. }
            | Outcome::Timeout { .. }
            | Outcome::OutOfMemory { .. }
            | Outcome::CodegenFailure { .. } => Verdict::Other,
        }
    }

    /// Judges a program by itself: its optimized execution by the unoptimized
    /// one. What our own limits ended says nothing, unless that is the failure.
    pub fn compare(&self, reference: &Outcome, optimized: &Outcome) -> Verdict {
        let (Some(expected), Some(found)) = (reference.execution(), optimized.execution()) else {
            return Verdict::Other;
        };
        if is_limit(expected.end) {
            return Verdict::Other;
        }
        match (is_limit(found.end), self.limit == Some(found.end)) {
            (true, true) => Verdict::Fails,
            (true, false) => Verdict::Other,
            (false, _) if same_behaviour(expected, found) => Verdict::Passes,
            (false, _) => Verdict::Fails,
        }
    }

    fn is_known_crash(&self, crash: &Crash) -> bool {
        self.signature.as_ref().is_none_or(|known| known == crash.signature.as_str())
    }

    /// What a run did, in a line; a program's behaviour beside the right one.
    pub fn describe(&self, outcome: &Outcome) -> String {
        match (outcome, &self.expected) {
            (Outcome::Ok(Some(execution)), _) if self.by_script => verdict_of_script(execution),
            (Outcome::Ok(Some(execution)), Some(expected))
                if !same_behaviour(expected, execution) =>
            {
                difference(expected, execution)
            }
            _ => describe(outcome),
        }
    }
}

/// What a script says of a program.
fn verdict_of_script(execution: &Execution) -> String {
    match execution.end {
        ProgramEnd::Exited(0) => "the check says that the program is right".to_owned(),
        ProgramEnd::Exited(status) => {
            format!("the check says that the program is wrong (status {status})")
        }
        _ => format!("the check of the program {}", behaviour(execution)),
    }
}

/// What the verifier or the code generator says, without names and numbers.
fn message(outcome: &Outcome) -> Option<Signature> {
    match outcome {
        Outcome::InvalidIr { message, .. } | Outcome::CodegenFailure { message } => {
            Some(Signature::of_text(message))
        }
        Outcome::Ok(_)
        | Outcome::Crash(_)
        | Outcome::Timeout { .. }
        | Outcome::OutOfMemory { .. } => None,
    }
}

/// Whether a program was ended by a limit of ours.
pub fn is_limit(end: ProgramEnd) -> bool {
    match end {
        ProgramEnd::Timeout
        | ProgramEnd::OutOfMemory
        | ProgramEnd::OutputLimit
        | ProgramEnd::ThreadLimit => true,
        ProgramEnd::Exited(_) | ProgramEnd::Signaled(_) => false,
    }
}

/// Whether two executions are the same to whoever started the program.
pub fn same_behaviour(a: &Execution, b: &Execution) -> bool {
    a.end == b.end && a.stdout == b.stdout
}

/// What a run did, in a line.
pub fn describe(outcome: &Outcome) -> String {
    let at = |invocation: &Option<_>| match invocation {
        Some(invocation) => format!(" in {invocation}"),
        None => String::new(),
    };
    match outcome {
        Outcome::Ok(None) => {
            "LLVM compiles it without complaint, and the module is valid".to_owned()
        }
        Outcome::Ok(Some(execution)) => format!("the program {}", behaviour(execution)),
        Outcome::Crash(crash) => describe_crash(crash),
        Outcome::InvalidIr { message, invocation } => {
            format!("invalid IR{}: {}", at(invocation), message.lines().next().unwrap_or_default())
        }
        Outcome::Timeout { invocation } => format!("LLVM does not end{}", at(invocation)),
        Outcome::OutOfMemory { invocation } => {
            format!("LLVM uses up its memory{}", at(invocation))
        }
        Outcome::CodegenFailure { message } => {
            let line = message.lines().next().unwrap_or_default();
            format!("the code generator refuses: {line}")
        }
    }
}

fn describe_crash(crash: &Crash) -> String {
    let cause = match crash.cause {
        CrashCause::Signal(signal) => signal_name(signal),
        CrashCause::StackOverflow => "stack overflow".to_owned(),
        CrashCause::Assertion => "failed assertion".to_owned(),
        CrashCause::FatalError => "fatal error".to_owned(),
        CrashCause::ErrorExit => "error exit".to_owned(),
    };
    let place = match &crash.invocation {
        Some(invocation) => format!("in {invocation}"),
        None => format!("while {}", crash.stage.doing()),
    };
    format!("{cause} {place}: {}", crash.signature)
}

/// What an executed program did, after "the program".
pub fn behaviour(execution: &Execution) -> String {
    format!("prints {} and {}", printed(execution), end(execution.end))
}

/// What is wrong with a program's behaviour.
fn difference(expected: &Execution, execution: &Execution) -> String {
    let mut parts = Vec::new();
    if expected.stdout != execution.stdout {
        let from = beginning_of_difference(&expected.stdout, &execution.stdout);
        let (ours, theirs) = (printed_from(execution, from), printed_from(expected, from));
        parts.push(format!("prints {ours} instead of {theirs}"));
    }
    if expected.end != execution.end {
        let (ours, theirs) = (end(execution.end), end(expected.end));
        parts.push(format!("{ours} where the unoptimized one {theirs}"));
    }
    format!("the program {}", parts.join(" and "))
}

/// Where to begin to show two outputs, so that their difference is in sight.
fn beginning_of_difference(a: &[u8], b: &[u8]) -> usize {
    let n_common = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    if n_common > 40 { n_common - 10 } else { 0 }
}

fn printed(execution: &Execution) -> String {
    printed_from(execution, 0)
}

fn printed_from(execution: &Execution, from: usize) -> String {
    match execution.stdout.get(from..) {
        _ if execution.stdout.is_empty() => "nothing".to_owned(),
        Some(rest) if from > 0 => format!("...{}", quoted(rest)),
        Some(all) => quoted(all),
        None => quoted(&execution.stdout),
    }
}

fn end(end: ProgramEnd) -> String {
    match end {
        ProgramEnd::Exited(status) => format!("exits with status {status}"),
        ProgramEnd::Signaled(signal) => format!("is ended by {}", signal_name(signal)),
        ProgramEnd::Timeout => "does not end".to_owned(),
        ProgramEnd::OutOfMemory => "uses up its memory".to_owned(),
        ProgramEnd::OutputLimit => "writes without end".to_owned(),
        ProgramEnd::ThreadLimit => "starts threads without end".to_owned(),
    }
}

/// A program's output on one line, cut to what a person reads.
fn quoted(bytes: &[u8]) -> String {
    const SHOWN: usize = 60;
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_end();
    let cut: String = text.chars().take(SHOWN).collect();
    let dots = if cut.len() < text.len() { "..." } else { "" };
    format!("`{}{dots}`", cut.escape_debug().to_string().replace("\\\"", "\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use optsleuth_model::{Signature, Stage};

    fn crash(message: &str) -> Outcome {
        Outcome::Crash(Box::new(Crash {
            signature: Signature::of_text(message),
            cause: CrashCause::Assertion,
            message: Some(message.to_owned()),
            frames: Vec::new(),
            stage: Stage::Pipeline,
            invocation: None,
        }))
    }

    fn prints(text: &str, status: i32) -> Execution {
        let end = ProgramEnd::Exited(status);
        Execution { end, stdout: text.as_bytes().to_vec(), stderr: Vec::new() }
    }

    #[test]
    fn only_the_same_crash_is_the_failure() {
        let oracle = Oracle::new(CaseKind::Crash, None).like(&crash("one"));
        assert_eq!(oracle.judge(&crash("one")), Verdict::Fails);
        assert_eq!(oracle.judge(&crash("two")), Verdict::Other);
        let named = Oracle::new(CaseKind::Crash, None).with_signature("two").like(&crash("one"));
        assert_eq!(named.judge(&crash("one")), Verdict::Other);
        assert_eq!(named.judge(&crash("two")), Verdict::Fails);
        assert_eq!(oracle.judge(&Outcome::Ok(None)), Verdict::Passes);
        assert_eq!(oracle.judge(&Outcome::Timeout { invocation: None }), Verdict::Other);
    }

    #[test]
    fn every_kind_has_its_outcome_and_the_others_say_nothing() {
        let invalid = Outcome::InvalidIr { invocation: None, message: "m".into() };
        let outcomes = [
            (CaseKind::Crash, crash("x")),
            (CaseKind::InvalidIr, invalid),
            (CaseKind::Hang, Outcome::Timeout { invocation: None }),
            (CaseKind::Memory, Outcome::OutOfMemory { invocation: None }),
            (CaseKind::Codegen, Outcome::CodegenFailure { message: "m".into() }),
        ];
        for (kind, _) in &outcomes {
            let oracle = Oracle::new(*kind, None);
            assert_eq!(oracle.judge(&Outcome::Ok(None)), Verdict::Passes);
            for (other, outcome) in &outcomes {
                let expected = if kind == other { Verdict::Fails } else { Verdict::Other };
                assert_eq!(oracle.judge(outcome), expected, "{kind:?} {outcome:?}");
            }
        }
    }

    #[test]
    fn a_program_is_judged_by_itself() {
        let ran = |execution: &Execution| Outcome::Ok(Some(execution.clone()));
        let (one, two) = (prints("1\n", 0), prints("2\n", 0));
        let endless = Execution { end: ProgramEnd::Timeout, ..prints("", 0) };
        let oracle = Oracle::new(CaseKind::WrongCode, Some(prints("5\n", 0)));
        assert_eq!(oracle.compare(&ran(&one), &ran(&one)), Verdict::Passes);
        assert_eq!(oracle.compare(&ran(&one), &ran(&two)), Verdict::Fails);
        assert_eq!(oracle.compare(&ran(&endless), &ran(&endless)), Verdict::Other);
        assert_eq!(oracle.compare(&ran(&one), &ran(&endless)), Verdict::Other);
        assert_eq!(oracle.compare(&ran(&one), &crash("x")), Verdict::Other);
        let hangs = oracle.like(&ran(&endless));
        assert_eq!(hangs.compare(&ran(&one), &ran(&endless)), Verdict::Fails);
        assert_eq!(hangs.compare(&ran(&endless), &ran(&endless)), Verdict::Other);
    }

    #[test]
    fn wrong_code_is_another_output_or_another_end() {
        let oracle = Oracle::new(CaseKind::WrongCode, Some(prints("1\n", 0)));
        let judge = |execution| oracle.judge(&Outcome::Ok(Some(execution)));
        assert_eq!(judge(prints("1\n", 0)), Verdict::Passes);
        assert_eq!(judge(prints("2\n", 0)), Verdict::Fails);
        assert_eq!(judge(prints("1\n", 1)), Verdict::Fails);
        let slow = Execution { end: ProgramEnd::Timeout, ..prints("", 0) };
        assert_eq!(judge(slow.clone()), Verdict::Other);
        let endless = oracle.clone().like(&Outcome::Ok(Some(slow.clone())));
        assert_eq!(endless.judge(&Outcome::Ok(Some(slow))), Verdict::Fails);
        assert_eq!(oracle.judge(&Outcome::Ok(None)), Verdict::Other);
        let noisy = Execution { stderr: b"warning".to_vec(), ..prints("1\n", 0) };
        assert_eq!(judge(noisy), Verdict::Passes);
        assert_eq!(oracle.judge(&crash("x")), Verdict::Other);
        let said = oracle.describe(&Outcome::Ok(Some(prints("2\n", 0))));
        assert_eq!(said, "the program prints `2` instead of `1`");
        let long = "0123456789".repeat(10);
        let oracle_of_long = Oracle::new(CaseKind::WrongCode, Some(prints(&format!("{long}a"), 0)));
        let said = oracle_of_long.describe(&Outcome::Ok(Some(prints(&format!("{long}b"), 0))));
        assert_eq!(said, "the program prints ...`0123456789b` instead of ...`0123456789a`");
        let said = oracle.describe(&Outcome::Ok(Some(prints("1\n", 3))));
        let expected =
            "the program exits with status 3 where the unoptimized one exits with status 0";
        assert_eq!(said, expected);
    }
}
