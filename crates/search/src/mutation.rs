//! How a sequence is mutated: Algorithm 4.
//!
//! Each optimization gets one chance in `size` to be deleted, replaced, swapped
//! or given a new neighbour. What the paper leaves open is decided as follows.
//! - The optimizations that get a chance are those the sequence had at the start.
//!   They are known by identity, not by value: one that was swapped away gets its
//!   chance where it is now, and what was put in gets none. Only the one whose
//!   turn it is can be deleted or replaced, so the others are still there.
//! - An insertion is next to the optimization, left or right, as the prose of the
//!   paper has it; the index `idx - 1` of line 17 would be one place further left.
//! - The only optimization of a sequence cannot be swapped or deleted.
//!
//! **Invariant:** a change after which the sequence is not allowed is not made,
//! and the others of the same mutation are.

use rand::Rng;

use crate::operators::{Space, another};
use crate::{Gene, Sequence};

/// One change around one optimization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Delete,
    Replace(Gene),
    /// With the optimization at that place.
    Swap(usize),
    InsertLeft(Gene),
    InsertRight(Gene),
}

/// An optimization and, if it was there at the start, where.
#[derive(Clone, Copy, Debug)]
struct Slot {
    gene: Gene,
    start: Option<usize>,
}

impl Space {
    /// The sequence with random changes, possibly none.
    pub(crate) fn mutate(&self, individual: &Sequence, rng: &mut impl Rng) -> Sequence {
        let chance = 1.0 / individual.genes().len() as f64;
        self.visit(individual, |size, at| {
            if rng.random::<f64>() < chance { self.change(size, at, rng) } else { None }
        })
    }

    /// A random change at a place of a sequence of this size.
    fn change(&self, size: usize, at: usize, rng: &mut impl Rng) -> Option<Change> {
        Some(match rng.random_range(1..=4) {
            1 => Change::Delete,
            2 => Change::Replace(self.gene(rng)),
            3 => Change::Swap(another(size, at, rng)?),
            _ => {
                let gene = self.gene(rng);
                match rng.random::<f64>() < 0.5 {
                    true => Change::InsertLeft(gene),
                    false => Change::InsertRight(gene),
                }
            }
        })
    }

    /// Goes through the optimizations a sequence has now. `choose` gets the size
    /// and the place at the time of the visit.
    fn visit(
        &self,
        individual: &Sequence,
        mut choose: impl FnMut(usize, usize) -> Option<Change>,
    ) -> Sequence {
        let mut result = individual.clone();
        let slot = |(start, &gene)| Slot { gene, start: Some(start) };
        let mut slots: Vec<Slot> = individual.genes().iter().enumerate().map(slot).collect();
        for start in 0..slots.len() {
            let at = slots.iter().position(|slot| slot.start == Some(start));
            let at = at.expect("only the visited one is ever taken out");
            let Some(change) = choose(slots.len(), at) else { continue };
            let changed = change.apply(&slots, at);
            if let Some(sequence) = self.accept(changed.iter().map(|slot| slot.gene).collect()) {
                (result, slots) = (sequence, changed);
            }
        }
        result
    }
}

