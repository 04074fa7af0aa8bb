//! A statement or block of another program, with what it depends on.
//!
//! **Invariant:** a variable of the other program becomes one of this program
//! where there is a compatible one; only otherwise it comes along itself.

use rand::Rng;

use crate::pool::template::Template;
use crate::structure::fitting::{Fitted, Fitting};
use crate::structure::target::InsertionPoint;
use crate::structure::{Change, describe, put_before};

pub(super) fn insert(
    point: &InsertionPoint<'_>,
    statement: &Template,
    rng: &mut impl Rng,
) -> Option<Change> {
    let (text, fitted) = fit(point, statement, rng)?;
    Some(Change { edits: put_before(point, &text, &fitted), what: describe(point, &text) })
}

/// The statement as it stands in the program, and what comes along.
pub(super) fn fit(
    point: &InsertionPoint<'_>,
    statement: &Template,
    rng: &mut impl Rng,
) -> Option<(String, Fitted)> {
    let pieces: Vec<_> = statement.pieces().collect();
    let mut fitting = Fitting::new(point, pieces.iter().copied(), &statement.prerequisites);
    let values = fitting.fill(statement, true, rng)?;
    let fitted = fitting.finish()?;
    Some((fitted.render(statement, &values), fitted))
}
