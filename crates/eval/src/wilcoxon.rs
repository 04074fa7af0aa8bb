//! Pairs -> whether the first ones tend to be smaller or larger: the
//! signed-rank test. For two methods on the same cases.
//!
//! F. Wilcoxon, Individual Comparisons by Ranking Methods, Biometrics Bulletin
//! 1(6), 1945.
//!
//! **Invariant:** a pair without difference says nothing and is left out, as
//! in that paper. No continuity correction; SciPy has none here by default.

use serde::{Deserialize, Serialize};

use crate::midranks::Midranks;
use crate::significance::{NullDistribution, two_sided_exact, two_sided_normal};

/// Up to this many pairs with a difference, the distribution is exact if no
/// two differences tie.
const EXACT_PAIRS: usize = 25;

/// What the signed-rank test says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wilcoxon {
    /// How many pairs have a difference.
    pub n: usize,
    /// The sum of the ranks of the pairs whose first value is the larger one.
    pub w_plus: f64,
    /// The sum of the ranks of those whose second value is.
    pub w_minus: f64,
    /// The two-sided p-value.
    pub p: f64,
    /// What it was computed by.
    pub distribution: NullDistribution,
}

impl Wilcoxon {
    /// The smaller sum, which tables and SciPy call the statistic.
    pub fn statistic(&self) -> f64 {
        self.w_plus.min(self.w_minus)
    }
}

/// Tests whether the differences within pairs are symmetric around 0, against
/// that they are not (two-sided).
///
/// Exact for at most 25 differences of which no two have the same size;
/// otherwise a normal approximation with a correction for ties, which is rough
/// for fewer than ten. Where all pairs are equal, p is 1.
///
/// `None` if there is no pair, or if a value or a difference is not finite.
/// Sizes that differ by rounding alone do not tie.
pub fn wilcoxon(pairs: &[(f64, f64)]) -> Option<Wilcoxon> {
    let differences: Vec<f64> = pairs.iter().map(|(first, second)| first - second).collect();
    if pairs.is_empty() || differences.iter().any(|difference| !difference.is_finite()) {
        return None;
    }
    let differences: Vec<f64> = differences.into_iter().filter(|d| *d != 0.0).collect();
    let sizes: Vec<f64> = differences.iter().map(|difference| difference.abs()).collect();
    let ranks = Midranks::of(&sizes);
    let doubled_sum = |is_in: fn(&f64) -> bool| -> u64 {
        let all = differences.iter().zip(&ranks.doubled);
        all.filter(|(difference, _)| is_in(difference)).map(|(_, rank)| rank).sum()
    };
    let (plus, minus) = (doubled_sum(|d| *d > 0.0), doubled_sum(|d| *d < 0.0));
    let n = differences.len();
    let (p, distribution) = if n <= EXACT_PAIRS && !ranks.has_ties() {
        (exact(n, plus.min(minus) / 2), NullDistribution::Exact)
    } else {
        (normal(n, plus.abs_diff(minus), ranks.tie_term), NullDistribution::Normal)
    };
    let (w_plus, w_minus) = (plus as f64 / 2.0, minus as f64 / 2.0);
    Some(Wilcoxon { n, w_plus, w_minus, p, distribution })
}

/// Each of the ranks 1 to `n` has either sign with the same chance. The tail
/// is the ways to choose some of them with a sum of at most `statistic`.
fn exact(n: usize, statistic: u64) -> f64 {
    let statistic = statistic as usize;
    // How many ways there are to each sum, with the ranks so far.
    let mut ways = vec![0u128; statistic + 1];
    ways[0] = 1;
    for rank in 1..=n {
        for sum in (rank..=statistic).rev() {
            ways[sum] += ways[sum - rank];
        }
    }
    two_sided_exact(ways.iter().sum(), 1 << n)
}

/// Both sums have the mean `n(n+1)/4` and the variance
/// `(n(n+1)(2n+1) - T/2) / 24`, where `T` is the tie term. `gap` is twice the
/// distance between the sums, and four times that of one to the mean.
fn normal(n: usize, gap: u64, tie_term: u128) -> f64 {
    let n = n as u128;
    let variance = (2 * n * (n + 1) * (2 * n + 1) - tie_term) as f64 / 48.0;
    two_sided_normal(gap as f64 / 4.0 / variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use NullDistribution::{Exact, Normal};

    /// Differences -> the number of those that count, both sums and p.
    fn check(differences: &[f64], n: usize, sums: (f64, f64), p: f64, by: NullDistribution) {
        let pairs: Vec<(f64, f64)> = differences.iter().map(|d| (10.0 + d, 10.0)).collect();
        let found = wilcoxon(&pairs).unwrap();
        assert_eq!((found.n, found.w_plus, found.w_minus), (n, sums.0, sums.1));
        assert!((found.p - p).abs() < 1e-15, "{differences:?}: {}, not {p}", found.p);
        assert_eq!(found.distribution, by);
    }

    #[test]
    fn small_samples_are_counted_out() {
        check(&[2.0], 1, (1.0, 0.0), 1.0, Exact); // 2 · 1/2
        check(&[1.0, 2.0, 3.0], 3, (6.0, 0.0), 0.25, Exact); // 2 · 1/8
        // Ranks 1, 3, 4 and 2. Sums of at most 2: none, 1 and 2: 2 · 3/16.
        check(&[1.0, 3.0, 4.0, -2.0], 4, (8.0, 2.0), 0.375, Exact);
        // Of at most 3: none, 1, 2, 3 and 1+2: 2 · 5/8, which is more than all.
        check(&[1.0, 2.0, -3.0], 3, (3.0, 3.0), 1.0, Exact);
    }

    #[test]
    fn pairs_without_difference_are_left_out() {
        check(&[0.0, 1.0, 2.0, 0.0, 3.0], 3, (6.0, 0.0), 0.25, Exact);
        check(&[0.0, 0.0], 0, (0.0, 0.0), 1.0, Exact);
    }

    #[test]
    fn ties_lead_to_the_normal_distribution() {
        // Ranks 1.5, 1.5, 3, 4; the mean is 5, the variance (4·5·9 - 6/2)/24 =
        // 177/24, and 8.5 is 3.5 away.
        let z = 3.5 / (177.0f64 / 24.0).sqrt();
        check(&[1.0, -1.0, 2.0, 4.0], 4, (8.5, 1.5), two_sided_normal(z), Normal);
        check(&[1.0, -1.0], 2, (1.5, 1.5), 1.0, Normal);
    }

    #[test]
    fn the_statistic_is_the_smaller_sum() {
        let found = wilcoxon(&[(1.0, 2.0), (5.0, 2.0), (9.0, 4.0)]).unwrap();
        assert_eq!((found.w_plus, found.w_minus, found.statistic()), (5.0, 1.0, 1.0));
    }

    #[test]
    fn nothing_is_said_about_no_pair_or_about_what_is_no_number() {
        assert_eq!(wilcoxon(&[]), None);
        for bad in [f64::NAN, f64::INFINITY] {
            assert_eq!(wilcoxon(&[(1.0, 2.0), (bad, 1.0)]), None);
            assert_eq!(wilcoxon(&[(bad, bad)]), None);
        }
        assert_eq!(wilcoxon(&[(f64::MAX, f64::MIN)]), None);
    }
}
