//! The compilers under test, and every other child process.
//!
//! This is the only crate that starts processes: the fork-server workers made
//! of LLVM's static archives, the distribution's own tools, csmith, the linker.
//!
//! **Invariant:** every child has its own process group, a time limit, a memory
//! limit and no standard input. Nothing here judges what a result means.

pub mod c_front_end;
mod c_source;
mod cc1;
pub mod clang;
pub mod companion;
pub mod cores;
pub mod csmith;
mod diagnostics;
pub mod distribution;
pub mod doctor;
pub mod driver;
mod error;
pub mod libclang;
pub mod llvm;
pub mod packages;
pub mod reducers;
pub mod sanitize;
pub mod source_package;
pub mod spawn;
pub mod surroundings;
pub mod unpack;
mod versions;
pub mod workdir;

pub use error::CompilerError;
