//! How a value is written in C.
//!
//! **Invariant:** the text has just the value's type, may stand next to any
//! operator, and nothing in it overflows.

use crate::arithmetic::Value;
use crate::types::Rank;

/// The value as C.
pub fn literal(value: Value) -> String {
    let (ty, number) = (value.ty(), value.number());
    let suffix = match (ty.rank, ty.is_signed) {
        (Rank::Bool | Rank::Char | Rank::Short, _) => {
            return format!("(({}){number})", ty.name());
        }
        (Rank::Int, true) => "",
        (Rank::Int, false) => "U",
        (Rank::Long | Rank::Int128, true) => "L",
        (Rank::Long | Rank::Int128, false) => "UL",
        (Rank::LongLong, true) => "LL",
        (Rank::LongLong, false) => "ULL",
    };
    let is_least = ty.range(None).is_some_and(|range| number == *range.start());
    match number < 0 {
        // `2147483648` is no `int`, so its negation is none either.
        true if is_least => format!("({}{suffix} - 1{suffix})", number + 1),
        true => format!("({number}{suffix})"),
        false => format!("{number}{suffix}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Integer;

    fn check(rank: Rank, is_signed: bool, number: i128, expected: &str) {
        let value = Value::new(Integer { rank, is_signed }, number).unwrap();
        assert_eq!(literal(value), expected);
    }

    #[test]
    fn a_literal_has_its_value_and_its_type() {
        check(Rank::Int, true, 7, "7");
        check(Rank::Int, true, -7, "(-7)");
        check(Rank::Int, true, i32::MIN.into(), "(-2147483647 - 1)");
        check(Rank::Int, false, 4_294_967_295, "4294967295U");
        check(Rank::Long, true, i64::MIN.into(), "(-9223372036854775807L - 1L)");
        check(Rank::LongLong, false, 1, "1ULL");
        check(Rank::Char, true, -128, "((signed char)-128)");
        check(Rank::Bool, false, 1, "((_Bool)1)");
    }
}
