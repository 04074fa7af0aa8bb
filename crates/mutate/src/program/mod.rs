//! A C program as rules and operators see it: its text, and what stands where.
//!
//! Made by [`crate::view`] from libclang's tree; everything is addressed by
//! index, in the order of the text.
//!
//! **Invariant:** plain data without a handle to libclang; every span is one of
//! this program's text, and nothing here is ever changed: a mutant is a text.

mod declaration;
mod expression;
mod statement;

use std::collections::BTreeSet;

use crate::outline::Outline;
use crate::span::Span;

pub use declaration::{
    Declaration, Declarator, Function, Owner, Specifier, Storage, Variable, Word,
};
pub(crate) use declaration::{Field, Record};
pub use expression::{Binary, Call, Literal, Operand, Reference, Role, Unary, Use};
pub use statement::{Block, BlockKind, Statement, StatementKind};

/// A parsed C program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub(crate) text: String,
    pub(crate) line_starts: Vec<usize>,
    pub(crate) functions: Vec<Function>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) declarations: Vec<Declaration>,
    pub(crate) records: Vec<Record>,
    pub(crate) statements: Vec<Statement>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) calls: Vec<Call>,
    pub(crate) references: Vec<Reference>,
    pub(crate) binaries: Vec<Binary>,
    pub(crate) unaries: Vec<Unary>,
    pub(crate) literals: Vec<Literal>,
    /// Local names of types and constants, and where they hide others.
    pub(crate) hidden: Vec<(String, Span)>,
    /// Fields whose address is taken, by where their names are.
    pub(crate) addressed_fields: BTreeSet<usize>,
    /// Functions that are used other than by calling them.
    pub(crate) addressed_functions: BTreeSet<String>,
    /// Whether its own code makes numbers of addresses.
    pub(crate) has_numeric_addresses: bool,
    /// What dependencies are found with.
    pub(crate) outline: Outline,
}

/// Where an expression stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// The innermost statement around it; `None` at file scope.
    pub statement: Option<usize>,
    /// The function around it.
    pub function: Option<usize>,
    /// Whether it is to be left as it is: oracle code, csmith's runtime, places
    /// that C wants to be just so.
    pub is_frozen: bool,
    /// Whether C wants a constant here.
    pub is_constant: bool,
}

impl Program {
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Every declaration and definition of a function.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// Every declaration of variables, parameters and fields.
    pub fn declarations(&self) -> &[Declaration] {
        &self.declarations
    }

    /// Every statement, an outer one before those in it.
    pub fn statements(&self) -> &[Statement] {
        &self.statements
    }

    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// Every use of a variable.
    pub fn references(&self) -> &[Reference] {
        &self.references
    }

    /// Every binary operator, `=` and `,` excepted.
    pub fn binaries(&self) -> &[Binary] {
        &self.binaries
    }

    /// Every unary operator that rules know.
    pub fn unaries(&self) -> &[Unary] {
        &self.unaries
    }

    /// Every integer constant.
    pub fn literals(&self) -> &[Literal] {
        &self.literals
    }

    /// Line and column of a place, from 1 on; columns count characters.
    pub fn line_and_column(&self, offset: usize) -> (usize, usize) {
        let line = self.line_starts.partition_point(|&start| start <= offset);
        let start = self.line_starts.get(line.wrapping_sub(1)).copied().unwrap_or(0);
        (line, Span { start, end: offset }.of(&self.text).chars().count() + 1)
    }

    /// The variables that a name can mean at a place, in the order of the text.
    pub fn visible_at(&self, offset: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.variables.len()).filter(move |&index| self.is_visible(index, offset))
    }

    /// Where the text first assigns to each variable; the largest number for
    /// those that it never assigns to.
    pub(crate) fn first_writes(&self) -> Vec<usize> {
        let mut first = vec![usize::MAX; self.variables.len()];
        for reference in self.references.iter().rev() {
            if reference.used == Use::Written {
                first[reference.variable] = reference.span.start;
            }
        }
        first
    }

    /// Whether this variable's name means it at a place.
    pub fn is_visible(&self, variable: usize, offset: usize) -> bool {
        let wanted = &self.variables[variable];
        let hides = |name: &str, declared: usize, end: usize| {
            declared > wanted.name_span.start
                && name == wanted.name
                && (declared + name.len()..end).contains(&offset)
        };
        wanted.scope.contains(offset)
            && !wanted.name.is_empty()
            && !(wanted.has_namesakes
                && (self.variables.iter().any(|other| {
                    other.storage != Storage::Global
                        && hides(&other.name, other.name_span.start, other.scope.end)
                }) || self.hidden.iter().any(|(name, span)| hides(name, span.start, span.end))))
    }
}
