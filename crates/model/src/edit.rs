//! Edits: changes to a program's IR that a worker makes before the passes run.
//!
//! Every kind of edit has items, numbered from 0 in the order of the module's
//! text: its functions, its instructions, its constants. To make a program
//! smaller, many items of one kind are edited at once; to vary it a little, one.
//! `worker/edit.cpp` makes them.

use std::fmt;

use crate::IndexSet;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    pub kind: EditKind,
    /// Which items. None: they are only counted.
    pub items: IndexSet,
}

impl Edit {
    pub fn one(kind: EditKind, item: u32) -> Edit {
        Edit { kind, items: IndexSet::of([item]) }
    }
}

impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind.name())?;
        for &(from, end) in self.items.ranges() {
            match end - from {
                1 => write!(f, " #{from}")?,
                _ => write!(f, " #{from}..{end}")?,
            }
        }
        Ok(())
    }
}

/// Makes the enumeration and the list of all kinds from one table.
macro_rules! kinds {
    ($($(#[$meta:meta])* $kind:ident = $number:literal, $name:literal;)*) => {
        /// In which way a program is edited. The numbers are the protocol's.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u32)]
        pub enum EditKind { $($(#[$meta])* $kind = $number,)* }

        impl EditKind {
            pub const ALL: &'static [EditKind] = &[$(EditKind::$kind),*];

            /// In words, for progress and logs.
            pub fn name(self) -> &'static str {
                match self { $(EditKind::$kind => $name,)* }
            }
        }
    };
}

kinds! {
    /// A function loses its body.
    FunctionBodies = 1, "function bodies";
    /// A global, alias or declaration goes; where it is used, there is null.
    Globals = 2, "globals";
    /// A global's initializer becomes zero.
    Initializers = 3, "initializers";
    /// A block goes, and the ways into it with it.
    Blocks = 4, "blocks";
    /// A conditional branch or switch always goes one way: an item per way.
    Branches = 5, "branches";
    /// An instruction goes; where its value is used, there is zero.
    Instructions = 6, "instructions";
    /// The same, but an operand of the same type takes its place.
    Bypasses = 7, "instructions with operands in their place";
    /// An operand becomes zero.
    OperandsToZero = 8, "operands to zero";
    /// An operand becomes one.
    OperandsToOne = 9, "operands to one";
    /// An attribute of a function, an argument or a call goes.
    Attributes = 10, "attributes";
    /// Metadata of an instruction, a function or the module goes.
    Metadata = 11, "metadata";
    /// A flag such as `nsw`, `exact`, `inbounds`, `fast` or `volatile` goes.
    Flags = 12, "flags";
    /// An integer or floating-point constant becomes one larger.
    Increments = 13, "constants, plus one";
    /// An integer constant becomes its negative.
    Negations = 14, "constants, negated";
    /// A comparison has the opposite predicate.
    Inversions = 15, "comparisons, inverted";
    /// A comparison has its signed or unsigned, ordered or unordered counterpart.
    Signs = 16, "comparisons, of the other sign";
    /// The two operands of an operation trade places.
    Swaps = 17, "swapped operands";
    /// A binary operation becomes another one.
    Opcodes = 18, "operations";
}

impl EditKind {
    /// Edits that make a program smaller, those that take most away first.
    pub const REDUCING: &'static [EditKind] = &[
        EditKind::FunctionBodies,
        EditKind::Globals,
        EditKind::Blocks,
        EditKind::Branches,
        EditKind::Instructions,
        EditKind::Bypasses,
        EditKind::OperandsToZero,
        EditKind::OperandsToOne,
        EditKind::Initializers,
        EditKind::Attributes,
        EditKind::Metadata,
        EditKind::Flags,
    ];

    /// Edits that change a little, one item at a time.
    pub const VARYING: &'static [EditKind] = &[
        EditKind::Branches,
        EditKind::Instructions,
        EditKind::Bypasses,
        EditKind::OperandsToZero,
        EditKind::OperandsToOne,
        EditKind::Attributes,
        EditKind::Metadata,
        EditKind::Flags,
        EditKind::Increments,
        EditKind::Negations,
        EditKind::Inversions,
        EditKind::Signs,
        EditKind::Swaps,
        EditKind::Opcodes,
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_dense_and_begin_at_one() {
        let numbers: Vec<u32> = EditKind::ALL.iter().map(|&kind| kind as u32).collect();
        assert_eq!(numbers, (1..=EditKind::ALL.len() as u32).collect::<Vec<_>>());
    }

    #[test]
    fn every_kind_has_a_use() {
        for kind in EditKind::ALL {
            assert!(EditKind::REDUCING.contains(kind) || EditKind::VARYING.contains(kind));
        }
    }
}
