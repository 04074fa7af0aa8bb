//! Candidates in C and C++: from a text to an answer.
//!
//! A candidate of wrong code has to be as clean as the original: clang's
//! warnings that tell of undefined behaviour, and its sanitizers. These come last,
//! because most candidates do not even fail.

use std::path::{Path, PathBuf};

use fs_err as fs;
use optsleuth_case::definedness::{Sanitizers, disagreement};
use optsleuth_case::driver::{DriverUnderTest, Tried};
use optsleuth_case::oracle::Oracle;
use optsleuth_compiler::CompilerError;
use optsleuth_compiler::clang;
use optsleuth_compiler::llvm::Install;
use optsleuth_compiler::sanitize::{self, Sanitizer, TELLING_WARNINGS};
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{CaseKind, is_cxx};

use super::lane::{Lane, Tally};
use super::question::{Manner, Question};
use super::sight::look_at_program;
use crate::TriageError;

/// How C is read, and what candidates in C are held to.
#[derive(Clone, Debug)]
pub struct Source {
    install: Install,
    /// The name of a candidate's file, which says its language.
    pub(super) file: &'static str,
    /// The case's, for clang.
    flags: Vec<String>,
    /// Warnings that the original does not give.
    warnings: Vec<&'static str>,
    /// Those that work here, none of which objects to the original.
    pub(super) sanitizers: Sanitizers,
    /// The original fails without C's alias rules, too, so that a candidate must
    /// not begin to need them.
    without_alias_rules: bool,
    /// The compiler that the case is about, where that is a driver; else the
    /// workers have it.
    tested: Option<DriverUnderTest>,
}

impl Source {
    /// Programs in this one's language, as this clang reads them; candidates are held
    /// to nothing yet.
    pub(super) fn new(install: &Install, original: &Path, flags: &[String]) -> Source {
        let (install, flags) = (install.clone(), flags.to_vec());
        Source {
            install,
            file: if is_cxx(original) { "reduced.cpp" } else { "reduced.c" },
            flags,
            warnings: Vec::new(),
            sanitizers: Sanitizers::default(),
            without_alias_rules: false,
            tested: None,
        }
    }

    /// The same for a case of a driver, which gets flags of its own.
    pub(super) fn of_driver(
        install: &Install,
        original: &Path,
        flags: &[String],
        tested: DriverUnderTest,
    ) -> Source {
        Source { tested: Some(tested), ..Source::new(install, original, flags) }
    }

    /// Whether a driver compiles candidates, and no worker.
    pub(super) fn is_of_driver(&self) -> bool {
        self.tested.is_some()
    }

    /// Finds out what the original is clean of, for its descendants. That it is
    /// defined was asked before.
    pub(super) fn hold_to(
        &mut self,
        original: &str,
        lane: &mut Lane<'_>,
        question: &Question,
        tally: &Tally,
    ) -> Result<(), TriageError> {
        let (_folder, path) = self.written(original)?;
        let given = sanitize::warnings(&self.install, &path, &self.flags, &TELLING_WARNINGS)?;
        self.warnings = TELLING_WARNINGS.into_iter().filter(|name| !given.contains(name)).collect();
        let Some(expected) = question.oracle.expected() else { return Ok(()) };
        let sanitizers = Sanitizers::find(&self.install, &Sanitizer::ALL, lane.reference())?;
        self.sanitizers = sanitizers.clean_on(&path, &self.flags, expected, lane.reference())?;
        // At -O0, LLVM hears nothing of these rules.
        let has_level = self.flags.iter().any(|flag| flag.starts_with("-O"));
        if has_level && self.tested.is_none() {
            self.without_alias_rules =
                self.fails_without_alias_rules(question, &path, lane, tally)?;
        }
        Ok(())
    }

    /// A text in a file of its own.
    fn written(&self, text: &str) -> Result<(Workdir, PathBuf), TriageError> {
        let folder = Workdir::new()?;
        let path = folder.file(self.file);
        fs::write(&path, text)?;
        Ok((folder, path))
    }

