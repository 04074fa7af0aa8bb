//! A case and where it lies. Reading and writing it is the business of the crate
//! `case`.

use std::path::PathBuf;

use crate::Case;

/// A case and where it lies.
#[derive(Clone, Debug)]
pub struct CaseFolder {
    pub folder: PathBuf,
    /// What `case.toml` says.
    pub case: Case,
    /// Whose word its paths and flags are.
    pub trust: Trust,
}

/// Whether what a case says about programs and files of this machine is followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// The case is data: one that names paths, or flags that could run something,
    /// is refused.
    #[default]
    Data,
    /// This very command wrote it, with the user's own paths and flags.
    Written,
    /// The user trusts whoever wrote it: a script that judges programs runs as any
    /// other of the user's.
    Author,
}

/// What jobs keep in a case's folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptKind {
    /// `localize/<method>.json`.
    Localization,
    /// `bisect.json`.
    Bisection,
    /// `reduce.json`.
    Reduction,
    /// `definedness.json`.
    Definedness,
}

impl KeptKind {
    pub fn noun(self) -> &'static str {
        match self {
            KeptKind::Localization => "localization",
            KeptKind::Bisection => "bisection",
            KeptKind::Reduction => "reduction",
            KeptKind::Definedness => "answer about definedness",
        }
    }

    pub fn command(self) -> &'static str {
        match self {
            KeptKind::Localization => "optsleuth localize",
            KeptKind::Bisection => "optsleuth bisect",
            KeptKind::Reduction => "optsleuth reduce",
            KeptKind::Definedness => "optsleuth triage",
        }
    }
}

impl CaseFolder {
    /// The path of the case's program.
    pub fn input(&self) -> PathBuf {
        self.folder.join(&self.case.input)
    }
}
