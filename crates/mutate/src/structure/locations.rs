//! Where something may be inserted: RecBi's three kinds of locations where
//! nothing may (section 3.1), and what the grammar of C adds.
//!
//! **Invariant:** a location is a statement that something may stand before; it
//! is never a declaration, oracle code, or part of a runtime. What is guarded by
//! a condition contains no oracle code either.

use crate::program::{BlockKind, Program, Statement, StatementKind};
use crate::structure::oracle::Oracle;

/// The statements that something may stand before, in the order of the text.
pub(super) fn insertable(program: &Program) -> Vec<usize> {
    let is_insertable = |&index: &usize| {
        let statement = &program.statements[index];
        !statement.is_oracle
            && !statement.is_pinned
            && !program.functions[statement.function].is_frozen
            && !is_value_of_label(program, statement)
            && match statement.kind {
                StatementKind::Block(_)
                | StatementKind::Expression
                | StatementKind::If { .. }
                | StatementKind::While { .. }
                | StatementKind::Do { .. }
                | StatementKind::For { .. }
                | StatementKind::Switch { .. }
                | StatementKind::Goto { .. }
                | StatementKind::ComputedGoto
                | StatementKind::Break
                | StatementKind::Continue
                | StatementKind::Asm
                | StatementKind::Empty => true,
                // What follows a label is a location of its own.
                _ => false,
            }
    };
    (0..program.statements.len()).filter(is_insertable).collect()
}

/// Those of them that may also become the body of something.
pub(super) fn wrappable(program: &Program) -> Vec<usize> {
    let oracle = Oracle::of(program);
    let mut locations = insertable(program);
    locations.retain(|&index| {
        let statement = &program.statements[index];
        let is_value = statement.block.is_some_and(|block| {
            let block = &program.blocks[block];
            block.kind == BlockKind::StatementExpression && block.statements.last() == Some(&index)
        });
        !is_value && statement.kind != StatementKind::Empty && !oracle.is_in(statement.span)
    });
    locations
}

/// Whether a statement may be what a labelled one gives as the value of a
/// statement expression: braces around it would take that away.
fn is_value_of_label(program: &Program, statement: &Statement) -> bool {
    let parent = statement.parent.map(|parent| &program.statements[parent]);
    let is_labelled = parent.is_some_and(|parent| {
        matches!(
            parent.kind,
            StatementKind::Label { .. }
                | StatementKind::Case { .. }
                | StatementKind::Default { .. }
        )
    });
    is_labelled && statement.block.is_none() && statement_expression(program, statement).is_some()
}

/// The innermost statement expression around a statement.
pub(super) fn statement_expression(program: &Program, statement: &Statement) -> Option<usize> {
    let around = program.blocks.iter().enumerate().filter(|(_, block)| {
        block.kind == BlockKind::StatementExpression && block.span.contains(statement.span.start)
    });
    around.min_by_key(|(_, block)| block.span.end - block.span.start).map(|(index, _)| index)
}
