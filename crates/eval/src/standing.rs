//! Where rankings have the true culprits of a case, and the case's ranks that
//! follow from it. The input of every figure.
//!
//! The papers do not say what counts for a culprit that a ranking lacks. Here
//! it is the number of suspects: all of them have to be read in vain.
//!
//! **Invariant:** a culprit that is not among the suspects has a rank for means
//! only. It never counts as found, however few suspects there are.

use std::num::NonZero;

use crate::EvalError;
use crate::summary::quartile;

/// Where one ranking, of one method with one seed, has the culprits of a case:
/// either its true files among the files, or its true functions among the
/// functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    ranks: Vec<Option<NonZero<usize>>>, // Invariant: not empty, none above `n_suspects`.
    n_suspects: NonZero<usize>,
}

/// How far down the culprits of one case are: in one ranking, or by the median
/// of those with several seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CaseRanks {
    /// As `first`, but infinite where no culprit is among the suspects.
    found: f64,
    first: f64,
    average: f64, // Invariant: at least `first`.
}

impl Standing {
    /// From the rank of each true culprit; `None` for one that is not among the
    /// suspects. Those that tie share the last place of them all.
    pub fn new(
        ranks: impl IntoIterator<Item = Option<usize>>,
        n_suspects: NonZero<usize>,
    ) -> Result<Standing, EvalError> {
        let checked = |rank: usize| match NonZero::new(rank) {
            Some(place) if place <= n_suspects => Ok(place),
            _ => Err(EvalError::NoSuchRank { rank, n_suspects: n_suspects.get() }),
        };
        let ranks = ranks.into_iter().map(|rank| rank.map(checked).transpose());
        let ranks = ranks.collect::<Result<Vec<_>, _>>()?;
        if ranks.is_empty() {
            return Err(EvalError::NoCulprit);
        }
        Ok(Standing { ranks, n_suspects })
    }

    /// For a case without a result: it did not reproduce, or no witness was
    /// found. All its culprits are unreached, at the number of suspects that it
    /// has, or would have.
    pub fn unreached(n_suspects: NonZero<usize>) -> Standing {
        Standing { ranks: vec![None], n_suspects }
    }

    /// The best rank of a culprit; `None` if none is among the suspects.
    pub fn found(&self) -> Option<usize> {
        self.ranks.iter().flatten().min().map(|rank| rank.get())
    }

    /// The first rank, of which MFR is the mean: the best one, or the number of
    /// suspects if no culprit is among them.
    pub fn first(&self) -> usize {
        self.found().unwrap_or(self.n_suspects.get())
    }

    /// The average rank, of which MAR is the mean: over all culprits, each that
    /// is not among the suspects at their number.
    pub fn average(&self) -> f64 {
        let counted = self.ranks.iter().map(|rank| rank.unwrap_or(self.n_suspects).get() as u128);
        let sum: u128 = counted.sum();
        sum as f64 / self.ranks.len() as f64
    }
}

impl CaseRanks {
    /// In one ranking.
    pub fn of(standing: &Standing) -> CaseRanks {
        CaseRanks {
            found: standing.found().map_or(f64::INFINITY, |rank| rank as f64),
            first: standing.first() as f64,
            average: standing.average(),
        }
    }

    /// By the median over seeds, of each rank by itself; `None` for no seed. A
    /// culprit is found only if the median ranking has it: of three seeds two,
    /// of four seeds three.
    pub fn median(seeds: &[Standing]) -> Option<CaseRanks> {
        let ranks: Vec<CaseRanks> = seeds.iter().map(CaseRanks::of).collect();
        let middle = |rank: fn(&CaseRanks) -> f64| {
            let mut ranks: Vec<f64> = ranks.iter().map(rank).collect();
            ranks.sort_by(f64::total_cmp);
            quartile(&ranks, 2)
        };
        (!ranks.is_empty()).then(|| CaseRanks {
            found: middle(|ranks| ranks.found),
            first: middle(|ranks| ranks.first),
            average: middle(|ranks| ranks.average),
        })
    }

    /// Whether a culprit is among the first `n` suspects.
    pub fn is_in_top(&self, n: usize) -> bool {
        self.found <= n as f64
    }

    /// The best rank of a culprit; `None` if none is among the suspects.
    pub fn found(&self) -> Option<f64> {
        self.found.is_finite().then_some(self.found)
    }

