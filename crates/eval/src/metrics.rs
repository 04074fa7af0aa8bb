//! The ranks of all cases -> the papers' figures.
//!
//! Z. Zhou, H. Jiang, Z. Ren, Y. Chen, L. Qiao, LocSeq, IEEE Transactions on
//! Reliability 71(2), 2022, section "Metrics"; the same in the papers on DiWi
//! (FSE 2019) and RecBi (ASE 2020), which it follows.
//!
//! **Invariant:** every case counts, and as much as every other. Which cases
//! there are is not decided here.

use serde::{Deserialize, Serialize};

use crate::standing::CaseRanks;
use crate::summary::mean;

/// How good a method is on a set of cases, for files or for functions. The
/// field names are those of the JSON.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// How many cases have a culprit at the first place.
    pub top1: usize,
    /// How many have one among the first 5.
    pub top5: usize,
    /// How many have one among the first 10.
    pub top10: usize,
    /// How many have one among the first 20.
    pub top20: usize,
    /// Mean first rank: over cases, of the rank of the first culprit. The
    /// smaller, the better.
    pub mfr: f64,
    /// Mean average rank: over cases, of the mean rank of all culprits. The
    /// smaller, the better, and never smaller than `mfr`.
    pub mar: f64,
}

impl Figures {
    /// Over these cases; `None` if there are none.
    pub fn of(cases: &[CaseRanks]) -> Option<Figures> {
        let top = |n| cases.iter().filter(|case| case.is_in_top(n)).count();
        let mean = |rank: fn(&CaseRanks) -> f64| mean(&cases.iter().map(rank).collect::<Vec<_>>());
        Some(Figures {
            top1: top(1),
            top5: top(5),
            top10: top(10),
            top20: top(20),
            mfr: mean(CaseRanks::first)?,
            mar: mean(CaseRanks::average)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use super::*;
    use crate::standing::Standing;

    /// Cases with their culprits' ranks and numbers of suspects.
    fn figures(cases: &[(&[Option<usize>], usize)]) -> Option<Figures> {
        let ranks = |&(ranks, n_suspects): &(&[Option<usize>], usize)| {
            let n_suspects = NonZero::new(n_suspects).unwrap();
            CaseRanks::of(&Standing::new(ranks.iter().copied(), n_suspects).unwrap())
        };
        Figures::of(&cases.iter().map(ranks).collect::<Vec<_>>())
    }

    #[test]
    fn figures_are_those_computed_by_hand() {
        let found = figures(&[
            (&[Some(1)], 300),                  // first 1, average 1
            (&[Some(9), Some(5)], 300),         // first 5, average (9+5)/2 = 7
            (&[None, Some(10), Some(50)], 300), // first 10, average (300+10+50)/3 = 120
            (&[Some(20), Some(21)], 40),        // first 20, average 20.5
            (&[Some(21)], 40),                  // first 21, average 21
            (&[None, None], 63),                // first 63, average 63
        ]);
        let expected = Figures {
            top1: 1,
            top5: 2,
            top10: 3,
            top20: 4,
            mfr: 20.0,        // (1 + 5 + 10 + 20 + 21 + 63) / 6 = 120 / 6
            mar: 232.5 / 6.0, // 1 + 7 + 120 + 20.5 + 21 + 63 = 232.5
        };
        assert_eq!(found, Some(expected));
    }

    #[test]
    fn an_unreached_culprit_is_in_no_top_even_among_few_suspects() {
        let found = figures(&[(&[None], 3), (&[Some(3)], 3)]).unwrap();
        assert_eq!((found.top1, found.top5, found.top20), (0, 1, 1));
        assert_eq!((found.mfr, found.mar), (3.0, 3.0));
    }

    #[test]
    fn a_case_counts_once_however_many_culprits_it_has() {
        let found = figures(&[(&[Some(1), Some(2), Some(3)], 9)]).unwrap();
        assert_eq!((found.top1, found.top5), (1, 1));
        assert_eq!((found.mfr, found.mar), (1.0, 2.0)); // (1+2+3) / 3
    }

    #[test]
    fn without_cases_there_are_no_figures() {
        assert_eq!(figures(&[]), None);
    }

    #[test]
    fn the_json_form_has_the_names_of_the_papers() {
        let figures = figures(&[(&[Some(2), Some(3)], 9)]).unwrap();
        let json = serde_json::to_string(&figures).unwrap();
        assert_eq!(json, r#"{"top1":0,"top5":1,"top10":1,"top20":1,"mfr":2.0,"mar":2.5}"#);
        assert_eq!(serde_json::from_str::<Figures>(&json).unwrap(), figures);
    }
}
