//! How sequences come about: initialization (Algorithm 2) and crossover
//! (Algorithm 3). Mutation (Algorithm 4) stands beside, in `mutation.rs`.
//!
//! What the paper leaves open is decided as follows.
//! - A new individual starts as the buggy sequence with its repetitions, and
//!   `num` is that length; the constraint asks for the set only.
//! - Its size is between `num + 1` and `MAX_SIZE`; where the buggy sequence is so
//!   long that this is no range, it is `num + 1`.
//! - Without the constraint all genes come from `O_b` and `O_c` alike, and sizes
//!   from the same range, so that the variants differ in nothing else.
//!
//! **Invariant:** no fitness is known here, and nothing is remembered: each
//! operator is a function of its arguments and the generator.

use rand::Rng;
use rand::seq::{IndexedRandom, SliceRandom};

use crate::{Alphabet, Gene, Sequence};

/// What every sequence of a search has to satisfy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constraint {
    /// Each optimization of the buggy sequence occurs.
    ContainsBuggy,
    Unconstrained,
}

/// The sequences that a search may propose.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    alphabet: Alphabet,
    constraint: Constraint,
    max_size: usize,
    pool: Vec<Gene>,
}

impl Space {
    /// New individuals have at most `max_size` genes, if the buggy sequence allows.
    pub(crate) fn new(alphabet: Alphabet, constraint: Constraint, max_size: usize) -> Space {
        let pool = match constraint {
            Constraint::ContainsBuggy => alphabet.candidates().to_vec(),
            Constraint::Unconstrained => alphabet.genes().collect(),
        };
        Space { alphabet, constraint, max_size, pool }
    }

    /// A random individual: lines 4 to 8 of Algorithm 2.
    pub(crate) fn individual(&self, rng: &mut impl Rng) -> Sequence {
        let smallest = self.alphabet.buggy().len() + 1;
        let size = rng.random_range(smallest..=self.max_size.max(smallest));
        let mut genes = match self.constraint {
            Constraint::ContainsBuggy => self.alphabet.buggy().to_vec(),
            Constraint::Unconstrained => Vec::new(),
        };
        while genes.len() < size {
            genes.push(self.gene(rng));
        }
        genes.shuffle(rng);
        Sequence::new(genes).expect("the size is above 0")
    }

    /// Two offspring of two parents: Algorithm 3.
    pub(crate) fn crossover(&self, p1: &Sequence, p2: &Sequence, rng: &mut impl Rng) -> Offspring {
        let size = p1.genes().len().min(p2.genes().len());
        self.recombine(p1, p2, rng.random_range(1..=size))
    }

    /// A gene to replace another with, or to insert.
    pub(crate) fn gene(&self, rng: &mut impl Rng) -> Gene {
        *self.pool.choose(rng).expect("an alphabet has candidates")
    }

    /// The sequence of these genes, if a search may propose it.
    pub(crate) fn accept(&self, genes: Vec<Gene>) -> Option<Sequence> {
        let is_allowed = match self.constraint {
            Constraint::ContainsBuggy => self.alphabet.contains_buggy(&genes),
            Constraint::Unconstrained => true,
        };
        if is_allowed { Sequence::new(genes) } else { None }
    }

    fn recombine(&self, p1: &Sequence, p2: &Sequence, delta: usize) -> Offspring {
        [self.offspring(p1, p2, delta), self.offspring(p2, p1, delta)]
    }

    /// The first `delta` genes of one parent and all but so many of the other;
    /// where that breaks the constraint, a copy of the one.
    fn offspring(&self, first: &Sequence, last: &Sequence, delta: usize) -> Sequence {
        let genes = [&first.genes()[..delta], &last.genes()[delta..]].concat();
        self.accept(genes).unwrap_or_else(|| first.clone())
    }
}

/// What a crossover leads to.
pub(crate) type Offspring = [Sequence; 2];

