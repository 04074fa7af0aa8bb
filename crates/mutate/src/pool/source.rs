//! A program that ingredients are cut from: which of its items depend on which,
//! and what can be taken along at all.
//!
//! Dependencies go by name: an item that mentions a name of another one needs
//! it. That is sometimes more than necessary, never less.
//!
//! **Invariant:** a closure holds every item that its names depend on, or there
//! is none.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::outline::ItemKind;
use crate::pool::piece::{Piece, PieceKind, Signature, is_library};
use crate::program::{Program, Storage};
use crate::span::Span;
use crate::types::{Type, TypeKind};
use crate::view::is_oracle_call;

/// Words by which an item is tied to what it is called, or to its place.
const TYING: &[&str] = &[
    "asm",
    "__asm",
    "__asm__",
    "alias",
    "__alias__",
    "ifunc",
    "__ifunc__",
    "weak",
    "__weak__",
    "weakref",
    "__weakref__",
    "section",
    "__section__",
    "constructor",
    "__constructor__",
    "destructor",
    "__destructor__",
];

/// Variables of a region that are declared outside of it, with where they are
/// used.
pub(super) type Outside = BTreeMap<usize, Vec<usize>>;

pub(super) struct Source<'p> {
    pub program: &'p Program,
    /// By item; `None` for what cannot be taken along.
    pieces: Vec<Option<Arc<Piece>>>,
    by_name: HashMap<&'p str, Vec<usize>>,
}

impl<'p> Source<'p> {
    pub(super) fn new(program: &'p Program) -> Source<'p> {
        let outline = &program.outline;
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, item) in outline.items.iter().enumerate() {
            for name in &item.declares {
                by_name.entry(name).or_default().push(index);
            }
        }
        let mut source = Source { program, pieces: Vec::new(), by_name };
        let mut stays = vec![false; outline.items.len()];
        for call in &program.calls {
            if let Some(item) = outline.item_at(call.span.start) {
                stays[item] |= !source.may_call(call.callee.as_deref());
            }
        }
        for variable in &program.variables {
            if let Some(item) = outline.item_at(variable.name_span.start) {
                stays[item] |= variable.is_external;
            }
        }
        source.pieces = (0..outline.items.len())
            .map(|order| {
                let kind = source.kind_of(order).filter(|_| !stays[order])?;
                Some(Arc::new(Piece::of(program, order, kind)))
            })
            .collect();
        source
    }

    /// Whether a function may be called from another program.
    fn may_call(&self, callee: Option<&str>) -> bool {
        callee.is_none_or(|name| {
            !is_oracle_call(name) && (name.starts_with("__") || self.by_name.contains_key(name))
        })
    }

    /// What becomes of an item elsewhere; `None` if it has to stay.
    fn kind_of(&self, order: usize) -> Option<PieceKind> {
        let item = &self.program.outline.items[order];
        let words = || item.key.split(' ');
        if words().any(|word| TYING.contains(&word)) || item.declares.iter().any(|n| n == "main") {
            return None;
        }
        let name = item.declares.first()?;
        let mut functions = self.program.functions.iter().filter(|function| function.name == *name);
        match item.kind {
            ItemKind::Other => Some(PieceKind::Other),
            ItemKind::Definition | ItemKind::Prototype => {
                let has_body = functions.clone().any(|function| function.body.is_some());
                let is_implicit_int =
                    words().find(|word| !matches!(*word, "static" | "extern" | "inline"));
                let has_tag = words().any(|word| matches!(word, "struct" | "union" | "enum"));
                match has_body {
                    _ if is_implicit_int == Some(name) => None,
                    true => Some(PieceKind::Function),
                    false if is_library(name) && !has_tag => {
                        Some(PieceKind::Library(Signature::of(functions.next_back()?)))
                    }
                    false => None,
                }
            }
        }
    }

    /// The items that names depend on, in order; `None` if one has to stay.
    pub(super) fn closure<'n>(
        &self,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Option<Vec<Arc<Piece>>> {
        let mut found: BTreeSet<usize> = BTreeSet::new();
        let mut open: Vec<usize> = Vec::new();
        let items = |name: &str| self.by_name.get(name).into_iter().flatten().copied();
        for name in names {
            open.extend(items(name));
        }
        while let Some(item) = open.pop() {
            if found.insert(item) {
                let piece = self.pieces[item].as_ref()?;
                open.extend(piece.snippet.names().flat_map(items));
            }
        }
        found.into_iter().map(|item| self.pieces[item].clone()).collect()
    }

    /// What defines a type, if it is one that has to be the same in both
    /// programs; `None` if that cannot be found out.
    pub(super) fn definition(&self, ty: &Type) -> Option<Vec<Arc<Piece>>> {
        let innermost = ty.innermost();
        let by_value = ty.is_integer();
        match innermost.kind {
            TypeKind::Record => {}
            TypeKind::Enum if !by_value => {}
            TypeKind::Function | TypeKind::Other => {
                let words = innermost.bare.split(|c: char| !c.is_alphanumeric() && c != '_');
                return self.closure(words);
            }
            TypeKind::Void
            | TypeKind::Integer(_)
            | TypeKind::Enum
            | TypeKind::Floating
            | TypeKind::Pointer(_)
            | TypeKind::Array { .. } => return Some(Vec::new()),
        }
        let name = innermost.bare.rsplit(' ').next()?;
        self.by_name.contains_key(name).then(|| self.closure([name]))?
    }

    /// The variables of a region that come from outside, with the numbers of
    /// their uses among all references. `None` if the region cannot be cut out.
    pub(super) fn outside(&self, region: Span) -> Option<Outside> {
        let program = self.program;
        for call in &program.calls {
            if is_in(call.span, region) && !self.may_call(call.callee.as_deref()) {
                return None;
            }
        }
        let first = program.references.partition_point(|it| it.span.start < region.start);
        let mut outside = Outside::new();
        for (number, reference) in program.references.iter().enumerate().skip(first) {
            if reference.span.start >= region.end {
                break;
            }
            if !is_in(program.variables[reference.variable].name_span, region) {
                outside.entry(reference.variable).or_default().push(number);
            }
        }
        Some(outside)
    }

    /// Whether a name that is no hole means something local to the function
    /// around a region.
    pub(super) fn is_bound(&self, names: &BTreeSet<&str>, region: Span) -> bool {
        let program = self.program;
        let types = program.outline.locals.iter().any(|local| {
            let same_item = || {
                program.outline.item_at(local.span.start) == program.outline.item_at(region.start)
            };
            names.contains(local.name.as_str()) && !is_in(local.span, region) && same_item()
        });
        let variables = program.variables.iter().any(|variable| {
            variable.storage != Storage::Global
                && names.contains(variable.name.as_str())
                && !is_in(variable.name_span, region)
                && variable.scope.contains(region.start)
        });
        let externals = program
            .variables
            .iter()
            .any(|variable| variable.is_external && is_in(variable.name_span, region));
        types || variables || externals
    }
}

pub(super) fn is_in(inner: Span, outer: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}
