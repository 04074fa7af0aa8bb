//! What `optsleuth run` and `optsleuth cov` find out.

use std::time::Duration;

use crate::{CodeMap, Confirmation, Coverage, Invocation, Outcome, PassSequence, RunResult};

#[derive(Clone, Debug)]
pub struct RunReport {
    /// `19.1.7`.
    pub llvm: String,
    /// As LLVM got them.
    pub passes: PassSequence,
    /// The first run, with the module as text.
    pub result: RunResult,
    /// The others, if there were any.
    pub repetition: Option<Repetition>,
    /// What the distribution's tools say, if they were asked.
    pub confirmation: Option<Confirmation>,
}

/// Many runs of the same.
#[derive(Clone, Debug)]
pub struct Repetition {
    pub runs: usize,
    /// The middle one's time.
    pub median: Duration,
    /// How many came to something else than the first, in outcome or module.
    pub n_different: usize,
    pub other: Option<Outcome>,
}

/// What one run executed.
#[derive(Clone, Debug)]
pub struct CovRun {
    /// As LLVM got them.
    pub passes: PassSequence,
    /// How the run ended; coverage is there whatever it was.
    pub outcome: Outcome,
    /// The blocks of the whole run.
    pub coverage: Coverage,
    /// Those of the window, and the invocations in it.
    pub window: Option<(Coverage, Vec<Invocation>)>,
}

/// All runs, and what their blocks are.
#[derive(Clone, Debug)]
pub struct CovReport {
    /// `19.1.7`.
    pub llvm: String,
    /// Leads from blocks to functions and files.
    pub map: CodeMap,
    /// In the order of the plan's passes.
    pub runs: Vec<CovRun>,
}
