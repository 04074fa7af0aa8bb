//! The first invocation after which a failure is certain: beginnings of the
//! run are tried until two neighbours differ. Sans-IO, k-ary.
//!
//! **Invariant:** of all beginnings that were tried, every one longer than the
//! answer fails.

/// Beginnings tried in the first round: they also show whether something is
/// masked.
const FIRST_ROUND: u32 = 16;
/// And in every later one. A fixed number, so that the answer does not depend
/// on how many workers there are.
const LATER_ROUNDS: u32 = 4;

/// Looks for the end of the shortest beginning from which on all fail.
#[derive(Clone, Debug)]
pub(super) struct PrefixSearch {
    /// The longest beginning that is known not to fail.
    sound: u32,
    /// A longer one that fails.
    failing: u32,
    width: u32,
    masked: bool,
}

impl PrefixSearch {
    /// For a run of `n` invocations that fails, and does not with none.
    pub(super) fn new(n: u32) -> PrefixSearch {
        PrefixSearch { sound: 0, failing: n, width: FIRST_ROUND, masked: false }
    }

    /// The lengths of the beginnings to try, ascending; none when it is done.
    pub(super) fn ask(&self) -> Vec<u32> {
        let between = self.failing - self.sound;
        let parts = (self.width + 1).min(between);
        let length = |part: u32| {
            let share = u64::from(between) * u64::from(part) / u64::from(parts);
            self.sound + u32::try_from(share).unwrap_or(0) // At most `between`.
        };
        (1..parts).map(length).collect()
    }

    /// Whether each of the beginnings last asked for fails.
    pub(super) fn tell(&mut self, fails: &[bool]) {
        let asked = self.ask();
        self.masked |= fails.windows(2).any(|pair| pair[0] && !pair[1]);
        let n_before = fails.iter().rposition(|fails| !fails).map_or(0, |last| last + 1);
        if let Some(&shorter) = asked.get(n_before) {
            self.failing = shorter;
        }
        if n_before > 0 {
            self.sound = asked[n_before - 1];
        }
        self.width = LATER_ROUNDS;
    }

    /// The number of the last invocation of the beginning that was found.
    pub(super) fn certain_after(&self) -> u32 {
        self.failing.saturating_sub(1)
    }

    /// Whether a beginning was seen to fail although a longer one does not.
    pub(super) fn masked(&self) -> bool {
        self.masked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(n: u32, fails: impl Fn(u32) -> bool) -> (u32, bool, usize) {
        let (mut search, mut n_asked) = (PrefixSearch::new(n), 0);
        loop {
            let asked = search.ask();
            if asked.is_empty() {
                return (search.certain_after(), search.masked(), n_asked);
            }
            assert!(asked.is_sorted_by(|a, b| a < b) && asked.iter().all(|&end| end < n));
            n_asked += asked.len();
            search.tell(&asked.iter().map(|&end| fails(end)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_one_that_makes_it_fail_is_found_in_a_few_runs() {
        for guilty in [0, 1, 7, 1234, 4998, 4999] {
            let (found, masked, n_asked) = search(5000, |end| end > guilty);
            assert_eq!((found, masked), (guilty, false));
            assert!(n_asked <= 40, "{n_asked}");
        }
        assert_eq!(search(1, |_| unreachable!()), (0, false, 0));
    }

    #[test]
    fn what_is_masked_in_between_is_said_and_the_last_beginning_counts() {
        let (found, masked, _) = search(16, |end| (3..8).contains(&end) || end > 12);
        assert_eq!((found, masked), (12, true));
    }
}
