//! What came of measuring variants of programs.

use serde::{Deserialize, Serialize};

use crate::EmiError;

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub struct EmiBench {
    /// Goes up when a field changes its meaning or disappears.
    pub version: u32,
    /// How many seeds were used.
    pub seeds: u64,
    /// How many were not, for want of a profile and the like.
    pub unsuited: u64,
    /// How many variants of each were asked for.
    pub variants: u64,
    /// Where the random numbers start.
    pub seed: u64,
    /// Where seeds come from, in words.
    pub source: String,
    /// Who says that variants are equivalent, in words.
    pub judges: Vec<String>,
    /// By strategy.
    pub strategies: Vec<EmiBenchStrategy>,
    /// What of a compiler was executed, if that was asked for.
    pub coverage: Option<EmiBenchCoverage>,
    /// Variants that are not equivalent to their seeds.
    pub errors: Vec<EmiError>,
    /// Whether somebody ended it early.
    pub interrupted: bool,
}

/// One strategy's figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EmiBenchStrategy {
    pub strategy: String,
    /// Variants that are equivalent to their seeds.
    pub variants: u64,
    /// How often it made none.
    pub nothing: u64,
    /// Variants that are not equivalent.
    pub errors: u64,
    /// Variants that a judge's compiler fell over.
    pub undecided: u64,
    /// New snippets in all variants that are equivalent.
    pub snippets: u64,
    /// Seconds for making variants: reading, profiling, synthesis.
    pub deriving: f64,
    /// The longest that one took.
    pub longest: f64,
    /// Seconds for judging them.
    pub judging: f64,
}

/// How much of a compiler was executed.
#[derive(Clone, Debug, Serialize)]
pub struct EmiBenchCoverage {
    /// `19.1.7`.
    pub llvm: String,
    pub n_blocks: u64,
    /// By all seeds at all levels.
    pub seeds: u64,
    /// By strategy.
    pub gained: Vec<EmiBenchGain>,
}

/// What variants add to their seeds.
#[derive(Clone, Debug, Serialize)]
pub struct EmiBenchGain {
    pub strategy: String,
    /// Blocks by seeds and one variant of each, two of each, and so on.
    pub blocks: Vec<u64>,
}
