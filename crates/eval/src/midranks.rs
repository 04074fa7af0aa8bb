//! Values -> their ranks from the smallest up, where those that tie share the
//! mean of their places. The first step of both tests.
//!
//! Ranks are kept doubled: then they are whole numbers, and so are all sums of
//! them. These are ranks of numbers among numbers, and have nothing to do with
//! the ranks of suspects, where those that tie share the last place.
//!
//! **Invariant:** no sum is rounded.

/// The ranks of some values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Midranks {
    /// Twice the rank of each, in the order of the values.
    pub(crate) doubled: Vec<u64>,
    /// `Σ(t³ - t)` over all groups of `t` values that tie: by this the variance
    /// of a sum of ranks is smaller than without ties. 0 if there are none.
    pub(crate) tie_term: u128,
}

impl Midranks {
    /// Of finite values.
    pub(crate) fn of(values: &[f64]) -> Midranks {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        let mut doubled = vec![0; values.len()];
        let mut tie_term = 0;
        let mut below = 0u64;
        // Not by `total_cmp`: -0 and 0 are the same number.
        for tied in order.chunk_by(|&a, &b| values[a] == values[b]) {
            let size = tied.len() as u64;
            for &index in tied {
                // Places below+1 to below+size.
                doubled[index] = 2 * below + size + 1;
            }
            tie_term += u128::from(size).pow(3) - u128::from(size);
            below += size;
        }
        Midranks { doubled, tie_term }
    }

    /// Whether any values tie.
    pub(crate) fn has_ties(&self) -> bool {
        self.tie_term != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[f64], ranks: &[f64], tie_term: u128) {
        let found = Midranks::of(values);
        let halved: Vec<f64> = found.doubled.iter().map(|&rank| rank as f64 / 2.0).collect();
        assert_eq!((halved.as_slice(), found.tie_term), (ranks, tie_term), "{values:?}");
        assert_eq!(found.has_ties(), tie_term > 0);
    }

    #[test]
    fn without_ties_ranks_are_places() {
        check(&[], &[], 0);
        check(&[0.5], &[1.0], 0);
        check(&[30.0, -1.0, 2.5, 2.0], &[4.0, 1.0, 3.0, 2.0], 0);
    }

    #[test]
    fn those_that_tie_share_the_mean_of_their_places() {
        // Places 1; 2 and 3; 4; 5 to 7. Term: (8-2) + (27-3).
        check(&[9.0, 3.0, 1.0, 9.0, 3.0, 4.0, 9.0], &[6.0, 2.5, 1.0, 6.0, 2.5, 4.0, 6.0], 30);
        check(&[7.0; 4], &[2.5; 4], 60); // 64-4
    }

    #[test]
    fn zero_has_no_sign() {
        check(&[0.0, -0.0, 1.0], &[1.5, 1.5, 3.0], 6);
    }

    #[test]
    fn values_that_differ_by_rounding_do_not_tie() {
        check(&[0.1 + 0.2, 0.3], &[2.0, 1.0], 0);
    }
}
