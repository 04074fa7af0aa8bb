//! The rules themselves, a file per family. Each says where it applies (`spots`)
//! and what can be done there (`outcomes`).
//!
//! **Invariant:** a spot is never in frozen code, has at least one outcome, and
//! no outcome leaves the program as it is.

mod binary;
mod constant;
mod modifier;
mod qualifier;
mod targets;
mod unary;
mod variable;

use crate::edit::{Edit, short};
use crate::program::Program;
use crate::rule::{Change, Rule};

/// A place as rules see it: an element of the program, and which part of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    pub offset: usize,
    pub statement: Option<usize>,
    pub element: usize,
    pub part: usize,
}

/// One thing that can be done at a place.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub edits: Vec<Edit>,
    pub what: String,
}

/// Where a rule applies, in the order of the text.
pub(crate) fn spots(program: &Program, rule: Rule) -> Vec<Spot> {
    match rule.0 {
        Change::Qualifier(word, action) => qualifier::spots(program, word, action),
        Change::Modifier(word, action) => modifier::spots(program, word, action),
        Change::Variable => variable::spots(program),
        Change::Constant(what) => constant::spots(program, what),
        Change::Unary(from, to) => unary::spots(program, from, to),
        Change::Binary(from, to) => binary::spots(program, from, to),
    }
}

/// What can be done at a spot.
pub(crate) fn outcomes(program: &Program, rule: Rule, spot: Spot) -> Vec<Outcome> {
    match rule.0 {
        Change::Qualifier(word, action) => qualifier::outcomes(program, word, action, spot),
        Change::Modifier(word, action) => modifier::outcomes(program, word, action, spot),
        Change::Variable => variable::outcomes(program, spot),
        Change::Constant(what) => constant::outcomes(program, what, spot),
        Change::Unary(_, to) => unary::outcomes(program, to, spot),
        Change::Binary(_, to) => binary::outcomes(program, to, spot),
    }
}

/// What can be done at a spot, in words.
pub(crate) fn describe(program: &Program, rule: Rule, spot: Spot) -> String {
    let outcomes = outcomes(program, rule, spot);
    match &outcomes[..] {
        [first, second, ..] => {
            let to = |outcome: &Outcome| {
                outcome.what.rsplit(" -> ").next().unwrap_or_default().to_owned()
            };
            let more = match outcomes.len() - 2 {
                0 => String::new(),
                more => format!(" or {more} others"),
            };
            format!("{} or {}{more}", first.what, to(second))
        }
        [only] => only.what.clone(),
        [] => String::new(),
    }
}

/// `` `a` -> `b` ``, on one line and not too long.
fn what(from: &str, to: &str) -> String {
    format!("`{}` -> `{}`", short(from), short(to))
}
