//! How a compiler ended and what it said -> what that means.
//!
//! What gcc prints is described in its `diagnostic.cc` and `gcc.cc`, what clang
//! prints in LLVM's `ErrorHandling.cpp` and `Signals.inc`, and clang's
//! `Driver.cpp`.
//!
//! **Invariant:** pure. Only what a compiler itself did is a crash: not what
//! the assembler or the linker did, not what our limits did, and not what
//! another process killed.

use std::time::Duration;

use optsleuth_model::{Crash, CrashCause, Signature, Stage, signal_name};

use super::{Compiled, Family, backtrace};
use crate::diagnostics::first_error;
use crate::spawn::{ToolEnd, ToolOutput};

const SIGHUP: i32 = 1;
const SIGINT: i32 = 2;
const SIGKILL: i32 = 9;
const SIGTERM: i32 = 15;
const SIGXCPU: i32 = 24;
/// What a shell and clang's driver add to the number of a signal.
const BY_SIGNAL: i32 = 128;

/// Signals by the C library's words for them.
const SIGNALS: [(&str, i32); 11] = [
    ("Hangup", SIGHUP),
    ("Interrupt", SIGINT),
    ("Illegal instruction", 4),
    ("Trace/breakpoint trap", 5),
    ("Aborted", 6),
    ("Bus error", 7),
    ("Floating point exception", 8),
    ("Killed", SIGKILL),
    ("Segmentation fault", 11),
    ("Terminated", SIGTERM),
    ("CPU time limit exceeded", SIGXCPU),
];

/// What a compiler says when it gets no more memory.
const NO_MEMORY: [&str; 5] = [
    "virtual memory exhausted",
    "out of memory",
    "Cannot allocate memory",
    "std::bad_alloc",
    "memory exhausted",
];

/// What a compiler says when it cannot write what it made.
const NO_ROOM: [&str; 3] =
    ["No space left on device", "IO failure on output stream", "Disk quota exceeded"];

/// What became of a compilation. An error says how it was disturbed. `cpu` is
/// the limit.
pub(super) fn judge(family: Family, ended: &ToolOutput, cpu: Duration) -> Result<Compiled, String> {
    let said = String::from_utf8_lossy(&ended.stderr);
    let signal = match ended.end {
        ToolEnd::Exited(0) => return Ok(Compiled::Program),
        // Compilers wait for nothing but their own processes.
        ToolEnd::Timeout => return Ok(Compiled::Hang),
        ToolEnd::Signaled(signal) => Some(signal),
        ToolEnd::Exited(status) => by_signal(family, &said, status),
    };
    if not_the_compiler(&said) {
        return Ok(Compiled::Refused(first_error(&said)));
    }
    match signal {
        Some(SIGXCPU) => return Ok(Compiled::Hang),
        Some(SIGKILL) if ended.wall >= cpu => return Ok(Compiled::Hang),
        Some(SIGKILL | SIGHUP | SIGINT | SIGTERM) => {
            return Err("was killed from outside".to_owned());
        }
        Some(_) | None => {}
    }
    // A line with a string is the program's: older clangs do not indent those.
    let own = || lines(&said).filter(|line| !line.contains('"'));
    let says = |words: &[&str]| own().find(|line| words.iter().any(|words| line.contains(words)));
    if let Some(line) = says(&NO_ROOM) {
        return Err(format!("cannot write: {line}"));
    }
    if says(&NO_MEMORY).is_some() {
        return Ok(Compiled::Memory);
    }
    let crash = match family {
        Family::Clang => clang_crash(&said, signal),
        Family::Gcc => gcc_crash(&said, signal),
    };
    Ok(match crash {
        Some(crash) => Compiled::Crash(Box::new(crash)),
        None => Compiled::Refused(first_error(&said)),
    })
}

/// Without what is quoted of the program: that is indented.
fn lines(said: &str) -> impl Iterator<Item = &str> {
    said.lines().filter(|line| !line.starts_with(' '))
}

/// The linker or the assembler failed, in whatever way.
fn not_the_compiler(said: &str) -> bool {
    lines(said).any(|line| {
        line.contains("linker command failed")
            || line.contains("assembler command failed")
            || line.starts_with("collect2: ")
            || line.contains("signal terminated program as")
            || line.contains("signal terminated program collect2")
    })
}

