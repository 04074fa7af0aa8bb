//! Two samples -> how much larger the values of one are. A p-value says
//! whether there is a difference, this says whether it matters.
//!
//! A. Vargha, H. D. Delaney, A Critique and Improvement of the CL Common
//! Language Effect Size Statistics of McGraw and Wong, Journal of Educational
//! and Behavioral Statistics 25(2), 2000.
//!
//! **Invariant:** only the order of values counts, never how far apart they
//! are.

use crate::mann_whitney::doubled_u;

/// Vargha and Delaney's A12: the probability that a value of the first sample
/// is larger than one of the second, where a tie counts half.
///
/// 0.5 is no difference, 0 and 1 are the largest. The paper calls 0.56, 0.64
/// and 0.71 small, medium and large, and 0.44, 0.36 and 0.29 on the other side.
/// With ranks of culprits, below 0.5 is better for the first method; with
/// Top-N counts, above.
///
/// `None` if a sample is empty or a value is not finite.
pub fn a12(first: &[f64], second: &[f64]) -> Option<f64> {
    let ((u1, u2), _) = doubled_u(first, second)?;
    Some(u1 as f64 / (u1 + u2) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(first: &[f64], second: &[f64], expected: f64) {
        assert_eq!(a12(first, second), Some(expected), "{first:?} {second:?}");
    }

    #[test]
    fn effects_are_those_computed_by_hand() {
        // Larger in 3>1, 3>2, 5>1, 5>2 and 5>4 of 9 pairs; 1=1 is half of one.
        check(&[1.0, 3.0, 5.0], &[1.0, 2.0, 4.0], 5.5 / 9.0);
        // 2>1 of 4 pairs, and 2=2 is half of one.
        check(&[0.0, 2.0], &[1.0, 2.0], 1.5 / 4.0);
        // 9>4 and 9>8 of 2 pairs.
        check(&[9.0], &[4.0, 8.0], 1.0);
    }

    #[test]
    fn samples_apart_have_the_largest_effect() {
        check(&[1.0, 2.0], &[3.0, 4.0, 5.0], 0.0);
        check(&[3.0, 4.0, 5.0], &[1.0, 2.0], 1.0);
    }

    #[test]
    fn the_same_sample_twice_has_none() {
        check(&[3.0, 1.0, 2.0], &[1.0, 2.0, 3.0], 0.5);
        check(&[4.0], &[4.0], 0.5);
    }

    #[test]
    fn how_far_apart_values_are_does_not_matter() {
        check(&[1.0, 3.0], &[2.0, 1e9], 0.25); // 3>2 of 4 pairs
        check(&[1.0, 3.0], &[2.0, 3.5], 0.25);
    }

    #[test]
    fn nothing_is_said_about_an_empty_sample_or_about_what_is_no_number() {
        assert_eq!(a12(&[], &[1.0]), None);
        assert_eq!(a12(&[1.0], &[]), None);
        assert_eq!(a12(&[f64::NAN], &[1.0]), None);
    }
}
