//! What a test showed: outcome -> letter, and a mark where it is not what it
//! should be. The kinds of bugs of the CTOS paper, Section 4.2.
//!
//! **Invariant:** a letter says what was seen, once. Whether it is a bug is
//! decided later, by other runs.

use std::fmt;

use optsleuth_case::oracle::same_behaviour;
use optsleuth_compiler::CompilerError;
use optsleuth_model::{CaseKind, Execution, Invocation, Outcome, Signature, Stage};

use crate::HuntError;

/// What a test showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestResult {
    /// The program does what it should.
    Right,
    /// The compiler fails, or the program does something else.
    Wrong(Mark),
    /// The compiler does not accept the program. Which of the two is wrong is not
    /// for a machine to decide, so this is no deviation.
    Refused,
    /// Nothing was left of the pass sequence.
    Empty,
    /// The harness could not run it; that says nothing about the compiler.
    Trouble,
}

/// What one failing run shows of a failure, before anything is reduced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    pub kind: CaseKind,
    /// The pass it happened in, where the run says so.
    pub pass: Option<String>,
    /// A crash's signature, a verifier's message, a hash of what a wrong program
    /// printed; empty for hangs and lack of memory.
    pub signature: String,
}

/// Letters and their names, in the order in which they are told.
const LETTERS: [(char, &str); 10] = [
    ('.', "right"),
    ('C', "crash"),
    ('I', "invalid-ir"),
    ('W', "wrong-code"),
    ('H', "hang"),
    ('M', "memory"),
    ('G', "codegen"),
    ('R', "refused"),
    ('-', "empty"),
    ('?', "harness-trouble"),
];

impl TestResult {
    /// What an outcome is, next to what the program should do.
    pub fn of(outcome: &Outcome, expected: &Execution) -> TestResult {
        let mark = |kind, invocation: Option<&Invocation>, signature: String| {
            let pass = invocation.map(|invocation| invocation.pass.clone());
            TestResult::Wrong(Mark { kind, pass, signature })
        };
        match outcome {
            Outcome::Ok(Some(execution)) if same_behaviour(execution, expected) => {
                TestResult::Right
            }
            Outcome::Ok(Some(execution)) => mark(CaseKind::WrongCode, None, fingerprint(execution)),
            // It was asked to execute; only a harness could forget.
            Outcome::Ok(None) => TestResult::Trouble,
            Outcome::Crash(crash) if crash.stage == Stage::Codegen => {
                mark(CaseKind::Codegen, None, crash.signature.to_string())
            }
            Outcome::Crash(crash) => {
                mark(CaseKind::Crash, crash.invocation.as_ref(), crash.signature.to_string())
            }
            Outcome::InvalidIr { invocation, message } => {
                let signature = Signature::of_text(message).to_string();
                mark(CaseKind::InvalidIr, invocation.as_ref(), signature)
            }
            Outcome::Timeout { invocation } => {
                mark(CaseKind::Hang, invocation.as_ref(), String::new())
            }
            Outcome::OutOfMemory { invocation } => {
                mark(CaseKind::Memory, invocation.as_ref(), String::new())
            }
            Outcome::CodegenFailure { message } => {
                mark(CaseKind::Codegen, None, Signature::of_text(message).to_string())
            }
        }
    }

    /// One character.
    pub fn letter(&self) -> char {
        match self {
            TestResult::Right => '.',
            TestResult::Refused => 'R',
            TestResult::Empty => '-',
            TestResult::Trouble => '?',
            TestResult::Wrong(mark) => match mark.kind {
                CaseKind::Crash => 'C',
                CaseKind::InvalidIr => 'I',
                CaseKind::WrongCode => 'W',
                CaseKind::Hang => 'H',
                CaseKind::Memory => 'M',
                CaseKind::Codegen => 'G',
            },
        }
    }

    /// Whether this is the failure of a mark: for wrong code anything wrong,
    /// because what is printed differs from variant to variant.
    pub fn is_like(&self, mark: &Mark) -> bool {
        match self {
            TestResult::Wrong(own) => {
                own == mark || (own.kind == mark.kind && own.kind == CaseKind::WrongCode)
            }
            TestResult::Right | TestResult::Refused | TestResult::Empty | TestResult::Trouble => {
                false
            }
        }
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        let parts = self.pass.iter().chain(Some(&self.signature).filter(|text| !text.is_empty()));
        parts.into_iter().try_for_each(|part| write!(f, ": {part}"))
    }
}

/// What a run that could not be made is. Trouble that will not go away ends the
/// hunt.
pub(crate) fn of_error(error: CompilerError) -> Result<TestResult, HuntError> {
    match error {
        CompilerError::Lost { .. }
        | CompilerError::Trouble(_)
        | CompilerError::DoesNotLink(_)
        | CompilerError::BadModule { .. }
        | CompilerError::BadPipeline(_)
        | CompilerError::ForeignTarget { .. }
        | CompilerError::TooLarge { .. } => {
            tracing::warn!(%error, "a test could not be run");
            Ok(TestResult::Trouble)
        }
        error => Err(error.into()),
    }
}

