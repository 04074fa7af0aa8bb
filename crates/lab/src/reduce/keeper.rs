//! The case's folder while it is reduced: the original beside the best so far.
//!
//! **Invariant:** whatever ends the reduction, `case.toml` names a program that
//! is there whole and fails with the passes beside it: a program appears before
//! the case is about it.

use std::io;
use std::path::{Path, PathBuf};

use optsleuth_model::{CASE_FILE, Pipeline, Reduction, retargeted};

use crate::case_folder::{CaseFolder, write_whole};
use crate::setup::LabError;

/// The case as it was, in its folder.
const ORIGINAL: &str = "original";

/// Writes what was reached into the case's folder.
#[derive(Debug)]
pub(super) struct Keeper {
    folder: PathBuf,
    input: String,
    pipeline: Pipeline,
    /// What the program should print, if that is another than the original's.
    output: Option<String>,
    state: PathBuf,
}

impl Keeper {
    /// For a case, whose original is put aside if it is not yet.
    pub(super) fn open(case: &CaseFolder) -> Result<Keeper, LabError> {
        let folder = case.folder.clone();
        let original = folder.join(ORIGINAL);
        if !original.join(CASE_FILE).is_file() {
            put_aside(case, &original).map_err(|source| not_written(&original, source))?;
        }
        let state = case.reduction_path();
        {
            let (input, pipeline) = (case.case.input.clone(), case.case.pipeline.clone());
            Ok(Keeper { folder, input, pipeline, output: None, state })
        }
    }

    /// The case is about this program from now on, which should print `output`
    /// where it is executed at all.
    pub(super) fn keep_program(
        &mut self,
        name: &str,
        text: &[u8],
        output: Option<String>,
    ) -> Result<(), LabError> {
        let path = self.folder.join(name);
        write_whole(&path, text).map_err(|source| not_written(&path, source))?;
        if self.input != name || self.output != output {
            name.clone_into(&mut self.input);
            self.output = output;
            self.write_case()?;
        }
        Ok(())
    }

    /// The case is about this pipeline from now on.
    pub(super) fn keep_pipeline(&mut self, pipeline: &Pipeline) -> Result<(), LabError> {
        if self.pipeline != *pipeline {
            self.pipeline = pipeline.clone();
            self.write_case()?;
        }
        Ok(())
    }

    /// How far the reduction is.
    pub(super) fn keep_state(&self, reduction: &Reduction) -> Result<(), LabError> {
        let json = serde_json::to_string(reduction)
            .map_err(|error| not_written(&self.state, error.into()))?;
        write_whole(&self.state, json + "\n").map_err(|source| not_written(&self.state, source))
    }

    fn write_case(&self) -> Result<(), LabError> {
        let path = self.folder.join(CASE_FILE);
        let fail = |source| not_written(&path, source);
        let text = std::fs::read_to_string(&path).map_err(fail)?;
        let text = retargeted(&text, &self.input, &self.pipeline, self.output.as_deref())
            .map_err(|error| fail(io::Error::other(error)))?;
        write_whole(&path, text).map_err(fail)
    }
}

/// Makes a case what it was before its reduction. Nothing happens to one that
/// was never reduced.
pub(super) fn restore(case: &CaseFolder) -> Result<(), LabError> {
    let original = case.folder.join(ORIGINAL);
    let path = case.folder.join(CASE_FILE);
    let text = match std::fs::read(original.join(CASE_FILE)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(not_written(&path, source)),
    };
    let first = CaseFolder::open(&original)?;
    let input = case.folder.join(&first.case.input);
    std::fs::read(first.input())
        .and_then(|program| write_whole(&input, program))
        .map_err(|source| not_written(&input, source))?;
    write_whole(&path, text).map_err(|source| not_written(&path, source))?;
    match std::fs::remove_file(case.reduction_path()) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(not_written(&case.reduction_path(), error))
        }
        _ => Ok(()),
    }
}

/// A folder with the case and its program that appears whole.
fn put_aside(case: &CaseFolder, original: &Path) -> io::Result<()> {
    let beside = case.folder.join(format!(".{ORIGINAL}.{}.tmp", std::process::id()));
    let copy = |name: &str| {
        let to = beside.join(name);
        std::fs::create_dir_all(to.parent().unwrap_or(&beside))?;
        std::fs::copy(case.folder.join(name), to)
    };
    let copied = copy(&case.case.input)
        .and_then(|_| copy(CASE_FILE))
        .and_then(|_| std::fs::rename(&beside, original));
    if copied.is_err() {
        // What is left of the attempt, if anything.
        let _ = std::fs::remove_dir_all(&beside);
    }
    copied
}

fn not_written(path: &Path, source: io::Error) -> LabError {
    LabError::Io { doing: format!("write `{}`", path.display()), source }
}
