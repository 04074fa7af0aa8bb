//! What a command ends with when its job could not be done: the error of the
//! crate in which the trouble is.

use optsleuth_bench::BenchError;
use optsleuth_case::{CaseError, errors_through};
use optsleuth_compiler::CompilerError;
use optsleuth_hunt::HuntError;
use optsleuth_project::ProjectError;
use optsleuth_triage::TriageError;

use crate::failing_command::CommandError;

/// Why a job could not be done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Case(CaseError),
    #[error(transparent)]
    Triage(TriageError),
    #[error(transparent)]
    Hunt(HuntError),
    #[error(transparent)]
    Bench(BenchError),
    #[error(transparent)]
    Project(ProjectError),
    /// A project without a judge.
    #[error("no compilation of this build crashed the compiler, and no check says what is wrong")]
    NoCheck,
    /// A command that is to be triaged and cannot be read.
    #[error(transparent)]
    Command(#[from] CommandError),
}

impl From<BenchError> for Failure {
    fn from(error: BenchError) -> Failure {
        match error {
            BenchError::Case(error) => Failure::Case(error),
            BenchError::Triage(error) => Failure::Triage(error),
            BenchError::Hunt(error) => Failure::Hunt(error),
            error => Failure::Bench(error),
        }
    }
}

impl From<HuntError> for Failure {
    fn from(error: HuntError) -> Failure {
        BenchError::from(error).into()
    }
}

impl From<TriageError> for Failure {
    fn from(error: TriageError) -> Failure {
        BenchError::from(error).into()
    }
}

impl From<ProjectError> for Failure {
    fn from(error: ProjectError) -> Failure {
        match error {
            ProjectError::Case(error) => Failure::Case(error),
            error => Failure::Project(error),
        }
    }
}

impl From<CaseError> for Failure {
    fn from(error: CaseError) -> Failure {
        Failure::Case(error)
    }
}

errors_through!(Failure::Case, CompilerError, std::io::Error);