    /// The first rank; see [`Standing::first`].
    pub fn first(&self) -> f64 {
        self.first
    }

    /// The average rank; see [`Standing::average`].
    pub fn average(&self) -> f64 {
        self.average
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(n: usize) -> NonZero<usize> {
        NonZero::new(n).unwrap()
    }

    fn check(
        ranks: &[Option<usize>],
        n_suspects: usize,
        found: Option<usize>,
        first: usize,
        average: f64,
    ) {
        let standing = Standing::new(ranks.iter().copied(), of(n_suspects)).unwrap();
        assert_eq!(
            (standing.found(), standing.first(), standing.average()),
            (found, first, average)
        );
    }

    #[test]
    fn the_first_rank_is_the_best_and_the_average_is_over_all() {
        check(&[Some(4)], 9, Some(4), 4, 4.0);
        check(&[Some(7), Some(2), Some(6)], 9, Some(2), 2, 5.0); // (7+2+6) / 3
        check(&[Some(3), Some(3)], 3, Some(3), 3, 3.0);
    }

    #[test]
    fn an_unreached_culprit_counts_at_the_number_of_suspects() {
        check(&[Some(2), None], 100, Some(2), 2, 51.0); // (2+100) / 2
        check(&[None, Some(5), None], 40, Some(5), 5, 85.0 / 3.0); // (40+5+40) / 3
        check(&[None, None], 40, None, 40, 40.0);
    }

    #[test]
    fn a_case_without_result_is_one_whose_culprits_are_unreached() {
        let standing = Standing::unreached(of(250));
        assert_eq!((standing.found(), standing.first(), standing.average()), (None, 250, 250.0));
    }

    #[test]
    fn an_unreached_culprit_is_never_found() {
        let alone = CaseRanks::of(&Standing::unreached(of(1)));
        assert_eq!((alone.first(), alone.average()), (1.0, 1.0));
        assert!(!alone.is_in_top(1) && !alone.is_in_top(usize::MAX));
    }

    #[test]
    fn ranks_are_refused_that_no_suspect_can_have() {
        let error = |ranks: &[Option<usize>]| {
            Standing::new(ranks.iter().copied(), of(9)).unwrap_err().to_string()
        };
        assert_eq!(error(&[]), "no true culprit to rank");
        assert_eq!(error(&[Some(3), Some(0)]), "rank 0 among 9 suspects");
        assert_eq!(error(&[None, Some(10)]), "rank 10 among 9 suspects");
    }

    fn median(seeds: &[&[Option<usize>]]) -> CaseRanks {
        let standing = |ranks: &&[Option<usize>]| Standing::new(ranks.to_vec(), of(30)).unwrap();
        CaseRanks::median(&seeds.iter().map(standing).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn over_seeds_each_rank_has_its_own_median() {
        // First ranks 8, 1, 3; averages 8, (1+29)/2 = 15, (3+4)/2 = 3.5.
        let ranks = median(&[&[Some(8), Some(8)], &[Some(1), Some(29)], &[Some(3), Some(4)]]);
        assert_eq!((ranks.first(), ranks.average()), (3.0, 8.0));
        assert!(ranks.is_in_top(3) && !ranks.is_in_top(2));
    }

    #[test]
    fn with_two_seeds_the_median_lies_between_them() {
        let ranks = median(&[&[Some(6)], &[Some(5)]]);
        assert_eq!(ranks.first(), 5.5);
        assert!(ranks.is_in_top(6) && !ranks.is_in_top(5));
    }

    #[test]
    fn a_culprit_is_found_if_most_seeds_find_it() {
        let two_of_three = median(&[&[Some(2)], &[None], &[Some(4)]]);
        assert_eq!((two_of_three.first(), two_of_three.is_in_top(4)), (4.0, true));
        let one_of_three = median(&[&[Some(2)], &[None], &[None]]);
        assert_eq!((one_of_three.first(), one_of_three.is_in_top(30)), (30.0, false));
        // 2 and 30 for the mean, but no place halfway between found and not.
        let one_of_two = median(&[&[Some(2)], &[None]]);
        assert_eq!((one_of_two.first(), one_of_two.is_in_top(30)), (16.0, false));
    }

    #[test]
    fn without_seeds_there_is_no_median() {
        assert_eq!(CaseRanks::median(&[]), None);
    }
}
