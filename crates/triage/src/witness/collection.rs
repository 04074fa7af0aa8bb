//! The witnesses that a search has accepted: how far they are from each other
//! and from the failing run, and whether one more is worth having.
//!
//! A witness differs from the failing run in few blocks. Two witnesses then
//! differ in no more than those that either differs in, so only these are kept:
//! exact, and a hundred times as fast as comparing whole coverages.
//!
//! **Invariant:** a witness that was weighed changes nothing; one that was added
//! stays.

use optsleuth_model::{BlockId, Coverage};
use optsleuth_search::{Acceptance, Quality};

/// What a program that passes would be worth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Weighed {
    /// Whether it becomes a witness.
    pub(super) accepted: bool,
    /// Its mean distance to the witnesses there are; 0 if there are none.
    pub(super) distance: f64,
    /// What it adds to the quality of the set: RecBi's (5).
    pub(super) gain: f64,
}

/// Accepted witnesses.
#[derive(Debug)]
pub(super) struct Collection {
    acceptance: Acceptance,
    failing: Coverage,
    n_failing: usize,
    members: Vec<Difference>,
    quality: Quality,
}

/// A coverage by what tells it from the failing run's.
#[derive(Clone, Debug, PartialEq)]
struct Difference {
    /// In order.
    blocks: Vec<BlockId>,
    /// Of the whole coverage.
    n_covered: usize,
}

impl Collection {
    pub(super) fn new(acceptance: Acceptance, failing: &Coverage) -> Collection {
        Collection {
            acceptance,
            failing: failing.clone(),
            n_failing: failing.count(),
            members: Vec::new(),
            quality: Quality::new(Quality::PAPER_ALPHA),
        }
    }

    /// What a coverage would be worth.
    pub(super) fn weigh(&self, coverage: &Coverage) -> Weighed {
        if self.acceptance == Acceptance::Any {
            return Weighed { accepted: true, distance: 0.0, gain: 0.0 };
        }
        let (to_failing, to_others) = self.distances(&self.difference(coverage));
        let distance = match to_others.len() {
            0 => 0.0,
            n_others => to_others.iter().sum::<f64>() / n_others as f64,
        };
        let gain = self.quality.gain(to_failing, &to_others);
        let accepted = self.acceptance.accepts(&to_others, gain);
        Weighed { accepted, distance, gain }
    }

    /// Takes it in.
    pub(super) fn add(&mut self, coverage: &Coverage) {
        if self.acceptance == Acceptance::Any {
            return; // No later program is compared with it.
        }
        let difference = self.difference(coverage);
        let (to_failing, to_others) = self.distances(&difference);
        self.quality.add(to_failing, &to_others);
        self.members.push(difference);
    }

    fn difference(&self, coverage: &Coverage) -> Difference {
        let mut blocks: Vec<BlockId> = coverage.difference(&self.failing).blocks().collect();
        blocks.extend(self.failing.difference(coverage).blocks());
        blocks.sort_unstable();
        Difference { blocks, n_covered: coverage.count() }
    }

    /// To the failing run, and to every member.
    fn distances(&self, one: &Difference) -> (f64, Vec<f64>) {
        let failing = Difference { blocks: Vec::new(), n_covered: self.n_failing };
        let to_others = self.members.iter().map(|other| one.distance(other)).collect();
        (one.distance(&failing), to_others)
    }
}

impl Difference {
    /// The Jaccard distance of the whole coverages.
    fn distance(&self, other: &Difference) -> f64 {
        let n_different = symmetric_difference(&self.blocks, &other.blocks);
        let n_either = (self.n_covered + other.n_covered + n_different) / 2;
        if n_either == 0 { 0.0 } else { n_different as f64 / n_either as f64 }
    }
}

/// How many are in one of two ordered lists, and not in the other.
fn symmetric_difference(a: &[BlockId], b: &[BlockId]) -> usize {
    let (mut at, mut n_common) = (0, 0);
    for block in a {
        while at < b.len() && b[at] < *block {
            at += 1;
        }
        n_common += usize::from(b.get(at) == Some(block));
    }
    a.len() + b.len() - 2 * n_common
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coverage(blocks: &[u32]) -> Coverage {
        Coverage::of(blocks.iter().map(|block| BlockId(*block)))
    }

    fn is_close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn distances_are_those_of_whole_coverages() {
        let failing = coverage(&[1, 2, 3, 70, 200]);
        let mut collection = Collection::new(Acceptance::NewCoverage, &failing);
        let runs = [&[1, 2, 3, 70][..], &[1, 2, 5, 70, 200], &[9], &[1, 2, 3, 70, 200, 300]];
        for (index, run) in runs.iter().enumerate() {
            let difference = collection.difference(&coverage(run));
            let (to_failing, to_others) = collection.distances(&difference);
            assert!(is_close(to_failing, 1.0 - coverage(run).jaccard(&failing)));
            for (other, distance) in runs[..index].iter().zip(to_others) {
                assert!(is_close(distance, 1.0 - coverage(run).jaccard(&coverage(other))));
            }
            collection.add(&coverage(run));
        }
    }

    #[test]
    fn what_covers_the_same_as_a_witness_is_refused() {
        let failing = coverage(&[1, 2, 3]);
        let mut collection = Collection::new(Acceptance::NewCoverage, &failing);
        assert!(collection.weigh(&coverage(&[1, 2])).accepted);
        collection.add(&coverage(&[1, 2]));
        let again = collection.weigh(&coverage(&[1, 2]));
        assert!(!again.accepted && again.distance == 0.0);
        let other = collection.weigh(&coverage(&[1]));
        assert!(other.accepted && other.distance == 0.5);
    }

    #[test]
    fn by_gain_a_stranger_is_worth_more_than_a_twin() {
        let failing = coverage(&(0..100).collect::<Vec<_>>());
        let mut collection = Collection::new(Acceptance::Gain, &failing);
        let near = coverage(&(0..99).collect::<Vec<_>>());
        let far = coverage(&(50..150).collect::<Vec<_>>());
        assert!(collection.weigh(&near).accepted);
        collection.add(&near);
        assert!(collection.weigh(&far).gain > collection.weigh(&near).gain);
        assert!(collection.weigh(&far).accepted);
    }
}
