//! A range of values -> where they stand on an axis, and its ticks. Pure.
//!
//! **Invariant:** ticks lie on the axis, in the order of their values, and no
//! two of them have the same label.

use crate::words;

/// How many steps a linear axis has, more or less.
const STEPS: f64 = 5.0;
/// The most ticks of a logarithmic axis.
const MAX_RANK_TICKS: usize = 8;
/// The most powers of ten beside each other.
const MAX_POWERS: usize = 6;
/// What a division may lose.
const SLACK: f64 = 1e-9;

/// An axis from 0 (left, below) to 1 (right, above).
#[derive(Debug)]
pub struct Axis {
    /// Values with their labels.
    pub(crate) ticks: Vec<(f64, String)>,
    scale: Scale,
}

#[derive(Debug)]
enum Scale {
    Linear {
        low: f64,
        high: f64,
    },
    /// Logarithmic; the smallest, which is the best, stands above.
    Smaller {
        best: f64,
        last: f64,
    },
    /// Logarithmic, and so without 0.
    Magnitudes {
        high: f64,
    },
}

/// Where an axis of magnitudes begins: what was counted once has a length.
const BELOW_ONE: f64 = 0.5;

impl Axis {
    /// Counts from 0 to `last`.
    pub(crate) fn counts(last: usize) -> Axis {
        let high = last.max(1) as f64;
        let step = nice(high / STEPS).max(1.0);
        let ticks = (0..=(high / step + SLACK).floor() as usize)
            .map(|i| (i as f64 * step, words::count(i * step as usize)))
            .collect();
        Axis { ticks, scale: Scale::Linear { low: 0.0, high } }
    }

    /// Shares of a whole, in percent.
    pub fn shares() -> Axis {
        let ticks = (0..=5).map(|i| (f64::from(i) * 20.0, format!("{} %", i * 20))).collect();
        Axis { ticks, scale: Scale::Linear { low: 0.0, high: 100.0 } }
    }

    /// A linear axis from 0 to `last`, which may be less than 1.
    pub fn up_to(last: f64) -> Axis {
        let high = if last.is_finite() && last > 0.0 { last } else { 1.0 };
        let step = nice(high / STEPS);
        let decimals = decimals(step);
        let ticks = (0..=(high / step + SLACK).floor() as usize)
            .map(|i| (i as f64 * step, format!("{:.decimals$}", i as f64 * step)))
            .collect();
        Axis { ticks, scale: Scale::Linear { low: 0.0, high } }
    }

    /// A linear axis around these values; it begins and ends with a tick.
    pub(crate) fn around(values: impl IntoIterator<Item = f64>) -> Axis {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.into_iter().filter(|value| value.is_finite()) {
            (low, high) = (low.min(value), high.max(value));
        }
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        if high - low < 0.001 {
            (low, high) = (low - 0.05, high + 0.05);
        }
        let step = nice((high - low) / STEPS);
        let first = (low / step + SLACK).floor() as i64;
        let last = (high / step - SLACK).ceil() as i64;
        let decimals = decimals(step);
        let at = |i: i64| i as f64 * step;
        let ticks = (first..=last).map(|i| (at(i), format!("{:.decimals$}", at(i)))).collect();
        Axis { ticks, scale: Scale::Linear { low: at(first), high: at(last) } }
    }

    /// Ranks from 1, which stands above, to at least `last`; logarithmic.
    pub(crate) fn ranks(last: usize) -> Axis {
        let mut ticks = Vec::new();
        let mut power = 1;
        'all: loop {
            for factor in [1, 2, 5] {
                ticks.push(power * factor);
                if power * factor >= last.max(10) {
                    break 'all;
                }
            }
            power *= 10;
        }
        let end = ticks.last().copied().unwrap_or(10);
        if ticks.len() > MAX_RANK_TICKS {
            ticks.retain(|tick| tick.to_string().starts_with('1'));
        }
        let ticks = ticks.into_iter().map(|tick| (tick as f64, words::count(tick))).collect();
        Axis { ticks, scale: Scale::Smaller { best: 1.0, last: end as f64 } }
    }

    /// Times around these, the shortest above; logarithmic. It begins and ends
    /// with 1, 2 or 5 times a power of ten.
    pub fn times(values: impl IntoIterator<Item = f64>) -> Axis {
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        for value in values.into_iter().filter(|value| value.is_finite() && *value > 0.0) {
            (low, high) = (low.min(value), high.max(value));
        }
        if low > high {
            (low, high) = (1.0, 10.0);
        }
        let powers = low.log10().floor() as i32..=high.log10().ceil() as i32;
        let steps: Vec<(f64, i32)> = powers
            .flat_map(|power| [1.0, 2.0, 5.0].map(|factor| (factor * 10_f64.powi(power), power)))
            .collect();
        let first = steps.iter().rposition(|(value, _)| *value <= low).unwrap_or(0);
        let last = steps.iter().position(|(value, _)| *value >= high).unwrap_or(steps.len() - 1);
        let steps = &steps[first..=last.max(first + 1)];
        let ticks = steps.iter().map(|(value, power)| {
            let decimals = (-power).max(0) as usize;
            (*value, format!("{value:.decimals$}"))
        });
        let (best, last) = (steps[0].0, steps[steps.len() - 1].0);
        Axis { ticks: ticks.collect(), scale: Scale::Smaller { best, last } }
    }

    /// Counts from 1 to `last` of which some are a thousand times others;
    /// logarithmic. 0 stands where the axis begins.
    pub(crate) fn magnitudes(last: u64) -> Axis {
        let high = last.max(10);
        let powers: Vec<u64> = std::iter::successors(Some(1_u64), |power| power.checked_mul(10))
            .take_while(|power| *power <= high)
            .collect();
        let every = powers.len().div_ceil(MAX_POWERS);
        let ticks = powers.iter().step_by(every).map(|power| (*power as f64, short(*power)));
        Axis { ticks: ticks.collect(), scale: Scale::Magnitudes { high: high as f64 } }
    }

    /// Where a value stands.
    pub(crate) fn at(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear { low, high } => (value - low) / (high - low),
            Scale::Smaller { best, last } => {
                1.0 - (value.max(best) / best).ln() / (last / best).ln()
            }
            Scale::Magnitudes { high } => {
                (value.max(BELOW_ONE) / BELOW_ONE).ln() / (high / BELOW_ONE).ln()
            }
        }
    }
}

