//! C programs on disk -> what libclang reads of them.

use std::path::{Path, PathBuf};

use fs_err as fs;
use optsleuth_compiler::clang::{self, Markers};
use optsleuth_compiler::libclang;
use optsleuth_compiler::llvm::Install;
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::Language;
use optsleuth_mutate::{Libclang, Program};

use crate::TriageError;

/// Reads a C program: preprocessed by this LLVM's clang, parsed by its libclang
/// or, where that is too old or missing, by the newest one.
pub fn read_c(install: &Install, path: &Path, c_flags: &[String]) -> Result<Program, TriageError> {
    if Language::of_path(path) != Some(Language::C) {
        return Err(TriageError::NotInC(path.to_owned()));
    }
    let folder = Workdir::new()?;
    let text =
        clang::preprocess(install, path, c_flags, Markers::Dropped, &folder.file("program.i"))?;
    load_libclang(install)?
        .parse(&text, c_flags)
        .map_err(|source| TriageError::NotC { path: path.to_owned(), source })
}

/// The libclang to read programs with.
pub fn load_libclang(install: &Install) -> Result<Libclang, TriageError> {
    let own = (install.major >= optsleuth_mutate::OLDEST).then(|| libclang::of(install)).flatten();
    let path = match own {
        Some(path) => path,
        None => libclang::newest(optsleuth_mutate::OLDEST)?,
    };
    Ok(Libclang::load(&path)?)
}

/// The C files of a folder, by name.
pub fn c_files(folder: &Path) -> Result<Vec<PathBuf>, TriageError> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        files.push(entry?.path());
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    files.sort();
    match files.is_empty() {
        true => Err(TriageError::NoCPrograms(folder.to_owned())),
        false => Ok(files),
    }
}
