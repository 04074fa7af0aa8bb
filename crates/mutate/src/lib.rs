//! A C program -> slightly changed C programs: the local mutation rules of DiWi
//! (Chen, Han, Sun, Zhang, Hao, Zhang, "Compiler bug isolation via effective witness
//! test program generation", ESEC/FSE 2019) and its blending, and the structural
//! operators of RecBi (Chen, Ma, Zhang, "Enhanced compiler bug isolation via
//! memoized search", ASE 2020).
//!
//! [`Libclang`] reads preprocessed C into a [`Program`]; a [`Rule`] says what to
//! change, or an [`Insertion`] what to put in from a [`Pool`] of other programs;
//! a [`Mutant`] is the changed text. [`emi`] makes programs that differ and do the
//! same.
//!
//! **Invariant:** no file is read or written and no process started here; same
//! program, rule and random numbers, same mutant.

pub mod arithmetic;
mod edit;
pub mod emi;
mod error;
mod libclang;
mod marks;
mod mutant;
mod operator;
mod outline;
mod pool;
mod probe;
mod program;
mod rule;
mod rules;
mod span;
mod structure;
mod sys;
mod tree;
mod types;
mod view;

pub use optsleuth_model::{Mutant, Place, RulePlaces};

pub use error::{MutateError, OLDEST};
pub use libclang::Libclang;
pub use operator::{BinaryOperator, Class, UnaryOperator};
pub use pool::{Pool, PoolCounts};
pub use program::{
    Binary, Block, BlockKind, Call, Declaration, Declarator, Function, Literal, Operand, Owner,
    Program, Reference, Role, Site, Specifier, Statement, StatementKind, Storage, Unary, Use,
    Variable, Word,
};
pub use rule::{Family, Rule};
pub use span::Span;
pub use structure::Insertion;
pub use types::{Integer, Rank, Type, TypeKind};
