//! A campaign: what a hunt did, and what it found.
//!
//! What both kinds of hunts have in common is here; what only one has is in
//! `pass_hunt` and `variant_hunt`.

use serde::{Deserialize, Serialize};

use crate::CaseKind;
use crate::pass_hunt::{PassHunt, PassTrigger};
use crate::variant_hunt::{VariantHunt, VariantTrigger};

/// The version of campaigns, in their store and as JSON.
///
/// 2: both kinds of campaigns have one form. `hunt` says which kind it is, `seed`
/// and `source` are no longer inside `settings`, `llvm` is; for variants,
/// `programs` is what `seeds` was, and `growth` has no `variants`.
pub const CAMPAIGN_VERSION: i64 = 2;

/// A hunt, or several that were merged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Campaign {
    /// [`CAMPAIGN_VERSION`].
    pub version: i64,
    /// How many runs were compared with what they should do.
    pub tests: u64,
    /// What was found, in the order in which it was.
    pub findings: Vec<Finding>,
    /// Where the random numbers start.
    pub seed: u64,
    /// Where programs come from, in words.
    pub source: String,
    /// How many programs were tested; variants of them do not count.
    pub programs: u64,
    /// How often each outcome was seen, by its name.
    pub outcomes: Vec<(String, u64)>,
    /// How many programs were not used, by reason.
    pub rejected: Vec<(String, u64)>,
    /// What deviated and is no finding, by reason.
    pub dismissed: Vec<(String, u64)>,
    /// How it went on.
    pub growth: Vec<Growth>,
    /// How many basic blocks the LLVM has whose coverage is measured; 0 where
    /// none is.
    pub n_blocks: u64,
    /// How long it took, without the time between two sessions.
    pub seconds: f64,
    /// How many cores worked on it.
    pub workers: u64,
    /// What is to be known about this machine, in sentences.
    pub notes: Vec<String>,
    /// What was hunted with.
    #[serde(flatten)]
    pub hunt: Hunt,
}

/// What a campaign hunts with; `hunt` in JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "hunt", rename_all = "kebab-case")]
pub enum Hunt {
    /// Programs and pass sequences.
    Passes(PassHunt),
    /// Variants of programs.
    Variants(VariantHunt),
}

/// One bug, as far as can be told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Counted from 1, and the start of its folder's name.
    pub number: u64,
    /// The case's folder, inside the campaign's.
    pub case: String,
    pub kind: CaseKind,
    /// The pass that is to blame, where one is known.
    pub pass: Option<String>,
    /// What tells it from other failures in that pass, or of that compiler.
    pub signature: String,
    /// What happens, in one line.
    pub what: String,
    /// The levels at which the same program fails in the same way: `O1`...
    pub levels: Vec<String>,
    /// The program's name in the campaign.
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
    /// What makes the compiler fail.
    #[serde(flatten)]
    pub trigger: Trigger,
}

/// What makes a compiler fail. The campaign says which of the two its findings
/// have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Trigger {
    /// A pass sequence.
    Passes(PassTrigger),
    /// Snippets of a variant.
    Variant(VariantTrigger),
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
