//! Which failing program to mutate next, the parent of the next mutant (DiWi calls
//! it a seed program): section 4.2.1 of DiWi, Algorithm 1.
//!
//! A mutation of the failing program is of first order, one of a failing mutant of
//! order `n - 1` is of order `n`. Lower orders come first: the further a mutant is
//! from the failing program, the less its trace resembles that program's, and the
//! likelier it fails by another bug. Failing mutants are collected on the way and
//! become the parents when the caller gives an order up (lines 22 to 28; the paper
//! does so after an hour without a witness).
//!
//! The paper does not say how line 4 selects (here: uniformly), nor bounds what is
//! collected. Here an order keeps [`Parents::MAX_PER_ORDER`] mutants, a uniform
//! sample of all that there were: Algorithm R of Vitter, "Random Sampling with a
//! Reservoir", ACM Transactions on Mathematical Software 11(1), 1985.
//!
//! **Invariant:** there is always a parent, and all parents are of the same order.

use rand::Rng;

/// The failing programs of one order, and those of the next as far as known.
#[derive(Clone, Debug)]
pub struct Parents<T> {
    order: usize,
    /// Never empty.
    parents: Vec<T>,
    next: Vec<T>,
    /// How many mutants were offered for `next`, kept or not.
    n_failed: usize,
}

impl<T> Parents<T> {
    /// How many failing mutants of an order are kept.
    pub const MAX_PER_ORDER: usize = 256;

    /// The failing program alone, which is of order 0.
    pub fn new(failing: T) -> Parents<T> {
        Parents { order: 0, parents: vec![failing], next: Vec::new(), n_failed: 0 }
    }

    /// How many mutations lie between the failing program and every parent.
    pub fn order(&self) -> usize {
        self.order
    }

    /// A program to mutate.
    pub fn pick(&self, rng: &mut impl Rng) -> &T {
        &self.parents[rng.random_range(0..self.parents.len())]
    }

    /// Learns of a mutant of a parent that fails as its parent does.
    pub fn failed(&mut self, mutant: T, rng: &mut impl Rng) {
        self.n_failed += 1;
        if self.next.len() < Self::MAX_PER_ORDER {
            self.next.push(mutant);
            return;
        }
        let index = rng.random_range(0..self.n_failed);
        if let Some(place) = self.next.get_mut(index) {
            *place = mutant;
        }
    }

    /// Goes one order up. False if no mutant of a parent failed: then the parents stay
    /// what they are.
    pub fn advance(&mut self) -> bool {
        if self.next.is_empty() {
            return false;
        }
        self.parents = std::mem::take(&mut self.next);
        self.n_failed = 0;
        self.order += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// What comes up in many picks.
    fn picked(parents: &Parents<usize>, rng: &mut ChaCha8Rng) -> BTreeSet<usize> {
        (0..5000).map(|_| *parents.pick(rng)).collect()
    }

    #[test]
    fn lower_orders_are_used_until_the_caller_gives_them_up() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut parents = Parents::new(0);
        parents.failed(1, &mut rng);
        parents.failed(2, &mut rng);
        assert_eq!((parents.order(), picked(&parents, &mut rng)), (0, BTreeSet::from([0])));
        assert!(parents.advance());
        assert_eq!((parents.order(), picked(&parents, &mut rng)), (1, BTreeSet::from([1, 2])));
        parents.failed(3, &mut rng);
        assert!(parents.advance());
        assert_eq!((parents.order(), picked(&parents, &mut rng)), (2, BTreeSet::from([3])));
    }

    #[test]
    fn without_a_failing_mutant_the_order_stays() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut parents = Parents::new(7);
        assert!(!parents.advance());
        assert_eq!((parents.order(), *parents.pick(&mut rng)), (0, 7));
    }

    #[test]
    fn of_many_mutants_a_uniform_sample_is_kept() {
        const N_MUTANTS: usize = 10 * Parents::<usize>::MAX_PER_ORDER;
        let mut n_late = 0;
        for seed in 0..20 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut parents = Parents::new(0);
            (1..=N_MUTANTS).for_each(|mutant| parents.failed(mutant, &mut rng));
            assert!(parents.advance());
            assert_eq!(parents.parents.len(), Parents::<usize>::MAX_PER_ORDER);
            assert_eq!(BTreeSet::from_iter(&parents.parents).len(), parents.parents.len());
            n_late += parents.parents.iter().filter(|&&mutant| mutant > N_MUTANTS / 2).count();
        }
        let share = n_late as f64 / (20 * Parents::<usize>::MAX_PER_ORDER) as f64;
        assert!((0.47..0.53).contains(&share), "{share} are of the second half");
    }

    #[test]
    fn a_new_order_samples_afresh() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut parents = Parents::new(0);
        (0..20_000).for_each(|mutant| parents.failed(mutant, &mut rng));
        assert!(parents.advance());
        // Would the old ones still count, hardly any late one were kept.
        (20_000..22_000).for_each(|mutant| parents.failed(mutant, &mut rng));
        assert!(parents.advance());
        assert!(parents.parents.iter().all(|&mutant| mutant >= 20_000));
        let n_late = parents.parents.iter().filter(|&&mutant| mutant >= 21_000).count();
        assert!((90..166).contains(&n_late), "{n_late} of 256 are of the second half");
    }

    #[test]
    fn the_same_generator_leads_to_the_same_picks() {
        let picks = |seed| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut parents = Parents::new(0);
            (1..1000).for_each(|mutant| parents.failed(mutant, &mut rng));
            parents.advance();
            (0..50).map(|_| *parents.pick(&mut rng)).collect::<Vec<usize>>()
        };
        assert_eq!(picks(4), picks(4));
        assert_ne!(picks(4), picks(5));
    }
}
