//! Why something could not be done with a case. Failures of the compiler under
//! test are results, never errors. What to do about an error is said by the
//! command line.

use std::io;
use std::path::PathBuf;

pub use optsleuth_compiler::clang::ProgramError;
pub use optsleuth_compiler::distribution::DistributionError;
pub use optsleuth_compiler::driver::DriverError;
use optsleuth_compiler::llvm::CoverError;
pub use optsleuth_compiler::llvm::{InstallError, ProvisionError, RunError};
pub use optsleuth_compiler::spawn::ToolError;
pub use optsleuth_model::PassesError;
use optsleuth_model::{CASE_FILE, CaseTextError, CheckStatus, KeptKind, PassSequenceError};

/// Why something could not be done with a case.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// No such LLVM.
    #[error(transparent)]
    Install(#[from] InstallError),
    /// No such gcc or clang.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// No worker.
    #[error(transparent)]
    Provision(#[from] ProvisionError),
    /// No such program, or it does not compile.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// Not a pass sequence.
    #[error("`{text}` is not a pass sequence: {source}")]
    Syntax {
        /// What was given.
        text: String,
        /// What is wrong with it.
        source: PassSequenceError,
    },
    /// Not a pass sequence of this LLVM.
    #[error(transparent)]
    Passes(#[from] PassesError),
    /// The folder has no `case.toml`.
    #[error("`{}` is not a case: it has no {CASE_FILE}", .0.display())]
    NoCase(PathBuf),
    /// `case.toml` is wrong.
    #[error("{}:{}: {}", .path.display(), .source.line, .source)]
    CaseText {
        path: PathBuf,
        /// Where and what.
        source: CaseTextError,
    },
    /// The case's program is not in its folder.
    #[error("the case's input `{}` does not exist", .0.display())]
    NoInput(PathBuf),
    /// A kept result is of another version.
    #[error("`{}` is not a {} that can be read here: {why}", .path.display(), .kind.noun())]
    Stale {
        /// What it should be.
        kind: KeptKind,
        path: PathBuf,
        why: String,
    },
    /// The case has neither a localization nor a bisection.
    #[error("nothing was localized or bisected in `{}` yet", .0.display())]
    NotLocalized(PathBuf),
    /// A case of a driver, where only an LLVM that can be looked into will do.
    #[error("the case is about {0} as its users call it, and nothing can be seen inside of that")]
    DriverCase(String),
    /// A case would overwrite something.
    #[error("`{}` is there already", .0.display())]
    Exists(PathBuf),
    /// A case would overwrite something that is not a case.
    #[error("`{}` is there already, and is not a case", .0.display())]
    NotACase(PathBuf),
    /// A fault that was made for another LLVM.
    #[error("the case's fault is one of LLVM {own}, and cannot be made in LLVM {asked}")]
    OtherLlvm {
        /// The case's.
        own: String,
        /// The one that was asked for.
        asked: String,
    },
    /// A case that does not fail as it says.
    #[error("the case does not fail as it says: {what}")]
    NotReproduced {
        /// What it does instead.
        status: CheckStatus,
        what: String,
    },
    /// The program cannot be executed unoptimized.
    #[error("the program cannot be executed without passes ({way}): {what}")]
    NoReference {
        /// How it was tried.
        way: &'static str,
        /// What happened.
        what: String,
    },
    /// A window that the run never came to.
    #[error(
        "invocation {first} was not executed: there were {n_invocations}, from 0 on, and skipped ones do not count"
    )]
    NoSuchInvocation {
        /// Where the window starts.
        first: u32,
        /// How many there were.
        n_invocations: u32,
    },
    /// Debug information cannot be read.
    #[error(transparent)]
    Lines(CoverError),
    /// There is no debug information.
    #[error("the archives of this LLVM carry no debug information, so blocks have no lines")]
    NoLines,
    /// The worker failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The distribution's tools cannot be asked.
    #[error(transparent)]
    Distribution(#[from] DistributionError),
    /// Another tool failed.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// A file of a case cannot be read; the error names it.
    #[error(transparent)]
    Unreadable(io::Error),
    /// A file cannot be read or written; the error names it.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Lets `?` take errors of lower crates into the error of a higher one, through
/// the variant that holds them.
#[macro_export]
macro_rules! errors_through {
    ($outer:ident :: $variant:ident, $($inner:ty),+ $(,)?) => {
        $(impl From<$inner> for $outer {
            fn from(error: $inner) -> Self {
                Self::$variant(error.into())
            }
        })+
    };
}

/// The same for every error that a [`CaseError`] is made of.
#[macro_export]
macro_rules! case_errors_through {
    ($outer:ident :: $variant:ident) => {
        $crate::errors_through!(
            $outer::$variant,
            $crate::error::DistributionError,
            $crate::error::DriverError,
            $crate::error::InstallError,
            $crate::error::PassesError,
            $crate::error::ProgramError,
            $crate::error::ProvisionError,
            $crate::error::RunError,
            $crate::error::ToolError,
            std::io::Error,
        );
    };
}
