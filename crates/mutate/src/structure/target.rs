//! What the program offers that something is inserted into: its items in front
//! of the first function, and the variables at a location.
//!
//! **Invariant:** a variable is offered only where its name means it and, if it
//! is local, where it may have a value.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::marks;
use crate::outline::ItemKind;
use crate::pool::piece::{Piece, PieceKind, Signature};
use crate::pool::template::Hole;
use crate::program::{Program, Statement, Storage, Variable};
use crate::structure::oracle::Oracle;
use crate::types::{Type, TypeKind};

/// A program that something is inserted into.
pub(super) struct Target<'p> {
    pub program: &'p Program,
    /// Where prerequisites go: before the first function with a body.
    pub front: usize,
    /// The items before that place.
    keys: BTreeSet<&'p str>,
    /// Which items declare a name.
    by_name: HashMap<&'p str, Vec<usize>>,
    /// Where the text first assigns to each variable.
    first_writes: Vec<usize>,
    /// Where it shows its result.
    pub oracle: Oracle,
    /// Names that ingredients bring along that are to be put in besides.
    pub taken: Vec<String>,
}

/// A location in it.
pub(super) struct InsertionPoint<'t> {
    pub target: &'t Target<'t>,
    pub location: usize,
    /// Variables that may be used there.
    pub variables: Vec<usize>,
}

impl<'p> Target<'p> {
    pub(super) fn new(program: &'p Program) -> Target<'p> {
        let items = &program.outline.items;
        // What came along with something else may go with it again.
        let prerequisites = marks::prerequisite_spans(program.text());
        let front = items.iter().find(|item| {
            let is_carried = prerequisites.iter().any(|span| span.contains(item.span.start));
            item.kind == ItemKind::Definition && !is_carried
        });
        let front = front.map_or(program.text().len(), |item| item.span.start);
        let before = items.iter().take_while(|item| item.span.end <= front);
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, item) in items.iter().enumerate() {
            for name in &item.declares {
                by_name.entry(name).or_default().push(index);
            }
        }
        let first_writes = program.first_writes();
        let keys = before.map(|item| item.key.as_str()).collect();
        let oracle = Oracle::of(program);
        Target { program, front, keys, by_name, first_writes, oracle, taken: Vec::new() }
    }

    /// The pieces, by their order, that are in this program just so, together
    /// with all that they depend on: these are not taken along.
    pub(super) fn shared<'i>(
        &self,
        pieces: impl Iterator<Item = &'i Arc<Piece>> + Clone,
    ) -> BTreeSet<usize> {
        let mut shared: BTreeSet<usize> = pieces
            .clone()
            .filter(|piece| self.keys.contains(piece.key.as_str()))
            .map(|piece| piece.order)
            .collect();
        loop {
            let foreign: BTreeSet<&str> = pieces
                .clone()
                .filter(|piece| !shared.contains(&piece.order) && piece.is_renamed())
                .flat_map(|piece| piece.declares.iter().map(String::as_str))
                .collect();
            let n_shared = shared.len();
            for piece in pieces.clone() {
                if piece.snippet.names().any(|name| foreign.contains(name)) {
                    shared.remove(&piece.order);
                }
            }
            if shared.len() == n_shared {
                return shared;
            }
        }
    }

    /// Whether a piece of the C library can be declared here, too.
    pub(super) fn admits(&self, piece: &Piece) -> bool {
        match &piece.kind {
            PieceKind::Function | PieceKind::Other => true,
            PieceKind::Library(signature) => piece.declares.iter().all(|name| {
                let functions =
                    || self.program.functions.iter().filter(|function| function.name == *name);
                let is_known = self.by_name.contains_key(name.as_str());
                (!is_known || functions().next().is_some())
                    && functions().all(|function| Signature::of(function) == *signature)
            }),
        }
    }
}

impl<'t> InsertionPoint<'t> {
    pub(super) fn new(target: &'t Target<'t>, location: usize) -> InsertionPoint<'t> {
        let program = target.program;
        let offset = program.statements[location].span.start;
        let has_value = |index: usize| {
            program.variables[index].is_initialized || target.first_writes[index] < offset
        };
        let variables = program
            .visible_at(offset)
            .filter(|&index| {
                let variable = &program.variables[index];
                !variable.is_frozen && !variable.is_external && has_value(index)
            })
            .collect();
        InsertionPoint { target, location, variables }
    }

    pub(super) fn statement(&self) -> &'t Statement {
        &self.target.program.statements[self.location]
    }

    /// Whether a name of the file means something else here.
    pub(super) fn hides(&self, name: &str) -> bool {
        let program = self.target.program;
        let offset = self.statement().span.start;
        let by_variable = program.variables.iter().any(|variable| {
            variable.storage != Storage::Global
                && variable.name == name
                && variable.scope.contains(offset)
        });
        let function = program.outline.item_at(offset);
        let by_type = program.outline.locals.iter().any(|local| {
            local.name == name && program.outline.item_at(local.span.start) == function
        });
        by_variable || by_type
    }

    /// The variables that can take the place of a hole, in the order of the
    /// text, without those of certain names.
    pub(super) fn candidates(&self, hole: &Hole, taken: &BTreeSet<&str>) -> Vec<&'t str> {
        let variables = self.variables.iter().map(|&index| &self.target.program.variables[index]);
        variables
            .filter(|variable| fits(hole, variable) && !taken.contains(variable.name.as_str()))
            .map(|variable| variable.name.as_str())
            .collect()
    }
}

/// Integers for integers; anything else has to have the same type, and arrays
/// have to be as long at least.
fn fits(hole: &Hole, variable: &Variable) -> bool {
    let (old, new) = (&*hole.ty, &*variable.ty);
    let is_changed = hole.is_written || hole.is_address_taken;
    if hole.is_address_taken {
        let is_same = old.innermost_element().bare == new.innermost_element().bare
            && has(old, |ty| ty.is_volatile) == has(new, |ty| ty.is_volatile);
        if !is_same || variable.is_register {
            return false;
        }
    }
    is_alike(old, new) && (!is_changed || has(old, |ty| ty.is_const) || !has(new, |ty| ty.is_const))
}

/// Whether a type is qualified. Those of an array's elements are the array's in
/// libclang's eyes.
fn has(ty: &Type, qualifier: impl Fn(&Type) -> bool) -> bool {
    qualifier(ty) || qualifier(ty.innermost_element())
}

fn is_alike(old: &Type, new: &Type) -> bool {
    match (&old.kind, &new.kind) {
        (TypeKind::Integer(_) | TypeKind::Enum, TypeKind::Integer(_) | TypeKind::Enum)
        | (TypeKind::Floating, TypeKind::Floating) => true,
        (
            TypeKind::Array { element: old, length: Some(old_length) },
            TypeKind::Array { element: new, length: Some(new_length) },
        ) => old.bare == new.bare && new_length >= old_length,
        (TypeKind::Array { .. }, _) | (_, TypeKind::Array { .. }) => false,
        _ => old.bare == new.bare,
    }
}
