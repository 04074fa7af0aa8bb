//! One program by one compiler at one level: what it does, next to what it
//! should do.
//!
//! ```text
//! text ──► driver ──────────────────────► program file ──┐
//!    └───► front end ──► worker: passes, code ───────────┴──► fence ──► Seen
//! ```
//!
//! **Invariant:** what is right is what the seed does by itself; no compiler
//! under test has a say in that. A program that a compiler refuses is none of
//! its bugs: who is wrong then is not for a machine to decide.

use fs_err as fs;
use optsleuth_case::CaseError;
use optsleuth_case::driver::{Tried, try_level};
use optsleuth_compiler::c_front_end::{CSource, Compiled as Ir, FrontEnd};
use optsleuth_compiler::driver::Driver;
use optsleuth_compiler::llvm::{RunError, Worker};
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{
    CaseKind, CodegenLevel, Coverage, Execute, Execution, Limits, OptLevel, Outcome, PassSequence,
    RunRequest,
};

use crate::HuntError;
use crate::passes::differential;

/// What a test may use.
pub const LIMITS: Limits = Limits::STANDARD;

/// What a test showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The program does what it should.
    Right,
    /// Something is wrong: how, and what tells it from others.
    Wrong(CaseKind, String),
    /// The compiler does not take it.
    Refused,
    /// The harness could not run it; that says nothing about the compiler.
    Trouble,
}

/// Letters and their names, in the order in which they are told.
const LETTERS: [(char, &str); 9] = [
    ('.', "right"),
    ('C', "crash"),
    ('W', "wrong-code"),
    ('H', "hang"),
    ('M', "memory"),
    ('I', "invalid-ir"),
    ('G', "codegen"),
    ('R', "refused"),
    ('?', "harness-trouble"),
];

impl Seen {
    /// What an outcome is, next to what the program should do.
    fn of(outcome: &Outcome, expected: &Execution) -> Seen {
        match differential::Seen::of(outcome, expected) {
            differential::Seen::Right => Seen::Right,
            differential::Seen::Wrong(kind, mark) => Seen::Wrong(kind, mark),
            differential::Seen::Empty | differential::Seen::Trouble => Seen::Trouble,
        }
    }

    /// One character.
    pub fn letter(&self) -> char {
        match self {
            Seen::Right => '.',
            Seen::Refused => 'R',
            Seen::Trouble => '?',
            Seen::Wrong(CaseKind::Crash, _) => 'C',
            Seen::Wrong(CaseKind::WrongCode, _) => 'W',
            Seen::Wrong(CaseKind::Hang, _) => 'H',
            Seen::Wrong(CaseKind::Memory, _) => 'M',
            Seen::Wrong(CaseKind::InvalidIr, _) => 'I',
            Seen::Wrong(CaseKind::Codegen, _) => 'G',
        }
    }

    /// Whether this is the same failure: for wrong code anything wrong, because
    /// numbers differ from variant to variant.
    pub fn is_like(&self, kind: CaseKind, mark: &str) -> bool {
        match self {
            Seen::Wrong(CaseKind::WrongCode, _) => kind == CaseKind::WrongCode,
            Seen::Wrong(own, own_mark) => *own == kind && own_mark == mark,
            Seen::Right | Seen::Refused | Seen::Trouble => false,
        }
    }
}

/// How often each outcome is among these letters, by name; only what occurs.
pub fn counted(letters: impl Iterator<Item = char> + Clone) -> Vec<(String, u64)> {
    let count = |letter| letters.clone().filter(|other| *other == letter).count() as u64;
    let counts = LETTERS.iter().map(|(letter, name)| ((*name).to_owned(), count(*letter)));
    counts.filter(|(_, count)| *count > 0).collect()
}

/// A program in memory and in a file.
#[derive(Debug)]
pub struct Source {
    pub text: String,
    folder: Workdir,
}

impl Source {
    pub fn new(text: String) -> Result<Source, HuntError> {
        let folder = Workdir::new()?;
        fs::write(folder.file(NAME), &text)?;
        Ok(Source { text, folder })
    }

    /// The file.
    pub fn path(&self) -> std::path::PathBuf {
        self.folder.file(NAME)
    }

    /// As a front end takes it. Every program goes by the same name.
    pub fn c(&self) -> CSource {
        CSource { name: NAME.to_owned(), text: self.text.as_bytes().to_vec() }
    }
}

