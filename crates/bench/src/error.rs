//! Why something cannot be measured, planted, compared or imported.

use std::path::PathBuf;

use optsleuth_case::{CaseError, case_errors_through};
use optsleuth_hunt::HuntError;
use optsleuth_project::ProjectError;
use optsleuth_triage::TriageError;

/// Why something cannot be measured, planted, compared or imported.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// Something is wrong with a case, a compiler or the machine.
    #[error(transparent)]
    Case(CaseError),
    /// A method cannot be used.
    #[error(transparent)]
    Triage(TriageError),
    /// A hunt cannot begin, or cannot go on.
    #[error(transparent)]
    Hunt(HuntError),
    /// A project cannot be built or judged.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// Nothing to measure.
    #[error("there are no cases in {}", list(.0))]
    NoCases(Vec<PathBuf>),
    /// Two cases that a table could not tell apart.
    #[error("two cases are called `{0}`")]
    SameName(String),
    /// A case without a known culprit.
    #[error("the case does not say who the culprit is")]
    NoTruth,
    /// A triage that ended without a ranking.
    #[error("triage ranked nothing: {0}")]
    NotRanked(String),
    /// Not a measurement of this version of OptSleuth.
    #[error("`{}` is not a measurement that can be read here: {why}", .path.display())]
    ForeignMeasurement { path: PathBuf, why: String },
    /// A measurement of another text of the case, or with other limits.
    #[error("`{}` was measured before the case or the limits changed", .0.display())]
    OtherSetup(PathBuf),
    /// A measurement with another budget: it cannot stand in one table with new
    /// ones.
    #[error("`{}` was measured with another budget: {theirs} instead of {ours}", .path.display())]
    OtherBudget { path: PathBuf, theirs: String, ours: String },
    /// A folder with the results of other arguments.
    #[error("`{}` holds what was made with other arguments: {why}", .folder.display())]
    OtherArguments { folder: PathBuf, why: String },
    /// A file to import is not of its data set's form.
    #[error("{}:{line}: {message}", .path.display())]
    NotImportable {
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong, in words.
        message: String,
    },
    /// A name that no method has.
    #[error("unknown method `{name}`; there are {known}")]
    UnknownMethod {
        name: String,
        /// The names that there are.
        known: String,
    },
    /// A file to import cannot be read; the error names it.
    #[error(transparent)]
    Unreadable(std::io::Error),
}

impl From<HuntError> for BenchError {
    fn from(error: HuntError) -> BenchError {
        match error {
            HuntError::Case(error) => BenchError::Case(error),
            HuntError::Triage(error) => BenchError::Triage(error),
            error => BenchError::Hunt(error),
        }
    }
}

impl From<TriageError> for BenchError {
    fn from(error: TriageError) -> BenchError {
        HuntError::from(error).into()
    }
}

impl From<CaseError> for BenchError {
    fn from(error: CaseError) -> BenchError {
        BenchError::Case(error)
    }
}

case_errors_through!(BenchError::Case);

/// Paths for a sentence.
fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| format!("`{}`", path.display())).collect::<Vec<_>>().join(", ")
}
