//! Pass invocations: one pass applied to one unit of IR, numbered in the order
//! in which the pass manager comes to them.

use std::fmt;

/// One pass applied to one module, SCC, function or loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// Its number within the run, from 0.
    pub index: u32,
    /// The pass as a pipeline names it, or its class where it has no such name.
    pub pass: String,
    /// What it was applied to: `module`, `function f`, `loop h in f`, `scc (f)`.
    pub unit: String,
    /// It was not run: chosen by a [`SkipSet`], or kept away by `optnone`.
    pub skipped: bool,
    /// LLVM runs it whatever a skip set says.
    pub required: bool,
}

impl fmt::Display for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{} {} on {}", self.index, self.pass, self.unit)
    }
}

/// Which invocations are to be skipped: disjoint, sorted, half-open ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkipSet(Vec<(u32, u32)>); // Invariant: sorted, disjoint, none empty.

impl SkipSet {
    /// Skips nothing.
    pub fn none() -> SkipSet {
        SkipSet::default()
    }

    /// Skips every invocation from `first` on: what a bisection asks for.
    pub fn from(first: u32) -> SkipSet {
        SkipSet(vec![(first, u32::MAX)])
    }

    /// Skips exactly these.
    pub fn of(indices: impl IntoIterator<Item = u32>) -> SkipSet {
        SkipSet::of_ranges(indices.into_iter().map(|index| (index, index.saturating_add(1))))
    }

    /// Skips what lies in any of these half-open ranges.
    pub fn of_ranges(ranges: impl IntoIterator<Item = (u32, u32)>) -> SkipSet {
        let mut sorted: Vec<(u32, u32)> =
            ranges.into_iter().filter(|(from, end)| from < end).collect();
        sorted.sort_unstable();
        let mut joined: Vec<(u32, u32)> = Vec::new();
        for (from, end) in sorted {
            match joined.last_mut() {
                Some((_, last)) if *last >= from => *last = end.max(*last),
                _ => joined.push((from, end)),
            }
        }
        SkipSet(joined)
    }

    /// The ranges, in order.
    pub fn ranges(&self) -> &[(u32, u32)] {
        &self.0
    }

    /// Whether this invocation is to be skipped.
    pub fn contains(&self, index: u32) -> bool {
        self.0.iter().any(|&(from, end)| from <= index && index < end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_become_one_range() {
        assert_eq!(SkipSet::of([5, 1, 2, 3, 3]).ranges(), [(1, 4), (5, 6)]);
    }

    #[test]
    fn overlapping_ranges_become_one() {
        let skips = SkipSet::of_ranges([(8, 9), (2, 6), (3, 4), (6, 7), (5, 5)]);
        assert_eq!(skips.ranges(), [(2, 7), (8, 9)]);
    }

    #[test]
    fn everything_from_an_index_on_is_skipped() {
        let skips = SkipSet::from(7);
        assert!(!skips.contains(6));
        assert!(skips.contains(7));
        assert!(skips.contains(4_000_000));
    }

    proptest::proptest! {
        #[test]
        fn a_set_contains_exactly_what_it_was_made_of(indices: Vec<u8>) {
            let skips = SkipSet::of(indices.iter().map(|&i| u32::from(i)));
            for index in 0..=256 {
                let chosen = indices.iter().any(|&i| u32::from(i) == index);
                assert_eq!(skips.contains(index), chosen);
            }
        }
    }
}
