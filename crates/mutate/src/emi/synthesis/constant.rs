//! Integer constants for synthesized code: near what was observed, at borders,
//! and anywhere else.
//!
//! **Invariant:** every constant is a value of its type; none is chosen by what
//! a compiler might do with it.

use rand::Rng;
use rand::seq::IndexedRandom as _;

use crate::arithmetic::Value;
use crate::types::{Integer, Rank};

/// The types that C gives to constants without a cast, `int` most often.
const TYPES: [Integer; 5] = [
    Integer::INT,
    Integer::INT,
    Integer { rank: Rank::Int, is_signed: false },
    Integer { rank: Rank::Long, is_signed: true },
    Integer { rank: Rank::Long, is_signed: false },
];

/// How far from an observed value is still near.
const NEAR: i128 = 3;

/// Any constant.
pub(super) fn constant(rng: &mut impl Rng) -> Value {
    let ty = TYPES.choose(rng).copied().unwrap_or(Integer::INT);
    Value::wrapped(ty, number(ty, rng))
}

/// A constant that may tell something about observed values of a type: one of
/// them, one beside them, or any.
pub(super) fn telling(ty: Integer, values: &[i128], rng: &mut impl Rng) -> Value {
    let observed = match rng.random_range(0..3) {
        0 => values.first(),
        1 => values.last(),
        _ => values.choose(rng),
    };
    let number = match (observed, rng.random_range(0..4)) {
        (Some(&observed), 1..) => observed + rng.random_range(-NEAR..=NEAR),
        _ => number(ty, rng),
    };
    let ty = match rng.random_range(0..3) {
        0 => TYPES.choose(rng).copied().unwrap_or(Integer::INT),
        _ => ty.promoted(),
    };
    Value::wrapped(ty, number)
}

/// A number of any size, so that small ones are as likely as large ones.
fn number(ty: Integer, rng: &mut impl Rng) -> i128 {
    let bits = rng.random_range(1..=ty.bits());
    let power = 1_i128 << (bits - 1);
    match rng.random_range(0..4) {
        0 => power,
        1 => power - 1,
        2 => -power,
        _ => rng.random_range(-power..=power),
    }
}
