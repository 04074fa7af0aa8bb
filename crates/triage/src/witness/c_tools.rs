//! From C to a module, with the clang of the case's LLVM.
//!
//! **Invariant:** every program goes by the same name, so that nothing but its
//! text tells its module from another's.

use std::path::Path;

use fs_err as fs;
use optsleuth_case::workers::steps;
use optsleuth_compiler::CompilerError;
use optsleuth_compiler::c_front_end::{CSource, Compiled, FrontEnd};
use optsleuth_compiler::clang::{self, Markers};
use optsleuth_compiler::llvm::Install;
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{Limits, Program, Progress};

use super::lines::Lines;
use super::trial::Preprocessor;
use crate::TriageError;

/// What every program is called.
const NAME: &str = "program.c";

/// clang, with the case's flags.
#[derive(Debug)]
pub(super) struct CTools {
    install: Install,
    flags: Vec<String>,
    front_end: FrontEnd,
}

impl CTools {
    pub(super) fn new(
        install: &Install,
        flags: &[String],
        progress: &dyn Progress,
    ) -> Result<CTools, TriageError> {
        let front_end = FrontEnd::prepare(install, flags, &mut steps(install, progress))?;
        Ok(CTools { install: install.clone(), flags: flags.to_vec(), front_end })
    }

    /// Compiles a text; `None` where the front end itself fails, which says
    /// nothing about the case.
    pub(super) fn compile(
        &self,
        text: &str,
        limits: Limits,
    ) -> Result<Option<Program>, CompilerError> {
        let source = CSource { name: NAME.to_owned(), text: text.as_bytes().to_vec() };
        Ok(match self.front_end.compile(&source, limits)? {
            Compiled::Ir(program) => Some(program),
            Compiled::Failed(_) => None,
        })
    }
}

impl Preprocessor for CTools {
    fn preprocess(&self, file: &Path) -> Result<(String, Lines), CompilerError> {
        let unreadable =
            |source| CompilerError::UnreadableProgram { path: file.to_owned(), source };
        let text = fs::read_to_string(file).map_err(unreadable)?;
        if !text.lines().any(|line| line.trim_start().starts_with('#')) {
            let lines = Lines::same(&text);
            return Ok((text, lines));
        }
        let folder = Workdir::new()?;
        let marked =
            clang::preprocess(&self.install, file, &self.flags, Markers::Kept, &folder.file(NAME))?;
        Ok(Lines::strip(&marked, &file.display().to_string()))
    }
}
