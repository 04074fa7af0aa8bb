//! A variable by another of a compatible type that is in scope.
//!
//! Integers are compatible with each other where only their value counts;
//! everything else has to have the same type.
//!
//! **Invariant:** the new name means the new variable there; nothing constant is
//! written to, no constant expression gets a variable, and a local variable
//! without an initializer is not read before the text assigns to it.

use crate::edit::Edit;
use crate::program::{Program, Reference, Storage, Use, Variable};
use crate::rules::{Outcome, Spot, what};

pub(super) fn spots(program: &Program) -> Vec<Spot> {
    let first_writes = program.first_writes();
    let of = program.references.iter().enumerate();
    of.filter(|(_, reference)| candidates(program, reference, &first_writes).next().is_some())
        .map(|(element, reference)| Spot {
            offset: reference.span.start,
            statement: reference.site.statement,
            element,
            part: 0,
        })
        .collect()
}

pub(super) fn outcomes(program: &Program, spot: Spot) -> Vec<Outcome> {
    let reference = &program.references[spot.element];
    let old = reference.span.of(program.text());
    candidates(program, reference, &program.first_writes())
        .map(|variable| {
            let new = &program.variables[variable].name;
            Outcome {
                edits: vec![Edit::replace(reference.span, new.as_str())],
                what: what(old, new),
            }
        })
        .collect()
}

fn candidates<'p>(
    program: &'p Program,
    reference: &'p Reference,
    first_writes: &'p [usize],
) -> impl Iterator<Item = usize> + 'p {
    let old = &program.variables[reference.variable];
    let offset = reference.span.start;
    let may_change = !reference.site.is_frozen && !old.is_frozen;
    let of = program.variables.iter().enumerate();
    of.filter(move |&(index, new)| {
        may_change
            && index != reference.variable
            && !new.is_frozen
            && !new.is_external
            && is_compatible(old, new, reference)
            && (new.is_initialized
                || reference.used == Use::Written
                || first_writes[index] < offset)
            && program.is_visible(index, offset)
    })
    .map(|(index, _)| index)
}

fn is_compatible(old: &Variable, new: &Variable, reference: &Reference) -> bool {
    let is_same = old.ty.bare == new.ty.bare;
    // Qualifiers of what a pointer leads to are part of its type.
    let is_number = old.ty.is_integer() && new.ty.is_integer();
    let fits = match reference.used {
        Use::Read => is_same || is_number,
        Use::Written | Use::ReadAndWritten => {
            (is_same || is_number) && !new.ty.is_const && !new.ty.innermost_element().is_const
        }
        Use::AddressTaken => {
            is_same
                && old.ty.is_const == new.ty.is_const
                && old.ty.is_volatile == new.ty.is_volatile
                && !new.is_register
        }
    };
    let is_static = matches!(new.storage, Storage::Global | Storage::LocalStatic);
    fits && (!reference.site.is_constant || (reference.used == Use::AddressTaken && is_static))
}
