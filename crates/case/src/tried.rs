//! A C file and a compiler as its users call it -> what came of it.
//!
//! **Invariant:** a program is executed behind a worker's fence only, whoever
//! compiled it.

use std::path::Path;

use optsleuth_compiler::driver::{Compiled, Driver};
use optsleuth_compiler::llvm::Worker;
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{Execution, Limits, OptLevel, Outcome};

use crate::CaseError;
use crate::oracle::{Oracle, Verdict};

/// What came of a program that a driver was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tried {
    /// What the compiler did, and what the program did if there is one.
    Ran(Outcome),
    /// The compiler does not take it, and says why.
    Refused(String),
}

impl Tried {
    /// What it means for a case.
    pub fn verdict(&self, oracle: &Oracle) -> Verdict {
        match self {
            Tried::Ran(outcome) => oracle.judge(outcome),
            Tried::Refused(_) => Verdict::Other,
        }
    }

    /// In a line.
    pub fn describe(&self, oracle: &Oracle) -> String {
        match self {
            Tried::Ran(Outcome::Ok(None)) => {
                "the compiler compiles it without complaint".to_owned()
            }
            Tried::Ran(Outcome::Timeout { .. }) => "the compiler does not end".to_owned(),
            Tried::Ran(Outcome::OutOfMemory { .. }) => "the compiler uses up its memory".to_owned(),
            Tried::Ran(outcome) => oracle.describe(outcome),
            Tried::Refused(why) => format!("the compiler does not take the program: {why}"),
        }
    }
}

/// Compiles a C file with a driver and executes the program behind the worker's
/// fence. `flags` are for the compiler.
pub fn try_level(
    driver: &Driver,
    source: &Path,
    level: OptLevel,
    flags: &[String],
    worker: &mut Worker,
    limits: Limits,
) -> Result<Tried, CaseError> {
    let mut flags = [flags, &worker.surroundings().link_words()].concat();
    // What judges the object links it.
    if worker.surroundings().leave_unlinked() {
        flags.push("-c".to_owned());
    }
    tried(driver, source, level, &flags, limits, |program| {
        Ok(Some(worker.execute(program, limits)?))
    })
}

pub(crate) fn tried(
    driver: &Driver,
    source: &Path,
    level: OptLevel,
    flags: &[String],
    limits: Limits,
    execute: impl FnOnce(&Path) -> Result<Option<Execution>, CaseError>,
) -> Result<Tried, CaseError> {
    let folder = Workdir::new()?;
    let program = folder.file("program");
    Ok(match driver.compile(source, level, flags, &program, limits)? {
        Compiled::Program => Tried::Ran(Outcome::Ok(execute(&program)?)),
        Compiled::Crash(crash) => Tried::Ran(Outcome::Crash(crash)),
        Compiled::Hang => Tried::Ran(Outcome::Timeout { invocation: None }),
        Compiled::Memory => Tried::Ran(Outcome::OutOfMemory { invocation: None }),
        Compiled::Refused(why) => Tried::Refused(why),
    })
}