const NAME: &str = "program.c";

/// One of LLVM's levels inside a worker.
#[derive(Debug)]
pub struct LevelInside {
    pub level: OptLevel,
    /// clang as at this level, without LLVM's passes.
    pub front_end: FrontEnd,
    pub passes: PassSequence,
    pub codegen: CodegenLevel,
}

/// A program by a driver.
pub fn by_driver(
    driver: &Driver,
    level: OptLevel,
    source: &Source,
    expected: &Execution,
    fence: &mut Worker,
) -> Result<Seen, HuntError> {
    match try_level(driver, &source.path(), level, &[], fence, LIMITS) {
        Ok(Tried::Refused(_)) => Ok(Seen::Refused),
        // Where a driver was then is nobody's business.
        Ok(Tried::Ran(Outcome::Crash(crash))) => {
            Ok(Seen::Wrong(CaseKind::Crash, format!("crash: {}", crash.signature)))
        }
        Ok(Tried::Ran(outcome)) => Ok(Seen::of(&outcome, expected)),
        Err(CaseError::Run(error)) => trouble(error),
        Err(error) => Err(error.into()),
    }
}

/// A program by a worker's LLVM; also what of it was executed.
pub fn by_worker(
    tools: &LevelInside,
    covers: bool,
    source: &Source,
    expected: &Execution,
    worker: &mut Worker,
) -> Result<(Seen, Option<Coverage>), HuntError> {
    let mut run = || -> Result<(Seen, Option<Coverage>), RunError> {
        let program = match tools.front_end.compile(&source.c(), LIMITS)? {
            Ir::Ir(program) => program,
            Ir::Failed(result) => return Ok((Seen::of(&result.outcome, expected), None)),
        };
        worker.load(&program, &[], LIMITS)?;
        let request = RunRequest {
            codegen: tools.codegen,
            execute: Execute::InChild,
            coverage: covers,
            cover_codegen: covers,
            limits: LIMITS,
            ..RunRequest::new(Some(tools.passes.clone()))
        };
        let result = worker.run(&request)?;
        Ok((Seen::of(&result.outcome, expected), result.coverage))
    };
    match run() {
        Ok(seen) => Ok(seen),
        Err(RunError::DoesNotCompile(_)) => Ok((Seen::Refused, None)),
        Err(error) => Ok((trouble(error)?, None)),
    }
}

/// What a run that could not be made is. Trouble that will not go away ends the
/// hunt.
fn trouble(error: RunError) -> Result<Seen, HuntError> {
    match error {
        RunError::Lost { .. }
        | RunError::Trouble(_)
        | RunError::DoesNotLink(_)
        | RunError::BadModule { .. }
        | RunError::ForeignTarget { .. }
        | RunError::TooLarge { .. } => {
            tracing::warn!(%error, "a test could not be run");
            Ok(Seen::Trouble)
        }
        error => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_has_a_letter_of_its_own_and_a_name() {
        let kinds = CaseKind::ALL.map(|kind| Seen::Wrong(kind, String::new()).letter());
        let others = [Seen::Right, Seen::Refused, Seen::Trouble].map(|seen| seen.letter());
        let mut letters: Vec<char> = kinds.into_iter().chain(others).collect();
        for letter in &letters {
            assert!(LETTERS.iter().any(|(known, _)| known == letter), "{letter}");
        }
        letters.sort_unstable();
        letters.dedup();
        assert_eq!(letters.len(), LETTERS.len());
        let counts = counted("..W?".chars());
        let names: Vec<(&str, u64)> = counts.iter().map(|(name, n)| (name.as_str(), *n)).collect();
        assert_eq!(names, [("right", 2), ("wrong-code", 1), ("harness-trouble", 1)]);
    }

    #[test]
    fn a_crash_is_known_by_its_mark_and_wrong_code_by_being_wrong() {
        let crash = Seen::Wrong(CaseKind::Crash, "crash: a".to_owned());
        assert!(crash.is_like(CaseKind::Crash, "crash: a"));
        assert!(!crash.is_like(CaseKind::Crash, "crash: b"));
        let wrong = Seen::Wrong(CaseKind::WrongCode, "wrong-code: 1".to_owned());
        assert!(wrong.is_like(CaseKind::WrongCode, "wrong-code: 2"));
        assert!(!Seen::Refused.is_like(CaseKind::Crash, ""));
    }
}
