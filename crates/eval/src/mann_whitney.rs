//! Two samples -> whether one tends to have larger values: the U test. For
//! what has no pairs, such as figures of two methods over seeds.
//!
//! H. B. Mann, D. R. Whitney, On a Test of Whether one of Two Random Variables
//! is Stochastically Larger than the Other, The Annals of Mathematical
//! Statistics 18(1), 1947.
//!
//! **Invariant:** which sample is the first one changes no p-value.

use serde::{Deserialize, Serialize};

use crate::midranks::Midranks;
use crate::significance::{NullDistribution, two_sided_exact, two_sided_normal};

/// Up to this product of the samples' sizes, the distribution is exact if no
/// two values tie: two samples of 50, or one value against 2,500.
const EXACT_PRODUCT: usize = 2500;

/// What the U test says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MannWhitney {
    /// In how many pairs of a value of the first sample and one of the second
    /// the first is larger; a tie is half a pair. SciPy's statistic.
    pub u1: f64,
    /// In how many the second is larger.
    pub u2: f64,
    /// The two-sided p-value.
    pub p: f64,
    /// What it was computed by.
    pub distribution: NullDistribution,
}

/// Tests whether two independent samples have the same distribution, against
/// that one tends to have larger values (two-sided).
///
/// Exact where no two values are the same and the product of the sizes is at
/// most 2,500, as of two samples of 50; otherwise a normal approximation with
/// corrections for ties and for continuity, which is rough for fewer than eight
/// values. Where all values are the same, p is 1.
///
/// `None` if a sample is empty or a value is not finite. Values that differ by
/// rounding alone do not tie.
pub fn mann_whitney(first: &[f64], second: &[f64]) -> Option<MannWhitney> {
    let (u, ranks) = doubled_u(first, second)?;
    let (n1, n2) = (first.len(), second.len());
    let (p, distribution) = if n1.saturating_mul(n2) <= EXACT_PRODUCT && !ranks.has_ties() {
        let (ways, total) = choices(n1.min(n2), n1.max(n2), u.0.min(u.1) / 2);
        (two_sided_exact(ways, total), NullDistribution::Exact)
    } else {
        (normal(n1, n2, u.0.abs_diff(u.1), ranks.tie_term), NullDistribution::Normal)
    };
    Some(MannWhitney { u1: u.0 as f64 / 2.0, u2: u.1 as f64 / 2.0, p, distribution })
}

/// Twice the U of each sample, and the ranks of all values. `None` if a sample
/// is empty or a value is not finite.
pub(crate) fn doubled_u(first: &[f64], second: &[f64]) -> Option<((u64, u64), Midranks)> {
    let values = [first, second].concat();
    if first.is_empty() || second.is_empty() || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let ranks = Midranks::of(&values);
    let (n1, n2) = (first.len() as u64, second.len() as u64);
    // The sum of a sample's ranks, less what it is when all others are larger.
    let u1 = ranks.doubled[..first.len()].iter().sum::<u64>() - n1 * (n1 + 1);
    Some(((u1, 2 * n1 * n2 - u1), ranks))
}

/// Every choice of `small` of the `small + large` ranks has the same chance.
/// How many have a U of at most `u`, and how many there are.
///
/// The choices with each U are the coefficients of the Gaussian binomial, the
/// product of `(1 - q^(large+i)) / (1 - q^i)` for `i` from 1 to `small`. Each
/// factor is applied in place, up to the power `u`.
fn choices(small: usize, large: usize, u: u64) -> (u128, u128) {
    let u = u as usize;
    let mut ways = vec![0i128; u + 1];
    ways[0] = 1;
    let mut total = 1;
    for i in 1..=small {
        for power in (large + i..=u).rev() {
            ways[power] -= ways[power - large - i];
        }
        for power in i..=u {
            ways[power] += ways[power - i];
        }
        total = total * (large + i) as u128 / i as u128;
    }
    (ways.iter().sum::<i128>().unsigned_abs(), total)
}

