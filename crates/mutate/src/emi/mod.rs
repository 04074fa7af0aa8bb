//! Equivalence modulo inputs: variants of a program that do the same as it on
//! its input (Le, Afshari, Su, PLDI 2014; Sun, Le, Su, OOPSLA 2016, "Finding
//! compiler bugs via live code mutation").
//!
//! **Invariant:** a variant of a program without undefined behaviour has none
//! on that input either, and is observed to do the same.

mod environment;
mod instrument;
mod marks;
mod profile;
mod strategy;
mod variant;

pub use environment::{Cell, Environment};
pub use instrument::{Instrumented, accepts, distance};
pub use marks::{snippets, unmarked, without};
pub use profile::{IncompleteProfile, Profile};
pub use strategy::{NoSuchStrategy, Strategy};
pub use variant::{Snippet, SnippetKind, Variant};
