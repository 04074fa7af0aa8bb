//! Why a project could not be recorded or searched.

use std::path::PathBuf;

use optsleuth_case::CaseError;
use optsleuth_compiler::CompilerError;

/// Why a project could not be recorded or searched.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// A compiler, a linker or the machine failed.
    #[error(transparent)]
    Compiler(#[from] CompilerError),
    /// A worker could not be made or used.
    #[error(transparent)]
    Case(#[from] CaseError),
    /// A file could not be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A folder that holds no recorded build.
    #[error("{path} is no recorded build")]
    NoProject { path: PathBuf },
    /// A recorded build that cannot be read.
    #[error("{path} cannot be read: {why}")]
    Unreadable { path: PathBuf, why: String },
    /// A folder that is there already.
    #[error("{0} exists already")]
    Exists(PathBuf),
    /// A compiler that is not installed.
    #[error("there is no {0} here")]
    NoCompiler(String),
    /// A build that compiled nothing through our compilers.
    #[error("no compilation was recorded whose object is still there")]
    NothingRecorded,
    /// The check does not pass where nothing is optimized.
    #[error("the check fails without any optimization, too ({0})")]
    FailsUnoptimized(String),
    /// The check passes as the project was built.
    #[error("nothing fails: the check passes as the project was built")]
    NothingFails,
    /// Objects that do not go together.
    #[error("what was put together does not link: {0}")]
    DoesNotLink(Box<CompilerError>),
    /// Ctrl-C, before anything was found.
    #[error("interrupted")]
    Interrupted,
    /// The same objects pass once and fail another time.
    #[error("the check is not stable: {0}")]
    Unstable(String),
}
