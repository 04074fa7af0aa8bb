//! Where Athena's walk goes: how far a variant is from its base program, and
//! whether the walk goes on from there (Metropolis and others, 1953; Le, Sun, Su,
//! OOPSLA 2015, who lead the walk away from the base program, as far as the size
//! allows).
//!
//! **Invariant:** same programs and random numbers, same way; a proposal that is
//! farther is always accepted.

use std::collections::BTreeSet;

use rand::Rng;

use crate::emi::flow::Flow;
use crate::program::Program;

/// How much other blocks count.
const BLOCKS: f64 = 1.0;
/// How much other edges count: as much, each being a number up to 1.
const EDGES: f64 = 1.0;
/// What it costs to become larger or smaller: one whole size outweighs one of
/// the two parts, so that no walk gets far by growth alone.
const SIZE: f64 = 1.0;
/// How strict the walk is. One insertion into a program of some hundred blocks
/// is a difference of a few hundredths; a step back of 0.02 is then taken with a
/// probability of 0.37.
const STRICTNESS: f64 = 50.0;

/// How far a variant is from its base program: the Jaccard distances of their sets of
/// basic blocks and of edges, less what it grew or shrank by.
pub fn distance(base: &Program, variant: &Program) -> f64 {
    let (base, variant) = (Flow::of(base), Flow::of(variant));
    let (before, after) = (base.n_statements as f64, variant.n_statements as f64);
    let growth = (after - before).abs() / before.max(1.0);
    BLOCKS * jaccard(&base.blocks, &variant.blocks) + EDGES * jaccard(&base.edges, &variant.edges)
        - SIZE * growth
}

/// Whether the walk goes on from a proposal.
pub fn accepts(current: f64, proposed: f64, rng: &mut impl Rng) -> bool {
    let probability = (STRICTNESS * (proposed - current)).exp().min(1.0);
    rng.random_bool(probability)
}

/// 0 for equal sets, 1 for such that have nothing in common.
fn jaccard<T: Ord>(a: &BTreeSet<T>, b: &BTreeSet<T>) -> f64 {
    match a.union(b).count() {
        0 => 0.0,
        n_all => 1.0 - a.intersection(b).count() as f64 / n_all as f64,
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn a_step_away_is_always_taken_and_one_back_sometimes() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        assert!((0..100).all(|_| accepts(0.1, 0.2, &mut rng)));
        let n_back = (0..1000).filter(|_| accepts(0.12, 0.1, &mut rng)).count();
        assert!((300..440).contains(&n_back), "{n_back}");
        assert!((0..100).all(|_| !accepts(1.0, 0.0, &mut rng)));
    }

    #[test]
    fn the_distance_of_sets_is_between_0_and_1() {
        let set = |numbers: &[u32]| numbers.iter().copied().collect::<BTreeSet<u32>>();
        assert_eq!(jaccard(&set(&[]), &set(&[])), 0.0);
        assert_eq!(jaccard(&set(&[1, 2]), &set(&[1, 2])), 0.0);
        assert_eq!(jaccard(&set(&[1, 2, 3]), &set(&[2, 3, 4])), 0.5);
        assert_eq!(jaccard(&set(&[1]), &set(&[2])), 1.0);
    }
}
