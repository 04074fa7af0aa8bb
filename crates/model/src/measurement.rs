//! How one method did on one case with one seed: what `optsleuth bench` keeps,
//! one JSON file each, and makes all its tables of. Plain data.
//!
//! **Invariant:** ranks are of culprits in the order in which the case names
//! them. No time is in here unless time was the budget: then the same seed
//! gives the same bytes.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{HistoryEntry, ProgramCounts};

/// The number in `version`; goes up when a field changes its meaning.
pub const MEASUREMENT_VERSION: u32 = 1;

/// One method on one case with one seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// [`MEASUREMENT_VERSION`].
    pub version: u32,
    /// The case's folder, by its name.
    pub case: String,
    /// `crash`, `wrong-code` and so on.
    pub kind: String,
    /// How well the culprits are known, in the case's word.
    pub confidence: Option<String>,
    /// Parts of the compiler that the culprits are in, as the case names them.
    pub components: Vec<String>,
    /// `19.1.7`.
    pub llvm: String,
    /// `locseq` and so on.
    pub method: String,
    /// Where the random numbers came from. A method without chance has the
    /// first seed only.
    pub seed: u64,
    /// What the search was given.
    pub budget: Budget,
    /// Stands for the case's text and program, its LLVM and the limits of its
    /// runs: what was measured under another one is about something else.
    pub setup: String,
    /// How many candidates were run.
    pub runs: usize,
    /// How many of them were witnesses. Without any, all suspects tie.
    pub witnesses: usize,
    /// How many failed as the case does.
    pub failing: usize,
    /// How many did something else, and count as neither.
    pub discarded: usize,
    /// What became of programs that are no witnesses, where programs were tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub programs: Option<ProgramCounts>,
    /// How long the search took; `None` where only the number of runs ended it.
    pub seconds: Option<f64>,
    /// The best witness's similarity; 0 if there is none.
    pub best_similarity: f64,
    /// Who is sought, and among how many.
    pub files: Sought,
    /// Who is sought, and among how many.
    pub functions: Sought,
    /// The method's own ranking first, then others of the same runs.
    pub rankings: Vec<RankedTruth>,
    /// The most suspect files of the method's own ranking.
    pub top_files: Vec<String>,
    /// The most suspect functions of the method's own ranking.
    pub top_functions: Vec<String>,
    /// How the search went.
    pub history: Vec<HistoryEntry>,
}

/// What a search was given; the first to be used up ends it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// So many runs.
    pub runs: Option<usize>,
    /// So many seconds.
    pub seconds: Option<f64>,
}

/// The true culprits, and how many suspects they are among.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sought {
    /// As the case names them; none where it names none.
    pub culprits: Vec<String>,
    pub suspects: usize,
}

/// Where a ranking has the true culprits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankedTruth {
    /// How the ranking was made.
    pub recipe: RecipeName,
    /// The rank of each true file; `None` if it is not among the suspects.
    pub files: Vec<Option<usize>>,
    /// The rank of each true function; `None` if it is not among the suspects.
    pub functions: Vec<Option<usize>>,
}

/// How a ranking was made, in words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RecipeName {
    /// `ochiai` and so on; for a method without spectrum, its own name.
    pub formula: String,
    /// `mean` and so on; empty for a method without spectrum.
    pub aggregation: String,
    /// `equal` or `similarity`; empty for a method without spectrum.
    pub weights: String,
}

/// A case that could not be measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unmeasured {
    /// The case's folder, by its name.
    pub case: String,
    /// The method and seed, where only that one could not be measured.
    pub search: Option<(String, u64)>,
    /// Why not, in words.
    pub why: String,
}

impl Measurement {
    /// The method's own ranking.
    pub fn own(&self) -> Option<&RankedTruth> {
        self.rankings.first()
    }

    /// Whether the culprits are known, not only guessed from the pass.
    pub fn is_firm(&self) -> bool {
        self.confidence.as_deref() != Some("weak")
    }
}

/// What a bench has found, this time and before.
#[derive(Clone, Debug)]
pub struct Benched {
    /// By case, then in the order of methods, then of seeds.
    pub measurements: Vec<Measurement>,
    /// What could not be measured, by case.
    pub unmeasured: Vec<Unmeasured>,
    /// Whether the user ended it early.
    pub interrupted: bool,
}

/// What a bench would do.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlook {
    /// The cases, by name.
    pub cases: Vec<String>,
    /// Every case with every method and seed.
    pub searches: usize,
    /// How many of them are there already.
    pub done: usize,
    /// How long the others take, if each uses up its time; `None` where time
    /// has no say. Setting up comes on top.
    pub time: Option<Duration>,
    /// How many cases at the same time.
    pub lanes: usize,
}
