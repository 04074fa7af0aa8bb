//! Programs that others are made of: a folder of the user's, or what is at hand.
//! They are what RecBi calls the ingredient pool, and the papers' developer
//! programs.
//!
//! **Invariant:** what does not compile or parse is left out, silently: a folder
//! may hold anything.

use std::path::{Path, PathBuf};

use optsleuth_compiler::csmith;
use optsleuth_compiler::llvm::Install;
use optsleuth_compiler::workdir::Workdir;
use optsleuth_mutate::{Libclang, Pool};

use super::c_tools::CTools;
use super::trial::preprocessed;
use crate::Progress;
use crate::culprit::SOURCES;
use crate::setup::LabError;

/// So many of csmith's programs go with the tool's own.
const FROM_CSMITH: u64 = 4;

/// Programs, and what can be taken from them.
#[derive(Debug)]
pub(super) struct Pantry {
    /// Where they are from.
    pub(super) folder: Option<PathBuf>,
    pub(super) ingredients: Pool,
}

impl Pantry {
    /// Reads a folder's programs; without one, what is at hand.
    pub(super) fn fill(
        folder: Option<&Path>,
        clang: &Libclang,
        c: &CTools,
    ) -> Result<Pantry, LabError> {
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
        Ok(Pantry { folder: folder.map(Path::to_owned), ingredients: Pool::gather(&programs) })
    }
}

/// What is at hand, for whoever has no case; of those programs alone that are
/// accepted. They are preprocessed by clang, and not every compiler takes that.
pub(crate) fn ingredients(
    install: &Install,
    clang: &Libclang,
    accepts: &mut dyn FnMut(&str) -> Result<bool, LabError>,
    progress: &dyn Progress,
) -> Result<Pool, LabError> {
    let c = CTools::new(install, &[], progress)?;
    let mut programs = Vec::new();
    for text in at_hand(&c)? {
        if accepts(&text)? {
            programs.extend(clang.parse(&text, &[]).ok());
        }
    }
    Ok(Pool::gather(&programs))
}

/// The C files of a folder, by name.
pub(crate) fn c_files(folder: &Path) -> Result<Vec<PathBuf>, LabError> {
    let doing = || format!("read `{}`", folder.display());
    let entries =
        std::fs::read_dir(folder).map_err(|source| LabError::Io { doing: doing(), source })?;
    let mut files = Vec::new();
    for entry in entries {
        files.push(entry.map_err(|source| LabError::Io { doing: doing(), source })?.path());
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    files.sort();
    match files.is_empty() {
        true => Err(LabError::NoCPrograms(folder.to_owned())),
        false => Ok(files),
    }
}

/// The tool's own small programs, and some of csmith's where it is.
fn at_hand(c: &CTools) -> Result<Vec<String>, LabError> {
    let io = |source| LabError::Io { doing: "write a program".to_owned(), source };
    let folder = Workdir::new().map_err(io)?;
    let file = folder.file("program.c");
    let mut texts = Vec::new();
    for (_, text) in SOURCES {
        std::fs::write(&file, text).map_err(io)?;
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
