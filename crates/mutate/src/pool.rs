//! What other programs give to be put into this one: conditions, calls of their
//! functions, statements; RecBi's pool of ingredients (section 3.1) and DiWi's
//! candidates for blending (section 5.6.4).
//!
//! [`source`] says what depends on what, [`region`] which statements can stand
//! elsewhere; [`crate::structure`] puts ingredients into programs.
//!
//! **Invariant:** plain owned data that refers to no program; what cannot be
//! taken along with everything it depends on is not in here, and neither is
//! anything of an oracle: a program that ends early, or prints more, only looks
//! like one that passes.

pub(crate) mod piece;
mod region;
pub(crate) mod snippet;
mod source;
pub(crate) mod template;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use crate::pool::snippet::Snippet;
use crate::pool::source::Source;
use crate::pool::template::{Argument, CallTemplate, Hole, Template};
use crate::program::{Function, Program, StatementKind, Storage, Use};
use crate::span::Span;
use crate::types::Type;

/// Ingredients of other programs, in the order of the programs.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    pub(crate) conditions: Vec<Template>,
    pub(crate) calls: Vec<CallTemplate>,
    pub(crate) statements: Vec<Template>,
    n_functions: usize,
}

/// How much is in a pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolCounts {
    /// Of `if`, `while`, `for`, `do` and `?:`.
    pub conditions: usize,
    /// With a body.
    pub functions: usize,
    /// Of these functions; one that is never called counts as one.
    pub calls: usize,
    /// Statements and blocks.
    pub statements: usize,
}

impl fmt::Display for PoolCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PoolCounts { conditions, functions, calls, statements } = self;
        write!(f, "conditions {conditions}, functions {functions}, ")?;
        write!(f, "calls {calls}, statements {statements}")
    }
}

impl Pool {
    /// Collects everything that can be used elsewhere.
    pub fn gather<'a>(programs: impl IntoIterator<Item = &'a Program>) -> Pool {
        let mut pool = Pool::default();
        for program in programs {
            let source = Source::new(program);
            pool.add_conditions(&source);
            pool.add_calls(&source);
            pool.add_statements(&source);
        }
        pool
    }

    /// Whether nothing can be inserted from it.
    pub fn is_empty(&self) -> bool {
        self.counts() == PoolCounts::default()
    }

    /// How much is in it.
    pub fn counts(&self) -> PoolCounts {
        PoolCounts {
            conditions: self.conditions.len(),
            functions: self.n_functions,
            calls: self.calls.len(),
            statements: self.statements.len(),
        }
    }

    fn add_conditions(&mut self, source: &Source<'_>) {
        let program = source.program;
        let own = |offset: usize| {
            program.functions.iter().any(|it| it.span.contains(offset) && !it.is_frozen)
        };
        let of_statements = program.statements.iter().filter_map(|it| match &it.kind {
            StatementKind::If { condition, .. }
            | StatementKind::While { condition, .. }
            | StatementKind::Do { condition, .. } => Some(*condition),
            StatementKind::For { condition, .. } => *condition,
            _ => None,
        });
        let mut spans: Vec<Span> =
            of_statements.chain(program.outline.choices.iter().copied()).collect();
        spans.retain(|span| own(span.start));
        spans.sort();
        spans.dedup();
        self.conditions.extend(spans.into_iter().filter_map(|span| template(source, span)));
    }

    fn add_calls(&mut self, source: &Source<'_>) {
        let program = source.program;
        for function in &program.functions {
            if function.body.is_none() || function.is_frozen {
                continue;
            }
            let Some(prerequisites) = source.closure([function.name.as_str()]) else { continue };
            let wanted: Vec<Option<Hole>> =
                function.parameter_types.iter().map(|ty| parameter(source, ty)).collect();
            let is_called = |callee: &Option<String>| callee.as_ref() == Some(&function.name);
            let mut calls: Vec<Vec<Argument>> = program
                .calls
                .iter()
                .filter(|call| is_called(&call.callee))
                .map(|call| arguments(source, function, &call.arguments, &wanted))
                .collect();
            if calls.is_empty() {
                calls.push(arguments(source, function, &[], &wanted));
            }
            self.n_functions += 1;
            self.calls.extend(calls.into_iter().map(|arguments| CallTemplate {
                name: function.name.clone(),
                arguments,
                prerequisites: prerequisites.clone(),
            }));
        }
    }

    fn add_statements(&mut self, source: &Source<'_>) {
        let program = source.program;
        for statement in &program.statements {
            let is_own = !program.functions[statement.function].is_frozen;
            if is_own && region::is_candidate(&statement.kind) {
                self.statements.extend(template(source, statement.span));
            }
        }
    }
}

/// A region with holes for the variables from outside.
fn template(source: &Source<'_>, region: Span) -> Option<Template> {
    let program = source.program;
    let labels = region::labels(program, region)?;
    let outside = source.outside(region)?;
    let mut holes = Vec::new();
    let mut hole_at: BTreeMap<usize, usize> = BTreeMap::new();
    for (variable, references) in outside {
        let references = references.iter().map(|&number| &program.references[number]);
        hole_at.extend(references.clone().map(|reference| (reference.span.start, holes.len())));
        let uses: Vec<Use> = references.map(|reference| reference.used).collect();
        let variable = &program.variables[variable];
        let fallback = (variable.storage == Storage::Global)
            .then(|| source.closure([variable.name.as_str()]))
            .flatten();
        holes.push(Hole {
            ty: Arc::clone(&variable.ty),
            is_written: uses.iter().any(|it| matches!(it, Use::Written | Use::ReadAndWritten)),
            is_address_taken: uses.contains(&Use::AddressTaken),
            // Without its definition no variable of another program fits.
            defined_by: source.definition(&variable.ty).or_else(|| fallback.clone())?,
            fallback,
        });
    }
    let snippet = Snippet::cut(program, region);
    let names = &program.outline.names[program.outline.names_in(region)];
    let slots: Vec<Option<usize>> =
        names.iter().map(|name| hole_at.get(&name.start).copied()).collect();
    let mut template = Template { snippet, holes, slots, labels, prerequisites: Vec::new() };
    let own: BTreeSet<&str> = template.own_names().collect();
    if source.is_bound(&own, region) {
        return None;
    }
    template.prerequisites = source.closure(own)?;
    Some(template)
}

/// What a parameter wants.
fn parameter(source: &Source<'_>, ty: &Arc<Type>) -> Option<Hole> {
    Some(Hole {
        ty: Arc::clone(ty),
        is_written: false,
        is_address_taken: false,
        defined_by: source.definition(ty)?,
        fallback: None,
    })
}

/// The arguments of one call; those it lacks are only known by their types.
fn arguments(
    source: &Source<'_>,
    function: &Function,
    given: &[Span],
    wanted: &[Option<Hole>],
) -> Vec<Argument> {
    let n_given = if function.is_variadic { given.len() } else { 0 };
    (0..wanted.len().max(n_given))
        .map(|at| Argument {
            template: given.get(at).and_then(|&span| template(source, span)),
            wanted: wanted.get(at).cloned().flatten(),
        })
        .collect()
}
