//! Ranks of true culprits -> how good a localization method is, and whether
//! one is better than another.
//!
//! ```text
//! Measurement ──► Standing, per case and seed ──► CaseRanks ──► Figures
//!      │                    │                         │
//!      └──► Scoreboard      └──evaluate──► Evaluation └──► wilcoxon, mann_whitney, a12
//! ```
//!
//! [`course`] says how the ranks became what they are while searches went on.
//!
//! A [`Standing`] says where one ranking has the culprits of its case. Files
//! and functions are two inputs to the same arithmetic. The figures are those
//! of the papers on LocSeq, DiWi and RecBi: Top-N, MFR, MAR.
//!
//! **Invariant:** pure. No file, no clock, no random number; the order of
//! cases, seeds and values changes no bit of a result. Nothing is ever NaN.

mod course;
mod effect;
mod error;
mod mann_whitney;
mod metrics;
mod midranks;
mod scoreboard;
mod seeds;
mod significance;
mod standing;
mod summary;
mod wilcoxon;

pub use course::{Clock, Moment, course};
pub use effect::a12;
pub use error::EvalError;
pub use mann_whitney::{MannWhitney, mann_whitney};
pub use metrics::Figures;
pub use scoreboard::{
    Comparison, Granularity, MethodScore, RecipeScore, Scoreboard, case_ranks, own_standing,
};
pub use seeds::{Evaluation, FigureSummaries, evaluate};
pub use significance::NullDistribution;
pub use standing::{CaseRanks, Standing};
pub use summary::{Quartiles, Summary, mean, median, quartiles, standard_deviation};
pub use wilcoxon::{Wilcoxon, wilcoxon};
