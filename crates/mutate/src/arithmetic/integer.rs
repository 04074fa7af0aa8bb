//! The standard integer types: sizes, promotions, common types (C11 6.2.5,
//! 6.3.1.1, 6.3.1.8).
//!
//! **Invariant:** ranks order types, sizes do not: `long` and `long long` have
//! 64 bits each and are different types.

use std::ops::RangeInclusive;

use crate::types::{Integer, Rank};

impl Integer {
    /// `int`
    pub const INT: Integer = Integer { rank: Rank::Int, is_signed: true };

    /// Every type that has values in [`crate::arithmetic`], by rank.
    pub const ALL: [Integer; 11] = [
        Integer { rank: Rank::Bool, is_signed: false },
        Integer { rank: Rank::Char, is_signed: true },
        Integer { rank: Rank::Char, is_signed: false },
        Integer { rank: Rank::Short, is_signed: true },
        Integer { rank: Rank::Short, is_signed: false },
        Integer { rank: Rank::Int, is_signed: true },
        Integer { rank: Rank::Int, is_signed: false },
        Integer { rank: Rank::Long, is_signed: true },
        Integer { rank: Rank::Long, is_signed: false },
        Integer { rank: Rank::LongLong, is_signed: true },
        Integer { rank: Rank::LongLong, is_signed: false },
    ];

    /// As C writes it; characters are never plain, because that is a third type.
    pub fn name(self) -> &'static str {
        match (self.rank, self.is_signed) {
            (Rank::Bool, _) => "_Bool",
            (Rank::Char, true) => "signed char",
            (Rank::Char, false) => "unsigned char",
            (Rank::Short, true) => "short",
            (Rank::Short, false) => "unsigned short",
            (Rank::Int, true) => "int",
            (Rank::Int, false) => "unsigned int",
            (Rank::Long, true) => "long",
            (Rank::Long, false) => "unsigned long",
            (Rank::LongLong, true) => "long long",
            (Rank::LongLong, false) => "unsigned long long",
            (Rank::Int128, true) => "__int128",
            (Rank::Int128, false) => "unsigned __int128",
        }
    }

    /// How many bits make its value, the sign included.
    pub fn bits(self) -> u32 {
        match self.rank {
            Rank::Bool => 1,
            Rank::Char => 8,
            Rank::Short => 16,
            Rank::Int => 32,
            Rank::Long | Rank::LongLong => 64,
            Rank::Int128 => 128,
        }
    }

    /// Its values, or those of a bit-field of it that is `width` bits wide;
    /// `None` for `__int128`.
    pub fn range(self, width: Option<u32>) -> Option<RangeInclusive<i128>> {
        if self.rank == Rank::Int128 {
            return None;
        }
        let bits = width.map_or(self.bits(), |width| width.clamp(1, self.bits()));
        Some(match self.is_signed {
            true => -(1 << (bits - 1))..=(1 << (bits - 1)) - 1,
            false => 0..=(1 << bits) - 1,
        })
    }

    /// What the integer promotions make of it.
    pub fn promoted(self) -> Integer {
        match self.rank {
            Rank::Bool | Rank::Char | Rank::Short => Integer::INT,
            Rank::Int | Rank::Long | Rank::LongLong | Rank::Int128 => self,
        }
    }

    /// What the integer promotions make of a bit-field of it, as far as C says:
    /// not for types longer than `int`, where gcc and clang disagree.
    pub fn promoted_field(self, width: u32) -> Option<Integer> {
        match self.rank {
            Rank::Bool | Rank::Char | Rank::Short => Some(Integer::INT),
            Rank::Int if width < 32 => Some(Integer::INT),
            Rank::Int => Some(self),
            Rank::Long | Rank::LongLong | Rank::Int128 => None,
        }
    }

    /// The usual arithmetic conversions: what two operands become.
    pub fn common(self, other: Integer) -> Integer {
        let (left, right) = (self.promoted(), other.promoted());
        let rank = left.rank.max(right.rank);
        let bits = left.bits().max(right.bits());
        // An unsigned operand makes the other one so unless its values fit.
        let stays_signed = |ty: Integer| ty.is_signed || (ty.rank < rank && ty.bits() < bits);
        Integer { rank, is_signed: stays_signed(left) && stays_signed(right) }
    }
}
