//! A derived program, and what was done to it.
//!
//! **Invariant:** every snippet of a variant is marked in its text.

use crate::marks::Snippet;

/// A program that does the same as the one it was derived from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// C with markers: comments that say which part is whose.
    pub text: String,
    /// What was done, earlier generations excluded, in the order of the text.
    pub snippets: Vec<Snippet>,
}
