//! From a failing input to a reduced, bisected, explained report.
//!
//! **Invariant:** nothing here prints. What a person should see while waiting
//! goes to [`Progress`](optsleuth_model::Progress); everything else is a return
//! value.

pub mod baseline;
pub mod bisect;
pub mod c_programs;
pub mod covered_gcc;
pub mod culprit;
mod error;
pub mod localize;
pub mod mutate;
pub mod options;
pub mod plain;
pub mod reduce;
pub mod technique;
pub mod triage;
pub mod witness;
pub mod zoom;

pub use error::TriageError;
