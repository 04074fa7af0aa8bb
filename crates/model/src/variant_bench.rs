//! What came of measuring variants of programs.

use serde::{Deserialize, Serialize};

use crate::VariantError;

/// The version of its JSON. 3: `programs` is what `seeds` was.
pub const VARIANT_BENCH_VERSION: u32 = 3;

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub struct VariantBench {
    /// [`VARIANT_BENCH_VERSION`].
    pub version: u32,
    /// How many base programs were used.
    pub programs: u64,
    /// How many were not, for want of a profile and the like.
    pub unsuited: u64,
    /// How many variants of each were asked for.
    pub variants: u64,
    /// Where the random numbers start.
    pub seed: u64,
    /// Where base programs come from, in words.
    pub source: String,
    /// Who says that variants are equivalent, in words.
    pub judges: Vec<String>,
    /// By strategy.
    pub strategies: Vec<VariantBenchStrategy>,
    /// What of a compiler was executed, if that was asked for.
    pub coverage: Option<VariantBenchCoverage>,
    /// Variants that are not equivalent to their base programs.
    pub errors: Vec<VariantError>,
    /// Whether it was interrupted.
    pub interrupted: bool,
}

/// One strategy's figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VariantBenchStrategy {
    pub strategy: String,
    /// Variants that are equivalent to their base programs.
    pub variants: u64,
    /// How often it made none.
    pub nothing: u64,
    /// Variants that are not equivalent.
    pub errors: u64,
    /// Variants on which a judge's compiler crashed.
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
pub struct VariantBenchCoverage {
    /// `19.1.7`.
    pub llvm: String,
    pub n_blocks: u64,
    /// By all base programs at all levels.
    pub programs: u64,
    /// By strategy.
    pub gained: Vec<VariantBenchGain>,
}

/// What variants add to their base programs.
#[derive(Clone, Debug, Serialize)]
pub struct VariantBenchGain {
    /// Who made them.
    pub strategy: String,
    /// Blocks by base programs and one variant of each, two of each, and so on.
    pub blocks: Vec<u64>,
}
