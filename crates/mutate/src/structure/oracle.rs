//! Where a program shows its result, for operators that could switch that off.
//!
//! **Invariant:** a place counts when any part of it shows something, be it the
//! smallest: a program that prints nothing passes by saying nothing.

use crate::program::Program;
use crate::span::Span;
use crate::view::is_oracle_call;

/// Where oracle code begins, in the order of the text.
pub(super) struct Oracle(Vec<usize>);

impl Oracle {
    pub(super) fn of(program: &Program) -> Oracle {
        let statements = program.statements.iter().filter(|statement| statement.is_oracle);
        // A declaration is never oracle code, but may print by its initializer.
        let calls = program.calls.iter().filter(|call| {
            let callee = call.callee.as_deref();
            callee.is_some_and(is_oracle_call)
        });
        let mut starts: Vec<usize> = statements
            .map(|statement| statement.span.start)
            .chain(calls.map(|call| call.span.start))
            .collect();
        starts.sort_unstable();
        Oracle(starts)
    }

    /// Whether any of it begins in a range.
    pub(super) fn is_in(&self, span: Span) -> bool {
        let first = self.0.partition_point(|&start| start < span.start);
        self.0.get(first).is_some_and(|&start| start < span.end)
    }
}
