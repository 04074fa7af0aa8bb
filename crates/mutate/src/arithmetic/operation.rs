//! Operators (C11 6.5.3.3, 6.5.5 to 6.5.14).
//!
//! **Invariant:** an operation that some execution of C may refuse, change or
//! trap on is [`Undefined`] here, never a value.

use crate::arithmetic::Value;
use crate::operator::BinaryOperator;
use crate::types::Integer;

/// An operator that stands before its operand and changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Prefix {
    /// `!`
    Not,
    /// `~`
    Complement,
    /// `-`
    Minus,
}

impl Prefix {
    pub const ALL: [Prefix; 3] = [Prefix::Not, Prefix::Complement, Prefix::Minus];

    /// As C writes it.
    pub fn text(self) -> &'static str {
        match self {
            Prefix::Not => "!",
            Prefix::Complement => "~",
            Prefix::Minus => "-",
        }
    }
}

/// Why C says nothing about an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undefined {
    /// The result is none of its type: 6.5p5, and 6.5.5p6 for `INT_MIN % -1`.
    Overflow,
    /// 6.5.5p5
    DivisionByZero,
    /// A shift by less than nothing, or by all bits and more: 6.5.7p3.
    ShiftAmount,
    /// A negative number to the left: 6.5.7p4.
    ShiftOfNegative,
    /// A number to the left that does not fit then: 6.5.7p4.
    ShiftOverflow,
}

/// Applies an operator to one value.
pub fn prefix(operator: Prefix, value: Value) -> Result<Value, Undefined> {
    let promoted = value.convert(value.ty().promoted());
    match operator {
        Prefix::Not => Ok(Value::truth(!value.is_true())),
        Prefix::Complement => Ok(Value::wrapped(promoted.ty(), !promoted.number())),
        Prefix::Minus => fitting(promoted.ty(), -promoted.number()),
    }
}

/// Applies an operator to two values. One that assigns is taken for the
/// operator in it; what is stored is the result, converted.
pub fn binary(operator: BinaryOperator, left: Value, right: Value) -> Result<Value, Undefined> {
    use BinaryOperator as Op;
    let ty = left.ty().common(right.ty());
    let (a, b) = (left.convert(ty).number(), right.convert(ty).number());
    match operator {
        Op::Add | Op::AddAssign => fitting(ty, a + b),
        Op::Subtract | Op::SubtractAssign => fitting(ty, a - b),
        // Two unsigned numbers may need 128 bits, of which the lower half counts.
        Op::Multiply | Op::MultiplyAssign => fitting(ty, a.wrapping_mul(b)),
        Op::Divide | Op::DivideAssign => divide(ty, a, b).map(|(quotient, _)| quotient),
        Op::Remainder | Op::RemainderAssign => divide(ty, a, b).map(|(_, remainder)| remainder),
        Op::And | Op::AndAssign => Ok(Value::wrapped(ty, a & b)),
        Op::Or | Op::OrAssign => Ok(Value::wrapped(ty, a | b)),
        Op::Xor | Op::XorAssign => Ok(Value::wrapped(ty, a ^ b)),
        Op::ShiftLeft | Op::ShiftLeftAssign => shift_left(left, right),
        Op::ShiftRight | Op::ShiftRightAssign => shift_right(left, right),
        Op::Greater => Ok(Value::truth(a > b)),
        Op::GreaterEqual => Ok(Value::truth(a >= b)),
        Op::Less => Ok(Value::truth(a < b)),
        Op::LessEqual => Ok(Value::truth(a <= b)),
        Op::Equal => Ok(Value::truth(a == b)),
        Op::NotEqual => Ok(Value::truth(a != b)),
        Op::LogicalAnd => Ok(Value::truth(left.is_true() && right.is_true())),
        Op::LogicalOr => Ok(Value::truth(left.is_true() || right.is_true())),
    }
}

/// A result as its type has it: unsigned types wrap around, signed ones must
/// not have to.
fn fitting(ty: Integer, number: i128) -> Result<Value, Undefined> {
    match ty.is_signed {
        false => Ok(Value::wrapped(ty, number)),
        true => Value::new(ty, number).ok_or(Undefined::Overflow),
    }
}

/// Quotient and remainder. The second is undefined where the first is.
fn divide(ty: Integer, a: i128, b: i128) -> Result<(Value, Value), Undefined> {
    if b == 0 {
        return Err(Undefined::DivisionByZero);
    }
    Ok((fitting(ty, a / b)?, Value::wrapped(ty, a % b)))
}

fn shift_left(left: Value, right: Value) -> Result<Value, Undefined> {
    let (value, amount) = shifted(left, right)?;
    if value.number() < 0 {
        return Err(Undefined::ShiftOfNegative);
    }
    let number = value.number() << amount;
    fitting(value.ty(), number).map_err(|_| Undefined::ShiftOverflow)
}

fn shift_right(left: Value, right: Value) -> Result<Value, Undefined> {
    let (value, amount) = shifted(left, right)?;
    Ok(Value::wrapped(value.ty(), value.number() >> amount))
}

/// What is shifted, and by how much. The operands are promoted each by itself.
fn shifted(left: Value, right: Value) -> Result<(Value, u32), Undefined> {
    let value = left.convert(left.ty().promoted());
    let amount = u32::try_from(right.number()).map_err(|_| Undefined::ShiftAmount)?;
    match amount < value.ty().bits() {
        true => Ok((value, amount)),
        false => Err(Undefined::ShiftAmount),
    }
}
