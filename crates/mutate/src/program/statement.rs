//! Statements, and the blocks they stand in.
//!
//! **Invariant:** statements and blocks name each other by number; a part never
//! has a smaller number than the statement it is a part of.

use crate::span::Span;

#[derive(Clone, Debug)]
pub struct Statement {
    pub kind: StatementKind,
    /// All of it, its semicolon included.
    pub span: Span,
    /// The block it stands in; `None` for the body of an `if` without braces
    /// and what follows a label.
    pub block: Option<usize>,
    /// The statement around it; `None` for a function's body.
    pub parent: Option<usize>,
    /// The function around it.
    pub function: usize,
    /// Whether it is part of the oracle.
    pub is_oracle: bool,
    /// Whether an edit may put something in front of it.
    pub is_pinned: bool,
}

/// What a statement is; bodies are statements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// A block, by its number.
    Block(usize),
    Expression,
    /// By its number, where it declares variables.
    Declaration(Option<usize>),
    If {
        condition: Span,
        then: usize,
        otherwise: Option<usize>,
    },
    While {
        condition: Span,
        body: usize,
    },
    Do {
        condition: Span,
        body: usize,
    },
    For {
        init: Option<Span>,
        condition: Option<Span>,
        step: Option<Span>,
        body: usize,
    },
    Switch {
        condition: Span,
        body: usize,
    },
    Case {
        values: Vec<Span>,
        body: Option<usize>,
    },
    Default {
        body: Option<usize>,
    },
    Label {
        name: String,
        body: Option<usize>,
    },
    Goto {
        label: String,
    },
    ComputedGoto,
    Break,
    Continue,
    Return {
        value: Option<Span>,
    },
    Asm,
    Empty,
    /// One with attributes.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// Of a function.
    Body,
    /// Braces among statements.
    Plain,
    /// `({ ... })`
    StatementExpression,
}

/// Braces with statements in them.
#[derive(Clone, Debug)]
pub struct Block {
    pub kind: BlockKind,
    /// Braces included.
    pub span: Span,
    /// In order.
    pub statements: Vec<usize>,
    /// The function around it.
    pub function: usize,
    /// The statement that it is, or that holds it.
    pub statement: Option<usize>,
}
