//! What a job tells the person who waits for it.

use std::time::Duration;

/// What a person who waits gets to see.
pub trait Progress: Sync {
    /// Something new begins.
    fn step(&self, what: &str);
    /// Something that a person has to know of, whether they watch or not.
    fn announce(&self, what: &str) {
        self.step(what);
    }
    /// Of `total` things, `done` are done.
    fn count(&self, done: usize, total: usize);
    /// A search goes on.
    fn search(&self, _: &SearchStatus) {}
    /// A hunt goes on.
    fn hunt(&self, _: &HuntStatus) {}
    /// Whether to end early, with what there is.
    fn stop_requested(&self) -> bool {
        false
    }
}

/// Shows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn step(&self, _: &str) {}
    fn count(&self, _: usize, _: usize) {}
}

/// For a part of a larger job: hides the part's steps, and lets a request to stop
/// through.
pub struct Quiet<'a>(pub &'a dyn Progress);

impl Progress for Quiet<'_> {
    fn step(&self, _: &str) {}
    fn announce(&self, what: &str) {
        self.0.announce(what);
    }
    fn count(&self, _: usize, _: usize) {}
    fn stop_requested(&self) -> bool {
        self.0.stop_requested()
    }
}

/// How far a search is, for whoever is watching.
#[derive(Clone, Debug)]
pub struct SearchStatus {
    /// Candidates run so far.
    pub runs: usize,
    /// Witnesses among them.
    pub witnesses: usize,
    /// The best one's similarity.
    pub best_similarity: f64,
    /// Since the search began.
    pub elapsed: Duration,
    /// The most suspect files.
    pub top: Vec<String>,
}

/// A look at a hunt that goes on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HuntStatus {
    /// Since the campaign began.
    pub elapsed: Duration,
    /// How long it is to take, in all.
    pub budget: Option<Duration>,
    /// How far the campaign is, in its own units: `round 3`.
    pub reached: String,
    /// Tests so far.
    pub tests: u64,
    /// Tests per second.
    pub rate: f64,
    /// Findings so far.
    pub findings: u64,
    /// Basic blocks of the compiler executed so far; 0 where none is measured.
    pub blocks: u64,
    /// What is being done.
    pub doing: String,
}
