//! What counts as the same failure, and what can be tried in its place. Plain
//! data: nothing is run here.

use std::time::Duration;

use optsleuth_case::definedness::Promises;
use optsleuth_case::oracle::{Oracle, Verdict};
use optsleuth_model::{
    CaseKind, Edit, Execution, Limits, Outcome, PassSequence, ProgramEnd, RunRequest,
};

/// What counts as the same failure.
#[derive(Clone, Debug)]
pub struct Question {
    /// The failing run.
    pub request: RunRequest,
    /// What the failing run itself may use; candidates may get less.
    full_limits: Limits,
    /// LLVM options that every program is loaded under.
    pub options: Vec<String>,
    /// Knows the failure.
    pub oracle: Oracle,
    /// How a wrong program ends.
    pub(super) manner: Option<Manner>,
    /// Whether the program keeps what IR demands of it, so that its descendants
    /// can be held to it; and how long that takes.
    pub(super) promises: Option<Promises>,
}

/// In which way a program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    Exits,
    Signal,
    Limit,
}

impl Manner {
    pub(super) fn of(execution: &Execution) -> Manner {
        match execution.end {
            ProgramEnd::Exited(_) => Manner::Exits,
            ProgramEnd::Signaled(_) => Manner::Signal,
            ProgramEnd::Timeout
            | ProgramEnd::OutOfMemory
            | ProgramEnd::OutputLimit
            | ProgramEnd::ThreadLimit => Manner::Limit,
        }
    }
}

/// One thing to try.
#[derive(Clone, Debug)]
pub enum Candidate {
    /// Other passes.
    Passes(PassSequence),
    /// The loaded program, edited.
    Edited(Edit),
    /// The text of another module, to be loaded.
    Ir(String),
    /// The text of a C program, to be compiled and loaded.
    Source(String),
}

impl Question {
    /// What fails as `first` does, which is the outcome of `request`.
    pub fn new(
        request: RunRequest,
        options: &[String],
        oracle: Oracle,
        first: &Outcome,
    ) -> Question {
        let manner = match (oracle.kind(), first) {
            (CaseKind::WrongCode, Outcome::Ok(Some(execution))) => Some(Manner::of(execution)),
            _ => None,
        };
        let oracle = oracle.like(first);
        let (full_limits, options) = (request.limits, options.to_vec());
        Question { request, full_limits, options, oracle, manner, promises: None }
    }

    /// Whether the program keeps what IR demands of it.
    pub fn keeps_promises(&self) -> bool {
        self.promises.is_some()
    }

    /// A hang's candidates get less time than the hang itself got.
    pub fn hang_within(&mut self, time: Duration) {
        if self.oracle.kind() == CaseKind::Hang {
            self.request.limits.compile = self.request.limits.compile.min(time);
        }
    }

    /// The same question with all the time of the failing run.
    pub(super) fn unhurried(&self) -> Question {
        let request = RunRequest { limits: self.full_limits, ..self.request.clone() };
        Question { request, ..self.clone() }
    }

    /// Whether a run fails as the case does, by what this oracle knows.
    pub(super) fn is_failure(&self, oracle: &Oracle, outcome: &Outcome) -> bool {
        let same_manner = match (self.manner, outcome) {
            (Some(manner), Outcome::Ok(Some(execution))) => Manner::of(execution) == manner,
            (Some(_), _) => false,
            (None, _) => true,
        };
        same_manner && oracle.judge(outcome) == Verdict::Fails
    }
}
