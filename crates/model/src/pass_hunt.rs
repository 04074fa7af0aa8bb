//! What only a hunt with pass sequences has.

use serde::{Deserialize, Serialize};

/// What a hunt with pass sequences did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PassHunt {
    /// What decided everything, besides seed and source.
    pub settings: PassSettings,
    /// How many rounds were begun.
    pub rounds: u64,
    /// With how many programs most sequences agree on another behaviour than the
    /// unoptimized program's.
    pub outvoted: u64,
    /// How much of the time the tests took.
    pub testing_seconds: f64,
    /// Passes that were not to follow each other.
    pub exclusions: Vec<Exclusion>,
}

/// What decides everything about a hunt with pass sequences.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassSettings {
    /// `19.1.7`.
    pub llvm: String,
    /// How sequences are chosen: `ctos`, `random`, `pairwise`, `guided`.
    pub sequences: String,
    /// How programs are chosen: `ctos`, `features`, `all`.
    pub selection: String,
    /// The fewest and the most passes of a sequence.
    pub length: (usize, usize),
    /// The passes that sequences are made of.
    pub passes: Vec<String>,
    /// How many sequences are drawn in a round, and how many of them are used.
    pub sequence_pool: (usize, usize),
    /// How many programs are made in a round, and how many of them are used.
    pub program_pool: (usize, usize),
    /// Which part of the campaign: one of how many. The first is 1.
    pub shard: (u64, u64),
    /// Whether exclusions are learnt from duplicates.
    pub auto_exclude: bool,
}

/// The pass sequence that makes LLVM fail.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PassTrigger {
    /// The reduced sequence.
    pub passes: String,
    /// How many passes the sequence had that was tested.
    pub n_passes: usize,
    /// Whether all passes of the reduced sequence are run at some level.
    pub default_passes_only: bool,
    /// How many IR instructions the case's program has.
    pub instructions: usize,
}

/// Passes that may not follow each other, at whatever distance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exclusion {
    /// In the order in which they may not come.
    pub passes: Vec<String>,
    /// Why not.
    pub reason: String,
    /// The first round it holds for.
    pub from_round: u64,
}

/// How sequences are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SequenceChoice {
    /// Drawn at random, then those that represent them best.
    Ctos,
    /// Drawn at random.
    Random,
    /// Rows of a covering array: any two passes at any two places.
    Pairwise,
    /// Varied from those that reached new parts of the compiler.
    Guided,
}

impl SequenceChoice {
    /// All of them, in the order in which they are compared.
    pub const ALL: [SequenceChoice; 4] = [
        SequenceChoice::Ctos,
        SequenceChoice::Random,
        SequenceChoice::Pairwise,
        SequenceChoice::Guided,
    ];

    /// A word.
    pub fn name(self) -> &'static str {
        match self {
            SequenceChoice::Ctos => "ctos",
            SequenceChoice::Random => "random",
            SequenceChoice::Pairwise => "pairwise",
            SequenceChoice::Guided => "guided",
        }
    }
}
