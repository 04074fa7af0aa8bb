//! Many pass sequences or programs -> the representative ones.
//!
//! ```text
//! sequences ──doc2vec──► vectors ──xmeans──► clusters ──centroid──► which to test
//! programs ──program or features──► vectors ──┘
//! ```
//!
//! The methods are those of Jiang, Zhou, Ren, Zhang and Li, "CTOS: Compiler Testing
//! for Optimization Sequences of LLVM", IEEE Transactions on Software
//! Engineering. Sections, algorithms and figures are cited by the numbers they
//! have there. [`pairwise`] is what it compares with: covering arrays.
//!
//! **Invariant:** no I/O, no clock, no randomness but seeds handed in. The same
//! input gives the same bits, with any number of threads.

pub mod centroid;
pub mod doc2vec;
pub mod features;
pub mod pairwise;
pub mod program;
pub mod xmeans;

mod kernel;
mod random;
mod vectors;

pub use vectors::Vectors;
