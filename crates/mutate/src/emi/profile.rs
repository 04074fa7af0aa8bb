//! What a run of an instrumented program showed.
//!
//! **Invariant:** a profile is of a run that came to its end; a cell is in an
//! environment with every value it had at that point, or not at all.

use std::collections::{BTreeMap, BTreeSet};

use crate::emi::environment::Environment;

/// Which statements were reached, and what cells held before some of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    pub(crate) reached: BTreeSet<usize>,
    pub(crate) points: BTreeMap<usize, Environment>,
}

/// A run that did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the program did not return from main or call exit, so its profile is incomplete; \
     take a program that ends normally, or allow more time"
)]
pub struct IncompleteProfile;

impl Profile {
    /// Whether a statement was reached, by its number.
    pub fn is_reached(&self, statement: usize) -> bool {
        self.reached.contains(&statement)
    }

    /// The statements that were reached.
    pub fn reached(&self) -> &BTreeSet<usize> {
        &self.reached
    }

    /// What is known before statements, by their numbers.
    pub fn points(&self) -> &BTreeMap<usize, Environment> {
        &self.points
    }
}
