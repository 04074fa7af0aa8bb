//! An ingredient: C with holes where variables of its program were.
//!
//! **Invariant:** refers to no program; everything else it depends on is in its
//! prerequisites.

use std::sync::Arc;

use crate::pool::piece::Piece;
use crate::pool::snippet::Snippet;
use crate::types::Type;

/// A condition, an argument or a statement of another program.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    pub snippet: Snippet,
    pub holes: Vec<Hole>,
    /// Which names of the snippet are holes: the number of the hole.
    pub slots: Vec<Option<usize>>,
    /// Labels that it declares.
    pub labels: Vec<String>,
    /// What it depends on, in the order of its program.
    pub prerequisites: Vec<Arc<Piece>>,
}

/// A variable that another program has to have one for.
#[derive(Clone, Debug)]
pub(crate) struct Hole {
    pub ty: Arc<Type>,
    pub is_written: bool,
    pub is_address_taken: bool,
    /// The definition of its type; it fits only where that is known already.
    pub defined_by: Vec<Arc<Piece>>,
    /// The variable itself, where it can be taken along.
    pub fallback: Option<Vec<Arc<Piece>>>,
}

/// A call of a function of another program.
#[derive(Clone, Debug)]
pub(crate) struct CallTemplate {
    pub name: String,
    pub arguments: Vec<Argument>,
    /// The function and what it depends on.
    pub prerequisites: Vec<Arc<Piece>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Argument {
    /// As it is in a call of the other program.
    pub template: Option<Template>,
    /// What the function wants; as much as a hole says. Variable arguments have
    /// no type.
    pub wanted: Option<Hole>,
}

impl Template {
    /// Every piece that it may need, in any case.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = &Arc<Piece>> {
        self.prerequisites.iter().chain(self.holes.iter().flat_map(Hole::pieces))
    }

    /// The names that stay, or are given to what is taken along.
    pub(crate) fn own_names(&self) -> impl Iterator<Item = &str> {
        let slots = self.snippet.names().zip(&self.slots);
        slots.filter(|(_, slot)| slot.is_none()).map(|(name, _)| name)
    }
}

impl Hole {
    pub(crate) fn pieces(&self) -> impl Iterator<Item = &Arc<Piece>> {
        self.defined_by.iter().chain(self.fallback.iter().flatten())
    }
}
