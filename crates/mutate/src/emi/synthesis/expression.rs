//! Expressions that are defined whatever their cells hold (the paper's
//! Algorithm 3): built from the leaves up, each step tried on all combinations
//! of values first.
//!
//! Values are sets per cell, and what a part of an expression may give is a set
//! again, so that the product is more than can happen, never less.
//!
//! **Invariant:** no expression has a side effect, and none reads a cell twice,
//! so that the order in which C evaluates it does not matter.

use rand::Rng;
use rand::seq::{IndexedRandom as _, SliceRandom as _};

use crate::arithmetic::{self, Prefix, Value, literal};
use crate::emi::environment::{Cell, Environment};
use crate::emi::synthesis::constant::constant;
use crate::operator::{BinaryOperator, Class};
use crate::types::Integer;

/// So many combinations of values are tried at most.
const COMBINATIONS: usize = 4096;
/// So many cells are in an expression at most.
const CELLS: usize = 8;
/// So many prefix operators in a row are drawn at most.
const PREFIXES: usize = 2;

/// A piece of C and all values it may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Expression {
    text: String,
    /// Whether it needs parentheses beside an operator.
    is_compound: bool,
    /// Whether a cell is in it; what has none is known to any compiler.
    reads: bool,
    ty: Integer,
    values: Vec<i128>,
}

impl Expression {
    /// What a cell holds.
    pub(super) fn cell(cell: &Cell, values: &[i128]) -> Expression {
        let promoted = cell.bit_width.map(|width| cell.ty.promoted_field(width));
        let (text, ty) = match promoted {
            None => (cell.text.clone(), cell.ty),
            Some(Some(promoted)) => (cell.text.clone(), promoted),
            // In gcc's eyes it has a type of its own; a cast makes it the declared one.
            Some(None) => (format!("(({}){})", cell.ty.name(), cell.text), cell.ty),
        };
        Expression { text, is_compound: false, reads: true, ty, values: values.to_vec() }
    }

    pub(super) fn constant(value: Value) -> Expression {
        let (text, values) = (literal(value), vec![value.number()]);
        Expression { text, is_compound: false, reads: false, ty: value.ty(), values }
    }

    /// As C.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// As an operand.
    fn operand(&self) -> String {
        match self.is_compound {
            true => format!("({})", self.text),
            false => self.text.clone(),
        }
    }

    pub(super) fn values(&self) -> impl Iterator<Item = Value> {
        self.values.iter().filter_map(|&number| Value::new(self.ty, number))
    }

    /// The truth value that all its values have.
    pub(super) fn truth(&self) -> Option<bool> {
        let first = self.values().next()?.is_true();
        self.values().all(|value| value.is_true() == first).then_some(first)
    }

    /// With an operator before it; `None` if that is undefined for some value.
    pub(super) fn prefixed(&self, operator: Prefix) -> Option<Expression> {
        let results = self.values().map(|value| arithmetic::prefix(operator, value).ok());
        let text = format!("{}{}", operator.text(), self.operand());
        Expression::of(text, self.reads, results)
    }

    /// With an operator and another one behind it; `None` if that is undefined
    /// for some pair of values, or there are too many to try.
    pub(super) fn joined(
        &self,
        operator: BinaryOperator,
        right: &Expression,
    ) -> Option<Expression> {
        if self.values.len() * right.values.len() > COMBINATIONS {
            return None;
        }
        let pairs = self.values().flat_map(|a| right.values().map(move |b| (a, b)));
        let results = pairs.map(|(a, b)| arithmetic::binary(operator, a, b).ok());
        let text = format!("{} {} {}", self.operand(), operator.text(), right.operand());
        Expression::of(text, self.reads || right.reads, results)
    }

    fn of(
        text: String,
        reads: bool,
        results: impl Iterator<Item = Option<Value>>,
    ) -> Option<Expression> {
        let results: Vec<Value> = results.collect::<Option<_>>()?;
        let ty = results.first()?.ty();
        let mut values: Vec<i128> = results.into_iter().map(Value::number).collect();
        values.sort_unstable();
        values.dedup();
        Some(Expression { text, is_compound: true, reads, ty, values })
    }

    /// What a cell may hold after it was assigned this.
    pub(super) fn stored(&self, cell: &Cell) -> Vec<i128> {
        self.values().map(|value| value.stored(cell.ty, cell.bit_width)).collect()
    }
}

/// An expression over some of the cells. `None` if there are none.
pub(super) fn expression(environment: &Environment, rng: &mut impl Rng) -> Option<Expression> {
    let cells = environment.cells();
    if cells.is_empty() {
        return None;
    }
    let n_leaves = rng.random_range(1..=cells.len().min(CELLS));
    let leaves = cells.choose_multiple(rng, n_leaves);
    let mut worklist: Vec<Expression> =
        leaves.map(|(cell, values)| Expression::cell(cell, values)).collect();
    for _ in 0..rng.random_range(0..=2) {
        worklist.push(Expression::constant(constant(rng)));
    }
    let mut n_prefixes = 0;
    while worklist.len() > 1 {
        worklist.shuffle(rng);
        if n_prefixes < PREFIXES && rng.random_bool(0.3) {
            n_prefixes += 1;
            prefix_last(&mut worklist, rng);
        } else {
            n_prefixes = 0;
            join_last(&mut worklist, rng);
        }
    }
    worklist.pop()
}

/// Puts an operator before the last one, unless that is a constant.
fn prefix_last(worklist: &mut [Expression], rng: &mut impl Rng) {
    let mut operators = Prefix::ALL;
    operators.shuffle(rng);
    if let Some(last) = worklist.last_mut()
        && last.reads
        && let Some(longer) = operators.into_iter().find_map(|operator| last.prefixed(operator))
    {
        *last = longer;
    }
}

/// Makes one of the last two. Of two constants one is enough; where the two have
/// too many values, the one with fewer is kept.
fn join_last(worklist: &mut Vec<Expression>, rng: &mut impl Rng) {
    let (Some(right), Some(left)) = (worklist.pop(), worklist.pop()) else { return };
    let joined = match left.reads || right.reads {
        true => operators(rng).into_iter().find_map(|operator| left.joined(operator, &right)),
        false => None,
    };
    let smaller = || if left.values.len() <= right.values.len() { &left } else { &right };
    worklist.push(joined.unwrap_or_else(|| smaller().clone()));
}

/// The operators of expressions in random order. Relations are always defined
/// and leave only a bit of their operands, so they often come last.
fn operators(rng: &mut impl Rng) -> Vec<BinaryOperator> {
    let mut operators: Vec<BinaryOperator> = BinaryOperator::ALL.to_vec();
    operators.retain(|operator| match operator.class() {
        Class::Arithmetic | Class::Relational | Class::Bitwise | Class::Shift => true,
        // Predicates have them; the paper's grammar of expressions does not.
        Class::Logical => false,
        Class::ArithmeticAssign | Class::BitwiseAssign | Class::ShiftAssign => false,
    });
    operators.shuffle(rng);
    if rng.random_bool(0.7) {
        operators.sort_by_key(|operator| operator.class() == Class::Relational);
    }
    operators
}
