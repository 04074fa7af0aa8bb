//! Standings with several seeds -> the headline, and how much chance is in it.
//!
//! The headline takes the median over seeds in each case, then the figures
//! over cases. The papers say "the median of the results within five
//! iterations", which may also mean the median of each figure over seeds; that
//! one is in the summaries.
//!
//! **Invariant:** every seed saw every case. A search without a
//! result is an unreached [`Standing`], never a gap.

use serde::{Deserialize, Serialize};

use crate::EvalError;
use crate::metrics::Figures;
use crate::standing::{CaseRanks, Standing};
use crate::summary::Summary;

/// How good a method is on a set of cases, over several seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    pub cases: usize,
    /// With how many seeds each was run.
    pub seeds: usize,
    /// The figures over the cases' medians.
    pub headline: Figures,
    /// Each figure over the seeds.
    pub over_seeds: FigureSummaries,
}

/// What [`Figures`] has, one value for each seed, in short.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FigureSummaries {
    /// Of [`Figures::top1`].
    pub top1: Summary,
    /// Of [`Figures::top5`].
    pub top5: Summary,
    /// Of [`Figures::top10`].
    pub top10: Summary,
    /// Of [`Figures::top20`].
    pub top20: Summary,
    /// Of [`Figures::mfr`].
    pub mfr: Summary,
    /// Of [`Figures::mar`].
    pub mar: Summary,
}

/// Evaluates one method: for each case its standings, one per seed, the seeds
/// in the same order everywhere.
pub fn evaluate<Seeds: AsRef<[Standing]>>(cases: &[Seeds]) -> Result<Evaluation, EvalError> {
    let seeds = cases.first().ok_or(EvalError::NoCase)?.as_ref().len();
    for (case, standings) in cases.iter().enumerate() {
        let found = standings.as_ref().len();
        if found != seeds {
            return Err(EvalError::Uneven { case, found, expected: seeds });
        }
    }
    let medians: Option<Vec<CaseRanks>> =
        cases.iter().map(|standings| CaseRanks::median(standings.as_ref())).collect();
    let with_seed = |seed: usize| {
        let ranks = cases.iter().map(|standings| CaseRanks::of(&standings.as_ref()[seed]));
        Figures::of(&ranks.collect::<Vec<_>>())
    };
    let evaluation = || {
        Some(Evaluation {
            cases: cases.len(),
            seeds,
            headline: Figures::of(&medians?)?,
            over_seeds: FigureSummaries::of(
                &(0..seeds).map(with_seed).collect::<Option<Vec<_>>>()?,
            )?,
        })
    };
    evaluation().ok_or(EvalError::NoSeed)
}

