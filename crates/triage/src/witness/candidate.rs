//! A program to try as a witness.

use super::trial::Text;

/// A program to try.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) text: Text,
    /// What it is, in a line.
    pub(super) what: String,
}
