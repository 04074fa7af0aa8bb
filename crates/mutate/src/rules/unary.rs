//! A unary operator by another, or by none.
//!
//! **Invariant:** only what can be written to is incremented, and a pointer is
//! never negated: where it stands, a pointer is wanted.

use crate::edit::Edit;
use crate::operator::UnaryOperator;
use crate::program::{Program, Unary};
use crate::rules::{Outcome, Spot, what};

pub(super) fn spots(
    program: &Program,
    from: UnaryOperator,
    to: Option<UnaryOperator>,
) -> Vec<Spot> {
    let of = program.unaries.iter().enumerate();
    of.filter(|(_, unary)| unary.operator == from && !unary.site.is_frozen && is_valid(unary, to))
        .map(|(element, unary)| Spot {
            offset: unary.span.start,
            statement: unary.site.statement,
            element,
            part: 0,
        })
        .collect()
}

fn is_valid(unary: &Unary, to: Option<UnaryOperator>) -> bool {
    let ty = &unary.operand.ty;
    match to {
        None => ty.is_scalar() && (unary.operator != UnaryOperator::Negation || ty.is_arithmetic()),
        Some(UnaryOperator::Negation) => ty.is_arithmetic(),
        Some(
            UnaryOperator::PreIncrement
            | UnaryOperator::PreDecrement
            | UnaryOperator::PostIncrement
            | UnaryOperator::PostDecrement,
        ) => {
            let stays_pointer = ty.is_pointer() && unary.operator != UnaryOperator::Negation;
            unary.is_assignable && !unary.site.is_constant && (ty.is_arithmetic() || stays_pointer)
        }
    }
}

pub(super) fn outcomes(program: &Program, to: Option<UnaryOperator>, spot: Spot) -> Vec<Outcome> {
    let unary = &program.unaries[spot.element];
    let text = program.text();
    let operand = unary.operand.span.of(text);
    // `*p` binds looser than what stands behind it.
    let grouped = match unary.operand.is_compound {
        true => format!("({operand})"),
        false => operand.to_owned(),
    };
    let texts = match to {
        None => vec![operand.to_owned()],
        Some(UnaryOperator::PreIncrement) => vec![format!("++{operand}")],
        Some(UnaryOperator::PreDecrement) => vec![format!("--{operand}")],
        Some(UnaryOperator::PostIncrement) => vec![format!("{grouped}++")],
        Some(UnaryOperator::PostDecrement) => vec![format!("{grouped}--")],
        Some(UnaryOperator::Negation) if unary.operand.ty.is_integer() => {
            vec![format!("!{operand}"), format!("~{operand}")]
        }
        Some(UnaryOperator::Negation) => vec![format!("!{operand}")],
    };
    texts
        .into_iter()
        .map(|new| {
            let what = what(unary.span.of(text), &new);
            let new = apart(text, unary, to, new);
            Outcome { edits: vec![Edit::replace(unary.span, new)], what }
        })
        .collect()
}

/// Keeps what stands behind it from binding to a part of it.
fn apart(text: &str, unary: &Unary, to: Option<UnaryOperator>, new: String) -> String {
    let behind = text.get(unary.span.end..).unwrap_or_default().trim_start();
    let binds_tighter =
        ["[", ".", "->", "(", "++", "--"].iter().any(|postfix| behind.starts_with(postfix));
    let is_prefix = to.is_some_and(|to| !to.is_postfix()) || unary.operand.is_compound;
    match binds_tighter && unary.operator.is_postfix() && is_prefix {
        true => format!("({new})"),
        false => new,
    }
}
