//! Points: statements that a record or a snippet may stand before.
//!
//! **Invariant:** what stands before a point is executed exactly when the
//! statement is; nothing stands in a runtime, in a statement expression, whose
//! value could change, or in a function with arrays of variable length, into
//! whose scopes no jump may lead.

use crate::program::{BlockKind, Program, Statement, StatementKind, Storage};
use crate::span::Span;

/// What is asked about statements many times.
pub(super) struct Points<'p> {
    program: &'p Program,
    statement_expressions: Vec<Span>,
    /// Of each function, whether something may stand in it at all.
    is_open: Vec<bool>,
}

impl<'p> Points<'p> {
    pub(super) fn of(program: &'p Program) -> Points<'p> {
        let blocks = program.blocks.iter();
        let statement_expressions = blocks
            .filter(|block| block.kind == BlockKind::StatementExpression)
            .map(|block| block.span)
            .collect();
        let is_fit = program.unfit().is_none();
        let mut is_open: Vec<bool> =
            program.functions.iter().map(|function| is_fit && !function.is_frozen).collect();
        for variable in &program.variables {
            let is_local = match variable.storage {
                Storage::Local | Storage::LocalStatic | Storage::Parameter => true,
                Storage::Global => false,
            };
            if let (true, Some(function)) = (is_local, variable.function) {
                is_open[function] &= !variable.ty.has_variable_length();
            }
        }
        Points { program, statement_expressions, is_open }
    }

    /// All points, by the numbers of their statements.
    pub(super) fn all(&self) -> Vec<usize> {
        let statements = 0..self.program.statements.len();
        statements.filter(|&number| self.is_point(&self.program.statements[number])).collect()
    }

    fn is_point(&self, statement: &Statement) -> bool {
        self.is_open(statement)
            && !statement.is_pinned
            && match statement.kind {
                // Braces have a first statement, and what follows a label is a
                // point of its own.
                StatementKind::Block(_) | StatementKind::Declaration(_) => {
                    statement.block.is_some()
                }
                StatementKind::Expression
                | StatementKind::If { .. }
                | StatementKind::While { .. }
                | StatementKind::Do { .. }
                | StatementKind::For { .. }
                | StatementKind::Switch { .. }
                | StatementKind::Goto { .. }
                | StatementKind::ComputedGoto
                | StatementKind::Break
                | StatementKind::Continue
                | StatementKind::Return { .. }
                | StatementKind::Asm
                | StatementKind::Empty => true,
                StatementKind::Label { .. }
                | StatementKind::Case { .. }
                | StatementKind::Default { .. }
                | StatementKind::Other => false,
            }
    }

    /// Whether a statement is in code that may be changed.
    pub(super) fn is_open(&self, statement: &Statement) -> bool {
        let parent = statement.parent.map(|parent| &self.program.statements[parent].kind);
        let start = statement.span.start;
        self.is_open.get(statement.function).copied().unwrap_or(false)
            && parent != Some(&StatementKind::Other)
            && !self.statement_expressions.iter().any(|span| span.contains(start))
    }
}

/// Whether a condition may be put around a statement: what it declares, or is
/// jumped to by, has to stay visible.
pub(super) fn can_be_guarded(statement: &Statement) -> bool {
    matches!(
        statement.kind,
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
            | StatementKind::Return { .. }
    )
}
