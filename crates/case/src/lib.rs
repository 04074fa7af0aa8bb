//! One failure of one compiler: its folder, how it is recognized, whether it
//! shows, and what its program does.
//!
//! **Invariant:** nothing here prints. What a person should see while waiting
//! goes to [`Progress`](optsleuth_model::Progress); everything else is a return
//! value.

pub mod check;
pub mod confirm;
pub mod cov;
pub mod definedness;
pub mod driver;
pub mod error;
pub mod folder;
pub mod interpret;
pub mod loaded;
pub mod oracle;
mod portable;
pub mod refinement;
pub mod repetition;
pub mod run;
mod tried;
pub mod trust;
pub mod workers;
pub mod write;

pub use error::CaseError;
