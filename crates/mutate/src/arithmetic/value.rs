//! A number with its type, and conversions (C11 6.3.1.2, 6.3.1.3).
//!
//! **Invariant:** the number is one of the type's.

use crate::types::{Integer, Rank};

/// A value of C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    ty: Integer,
    number: i128,
}

impl Value {
    /// `None` if the type has no such value, or none at all: `__int128`.
    pub fn new(ty: Integer, number: i128) -> Option<Value> {
        ty.range(None)?.contains(&number).then_some(Value { ty, number })
    }

    /// 1 or 0, which is what comparisons give.
    pub fn truth(holds: bool) -> Value {
        Value { ty: Integer::INT, number: i128::from(holds) }
    }

    /// What a type makes of any number: whether it is zero, or what is left of
    /// it in so many bits.
    pub fn wrapped(ty: Integer, number: i128) -> Value {
        let number = match ty.rank {
            Rank::Bool => i128::from(number != 0),
            _ => low_bits(number, ty.bits(), ty.is_signed),
        };
        Value { ty, number }
    }

    pub fn ty(self) -> Integer {
        self.ty
    }

    pub fn number(self) -> i128 {
        self.number
    }

    /// Whether a condition takes it for true.
    pub fn is_true(self) -> bool {
        self.number != 0
    }

    /// As another type.
    pub fn convert(self, ty: Integer) -> Value {
        Value::wrapped(ty, self.number)
    }

    /// What a variable of a type, or a bit-field of it, holds after it was
    /// assigned this.
    pub fn stored(self, ty: Integer, width: Option<u32>) -> i128 {
        let number = self.convert(ty).number;
        match width {
            Some(width) if ty.rank != Rank::Bool => low_bits(number, width, ty.is_signed),
            _ => number,
        }
    }
}

/// The lowest bits of a number, with their sign.
fn low_bits(number: i128, bits: u32, is_signed: bool) -> i128 {
    if bits >= i128::BITS {
        return number;
    }
    let low = number & ((1 << bits) - 1);
    match is_signed && low >> (bits - 1) == 1 {
        true => low - (1 << bits),
        false => low,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(from: i128, rank: Rank, is_signed: bool, width: Option<u32>, expected: i128) {
        let long = Integer { rank: Rank::Long, is_signed: true };
        let value = Value::new(long, from).unwrap();
        assert_eq!(value.stored(Integer { rank, is_signed }, width), expected, "{from}");
    }

    #[test]
    fn conversions_keep_the_lowest_bits() {
        check(-1, Rank::Char, false, None, 255);
        check(200, Rank::Char, true, None, -56);
        check(1 << 32, Rank::Int, true, None, 0);
        check(-1, Rank::LongLong, false, None, u64::MAX.into());
    }

    #[test]
    fn every_number_but_zero_becomes_true() {
        check(256, Rank::Bool, false, None, 1);
        check(256, Rank::Bool, false, Some(1), 1);
        check(0, Rank::Bool, false, None, 0);
    }

    #[test]
    fn a_bit_field_keeps_as_many_bits_as_it_has() {
        check(9, Rank::Int, true, Some(4), -7);
        check(9, Rank::Int, false, Some(4), 9);
        check(-1, Rank::Int, false, Some(3), 7);
        check(1, Rank::Int, true, Some(1), -1);
    }

    #[test]
    fn a_type_has_its_own_values_only() {
        assert_eq!(Value::new(Integer::INT, 1 << 31), None);
        assert_eq!(Value::new(Integer { rank: Rank::Int128, is_signed: true }, 0), None);
    }
}
