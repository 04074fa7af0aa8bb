//! A jump to another location of the same function, forward or backward.
//!
//! **Invariant:** no jump leads into the scope of a variable whose declaration
//! has to be executed: of an array of variable length, which C forbids, or with
//! an initializer, which would leave it without a value. None leads on over code
//! that shows a result, nor out of a loop that has such code.

use rand::Rng;
use rand::seq::IndexedRandom as _;

use crate::edit::Edit;
use crate::program::{Program, Statement, StatementKind, Storage, Variable};
use crate::span::Span;
use crate::structure::fitting::{Fitted, fresh_suffix};
use crate::structure::locations::statement_expression;
use crate::structure::oracle::Oracle;
use crate::structure::target::InsertionPoint;
use crate::structure::{Change, describe, put_before};

/// Jumps to one of these locations.
pub(super) fn insert(
    point: &InsertionPoint<'_>,
    locations: &[usize],
    rng: &mut impl Rng,
) -> Option<Change> {
    let program = point.target.program;
    let from = point.statement();
    let others = locations.iter().filter(|&&location| location != point.location);
    let destinations: Vec<&Statement> = others
        .map(|&location| &program.statements[location])
        .filter(|to| {
            may_jump(program, from, to) && !skips_oracle(&point.target.oracle, program, from, to)
        })
        .collect();
    let to = *destinations.choose(rng)?;
    let words: Vec<&str> =
        program.outline.names.iter().map(|name| name.of(program.text())).collect();
    let label = format!("label{}", fresh_suffix(&words));
    let goto = format!("goto {label};");
    let mut edits = put_before(point, &goto, &Fitted::empty());
    edits.push(Edit::insert(to.span.start, format!("{label}: ")));
    let direction = if to.span.start < from.span.start { "back" } else { "on" };
    let line = program.line_and_column(to.span.start).0;
    let what = format!("{}, {direction} to line {line}", describe(point, &goto));
    Some(Change { edits, what })
}

fn may_jump(program: &Program, from: &Statement, to: &Statement) -> bool {
    let enters = |variable: &Variable| {
        variable.scope.contains(to.span.start) && !variable.scope.contains(from.span.start)
    };
    from.function == to.function
        && statement_expression(program, from) == statement_expression(program, to)
        && !program.variables.iter().any(|variable| enters(variable) && is_executed(variable))
}

/// Whether a jump goes on without something that would have been shown: what
/// lies between, and further turns of the loops that it leaves.
fn skips_oracle(oracle: &Oracle, program: &Program, from: &Statement, to: &Statement) -> bool {
    let end = to.span.start;
    let is_left = |statement: &&Statement| {
        let is_loop = matches!(
            statement.kind,
            StatementKind::While { .. } | StatementKind::Do { .. } | StatementKind::For { .. }
        );
        is_loop && statement.span.contains(from.span.start) && !statement.span.contains(end)
    };
    let loops = program.statements.iter().filter(is_left).map(|it| it.span.start);
    let start = loops.min().map_or(from.span.start, |outermost| outermost.min(from.span.start));
    start < end && oracle.is_in(Span { start, end })
}

/// Whether a declaration does something when it is reached.
fn is_executed(variable: &Variable) -> bool {
    match variable.storage {
        Storage::Local => variable.is_initialized || variable.ty.has_variable_length(),
        Storage::Global | Storage::LocalStatic | Storage::Parameter => false,
    }
}
