//! Why a run has no outcome: trouble of the harness, or of the request.
//!
//! **Invariant:** what LLVM itself does wrong is never in here; that is an
//! [`optsleuth_model::Outcome`].

use std::io;

use optsleuth_model::RegistryError;

use super::protocol::wire::MAX_TRANSFER;
use crate::spawn::ToolError;

/// Why a run has no outcome.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// LLVM does not take these options.
    #[error("LLVM does not accept these options: {0}")]
    BadOptions(String),
    /// The module cannot be read, or is not valid.
    #[error("cannot load `{name}`: {message}")]
    BadModule {
        /// The module's name.
        name: String,
        /// What LLVM says.
        message: String,
    },
    /// The module is for a target whose code generator the worker lacks.
    #[error("cannot load `{name}`: {message}")]
    ForeignTarget {
        /// The module's name.
        name: String,
        /// What the worker says.
        message: String,
    },
    /// A C program is none. Its own fault, neither the harness's nor LLVM's.
    #[error("the program does not compile: {0}")]
    DoesNotCompile(String),
    /// clang could not be started on a C program.
    #[error("cannot compile C; is clang still installed?")]
    NoClang(#[source] ToolError),
    /// LLVM does not take this pipeline.
    #[error("LLVM does not accept this pipeline: {0}")]
    BadPipeline(String),
    /// The edit changes nothing, or makes no valid program.
    #[error("the program cannot be edited like this: {0}")]
    BadEdit(String),
    /// The program cannot be linked, whatever passes run.
    #[error("the program does not link, even unoptimized")]
    DoesNotLink(#[source] ToolError),
    /// LLVM fails on the program before any pass runs.
    #[error("the program has no shape: reading it ends in `{0}`")]
    NoShape(&'static str),
    /// Programs cannot be fenced in on this kernel.
    #[error("this kernel has no seccomp filters, so programs cannot be executed safely")]
    NoSandbox,
    /// Coverage was asked of a plain worker.
    #[error("this worker was not built for coverage")]
    NotInstrumented,
    /// The module or the request is too large for the shared memory.
    #[error("{bytes} bytes are too many for a worker: at most {MAX_TRANSFER} fit")]
    TooLarge {
        /// How many there are.
        bytes: usize,
    },
    /// The worker was lost and replaced, again and again.
    #[error("the worker was lost {attempts} times in a row on the same run ({how})")]
    Lost {
        /// How often it was tried.
        attempts: u32,
        /// How it was lost the last time.
        how: &'static str,
    },
    /// The worker speaks another protocol.
    #[error("the worker does not answer as it should: {0}")]
    Protocol(String),
    /// Something failed inside the worker's own code.
    #[error("the worker failed: {0}")]
    Trouble(String),
    /// LLVM's list of passes cannot be read.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// A file, a socket or a process could not be had.
    #[error("cannot {doing}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// Why it failed.
        source: io::Error,
    },
}
