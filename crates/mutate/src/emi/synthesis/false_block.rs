//! A block that is never entered: `if` or `while` with a condition that does
//! not hold, and any code in it.
//!
//! **Invariant:** the condition never holds, so nothing in the block happens.

use rand::Rng;

use crate::emi::environment::Environment;
use crate::emi::synthesis::body::Writer;
use crate::emi::synthesis::names::Names;
use crate::emi::synthesis::predicate::condition;
use crate::emi::synthesis::visible::Visible;

/// A statement to stand at the visible. `None` if nothing is known there, or there
/// is nothing to write to.
pub(crate) fn false_block(
    visible: &Visible<'_>,
    environment: &Environment,
    names: &mut Names,
    rng: &mut impl Rng,
) -> Option<String> {
    let word = super::if_or_while(rng);
    let condition = condition(environment, false, rng)?;
    let body = Writer::new(visible, environment, names, rng).body()?;
    Some(format!("{word} ({condition}) {body}"))
}