impl FigureSummaries {
    /// Of the figures with each seed; `None` if there are none.
    pub fn of(seeds: &[Figures]) -> Option<FigureSummaries> {
        let summary = |figure: fn(&Figures) -> f64| {
            Summary::of(&seeds.iter().map(figure).collect::<Vec<_>>())
        };
        Some(FigureSummaries {
            top1: summary(|figures| figures.top1 as f64)?,
            top5: summary(|figures| figures.top5 as f64)?,
            top10: summary(|figures| figures.top10 as f64)?,
            top20: summary(|figures| figures.top20 as f64)?,
            mfr: summary(|figures| figures.mfr)?,
            mar: summary(|figures| figures.mar)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use super::*;

    /// For each case, for each seed, the ranks of its culprits among 100 suspects.
    fn standings(cases: &[&[&[Option<usize>]]]) -> Vec<Vec<Standing>> {
        let standing = |ranks: &&[Option<usize>]| {
            Standing::new(ranks.iter().copied(), NonZero::new(100).unwrap()).unwrap()
        };
        cases.iter().map(|seeds| seeds.iter().map(standing).collect()).collect()
    }

    /// Three cases with three seeds.
    fn example() -> Vec<Vec<Standing>> {
        standings(&[
            &[&[Some(1)], &[Some(1)], &[Some(4)]],
            &[&[Some(6)], &[Some(2)], &[Some(12)]],
            &[&[Some(3), Some(7)], &[Some(30), None], &[None, None]],
        ])
    }

    #[test]
    fn the_headline_is_made_of_the_medians_of_cases() {
        let evaluation = evaluate(&example()).unwrap();
        let expected = Figures {
            top1: 1, // The medians of the first ranks are 1, 6 and 30.
            top5: 1,
            top10: 2,
            top20: 2,
            mfr: 37.0 / 3.0, // (1 + 6 + 30) / 3
            mar: 24.0,       // (1 + 6 + 65) / 3; averages of the last: 5, 65, 100
        };
        assert_eq!((evaluation.cases, evaluation.seeds), (3, 3));
        assert_eq!(evaluation.headline, expected);
    }

    #[test]
    fn every_figure_is_summarized_over_seeds() {
        let found = evaluate(&example()).unwrap().over_seeds;
        let check = |summary: Summary, [mean, median, min, max]: [f64; 4], squares: f64| {
            assert!((summary.mean - mean).abs() < 1e-12, "{summary:?}");
            assert_eq!((summary.median, summary.min, summary.max), (median, min, max));
            // Three seeds: the sum of squares is divided by 2.
            assert!((summary.sd.unwrap() - (squares / 2.0).sqrt()).abs() < 1e-12, "{summary:?}");
        };
        // First ranks with each seed: 1, 6, 3; 1, 2, 30; 4, 12, 100.
        check(found.top1, [2.0 / 3.0, 1.0, 0.0, 1.0], 6.0 / 9.0); // 1, 1, 0
        check(found.top5, [5.0 / 3.0, 2.0, 1.0, 2.0], 6.0 / 9.0); // 2, 2, 1
        check(found.top10, [2.0, 2.0, 1.0, 3.0], 2.0); // 3, 2, 1
        check(found.top20, [7.0 / 3.0, 2.0, 2.0, 3.0], 6.0 / 9.0); // 3, 2, 2
        // 10/3, 11 and 116/3, with the mean 159/9 = 53/3. Squares: (-43/3)² +
        // (-20/3)² + 21².
        check(
            found.mfr,
            [53.0 / 3.0, 11.0, 10.0 / 3.0, 116.0 / 3.0],
            (1849.0 + 400.0) / 9.0 + 441.0,
        );
        // Averages: 1, 6, 5; 1, 2, 65; 4, 12, 100. So 4, 68/3 and 116/3, with
        // the mean 196/9. Squares: (-160/9)² + (8/9)² + (152/9)².
        check(
            found.mar,
            [196.0 / 9.0, 68.0 / 3.0, 4.0, 116.0 / 3.0],
            (25600.0 + 64.0 + 23104.0) / 81.0,
        );
    }

    #[test]
    fn with_one_seed_the_headline_is_its_figures_and_nothing_deviates() {
        let evaluation = evaluate(&standings(&[&[&[Some(3)]], &[&[Some(8), None]]])).unwrap();
        let Evaluation { headline, over_seeds, .. } = evaluation;
        assert_eq!((headline.mfr, headline.mar), (5.5, 28.5)); // (3+8)/2, (3+54)/2
        assert_eq!((over_seeds.mfr.mean, over_seeds.mfr.sd), (5.5, None));
        assert_eq!((over_seeds.mar.median, over_seeds.top5.max), (28.5, 1.0));
    }

    #[test]
    fn gaps_are_refused() {
        let error =
            |cases: &[&[&[Option<usize>]]]| evaluate(&standings(cases)).unwrap_err().to_string();
        assert_eq!(error(&[]), "no case to evaluate");
        assert_eq!(error(&[&[], &[]]), "no seed to evaluate");
        let fewer = error(&[&[&[None], &[None]], &[&[None]]]);
        assert_eq!(fewer, "case 1 has standings for 1 seeds, the first for 2");
        let more = error(&[&[&[None]], &[&[None]], &[&[None], &[None], &[None]]]);
        assert_eq!(more, "case 2 has standings for 3 seeds, the first for 1");
    }
}