    /// The oracle for a text, if that fails as the case does.
    pub(super) fn look_at(
        &self,
        question: &Question,
        text: &str,
        lane: &mut Lane<'_>,
        tally: &Tally,
    ) -> Result<Option<Oracle>, TriageError> {
        let (_folder, path) = self.written(text)?;
        let is_wrong_code = question.oracle.kind() == CaseKind::WrongCode;
        if is_wrong_code
            && !sanitize::warnings(&self.install, &path, &self.flags, &self.warnings)?.is_empty()
        {
            return Ok(None);
        }
        let sight = match &self.tested {
            Some(tested) => look_at_by_driver(tested, question, &path, lane, tally)?,
            None => self.look_at_ir(question, &path, lane, tally)?,
        };
        let Some(oracle) = sight else { return Ok(None) };
        let Some(expected) = oracle.expected().filter(|_| is_wrong_code) else {
            return Ok(Some(oracle));
        };
        let objection =
            self.sanitizers.objection(&path, &self.flags, expected, lane.reference())?;
        Ok(objection.is_none().then_some(oracle))
    }

    /// The same for what the workers make of the text.
    fn look_at_ir(
        &self,
        question: &Question,
        path: &Path,
        lane: &mut Lane<'_>,
        tally: &Tally,
    ) -> Result<Option<Oracle>, TriageError> {
        // Before the program itself, which stays loaded.
        let is_wrong_code = question.oracle.kind() == CaseKind::WrongCode;
        if self.without_alias_rules
            && is_wrong_code
            && !self.fails_without_alias_rules(question, path, lane, tally)?
        {
            return Ok(None);
        }
        self.look_at_ir_under(&self.flags, question, path, lane, tally)
    }

    /// Whether the text fails where LLVM hears nothing of types in memory.
    fn fails_without_alias_rules(
        &self,
        question: &Question,
        path: &Path,
        lane: &mut Lane<'_>,
        tally: &Tally,
    ) -> Result<bool, TriageError> {
        let flags = [&self.flags[..], &["-fno-strict-aliasing".to_owned()]].concat();
        Ok(self.look_at_ir_under(&flags, question, path, lane, tally)?.is_some())
    }

    fn look_at_ir_under(
        &self,
        flags: &[String],
        question: &Question,
        path: &Path,
        lane: &mut Lane<'_>,
        tally: &Tally,
    ) -> Result<Option<Oracle>, TriageError> {
        let program = match clang::read_program(&self.install, path, flags) {
            Ok(program) => program,
            Err(CompilerError::DoesNotCompile { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        match lane.takes(&program, question, tally)? {
            true => look_at_program(question, lane, None, tally),
            false => Ok(None),
        }
    }
}

/// The oracle for a program, if the compiler fails on it as it does in the case.
fn look_at_by_driver(
    tested: &DriverUnderTest,
    question: &Question,
    path: &Path,
    lane: &mut Lane<'_>,
    tally: &Tally,
) -> Result<Option<Oracle>, TriageError> {
    let limits = question.request.limits;
    let tried = tally.tried(|| Ok(tested.run(path, lane.reference(), limits)?))?;
    let Some(Tried::Ran(outcome)) = tried else { return Ok(None) };
    let mut oracle = question.oracle.clone();
    if oracle.kind() == CaseKind::WrongCode {
        let found = tally.tried(|| Ok(tested.references(path, lane.reference(), limits)?))?;
        let Some(Ok(references)) = found else { return Ok(None) };
        let Some((_, expected)) = references.first() else { return Ok(None) };
        let known = oracle.expected().map(Manner::of);
        if disagreement(&references).is_some()
            || lane.reference().surroundings().objection(expected).is_some()
            || known.is_some_and(|known| known != Manner::of(expected))
        {
            return Ok(None);
        }
        oracle = oracle.expecting(expected.clone());
    }
    Ok(question.is_failure(&oracle, &outcome).then_some(oracle))
}
