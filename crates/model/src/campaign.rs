//! A campaign: what a hunt did, and what it found.

use serde::{Deserialize, Serialize};

use crate::CaseKind;

/// The version of campaigns, in their store and as JSON.
pub const CAMPAIGN_VERSION: i64 = 1;

/// A hunt, or several that were merged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Campaign {
    /// [`CAMPAIGN_VERSION`].
    pub version: i64,
    /// `19.1.7`.
    pub llvm: String,
    pub settings: HuntSettings,
    /// How many pairs of program and sequence were run.
    pub tests: u64,
    /// How many rounds were begun.
    pub rounds: u64,
    /// How many programs were tested.
    pub programs: u64,
    /// With how many of them most sequences agree on another behaviour than the
    /// unoptimized program's.
    pub outvoted: u64,
    /// How many cores' worth of workers there were.
    pub workers: u64,
    /// How long it took, without the time between two sessions.
    pub seconds: f64,
    /// How much of that the tests took.
    pub testing_seconds: f64,
    /// How often each outcome was seen, by its name.
    pub outcomes: Vec<(String, u64)>,
    /// How many programs were not used, by reason.
    pub rejected: Vec<(String, u64)>,
    /// What was found, in the order in which it was.
    pub findings: Vec<Finding>,
    /// What deviated and is no finding, by reason.
    pub dismissed: Vec<(String, u64)>,
    /// Passes that were not to follow each other.
    pub exclusions: Vec<Exclusion>,
    /// How it went on.
    pub growth: Vec<Growth>,
    /// How many basic blocks this LLVM has.
    pub n_blocks: u64,
    /// What programs were not checked for, in sentences.
    pub notes: Vec<String>,
}

/// What decides everything about a hunt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HuntSettings {
    /// Where the random numbers start.
    pub seed: u64,
    /// How sequences are chosen: `ctos`, `random`, `pairwise`, `guided`.
    pub sequences: String,
    /// How programs are chosen: `ctos`, `features`, `all`.
    pub selection: String,
    /// Where programs come from, in words.
    pub source: String,
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

/// One bug, as far as can be told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Counted from 1, and the start of its folder's name.
    pub number: u64,
    /// The case's folder, inside the campaign's.
    pub case: String,
    pub kind: CaseKind,
    /// The last pass of the reduced sequence.
    pub pass: String,
    /// What tells it from other failures in that pass.
    pub signature: String,
    /// What happens, in one line.
    pub what: String,
    /// The reduced sequence.
    pub passes: String,
    /// How many passes the sequence had that was tested.
    pub n_passes: usize,
    /// The program's name in the campaign.
    pub program: String,
    /// The test that showed it first: counted from 1.
    pub test: u64,
    /// Seconds of the campaign until then.
    pub seconds: f64,
    /// How many more tests failed like it.
    pub duplicates: u64,
    /// The levels at which the same program fails in the same way: `O1`...
    pub levels: Vec<String>,
    /// Whether all passes of the reduced sequence are run at some level.
    pub default_passes_only: bool,
    /// Whether the distribution's tools fail, too.
    pub confirmed: bool,
    /// The guilty invocation, where it was looked for.
    pub guilty: Option<String>,
    /// How many IR instructions the case's program has.
    pub instructions: usize,
}

/// Passes that may not follow each other, at whatever distance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exclusion {
    /// In the order in which they may not come.
    pub passes: Vec<String>,
    pub reason: String,
    /// The first round it holds for.
    pub from_round: u64,
}

/// How far a hunt was at some time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    /// Since the beginning.
    pub seconds: f64,
    /// Tests until then.
    pub tests: u64,
    /// Findings until then.
    pub findings: u64,
    /// Basic blocks of the compiler that were executed until then.
    pub blocks: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SequenceChoice {
    /// Drawn at random, then those that represent them best.
    Ctos,
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

    /// As on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            SequenceChoice::Ctos => "ctos",
            SequenceChoice::Random => "random",
            SequenceChoice::Pairwise => "pairwise",
            SequenceChoice::Guided => "guided",
        }
    }
}
