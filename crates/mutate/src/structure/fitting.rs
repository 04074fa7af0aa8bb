//! An ingredient at a location: variables for its holes, new names for its
//! prerequisites.
//!
//! **Invariant:** a new name occurs nowhere in the program, and a variable that
//! takes a hole's place is not hidden by a name of the ingredient itself.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rand::Rng;
use rand::seq::IndexedRandom as _;

use crate::edit::Edit;
use crate::pool::piece::Piece;
use crate::pool::template::{Hole, Template};
use crate::structure::target::InsertionPoint;

/// Makes the parts of one ingredient fit, all with the same prerequisites.
pub(super) struct Fitting<'g> {
    point: &'g InsertionPoint<'g>,
    /// Pieces that the program has just so.
    shared: BTreeSet<usize>,
    /// Pieces that are needed, by their order.
    needed: BTreeMap<usize, Arc<Piece>>,
    /// Labels, which get new names, too.
    labels: BTreeSet<String>,
}

/// The names and the prerequisites of an ingredient that fits.
pub(super) struct Fitted {
    suffix: String,
    renamed: BTreeSet<String>,
    prerequisites: Vec<Arc<Piece>>,
}

/// What takes the place of each hole; `None` where the variable itself comes.
pub(super) struct Values(Vec<Option<String>>);

impl<'g> Fitting<'g> {
    /// `pieces` are all that the ingredient may need, `prerequisites` those that it
    /// needs in any case.
    pub(super) fn new<'i>(
        point: &'g InsertionPoint<'g>,
        pieces: impl Iterator<Item = &'i Arc<Piece>> + Clone,
        prerequisites: &[Arc<Piece>],
    ) -> Fitting<'g> {
        let shared = point.target.shared(pieces);
        let labels = BTreeSet::new();
        let mut fitting = Fitting { point, shared, needed: BTreeMap::new(), labels };
        fitting.need(prerequisites);
        fitting
    }

    fn need(&mut self, pieces: &[Arc<Piece>]) {
        self.needed.extend(pieces.iter().map(|piece| (piece.order, Arc::clone(piece))));
    }

    /// Finds a variable for every hole. With `carries`, a variable without one
    /// may be taken along itself.
    pub(super) fn fill(
        &mut self,
        template: &Template,
        carries: bool,
        rng: &mut impl Rng,
    ) -> Option<Values> {
        let own: BTreeSet<&str> = template.own_names().collect();
        let mut values = Vec::with_capacity(template.holes.len());
        let mut fallbacks: Vec<&[Arc<Piece>]> = Vec::new();
        for hole in &template.holes {
            match self.candidates(hole, &own).choose(rng) {
                Some(variable) => values.push(Some((*variable).to_owned())),
                None => {
                    fallbacks.push(hole.fallback.as_deref().filter(|_| carries)?);
                    values.push(None);
                }
            }
        }
        for pieces in [&template.prerequisites[..]].into_iter().chain(fallbacks) {
            self.need(pieces);
        }
        self.labels.extend(template.labels.iter().cloned());
        Some(Values(values))
    }

    /// The variables that a hole may become.
    pub(super) fn candidates(&self, hole: &Hole, taken: &BTreeSet<&str>) -> Vec<&'g str> {
        match self.knows_type(hole) {
            true => self.point.candidates(hole, taken),
            false => Vec::new(),
        }
    }

    /// Whether a hole's type is one of the program's.
    pub(super) fn knows_type(&self, hole: &Hole) -> bool {
        hole.defined_by.iter().all(|piece| self.shared.contains(&piece.order))
    }

    /// New names for everything that is not shared. `None` if the prerequisites do
    /// not go with the program.
    pub(super) fn finish(self) -> Option<Fitted> {
        let is_shared = |piece: &Piece| self.shared.contains(&piece.order);
        let (shared, prerequisites): (Vec<_>, Vec<_>) =
            self.needed.into_values().partition(|piece| is_shared(piece));
        let kept = prerequisites.iter().filter(|piece| !piece.is_renamed()).chain(&shared);
        let is_hidden = kept.flat_map(|piece| &piece.declares).any(|name| self.point.hides(name));
        if is_hidden || !prerequisites.iter().all(|piece| self.point.target.admits(piece)) {
            return None;
        }
        let mut renamed = self.labels;
        for piece in prerequisites.iter().filter(|piece| piece.is_renamed()) {
            renamed.extend(piece.declares.iter().cloned());
        }
        let program = self.point.target.program;
        let words = program.outline.names.iter().map(|name| name.of(program.text()));
        let taken = self.point.target.taken.iter().map(String::as_str);
        let own = prerequisites.iter().flat_map(|piece| piece.snippet.names());
        let words: Vec<&str> = words.chain(taken).chain(own).collect();
        Some(Fitted { suffix: fresh_suffix(&words), renamed, prerequisites })
    }
}

impl Fitted {
    /// An ingredient that brings nothing.
    pub(super) fn empty() -> Fitted {
        Fitted { suffix: String::new(), renamed: BTreeSet::new(), prerequisites: Vec::new() }
    }

    /// A new name for what has to have one.
    pub(super) fn new_name(&self, name: &str) -> Option<String> {
        self.renamed.contains(name).then(|| format!("{name}{}", self.suffix))
    }

    /// A part of the ingredient as it stands in the program.
    pub(super) fn render(&self, template: &Template, values: &Values) -> String {
        template.snippet.render(|number, name| {
            let slot = template.slots.get(number).copied().flatten();
            let value = slot.and_then(|hole| values.0.get(hole).cloned().flatten());
            value.or_else(|| self.new_name(name))
        })
    }

    /// The edit that puts the prerequisites in front of the first function.
    pub(super) fn edits(&self, point: &InsertionPoint<'_>) -> Vec<Edit> {
        match self.prerequisites() {
            text if text.is_empty() => Vec::new(),
            text => vec![Edit::insert(point.target.front, text)],
        }
    }

    /// What comes along, as it stands in the program.
    pub(super) fn prerequisites(&self) -> String {
        let mut text = String::new();
        for piece in &self.prerequisites {
            text.push_str(&piece.render(|name| self.new_name(name)));
            text.push('\n');
        }
        text
    }

    /// The names that the prerequisites declare in the program.
    pub(super) fn declared(&self) -> Vec<String> {
        let old = self.prerequisites.iter().flat_map(|piece| &piece.declares);
        old.map(|name| self.new_name(name).unwrap_or_else(|| name.clone())).collect()
    }

    /// Every name that nothing in the program had before.
    pub(super) fn new_names(&self) -> impl Iterator<Item = String> + '_ {
        self.renamed.iter().map(|name| format!("{name}{}", self.suffix))
    }
}

/// An ending that no word has: the first of `_in1`, `_in2` and so on.
pub(super) fn fresh_suffix(words: &[&str]) -> String {
    let used: BTreeSet<u64> = words
        .iter()
        .filter_map(|word| word.rsplit_once("_in").and_then(|(_, number)| number.parse().ok()))
        .collect();
    let free = (1..).find(|number| !used.contains(number)).unwrap_or_default();
    format!("_in{free}")
}
