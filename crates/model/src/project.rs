//! What a search in a whole project found: which of its units, and which functions in
//! them, make its check fail because they are optimized.

use serde::{Deserialize, Serialize};

use crate::Answer;

/// Of the JSON form.
pub const PROJECT_VERSION: u32 = 1;

/// Guilty code of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProjectFinding {
    pub version: u32,
    /// Where it was built.
    pub project: String,
    /// The user's check.
    pub check: String,
    /// How it fails.
    pub what: String,
    /// How many units the project has.
    pub n_units: usize,
    /// With these optimized, and no others, it fails. None of them can be left out.
    pub units: Vec<GuiltyUnit>,
    /// Further sets that fail without those.
    pub several: Vec<Vec<String>>,
    /// What sanitizers say about the guilty units: the first thing to look at.
    pub sanitizers: Option<SanitizerWord>,
    /// Whether they could be asked, and what they said, as cases keep it.
    pub asked: Answer,
    /// How many links and checks it took.
    pub links: usize,
    pub checks: usize,
    pub seconds: f64,
    pub notes: Vec<String>,
}

/// A unit that has to be optimized, so that the check fails.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GuiltyUnit {
    /// Its source.
    pub name: String,
    pub level: Option<String>,
    /// Those of its functions that have to be optimized.
    pub functions: Vec<String>,
    /// Of how many, where they were looked for.
    pub n_functions: Option<usize>,
}

/// A report of the sanitizers, cut to what a person reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SanitizerWord {
    pub text: String,
}

impl GuiltyUnit {
    /// One of which nothing but its name is known.
    pub fn new(name: String) -> GuiltyUnit {
        GuiltyUnit { name, level: None, functions: Vec::new(), n_functions: None }
    }
}
