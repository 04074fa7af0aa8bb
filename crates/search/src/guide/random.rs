//! No guidance: every operator is equally likely, whatever came of it.
//!
//! What the other guides are compared with (DiWi, section 5.4; RecBi, section
//! 4.3.1).
//!
//! **Invariant:** what is told changes nothing.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::{Guide, Told};

/// Chooses uniformly.
#[derive(Clone, Debug)]
pub struct RandomGuide {
    n_choices: usize,
    rng: ChaCha8Rng,
}

impl RandomGuide {
    /// A guide among `0..n_choices`.
    ///
    /// # Panics
    /// If there is nothing to choose from.
    pub fn new(n_choices: usize, rng: ChaCha8Rng) -> RandomGuide {
        assert!(n_choices > 0, "there is no operator to choose");
        RandomGuide { n_choices, rng }
    }
}

impl Guide for RandomGuide {
    fn choose(&mut self) -> usize {
        self.rng.random_range(0..self.n_choices)
    }

    fn learn(&mut self, _: &Told) {}
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::super::tests::accepted;
    use super::*;

    #[test]
    fn success_changes_no_choice() {
        let mut told = RandomGuide::new(10, ChaCha8Rng::seed_from_u64(1));
        let mut untold = told.clone();
        for _ in 0..200 {
            let choice = told.choose();
            assert_eq!(choice, untold.choose());
            told.learn(&accepted(choice, 1.0, 1.0));
        }
    }
}
