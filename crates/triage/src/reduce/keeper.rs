//! The case's folder while it is reduced: the original beside the best so far.
//!
//! **Invariant:** whatever ends the reduction, `case.toml` names a program that
//! is there whole and fails with the passes beside it: a program appears before
//! the case is about it.

use std::io;
use std::path::Path;

use fs_err as fs;
use optsleuth_case::CaseError;
use optsleuth_case::folder::{forget_reduction, open_case, save_reduction, write_whole};
use optsleuth_case::write::copy_conditions;
use optsleuth_model::{CASE_FILE, CaseFolder, Pipeline, Reduction, Trust, retargeted};

use crate::TriageError;

/// The case as it was, in its folder.
const ORIGINAL: &str = "original";

/// Writes what was reached into the case's folder.
#[derive(Debug)]
pub(super) struct Keeper {
    /// As it is in the folder.
    case: CaseFolder,
    /// What the program should print, if that is another than the original's.
    output: Option<String>,
}

impl Keeper {
    /// For a case, whose original is put aside if it is not yet.
    pub(super) fn open(case: &CaseFolder) -> Result<Keeper, TriageError> {
        let original = case.folder.join(ORIGINAL);
        if !original.join(CASE_FILE).is_file() {
            put_aside(case, &original)?;
        }
        Ok(Keeper { case: case.clone(), output: None })
    }

    /// Where the case lies.
    pub(super) fn folder(&self) -> &Path {
        &self.case.folder
    }

    pub(super) fn trust(&self) -> Trust {
        self.case.trust
    }

    /// The case is about this program from now on, which should print `output`
    /// where it is executed at all.
    pub(super) fn keep_program(
        &mut self,
        name: &str,
        text: &[u8],
        output: Option<String>,
    ) -> Result<(), TriageError> {
        write_whole(&self.case.folder.join(name), text)?;
        if self.case.case.input != name || self.output != output {
            name.clone_into(&mut self.case.case.input);
            self.output = output;
            self.write_case()?;
        }
        Ok(())
    }

    /// The case is about this pipeline from now on.
    pub(super) fn keep_pipeline(&mut self, pipeline: &Pipeline) -> Result<(), TriageError> {
        if self.case.case.pipeline != *pipeline {
            self.case.case.pipeline = pipeline.clone();
            self.write_case()?;
        }
        Ok(())
    }

    /// How far the reduction is.
    pub(super) fn keep_state(&self, reduction: &Reduction) -> Result<(), TriageError> {
        Ok(save_reduction(&self.case, reduction)?)
    }

    fn write_case(&self) -> Result<(), TriageError> {
        let CaseFolder { folder, case, .. } = &self.case;
        let path = folder.join(CASE_FILE);
        let text = fs::read_to_string(&path)?;
        let text = retargeted(&text, &case.input, &case.pipeline, self.output.as_deref()).map_err(
            |source| CaseError::CaseText { path: path.clone(), source: Box::new(source) },
        )?;
        Ok(write_whole(&path, text)?)
    }
}

/// Makes a case what it was before its reduction. Nothing happens to one that
/// was never reduced.
pub fn restore(case: &CaseFolder) -> Result<(), TriageError> {
    let original = case.folder.join(ORIGINAL);
    let path = case.folder.join(CASE_FILE);
    let text = match fs::read(original.join(CASE_FILE)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    let first = open_case(&original, case.trust)?;
    let input = case.folder.join(&first.case.input);
    write_whole(&input, fs::read(first.input())?)?;
    write_whole(&path, text)?;
    Ok(forget_reduction(case)?)
}

/// A folder with the case and its program that appears whole.
fn put_aside(case: &CaseFolder, original: &Path) -> io::Result<()> {
    let beside = case.folder.join(format!(".{ORIGINAL}.{}.tmp", std::process::id()));
    let copy = |name: &str| {
        let to = beside.join(name);
        fs::create_dir_all(to.parent().unwrap_or(&beside))?;
        fs::copy(case.folder.join(name), to)
    };
    let copied = copy(&case.case.input)
        .and_then(|_| copy(CASE_FILE))
        .and_then(|_| copy_conditions(&case.case.execution, &case.folder, &beside))
        .and_then(|_| fs::rename(&beside, original));
    if copied.is_err() {
        // What is left of the attempt, if anything.
        let _ = fs::remove_dir_all(&beside);
    }
    copied
}
