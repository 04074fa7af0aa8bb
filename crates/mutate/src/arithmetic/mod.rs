//! C's integers as x86-64 Linux has them (LP64, `char` is signed, two's
//! complement): what an operation gives, or why it is undefined. What C11 leaves
//! to implementations is as gcc and clang document it: conversions wrap around,
//! `>>` copies the sign.
//!
//! The synthesis asks it before it writes anything that is executed; the tests
//! compare it with both compilers.
//!
//! **Invariant:** pure functions, exact for every value of every standard type;
//! nothing computes with `__int128`, of which [`Value::new`] makes no values.

mod integer;
mod literal;
mod operation;
mod value;

pub use literal::literal;
pub use operation::{Prefix, Undefined, binary, prefix};
pub use value::Value;
