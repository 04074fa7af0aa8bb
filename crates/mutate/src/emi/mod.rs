//! Equivalence modulo inputs: variants of a program that do the same as it on
//! its input (Le, Afshari, Su, PLDI 2014; Sun, Le, Su, OOPSLA 2016, "Finding
//! compiler bugs via live code mutation").
//!
//! **Invariant:** a variant of a program without undefined behaviour has none
//! on that input either, and is observed to do the same.

mod environment;
mod synthesis;

pub use environment::{Cell, Environment};
