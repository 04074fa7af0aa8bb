//! Four counts of a block -> how suspect it is. The first step of a ranking.
//!
//! **Invariant:** no formula looks at names, files or sizes; only [`Counts`].
//! Every score is a finite number, whatever the counts.

use std::fmt;
use std::str::FromStr;

use crate::RankError;

/// Weights are multiples of this: a million steps between 0 and 1 are more than
/// similarities of coverages have, and sums of them are exact.
pub(crate) const WEIGHT_UNIT: f64 = 1.0 / (1u64 << 20) as f64;

/// In how many runs a block was executed or not. Where witnesses have weights,
/// these are sums of weights.
///
/// None is negative; each is zero or at least [`WEIGHT_UNIT`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// Failing runs that executed it.
    pub ef: f64,
    /// Failing runs that did not.
    pub nf: f64,
    /// Passing runs that executed it.
    pub ep: f64,
    /// Passing runs that did not.
    pub np: f64,
}

/// How four counts become a score; the higher, the more suspect.
///
/// In all of them 0/0 is 0: where nothing is known, nothing is suspect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Formula {
    /// `ef / sqrt((ef+nf)(ef+ep))`. With one failing run, which executes the
    /// block, it is `1 / sqrt(1+ep)`. 0 if no failing run executes the block.
    ///
    /// A. Ochiai, Bulletin of the Japanese Society of Scientific Fisheries
    /// 22(9), 1957; for faults R. Abreu, P. Zoeteweij, A. van Gemund, On the
    /// Accuracy of Spectrum-based Fault Localization, TAIC PART 2007.
    #[default]
    Ochiai,
    /// `f / (f+p)` with the rates `f = ef/(ef+nf)` and `p = ep/(ep+np)`. With
    /// no witness `p` is 0, so the score is 1; with no run at all it is 0.
    ///
    /// J. Jones, M. J. Harrold, Empirical Evaluation of the Tarantula Automatic
    /// Fault-Localization Technique, ASE 2005.
    Tarantula,
    /// `ef / (ef+nf+ep)`. 0 if no run failed and no witness executes the block.
    ///
    /// M. Chen, E. Kiciman, E. Fratkin, A. Fox, E. Brewer, Pinpoint: Problem
    /// Determination in Large, Dynamic Internet Services, DSN 2002.
    Jaccard,
    /// `ef·np / sqrt((ef+ep)(nf+np)(ef+nf)(ep+np))`. 0 if any factor is 0:
    /// with no witness every block has 0, and so has a block that all witnesses
    /// execute.
    ///
    /// L. Naish, H. J. Lee, K. Ramamohanarao, A Model for Spectra-Based
    /// Software Diagnosis, TOSEM 20(3), 2011.
    Ochiai2,
    /// `(ef/(ef+nf) + ef/(ef+ep)) / 2`. 0 if no failing run executes the block.
    ///
    /// Naish, Lee, Ramamohanarao, TOSEM 2011, as above.
    Kulczynski2,
    /// `ef - ep/(ep+np+1)`. The denominator is never 0. Below 0, but above -1,
    /// where only passing runs execute the block.
    ///
    /// Naish, Lee, Ramamohanarao, TOSEM 2011, as above; written Oᵖ there.
    Op2,
    /// `ef² / (ep+nf)`: D* with the star 2. A denominator of 0 counts as 2⁻²¹,
    /// half of what the smallest weight would make it. So a block that all
    /// failing runs execute and no witness does is above all blocks with the
    /// same totals; and unlike infinity it can be added up and averaged, so
    /// that two entities with such blocks still differ.
    ///
    /// W. E. Wong, V. Debroy, R. Gao, Y. Li, The DStar Method for Effective
    /// Software Fault Localization, IEEE Transactions on Reliability 63(1), 2014.
    DStar,
    /// `ef / (ef+ep)`. 0 if no run executes the block.
    ///
    /// `Failure(P)` of B. Liblit, M. Naik, A. Zheng, A. Aiken, M. Jordan,
    /// Scalable Statistical Bug Isolation, PLDI 2005; for statements, under
    /// this name, Y. Yu, J. Jones, M. J. Harrold, An Empirical Study of the
    /// Effects of Test-Suite Reduction on Fault Localization, ICSE 2008.
    Sbi,
}

/// What a denominator of D* is at least.
const DSTAR_FLOOR: f64 = WEIGHT_UNIT / 2.0;

impl Formula {
    /// Every formula, the default first.
    pub const ALL: [Formula; 8] = [
        Formula::Ochiai,
        Formula::Tarantula,
        Formula::Jaccard,
        Formula::Ochiai2,
        Formula::Kulczynski2,
        Formula::Op2,
        Formula::DStar,
        Formula::Sbi,
    ];

