//! An integer constant by one that is one more, one less, zero, or its negative.
//!
//! **Invariant:** null pointers stay null, no divisor becomes zero, no shift
//! leaves its type, and no index leaves its array.

use crate::edit::Edit;
use crate::program::{Literal, Program, Role};
use crate::rule::Arithmetic;
use crate::rules::{Outcome, Spot, what};

pub(super) fn spots(program: &Program, change: Arithmetic) -> Vec<Spot> {
    let of = program.literals.iter().enumerate();
    of.filter(|(_, literal)| !literal.site.is_frozen && changed(program, literal, change).is_some())
        .map(|(element, literal)| Spot {
            offset: literal.span.start,
            statement: literal.site.statement,
            element,
            part: 0,
        })
        .collect()
}

pub(super) fn outcomes(program: &Program, change: Arithmetic, spot: Spot) -> Vec<Outcome> {
    let literal = &program.literals[spot.element];
    let Some(new) = changed(program, literal, change) else { return Vec::new() };
    let what = what(literal.span.of(program.text()), &new);
    vec![Outcome { edits: vec![Edit::replace(literal.span, new)], what }]
}

/// A constant as written: its digits' base, its value and its suffix.
struct Number<'t> {
    value: i128,
    is_hexadecimal: bool,
    suffix: &'t str,
}

fn parse(text: &str) -> Option<Number<'_>> {
    let text_end = text.trim_end_matches(['u', 'U', 'l', 'L']).len();
    let (digits, suffix) = text.split_at(text_end);
    let (digits, radix) = match digits.get(..2) {
        Some("0x" | "0X") => (&digits[2..], 16),
        Some("0b" | "0B") => (&digits[2..], 2),
        _ if digits.len() > 1 && digits.starts_with('0') => (&digits[1..], 8),
        _ => (digits, 10),
    };
    let value = i128::from(u64::from_str_radix(digits, radix).ok()?);
    Some(Number { value, is_hexadecimal: radix == 16, suffix })
}

fn changed(program: &Program, literal: &Literal, change: Arithmetic) -> Option<String> {
    let number = parse(literal.span.of(program.text()))?;
    let value = match change {
        Arithmetic::PlusOne => number.value + 1,
        Arithmetic::MinusOne => number.value - 1,
        Arithmetic::TimesZero => 0,
        Arithmetic::TimesMinusOne => -number.value,
    };
    let seen = if literal.is_negated { -value } else { value };
    let fits = match literal.role {
        Role::Plain => true,
        Role::Divisor => value != 0,
        Role::Shift(bits) => seen >= 0 && seen < i128::from(bits),
        Role::Index(Some(length)) => seen >= 0 && seen < i128::from(length),
        Role::Index(None) => seen >= 0,
        Role::Null => false,
    };
    let is_unsigned = number.suffix.contains(['u', 'U']);
    let largest = match number.is_hexadecimal || is_unsigned {
        true => i128::from(u64::MAX),
        false => i128::from(i64::MAX),
    };
    if !fits || value == number.value || value.abs() > largest {
        return None;
    }
    let digits = match number.is_hexadecimal {
        true => format!("0x{:X}", value.abs()),
        false => value.abs().to_string(),
    };
    // In parentheses, so that no minus before it becomes part of `--`.
    Some(match value < 0 {
        true => format!("(-{digits}{})", number.suffix),
        false => format!("{digits}{}", number.suffix),
    })
}
