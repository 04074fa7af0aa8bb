//! `if (condition) statement` and `while (condition) statement` around an
//! existing statement, with another program's condition.
//!
//! **Invariant:** the statement keeps its own braces or gets some, so that no
//! `else` changes hands.

use rand::Rng;

use crate::edit::Edit;
use crate::pool::template::Template;
use crate::program::StatementKind;
use crate::structure::fitting::Fitting;
use crate::structure::target::InsertionPoint;
use crate::structure::{Change, describe};

pub(super) fn branch(
    point: &InsertionPoint<'_>,
    condition: &Template,
    rng: &mut impl Rng,
) -> Option<Change> {
    guard("if", point, condition, rng)
}

pub(super) fn repeat(
    point: &InsertionPoint<'_>,
    condition: &Template,
    rng: &mut impl Rng,
) -> Option<Change> {
    guard("while", point, condition, rng)
}

fn guard(
    word: &str,
    point: &InsertionPoint<'_>,
    condition: &Template,
    rng: &mut impl Rng,
) -> Option<Change> {
    let pieces: Vec<_> = condition.pieces().collect();
    let mut fitting = Fitting::new(point, pieces.iter().copied(), &condition.prerequisites);
    let values = fitting.fill(condition, false, rng)?;
    let fitted = fitting.finish()?;
    let head = format!("{word} ({})", fitted.render(condition, &values));
    let statement = point.statement();
    let (mut before, mut behind) = match statement.kind {
        StatementKind::Block(_) => (format!("{head} "), String::new()),
        _ => (format!("{head} {{ "), " }".to_owned()),
    };
    if statement.block.is_none() {
        before.insert_str(0, "{ ");
        behind.push_str(" }");
    }
    let mut edits = fitted.edits(point);
    edits.push(Edit::insert(statement.span.start, before));
    edits.push(Edit::insert(statement.span.end, behind));
    Some(Change { edits, what: describe(point, &head) })
}
