//! The scores of an entity's blocks -> the entity's score. The second step of
//! a ranking.
//!
//! Sums are taken in fixed point: exact, and the same in any order. So two
//! entities whose blocks have the same scores in the same proportion tie, as
//! they do on paper; with rounded sums one would come out ahead by chance.
//!
//! **Invariant:** no aggregation knows which blocks it is about.

use std::fmt;
use std::num::NonZero;
use std::str::FromStr;

use crate::RankError;

/// How the scores of blocks become the score of their function or file. Only
/// blocks that a failing run executes count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Aggregation {
    /// Their mean: formula (8) of the LocSeq paper.
    #[default]
    Mean,
    /// The highest.
    Max,
    /// The mean of this many of the highest; of all if there are fewer.
    TopK(NonZero<usize>),
    Sum,
}

/// 1 in fixed point. Leaves 2⁶⁷ above the point, far more than any sum of scores.
const ONE: f64 = (1u64 << 60) as f64;

impl Aggregation {
    /// The score of an entity whose blocks have these; 0 if it has none.
    pub fn combine(self, scores: &[f64]) -> f64 {
        match self {
            Aggregation::Mean => mean(scores),
            Aggregation::Max => scores.iter().copied().reduce(f64::max).unwrap_or(0.0),
            Aggregation::TopK(count) if count.get() < scores.len() => {
                let mut scores = scores.to_vec();
                scores.select_nth_unstable_by(count.get() - 1, |a, b| b.total_cmp(a));
                mean(&scores[..count.get()])
            }
            Aggregation::TopK(_) => mean(scores),
            Aggregation::Sum => sum(scores) as f64 / ONE,
        }
    }
}

/// Dividing before going back to floating point makes the result depend on the
/// quotient alone: twice the sum of twice as many has the same mean, bit by bit.
fn mean(scores: &[f64]) -> f64 {
    let count = scores.len().max(1) as i128;
    (sum(scores) / count) as f64 / ONE
}

fn sum(scores: &[f64]) -> i128 {
    scores.iter().map(|&score| fixed(score)).fold(0, i128::saturating_add)
}

/// A score in fixed point. The short way is the fast one, and nearly all go it.
fn fixed(score: f64) -> i128 {
    let scaled = score * ONE;
    if score.abs() < 8.0 { i128::from(scaled as i64) } else { scaled as i128 }
}

impl fmt::Display for Aggregation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Aggregation::Mean => f.write_str("mean"),
            Aggregation::Max => f.write_str("max"),
            Aggregation::TopK(count) => write!(f, "top-{count}"),
            Aggregation::Sum => f.write_str("sum"),
        }
    }
}

impl FromStr for Aggregation {
    type Err = RankError;

    fn from_str(text: &str) -> Result<Aggregation, RankError> {
        match (text, text.strip_prefix("top-")) {
            ("mean", _) => Ok(Aggregation::Mean),
            ("max", _) => Ok(Aggregation::Max),
            ("sum", _) => Ok(Aggregation::Sum),
            (_, Some(count)) => match count.parse() {
                Ok(number) if !count.starts_with('+') => Ok(Aggregation::TopK(number)),
                _ => Err(RankError::Count(count.to_owned())),
            },
            (_, None) => Err(RankError::UnknownAggregation(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(aggregation: &str, scores: &[f64], expected: f64) {
        let aggregation: Aggregation = aggregation.parse().unwrap();
        let score = aggregation.combine(scores);
        assert!((score - expected).abs() < 1e-15, "{aggregation}: {score}, not {expected}");
    }

    #[test]
    fn entities_score_as_computed_by_hand() {
        let scores = [0.25, 1.0, 0.5, 0.125];
        check("mean", &scores, 0.46875); // 1.875 / 4
        check("max", &scores, 1.0);
        check("sum", &scores, 1.875);
        check("top-1", &scores, 1.0);
        check("top-2", &scores, 0.75); // (1 + 0.5) / 2
        check("top-3", &scores, 1.75 / 3.0); // (1 + 0.5 + 0.25) / 3
    }

    #[test]
    fn top_of_more_than_there_are_is_the_mean() {
        check("top-2", &[0.25, 0.75], 0.5);
        check("top-1000", &[0.25, 0.75], 0.5);
    }

    #[test]
    fn an_entity_without_blocks_scores_nothing() {
        for aggregation in ["mean", "max", "top-3", "sum"] {
            check(aggregation, &[], 0.0);
        }
    }

    #[test]
    fn negative_scores_count_too() {
        check("max", &[-0.5, -0.25], -0.25);
        check("mean", &[-0.5, -0.25], -0.375);
        check("top-1", &[-0.5, -0.25], -0.25);
    }

    #[test]
    fn equal_proportions_tie_exactly() {
        // Added up in floating point, ten times 0.1 is not ten tenths.
        let (a, b) = (1.0 / 3f64.sqrt(), 1.0 / 7f64.sqrt());
        let mean = |scores: &[f64]| Aggregation::Mean.combine(scores);
        assert_eq!(mean(&[a; 7]), a);
        assert_eq!(mean(&[a, b, b]), mean(&[b, a, b, a, b, b, b, b, a]));
        let top: Aggregation = "top-4".parse().unwrap();
        assert_eq!(top.combine(&[a, b, a, b, b]), mean(&[b, a]));
    }

    #[test]
    fn names_lead_back_to_aggregations() {
        for text in ["mean", "max", "sum", "top-1", "top-5", "top-12345"] {
            assert_eq!(text.parse::<Aggregation>().unwrap().to_string(), text);
        }
        assert_eq!(Aggregation::default().to_string(), "mean");
    }

    #[test]
    fn a_wrong_name_is_explained() {
        let error = |text: &str| text.parse::<Aggregation>().unwrap_err().to_string();
        assert_eq!(
            error("median"),
            "unknown aggregation `median`; the aggregations are mean, max, sum, and top-N as in top-5"
        );
        for text in ["top-0", "top-", "top-x", "top-+5", "top--1"] {
            let expected =
                format!("`{text}` needs a whole number of at least 1 after `top-`, as in top-5");
            assert_eq!(error(text), expected);
        }
    }
}
