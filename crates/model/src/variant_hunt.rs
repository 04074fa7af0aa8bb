//! What only a hunt with variants of programs (equivalence modulo inputs) has.
//!
//! **Invariant:** errors of our own stand apart from findings; nothing counts as
//! both.

use serde::{Deserialize, Serialize};

/// What a hunt with variants did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VariantHunt {
    /// What decided everything, besides seed and source.
    pub settings: VariantSettings,
    /// How many variants were derived, valid and tested, by strategy.
    pub variants: Vec<StrategyCount>,
    /// What came of the tests, by compiler and level.
    pub tallies: Vec<CompilerTally>,
    /// Variants that were not equivalent to their base program: errors of our
    /// own, each in words.
    pub errors: Vec<VariantError>,
}

/// What decides everything about a hunt with variants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariantSettings {
    /// `hermes`, `athena`, `orion`.
    pub strategies: Vec<String>,
    /// The compilers as they were named, with their versions.
    pub compilers: Vec<(String, String)>,
    /// `O0`, `O1`...
    pub levels: Vec<String>,
    /// How many variants each base program has.
    pub variants: u64,
    /// Who says that variants are equivalent, in words.
    pub judges: Vec<String>,
    /// What was broken in an LLVM on purpose.
    pub fault: Option<String>,
}

/// What one strategy made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StrategyCount {
    /// Its name.
    pub strategy: String,
    /// Variants that were tested.
    pub variants: u64,
    /// Snippets in them that were new.
    pub snippets: u64,
    /// How often it could not make one.
    pub nothing: u64,
    /// Variants that were not equivalent: errors of our own.
    pub errors: u64,
}

/// What one compiler did at one level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompilerTally {
    /// As it was named.
    pub compiler: String,
    /// `O2`.
    pub level: String,
    /// How often each outcome was seen, by its name.
    pub outcomes: Vec<(String, u64)>,
}

/// An error of our own: a variant that is not equivalent to its base program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariantError {
    /// Who made it.
    pub strategy: String,
    /// Which check it does not pass, and how.
    pub what: String,
    /// The base program's name.
    pub program: String,
    /// Which of its variants.
    pub generation: u64,
    /// Its text, in the campaign's folder.
    pub file: String,
}

/// The variant that makes a compiler fail.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VariantTrigger {
    /// The compiler as it was named.
    pub compiler: String,
    /// The level of the case.
    pub level: String,
    /// Who made the variant; `None` where the base program itself shows it.
    pub strategy: Option<String>,
    /// Which variant of its base program; 0 is the base program.
    pub generation: u64,
    /// The kinds of snippets that it needs, each once; none where it needs none.
    pub snippets: Vec<String>,
    /// How many snippets it needs.
    pub n_needed: u64,
    /// How many the variant had.
    pub n_snippets: u64,
    /// How much C the case's program is.
    pub bytes: u64,
}
