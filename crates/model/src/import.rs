//! What came of importing a file of a public data set.

use serde::Deserialize;

use crate::{CaseFolder, CaseKind, CheckStatus};

/// What came of a file.
#[derive(Clone, Debug)]
pub struct ImportReport {
    /// The bug's number.
    pub id: String,
    /// How it fails, in the data set's words.
    pub bug_type: BugType,
    /// Every test with each of its commands, in the file's order.
    pub tests: Vec<ImportedTest>,
}

/// What came of a test with one of its commands.
#[derive(Clone, Debug)]
pub struct ImportedTest {
    /// The file in LLVM's source tree.
    pub file: String,
    /// Its name in that file.
    pub name: String,
    /// The command, as the data set has it.
    pub command: String,
    /// Whether it is a case.
    pub status: TestStatus,
    /// What each LLVM does, the newest first; nothing if it was not tried.
    pub attempts: Vec<Attempt>,
    /// The case that was written, and where.
    pub written: Option<CaseFolder>,
}

/// Whether a test is a case here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestStatus {
    /// It fails on an installed LLVM, every time.
    Reproduces,
    /// It was tried and fails on none of them.
    ReproducesNowhere,
    /// Wrong code without a `main`.
    NotExecutable,
    /// Its command is no run of `opt` that a case can say.
    NotExpressible(String),
    /// The same program with the same passes and flags came before.
    Repeated,
}

/// What an LLVM does with a test.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// The LLVM's number.
    pub llvm: u32,
    pub seen: Seen,
    pub what: String,
    /// For wrong code: what the unoptimized program prints.
    pub expected: Option<String>,
}

/// How a test ended on an LLVM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// It fails in this way, every time.
    Fails(CaseKind),
    /// It does not, or not every time.
    Otherwise(CheckStatus),
    /// This LLVM cannot read the program, or knows no such pass or option.
    CannotTry,
}

impl TestStatus {
    /// The word in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            TestStatus::Reproduces => "reproduces",
            TestStatus::ReproducesNowhere => "reproduces-nowhere",
            TestStatus::NotExecutable => "not-executable",
            TestStatus::NotExpressible(_) => "not-expressible",
            TestStatus::Repeated => "repeated",
        }
    }
}

/// How a bug shows, in the data set's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BugType {
    /// The compiler crashes, or makes IR that the verifier rejects.
    Crash,
    /// The program changes its meaning.
    Miscompilation,
    /// The compiler does not end.
    Hang,
}

impl BugType {
    /// The word in the data set.
    pub fn name(self) -> &'static str {
        match self {
            BugType::Crash => "crash",
            BugType::Miscompilation => "miscompilation",
            BugType::Hang => "hang",
        }
    }
}

/// The installed LLVMs, and those that no worker can be made of.
#[derive(Clone, Debug)]
pub struct UsableLlvms {
    /// Their numbers, the oldest first.
    pub numbers: Vec<u32>,
    /// The others, with the reasons.
    pub left_out: Vec<(u32, String)>,
}

impl Seen {
    /// The word in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Seen::Fails(_) => CheckStatus::Reproduces.name(),
            Seen::Otherwise(status) => status.name(),
            Seen::CannotTry => "cannot-try",
        }
    }

    /// How it fails, if it does.
    pub fn kind(self) -> Option<CaseKind> {
        match self {
            Seen::Fails(kind) => Some(kind),
            Seen::Otherwise(_) | Seen::CannotTry => None,
        }
    }
}
