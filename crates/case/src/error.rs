//! Why something could not be done with a case. Failures of the compiler under
//! test are results, never errors. What to do about an error is said by the
//! command line.

use std::io;
use std::path::PathBuf;

use optsleuth_compiler::CompilerError;
use optsleuth_model::{CASE_FILE, CheckStatus, KeptKind, ModelError};

/// Why something could not be done with a case.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// A compiler, a worker or a tool cannot be used, or the program is none.
    #[error(transparent)]
    Compiler(#[from] CompilerError),
    /// Not a pass sequence.
    #[error("`{text}` is not a pass sequence: {source}")]
    Syntax {
        /// What was given.
        text: String,
        /// What is wrong with it.
        source: Box<ModelError>,
    },
    /// Not a pass sequence of this LLVM.
    #[error(transparent)]
    Passes(#[from] ModelError),
    /// The folder has no `case.toml`.
    #[error("`{}` is not a case: it has no {CASE_FILE}", .0.display())]
    NoCase(PathBuf),
    /// `case.toml` is wrong.
    #[error("{}:{source}", .path.display())]
    CaseText {
        path: PathBuf,
        /// Where and what.
        source: Box<ModelError>,
    },
    /// The case's program is not in its folder.
    #[error("the case's input `{}` does not exist", .0.display())]
    NoInput(PathBuf),
    /// The case is more than data, and was not said to be trusted.
    #[error(
        "`{}` could run programs or reach files of its author's choice: {}", .path.display(), .what.join(", ")
    )]
    Untrusted {
        path: PathBuf,
        /// What in it, in its own words.
        what: Vec<String>,
    },
    /// Something in the folder of a case or a campaign is no part of it.
    #[error("`{}` is {what}", .path.display())]
    LeadsOut {
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
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
    #[error("the case is about {0} as its users call it, and OptSleuth cannot look inside that")]
    DriverCase(String),
    /// A case would overwrite something.
    #[error("`{}` exists already", .0.display())]
    Exists(PathBuf),
    /// A case would overwrite something that is not a case.
    #[error("`{}` exists already, and is not a case", .0.display())]
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
    /// LLVM failed before the referee's turn.
    #[error("the program cannot be interpreted: compiling it ends in `{0}`")]
    NotInterpreted(&'static str),
    /// The program cannot be executed unoptimized.
    #[error("the program cannot be executed without passes ({way}): {what}")]
    NoReference {
        /// How it was tried.
        way: &'static str,
        /// What happened.
        what: String,
        /// Whether it came to an end by itself, if there is a program at all.
        ends: bool,
    },
    /// The unoptimized program is not as the user expects it.
    #[error("the unoptimized program is wrong already, so no pass is to blame: {0}")]
    Unexpected(String),
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
    /// There is no debug information.
    #[error("the archives of this LLVM carry no debug information, so blocks have no lines")]
    NoLines,
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
            optsleuth_compiler::CompilerError,
            optsleuth_model::ModelError,
            std::io::Error,
        );
    };
}