/// Both U have the mean `n1·n2/2` and the variance
/// `n1·n2/12 · (n+1 - T/(n(n-1)))`, where `n` is `n1+n2` and `T` the tie term.
/// `gap` is twice the distance between them, and four times that of one to the
/// mean. That is half a step smaller than it looks, because U has steps.
fn normal(n1: usize, n2: usize, gap: u64, tie_term: u128) -> f64 {
    let distance = (gap as f64 / 4.0 - 0.5).max(0.0);
    let n = (n1 + n2) as f64;
    let spread = n + 1.0 - tie_term as f64 / (n * (n - 1.0));
    let variance = n1 as f64 * n2 as f64 / 12.0 * spread;
    // No distance from the mean, whether or not there is a variance.
    if distance == 0.0 { 1.0 } else { two_sided_normal(distance / variance.sqrt()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use NullDistribution::{Exact, Normal};

    fn check(first: &[f64], second: &[f64], u1: f64, p: f64, by: NullDistribution) {
        for (first, second, is_swapped) in [(first, second, false), (second, first, true)] {
            let found = mann_whitney(first, second).unwrap();
            let (u, other) = if is_swapped { (found.u2, found.u1) } else { (found.u1, found.u2) };
            assert_eq!((u, u + other), (u1, (first.len() * second.len()) as f64));
            assert!((found.p - p).abs() < 1e-15, "{first:?} {second:?}: {}, not {p}", found.p);
            assert_eq!(found.distribution, by);
        }
    }

    #[test]
    fn small_samples_are_counted_out() {
        check(&[1.0], &[2.0], 0.0, 1.0, Exact); // 2 · 1/2
        check(&[1.0, 2.0], &[3.0, 4.0, 5.0], 0.0, 0.2, Exact); // 2 · 1/10
        check(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], 0.0, 0.1, Exact); // 2 · 1/20
        // Ranks 1 and 4 of 5: U = 5 - 3. Choices with at most 2: 1+2, 1+3, 1+4
        // and 2+3 of 10: 2 · 4/10.
        check(&[1.0, 4.0], &[2.0, 3.0, 5.0], 2.0, 0.8, Exact);
        // In the middle the tails overlap: 2 · 3/4.
        check(&[2.0], &[1.0, 3.0, 0.0], 2.0, 1.0, Exact);
    }

    #[test]
    fn ties_lead_to_the_normal_distribution() {
        // Ranks 1, 2 and 3.5 against 3.5, 5, 6, 7: U = 6.5 - 6 = 0.5, the mean
        // is 6. Variance: 12/12 · (8 - 6/42). Distance: 5.5, less 0.5.
        let z = 5.0 / (8.0f64 - 1.0 / 7.0).sqrt();
        check(&[1.0, 2.0, 3.0], &[3.0, 4.0, 5.0, 6.0], 0.5, two_sided_normal(z), Normal);
    }

    #[test]
    fn the_same_values_do_not_differ() {
        check(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0], 4.5, 1.0, Normal);
        check(&[7.0; 4], &[7.0; 5], 10.0, 1.0, Normal);
        check(&[7.0], &[7.0], 0.5, 1.0, Normal);
    }

    #[test]
    fn every_choice_is_counted_once() {
        // Of 7 among 16: 16!/(7! 9!). Each has a U from 0 to 7·9.
        assert_eq!(choices(7, 9, 63), (11_440, 11_440));
        assert_eq!(choices(1, 2500, 2500), (2501, 2501));
        let (ways, total) = choices(50, 50, 2500);
        assert_eq!((ways, total), (total, 100_891_344_545_564_193_334_812_497_256));
        // In the lower half of an odd number of steps is half of them.
        assert_eq!(choices(7, 9, 31), (5720, 11_440));
    }

    #[test]
    fn nothing_is_said_about_an_empty_sample_or_about_what_is_no_number() {
        assert_eq!(mann_whitney(&[], &[1.0]), None);
        assert_eq!(mann_whitney(&[1.0], &[]), None);
        for bad in [f64::NAN, f64::INFINITY] {
            assert_eq!(mann_whitney(&[1.0, bad], &[1.0]), None);
        }
    }
}