/// A power of ten in a few characters.
fn short(power: u64) -> String {
    const UNITS: [&str; 7] = ["", " k", " M", " G", " T", " P", " E"];
    let thousands = power.ilog10() as usize / 3;
    format!("{}{}", power / 1000_u64.pow(thousands as u32), UNITS[thousands])
}

/// How many decimals tell multiples of a nice step apart.
fn decimals(step: f64) -> usize {
    (-(step.log10() + SLACK).floor()).max(0.0) as usize
}

/// The next 1, 2 or 5 times a power of ten that is not smaller.
fn nice(step: f64) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= step - SLACK * power);
    factor.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(axis: &Axis, expected: &str) {
        let labels: Vec<&str> = axis.ticks.iter().map(|(_, label)| label.as_str()).collect();
        assert_eq!(labels.join(" "), expected);
        for (value, label) in &axis.ticks {
            let at = axis.at(*value);
            assert!((-1e-6..=1.0 + 1e-6).contains(&at), "{label} at {at}");
        }
    }

    #[test]
    fn counts_have_round_ticks_up_to_the_last() {
        check(&Axis::counts(0), "0 1");
        check(&Axis::counts(3), "0 1 2 3");
        check(&Axis::counts(100), "0 20 40 60 80 100");
        check(&Axis::counts(4100), "0 1,000 2,000 3,000 4,000");
        assert_eq!(Axis::counts(4100).at(4100.0), 1.0);
    }

    #[test]
    fn similarities_have_round_ticks_around_them() {
        check(&Axis::around([0.61, 0.97]), "0.6 0.7 0.8 0.9 1.0");
        check(&Axis::around([0.951, 0.972]), "0.950 0.955 0.960 0.965 0.970 0.975");
        check(&Axis::around([0.0, 1.0]), "0.0 0.2 0.4 0.6 0.8 1.0");
        check(&Axis::around([0.3, 0.6]), "0.3 0.4 0.5 0.6");
    }

    #[test]
    fn one_value_or_none_has_an_axis_too() {
        check(&Axis::around([0.5]), "0.44 0.46 0.48 0.50 0.52 0.54 0.56");
        check(&Axis::around([]), "0.0 0.2 0.4 0.6 0.8 1.0");
        check(&Axis::around([f64::NAN, f64::INFINITY]), "0.0 0.2 0.4 0.6 0.8 1.0");
    }

    #[test]
    fn times_and_shares_have_round_ticks() {
        check(&Axis::up_to(60.0), "0 20 40 60");
        check(&Axis::up_to(0.07), "0.00 0.02 0.04 0.06");
        check(&Axis::up_to(f64::NAN), "0.0 0.2 0.4 0.6 0.8 1.0");
        check(&Axis::shares(), "0 % 20 % 40 % 60 % 80 % 100 %");
    }

    #[test]
    fn magnitudes_have_powers_of_ten_and_once_is_more_than_never() {
        check(&Axis::magnitudes(0), "1 10");
        check(&Axis::magnitudes(812_332), "1 10 100 1 k 10 k 100 k");
        check(&Axis::magnitudes(4_000_000), "1 100 10 k 1 M");
        check(&Axis::magnitudes(u64::MAX), "1 10 k 100 M 1 T 10 P");
        let axis = Axis::magnitudes(1000);
        assert_eq!((axis.at(0.0), axis.at(1000.0)), (0.0, 1.0));
        assert!(axis.at(1.0) > 0.05);
    }

    #[test]
    fn times_have_round_ticks_around_them_and_the_shortest_stands_above() {
        check(&Axis::times([3.7, 260.0]), "2 5 10 20 50 100 200 500");
        check(&Axis::times([0.031, 0.9]), "0.02 0.05 0.1 0.2 0.5 1");
        check(&Axis::times([5.0]), "5 10");
        check(&Axis::times([f64::NAN, 0.0]), "1 2 5 10");
        let axis = Axis::times([1.0, 100.0]);
        assert_eq!((axis.at(1.0), axis.at(100.0)), (1.0, 0.0));
    }

    #[test]
    fn rank_one_stands_above() {
        check(&Axis::ranks(1), "1 2 5 10");
        check(&Axis::ranks(37), "1 2 5 10 20 50");
        check(&Axis::ranks(15_000), "1 10 100 1,000 10,000");
        let axis = Axis::ranks(100);
        assert_eq!((axis.at(1.0), axis.at(100.0)), (1.0, 0.0));
        assert!((axis.at(10.0) - 0.5).abs() < 1e-9);
    }
}
