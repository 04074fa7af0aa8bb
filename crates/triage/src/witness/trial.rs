//! What a search asks of a compiler, whichever it is: programs tried, and which
//! statements of one are executed. Two answer: `of_llvm.rs` and `of_gcc.rs`.
//!
//! **Invariant:** a program that computes something is judged by itself: what it
//! does unoptimized is what it should do, by a compiler without the case's fault
//! where that was made on purpose. What is wrong with a program is its own fault,
//! never the harness's, and the other way round.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use optsleuth_compiler::CompilerError;
use optsleuth_compiler::csmith;
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::Coverage;
use optsleuth_mutate::Program;

use super::lines::Lines;
use crate::TriageError;

/// A program to try, as cheap to make as possible: what costs time is done
/// where there are many workers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Text {
    /// Here it is.
    Ready(String),
    /// In a file.
    File(PathBuf),
    /// What csmith makes of this seed.
    Csmith(u64),
}

/// What came of a program.
#[derive(Debug)]
pub(super) enum Judgement {
    /// It is none, or not one that can be executed.
    Invalid,
    /// It fails as the case does.
    Fails,
    /// It passes, and this is what the compiler executed.
    Passes(Coverage),
    /// It says nothing.
    Other,
}

/// A program that was tried.
#[derive(Debug)]
pub(super) struct Tried {
    pub(super) judgement: Judgement,
    /// How long LLVM's passes were at it.
    pub(super) wall: Duration,
    /// How long its worker was occupied with it.
    pub(super) occupied: Duration,
}

impl Tried {
    /// What the harness could not try.
    pub(super) fn trouble() -> Tried {
        let (wall, occupied) = (Duration::ZERO, Duration::ZERO);
        Tried { judgement: Judgement::Other, wall, occupied }
    }
}

/// Whether time for a program is left, for any thread.
pub(super) type GoOn<'a> = &'a (dyn Fn() -> bool + Sync);

/// A compiler with a known failure, and with the means to try programs on it.
pub(super) trait Compiler {
    /// Tries programs as long as `go_on` allows. The answers are those of the first.
    fn try_all(&mut self, texts: &[Text], go_on: GoOn<'_>) -> Vec<Result<Tried, CompilerError>>;

    /// Which statements of a program are executed. One that cannot be asked is one of
    /// which all may be.
    fn reached(&mut self, program: &Program) -> Result<Option<BTreeSet<usize>>, TriageError>;
}

/// How a file of C becomes one text without directives.
pub(super) trait Preprocessor {
    /// Says also which lines of the file its lines are.
    fn preprocess(&self, file: &Path) -> Result<(String, Lines), CompilerError>;

    /// What there is to be compiled; `None` if it is no program.
    fn text(&self, text: &Text) -> Result<Option<String>, CompilerError> {
        match text {
            Text::Ready(text) => Ok(Some(text.clone())),
            Text::File(file) => preprocessed(self.preprocess(file)),
            // csmith does not find an end for every seed.
            Text::Csmith(seed) => {
                let folder = Workdir::new()?;
                let file = folder.file("generated.c");
                match csmith::generate(*seed, &csmith::SMALL_PROGRAMS, &file) {
                    Ok(()) => preprocessed(self.preprocess(&file)),
                    Err(CompilerError::ToolFailed { .. }) => Ok(None),
                    Err(error) => Err(error),
                }
            }
        }
    }
}

/// A text, `None` if it is no program; what else can go wrong is not its fault.
pub(super) fn preprocessed<T>(
    text: Result<(String, T), CompilerError>,
) -> Result<Option<String>, CompilerError> {
    match text {
        Ok((text, _)) => Ok(Some(text)),
        Err(
            CompilerError::DoesNotCompile { .. }
            | CompilerError::UnknownLanguage(_)
            | CompilerError::UnreadableProgram { .. },
        ) => Ok(None),
        Err(error) => Err(error),
    }
}
