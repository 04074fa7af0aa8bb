//! Code that is put into a live part of a program and changes nothing there:
//! Hermes' blocks that are never entered, guards that always hold, and blocks
//! that are entered and undo what they do (Sun, Le, Su, OOPSLA 2016, sections
//! 4.2 to 4.4).
//!
//! An [`Environment`] says what can be relied on, a [`Visible`] what can be named;
//! [`crate::Program::hermes`] puts the texts where they belong.
//!
//! **Invariant:** for every combination of the environment's values, conditions
//! have the value they are made for, and what is executed is defined and leaves
//! every object as it was.

mod body;
mod constant;
mod expression;
mod false_block;
mod names;
mod predicate;
#[cfg(test)]
mod tests;
mod true_block;
mod visible;

use rand::Rng;

use crate::emi::environment::Environment;

pub(crate) use false_block::false_block;
pub(crate) use names::Names;
pub(crate) use true_block::true_block;
pub(crate) use visible::Visible;

/// A condition that always holds. `None` if nothing is known.
pub(crate) fn true_guard(environment: &Environment, rng: &mut impl Rng) -> Option<String> {
    predicate::condition(environment, true, rng)
}

/// The word before a condition that does not hold.
fn if_or_while(rng: &mut impl Rng) -> &'static str {
    match rng.random_bool(0.5) {
        true => "if",
        false => "while",
    }
}

/// A call that prints an integer, of whatever type.
fn print(function: &str, value: &str) -> String {
    format!("{function}(\"%lld\\n\", (long long){value});")
}
