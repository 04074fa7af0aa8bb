//! The compilation that ended a build: did the compiler crash on it?
//!
//! **Invariant:** a compilation that fails because its source is wrong, as many do while
//! a project is configured, is no crash.

use std::path::{Path, PathBuf};

use optsleuth_compiler::driver::{Compiled, Driver};
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::Limits;

use crate::ProjectError;
use crate::command::{Command, Work, without_inputs};
use crate::faulty::optimizing;
use crate::project::{FAILED, read_commands};

/// Of a build that tried many things in vain, the last ones are looked at.
const LOOKED_AT: usize = 50;

/// A command on which the compiler crashes, or does not end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrashedCommand {
    /// Where it was started.
    pub dir: PathBuf,
    /// The compiler, its flags, the source.
    pub words: Vec<String>,
}

/// The last compilation of a recorded build on which the compiler crashes. Each is
/// repeated where the build started it.
pub fn find_crashed(folder: &Path) -> Result<Option<CrashedCommand>, ProjectError> {
    let failed = read_commands(&folder.join(FAILED))?;
    for command in failed.into_iter().rev().take(LOOKED_AT) {
        if crashes(&command)? {
            let Command { dir, program, args, .. } = command;
            // The name says which compiler it is, and `cc` does not.
            let program = fs_err::canonicalize(program)?.display().to_string();
            return Ok(Some(CrashedCommand { dir, words: [vec![program], args].concat() }));
        }
    }
    Ok(None)
}

fn crashes(command: &Command) -> Result<bool, ProjectError> {
    let Command { dir, program, args, work } = command;
    let Work::Compile { source, .. } = work else { return Ok(false) };
    if !source.is_file() || !dir.is_dir() {
        return Ok(false);
    }
    let driver = Driver::find(&program.display().to_string())?;
    // Given once more, a level is the same.
    let level = optimizing(args).unwrap_or(optsleuth_model::OptLevel::O0);
    let folder = Workdir::new()?;
    let flags = without_inputs(args);
    let object = folder.file("unit.o");
    let compiled = driver.compile_in(dir, source, level, &flags, &object, Limits::STANDARD)?;
    Ok(matches!(compiled, Compiled::Crash(_) | Compiled::Hang | Compiled::Memory))
}
