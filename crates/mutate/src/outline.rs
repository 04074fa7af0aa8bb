//! What stands at file scope, and which words of a text are names: what has to
//! be known to take a piece of one program into another.
//!
//! Made by [`crate::view`], used by [`crate::pool`] and [`crate::structure`].
//!
//! **Invariant:** items do not overlap and stand in the order of the text; a
//! member's name is no name here, because members never clash.

use crate::span::Span;

/// The part of a view that dependencies are found with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outline {
    pub items: Vec<Item>,
    /// Every identifier that is not a member's name, in order.
    pub names: Vec<Span>,
    /// The conditions of `?:`.
    pub choices: Vec<Span>,
    /// Types, constants and prototypes that are declared in functions.
    pub locals: Vec<Local>,
}

/// A declaration or definition at file scope, its end included.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub span: Span,
    /// Every name it gives a meaning at file scope: tags and enumerators, too.
    pub declares: Vec<String>,
    pub kind: ItemKind,
    /// Its tokens, one blank between each two: equal for equal C.
    pub key: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemKind {
    /// A function with its body.
    Definition,
    /// A function without one.
    Prototype,
    /// Variables and types, and what C allows besides.
    Other,
}

/// A local name that is no variable.
#[derive(Clone, Debug)]
pub(crate) struct Local {
    pub name: String,
    pub span: Span,
}

impl Outline {
    /// The names in a range, by their numbers.
    pub(crate) fn names_in(&self, span: Span) -> std::ops::Range<usize> {
        let first = self.names.partition_point(|name| name.start < span.start);
        let end = self.names.partition_point(|name| name.start < span.end);
        first..end.max(first)
    }

    /// The item that a place is in.
    pub(crate) fn item_at(&self, offset: usize) -> Option<usize> {
        let behind = self.items.partition_point(|item| item.span.start <= offset);
        behind.checked_sub(1).filter(|&index| self.items[index].span.contains(offset))
    }
}
