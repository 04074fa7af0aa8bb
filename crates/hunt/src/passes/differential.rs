//! What a test showed: outcome -> letter, and a deviation where it is not what
//! it should be. The five kinds of bugs of the CTOS paper, Section 4.2.
//!
//! **Invariant:** a letter says what was seen, once. Whether it is a bug is
//! decided later, by other runs.

use std::collections::BTreeMap;

use optsleuth_case::oracle::same_behaviour;
use optsleuth_model::{CaseKind, Execution, Outcome, Signature, Stage};

use super::store::Deviation;

/// What a test showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// The program does what it should.
    Right,
    /// Something is wrong: how, and what tells it from others.
    Wrong(CaseKind, String),
    /// Nothing was left of the sequence.
    Empty,
    /// The harness could not run it; that says nothing about the compiler.
    Trouble,
}

/// Where a pass's name would be in a mark.
const NO_PASS: &str = "no pass";

/// Whether two deviations of this kind with the same mark are the same bug,
/// whatever their programs. Not where no pass is named: the verifier says the
/// same of many passes' work; and not of wrong code, which is as its program is.
pub(super) fn tells(kind: CaseKind, mark: &str) -> bool {
    let names_pass = !mark.starts_with(&format!("{}: {NO_PASS}", kind.name()));
    names_pass && !matches!(kind, CaseKind::WrongCode | CaseKind::Codegen)
}

/// Letters and their names, in the order in which they are told.
const LETTERS: [(char, &str); 9] = [
    ('.', "right"),
    ('C', "crash"),
    ('I', "invalid-ir"),
    ('W', "wrong-code"),
    ('H', "hang"),
    ('M', "memory"),
    ('G', "codegen"),
    ('-', "empty"),
    ('?', "harness-trouble"),
];

impl Seen {
    /// What an outcome is, next to what the program should do.
    pub(crate) fn of(outcome: &Outcome, expected: &Execution) -> Seen {
        let pass = |invocation: &Option<optsleuth_model::Invocation>| match invocation {
            Some(invocation) => invocation.pass.clone(),
            None => NO_PASS.to_owned(),
        };
        let (kind, mark) = match outcome {
            Outcome::Ok(Some(execution)) if same_behaviour(execution, expected) => {
                return Seen::Right;
            }
            Outcome::Ok(Some(execution)) => (CaseKind::WrongCode, fingerprint(execution)),
            // It was asked to execute; only a harness could forget.
            Outcome::Ok(None) => return Seen::Trouble,
            Outcome::Crash(crash) if crash.stage == Stage::Codegen => {
                (CaseKind::Codegen, crash.signature.to_string())
            }
            Outcome::Crash(crash) => {
                (CaseKind::Crash, format!("{}: {}", pass(&crash.invocation), crash.signature))
            }
            Outcome::InvalidIr { invocation, message } => {
                let signature = Signature::of_text(message);
                (CaseKind::InvalidIr, format!("{}: {signature}", pass(invocation)))
            }
            Outcome::Timeout { invocation } => (CaseKind::Hang, pass(invocation)),
            Outcome::OutOfMemory { invocation } => (CaseKind::Memory, pass(invocation)),
            Outcome::CodegenFailure { message } => {
                (CaseKind::Codegen, Signature::of_text(message).to_string())
            }
        };
        Seen::Wrong(kind, format!("{}: {mark}", kind.name()))
    }

    /// One character.
    pub(super) fn letter(&self) -> char {
        match self {
            Seen::Right => '.',
            Seen::Empty => '-',
            Seen::Trouble => '?',
            Seen::Wrong(CaseKind::Crash, _) => 'C',
            Seen::Wrong(CaseKind::InvalidIr, _) => 'I',
            Seen::Wrong(CaseKind::WrongCode, _) => 'W',
            Seen::Wrong(CaseKind::Hang, _) => 'H',
            Seen::Wrong(CaseKind::Memory, _) => 'M',
            Seen::Wrong(CaseKind::Codegen, _) => 'G',
        }
    }
}

