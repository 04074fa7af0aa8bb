//! Hunts: compilers -> their bugs, each as a reduced, confirmed case.
//!
//! `passes` tests LLVM with pass sequences, `variants` tests compilers with
//! equivalent programs; both keep a `campaign`, and take their programs from
//! `programs`.
//!
//! **Invariant:** nothing is lost when a hunt is killed; what it found is in its
//! folder.

pub mod campaign;
mod error;
pub mod passes;
pub mod programs;
pub mod variants;

pub use error::HuntError;
