//! Research tools that users do not need: methods measured on known bugs,
//! faults planted, hunts compared, workers compared with `opt`, data sets
//! imported.
//!
//! **Invariant:** a figure never depends on how busy the machine was without
//! saying so, and what was measured is kept before anything else begins.

pub mod as_clang;
pub mod as_gcc;
pub mod compare;
mod error;
pub mod identity;
pub mod import;
pub mod measure;
pub mod plant;
pub mod projects;
pub mod variants;

pub use error::BenchError;
