//! Does a program keep what its IR demands? For programs that are many: the
//! referee with few steps, and where it has no verdict the checks of
//! `worker/guard.cpp`, which see less and take no time.

use optsleuth_compiler::CompilerError;
use optsleuth_compiler::llvm::Worker;
use optsleuth_model::{
    Edit, Execution, Interpret, Interpretation, Limits, Objection, ObjectionKind, Ruling,
    RunRequest,
};

use super::executions::executed;
use super::referee::{in_words, same_end};
use super::ways::GUARDED;

/// How long the referee is listened to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promises {
    /// Instructions that it interprets at most.
    pub steps: u64,
}

/// A program that keeps its promises, and who says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// The referee, after so many steps.
    ByReferee { steps: u64 },
    /// The guard.
    ByGuard,
}

impl Kept {
    /// What a smaller program of the same kind may take.
    pub fn for_descendants(self) -> Promises {
        match self {
            Kept::ByReferee { steps } => Promises { steps: 2 * steps + LEAST },
            // It gives up early, or never ends.
            Kept::ByGuard => Promises { steps: LEAST },
        }
    }
}

/// Some milliseconds.
const LEAST: u64 = 100_000;

impl Promises {
    /// What is to be said of the loaded program, or an edit of it, which does what
    /// is `expected` by itself.
    pub fn kept(
        self,
        worker: &mut Worker,
        edit: Option<&Edit>,
        expected: &Execution,
        limits: Limits,
    ) -> Result<Result<Kept, Objection>, CompilerError> {
        let interpret = Some(Interpret { steps: self.steps, ..Interpret::main() });
        let request =
            RunRequest { edit: edit.cloned(), interpret, limits, ..RunRequest::new(None) };
        let said = worker.run(&request)?.interpretation;
        if let Some(Interpretation { ruling: Ruling::Undefined { end, history }, .. }) = &said {
            let what = in_words(end, history);
            return Ok(Err(Objection::new(ObjectionKind::Undefined, what)));
        }
        if let Some(said) = said.filter(|said| same_end(said, expected)) {
            return Ok(Ok(Kept::ByReferee { steps: said.n_steps }));
        }
        let outcome = worker.run(&GUARDED.request(edit, limits))?.outcome;
        Ok(executed(&GUARDED, outcome, Some(expected)).map(|_| Kept::ByGuard))
    }
}
