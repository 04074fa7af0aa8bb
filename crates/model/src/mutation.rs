//! Small changes to a C program: rules, the places where they apply, and mutants.

use serde::Serialize;

/// A rule, and in how many places of a program it applies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RulePlaces {
    /// `plus-to-minus`.
    pub name: String,
    /// What it changes: `binary`.
    pub family: &'static str,
    pub places: usize,
}

/// A place where a rule applies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Its first byte.
    pub offset: usize,
    /// From 1 on.
    pub line: usize,
    /// From 1 on, in characters.
    pub column: usize,
    /// As in "`a + b` -> `a - b`".
    pub what: String,
    /// The innermost statement around it, by its number; `None` at file scope.
    pub statement: Option<usize>,
}

/// A program with one change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// All of it.
    pub text: String,
    /// The rule or operator that made it.
    pub by: String,
    /// Where, in the original, from 1 on.
    pub line: usize,
    /// As in "`a + b` -> `a - b`".
    pub what: String,
    /// The innermost statement around the change, in the original.
    pub statement: Option<usize>,
}