/// The signal that ended the compiler behind its driver.
fn by_signal(family: Family, said: &str, status: i32) -> Option<i32> {
    let told = lines(said).find_map(|line| match family {
        Family::Clang => line.split_once("unable to execute command: ").map(|(_, words)| words),
        Family::Gcc => {
            let (before, _) = line.split_once(" signal terminated program ")?;
            before.rsplit(": ").next()
        }
    });
    let known = |words: &str| {
        SIGNALS.iter().find(|(known, _)| words.starts_with(known)).map(|&(_, signal)| signal)
    };
    told.and_then(known).or_else(|| {
        // Where clang's front end and driver are one process.
        let signal = status - BY_SIGNAL;
        (family == Family::Clang && SIGNALS.iter().any(|&(_, known)| known == signal))
            .then_some(signal)
    })
}

/// By what the workers of LLVM say in the same place, so that one bug has one
/// signature.
fn clang_crash(said: &str, signal: Option<i32>) -> Option<Crash> {
    let frames = backtrace::of_clang(said);
    let after = |mark: &str| {
        lines(said).find_map(|line| line.split_once(mark)).map(|(_, rest)| rest.to_owned())
    };
    let assertion = || lines(said).find(|line| line.contains(": Assertion `")).map(assertion);
    let unreachable = || lines(said).find(|line| line.contains("UNREACHABLE executed"));
    let fatal = || after("error in backend: ").or_else(|| after("LLVM ERROR: "));
    let (cause, message) = if let Some(text) = assertion() {
        (CrashCause::Assertion, Some(text))
    } else if let Some(text) = unreachable() {
        (CrashCause::Signal(signal.unwrap_or_default()), Some(text.to_owned()))
    } else if let Some(text) = fatal() {
        (CrashCause::FatalError, Some(text))
    } else if let Some(signal) = signal {
        (CrashCause::Signal(signal), None)
    } else if said.contains("Stack dump:") || said.contains("frontend command failed") {
        (CrashCause::ErrorExit, Some(first_error(said)))
    } else {
        return None;
    };
    let signature = match (&message, signal) {
        (Some(text), _) => Signature::of_text(text),
        (None, signal) => Signature::of_frames(&signal_name(signal.unwrap_or_default()), &frames),
    };
    Some(crash(signature, cause, message, frames))
}

/// `clang: File.cpp:12: void f(): Assertion `x' failed.` -> as workers have it.
fn assertion(line: &str) -> String {
    let Some((place, text)) = line.split_once(": Assertion `") else { return line.to_owned() };
    let condition = text.strip_suffix("' failed.").unwrap_or(text);
    match place.splitn(4, ':').nth(3) {
        Some(function) => format!("Assertion `{condition}' failed in {}", function.trim()),
        None => format!("Assertion `{condition}' failed"),
    }
}

/// gcc names the function and file of a failed check, but not what it checked;
/// so the pass and the complaint of a verifier are part of the signature.
fn gcc_crash(said: &str, signal: Option<i32>) -> Option<Crash> {
    const MARK: &str = "internal compiler error: ";
    let (before, after) = said.split_once(MARK)?;
    let what = after.lines().next().unwrap_or_default();
    let frames = backtrace::of_gcc(after);
    let told = SIGNALS.iter().find(|(words, _)| what.starts_with(words)).map(|&(_, told)| told);
    let (cause, mut text) = match signal.or(told) {
        Some(signal) => {
            let signature = Signature::of_frames(&signal_name(signal), &frames);
            (CrashCause::Signal(signal), signature.to_string())
        }
        None => {
            let complaint = lines(before).find_map(|line| line.split_once("error: "));
            let complaint = complaint.map(|(_, text)| format!(": {text}")).unwrap_or_default();
            (CrashCause::Assertion, format!("{what}{complaint}"))
        }
    };
    let during = before.lines().rev().find(|line| line.starts_with("during "));
    if let Some(pass) = during {
        text = format!("{text}, {pass}");
    }
    let message = Some(what.to_owned());
    Some(crash(Signature::of_text(&text), cause, message, frames))
}

fn crash(
    signature: Signature,
    cause: CrashCause,
    message: Option<String>,
    frames: Vec<String>,
) -> Crash {
    Crash { signature, cause, message, frames, stage: Stage::Compile, invocation: None }
}

#[cfg(test)]
mod tests;
