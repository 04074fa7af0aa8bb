//! Whole projects: a build -> the unit and the function whose optimization makes its
//! check fail.
//!
//! ```text
//! optsleuth build -- make ──► recorder ──► commands ──► project
//!                                                          │
//! triage project/ --check ... ──► tree: objects, links, check
//!                                   └──► guilty: units ──► functions ──► a case
//! ```
//! From there on it is a case like any other: `triage` bisects it and ranks the
//! compiler's code, with the project's check as the judge.
//!
//! **Invariant:** a unit is a file of a project that is compiled by one command. When a
//! search ends, however it ends, the project's objects are again those that its build
//! made.

mod command;
mod error;
mod faulty;
mod functions;
mod guilty;
mod project;
mod recorder;
mod tree;

pub use error::ProjectError;
pub use guilty::{GuiltyIr, GuiltyPlan, find_guilty};
pub use project::Project;
pub use recorder::{BuildPlan, record_build, run_recorded};
