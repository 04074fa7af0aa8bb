//! Exit codes. Scripts depend on these numbers; docs/exit-codes.md repeats
//! them, and a test compares the two.

use std::process::ExitCode;

use optsleuth_model::{Outcome, ProgramEnd};

/// How `optsleuth` ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// The command succeeded, and nothing is wrong with the compiler.
    Clean = 0,
    /// The command line or an input is wrong.
    Usage = 1,
    /// The compiler failed: crash, invalid IR, timeout, memory, code generator.
    BugFound = 2,
    /// Repeated runs differ, or the distribution's tools disagree.
    Unstable = 3,
    /// Something is not installed.
    Missing = 4,
    /// The compiler compiled the program without complaint, but a limit stopped
    /// the executed program or a signal ended it.
    ProgramStopped = 5,
    /// A case does not fail as it says.
    NotReproduced = 6,
    /// A search ended without a witness.
    NoWitness = 7,
    /// Trouble of our own.
    Internal = 70,
    /// Ctrl-C.
    Interrupted = 130,
}

impl Exit {
    /// What the end of one run means.
    pub(crate) fn of_outcome(outcome: &Outcome) -> Exit {
        match outcome {
            Outcome::Ok(None) => Exit::Clean,
            Outcome::Ok(Some(execution)) => match execution.end {
                ProgramEnd::Exited(_) => Exit::Clean,
                ProgramEnd::Signaled(_)
                | ProgramEnd::Timeout
                | ProgramEnd::OutOfMemory
                | ProgramEnd::OutputLimit
                | ProgramEnd::ThreadLimit => Exit::ProgramStopped,
            },
            Outcome::Crash(_)
            | Outcome::InvalidIr { .. }
            | Outcome::Timeout { .. }
            | Outcome::OutOfMemory { .. }
            | Outcome::CodegenFailure { .. } => Exit::BugFound,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manual_lists_every_code() {
        let manual = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/exit-codes.md");
        let manual = std::fs::read_to_string(manual).unwrap();
        let all = [
            Exit::Clean,
            Exit::Usage,
            Exit::BugFound,
            Exit::Unstable,
            Exit::Missing,
            Exit::ProgramStopped,
            Exit::NotReproduced,
            Exit::NoWitness,
            Exit::Internal,
            Exit::Interrupted,
        ];
        for exit in all {
            let row = format!("| {} | `{exit:?}` |", exit as u8);
            assert!(manual.contains(&row), "docs/exit-codes.md has no row `{row}`");
        }
        let rows = manual.lines().filter(|line| line.starts_with("| ") && line.contains(" | `"));
        assert_eq!(rows.count(), all.len());
    }
}
