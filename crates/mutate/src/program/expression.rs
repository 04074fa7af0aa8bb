//! The parts of expressions that rules change: calls, uses of variables,
//! operators and constants.
//!
//! **Invariant:** types are those that were written, before C converts anything.

use std::sync::Arc;

use crate::operator::{BinaryOperator, UnaryOperator};
use crate::program::Site;
use crate::span::Span;
use crate::types::Type;

#[derive(Clone, Debug)]
pub struct Call {
    /// Who is called, where that is a name.
    pub callee: Option<String>,
    /// All of it.
    pub span: Span,
    pub arguments: Vec<Span>,
    /// What it returns.
    pub ty: Arc<Type>,
    pub site: Site,
}

/// What is done to a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    Read,
    Written,
    ReadAndWritten,
    AddressTaken,
}

/// A use of a variable.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    /// Its name in the text.
    pub span: Span,
    pub variable: usize,
    /// What is done to it, or to a part of it.
    pub used: Use,
    /// Whether it is only a part that something is done to: a member, an
    /// element.
    pub is_part: bool,
    pub site: Site,
}

/// One side of an operator.
#[derive(Clone, Debug)]
pub struct Operand {
    pub span: Span,
    /// Its type as written, before C converts it.
    pub ty: Arc<Type>,
    /// Whether it needs parentheses next to an operator that binds tighter.
    pub is_compound: bool,
    /// Whether it is a zero.
    pub is_zero: bool,
}

/// `a + b` or `a += b`.
#[derive(Clone, Debug)]
pub struct Binary {
    /// All of it.
    pub span: Span,
    pub operator: BinaryOperator,
    /// The operator alone.
    pub operator_span: Span,
    /// What stands before it.
    pub left: Operand,
    /// What stands behind it.
    pub right: Operand,
    /// The type of its result.
    pub ty: Arc<Type>,
    /// Whether it stands next to another operator, without parentheses.
    pub is_bare: bool,
    pub site: Site,
}

/// `++a`, `!a`.
#[derive(Clone, Debug)]
pub struct Unary {
    /// All of it.
    pub span: Span,
    pub operator: UnaryOperator,
    /// What it is applied to.
    pub operand: Operand,
    /// Whether the operand is a place that can be written to.
    pub is_assignable: bool,
    /// The type of its result.
    pub ty: Arc<Type>,
    pub site: Site,
}

/// What an integer constant is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Nothing in particular.
    Plain,
    /// Divides something.
    Divisor,
    /// Shifts something of so many bits.
    Shift(u64),
    /// The index of an array of so many elements, where that is known.
    Index(Option<u64>),
    /// A null pointer.
    Null,
}

/// An integer constant.
#[derive(Clone, Debug)]
pub struct Literal {
    pub span: Span,
    pub ty: Arc<Type>,
    pub role: Role,
    /// Whether a minus stands before it.
    pub is_negated: bool,
    pub site: Site,
}
