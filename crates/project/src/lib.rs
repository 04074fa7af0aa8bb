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
//! search ends with a result, the project's objects are again those that its build made;
//! when it is killed, those are kept beside it, and the next search begins with them.

mod command;
mod crashed;
mod error;
mod faulty;
mod functions;
mod guilty;
mod import;
mod project;
mod recorder;
mod tree;
mod unit_case;

pub use crashed::{CrashedCommand, find_crashed};
pub use error::ProjectError;
pub use faulty::UnitProgram;
pub use guilty::{CodeForm, GuiltyCode, GuiltyPlan, find_guilty};
pub use import::{ImportPlan, import_build};
pub use project::Project;
pub use recorder::{BuildPlan, record_build, run_recorded};
pub use tree::{Judged, Objects};
pub use unit_case::{JudgePlan, judge_object};