/// What a program did, in a few digits.
fn fingerprint(execution: &Execution) -> String {
    let end = format!("{:?}", execution.end);
    let hash = blake3::Hasher::new().update(end.as_bytes()).update(&execution.stdout).finalize();
    hash.to_hex()[..16].to_owned()
}

/// How often each outcome is among these letters, by name; only what occurs.
pub(crate) fn counted(letters: impl Iterator<Item = char> + Clone) -> Vec<(String, u64)> {
    let count = |letter| letters.clone().filter(|other| *other == letter).count() as u64;
    let counts = LETTERS.iter().map(|(letter, name)| ((*name).to_owned(), count(*letter)));
    counts.filter(|(_, count)| *count > 0).collect()
}

/// Outcomes for tests.
#[cfg(test)]
pub(crate) mod example {
    use optsleuth_model::{
        Crash, CrashCause, Execution, Invocation, Outcome, ProgramEnd, Signature, Stage,
    };

    pub(crate) fn prints(text: &str) -> Execution {
        Execution { end: ProgramEnd::Exited(0), stdout: text.into(), stderr: Vec::new() }
    }

    pub(crate) fn in_gvn() -> Option<Invocation> {
        Some(Invocation {
            index: 3,
            pass: "gvn".to_owned(),
            unit: "function f".to_owned(),
            skipped: false,
            required: false,
            changed: false,
        })
    }

    pub(crate) fn crash(stage: Stage) -> Outcome {
        Outcome::Crash(Box::new(Crash {
            signature: Signature::of_text("boom 12"),
            cause: CrashCause::Assertion,
            message: None,
            frames: Vec::new(),
            stage,
            invocation: in_gvn().filter(|_| stage == Stage::Pipeline),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::example::{crash, prints};
    use super::*;

    #[test]
    fn each_kind_of_bug_has_its_letter_and_mark() {
        let seen = |outcome| {
            let seen = TestResult::of(&outcome, &prints("1"));
            let mark = match &seen {
                TestResult::Wrong(mark) => mark.to_string(),
                _ => String::new(),
            };
            (seen.letter(), mark)
        };
        assert_eq!(seen(Outcome::Ok(Some(prints("1")))), ('.', String::new()));
        let (letter, mark) = seen(Outcome::Ok(Some(prints("2"))));
        assert_eq!((letter, mark.len()), ('W', "wrong-code: ".len() + 16));
        assert_eq!(seen(crash(Stage::Pipeline)), ('C', "crash: gvn: boom N".to_owned()));
        assert_eq!(seen(crash(Stage::Codegen)), ('G', "codegen: boom N".to_owned()));
        let message = "PHI 7 is bad\n more".to_owned();
        let invalid = Outcome::InvalidIr { invocation: None, message };
        assert_eq!(seen(invalid), ('I', "invalid-ir: PHI N is bad".to_owned()));
        assert_eq!(seen(Outcome::Timeout { invocation: None }), ('H', "hang".to_owned()));
        assert_eq!(seen(Outcome::OutOfMemory { invocation: None }).0, 'M');
        assert_eq!(seen(Outcome::Ok(None)).0, '?');
    }

    #[test]
    fn every_outcome_has_a_letter_of_its_own_and_a_name() {
        let wrong = |kind| TestResult::Wrong(Mark { kind, pass: None, signature: String::new() });
        let kinds = CaseKind::ALL.map(wrong);
        let others =
            [TestResult::Right, TestResult::Refused, TestResult::Empty, TestResult::Trouble];
        let all = kinds.into_iter().chain(others);
        let mut letters: Vec<char> = all.map(|result| result.letter()).collect();
        for letter in &letters {
            assert!(LETTERS.iter().any(|(known, _)| known == letter), "{letter}");
        }
        letters.sort_unstable();
        letters.dedup();
        assert_eq!(letters.len(), LETTERS.len());
    }

    #[test]
    fn only_what_occurs_is_counted() {
        let counts = counted("..C.W?".chars());
        let names: Vec<(&str, u64)> = counts.iter().map(|(name, n)| (name.as_str(), *n)).collect();
        assert_eq!(names, [("right", 3), ("crash", 1), ("wrong-code", 1), ("harness-trouble", 1)]);
    }

    #[test]
    fn a_crash_is_known_by_its_mark_and_wrong_code_by_being_wrong() {
        let mark = |kind, text: &str| Mark { kind, pass: None, signature: text.to_owned() };
        let crash = TestResult::Wrong(mark(CaseKind::Crash, "a"));
        assert!(crash.is_like(&mark(CaseKind::Crash, "a")));
        assert!(!crash.is_like(&mark(CaseKind::Crash, "b")));
        let wrong = TestResult::Wrong(mark(CaseKind::WrongCode, "1"));
        assert!(wrong.is_like(&mark(CaseKind::WrongCode, "2")));
        assert!(!TestResult::Refused.is_like(&mark(CaseKind::Crash, "")));
    }
}
