//! Equivalence modulo inputs: variants of a program that do the same as it on
//! its input (Le, Afshari, Su, PLDI 2014; Sun, Le, Su, OOPSLA 2016, "Finding
//! compiler bugs via live code mutation").
//!
//! ```text
//! Program ─► points, cells ─► instrument ─► (a run) ─► profile
//!                                                        │
//!          Variant ◄─ place, marks ◄─ hermes, athena, orion
//! ```
//! A variant is a text that can be read and derived from again; `marks` tells
//! what of it each generation made.
//!
//! **Invariant:** a variant of a program without undefined behaviour has none
//! on that input either, and is observed to do the same.

mod athena;
mod cells;
mod dead;
mod entries;
mod environment;
mod fitness;
mod flow;
mod hermes;
mod instrument;
mod orion;
mod place;
mod points;
mod profile;
mod recorder;
mod strategy;
mod synthesis;
mod variant;
mod walk;

pub use crate::marks::{Snippet, SnippetKind, snippets, unmarked, without};
pub use environment::{Cell, Environment};
pub use fitness::Unfit;
pub use instrument::Instrumented;
pub use profile::Profile;
pub use strategy::Strategy;
pub use variant::Variant;
pub use walk::{accepts, distance};
