//! Programs that are nothing special: what a compiler does with them, it does
//! all the time.
//!
//! They are compiled by the clang of the LLVM under test, because no two
//! versions take the same IR.

use optsleuth_compiler::clang;
use optsleuth_compiler::llvm::Install;
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{Program, nameless};

use crate::setup::LabError;

macro_rules! sources {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("ordinary/", $name)))),*]
    };
}

/// Name and text of each.
pub(crate) const SOURCES: &[(&str, &str)] = sources![
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
pub(super) fn programs(install: &Install) -> Result<Vec<Program>, LabError> {
    let doing = || "write a program".to_owned();
    let folder = Workdir::new().map_err(|source| LabError::Io { doing: doing(), source })?;
    let compile = |(name, text): &(&str, &str)| {
        let file = folder.file(name);
        std::fs::write(&file, text).map_err(|source| LabError::Io { doing: doing(), source })?;
        let program = clang::read_program(install, &file, &[])?;
        // The folder has another name every time, and LLVM would notice.
        let ir = nameless(&String::from_utf8_lossy(&program.ir)).into_bytes();
        Ok(Program { name: (*name).to_owned(), ir })
    };
    SOURCES.iter().map(compile).collect()
}
