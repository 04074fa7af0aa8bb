//! What was not executed, and what of it can go.
//!
//! **Invariant:** a statement is dead only if a probe before it says so and
//! nothing in it was reached; without one that can be deleted, the program is
//! still C, and does the same as long as it stays unexecuted.

use crate::emi::entries::{Entries, switch_around};
use crate::emi::points::Points;
use crate::emi::profile::Profile;
use crate::marks;
use crate::program::{Program, Statement, StatementKind};

/// Asks a program and its profile.
pub(super) struct Dead<'p> {
    program: &'p Program,
    points: Points<'p>,
    entries: Entries,
    /// Of each statement, whether it or something in it was reached.
    is_touched: Vec<bool>,
    /// Where each goto is, and its function and label.
    gotos: Vec<(usize, usize, &'p str)>,
}

impl<'p> Dead<'p> {
    pub(super) fn of(program: &'p Program, profile: &Profile) -> Dead<'p> {
        let mut is_touched = vec![false; program.statements.len()];
        for &reached in profile.reached() {
            let mut around = (reached < is_touched.len()).then_some(reached);
            while let Some(statement) = around.filter(|&it| !is_touched[it]) {
                is_touched[statement] = true;
                around = program.statements[statement].parent;
            }
        }
        let gotos = program.statements.iter().filter_map(|statement| match &statement.kind {
            StatementKind::Goto { label } => {
                Some((statement.span.start, statement.function, label.as_str()))
            }
            _ => None,
        });
        let gotos = gotos.collect();
        let (points, entries) = (Points::of(program), Entries::of(program));
        Dead { program, points, entries, is_touched, gotos }
    }

    /// Whether a statement was never executed.
    pub(super) fn is_dead(&self, number: usize) -> bool {
        let statement = &self.program.statements[number];
        let is_entered = match &statement.kind {
            // Braces without a probe are entered when their first statement is.
            StatementKind::Block(block) if statement.block.is_none() => {
                let first = self.program.blocks[*block].statements.first();
                first.is_none_or(|&first| !self.is_dead(first))
            }
            _ => self.program.probe_offset(statement).is_none(),
        };
        !is_entered && !self.is_touched[number]
    }

    /// Dead statements that something may stand before.
    pub(super) fn places(&self) -> Vec<usize> {
        let points = self.points.all();
        points.into_iter().filter(|&point| self.is_dead(point)).collect()
    }

    /// Dead statements that can be replaced by an empty one, outer ones first.
    pub(super) fn deletable(&self) -> Vec<usize> {
        let all = 0..self.program.statements.len();
        all.filter(|&number| self.is_dead(number) && self.can_go(number)).collect()
    }

    fn can_go(&self, number: usize) -> bool {
        let statement = &self.program.statements[number];
        let is_worth_it = match statement.kind {
            StatementKind::Block(_)
            | StatementKind::If { .. }
            | StatementKind::While { .. }
            | StatementKind::Do { .. }
            | StatementKind::For { .. }
            | StatementKind::Switch { .. }
            | StatementKind::Goto { .. }
            | StatementKind::Break
            | StatementKind::Continue => true,
            // Tags and prototypes in an expression are the whole block's.
            StatementKind::Expression | StatementKind::Return { .. } => {
                let mut locals = self.program.outline.locals.iter();
                !locals.any(|local| statement.span.contains(local.span.start))
            }
            _ => false,
        };
        is_worth_it
            && !statement.is_pinned
            && self.points.is_open(statement)
            && !self.is_jumped_into(number)
            && marks::is_whole(statement.span.of(self.program.text()))
    }

    /// Whether something in a statement is named by a jump outside of it.
    fn is_jumped_into(&self, number: usize) -> bool {
        let outer = &self.program.statements[number];
        let inside = self.program.statements[number..]
            .iter()
            .take_while(|statement| statement.span.start < outer.span.end);
        inside.into_iter().any(|statement| self.is_entered_from(outer, statement))
    }

    fn is_entered_from(&self, outer: &Statement, inner: &Statement) -> bool {
        match &inner.kind {
            StatementKind::Label { name, .. } => {
                self.entries.are_unknown_in(outer.function)
                    || self.program.text().contains("&&")
                        && names_as_value(self.program.text(), name)
                    || self.gotos.iter().any(|&(at, function, label)| {
                        function == outer.function && label == name && !outer.span.contains(at)
                    })
            }
            StatementKind::Case { .. } | StatementKind::Default { .. } => {
                let switch = switch_around(self.program, inner.parent);
                switch.is_none_or(|switch| !outer.span.contains(switch))
            }
            _ => false,
        }
    }
}

/// Whether a text has `&&label` somewhere, as far as blanks allow.
fn names_as_value(text: &str, label: &str) -> bool {
    let mut behind = text.split("&&").skip(1);
    behind.any(|rest| rest.trim_start().starts_with(label))
}
