//! Values -> the few numbers that describe them: mean, median, quartiles,
//! spread. Figures over cases and figures over seeds are made of these.
//!
//! **Invariant:** values are sorted before anything is added up, so their
//! order changes no bit. What describes nothing is `None`: there is no figure
//! of no values, nor of values of which one is infinite or not a number, nor
//! one that is too large for an `f64`.

use serde::{Deserialize, Serialize};

/// A few values in short.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// See [`mean`].
    pub mean: f64,
    /// See [`standard_deviation`]; `None` for a single value.
    pub sd: Option<f64>,
    pub min: f64,
    /// The lower quartile.
    pub q1: f64,
    /// See [`median`].
    pub median: f64,
    /// The upper quartile.
    pub q3: f64,
    pub max: f64,
}

/// Three values that cut the others into four parts of the same size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quartiles {
    /// A quarter is below.
    pub lower: f64,
    /// Half is below.
    pub median: f64,
    /// Three quarters are below.
    pub upper: f64,
}

impl Summary {
    pub fn of(values: &[f64]) -> Option<Summary> {
        let values = sorted(values)?;
        Some(Summary {
            mean: mean_of(&values)?,
            sd: deviation_of(&values),
            min: values[0],
            q1: quartile(&values, 1),
            median: quartile(&values, 2),
            q3: quartile(&values, 3),
            max: values[values.len() - 1],
        })
    }
}

/// The arithmetic mean. Never outside of the values, whatever is rounded.
pub fn mean(values: &[f64]) -> Option<f64> {
    mean_of(&sorted(values)?)
}

/// The value in the middle; of an even number, halfway between the two there.
pub fn median(values: &[f64]) -> Option<f64> {
    Some(quartile(&sorted(values)?, 2))
}

/// The quartiles. Between two values they are interpolated: type 7 of R. J.
/// Hyndman, Y. Fan, Sample Quantiles in Statistical Packages, The American
/// Statistician 50(4), 1996, which R and NumPy take by default.
pub fn quartiles(values: &[f64]) -> Option<Quartiles> {
    let values = sorted(values)?;
    Some(Quartiles {
        lower: quartile(&values, 1),
        median: quartile(&values, 2),
        upper: quartile(&values, 3),
    })
}

/// The standard deviation of a sample: `sqrt(Σ(x - mean)² / (n-1))`. `None`
/// for a single value, which says nothing about how far values are apart.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    deviation_of(&sorted(values)?)
}

fn sorted(values: &[f64]) -> Option<Vec<f64>> {
    if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    Some(values)
}

fn mean_of(sorted: &[f64]) -> Option<f64> {
    let sum: f64 = sorted.iter().sum();
    let mean = (sum / sorted.len() as f64).clamp(sorted[0], sorted[sorted.len() - 1]);
    sum.is_finite().then_some(mean)
}

fn deviation_of(sorted: &[f64]) -> Option<f64> {
    let mean = mean_of(sorted)?;
    let squares: f64 = sorted.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = (squares / (sorted.len() as f64 - 1.0)).sqrt();
    deviation.is_finite().then_some(deviation)
}

/// The value that so many quarters of the others are below. Infinite values
/// are allowed; they stand for "beyond all others".
pub(crate) fn quartile(sorted: &[f64], quarters: usize) -> f64 {
    let place = (sorted.len() - 1) * quarters;
    let (below, part) = (sorted[place / 4], (place % 4) as f64 / 4.0);
    if part == 0.0 {
        return below;
    }
    let above = sorted[place / 4 + 1];
    (below * (1.0 - part) + above * part).clamp(below, above)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean, the standard deviation and the three quartiles.
    fn check(values: &[f64], expected: [f64; 5]) {
        let Quartiles { lower, median: middle, upper } = quartiles(values).unwrap();
        let sd = standard_deviation(values).unwrap();
        let found = [mean(values).unwrap(), sd, lower, middle, upper];
        for (found, expected) in found.into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-15, "{values:?}: {found}, not {expected}");
        }
        assert_eq!(median(values), Some(middle));
    }

    #[test]
    fn figures_are_those_computed_by_hand() {
        // Squares: 16 + 9 + 0 + 1 + 4 + 1 + 0 + 1 = 32, by 7. Quartiles at the
        // places 1.75, 3.5 and 5.25, counted from 0: 4, (4+5)/2, 5 + (7-5)/4.
        check(
            &[9.0, 2.0, 5.0, 4.0, 7.0, 4.0, 5.0, 4.0],
            [5.0, (32.0f64 / 7.0).sqrt(), 4.0, 4.5, 5.5],
        );
        // Squares: 4 + 1 + 0 + 1 + 4 = 10, by 4. Quartiles at 1, 2 and 3.
        check(&[5.0, 4.0, 3.0, 2.0, 1.0], [3.0, 2.5f64.sqrt(), 2.0, 3.0, 4.0]);
        // Squares: 2.25 + 0.25 + 0.25 + 2.25 = 5, by 3. Quartiles at 0.75, 1.5, 2.25.
        check(&[1.0, 2.0, 3.0, 4.0], [2.5, (5.0f64 / 3.0).sqrt(), 1.75, 2.5, 3.25]);
        // Squares: 1 + 1, by 1. Quartiles at 0.25, 0.5 and 0.75.
        check(&[-1.0, 1.0], [0.0, 2.0f64.sqrt(), -0.5, 0.0, 0.5]);
    }

    #[test]
    fn nothing_describes_no_values() {
        assert_eq!((mean(&[]), median(&[]), standard_deviation(&[])), (None, None, None));
        assert_eq!((quartiles(&[]), Summary::of(&[])), (None, None));
    }

    #[test]
    fn one_value_has_no_deviation() {
        let expected =
            Summary { mean: 7.5, sd: None, min: 7.5, q1: 7.5, median: 7.5, q3: 7.5, max: 7.5 };
        assert_eq!(Summary::of(&[7.5]), Some(expected));
    }

    #[test]
    fn the_same_value_many_times_is_its_own_mean_and_does_not_deviate() {
        // Added up in floating point, three times 0.1 is more than 0.3.
        let values = [0.1; 3];
        assert_eq!((mean(&values), standard_deviation(&values)), (Some(0.1), Some(0.0)));
    }

    #[test]
    fn a_value_that_is_not_finite_leaves_no_figure() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(Summary::of(&[1.0, bad, 2.0]), None);
            assert_eq!(
                (mean(&[bad]), median(&[bad]), standard_deviation(&[bad, 1.0])),
                (None, None, None)
            );
        }
    }

    #[test]
    fn a_figure_too_large_for_a_number_is_none() {
        assert_eq!(mean(&[f64::MAX, f64::MAX]), None);
        assert_eq!(median(&[f64::MAX, f64::MAX]), Some(f64::MAX));
        assert_eq!(standard_deviation(&[-1e200, 1e200]), None);
    }

    #[test]
    fn infinity_can_be_the_middle_of_places() {
        let inf = f64::INFINITY;
        assert_eq!(quartile(&[1.0, 2.0, inf], 2), 2.0);
        assert_eq!(quartile(&[1.0, inf], 2), inf);
        assert_eq!(quartile(&[inf, inf], 2), inf);
    }
}
