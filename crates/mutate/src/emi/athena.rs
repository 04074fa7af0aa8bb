//! Athena: a walk through variants, each step a few deletions from and insertions
//! into what is not executed (Le, Sun, Su, "Finding deep compiler bugs via guided
//! stochastic program mutation", OOPSLA 2015).
//!
//! Here is what proposes a step; [`crate::emi::distance`] and
//! [`crate::emi::accepts`] are what the walk is led by.
//!
//! **Invariant:** no statement of a proposal is within another one of it, so
//! that all of them are made on one view of the program.

use rand::Rng;
use rand::seq::IndexedRandom as _;

use crate::emi::dead::Dead;
use crate::emi::place::Placing;
use crate::emi::profile::Profile;
use crate::emi::variant::Variant;
use crate::marks::SnippetKind;
use crate::pool::Pool;
use crate::program::Program;
use crate::span::Span;
use crate::structure::Inserter;

/// How many things a proposal does at most.
const STEPS: usize = 5;
/// How often one of them is an insertion: as often as not, so that the program
/// neither vanishes nor grows without end.
const INSERTION: f64 = 0.5;
/// How often a step is tried.
const TRIES: usize = 10;

impl Program {
    /// A proposal of the walk; whether it goes on from there is the caller's to
    /// say, by [`crate::emi::accepts`]. `None` if nothing could be done.
    pub fn athena(&self, profile: &Profile, pool: &Pool, rng: &mut impl Rng) -> Option<Variant> {
        let dead = Dead::of(self, profile);
        let mut inserter = Inserter::of(self);
        let deletable = dead.deletable();
        let insertable = inserter.locations();
        let places: Vec<usize> =
            dead.places().into_iter().filter(|it| insertable.binary_search(it).is_ok()).collect();
        let mut placing = Placing::on(self);
        let mut used: Vec<Span> = Vec::new();
        for _ in 0..rng.random_range(1..=STEPS) {
            for _ in 0..TRIES {
                let inserts = rng.random_bool(INSERTION);
                let candidates = if inserts { &places } else { &deletable };
                let Some(&statement) = candidates.choose(rng) else { continue };
                let span = self.statements[statement].span;
                let meets = |other: &Span| other.start < span.end && span.start < other.end;
                if used.iter().any(meets) {
                    continue;
                }
                if inserts {
                    let Some(made) = inserter.ingredient(statement, pool, rng) else { continue };
                    placing.before(statement, SnippetKind::Insertion, made.text);
                    if !made.prerequisites.is_empty() {
                        placing.carry(inserter.front(), &made.names, &made.prerequisites);
                    }
                } else {
                    placing.delete(statement);
                }
                used.push(span);
                break;
            }
        }
        placing.finish()
    }
}
