//! Expressions of code that is never executed: anything that is C.
//!
//! **Invariant:** every expression is an integer, and may stand beside any
//! operator; an argument has just the type that is wanted.

use rand::Rng;
use rand::seq::IndexedRandom as _;

use crate::arithmetic::{Prefix, literal};
use crate::emi::synthesis::body::Writer;
use crate::emi::synthesis::constant::constant;
use crate::operator::BinaryOperator;
use crate::program::Variable;
use crate::types::{Type, TypeKind};

impl<R: Rng> Writer<'_, R> {
    /// An integer.
    pub(super) fn value(&mut self, depth: u32) -> String {
        match self.rng.random_range(0..10) {
            0..=4 if depth > 0 => self.operation(depth - 1),
            5 if depth > 0 => {
                let operator = Prefix::ALL.choose(self.rng).map_or("!", |prefix| prefix.text());
                format!("({operator}{})", self.value(depth - 1))
            }
            6 if depth > 0 => {
                let (condition, one) = (self.value(depth - 1), self.value(depth - 1));
                format!("({condition} ? {one} : {})", self.value(depth - 1))
            }
            7 if depth > 0 => self.call_for_value().unwrap_or_else(|| self.source()),
            8 => literal(constant(self.rng)),
            _ => self.source(),
        }
    }

    fn operation(&mut self, depth: u32) -> String {
        let operators: Vec<&BinaryOperator> =
            BinaryOperator::ALL.iter().filter(|operator| !operator.assigns()).collect();
        let operator = operators.choose(self.rng).map_or("+", |operator| operator.text());
        let left = self.value(depth);
        format!("({left} {operator} {})", self.value(depth))
    }

    /// An integer that can be read.
    fn source(&mut self) -> String {
        self.element(false).unwrap_or_else(|| {
            let place = self.places.choose(self.rng);
            place.map_or_else(|| "0".to_owned(), |place| place.text.clone())
        })
    }

    /// An integer that can be written to.
    pub(super) fn target(&mut self) -> String {
        self.element(true).unwrap_or_else(|| {
            let writable: Vec<_> = self.places.iter().filter(|place| place.is_writable).collect();
            // A body is begun only where there is one.
            writable.choose(self.rng).map_or_else(String::new, |place| place.text.clone())
        })
    }

    /// Now and then an element of an array, by a variable index.
    fn element(&mut self, is_written: bool) -> Option<String> {
        let arrays = self.visible.arrays.iter().filter(|array| array.is_writable || !is_written);
        let arrays: Vec<_> = arrays.collect();
        let array = self.rng.random_bool(0.25).then(|| arrays.choose(self.rng))??;
        let mut text = array.name.to_owned();
        for length in &array.lengths {
            text += &format!("[{}]", self.index(*length));
        }
        Some(text)
    }

    /// Most often a variable, now and then kept in the array's bounds.
    fn index(&mut self, length: Option<u64>) -> String {
        let place = self.places.choose(self.rng).map_or("0", |place| &place.text).to_owned();
        match (length, self.rng.random_range(0..4)) {
            (Some(length @ 1..), 0) => self.rng.random_range(0..length).to_string(),
            (Some(length @ 1..), 1) => format!("({place} & {})", length - 1),
            _ => place,
        }
    }

    /// A call of a function of the program, and whether it gives an integer.
    pub(super) fn call(&mut self) -> Option<(String, bool)> {
        let function = *self.visible.callees.choose(self.rng)?;
        let mut arguments = Vec::new();
        for ty in &function.parameter_types {
            arguments.push(self.argument(ty)?);
        }
        let text = format!("{}({})", function.name, arguments.join(", "));
        Some((text, function.result.is_integer()))
    }

    fn call_for_value(&mut self) -> Option<String> {
        self.call().and_then(|(call, is_integer)| is_integer.then_some(call))
    }

    /// Something of a type; `None` if nothing fits.
    pub(super) fn argument(&mut self, wanted: &Type) -> Option<String> {
        match &wanted.kind {
            TypeKind::Integer(_) | TypeKind::Enum | TypeKind::Floating => Some(self.value(1)),
            TypeKind::Record => self.variable_of(wanted).map(|variable| variable.name.clone()),
            TypeKind::Pointer(pointee) => {
                let pointer = self.variable_of(wanted).map(|variable| variable.name.clone());
                let address = match self.rng.random_bool(0.5) {
                    true => self.address(pointee),
                    false => self.element_address(pointee),
                };
                let options: Vec<String> = pointer.into_iter().chain(address).collect();
                options.choose(self.rng).cloned()
            }
            TypeKind::Void | TypeKind::Array { .. } | TypeKind::Function | TypeKind::Other => None,
        }
    }

    fn variable_of(&mut self, wanted: &Type) -> Option<&Variable> {
        let variables = self.visible.variables.iter().copied();
        let same: Vec<&Variable> =
            variables.filter(|variable| self.visible.is_same(&variable.ty, wanted)).collect();
        same.choose(self.rng).copied()
    }

    /// `&x`, where a pointer to this may point to it.
    fn address(&mut self, pointee: &Type) -> Option<String> {
        let variables = self.visible.variables.iter().copied().filter(|variable| {
            !variable.is_register
                && self.visible.is_same(&variable.ty, pointee)
                && is_as_free(&variable.ty, pointee)
        });
        let variables: Vec<&Variable> = variables.collect();
        variables.choose(self.rng).map(|variable| format!("&{}", variable.name))
    }

    /// `&x[i]`
    fn element_address(&mut self, pointee: &Type) -> Option<String> {
        let arrays = self.visible.arrays.iter().filter(|array| {
            self.visible.is_same(array.element, pointee)
                && is_as_free(array.element, pointee)
                && (array.is_writable || pointee.is_const)
        });
        let arrays: Vec<_> = arrays.collect();
        let array = arrays.choose(self.rng)?;
        let mut text = format!("&{}", array.name);
        for length in &array.lengths {
            text += &format!("[{}]", self.index(*length));
        }
        Some(text)
    }
}

/// Whether a pointer to one type may point to an object of another: it must
/// not promise more than the object.
fn is_as_free(object: &Type, pointee: &Type) -> bool {
    (!object.is_const || pointee.is_const) && (!object.is_volatile || pointee.is_volatile)
}
