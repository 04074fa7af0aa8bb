//! Why a C program cannot be read or profiled, and names that nothing here has.

use std::path::PathBuf;

/// The oldest libclang that has everything that is asked of it.
pub const OLDEST: u32 = 17;

/// Why a C program cannot be read or profiled, or a name means nothing.
#[derive(Debug, thiserror::Error)]
pub enum MutateError {
    /// No library that can be loaded.
    #[error("cannot load `{}` as libclang", .path.display())]
    Unloadable { path: PathBuf, source: libloading::Error },
    /// It has not all the functions it should have.
    #[error("`{}` lacks what libclang has from {OLDEST} on", .path.display())]
    Incomplete {
        path: PathBuf,
        /// What is missing.
        source: libloading::Error,
    },
    /// A libclang before [`OLDEST`].
    #[error("`{}` is libclang {version}, and {OLDEST} or newer is needed", .path.display())]
    TooOld { path: PathBuf, version: String },
    /// It is not C, or not preprocessed.
    #[error(
        "not a C program: {line}:{column}: {message}; preprocess it (`clang -E -P`), and give the flags it needs (`-std=gnu89`)"
    )]
    NotC {
        /// From 1 on.
        line: u32,
        /// From 1 on.
        column: u32,
        /// What libclang says.
        message: String,
    },
    /// Nothing of what a macro stands for is in the text.
    #[error("not preprocessed: {line}:{column} is a macro; preprocess it (`clang -E -P`)")]
    Macro {
        /// From 1 on.
        line: u32,
        /// From 1 on.
        column: u32,
    },
    /// libclang speaks of another text.
    #[error(
        "libclang names a place that the text does not have; preprocess it anew (`clang -E -P`), and leave flags out"
    )]
    Misplaced,
    /// libclang gave up without a diagnostic.
    #[error("libclang cannot parse it with these flags and says nothing more; leave flags out")]
    GaveUp,
    /// Parsing needs a large stack of its own.
    #[error("cannot start a thread to parse in; is there memory left?")]
    NoThread(#[source] std::io::Error),
    /// A run that did not come to its end.
    #[error(
        "the program did not return from main or call exit, so its profile is incomplete; \
         take a program that ends normally, or allow more time"
    )]
    IncompleteProfile,
    /// A name that no rule has.
    #[error("there is no rule `{0}`; `optsleuth mutate --list` shows all of them")]
    NoSuchRule(String),
    /// A name that no strategy has.
    #[error("there is no strategy `{0}`; there are hermes, athena and orion")]
    NoSuchStrategy(String),
}
