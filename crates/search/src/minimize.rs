//! Delta debugging: a set that fails -> a subset that fails and of which no
//! single member can be left out.
//!
//! Zeller and Hildebrandt's ddmin (IEEE Transactions on Software Engineering,
//! 2002, doi:10.1109/32.988498), without the step that tries subsets alone:
//! members are left out in stretches, from the last to the first, and the
//! stretches get shorter by half. Passes and instructions depend on what comes
//! before them, so going backwards takes away users before what they use.
//!
//! **Invariant:** the result does not depend on how many candidates are asked
//! for at a time: of those that fail, the first one counts.

/// Minimizes a set of things that are numbered from 0.
///
/// ```
/// use optsleuth_search::Minimizer;
/// let fails = |kept: &[usize]| kept.contains(&3) && kept.contains(&7);
/// let mut minimizer = Minimizer::new(10);
/// while !minimizer.is_done() {
///     let answers: Vec<bool> = minimizer.ask(2).iter().map(|kept| fails(kept)).collect();
///     minimizer.tell(&answers);
/// }
/// assert_eq!(minimizer.kept(), [3, 7]);
/// ```
#[derive(Clone, Debug)]
pub struct Minimizer {
    kept: Vec<usize>,
    /// How many are left out at a time.
    stretch: usize,
    /// Where the next stretch ends, in `kept`.
    end: usize,
    /// Whether anything was left out since the last round began.
    progressed: bool,
}

impl Minimizer {
    /// Of `count` things, all together failing.
    pub fn new(count: usize) -> Minimizer {
        Minimizer {
            kept: (0..count).collect(),
            stretch: count.div_ceil(2),
            end: count,
            progressed: false,
        }
    }

    /// What is left so far, ascending.
    pub fn kept(&self) -> &[usize] {
        &self.kept
    }

    /// Whether nothing more can be left out.
    pub fn is_done(&self) -> bool {
        self.stretch == 0
    }

    /// How many are left out at a time: what a person may want to see.
    pub fn stretch(&self) -> usize {
        self.stretch
    }

    /// The next sets to try, at most `width`; none if it is done. Each of them
    /// supposes that those before it do not fail.
    pub fn ask(&self, width: usize) -> Vec<Vec<usize>> {
        let mut candidates = Vec::new();
        let mut end = self.end;
        while candidates.len() < width && end > 0 && !self.is_done() {
            let start = end.saturating_sub(self.stretch);
            candidates.push([&self.kept[..start], &self.kept[end..]].concat());
            end = start;
        }
        candidates
    }

    /// Whether each of the sets last asked for fails. Those after the first that
    /// does are not looked at; they may be missing.
    pub fn tell(&mut self, fails: &[bool]) {
        let tried = fails.iter().position(|&fails| fails).map_or(fails.len(), |first| first + 1);
        for &fails in &fails[..tried] {
            let start = self.end.saturating_sub(self.stretch);
            if fails {
                self.kept.drain(start..self.end);
                self.progressed = true;
            }
            self.end = start;
        }
        if self.end == 0 {
            self.next_round();
        }
    }

    /// Shorter stretches; or the same once more, as long as single members go.
    fn next_round(&mut self) {
        let again = self.stretch == 1 && self.progressed;
        self.stretch = match again {
            true => 1.min(self.kept.len()),
            false if self.stretch == 1 => 0,
            false => (self.stretch / 2).min(self.kept.len().div_ceil(2)),
        };
        self.end = self.kept.len();
        self.progressed = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minimize(count: usize, width: usize, fails: impl Fn(&[usize]) -> bool) -> Vec<usize> {
        let mut minimizer = Minimizer::new(count);
        for _ in 0..100_000 {
            if minimizer.is_done() {
                return minimizer.kept().to_vec();
            }
            let answers: Vec<bool> = minimizer.ask(width).iter().map(|kept| fails(kept)).collect();
            minimizer.tell(&answers);
        }
        panic!("it does not end");
    }

    #[test]
    fn what_is_needed_stays() {
        assert_eq!(minimize(100, 1, |kept| kept.contains(&42)), [42]);
        assert_eq!(minimize(5, 1, |kept| kept.len() == 5), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn nothing_may_be_left() {
        assert_eq!(minimize(7, 3, |_| true), []);
        assert_eq!(minimize(0, 3, |_| true), []);
        assert_eq!(minimize(1, 1, |kept| !kept.is_empty()), [0]);
    }

    #[test]
    fn one_that_goes_only_after_a_later_one_is_found_in_another_round() {
        // 0 can go as soon as 5 is gone, and 5 as soon as 0 and 3 are not both there.
        let fails = |kept: &[usize]| kept.contains(&2) && (kept.contains(&0) || !kept.contains(&5));
        assert_eq!(minimize(6, 1, fails), [2]);
    }

    proptest::proptest! {
        #[test]
        fn the_result_is_minimal_and_the_same_for_any_width(
            needed: std::collections::BTreeSet<u8>, width in 1usize..9,
        ) {
            let fails = |kept: &[usize]| needed.iter().all(|&n| kept.contains(&usize::from(n)));
            let found = minimize(256, width, fails);
            assert_eq!(found, needed.iter().map(|&n| usize::from(n)).collect::<Vec<_>>());
        }

        #[test]
        fn parity_needs_care(width in 1usize..6, count in 0usize..40) {
            // Not monotone: an odd number of members has to stay.
            let fails = |kept: &[usize]| kept.len() % 2 == count % 2;
            let one = minimize(count, 1, fails);
            assert_eq!(minimize(count, width, fails), one);
            assert_eq!(one.len() % 2, count % 2);
        }
    }
}
