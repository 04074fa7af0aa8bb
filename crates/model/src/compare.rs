//! What came of comparing ways to hunt.

use serde::Serialize;

use crate::SequenceChoice;

#[derive(Clone, Debug, Serialize)]
pub struct ComparedRun {
    pub strategy: SequenceChoice,
    pub seed: u64,
    /// How many tests it made.
    pub tests: u64,
    pub programs: u64,
    pub seconds: f64,
    /// How many basic blocks of the compiler it executed.
    pub blocks: u64,
    /// The bugs it found: kind, last pass, signature.
    pub bugs: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// `14.0.6`.
    pub llvm: String,
    /// All runs, by seed and strategy.
    pub runs: Vec<ComparedRun>,
    /// How many blocks this LLVM has.
    pub n_blocks: u64,
    /// Whether the user ended it early.
    pub interrupted: bool,
}