impl Change {
    fn apply(self, slots: &[Slot], at: usize) -> Vec<Slot> {
        let mut slots = slots.to_vec();
        let new = |gene| Slot { gene, start: None };
        match self {
            Change::Delete => drop(slots.remove(at)),
            Change::Replace(gene) => slots[at] = new(gene),
            Change::Swap(other) => slots.swap(at, other),
            Change::InsertLeft(gene) => slots.insert(at, new(gene)),
            Change::InsertRight(gene) => slots.insert(at + 1, new(gene)),
        }
        slots
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::Change::{Delete, InsertLeft, InsertRight, Replace, Swap};
    use super::*;
    use crate::Constraint::{self, ContainsBuggy, Unconstrained};
    use crate::alphabet::tests::alphabet;
    use crate::sequence::tests::{letters, sequence};

    const D: Gene = Gene(3);

    /// The buggy sequence is `ab`, the candidates are `a`, `c` and `d`.
    fn space(constraint: Constraint) -> Space {
        Space::new(alphabet("ab", "acd"), constraint, 15)
    }

    /// What the changes, one for each visit, make of a sequence, and where the
    /// visited optimization was each time.
    fn check(
        constraint: Constraint,
        before: &str,
        changes: &[Option<Change>],
        after: &str,
        places: &[usize],
    ) {
        let mut found = Vec::new();
        let mutated = space(constraint).visit(&sequence(before), |_, at| {
            found.push(at);
            changes[found.len() - 1]
        });
        assert_eq!((letters(&mutated).as_str(), found.as_slice()), (after, places));
    }

    /// The same with one change, at the second of three optimizations.
    fn check_one(constraint: Constraint, before: &str, change: Change, after: &str) {
        let mut visits = 0;
        let mutated = space(constraint).visit(&sequence(before), |_, at| {
            visits += 1;
            (at == 1 && visits == 2).then_some(change)
        });
        assert_eq!(letters(&mutated), after, "{change:?} of {before}");
    }

    #[test]
    fn each_change_is_made_at_the_visited_optimization() {
        check_one(Unconstrained, "abc", Delete, "ac");
        check_one(Unconstrained, "abc", Replace(D), "adc");
        check_one(Unconstrained, "abc", Swap(0), "bac");
        check_one(Unconstrained, "abc", Swap(2), "acb");
        check_one(Unconstrained, "abc", InsertLeft(D), "adbc");
        check_one(Unconstrained, "abc", InsertRight(D), "abdc");
    }

    #[test]
    fn a_change_that_breaks_the_constraint_is_not_made() {
        check_one(ContainsBuggy, "abc", Delete, "abc");
        check_one(ContainsBuggy, "abc", Replace(D), "abc");
        check_one(ContainsBuggy, "abb", Delete, "ab");
        check_one(ContainsBuggy, "acb", Delete, "ab");
        check_one(ContainsBuggy, "acb", Replace(D), "adb");
        check_one(ContainsBuggy, "abc", Swap(0), "bac");
        check_one(ContainsBuggy, "abc", InsertLeft(D), "adbc");
    }

    #[test]
    fn other_changes_of_the_same_mutation_stay() {
        let changes = [Some(InsertLeft(D)), Some(Delete), Some(Delete)];
        check(ContainsBuggy, "abc", &changes, "dab", &[0, 2, 3]);
    }

    #[test]
    fn what_was_there_at_the_start_is_visited_once_wherever_it_is() {
        // The first goes to the end; the last is visited at the front.
        check(Unconstrained, "abc", &[Some(Swap(2)), None, Some(Delete)], "ba", &[0, 1, 0]);
        // What was inserted or put in place of another is not visited.
        check(Unconstrained, "ab", &[Some(InsertRight(D)), None], "adb", &[0, 2]);
        check(Unconstrained, "ab", &[Some(Replace(D)), Some(Swap(0))], "bd", &[0, 1]);
        // Equal optimizations are not the same one.
        check(Unconstrained, "aab", &[Some(Delete), Some(Delete), None], "b", &[0, 0, 0]);
    }

    #[test]
    fn a_sequence_is_never_emptied() {
        check(Unconstrained, "ab", &[Some(Delete), Some(Delete)], "b", &[0, 0]);
    }

    /// How often each sequence comes out.
    fn mutations(constraint: Constraint, before: &str, n_seeds: u64) -> BTreeMap<String, u32> {
        let mut found = BTreeMap::new();
        for seed in 0..n_seeds {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mutated = space(constraint).mutate(&sequence(before), &mut rng);
            *found.entry(letters(&mutated)).or_default() += 1;
        }
        found
    }

    #[test]
    fn mutations_of_a_single_optimization_are_these() {
        let found: BTreeSet<String> = mutations(Unconstrained, "a", 1000).into_keys().collect();
        // Replaced; inserted left and right; or as it was.
        let expected = ["a", "b", "c", "d", "aa", "ba", "ab", "ca", "ac", "da", "ad"];
        assert_eq!(found, expected.map(str::to_owned).into());
    }

    #[test]
    fn the_four_kinds_are_equally_likely() {
        // One chance in one. Deleting and swapping do nothing, replacing by itself neither.
        let found = mutations(Unconstrained, "a", 16_000);
        let expect = |text: &str, expected: f64| {
            let share = f64::from(found[text]) / 16_000.0;
            assert!((share - expected).abs() < 0.015, "{text}: {share} and not {expected}");
        };
        expect("a", 0.25 + 0.25 + 0.25 / 4.0);
        expect("b", 0.25 / 4.0);
        expect("aa", 0.25 / 4.0);
        expect("ab", 0.25 / 8.0);
        expect("ba", 0.25 / 8.0);
    }

    #[test]
    fn each_optimization_has_one_chance_in_the_size() {
        // Each of four stays with probability 3/4, or is replaced by itself.
        let found = mutations(Unconstrained, "abcd", 16_000);
        let unchanged = f64::from(found["abcd"]) / 16_000.0;
        let stays: f64 = 0.75 + 0.25 * 0.25 / 4.0;
        // Changes that undo each other are rare.
        let expected = stays.powi(4);
        assert!((unchanged - expected).abs() < 0.02, "{unchanged} and not about {expected}");
    }

    #[test]
    fn with_the_constraint_only_candidates_are_put_in() {
        // `b` is no candidate: it stays, and there never is a second one.
        let found = mutations(ContainsBuggy, "ab", 4000);
        assert!(found.keys().all(|text| text.matches('b').count() == 1 && text.contains('a')));
        assert!(["aab", "acb", "dab", "abd", "ba"].iter().all(|text| found.contains_key(*text)));
        assert!(mutations(Unconstrained, "ab", 4000).contains_key("bab"));
    }
}
