//! What decides everything about a hunt with pass sequences; kept in its campaign.

use optsleuth_case::workers::LlvmChoice;
use optsleuth_model::{Exclusion, SequenceChoice};
use serde::{Deserialize, Serialize};

use super::choice::PassChoice;
use crate::campaign::Recipe;
use crate::programs::ProgramPlan;

/// Everything that decides what a hunt with pass sequences does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassRecipe {
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

impl Recipe for PassRecipe {
    fn programs_by_path(&self) -> Vec<String> {
        match &self.llvm {
            LlvmChoice::Config(path) => vec![format!("llvm-config = \"{}\"", path.display())],
            LlvmChoice::Version(_) | LlvmChoice::Newest => Vec::new(),
        }
    }
}

/// How programs are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramSelection {
    /// Those that represent the others best, by control flow and calls.
    Ctos,
    /// The same by counts of what is in them.
    Features,
    /// All that were made.
    All,
}

impl ProgramSelection {
    /// A word.
    pub fn name(self) -> &'static str {
        match self {
            ProgramSelection::Ctos => "ctos",
            ProgramSelection::Features => "features",
            ProgramSelection::All => "all",
        }
    }
}
