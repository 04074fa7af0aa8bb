//! What a hunt is told to do. The recipe decides everything and is kept in the
//! campaign; the rest is about one session.

use std::path::PathBuf;
use std::time::Duration;

use optsleuth_model::Trust;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A hunt by a recipe.
#[derive(Clone, Debug)]
pub struct HuntPlan<Recipe> {
    /// What is to be done.
    pub start: HuntStart<Recipe>,
    /// The campaign's folder.
    pub folder: PathBuf,
    /// Whether a campaign that is resumed may name compilers by their paths.
    pub trust: Trust,
    /// When to end, whichever comes first.
    pub stop: HuntStop,
    /// How long programs of findings are made smaller.
    pub reduce: Option<Duration>,
    /// The optsleuth binary that external reducers call back.
    pub callback_binary: PathBuf,
}

/// What decides everything about a hunt, and is read from its campaign when that is
/// resumed.
pub trait Recipe: Clone + Serialize + DeserializeOwned {
    /// Programs that it names by their paths, which a campaign of another user may
    /// not do.
    fn programs_by_path(&self) -> Vec<String>;
}

/// Where a hunt begins.
#[derive(Clone, Debug)]
pub enum HuntStart<Recipe> {
    /// In a folder without a campaign.
    New(Box<Recipe>),
    /// Where the campaign of that folder ended.
    Resume,
}

/// When a hunt ends. What is found by then is examined all the same.
#[derive(Clone, Copy, Debug, Default)]
pub struct HuntStop {
    /// After so much time, in this session.
    pub budget: Option<Duration>,
    /// After so many tests, in the whole campaign. A base program that is begun
    /// before is tested with all of its variants.
    pub tests: Option<u64>,
}
