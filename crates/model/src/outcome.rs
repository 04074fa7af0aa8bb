//! What can come of a run. A closed set: trouble of the harness itself is an
//! error of the function that ran it, never an outcome.

use crate::{Invocation, Signature};

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// LLVM ran the passes without complaint, and the result is valid IR. With the program's own
    /// end, if it was executed.
    Ok(Option<Execution>),
    /// LLVM ended before its work was done.
    Crash(Box<Crash>),
    /// The verifier rejects what the passes made.
    InvalidIr {
        /// The invocation after which it was noticed; known only if the IR was
        /// verified after every pass.
        invocation: Option<Invocation>,
        /// What the verifier says.
        message: String,
    },
    /// LLVM used up its time.
    Timeout {
        /// The invocation that was running then.
        invocation: Option<Invocation>,
    },
    /// LLVM used up its memory.
    OutOfMemory {
        /// The invocation that was running then.
        invocation: Option<Invocation>,
    },
    /// The code generator refused the module.
    CodegenFailure { message: String },
}

impl Outcome {
    /// One word per variant, stable: scripts depend on it.
    pub fn kind(&self) -> &'static str {
        match self {
            Outcome::Ok(_) => "ok",
            Outcome::Crash(_) => "crash",
            Outcome::InvalidIr { .. } => "invalid-ir",
            Outcome::Timeout { .. } => "timeout",
            Outcome::OutOfMemory { .. } => "out-of-memory",
            Outcome::CodegenFailure { .. } => "codegen-failure",
        }
    }

    /// The program's end, where there was one.
    pub fn execution(&self) -> Option<&Execution> {
        match self {
            Outcome::Ok(execution) => execution.as_ref(),
            Outcome::Crash(_)
            | Outcome::InvalidIr { .. }
            | Outcome::Timeout { .. }
            | Outcome::OutOfMemory { .. }
            | Outcome::CodegenFailure { .. } => None,
        }
    }

    /// Whether two runs came to the same: for crashes by signature, for
    /// executed programs by output and end.
    pub fn agrees_with(&self, other: &Outcome) -> bool {
        match (self, other) {
            (Outcome::Crash(a), Outcome::Crash(b)) => a.signature == b.signature,
            (Outcome::Ok(a), Outcome::Ok(b)) => a == b,
            (a, b) => a.kind() == b.kind(),
        }
    }
}

/// How LLVM ended before its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crash {
    /// Two crashes of one cause have one signature.
    pub signature: Signature,
    pub cause: CrashCause,
    /// The assertion or error text, where there is one.
    pub message: Option<String>,
    /// Function names, innermost first, without the harness's own.
    pub frames: Vec<String>,
    pub stage: Stage,
    /// The invocation it was in, if any.
    pub invocation: Option<Invocation>,
}

/// What ended LLVM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrashCause {
    /// A signal such as SIGSEGV.
    Signal(i32),
    /// The stack was used up.
    StackOverflow,
    Assertion,
    /// A fatal error that asks for a bug report.
    FatalError,
    /// An error after which `opt` ends with status 1: not a crash in its own
    /// eyes, and often the fault of the input or the options.
    ErrorExit,
}

/// What LLVM was doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Before anything else.
    Start,
    /// Applying options.
    Options,
    /// Reading the module.
    Parse,
    /// Running passes.
    Pipeline,
    /// Verifying the result.
    Verify,
    /// Printing the result.
    Emit,
    /// Generating code.
    Codegen,
    /// All of it: a compiler that was started as a command does not tell.
    Compile,
}

impl Stage {
    /// The stage in words, as in "while ...".
    pub fn doing(self) -> &'static str {
        match self {
            Stage::Start => "starting",
            Stage::Options => "applying options",
            Stage::Parse => "reading the module",
            Stage::Pipeline => "running passes",
            Stage::Verify => "verifying the result",
            Stage::Emit => "printing the result",
            Stage::Codegen => "generating code",
            Stage::Compile => "compiling",
        }
    }
}

/// An executed program's output and end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    pub end: ProgramEnd,
    /// What it wrote to standard output, up to the limit.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error, up to the limit.
    pub stderr: Vec<u8>,
}

/// How an executed program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramEnd {
    /// By itself, with this status.
    Exited(i32),
    /// By this signal.
    Signaled(i32),
    /// It used up its time.
    Timeout,
    /// It used up its memory.
    OutOfMemory,
    /// It wrote more than it may.
    OutputLimit,
    /// It started more threads than it may.
    ThreadLimit,
}

/// `SIGSEGV` for 11, and so on; `signal 64` for one without a name.
pub fn signal_name(signal: i32) -> String {
    const NAMES: [&str; 31] = [
        "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
        "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG",
        "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
    ];
    let index = usize::try_from(signal).ok().and_then(|n| n.checked_sub(1));
    match index.and_then(|n| NAMES.get(n)) {
        Some(name) => format!("SIG{name}"),
        None => format!("signal {signal}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_have_their_names() {
        assert_eq!(signal_name(6), "SIGABRT");
        assert_eq!(signal_name(11), "SIGSEGV");
        assert_eq!(signal_name(31), "SIGSYS");
        assert_eq!(signal_name(0), "signal 0");
        assert_eq!(signal_name(64), "signal 64");
    }
}