/// What a program did, in a few digits.
fn fingerprint(execution: &Execution) -> String {
    let end = format!("{:?}", execution.end);
    let hash = blake3::Hasher::new().update(end.as_bytes()).update(&execution.stdout).finalize();
    hash.to_hex()[..16].to_owned()
}

/// How often each outcome is among these letters, by name; only what occurs.
pub(super) fn counted(letters: &str) -> Vec<(String, u64)> {
    let count = |letter: char| letters.chars().filter(|other| *other == letter).count() as u64;
    let counts = LETTERS.iter().map(|(letter, name)| ((*name).to_owned(), count(*letter)));
    counts.filter(|(_, count)| *count > 0).collect()
}

/// Whether more sequences agree on some other behaviour than on the unoptimized
/// program's. The CTOS paper lets the majority decide what is right; here
/// several unoptimized executions do, because one pass that is often drawn and
/// wrong has most sequences on its side.
pub(super) fn is_outvoted(letters: &str, deviations: &[Deviation]) -> bool {
    let right = letters.chars().filter(|letter| *letter == '.').count();
    let mut votes: BTreeMap<&str, usize> = BTreeMap::new();
    for wrong in deviations.iter().filter(|one| one.kind == CaseKind::WrongCode) {
        *votes.entry(&wrong.mark).or_default() += 1;
    }
    votes.values().any(|votes| *votes > right)
}

#[cfg(test)]
mod tests {
    use optsleuth_model::{Crash, CrashCause, Invocation, ProgramEnd};

    use super::*;

    fn prints(text: &str) -> Execution {
        Execution { end: ProgramEnd::Exited(0), stdout: text.into(), stderr: Vec::new() }
    }

    fn crash(stage: Stage) -> Outcome {
        Outcome::Crash(Box::new(Crash {
            signature: Signature::of_text("boom 12"),
            cause: CrashCause::Assertion,
            message: None,
            frames: Vec::new(),
            stage,
            invocation: (stage == Stage::Pipeline).then(|| Invocation {
                index: 3,
                pass: "gvn".to_owned(),
                unit: "function f".to_owned(),
                skipped: false,
                required: false,
                changed: false,
            }),
        }))
    }

    #[test]
    fn each_kind_of_bug_has_its_letter_and_mark() {
        let seen = |outcome| {
            let seen = Seen::of(&outcome, &prints("1"));
            let mark = match &seen {
                Seen::Wrong(_, mark) => mark.clone(),
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
        assert_eq!(seen(invalid), ('I', "invalid-ir: no pass: PHI N is bad".to_owned()));
        assert_eq!(seen(Outcome::Timeout { invocation: None }).0, 'H');
        assert_eq!(seen(Outcome::OutOfMemory { invocation: None }).0, 'M');
        assert_eq!(seen(Outcome::Ok(None)).0, '?');
    }

    #[test]
    fn a_majority_agrees_on_one_behaviour() {
        let wrong = |mark: &str| Deviation {
            sequence: 0,
            test: 1,
            seconds: 0.0,
            kind: CaseKind::WrongCode,
            mark: mark.to_owned(),
        };
        assert!(!is_outvoted("..W", &[wrong("a")]));
        assert!(is_outvoted("WWW.", &[wrong("a"), wrong("a"), wrong("a")]));
        assert!(!is_outvoted("WWW.", &[wrong("a"), wrong("b"), wrong("c")]));
        assert!(!is_outvoted("CCC", &[]));
    }

    #[test]
    fn a_mark_without_a_pass_tells_nothing() {
        assert!(tells(CaseKind::Crash, "crash: gvn: boom"));
        assert!(tells(CaseKind::Hang, "hang: gvn"));
        assert!(!tells(CaseKind::InvalidIr, "invalid-ir: no pass: PHI N is bad"));
        assert!(!tells(CaseKind::Codegen, "codegen: boom"));
        assert!(!tells(CaseKind::WrongCode, "wrong-code: 0123"));
    }

    #[test]
    fn only_what_occurs_is_counted() {
        let counts = counted("..C.?");
        let names: Vec<(&str, u64)> = counts.iter().map(|(name, n)| (name.as_str(), *n)).collect();
        assert_eq!(names, [("right", 3), ("crash", 1), ("harness-trouble", 1)]);
    }
}
