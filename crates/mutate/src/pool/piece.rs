//! An item of a program that ingredients can take along: a type, a variable, a
//! function.
//!
//! **Invariant:** refers to no program; pieces of one program keep its order.

use crate::pool::snippet::Snippet;
use crate::program::{Function, Program};

/// Functions of the C library that every program can be linked with.
const LIBRARY: &[&str] = &[
    "abs", "atoi", "atol", "bcmp", "calloc", "free", "isalnum", "isalpha", "isdigit", "isspace",
    "labs", "llabs", "malloc", "memchr", "memcmp", "memcpy", "memmove", "memset", "rand",
    "realloc", "srand", "strcat", "strchr", "strcmp", "strcpy", "strlen", "strncat", "strncmp",
    "strncpy", "strrchr", "strstr", "tolower", "toupper",
];

/// An item that can be put in front of another program's functions.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// Its number in the program it comes from.
    pub order: usize,
    pub snippet: Snippet,
    pub declares: Vec<String>,
    /// Equal for items that are the same C.
    pub key: String,
    pub kind: PieceKind,
}

/// What becomes of a piece in another program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PieceKind {
    /// A function, or a prototype of it: gets a new name and `static`.
    Function,
    /// A prototype of the C library's: keeps its name.
    Library(Signature),
    /// Variables and types: get new names.
    Other,
}

/// What two declarations of a function have to agree on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Signature(String);

impl Signature {
    pub(crate) fn of(function: &Function) -> Signature {
        let mut types: Vec<&str> =
            function.parameter_types.iter().map(|ty| ty.bare.as_str()).collect();
        types.extend(function.is_variadic.then_some("..."));
        Signature(format!("{}({})", function.result.bare, types.join(", ")))
    }
}

/// Whether a function is one of the C library's that may be called anywhere.
pub(crate) fn is_library(name: &str) -> bool {
    LIBRARY.contains(&name)
}

impl Piece {
    pub(crate) fn of(program: &Program, order: usize, kind: PieceKind) -> Piece {
        let item = &program.outline.items[order];
        Piece {
            order,
            snippet: Snippet::cut(program, item.span),
            declares: item.declares.clone(),
            key: item.key.clone(),
            kind,
        }
    }

    /// Whether it gets new names.
    pub(crate) fn is_renamed(&self) -> bool {
        match self.kind {
            PieceKind::Function | PieceKind::Other => true,
            PieceKind::Library(_) => false,
        }
    }

    /// As it stands in the other program.
    pub(crate) fn render(&self, new_name: impl Fn(&str) -> Option<String>) -> String {
        let text = self.snippet.render(|_, name| new_name(name));
        match self.kind {
            PieceKind::Function if !self.is_static() => {
                format!("static {}", text.strip_prefix("extern ").unwrap_or(&text))
            }
            PieceKind::Function | PieceKind::Library(_) | PieceKind::Other => text,
        }
    }

    fn is_static(&self) -> bool {
        self.key.split(' ').take_while(|word| *word != "(").any(|word| word == "static")
    }
}
