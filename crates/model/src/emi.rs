//! A campaign of variants (equivalence modulo inputs): what was tested, with
//! which compilers, and what was found.
//!
//! **Invariant:** errors of our own stand apart from findings; nothing counts as
//! both.

use serde::{Deserialize, Serialize};

use crate::CaseKind;

/// The version of such campaigns, in their store and as JSON.
pub const EMI_CAMPAIGN_VERSION: i64 = 1;

/// A hunt with variants of programs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EmiCampaign {
    /// [`EMI_CAMPAIGN_VERSION`].
    pub version: i64,
    /// How many compilations and executions were judged.
    pub tests: u64,
    /// What was found, in the order in which it was.
    pub findings: Vec<EmiFinding>,
    pub settings: EmiSettings,
    /// How many seed programs were tested.
    pub seeds: u64,
    /// How many variants were derived, valid and tested, by strategy.
    pub variants: Vec<StrategyCount>,
    /// What came of the tests, by compiler and level.
    pub tallies: Vec<EmiTally>,
    /// How many programs were not used as seeds, by reason.
    pub rejected: Vec<(String, u64)>,
    /// Variants that were not equivalent to their seed: errors of our own, the
    /// first of them in words.
    pub errors: Vec<EmiError>,
    /// What deviated and is no finding, by reason.
    pub dismissed: Vec<(String, u64)>,
    /// How it went on.
    pub growth: Vec<EmiGrowth>,
    /// How many basic blocks the LLVM has whose coverage is measured; 0 where
    /// none is.
    pub n_blocks: u64,
    /// How long it took, without the time between two sessions.
    pub seconds: f64,
    /// How many cores worked on it.
    pub workers: u64,
    /// What is to be known about this machine, in sentences.
    pub notes: Vec<String>,
}

/// What decides everything about such a hunt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmiSettings {
    /// Where the random numbers start.
    pub seed: u64,
    /// `hermes`, `athena`, `orion`.
    pub strategies: Vec<String>,
    /// The compilers as they were named, with their versions.
    pub compilers: Vec<(String, String)>,
    /// `O0`, `O1`...
    pub levels: Vec<String>,
    /// How many variants each seed has.
    pub variants: u64,
    /// Where seeds come from, in words.
    pub source: String,
    /// Who says that variants are equivalent, in words.
    pub judges: Vec<String>,
    /// What was broken in an LLVM on purpose.
    pub fault: Option<String>,
}

/// What one strategy made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StrategyCount {
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
pub struct EmiTally {
    /// As it was named.
    pub compiler: String,
    /// `O2`.
    pub level: String,
    /// How often each outcome was seen, by its name.
    pub outcomes: Vec<(String, u64)>,
}

/// An error of our own: a variant that is not equivalent to its seed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmiError {
    pub strategy: String,
    /// Which check it does not pass, and how.
    pub what: String,
    /// The seed's name.
    pub program: String,
    /// Which of its variants.
    pub generation: u64,
    /// Its text, in the campaign's folder.
    pub file: String,
}

/// One bug, as far as can be told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EmiFinding {
    /// Counted from 1, and the start of its folder's name.
    pub number: u64,
    /// The case's folder, inside the campaign's.
    pub case: String,
    /// The compiler as it was named.
    pub compiler: String,
    pub kind: CaseKind,
    /// The level of the case.
    pub level: String,
    /// All levels at which the same variant fails in the same way.
    pub levels: Vec<String>,
    /// What tells it from others: a crash's signature, a guilty pass.
    pub signature: String,
    /// What happens, in one line.
    pub what: String,
    /// Who made the variant; nobody where the seed itself shows it.
    pub strategy: Option<String>,
    /// Which variant of its seed; 0 is the seed.
    pub generation: u64,
    /// The kinds of snippets that it needs, each once; none where it needs none.
    pub snippets: Vec<String>,
    /// How many snippets it needs.
    pub n_needed: u64,
    /// How many the variant had.
    pub n_snippets: u64,
    /// The seed's name.
    pub program: String,
    /// The test that showed it first: counted from 1.
    pub test: u64,
    /// Seconds of the campaign until then.
    pub seconds: f64,
    /// How many more tests failed like it.
    pub duplicates: u64,
    /// Whether tools that are not ours fail, too.
    pub confirmed: bool,
    /// The guilty invocation, where there is one to be found.
    pub guilty: Option<String>,
    /// How much C the case's program is.
    pub bytes: u64,
}

/// How far a hunt was at some time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EmiGrowth {
    /// Since the beginning.
    pub seconds: f64,
    /// Variants until then, seeds not among them.
    pub variants: u64,
    /// Tests until then.
    pub tests: u64,
    /// Findings until then.
    pub findings: u64,
    /// Basic blocks of the compiler that were executed until then.
    pub blocks: u64,
}
