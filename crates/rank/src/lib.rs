//! Coverages of failing and passing runs -> files and functions, most suspect
//! first.
//!
//! ```text
//! failing coverages ──► Spectrum ◄── witnesses, one by one
//!                          │
//!    CodeMap ──► Ranker ──rank──► Ranking ──► evidence, ranks of known culprits
//! ```
//!
//! A block of the compiler gets a score from four counts ([`Formula`]), an
//! entity gets one from the scores of its blocks ([`Aggregation`]), and the
//! scores give the order. With the default [`Recipe`] this is the ranking of
//! the LocSeq paper, formulas (6) to (8).
//!
//! **Invariant:** pure. No file, no clock, no random number; all sums are
//! exact, so the same runs give the same bits, in whatever order they came.

mod aggregate;
mod baseline;
mod culprit;
mod error;
mod evidence;
#[cfg(test)]
mod example;
mod formula;
mod layers;
mod ranking;
mod spectrum;
mod truth;

pub use aggregate::Aggregation;
pub use baseline::Precedence;
pub use culprit::{Clues, Cure, Part};
pub use error::RankError;
pub use evidence::{Evidence, RankingEvidence, evidence};
pub use formula::{Counts, Formula};
pub use ranking::{Ranker, Ranking, Recipe, Suspect, among};
pub use spectrum::{Row, Spectrum, Weights};
pub use truth::Culprits;
