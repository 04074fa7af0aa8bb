//! C programs: from a candidate's text to an answer, and our own reduction of
//! them.
//!
//! A candidate of wrong code has to be as clean as the original: clang's
//! warnings that tell of undefined behaviour, its address, undefined-behaviour
//! and memory sanitizers. These come last, because most candidates do not even
//! fail.

use std::path::{Path, PathBuf};

use fs_err as fs;
use optsleuth_case::CaseError;
use optsleuth_case::driver::DriverUnderTest;
use optsleuth_case::oracle::Oracle;
use optsleuth_case::sanitizers::{Watched, missing, watch, watchers};
use optsleuth_compiler::clang::{self, ProgramError};
use optsleuth_compiler::llvm::Install;
use optsleuth_compiler::reducers;
use optsleuth_compiler::sanitize::{self, Sanitizer, TELLING_WARNINGS};
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{CaseKind, CheckStatus, Reduction};

use super::c_text::{Cut, Grain, depth, without};
use super::external::reduce_with;
use super::judge::{Candidate, Judge, Lane, Question, Tally, look_at_program};
use super::keeper::Keeper;
use super::{Reducer, Reducing, note, of_driver, with};
use crate::TriageError;

/// How C is read and watched.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    install: Install,
    /// The case's, for clang.
    flags: Vec<String>,
    /// Warnings that the original does not give.
    warnings: Vec<&'static str>,
    /// Sanitizers that the original runs under, and whose clang has each.
    sanitizers: Vec<(Sanitizer, Install)>,
    /// The compiler that the case is about, where that is a driver; else the
    /// workers have it.
    tested: Option<DriverUnderTest>,
}

impl Source {
    /// C as this clang reads it; nothing is watched yet.
    pub(super) fn new(install: &Install, flags: &[String]) -> Source {
        let (install, flags) = (install.clone(), flags.to_vec());
        Source { install, flags, warnings: Vec::new(), sanitizers: Vec::new(), tested: None }
    }

    /// The same for a case of a driver, which gets flags of its own.
    pub(super) fn of_driver(
        install: &Install,
        flags: &[String],
        tested: DriverUnderTest,
    ) -> Source {
        Source { tested: Some(tested), ..Source::new(install, flags) }
    }

    /// Whether nobody but a driver compiles candidates.
    pub(super) fn is_of_driver(&self) -> bool {
        self.tested.is_some()
    }

    /// Finds out what the original keeps to, for its descendants. An error if a
    /// sanitizer stops it.
    pub(super) fn watch(
        &mut self,
        original: &str,
        lane: &mut Lane<'_>,
        oracle: &Oracle,
    ) -> Result<(), TriageError> {
        let (_folder, path) = written(original)?;
        let given = sanitize::warnings(&self.install, &path, &self.flags, &TELLING_WARNINGS)?;
        self.warnings = TELLING_WARNINGS.into_iter().filter(|name| !given.contains(name)).collect();
        let Some(expected) = oracle.expected() else { return Ok(()) };
        match watchers(&self.install, &path, &self.flags, lane.reference(), expected)? {
            Ok(found) => self.sanitizers = found,
            Err(sanitizer) => {
                let what =
                    format!("the program does something else under the {}", sanitizer.name());
                return Err(CaseError::NotReproduced { status: CheckStatus::Unstable, what }.into());
            }
        }
        Ok(())
    }

    /// The oracle for a text, if that fails as the case does.
    pub(super) fn look_at(
        &self,
        question: &Question,
        text: &str,
        lane: &mut Lane<'_>,
        tally: &Tally,
    ) -> Result<Option<Oracle>, TriageError> {
        let (_folder, path) = written(text)?;
        let is_wrong_code = question.oracle.kind() == CaseKind::WrongCode;
        if is_wrong_code
            && !sanitize::warnings(&self.install, &path, &self.flags, &self.warnings)?.is_empty()
        {
            return Ok(None);
        }
        let sight = match &self.tested {
            Some(tested) => of_driver::look_at(tested, question, &path, lane, tally)?,
            None => self.look_at_ir(question, &path, lane, tally)?,
        };
        let Some(oracle) = sight else { return Ok(None) };
        if is_wrong_code {
            for (sanitizer, clang) in &self.sanitizers {
                if self.runs_under(*sanitizer, clang, &path, lane, &oracle)? != Watched::Right {
                    return Ok(None);
                }
            }
        }
        Ok(Some(oracle))
    }

