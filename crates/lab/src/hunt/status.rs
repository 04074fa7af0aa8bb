//! How far a hunt is, for whoever waits.

use std::time::Duration;

/// A look at a hunt that goes on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HuntStatus {
    /// Since the campaign began.
    pub elapsed: Duration,
    /// How long it is to take, in all.
    pub budget: Option<Duration>,
    /// The round's number.
    pub round: u64,
    /// Tests so far.
    pub tests: u64,
    /// Tests per second, lately.
    pub rate: f64,
    /// Findings so far.
    pub findings: u64,
    /// Basic blocks of the compiler executed so far.
    pub blocks: u64,
    /// What is being done.
    pub doing: String,
}
