//! A C program as rules and operators see it: its text, and what stands where.
//!
//! Made by [`crate::view`] from libclang's tree; everything is addressed by
//! index, in the order of the text.
//!
//! **Invariant:** plain data without a handle to libclang; every span is one of
//! this program's text, and nothing here is ever changed: a mutant is a text.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::operator::{BinaryOperator, UnaryOperator};
use crate::outline::Outline;
use crate::span::Span;
use crate::types::Type;

/// A parsed C program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub(crate) text: String,
    pub(crate) line_starts: Vec<usize>,
    pub(crate) functions: Vec<Function>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) declarations: Vec<Declaration>,
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

/// A declaration or a definition of a function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// All of it.
    pub span: Span,
    /// Its name in the text.
    pub name_span: Span,
    /// What it returns.
    pub result: Arc<Type>,
    /// Its parameters, as variables. A prototype has none of these.
    pub parameters: Vec<usize>,
    /// The types of its parameters.
    pub parameter_types: Vec<Arc<Type>>,
    /// Whether it takes any number of arguments.
    pub is_variadic: bool,
    /// Whether it is this file's own.
    pub is_static: bool,
    /// Its body, a block; `None` for a prototype.
    pub body: Option<usize>,
    /// How often it is declared in the text, this one included.
    pub n_declarations: usize,
    /// Whether it is part of the oracle or of a runtime, and not to be touched.
    pub is_frozen: bool,
}

/// What a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// At file scope.
    Global,
    /// In a function.
    Local,
    /// In a function, and lives on after it.
    LocalStatic,
    /// Given by the caller.
    Parameter,
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Arc<Type>,
    /// What it is.
    pub storage: Storage,
    /// Its name in the text, where it is first declared.
    pub name_span: Span,
    /// Where it can be used: from behind its first declarator to the end of
    /// its block, or of the file.
    pub scope: Span,
    /// The function it belongs to.
    pub function: Option<usize>,
    /// Its first declaration.
    pub declaration: usize,
    /// How often it is declared.
    pub n_declarations: usize,
    /// Whether it is declared but not defined here.
    pub is_external: bool,
    /// Whether its address cannot be taken.
    pub is_register: bool,
    /// Whether it has a value from the start: an initializer, zero, an argument.
    pub is_initialized: bool,
    /// Whether something in the text writes to it or to a part of it.
    pub is_written: bool,
    /// Whether something takes its address, or an array's first element.
    pub is_address_taken: bool,
    /// Whether something depends on its very type: `_Generic`, assembly.
    pub is_pinned: bool,
    /// Whether its size matters to a function that cannot know it: `printf`.
    pub is_sized: bool,
    /// Whether it is part of the oracle or of a runtime.
    pub is_frozen: bool,
    /// Whether something else of its name may hide it somewhere.
    pub has_namesakes: bool,
}

/// Who a declaration is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The file.
    File,
    /// A block.
    Block,
    /// A function's parameters.
    Function(usize),
    /// A structure or union.
    Record,
}

/// A word of a declaration's specifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the keywords of C")]
pub enum Word {
    Const,
    Volatile,
    Restrict,
    Unsigned,
    Signed,
    Short,
    Long,
    Int,
    Char,
    Double,
    /// The name of a typedef.
    TypeName,
    /// `struct`, `union` or `enum`, with name and body.
    Tag,
    /// `static`, `extern` and their like.
    Storage,
    /// Anything else.
    Other,
}

/// A word and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Specifier {
    /// What it says.
    pub word: Word,
    /// Where.
    pub span: Span,
}

/// `int a, *b, c[3];`: specifiers, and what they are for.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// From the first specifier to the end of the last declarator.
    pub span: Span,
    /// Who it is for.
    pub owner: Owner,
    /// In the order of the text.
    pub specifiers: Vec<Specifier>,
    /// In the order of the text.
    pub declarators: Vec<Declarator>,
    /// Where it stands.
    pub site: Site,
}

/// One name of a declaration.
#[derive(Clone, Debug)]
pub struct Declarator {
    /// Its name, empty where it has none.
    pub name: String,
    /// Where.
    pub name_span: Span,
    /// All of it, specifiers included.
    pub span: Span,
    /// Its type.
    pub ty: Arc<Type>,
    /// The variable; fields have none.
    pub variable: Option<usize>,
    /// Of a bit-field.
    pub bit_width: Option<u32>,
    /// Its initializer.
    pub initializer: Option<Span>,
    /// Whether a `*` stands before its name, with nothing but qualifiers between.
    pub has_star: bool,
    /// The qualifiers between that star and its name.
    pub own_qualifiers: Vec<Specifier>,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it is.
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
#[expect(missing_docs, reason = "the statements of C")]
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

/// What a block is.
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
    /// What it is.
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

/// A call.
#[derive(Clone, Debug)]
pub struct Call {
    /// Who is called, where that is a name.
    pub callee: Option<String>,
    /// All of it.
    pub span: Span,
    /// Each argument.
    pub arguments: Vec<Span>,
    /// What it returns.
    pub ty: Arc<Type>,
    /// Where it stands.
    pub site: Site,
}

/// What is done to a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
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
    /// Which variable.
    pub variable: usize,
    /// What is done to it, or to a part of it.
    pub used: Use,
    /// Whether it is only a part that something is done to: a member, an
    /// element.
    pub is_part: bool,
    /// Where it stands.
    pub site: Site,
}

/// One side of an operator.
#[derive(Clone, Debug)]
pub struct Operand {
    /// Where.
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
    /// Which one.
    pub operator: BinaryOperator,
    /// The operator alone.
    pub operator_span: Span,
    /// What stands before it.
    pub left: Operand,
    /// What stands behind it.
    pub right: Operand,
    /// What it gives.
    pub ty: Arc<Type>,
    /// Whether it stands next to another operator, without parentheses.
    pub is_bare: bool,
    /// Where it stands.
    pub site: Site,
}

/// `++a`, `!a`.
#[derive(Clone, Debug)]
pub struct Unary {
    /// All of it.
    pub span: Span,
    /// Which one.
    pub operator: UnaryOperator,
    /// What it is applied to.
    pub operand: Operand,
    /// Whether the operand is a place that can be written to.
    pub is_assignable: bool,
    /// What it gives.
    pub ty: Arc<Type>,
    /// Where it stands.
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
    /// Where.
    pub span: Span,
    /// Its type.
    pub ty: Arc<Type>,
    /// What it is for.
    pub role: Role,
    /// Whether a minus stands before it.
    pub is_negated: bool,
    /// Where it stands.
    pub site: Site,
}

impl Program {
    /// The C text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Every declaration and definition of a function.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// Every variable.
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

    /// Every block.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Every call.
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