/// A random number below `n`, other than `one`; `None` if there is no other.
pub(crate) fn another(n: usize, one: usize, rng: &mut impl Rng) -> Option<usize> {
    if n < 2 {
        return None;
    }
    let other = rng.random_range(0..n - 1);
    Some(if other < one { other } else { other + 1 })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::alphabet::tests::alphabet;
    use crate::sequence::tests::{letters, sequence};

    fn space(buggy: &str, candidates: &str, constraint: Constraint, max_size: usize) -> Space {
        Space::new(alphabet(buggy, candidates), constraint, max_size)
    }

    /// Everything that comes out for one of a thousand seeds.
    fn outcomes<T: Ord>(draw: impl Fn(&mut ChaCha8Rng) -> T) -> BTreeSet<T> {
        (0..1000).map(|seed| draw(&mut ChaCha8Rng::seed_from_u64(seed))).collect()
    }

    fn check_individuals(space: &Space, expected: &[&str]) {
        let found = outcomes(|rng| letters(&space.individual(rng)));
        assert_eq!(found, expected.iter().map(|&text| text.to_owned()).collect());
    }

    #[test]
    fn a_new_individual_is_the_buggy_sequence_and_candidates_in_any_order() {
        let constrained = Constraint::ContainsBuggy;
        // Size 2, then sizes 2 and 3.
        check_individuals(&space("a", "bc", constrained, 2), &["ab", "ba", "ac", "ca"]);
        check_individuals(&space("a", "b", constrained, 3), &["ab", "ba", "abb", "bab", "bba"]);
        // Repetitions count: both `a` are there.
        check_individuals(&space("aa", "b", constrained, 3), &["aab", "aba", "baa"]);
    }

    #[test]
    fn a_buggy_sequence_beyond_the_greatest_size_gets_one_more_optimization() {
        check_individuals(&space("aa", "b", Constraint::ContainsBuggy, 1), &["aab", "aba", "baa"]);
        check_individuals(
            &space("a", "b", Constraint::Unconstrained, 0),
            &["aa", "ab", "ba", "bb"],
        );
    }

    #[test]
    fn without_the_constraint_an_individual_has_any_genes_and_the_same_sizes() {
        check_individuals(
            &space("a", "b", Constraint::Unconstrained, 3),
            &["aa", "ab", "ba", "bb", "aaa", "aab", "aba", "abb", "baa", "bab", "bba", "bbb"],
        );
    }

    fn check_crossover(constraint: Constraint, parents: [&str; 2], expected: &[[&str; 2]]) {
        let space = space("ab", "cdef", constraint, 15);
        let [p1, p2] = parents.map(sequence);
        for (index, offspring) in expected.iter().enumerate() {
            let found = space.recombine(&p1, &p2, index + 1);
            assert_eq!(found.each_ref().map(letters), *offspring, "cut point {}", index + 1);
        }
        let found = outcomes(|rng| space.crossover(&p1, &p2, rng).each_ref().map(letters));
        let all = expected.iter().map(|offspring| offspring.map(str::to_owned)).collect();
        assert_eq!(found, all, "every cut point is drawn, and no other");
    }

    #[test]
    fn tails_are_exchanged_at_each_cut_point() {
        check_crossover(
            Constraint::Unconstrained,
            ["abc", "defab"],
            &[["aefab", "dbc"], ["abfab", "dec"], ["abcab", "def"]],
        );
    }

    #[test]
    fn an_offspring_that_lost_a_buggy_optimization_is_a_copy_of_its_parent() {
        check_crossover(
            Constraint::ContainsBuggy,
            ["abc", "defab"],
            &[["aefab", "defab"], ["abfab", "defab"], ["abcab", "defab"]],
        );
        check_crossover(
            Constraint::ContainsBuggy,
            ["cab", "bad"],
            &[["cab", "bab"], ["cab", "bab"], ["cab", "bad"]],
        );
    }

    #[test]
    fn another_position_is_every_position_but_the_own() {
        let others = |n, one| outcomes(|rng| another(n, one, rng));
        assert_eq!(others(1, 0), [None].into());
        assert_eq!(others(3, 0), [Some(1), Some(2)].into());
        assert_eq!(others(3, 1), [Some(0), Some(2)].into());
        assert_eq!(others(3, 2), [Some(0), Some(1)].into());
    }
}
