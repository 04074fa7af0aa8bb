//! C programs: from a candidate's text to an answer, and our own reduction of
//! them.
//!
//! A candidate of wrong code has to be as clean as the original: clang's
//! warnings that tell of undefined behaviour, its address, undefined-behaviour
//! and memory sanitizers. These come last, because most candidates do not even
//! fail.

use std::path::{Path, PathBuf};

use optsleuth_compiler::clang::{self, ProgramError};
use optsleuth_compiler::llvm::{self, Install};
use optsleuth_compiler::sanitize::{self, Sanitizer, TELLING_WARNINGS};
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::CaseKind;

use super::c_text::{Cut, Grain, depth, without};
use super::judge::{Candidate, Judge, Lane, Question, Tally, look_at_program};
use crate::check::CheckStatus;
use crate::oracle::Oracle;
use crate::setup::LabError;
use crate::watched::{Watched, watch};

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
}

impl Source {
    /// C as this clang reads it; nothing is watched yet.
    pub(super) fn new(install: &Install, flags: &[String]) -> Source {
        let (warnings, sanitizers) = (Vec::new(), Vec::new());
        Source { install: install.clone(), flags: flags.to_vec(), warnings, sanitizers }
    }

    /// Finds out what the original keeps to, for its descendants. An error if a
    /// sanitizer stops it.
    pub(super) fn watch(
        &mut self,
        original: &str,
        lane: &mut Lane<'_>,
        oracle: &Oracle,
    ) -> Result<(), LabError> {
        let (_folder, path) = written(original)?;
        let given = sanitize::warnings(&self.install, &path, &self.flags, &TELLING_WARNINGS)?;
        self.warnings = TELLING_WARNINGS.into_iter().filter(|name| !given.contains(name)).collect();
        // What is watched is the program, so any LLVM's clang will do.
        let others = llvm::discover().into_iter().rev().filter_map(|(_, found)| found.ok());
        let clangs: Vec<Install> = std::iter::once(self.install.clone()).chain(others).collect();
        for sanitizer in Sanitizer::ALL {
            for clang in &clangs {
                match self.runs_under(sanitizer, clang, &path, lane, oracle)? {
                    Watched::Right => self.sanitizers.push((sanitizer, clang.clone())),
                    Watched::Unavailable => continue,
                    Watched::Wrong => {
                        let what = format!(
                            "the program does something else under the {}",
                            sanitizer.name()
                        );
                        let status = CheckStatus::Unstable;
                        return Err(LabError::NotReproduced { status, what });
                    }
                }
                break;
            }
        }
        Ok(())
    }

    /// Sanitizers that nobody here has.
    pub(super) fn missing(&self) -> Vec<Sanitizer> {
        let has = |sought: &Sanitizer| self.sanitizers.iter().any(|(known, _)| known == sought);
        Sanitizer::ALL.into_iter().filter(|sought| !has(sought)).collect()
    }

    /// The oracle for a text, if that fails as the case does.
    pub(super) fn look_at(
        &self,
        question: &Question,
        text: &str,
        lane: &mut Lane<'_>,
        tally: &Tally,
    ) -> Result<Option<Oracle>, LabError> {
        let (_folder, path) = written(text)?;
        let is_wrong_code = question.oracle.kind() == CaseKind::WrongCode;
        if is_wrong_code
            && !sanitize::warnings(&self.install, &path, &self.flags, &self.warnings)?.is_empty()
        {
            return Ok(None);
        }
        let program = match clang::read_program(&self.install, &path, &self.flags) {
            Ok(program) => program,
            Err(ProgramError::DoesNotCompile { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        if !lane.takes(&program, question, tally)? {
            return Ok(None);
        }
        let Some(oracle) = look_at_program(question, lane, None, tally)? else { return Ok(None) };
        if is_wrong_code {
            for (sanitizer, clang) in &self.sanitizers {
                if self.runs_under(*sanitizer, clang, &path, lane, &oracle)? != Watched::Right {
                    return Ok(None);
                }
            }
        }
        Ok(Some(oracle))
    }

    fn runs_under(
        &self,
        sanitizer: Sanitizer,
        clang: &Install,
        path: &Path,
        lane: &mut Lane<'_>,
        oracle: &Oracle,
    ) -> Result<Watched, LabError> {
        let Some(expected) = oracle.expected() else { return Ok(Watched::Unavailable) };
        watch(sanitizer, clang, path, &self.flags, lane.reference(), expected)
    }
}

/// A text in a file of its own.
fn written(text: &str) -> Result<(Workdir, PathBuf), LabError> {
    let fail = |source| LabError::Io { doing: "write a candidate".to_owned(), source };
    let folder = Workdir::new().map_err(fail)?;
    let path = folder.file("reduced.c");
    std::fs::write(&path, text).map_err(fail)?;
    Ok((folder, path))
}

/// Cuts pieces out of a program, large ones first, until none can go. `fine`
/// goes down to single tokens. `keep` is told of every step. Says whether it is
/// finished, too.
pub(super) fn reduce_c(
    judge: &mut Judge<'_>,
    text: String,
    fine: Fineness,
    keep: &mut dyn FnMut(&str, &Oracle) -> Result<(), LabError>,
) -> Result<(String, bool), LabError> {
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
pub(super) enum Fineness {
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
