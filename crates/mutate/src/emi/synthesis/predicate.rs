//! Conditions with a given truth value (the paper's Algorithm 2): from the top
//! down, with atoms over a cell and a constant or over two cells.
//!
//! **Invariant:** a condition has its truth value for every combination of the
//! environment's values, after C's conversions.

use rand::Rng;
use rand::seq::{IndexedRandom as _, SliceRandom as _};

use crate::arithmetic::{Prefix, Value};
use crate::emi::environment::Environment;
use crate::emi::synthesis::constant::telling;
use crate::emi::synthesis::expression::Expression;
use crate::operator::BinaryOperator;

/// Section 5.1: a depth from none to this is drawn for each condition.
const DEPTH: u32 = 2;
/// So many atoms are tried before one is made that is sure to fit.
const ATTEMPTS: usize = 24;

/// The operators of atoms.
const RELATIONS: [BinaryOperator; 6] = [
    BinaryOperator::Greater,
    BinaryOperator::GreaterEqual,
    BinaryOperator::Less,
    BinaryOperator::LessEqual,
    BinaryOperator::Equal,
    BinaryOperator::NotEqual,
];

/// A condition that always holds, or never does. `None` if nothing is known.
pub(super) fn condition(
    environment: &Environment,
    expected: bool,
    rng: &mut impl Rng,
) -> Option<String> {
    let depth = rng.random_range(0..=DEPTH);
    predicate(environment, expected, depth, rng).map(|predicate| predicate.text().to_owned())
}

fn predicate(
    environment: &Environment,
    expected: bool,
    depth: u32,
    rng: &mut impl Rng,
) -> Option<Expression> {
    let choice = if depth == 0 { 3 } else { rng.random_range(0..4) };
    match choice {
        0 => predicate(environment, !expected, depth - 1, rng)?.prefixed(Prefix::Not),
        // What decides a conjunction is something false, a disjunction something true.
        1 => connected(BinaryOperator::LogicalAnd, false, environment, expected, depth, rng),
        2 => connected(BinaryOperator::LogicalOr, true, environment, expected, depth, rng),
        _ => atom(environment, expected, rng),
    }
}

/// Two predicates; one of them is what decides if that is expected.
fn connected(
    operator: BinaryOperator,
    decides: bool,
    environment: &Environment,
    expected: bool,
    depth: u32,
    rng: &mut impl Rng,
) -> Option<Expression> {
    let (left, right) = match (expected == decides, rng.random_bool(0.5)) {
        (false, _) => (!decides, !decides),
        (true, true) => (!decides, decides),
        (true, false) => (decides, rng.random_bool(0.5)),
    };
    let left = predicate(environment, left, depth - 1, rng)?;
    let right = predicate(environment, right, depth - 1, rng)?;
    left.joined(operator, &right)
}

/// A relation between a cell and a constant, or between two cells.
fn atom(environment: &Environment, expected: bool, rng: &mut impl Rng) -> Option<Expression> {
    for _ in 0..ATTEMPTS {
        let made = match rng.random_bool(0.5) {
            true => with_constant(environment, rng),
            false => with_cell(environment, expected, rng),
        };
        if let Some(made) = made.filter(|made| made.truth() == Some(expected)) {
            return Some(made);
        }
    }
    bounded(environment, expected, rng)
}

/// Some relation between a cell and a constant.
fn with_constant(environment: &Environment, rng: &mut impl Rng) -> Option<Expression> {
    let (cell, values) = environment.cells().choose(rng)?;
    let read = Expression::cell(cell, values);
    let constant = Expression::constant(telling(cell.ty, values, rng));
    let relation = *RELATIONS.choose(rng)?;
    match rng.random_bool(0.75) {
        true => read.joined(relation, &constant),
        false => constant.joined(relation, &read),
    }
}

/// The first relation between two cells that is as expected.
fn with_cell(environment: &Environment, expected: bool, rng: &mut impl Rng) -> Option<Expression> {
    let pair: Vec<_> = environment.cells().choose_multiple(rng, 2).collect();
    let [(left, left_values), (right, right_values)] = pair[..] else { return None };
    let (left, right) =
        (Expression::cell(left, left_values), Expression::cell(right, right_values));
    let mut relations = RELATIONS;
    relations.shuffle(rng);
    let mut joined = relations.into_iter().filter_map(|relation| left.joined(relation, &right));
    joined.find(|made| made.truth() == Some(expected))
}

/// What is always possible: a cell is never less than its least value.
fn bounded(environment: &Environment, expected: bool, rng: &mut impl Rng) -> Option<Expression> {
    let (cell, values) = environment.cells().choose(rng)?;
    let read = Expression::cell(cell, values);
    let least = read.values().min_by_key(|value| value.number())?;
    let relation = match expected {
        true => BinaryOperator::GreaterEqual,
        false => BinaryOperator::Less,
    };
    let least = Expression::constant(Value::wrapped(least.ty().promoted(), least.number()));
    read.joined(relation, &least).filter(|made| made.truth() == Some(expected))
}
