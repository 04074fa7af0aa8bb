//! How good a set of passing programs is: formulas (1), (2), (4) and (5) of RecBi.
//!
//! Coverage distances come in (formula (3), Jaccard's), and what a program adds to
//! the set goes out. RecBi accepts a program by it and rewards operators with it.
//! - (1) `sim`: the mean of 1 - distance to the failing program.
//! - (2) `div`: the mean distance over all pairs of the set.
//! - (4) `Q = n (α div + (1-α) sim)` for `n` programs.
//! - (5) `ΔQ`: what `Q` gains by one more program.
//!
//! Two sums are enough for all of them, so a program costs one distance to each of
//! the others, and none is ever asked for again. The paper does not define `sim` of
//! no program and `div` of fewer than two; both are 0 here. The first program
//! therefore gains what its similarity is worth.
//!
//! **Invariant:** programs are never seen here; a program is its distances.

/// The quality of a growing set of passing programs.
#[derive(Clone, Debug, PartialEq)]
pub struct Quality {
    alpha: f64,
    n_programs: usize,
    /// The sum of 1 - distance to the failing program.
    similarities: f64,
    /// The sum of the distances of all pairs.
    distances: f64,
}

impl Quality {
    /// `α` in the paper (section 4.2): how much diversity counts.
    pub const PAPER_ALPHA: f64 = 0.8;

    /// That of the empty set. `alpha` is the weight of diversity; the rest is that
    /// of similarity.
    ///
    /// # Panics
    /// If `alpha` is not between 0 and 1.
    pub fn new(alpha: f64) -> Quality {
        assert!((0.0..=1.0).contains(&alpha), "the weight {alpha} is not between 0 and 1");
        Quality { alpha, n_programs: 0, similarities: 0.0, distances: 0.0 }
    }

    /// Formula (1); 0 for the empty set.
    pub fn similarity(&self) -> f64 {
        if self.n_programs == 0 { 0.0 } else { self.similarities / self.n_programs as f64 }
    }

    /// Formula (2); 0 for fewer than two programs.
    pub fn diversity(&self) -> f64 {
        let n = self.n_programs as f64;
        if self.n_programs < 2 { 0.0 } else { self.distances / (n * (n - 1.0) / 2.0) }
    }

    /// Formula (4).
    pub fn value(&self) -> f64 {
        let mean = self.alpha * self.diversity() + (1.0 - self.alpha) * self.similarity();
        self.n_programs as f64 * mean
    }

    /// Formula (5): what one more program would add, given its distances to the
    /// failing one and to each program of the set. Negative if the set is better
    /// without it.
    ///
    /// # Panics
    /// If there are not as many distances as programs in the set.
    pub fn gain(&self, to_failing: f64, to_others: &[f64]) -> f64 {
        self.with(to_failing, to_others).value() - self.value()
    }

    /// Takes a program into the set.
    ///
    /// # Panics
    /// If there are not as many distances as programs in the set.
    pub fn add(&mut self, to_failing: f64, to_others: &[f64]) {
        *self = self.with(to_failing, to_others);
    }

    fn with(&self, to_failing: f64, to_others: &[f64]) -> Quality {
        assert_eq!(to_others.len(), self.n_programs, "one distance for each program of the set");
        Quality {
            alpha: self.alpha,
            n_programs: self.n_programs + 1,
            similarities: self.similarities + (1.0 - to_failing),
            distances: self.distances + to_others.iter().sum::<f64>(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Program `i` with its distances to the failing one and to those before it.
    type Program = (f64, Vec<f64>);

    /// Formulas (1) and (2) as they are printed.
    fn direct(programs: &[Program]) -> (f64, f64) {
        let n = programs.len() as f64;
        let similarities: f64 = programs.iter().map(|(to_failing, _)| 1.0 - to_failing).sum();
        let distances: f64 = programs.iter().flat_map(|(_, to_others)| to_others).sum();
        let sim = if programs.is_empty() { 0.0 } else { similarities / n };
        let div = if programs.len() < 2 { 0.0 } else { distances / (n * (n - 1.0) / 2.0) };
        (sim, div)
    }

    fn programs() -> impl Strategy<Value = Vec<Program>> {
        prop::collection::vec((0.0..=1.0, prop::collection::vec(0.0..=1.0, 12)), 0..12).prop_map(
            |mut programs: Vec<Program>| {
                for (index, (_, to_others)) in programs.iter_mut().enumerate() {
                    to_others.truncate(index);
                }
                programs
            },
        )
    }

    proptest! {
        #[test]
        fn adding_one_by_one_comes_to_the_printed_formulas(
            programs in programs(), alpha in 0.0..=1.0,
        ) {
            let mut quality = Quality::new(alpha);
            for (index, (to_failing, to_others)) in programs.iter().enumerate() {
                let (sim_before, div_before) = direct(&programs[..index]);
                let (sim, div) = direct(&programs[..=index]);
                let mean = |div: f64, sim: f64| alpha * div + (1.0 - alpha) * sim;
                // The second form of (5), with n the size of the new set.
                let delta = index as f64 * mean(div - div_before, sim - sim_before);
                let gain = quality.gain(*to_failing, to_others);
                prop_assert!((gain - (delta + mean(div, sim))).abs() < 1e-9);
                quality.add(*to_failing, to_others);
                prop_assert!((quality.similarity() - sim).abs() < 1e-9);
                prop_assert!((quality.diversity() - div).abs() < 1e-9);
                prop_assert!((quality.value() - (index + 1) as f64 * mean(div, sim)).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn no_program_is_worth_nothing_and_one_what_its_similarity_is() {
        let mut quality = Quality::new(0.8);
        assert_eq!((quality.similarity(), quality.diversity(), quality.value()), (0.0, 0.0, 0.0));
        assert!((quality.gain(0.25, &[]) - 0.2 * 0.75).abs() < 1e-12);
        quality.add(0.25, &[]);
        assert_eq!((quality.similarity(), quality.diversity()), (0.75, 0.0));
    }

    #[test]
    fn three_programs_come_to_what_was_computed_by_hand() {
        let mut quality = Quality::new(0.5);
        quality.add(0.2, &[]);
        quality.add(0.4, &[0.3]);
        // Q = 2 (0.5 * 0.3 + 0.5 * 0.7) = 1, then 3 (0.5 * 0.2 + 0.5 * 0.8) = 1.5.
        assert!((quality.value() - 1.0).abs() < 1e-12);
        assert!((quality.gain(0.0, &[0.1, 0.2]) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn a_copy_that_resembles_little_makes_the_set_worse() {
        let mut quality = Quality::new(Quality::PAPER_ALPHA);
        quality.add(0.1, &[]);
        quality.add(0.9, &[0.9]);
        assert!(quality.gain(0.9, &[0.0, 0.0]) < 0.0);
    }

    #[test]
    #[should_panic(expected = "one distance for each program")]
    fn a_missing_distance_is_noticed() {
        let mut quality = Quality::new(0.8);
        quality.add(0.1, &[]);
        quality.add(0.1, &[]);
    }
}
