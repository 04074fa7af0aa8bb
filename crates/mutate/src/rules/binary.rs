//! A binary operator by another of its class.
//!
//! **Invariant:** operands stay what they are: where the new operator binds
//! otherwise than the old one, parentheses keep the tree. What C forbids is
//! left out: `%` of floating-point numbers, `*` of pointers, a literal zero as
//! divisor.

use crate::edit::Edit;
use crate::operator::{BinaryOperator, Class};
use crate::program::{Binary, Operand, Program};
use crate::rules::{Outcome, Spot, what};

pub(super) fn spots(program: &Program, from: BinaryOperator, to: BinaryOperator) -> Vec<Spot> {
    let of = program.binaries.iter().enumerate();
    of.filter(|(_, binary)| {
        binary.operator == from && !binary.site.is_frozen && is_valid(binary, to)
    })
    .map(|(element, binary)| Spot {
        offset: binary.operator_span.start,
        statement: binary.site.statement,
        element,
        part: 0,
    })
    .collect()
}

pub(super) fn outcomes(program: &Program, to: BinaryOperator, spot: Spot) -> Vec<Outcome> {
    let binary = &program.binaries[spot.element];
    let text = program.text();
    let mut edits = vec![Edit::replace(binary.operator_span, to.text())];
    let mut new = [binary.left.span.of(text).to_owned(), binary.right.span.of(text).to_owned()];
    if to.precedence() != binary.operator.precedence() {
        let sides = [&binary.left, &binary.right].into_iter().zip(&mut new);
        for (operand, new) in sides.filter(|(operand, _)| operand.is_compound) {
            edits.insert(0, Edit::insert(operand.span.start, "("));
            edits.push(Edit::insert(operand.span.end, ")"));
            *new = format!("({new})");
        }
        if binary.is_bare {
            edits.insert(0, Edit::insert(binary.span.start, "("));
            edits.push(Edit::insert(binary.span.end, ")"));
        }
    }
    let [left, right] = new;
    let what = what(binary.span.of(text), &format!("{left} {} {right}", to.text()));
    vec![Outcome { edits, what }]
}

fn is_valid(binary: &Binary, to: BinaryOperator) -> bool {
    let Binary { left, right, .. } = binary;
    let both = |fits: fn(&Operand) -> bool| fits(left) && fits(right);
    let integers = both(|operand| operand.ty.is_integer());
    let numbers = both(|operand| operand.ty.is_arithmetic());
    let is_address = |operand: &Operand| operand.ty.is_pointer() || operand.ty.is_array();
    if to.divides() && right.is_zero {
        return false;
    }
    match to {
        BinaryOperator::Remainder | BinaryOperator::RemainderAssign => return integers,
        // What is added to a pointer may be subtracted as well.
        BinaryOperator::Add
        | BinaryOperator::AddAssign
        | BinaryOperator::Subtract
        | BinaryOperator::SubtractAssign => {
            return numbers || (is_address(left) && right.ty.is_integer());
        }
        _ => {}
    }
    match to.class() {
        Class::Arithmetic | Class::ArithmeticAssign => numbers,
        // A pointer is compared with a null pointer for equality only.
        Class::Relational => {
            numbers
                || (is_address(left) && is_address(right))
                || matches!(to, BinaryOperator::Equal | BinaryOperator::NotEqual)
                    && both(|operand| operand.ty.is_scalar() || operand.ty.is_array())
        }
        Class::Logical => both(|operand| operand.ty.is_scalar() || operand.ty.is_array()),
        Class::Bitwise | Class::Shift | Class::BitwiseAssign | Class::ShiftAssign => integers,
    }
}
