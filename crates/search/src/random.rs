//! Random search: what the genetic algorithm is compared with.
//!
//! Each batch is a new initial population (Algorithm 2). With the constraint this
//! is `LocSeq_r`, without it `LocSeq_rwc`.
//!
//! **Invariant:** answers change nothing; the questions depend on the generator
//! alone.

use rand_chacha::ChaCha8Rng;

use crate::asked::Asked;
use crate::operators::Space;
use crate::{Alphabet, Constraint, Parameters, Search, Sequence};

#[derive(Clone, Debug)]
pub struct Random {
    space: Space,
    batch: usize,
    rng: ChaCha8Rng,
    asked: Asked,
}

impl Random {
    /// A search at its beginning. Of the parameters, the sizes of the population
    /// and of an individual matter.
    pub fn new(
        alphabet: Alphabet,
        constraint: Constraint,
        parameters: Parameters,
        rng: ChaCha8Rng,
    ) -> Random {
        let space = Space::new(alphabet, constraint, parameters.max_size);
        Random { space, batch: parameters.population, rng, asked: Asked::default() }
    }
}

impl Search for Random {
    fn ask(&mut self) -> Vec<Sequence> {
        if self.asked.waiting().is_empty() {
            self.asked.fill(self.batch, || self.space.individual(&mut self.rng));
        }
        self.asked.waiting().to_vec()
    }

    fn tell(&mut self, fitness: &[f64]) {
        drop(self.asked.answer(fitness));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand::SeedableRng;

    use super::*;
    use crate::alphabet::tests::alphabet;
    use crate::sequence::tests::letters;

    /// All that is ever asked, until nothing is left.
    fn check(constraint: Constraint, expected: &[&str]) {
        let parameters = Parameters { population: 3, max_size: 2, ..Parameters::default() };
        let rng = ChaCha8Rng::seed_from_u64(1);
        let mut search = Random::new(alphabet("a", "bc"), constraint, parameters, rng);
        let mut found = Vec::new();
        loop {
            let candidates = search.ask();
            if candidates.is_empty() {
                break;
            }
            assert!(candidates.len() <= 3);
            search.tell(&vec![0.0; candidates.len()]);
            found.extend(candidates.iter().map(letters));
        }
        assert_eq!(found.len(), expected.len(), "nothing is asked twice");
        let found: BTreeSet<&str> = found.iter().map(String::as_str).collect();
        assert_eq!(found, expected.iter().copied().collect());
    }

    #[test]
    fn a_small_space_is_exhausted() {
        check(Constraint::ContainsBuggy, &["ab", "ba", "ac", "ca"]);
        check(Constraint::Unconstrained, &["aa", "ab", "ac", "ba", "bb", "bc", "ca", "cb", "cc"]);
    }
}
