//! A C program -> slightly changed C programs: the local mutation rules of DiWi
//! (Chen, Han, Sun, Zhang, Hao, Zhang, "Compiler Bug Isolation via Effective Witness
//! Test Program Generation", ESEC/FSE 2019).
//!
//! [`Libclang`] reads preprocessed C into a [`Program`]; a [`Rule`] says what to
//! change; a [`Mutant`] is the changed text.
//!
//! **Invariant:** no file is read or written and no process started here; same
//! program, rule and random numbers, same mutant.

mod edit;
mod libclang;
mod mutant;
mod operator;
mod probe;
mod program;
mod rule;
mod rules;
mod span;
mod sys;
mod tree;
mod types;
mod view;

pub use libclang::{Libclang, LoadError, OLDEST, ParseError};
pub use mutant::{Mutant, Place};
pub use operator::{BinaryOperator, Class, UnaryOperator};
pub use program::{
    Binary, Block, BlockKind, Call, Declaration, Declarator, Function, Literal, Operand, Owner,
    Program, Reference, Role, Site, Specifier, Statement, StatementKind, Storage, Unary, Use,
    Variable, Word,
};
pub use rule::{Family, NoSuchRule, Rule};
pub use span::Span;
pub use types::{Integer, Rank, Type, TypeKind};
