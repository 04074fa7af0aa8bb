//! How far a hunt with variants is, for whoever waits.

use std::time::Duration;

/// A look at a hunt that goes on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EmiStatus {
    /// Since the campaign began.
    pub elapsed: Duration,
    /// How long it is to take, in all.
    pub budget: Option<Duration>,
    /// Seeds so far.
    pub seeds: u64,
    /// Variants so far.
    pub variants: u64,
    /// Tests so far.
    pub tests: u64,
    /// Findings so far.
    pub findings: u64,
    /// Basic blocks of the compiler executed so far; 0 where nobody looks.
    pub blocks: u64,
    /// What is being done.
    pub doing: String,
}
