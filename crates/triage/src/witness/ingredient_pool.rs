//! Programs that others are made of: a folder of the user's, or what is at hand.
//! They are what RecBi calls the ingredient pool, and the papers' developer
//! programs.
//!
//! **Invariant:** what does not compile or parse is left out, silently: a folder
//! may hold anything.

use std::path::{Path, PathBuf};

use fs_err as fs;
use optsleuth_compiler::csmith;
use optsleuth_compiler::llvm::Install;
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::Progress;
use optsleuth_mutate::{Libclang, Pool};

use super::c_tools::CTools;
use super::trial::{Preprocessor, preprocessed};
use crate::TriageError;
use crate::baseline::SOURCES;
use crate::c_programs::c_files;

/// So many of csmith's programs go with the tool's own.
const FROM_CSMITH: u64 = 4;

/// Programs, and what can be taken from them.
#[derive(Debug)]
pub(super) struct IngredientPool {
    /// Where they are from.
    pub(super) folder: Option<PathBuf>,
    pub(super) ingredients: Pool,
}

impl IngredientPool {
    /// Reads a folder's programs; without one, what is at hand.
    pub(super) fn fill(
        folder: Option<&Path>,
        clang: &Libclang,
        c: &dyn Preprocessor,
    ) -> Result<IngredientPool, TriageError> {
        let texts = match folder {
            Some(folder) => {
                let mut texts = Vec::new();
                for file in c_files(folder)? {
                    texts.extend(preprocessed(c.preprocess(&file))?);
                }
                texts
            }
            None => at_hand(c)?,
        };
        let programs: Vec<_> =
            texts.iter().filter_map(|text| clang.parse(text, &[]).ok()).collect();
        Ok(IngredientPool {
            folder: folder.map(Path::to_owned),
            ingredients: Pool::gather(&programs),
        })
    }
}

/// The texts of the programs at hand, preprocessed by the clang of this LLVM.
pub fn programs_at_hand(
    install: &Install,
    progress: &dyn Progress,
) -> Result<Vec<String>, TriageError> {
    at_hand(&CTools::new(install, &[], progress)?)
}

/// The tool's own small programs, and some of csmith's where it is.
fn at_hand(c: &dyn Preprocessor) -> Result<Vec<String>, TriageError> {
    let folder = Workdir::new()?;
    let file = folder.file("program.c");
    let mut texts = Vec::new();
    for (_, text) in SOURCES {
        fs::write(&file, text)?;
        texts.extend(preprocessed(c.preprocess(&file))?);
    }
    if csmith::is_installed() {
        for seed in 1..=FROM_CSMITH {
            if csmith::generate(seed, &csmith::SMALL_PROGRAMS, &file).is_ok() {
                texts.extend(preprocessed(c.preprocess(&file))?);
            }
        }
    }
    Ok(texts)
}
