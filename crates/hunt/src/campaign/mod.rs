//! What every hunt has, whatever it hunts with.
//!
//! ```text
//! test ──► TestResult ──► Deviation ──► Examiner ──► Finding, or why there is none
//!                             │            │ confirm, shrink, write the case, check,
//!                             ▼            ▼ bisect, reduce, compare with known keys
//!                           Store ◄────────┘
//! ```
//!
//! **Invariant:** nothing here knows pass sequences or variants. A hunt brings its
//! own tables ([`Format`]) and its own way to take away what a failure does not
//! need ([`Reproducer`]).

mod case;
mod database;
mod dedup;
mod examiner;
mod merge;
mod plan;
mod session;
mod store;
mod test_result;

pub use database::CampaignKind;
pub(crate) use database::Format;
pub(crate) use dedup::{DedupKey, is_same_in_program, is_telling};
pub(crate) use examiner::{Examined, Examiner, Minimal, Minimized, Reproducer};
pub(crate) use merge::{join, open_parts};
pub use plan::{HuntPlan, HuntStart, HuntStop, Recipe};
pub(crate) use session::{Session, same_settings};
pub(crate) use store::{
    Beginning, Counts, Deviation, Fate, Store, TestId, add_deviations, put_coverage,
};
#[cfg(test)]
pub(crate) use test_result::example;
pub use test_result::{Mark, TestResult};
pub(crate) use test_result::{counted, of_error};
