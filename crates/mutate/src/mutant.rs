//! Where a rule applies, and what comes of it.
//!
//! **Invariant:** places come in the order of the text, and `apply` takes every
//! number that `places` gives.

use optsleuth_model::{Mutant, Place, RulePlaces};
use rand::Rng;
use rand::seq::IndexedRandom as _;

use crate::edit::rewrite;
use crate::program::Program;
use crate::rule::Rule;
use crate::rules::{self, Spot};

impl Program {
    /// Where a rule applies, in the order of the text.
    pub fn places(&self, rule: Rule) -> Vec<Place> {
        let place = |spot: Spot| {
            let (line, column) = self.line_and_column(spot.offset);
            let what = rules::describe(self, rule, spot);
            Place { offset: spot.offset, line, column, what, statement: spot.statement }
        };
        rules::spots(self, rule).into_iter().map(place).collect()
    }

    /// Every rule and in how many places it applies, in the order of the rules.
    pub fn rules(&self) -> Vec<RulePlaces> {
        let row = |rule: Rule| RulePlaces {
            name: rule.name(),
            family: rule.family().name(),
            places: self.count(rule),
        };
        Rule::all().map(row).collect()
    }

    /// In how many places a rule applies.
    pub fn count(&self, rule: Rule) -> usize {
        rules::spots(self, rule).len()
    }

    /// Applies a rule at a place, by its number in [`Program::places`]. Random
    /// numbers are drawn only where several things can be done there.
    pub fn apply(&self, rule: Rule, place: usize, rng: &mut impl Rng) -> Option<Mutant> {
        let spot = *rules::spots(self, rule).get(place)?;
        self.apply_at(rule, spot, rng)
    }

    /// Applies a rule at a random place.
    pub fn mutate(&self, rule: Rule, rng: &mut impl Rng) -> Option<Mutant> {
        self.mutate_where(rule, |_| true, rng)
    }

    /// Applies a rule at a random place among those whose statement will do.
    pub fn mutate_where(
        &self,
        rule: Rule,
        wanted: impl Fn(Option<usize>) -> bool,
        rng: &mut impl Rng,
    ) -> Option<Mutant> {
        let mut spots = rules::spots(self, rule);
        spots.retain(|spot| wanted(spot.statement));
        let spot = *spots.choose(rng)?;
        self.apply_at(rule, spot, rng)
    }

    fn apply_at(&self, rule: Rule, spot: Spot, rng: &mut impl Rng) -> Option<Mutant> {
        let mut outcomes = rules::outcomes(self, rule, spot);
        let chosen = match outcomes.len() {
            0 => return None,
            1 => 0,
            n_outcomes => rng.random_range(0..n_outcomes),
        };
        let outcome = outcomes.swap_remove(chosen);
        let (line, _) = self.line_and_column(spot.offset);
        Some(Mutant {
            text: rewrite(self.text(), outcome.edits),
            by: rule.name(),
            line,
            what: outcome.what,
            statement: spot.statement,
        })
    }
}
