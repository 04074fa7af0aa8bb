//! A call of another program's function, which comes along.
//!
//! **Invariant:** every argument is the other program's own, with variables of
//! this one, or else a variable or constant of the type that is wanted.

use std::collections::BTreeSet;

use rand::Rng;
use rand::seq::IndexedRandom as _;

use crate::pool::template::{Argument, CallTemplate, Hole, Template};
use crate::structure::fitting::{Fitted, Fitting, Values};
use crate::structure::target::InsertionPoint;
use crate::structure::{Change, describe, put_before};
use crate::types::TypeKind;

/// Constants for arguments: borders, and something ordinary.
const INTEGERS: [&str; 5] = ["0", "1", "-1", "2", "100"];
const REALS: [&str; 3] = ["0.0", "1.0", "-2.5"];

/// An argument that was found.
enum Found<'i> {
    /// As in the other program.
    Template(&'i Template, Values),
    /// One of this program, or a constant.
    Text(String),
}

pub(super) fn insert(
    point: &InsertionPoint<'_>,
    call: &CallTemplate,
    rng: &mut impl Rng,
) -> Option<Change> {
    let (text, fitted) = fit(point, call, rng)?;
    Some(Change { edits: put_before(point, &text, &fitted), what: describe(point, &text) })
}

/// The call as it stands in the program, and what comes along.
pub(super) fn fit(
    point: &InsertionPoint<'_>,
    call: &CallTemplate,
    rng: &mut impl Rng,
) -> Option<(String, Fitted)> {
    let templates = || call.arguments.iter().filter_map(|argument| argument.template.as_ref());
    let wanted = || call.arguments.iter().filter_map(|argument| argument.wanted.as_ref());
    let pieces = templates().flat_map(Template::pieces).chain(wanted().flat_map(Hole::pieces));
    let pieces: Vec<_> = call.prerequisites.iter().chain(pieces).collect();
    let mut fitting = Fitting::new(point, pieces.iter().copied(), &call.prerequisites);
    let mut found = Vec::with_capacity(call.arguments.len());
    for argument in &call.arguments {
        found.push(find(&mut fitting, argument, rng)?);
    }
    let fitted = fitting.finish()?;
    let texts: Vec<String> = found
        .iter()
        .map(|found| match found {
            Found::Template(template, values) => fitted.render(template, values),
            Found::Text(text) => text.clone(),
        })
        .collect();
    let name = fitted.new_name(&call.name).unwrap_or_else(|| call.name.clone());
    Some((format!("{name}({});", texts.join(", ")), fitted))
}

fn find<'i>(
    fitting: &mut Fitting<'_>,
    argument: &'i Argument,
    rng: &mut impl Rng,
) -> Option<Found<'i>> {
    if let Some(template) = &argument.template
        && let Some(values) = fitting.fill(template, false, rng)
    {
        return Some(Found::Template(template, values));
    }
    let options = options(fitting, argument.wanted.as_ref()?);
    options.choose(rng).cloned().map(Found::Text)
}

/// What can be passed for a parameter.
fn options(fitting: &Fitting<'_>, wanted: &Hole) -> Vec<String> {
    let nothing = BTreeSet::new();
    let variables = fitting.candidates(wanted, &nothing);
    let mut options: Vec<String> = variables.into_iter().map(str::to_owned).collect();
    match &wanted.ty.kind {
        TypeKind::Integer(_) | TypeKind::Enum => options.extend(INTEGERS.map(str::to_owned)),
        TypeKind::Floating => options.extend(REALS.map(str::to_owned)),
        TypeKind::Pointer(pointee) => {
            let place = Hole {
                ty: pointee.clone(),
                is_address_taken: true,
                is_written: !pointee.is_const,
                ..wanted.clone()
            };
            let places = fitting.candidates(&place, &nothing);
            options.extend(places.into_iter().map(|variable| format!("&{variable}")));
        }
        TypeKind::Void
        | TypeKind::Array { .. }
        | TypeKind::Record
        | TypeKind::Function
        | TypeKind::Other => {}
    }
    options
}
