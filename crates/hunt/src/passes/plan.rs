//! What a hunt is told to do. The recipe decides everything and is kept in the
//! campaign; the rest is about one session.

use std::path::PathBuf;
use std::time::Duration;

use optsleuth_case::workers::LlvmChoice;
use optsleuth_model::{Exclusion, SequenceChoice};
use serde::{Deserialize, Serialize};

use super::choice::PassChoice;
use super::round::ProgramSelection;
use crate::programs::ProgramPlan;

/// Everything that decides what a hunt does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HuntRecipe {
    /// The compiler.
    pub llvm: LlvmChoice,
    /// Where the random numbers start.
    pub seed: u64,
    /// How sequences are chosen.
    pub sequences: SequenceChoice,
    /// How programs are chosen.
    pub selection: ProgramSelection,
    /// Where programs come from.
    pub programs: ProgramPlan,
    /// What sequences are made of.
    pub passes: PassChoice,
    /// The fewest and the most passes of a sequence.
    pub length: (usize, usize),
    /// How many sequences are drawn in a round, and how many of them are used.
    pub sequence_pool: (usize, usize),
    /// How many programs are made in a round, and how many of them are used.
    pub program_pool: (usize, usize),
    /// Passes that may not follow each other.
    pub exclusions: Vec<Exclusion>,
    /// Learn more of these from findings with many duplicates.
    pub auto_exclude: bool,
    /// Which part of how many. The first is 1.
    pub shard: (u64, u64),
    /// One test in so many also says what of the compiler it executed.
    pub coverage_every: u64,
}

/// Where a hunt begins.
#[derive(Clone, Debug)]
pub enum HuntStart {
    /// In a folder without a campaign.
    New(Box<HuntRecipe>),
    /// Where the campaign of that folder ended.
    Resume,
}

/// A hunt.
#[derive(Clone, Debug)]
pub struct HuntPlan {
    /// What is to be done.
    pub start: HuntStart,
    /// The campaign's folder.
    pub folder: PathBuf,
    /// When to end, whichever comes first.
    pub stop: HuntStop,
    /// How long programs of findings are made smaller.
    pub reduce: Option<Duration>,
    /// The program that other reducers' tests start: `optsleuth` itself.
    pub asker: PathBuf,
}

/// When a hunt ends. What is found by then is looked into all the same.
#[derive(Clone, Copy, Debug, Default)]
pub struct HuntStop {
    /// After so much time, in this session.
    pub budget: Option<Duration>,
    /// After so many tests, in the whole campaign.
    pub tests: Option<u64>,
}
