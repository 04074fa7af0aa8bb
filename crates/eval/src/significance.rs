//! What the tests of significance share: by which distribution a p-value was
//! computed, and the tail of the normal one.
//!
//! The tests are written by hand, because no library was found that is right,
//! light and complete. statrs 0.19 lacks the signed-rank test; its exact U test
//! gives p = 1 for `[1, 2, 3]` and `[4, 5, 6]`, where 0.1 is right. hypors 0.4
//! lacks it, too, and every exact distribution. stats-claw 0.2 needs Rust 1.93;
//! anofox-statistics and inferust are large and build on statrs. The error
//! function is libm's.
//!
//! **Invariant:** a p-value is two-sided and in 0..=1. Nothing here decides
//! what is significant.

use serde::{Deserialize, Serialize};

/// How a statistic is distributed if there is no difference, as far as a
/// p-value was computed by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NullDistribution {
    /// All ways to assign the ranks were counted.
    Exact,
    /// A normal distribution with the same mean and variance.
    Normal,
}

/// The probability that a standard normal value is at least this far from 0.
pub(crate) fn two_sided_normal(z: f64) -> f64 {
    libm::erfc(z.abs() * std::f64::consts::FRAC_1_SQRT_2)
}

/// The probability of a tail of `ways` among `total`, on both sides. The tails
/// overlap in the middle, so the sum may be more than 1.
pub(crate) fn two_sided_exact(ways: u128, total: u128) -> f64 {
    (2.0 * (ways as f64 / total as f64)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_tails_are_those_of_scipy() {
        // SciPy 1.17.1: 2 * scipy.stats.norm.sf(z)
        for (z, expected) in [
            (0.0, 1.0),
            (0.1, 0.920344325445942),
            (1.0, 0.31731050786291415),
            (2.5, 0.012419330651552265),
            (5.0, 5.733031437583866e-07),
            (10.0, 1.523970604832094e-23),
            (37.0, 1.1451142445047853e-299),
        ] {
            for z in [z, -z] {
                let p = two_sided_normal(z);
                assert!((p - expected).abs() <= 1e-12 * expected, "{z}: {p}, not {expected}");
            }
        }
    }

    #[test]
    fn the_tail_beyond_infinity_is_empty() {
        assert_eq!(two_sided_normal(f64::INFINITY), 0.0);
    }

    #[test]
    fn overlapping_tails_are_everything() {
        assert_eq!(two_sided_exact(1, 4), 0.5);
        assert_eq!(two_sided_exact(3, 4), 1.0);
        assert_eq!(two_sided_exact(0, 4), 0.0);
    }

    #[test]
    fn distributions_have_names_in_json() {
        let names = [NullDistribution::Exact, NullDistribution::Normal];
        assert_eq!(serde_json::to_string(&names).unwrap(), r#"["exact","normal"]"#);
    }
}
