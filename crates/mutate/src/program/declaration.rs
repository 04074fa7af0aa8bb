//! What a program declares: functions, variables, records, and the words they are
//! declared with.
//!
//! **Invariant:** a variable is one element, however often it is declared.

use std::sync::Arc;

use crate::program::Site;
use crate::span::Span;
use crate::types::Type;

/// A declaration or a definition of a function.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    /// All of it.
    pub span: Span,
    /// Its name in the text.
    pub name_span: Span,
    /// What it returns.
    pub result: Arc<Type>,
    /// Its parameters, as variables. A prototype has none of these.
    pub parameters: Vec<usize>,
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

#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    pub ty: Arc<Type>,
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
    File,
    Block,
    /// A function's parameters.
    Function(usize),
    /// A structure or union.
    Record,
}

/// A word of a declaration's specifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    pub word: Word,
    pub span: Span,
}

/// `int a, *b, c[3];`: specifiers, and what they are for.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// From the first specifier to the end of the last declarator.
    pub span: Span,
    pub owner: Owner,
    /// In the order of the text.
    pub specifiers: Vec<Specifier>,
    /// In the order of the text.
    pub declarators: Vec<Declarator>,
    pub site: Site,
}

#[derive(Clone, Debug)]
pub struct Declarator {
    /// Its name, empty where it has none.
    pub name: String,
    pub name_span: Span,
    /// All of it, specifiers included.
    pub span: Span,
    pub ty: Arc<Type>,
    /// The variable; fields have none.
    pub variable: Option<usize>,
    /// Of a bit-field.
    pub bit_width: Option<u32>,
    pub initializer: Option<Span>,
    /// Whether a `*` stands before its name, with nothing but qualifiers between.
    pub has_star: bool,
    /// The qualifiers between that star and its name.
    pub own_qualifiers: Vec<Specifier>,
}

/// The definition of a structure or union.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// Its type, as [`Type::bare`] spells it.
    pub bare: String,
    pub is_union: bool,
    /// Those with a name, in order.
    pub fields: Vec<Field>,
}

#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub name: String,
    pub ty: Arc<Type>,
    pub bit_width: Option<u32>,
}
