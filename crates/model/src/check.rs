//! What came of checking whether a case fails as it says.

use crate::{CaseFolder, Definedness, Execution, OptLevel};

/// Whether a case fails as it says, over several repetitions.
#[derive(Clone, Debug)]
pub struct CheckReport {
    pub case: CaseFolder,
    /// `19.1.7`; the compiler's own version where that is a driver.
    pub llvm: String,
    /// The sequence, as LLVM got it; empty for a driver.
    pub passes: String,
    /// How the compiler is called, where that is a driver.
    pub driver: Option<DriverUse>,
    /// Whether it fails as it says.
    pub status: CheckStatus,
    /// Why, in a line.
    pub what: String,
    /// For wrong code: what the unoptimized program does, by each way.
    pub references: Vec<(&'static str, String)>,
    /// Something about the case that is not as it says.
    pub note: Option<String>,
    /// How many of the repetitions failed as the case does.
    pub n_failing: usize,
    pub n_repetitions: usize,
    /// The stack of a crash, innermost first.
    pub frames: Vec<String>,
    /// What the distribution's tools say, if they were asked.
    pub confirmation: Option<Confirmation>,
    /// For a case with a fault: what the unmodified compiler does.
    pub unmodified: Option<Unmodified>,
    /// Of wrong code: who was asked whether the program is defined.
    pub definedness: Definedness,
}

impl CheckReport {
    /// Which compiler it was: `LLVM 19.1.7`, `gcc 12.2.0`.
    pub fn compiler(&self) -> String {
        match &self.driver {
            Some(driver) => driver.compiler.clone(),
            None => format!("LLVM {}", self.llvm),
        }
    }

    /// What a person types in the case's folder to see it fail; nothing where the
    /// distribution's tools were not asked.
    pub fn commands(&self) -> &[String] {
        match (&self.driver, &self.confirmation) {
            (Some(driver), _) => &driver.commands,
            (None, Some(confirmation)) => &confirmation.commands,
            (None, None) => &[],
        }
    }
}

/// A compiler as its users call it, in a case's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverUse {
    /// `gcc 12.2.0`.
    pub compiler: String,
    pub level: OptLevel,
    /// Every command, in order.
    pub commands: Vec<String>,
}

/// What the unmodified compiler does with the run on which the faulty one
/// fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmodified {
    /// Whether nothing is wrong with it.
    pub passes: bool,
    pub what: String,
}

/// Whether a case fails as it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckStatus {
    /// It does, every time.
    Reproduces,
    /// Nothing fails.
    Passes,
    /// Something else fails.
    FailsOtherwise,
    /// It does, but not every time, or not in the same way.
    Flaky,
    /// What is right cannot be told: unoptimized programs disagree.
    Unstable,
    /// It does, but not because of its fault: the unmodified compiler fails,
    /// too.
    FailsUnmodified,
}

impl CheckStatus {
    /// The word in JSON.
    pub fn name(self) -> &'static str {
        match self {
            CheckStatus::Reproduces => "reproduces",
            CheckStatus::Passes => "passes",
            CheckStatus::FailsOtherwise => "fails-otherwise",
            CheckStatus::Flaky => "flaky",
            CheckStatus::Unstable => "unstable-reference",
            CheckStatus::FailsUnmodified => "fails-unmodified",
        }
    }
}

/// What the distribution's tools say to a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confirmation {
    /// Whether they came to the same.
    pub agrees: bool,
    /// What they came to, in words.
    pub theirs: String,
    /// What their program did, where there was one.
    pub execution: Option<Execution>,
    /// The commands, ready to be pasted where the input lies.
    pub commands: Vec<String>,
}