    /// The same for what the workers make of the text.
    fn look_at_ir(
        &self,
        question: &Question,
        path: &Path,
        lane: &mut Lane<'_>,
        tally: &Tally,
    ) -> Result<Option<Oracle>, TriageError> {
        let program = match clang::read_program(&self.install, path, &self.flags) {
            Ok(program) => program,
            Err(ProgramError::DoesNotCompile { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        match lane.takes(&program, question, tally)? {
            true => look_at_program(question, lane, None, tally),
            false => Ok(None),
        }
    }

    fn runs_under(
        &self,
        sanitizer: Sanitizer,
        clang: &Install,
        path: &Path,
        lane: &mut Lane<'_>,
        oracle: &Oracle,
    ) -> Result<Watched, TriageError> {
        let Some(expected) = oracle.expected() else { return Ok(Watched::Unavailable) };
        Ok(watch(sanitizer, clang, path, &self.flags, lane.reference(), expected)?)
    }
}

/// A text in a file of its own.
fn written(text: &str) -> Result<(Workdir, PathBuf), TriageError> {
    let folder = Workdir::new()?;
    let path = folder.file("reduced.c");
    fs::write(&path, text)?;
    Ok((folder, path))
}

/// Says which sanitizers nobody here has, where they would be asked.
pub(super) fn note_sanitizers(question: &Question, reduction: &mut Reduction) {
    let Some(source) = &question.source else { return };
    if question.oracle.kind() != CaseKind::WrongCode {
        return;
    }
    for sanitizer in missing(&source.sanitizers) {
        let name = sanitizer.name();
        note(reduction, &format!("the {name} cannot be used here, so it was not asked"));
    }
}

/// Makes a C program smaller, by our own cuts first and then by somebody else's
/// reducer, and keeps what is reached.
pub(super) fn shrink_c(
    judge: &mut Judge<'_>,
    how: &Reducing,
    whole: String,
    keeper: &mut Keeper,
    reduction: &mut Reduction,
) -> Result<(), TriageError> {
    const REDUCED: &str = "reduced.c";
    let reducer = match how.tool {
        Reducer::Auto => reducers::Reducer::of_c(),
        Reducer::BuiltIn => None,
        Reducer::Cvise => Some(reducers::Reducer::of_c().ok_or(TriageError::NoReducer("cvise"))?),
        Reducer::LlvmReduce => return Err(TriageError::NoReducer("llvm-reduce for C")),
    };
    let patience = judge.patience;
    let keep = &mut |text: &str, oracle: &Oracle| {
        keeper.keep_program(REDUCED, text.as_bytes(), oracle.expected_output())?;
        let after = &mut reduction.program.after;
        (after.bytes, after.lines) = (text.len(), text.lines().count());
        REDUCED.clone_into(&mut reduction.program.input_after);
        keeper.keep_state(reduction)
    };
    // Others' reducers know more of C, but ours is quick to begin with.
    let fineness = if reducer.is_some() { Fineness::Coarse } else { Fineness::Fine };
    if reducer.is_some() {
        judge.patience = patience.half();
    }
    let (mut text, mut finished) = reduce_c(judge, whole, fineness, keep)?;
    judge.patience = patience;
    let mut tools = vec!["built-in reduction of C"];
    if let Some(reducer) = reducer.filter(|_| !patience.is_over()) {
        tools.push(reducer.name());
        let coarse = text.clone();
        (text, finished) = reduce_with(judge, &reducer, &how.asker, (REDUCED, &text), keep)?;
        if !judge.accepts_source(&text)? {
            judge.accepts_source(&coarse)?;
            keep(&coarse, &judge.question.oracle)?;
        }
    }
    reduction.program.finished = finished;
    for tool in tools {
        reduction.tools = with(&reduction.tools, tool);
    }
    Ok(())
}

/// Cuts pieces out of a program, large ones first, until none can go. `fine`
/// goes down to single tokens. `keep` is told of every step. Says whether it is
/// finished, too.
fn reduce_c(
    judge: &mut Judge<'_>,
    text: String,
    fine: Fineness,
    keep: &mut dyn FnMut(&str, &Oracle) -> Result<(), TriageError>,
) -> Result<(String, bool), TriageError> {
    let mut best = text;
    loop {
        let before = best.len();
        for grain in grains(&best, fine) {
            let cuts = grain.cuts(&best);
            let rest = |kept: &[usize]| {
                let is_cut = |(place, _): &(usize, &Cut)| kept.binary_search(place).is_err();
                let gone: Vec<&Cut> =
                    cuts.iter().enumerate().filter(is_cut).map(|(_, cut)| cut).collect();
                without(&best, &gone)
            };
            let kept = judge
                .minimize(cuts.len(), grain.name(), &|kept| Some(Candidate::Source(rest(kept))))?;
            if kept.len() == cuts.len() {
                continue;
            }
            let smaller = rest(&kept);
            if judge.accepts_source(&smaller)? {
                keep(&smaller, &judge.question.oracle)?;
                best = smaller;
            }
            if judge.patience.is_over() {
                return Ok((best, false));
            }
        }
        if judge.patience.is_over() {
            return Ok((best, false));
        }
        if best.len() == before {
            return Ok((best, true));
        }
    }
}

/// How small the pieces get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fineness {
    /// Statements.
    Coarse,
    /// Tokens.
    Fine,
}

fn grains(text: &str, fine: Fineness) -> Vec<Grain> {
    let mut grains: Vec<Grain> = (0..=depth(text)).map(Grain::Statements).collect();
    grains.insert(1, Grain::Lines);
    grains.push(Grain::Blocks);
    if fine == Fineness::Fine {
        grains.push(Grain::Tokens);
    }
    grains
}
