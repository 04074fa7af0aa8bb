//! Which statements can stand elsewhere: those that jump nowhere else and hold
//! nothing of the oracle.
//!
//! **Invariant:** looks at statements only; what names mean is for
//! [`super::source`].

use crate::pool::source::is_in;
use crate::program::{Program, StatementKind};
use crate::span::Span;

/// The labels of a region; `None` if something in it leads out, or belongs to
/// something around it.
pub(super) fn labels(program: &Program, region: Span) -> Option<Vec<String>> {
    let first = program.statements.partition_point(|it| it.span.start < region.start);
    let mut labels = Vec::new();
    let mut gotos = Vec::new();
    for statement in &program.statements[first..] {
        if statement.span.start >= region.end {
            break;
        }
        if statement.is_oracle {
            return None;
        }
        let is_inside = |holds: &dyn Fn(&StatementKind) -> bool| {
            let mut around = statement.parent;
            while let Some(outer) = around {
                let outer = &program.statements[outer];
                if !is_in(outer.span, region) {
                    return false;
                }
                if holds(&outer.kind) {
                    return true;
                }
                around = outer.parent;
            }
            false
        };
        let is_free = match &statement.kind {
            StatementKind::Return { .. }
            | StatementKind::ComputedGoto
            | StatementKind::Asm
            | StatementKind::Other => false,
            StatementKind::Case { .. } | StatementKind::Default { .. } => is_inside(&is_switch),
            StatementKind::Break => is_inside(&|kind| is_switch(kind) || is_loop(kind)),
            StatementKind::Continue => is_inside(&is_loop),
            StatementKind::Goto { label } => {
                gotos.push(label);
                true
            }
            StatementKind::Label { name, .. } => {
                labels.push(name.clone());
                true
            }
            _ => true,
        };
        if !is_free {
            return None;
        }
    }
    gotos.iter().all(|label| labels.contains(label)).then_some(labels)
}

/// Whether a statement is worth putting elsewhere.
pub(super) fn is_candidate(kind: &StatementKind) -> bool {
    matches!(
        kind,
        StatementKind::Block(_)
            | StatementKind::Expression
            | StatementKind::If { .. }
            | StatementKind::While { .. }
            | StatementKind::Do { .. }
            | StatementKind::For { .. }
            | StatementKind::Switch { .. }
    )
}

fn is_switch(kind: &StatementKind) -> bool {
    matches!(kind, StatementKind::Switch { .. })
}

fn is_loop(kind: &StatementKind) -> bool {
    matches!(
        kind,
        StatementKind::While { .. } | StatementKind::Do { .. } | StatementKind::For { .. }
    )
}
