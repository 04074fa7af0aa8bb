//! Statements of other programs that fit a location, for who puts them in and
//! marks them: [`crate::emi`].
//!
//! **Invariant:** names that several ingredients bring along into one program
//! are different.

use rand::Rng;
use rand::seq::IndexedRandom as _;

use crate::pool::Pool;
use crate::program::Program;
use crate::structure::target::{InsertionPoint, Target};
use crate::structure::{INGREDIENTS, blend, call, locations};

/// How often a call is tried where a statement could be: functions that come
/// along are large.
const CALL: f64 = 0.2;

/// Finds ingredients for the locations of one program.
pub(crate) struct Inserter<'p> {
    target: Target<'p>,
}

/// Statements that fit, with what they depend on.
pub(crate) struct Ingredient {
    pub text: String,
    /// Declarations for the front of the program; empty where there are none.
    pub prerequisites: String,
    /// What these declare.
    pub names: Vec<String>,
}

impl<'p> Inserter<'p> {
    pub(crate) fn of(program: &'p Program) -> Inserter<'p> {
        Inserter { target: Target::new(program) }
    }

    /// The statements that something may stand before, in order: those behind
    /// the place for prerequisites, and not in what earlier prerequisites define.
    pub(crate) fn locations(&self) -> Vec<usize> {
        let program = self.target.program;
        let mut locations = locations::insertable(program);
        locations.retain(|&it| program.statements[it].span.start >= self.target.front);
        locations
    }

    /// Where prerequisites go.
    pub(crate) fn front(&self) -> usize {
        self.target.front
    }

    /// Something that fits before a statement; `None` if nothing was found.
    pub(crate) fn ingredient(
        &mut self,
        location: usize,
        pool: &Pool,
        rng: &mut impl Rng,
    ) -> Option<Ingredient> {
        let point = InsertionPoint::new(&self.target, location);
        let (text, fitted) = (0..INGREDIENTS).find_map(|_| match rng.random_bool(CALL) {
            true => call::fit(&point, pool.calls.choose(rng)?, rng),
            false => blend::fit(&point, pool.statements.choose(rng)?, rng),
        })?;
        let prerequisites = fitted.prerequisites();
        let names = fitted.declared();
        self.target.taken.extend(fitted.new_names());
        Some(Ingredient { text, prerequisites, names })
    }
}
