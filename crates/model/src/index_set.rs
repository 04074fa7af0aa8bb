//! Sets of numbers that come in stretches: invocations to skip, items to edit.

/// A set of numbers: disjoint, sorted, half-open ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexSet(Vec<(u32, u32)>); // Invariant: sorted, disjoint, none empty.

impl IndexSet {
    pub fn none() -> IndexSet {
        IndexSet::default()
    }

    /// Everything from `first` on.
    pub fn from(first: u32) -> IndexSet {
        IndexSet(vec![(first, u32::MAX)])
    }

    pub fn of(indices: impl IntoIterator<Item = u32>) -> IndexSet {
        IndexSet::of_ranges(indices.into_iter().map(|index| (index, index.saturating_add(1))))
    }

    /// What lies in any of these half-open ranges.
    pub fn of_ranges(ranges: impl IntoIterator<Item = (u32, u32)>) -> IndexSet {
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
        IndexSet(joined)
    }

    /// The ranges, in order.
    pub fn ranges(&self) -> &[(u32, u32)] {
        &self.0
    }

    /// Whether it has this number.
    pub fn contains(&self, index: u32) -> bool {
        self.0.iter().any(|&(from, end)| from <= index && index < end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_become_one_range() {
        assert_eq!(IndexSet::of([5, 1, 2, 3, 3]).ranges(), [(1, 4), (5, 6)]);
    }

    #[test]
    fn overlapping_ranges_become_one() {
        let set = IndexSet::of_ranges([(8, 9), (2, 6), (3, 4), (6, 7), (5, 5)]);
        assert_eq!(set.ranges(), [(2, 7), (8, 9)]);
    }

    #[test]
    fn everything_from_an_index_on_is_in_it() {
        let set = IndexSet::from(7);
        assert!(!set.contains(6));
        assert!(set.contains(7));
        assert!(set.contains(4_000_000));
    }

    proptest::proptest! {
        #[test]
        fn a_set_contains_exactly_what_it_was_made_of(indices: Vec<u8>) {
            let set = IndexSet::of(indices.iter().map(|&i| u32::from(i)));
            for index in 0..=256 {
                let chosen = indices.iter().any(|&i| u32::from(i) == index);
                assert_eq!(set.contains(index), chosen);
            }
        }
    }
}
