//! Small C programs that use what most programs use. What a compiler executes on
//! them is its baseline.
//!
//! They are compiled by the clang of the LLVM under test, because no two
//! versions take the same IR.

use fs_err as fs;
use optsleuth_compiler::clang;
use optsleuth_compiler::llvm::Install;
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{Program, nameless};

use crate::TriageError;

macro_rules! sources {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("programs/", $name)))),*]
    };
}

/// Name and text of each.
pub const SOURCES: &[(&str, &str)] = sources![
    "control.c",
    "globals.c",
    "loops.c",
    "numbers.c",
    "reals.c",
    "sorting.c",
    "structures.c",
    "texts.c",
];

/// All of them, unoptimized.
pub fn programs(install: &Install) -> Result<Vec<Program>, TriageError> {
    let folder = Workdir::new()?;
    let compile = |(name, text): &(&str, &str)| {
        let file = folder.file(name);
        fs::write(&file, text)?;
        let program = clang::read_program(install, &file, &[])?;
        // The folder has another name every time, and LLVM would notice.
        let ir = nameless(&String::from_utf8_lossy(&program.ir)).into_bytes();
        Ok(Program { name: (*name).to_owned(), ir })
    };
    SOURCES.iter().map(compile).collect()
}
