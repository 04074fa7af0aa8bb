//! The types of C, as far as rules ask for them.
//!
//! **Invariant:** plain data; two types that C takes for the same, qualifiers
//! aside, have the same `bare` spelling.

use std::sync::Arc;

/// A type of C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// As libclang writes it, typedef names and all.
    pub spelling: String,
    /// Without typedef names and outermost qualifiers.
    pub bare: String,
    /// `const` at the outermost level.
    pub is_const: bool,
    /// `volatile` at the outermost level.
    pub is_volatile: bool,
    /// `restrict` at the outermost level.
    pub is_restrict: bool,
    pub kind: TypeKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeKind {
    /// `void`
    Void,
    /// `_Bool` to `__int128`.
    Integer(Integer),
    /// An enumeration.
    Enum,
    /// A real floating type.
    Floating,
    Pointer(Arc<Type>),
    Array {
        element: Arc<Type>,
        /// Of how many, where that is a constant.
        length: Option<u64>,
    },
    /// A structure or a union.
    Record,
    /// Of a function.
    Function,
    /// Anything else: vectors, complex numbers, atomics, `_BitInt`.
    Other,
}

/// A standard integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integer {
    /// How long it is.
    pub rank: Rank,
    /// Whether it holds negative numbers.
    pub is_signed: bool,
}

/// The conversion ranks of C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    Bool,
    Char,
    Short,
    Int,
    Long,
    LongLong,
    Int128,
}

impl Type {
    /// Integers and enumerations.
    pub fn is_integer(&self) -> bool {
        matches!(self.kind, TypeKind::Integer(_) | TypeKind::Enum)
    }

    /// Integers, enumerations and real floating types.
    pub fn is_arithmetic(&self) -> bool {
        self.is_integer() || self.kind == TypeKind::Floating
    }

    pub fn is_pointer(&self) -> bool {
        matches!(self.kind, TypeKind::Pointer(_))
    }

    pub fn is_array(&self) -> bool {
        matches!(self.kind, TypeKind::Array { .. })
    }

    /// What conditions may be.
    pub fn is_scalar(&self) -> bool {
        self.is_arithmetic() || self.is_pointer()
    }

    /// How many bits a value has on LP64 after C's promotions, which is what a
    /// shift may shift by less than.
    pub fn promoted_bits(&self) -> u64 {
        match &self.kind {
            TypeKind::Integer(Integer { rank, .. }) => match rank {
                Rank::Bool | Rank::Char | Rank::Short | Rank::Int => 32,
                Rank::Long | Rank::LongLong => 64,
                Rank::Int128 => 128,
            },
            TypeKind::Void
            | TypeKind::Enum
            | TypeKind::Floating
            | TypeKind::Pointer(_)
            | TypeKind::Array { .. }
            | TypeKind::Record
            | TypeKind::Function
            | TypeKind::Other => 32,
        }
    }

    /// The type of what is in an array, however many dimensions it has.
    pub fn innermost_element(&self) -> &Type {
        let mut ty = self;
        while let TypeKind::Array { element, .. } = &ty.kind {
            ty = element;
        }
        ty
    }

    /// The type that arrays and pointers lead to in the end.
    pub fn innermost(&self) -> &Type {
        match &self.kind {
            TypeKind::Pointer(inner) | TypeKind::Array { element: inner, .. } => inner.innermost(),
            TypeKind::Void
            | TypeKind::Integer(_)
            | TypeKind::Enum
            | TypeKind::Floating
            | TypeKind::Record
            | TypeKind::Function
            | TypeKind::Other => self,
        }
    }

    /// Whether an array in it is of a length that only a run knows.
    pub fn has_variable_length(&self) -> bool {
        match &self.kind {
            TypeKind::Array { length: None, .. } => true,
            TypeKind::Array { element: inner, .. } | TypeKind::Pointer(inner) => {
                inner.has_variable_length()
            }
            TypeKind::Void
            | TypeKind::Integer(_)
            | TypeKind::Enum
            | TypeKind::Floating
            | TypeKind::Record
            | TypeKind::Function
            | TypeKind::Other => false,
        }
    }
}
