//! A worker that tries candidates, and the account of what was tried.
//!
//! **Invariant:** what the harness could not run does not count as failing.

use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};

use optsleuth_case::CaseError;
use optsleuth_compiler::CompilerError;
use optsleuth_compiler::llvm::Worker;
use optsleuth_model::{Limits, Program, RunRequest, RunResult};

use super::question::Question;
use crate::TriageError;

/// Every hang costs all of its time; after so many of them nothing more is
/// tried.
const MOST_HANGS: usize = 60;
/// So many runs that the harness could not make are too many.
const MOST_TROUBLES: usize = 20;

/// A worker, and beside it one without the fault where the case has one. Both
/// have the same program loaded.
pub struct Lane<'a> {
    pub(super) worker: &'a mut Worker,
    pub(super) unmodified: Option<&'a mut Worker>,
}

/// What was done so far.
#[derive(Debug, Default)]
pub(super) struct Tally {
    runs: AtomicUsize,
    hangs: AtomicUsize,
    troubles: AtomicUsize,
}

impl Lane<'_> {
    /// The worker that says what a program should do: a compiler with a fault
    /// is not asked, because its code generator may have it, too.
    pub(super) fn reference(&mut self) -> &mut Worker {
        match &mut self.unmodified {
            Some(worker) => worker,
            None => self.worker,
        }
    }

    /// Loads another program; `false` if that cannot be had.
    pub(super) fn takes(
        &mut self,
        program: &Program,
        question: &Question,
        tally: &Tally,
    ) -> Result<bool, TriageError> {
        Ok(tally.answer(self.load(program, question))?.is_some())
    }

    pub(super) fn load(
        &mut self,
        program: &Program,
        question: &Question,
    ) -> Result<(), CompilerError> {
        let limits = Limits::STANDARD;
        self.worker.load(program, &question.options, limits)?;
        match &mut self.unmodified {
            Some(worker) => worker.load(program, &question.options, limits),
            None => Ok(()),
        }
    }
}

impl Tally {
    /// The result of a run; `None` if there is none because of the candidate.
    pub(super) fn run(
        &self,
        worker: &mut Worker,
        request: &RunRequest,
    ) -> Result<Option<RunResult>, TriageError> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        self.answer(worker.run(request))
    }

    fn answer<T>(&self, result: Result<T, CompilerError>) -> Result<Option<T>, TriageError> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(CompilerError::BadEdit(_) | CompilerError::BadPipeline(_)) => Ok(None),
            Err(error) if error.is_programs_fault() => Ok(None),
            Err(error @ (CompilerError::Lost { .. } | CompilerError::Trouble(_))) => {
                self.trouble(&error)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The same for what a driver makes of a candidate.
    pub(super) fn tried<T>(
        &self,
        run: impl FnOnce() -> Result<T, TriageError>,
    ) -> Result<Option<T>, TriageError> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        match run() {
            Ok(value) => Ok(Some(value)),
            Err(TriageError::Case(CaseError::Compiler(
                error @ CompilerError::ToolFailed { .. },
            ))) => self.trouble(&error),
            Err(TriageError::Case(CaseError::Compiler(error))) => self.answer(Err(error)),
            Err(error) => Err(error),
        }
    }

    /// A candidate that could not be run: it does not count, unless there are
    /// too many.
    fn trouble<T>(&self, error: &dyn Error) -> Result<Option<T>, TriageError> {
        tracing::warn!(%error, "a candidate could not be run");
        match self.troubles.fetch_add(1, Ordering::Relaxed) {
            n if n >= MOST_TROUBLES => Err(TriageError::Troubled(n)),
            _ => Ok(None),
        }
    }

    pub(super) fn has_hung_enough(&self) -> bool {
        self.hangs.load(Ordering::Relaxed) >= MOST_HANGS
    }

    /// How many runs were made.
    pub(super) fn n_runs(&self) -> usize {
        self.runs.load(Ordering::Relaxed)
    }

    pub(super) fn add_hang(&self) {
        self.hangs.fetch_add(1, Ordering::Relaxed);
    }
}