    /// What it is called on a command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Formula::Ochiai => "ochiai",
            Formula::Tarantula => "tarantula",
            Formula::Jaccard => "jaccard",
            Formula::Ochiai2 => "ochiai2",
            Formula::Kulczynski2 => "kulczynski2",
            Formula::Op2 => "op2",
            Formula::DStar => "dstar",
            Formula::Sbi => "sbi",
        }
    }

    /// How suspect a block with these counts is.
    pub fn score(self, Counts { ef, nf, ep, np }: Counts) -> f64 {
        match self {
            Formula::Ochiai => ratio(ef, ((ef + nf) * (ef + ep)).sqrt()),
            Formula::Tarantula => {
                let (failing, passing) = (ratio(ef, ef + nf), ratio(ep, ep + np));
                ratio(failing, failing + passing)
            }
            Formula::Jaccard => ratio(ef, ef + nf + ep),
            Formula::Ochiai2 => {
                ratio(ef * np, ((ef + ep) * (nf + np) * (ef + nf) * (ep + np)).sqrt())
            }
            Formula::Kulczynski2 => (ratio(ef, ef + nf) + ratio(ef, ef + ep)) / 2.0,
            Formula::Op2 => ef - ep / (ep + np + 1.0),
            Formula::DStar => ef * ef / (ep + nf).max(DSTAR_FLOOR),
            Formula::Sbi => ratio(ef, ef + ep),
        }
    }
}

/// A quotient in which nothing by nothing is nothing.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

fn names() -> String {
    Formula::ALL.map(Formula::name).join(", ")
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Formula {
    type Err = RankError;

    fn from_str(text: &str) -> Result<Formula, RankError> {
        let found = Formula::ALL.into_iter().find(|formula| formula.name() == text);
        found.ok_or_else(|| RankError::UnknownFormula { name: text.to_owned(), known: names() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The scores of `(ef, nf, ep, np)` by every formula, in the order of `ALL`.
    fn check((ef, nf, ep, np): (f64, f64, f64, f64), expected: [f64; 8]) {
        for (formula, expected) in Formula::ALL.into_iter().zip(expected) {
            let score = formula.score(Counts { ef, nf, ep, np });
            assert!((score - expected).abs() < 1e-12, "{formula}: {score}, not {expected}");
        }
    }

    #[test]
    fn scores_are_those_computed_by_hand() {
        check(
            (3.0, 1.0, 2.0, 4.0),
            [
                3.0 / 20f64.sqrt(),   // 3 / sqrt((3+1)(3+2))
                9.0 / 13.0,           // 3/4 / (3/4 + 2/6) = 0.75 / (13/12)
                0.5,                  // 3 / (3+1+2)
                12.0 / 600f64.sqrt(), // 3·4 / sqrt((3+2)(1+4)(3+1)(2+4)) = 12 / sqrt(5·5·4·6)
                0.675,                // (3/4 + 3/5) / 2 = (0.75 + 0.6) / 2
                3.0 - 2.0 / 7.0,      // 3 - 2/(2+4+1)
                3.0,                  // 9 / (2+1)
                0.6,                  // 3 / (3+2)
            ],
        );
    }

    #[test]
    fn with_one_failing_run_ochiai_depends_on_witnesses_alone() {
        for ep in [0.0, 1.0, 2.0, 3.0, 8.0, 944.0] {
            let counts = Counts { ef: 1.0, nf: 0.0, ep, np: 1000.0 - ep };
            assert_eq!(Formula::Ochiai.score(counts), 1.0 / (1.0 + ep).sqrt());
        }
    }

    #[test]
    fn a_block_that_nothing_executes_has_no_score() {
        check((0.0, 0.0, 0.0, 0.0), [0.0; 8]);
        check((0.0, 2.0, 0.0, 3.0), [0.0; 8]);
    }

    #[test]
    fn a_block_that_only_witnesses_execute_has_no_score() {
        // Op2: 0 - 3/(3+1+1).
        check((0.0, 2.0, 3.0, 1.0), [0.0, 0.0, 0.0, 0.0, 0.0, -0.6, 0.0, 0.0]);
    }

    #[test]
    fn without_witnesses_only_ochiai2_has_nothing_to_say() {
        // Tarantula: 1/(1+0). D*: 1/2⁻²¹.
        check((1.0, 0.0, 0.0, 0.0), [1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 2_097_152.0, 1.0]);
    }

    #[test]
    fn dstar_of_an_unwitnessed_block_is_above_all_with_the_same_totals() {
        let unwitnessed = Counts { ef: 3.0, nf: 0.0, ep: 0.0, np: 5.0 };
        // The nearest others: one witness of the smallest weight, one of weight
        // 1, and a failing run that does not execute the block.
        for (ef, nf, ep) in [(3.0, 0.0, WEIGHT_UNIT), (3.0, 0.0, 1.0), (2.0, 1.0, 0.0)] {
            let other = Counts { ef, nf, ep, np: 5.0 - ep };
            assert!(Formula::DStar.score(unwitnessed) > Formula::DStar.score(other));
        }
    }

    #[test]
    fn names_lead_back_to_formulas() {
        for formula in Formula::ALL {
            assert_eq!(formula.to_string().parse(), Ok(formula));
        }
        assert_eq!(Formula::default(), Formula::ALL[0]);
        let error = "Ochiai3".parse::<Formula>().unwrap_err().to_string();
        assert_eq!(
            error,
            "unknown formula `Ochiai3`; the formulas are ochiai, tarantula, jaccard, ochiai2, \
             kulczynski2, op2, dstar, sbi"
        );
    }
}
