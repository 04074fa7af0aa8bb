//! Jumps into the scope of a variable that go around its initializer.
//!
//! **Invariant:** where it is not known where a jump leads, it leads everywhere
//! in its function.

use std::collections::{BTreeMap, BTreeSet};

use crate::program::{Program, StatementKind, Variable};

/// Where jumps of each function come from and lead to.
pub(super) struct Entries {
    jumps: BTreeMap<usize, Vec<(usize, usize)>>,
    /// Functions that jump anywhere.
    unknown: BTreeSet<usize>,
}

impl Entries {
    pub(super) fn of(program: &Program) -> Entries {
        let mut labels: BTreeMap<(usize, &str), usize> = BTreeMap::new();
        for statement in &program.statements {
            if let StatementKind::Label { name, .. } = &statement.kind {
                labels.insert((statement.function, name), statement.span.start);
            }
        }
        let mut entries = Entries { jumps: BTreeMap::new(), unknown: BTreeSet::new() };
        for statement in &program.statements {
            let (function, start) = (statement.function, statement.span.start);
            let jump = match &statement.kind {
                StatementKind::Goto { label } => {
                    labels.get(&(function, label.as_str())).map(|&to| (start, to))
                }
                StatementKind::Case { .. } | StatementKind::Default { .. } => {
                    switch_around(program, statement.parent).map(|from| (from, start))
                }
                StatementKind::ComputedGoto => None,
                StatementKind::Asm if statement.span.of(program.text()).contains("goto") => None,
                _ => continue,
            };
            match jump {
                Some(jump) => entries.jumps.entry(function).or_default().push(jump),
                None => drop(entries.unknown.insert(function)),
            }
        }
        entries
    }

    /// Whether a jump from outside of a variable's scope may lead into it.
    pub(super) fn lead_into_scope_of(&self, variable: &Variable) -> bool {
        let Some(function) = variable.function else { return false };
        let enters = |&(from, to): &(usize, usize)| {
            variable.scope.contains(to) && !variable.scope.contains(from)
        };
        self.unknown.contains(&function)
            || self.jumps.get(&function).is_some_and(|jumps| jumps.iter().any(enters))
    }

    /// Whether a function jumps to where only a run can tell.
    pub(super) fn are_unknown_in(&self, function: usize) -> bool {
        self.unknown.contains(&function)
    }
}

/// Where the switch begins that a case belongs to.
pub(super) fn switch_around(program: &Program, mut around: Option<usize>) -> Option<usize> {
    while let Some(outer) = around {
        let outer = &program.statements[outer];
        if let StatementKind::Switch { .. } = outer.kind {
            return Some(outer.span.start);
        }
        around = outer.parent;
    }
    None
}
