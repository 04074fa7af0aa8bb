//! The methods that look for other programs, by name: DiWi's, RecBi's, and what
//! their papers compare them with.
//!
//! Stands beside [`Method`](crate::Method), the list for pass sequences. A name says
//! which mutant becomes a witness and how the next mutation is chosen. Which
//! operators there are is the caller's: DiWi has local ones only, all of RecBi's
//! variants have structural ones, too.
//!
//! **Invariant:** nothing is mutated or compiled here; a name becomes decisions.

use std::fmt;
use std::str::FromStr;

use rand_chacha::ChaCha8Rng;

use crate::{ActorCritic, ActorCriticParameters, Guide, Metropolis, RandomGuide, SearchError};

/// Where passing programs come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProgramMethod {
    /// DiWi: local mutations, led by Metropolis-Hastings.
    Diwi,
    /// `DiWi^rand`: local mutations at random (DiWi, section 5.4).
    DiwiRandom,
    /// RecBi: structural mutations as well, led by an actor and a critic.
    Recbi,
    /// `RecBi_mh`: RecBi's mutations, led as DiWi's are (RecBi, section 4.3.1).
    RecbiMh,
    /// `RecBi_rand`: RecBi's mutations at random.
    RecbiRandom,
    /// `RecBi_filter`: the same, and only what makes the set better is kept.
    RecbiFilter,
    /// Dev: passing programs of the compiler's own tests (RecBi, section 4.3.1;
    /// `SBFL_a^dev` of DiWi, section 5.4).
    Dev,
    /// Passing programs of csmith (`SBFL_a^rand` of DiWi, section 5.4).
    Csmith,
}

/// Which passing programs become witnesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Acceptance {
    /// Those that differ in coverage from every witness.
    NewCoverage,
    /// Those that make the set better: `ΔQ > 0`.
    Gain,
    Any,
}

impl Acceptance {
    /// Whether a passing program becomes a witness, given its coverage distances to
    /// the witnesses there are and its `ΔQ`.
    pub fn accepts(self, to_witnesses: &[f64], gain: f64) -> bool {
        match self {
            Acceptance::NewCoverage => to_witnesses.iter().all(|&distance| distance != 0.0),
            Acceptance::Gain => gain > 0.0,
            Acceptance::Any => true,
        }
    }
}

impl ProgramMethod {
    pub const ALL: [ProgramMethod; 8] = [
        ProgramMethod::Diwi,
        ProgramMethod::DiwiRandom,
        ProgramMethod::Recbi,
        ProgramMethod::RecbiMh,
        ProgramMethod::RecbiRandom,
        ProgramMethod::RecbiFilter,
        ProgramMethod::Dev,
        ProgramMethod::Csmith,
    ];

    /// Its name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            ProgramMethod::Diwi => "diwi",
            ProgramMethod::DiwiRandom => "diwi-random",
            ProgramMethod::Recbi => "recbi",
            ProgramMethod::RecbiMh => "recbi-mh",
            ProgramMethod::RecbiRandom => "recbi-random",
            ProgramMethod::RecbiFilter => "recbi-filter",
            ProgramMethod::Dev => "dev",
            ProgramMethod::Csmith => "csmith",
        }
    }

    /// Which passing programs it keeps.
    ///
    /// - DiWi rejects what does not add to the diversity (section 4.2.1; Algorithm
    ///   1, line 12). `RecBi_mh` takes over its strategy as a whole (section 4.3.1).
    /// - RecBi accepts what improves the set (section 3.2.1). `RecBi_filter` drops
    ///   `ΔQ < 0` (section 4.3.1); the two texts differ for a gain of exactly 0,
    ///   which is no improvement and is dropped here by both, so that they differ in
    ///   guidance alone.
    /// - `RecBi_rand` is `RecBi_filter` without the measure (section 4.3.1): it keeps
    ///   all. So does `DiWi^rand` here, which has nothing of section 4.2's heuristics
    ///   (section 5.4). The paper does not say whether the rejection is one of them;
    ///   that its witnesses have nearly no distance to their nearest (section 5.6.3)
    ///   speaks for it.
    /// - Nothing is generated for Dev and csmith, so there is nothing to select.
    pub fn acceptance(self) -> Acceptance {
        match self {
            ProgramMethod::Diwi | ProgramMethod::RecbiMh => Acceptance::NewCoverage,
            ProgramMethod::Recbi | ProgramMethod::RecbiFilter => Acceptance::Gain,
            ProgramMethod::DiwiRandom
            | ProgramMethod::RecbiRandom
            | ProgramMethod::Dev
            | ProgramMethod::Csmith => Acceptance::Any,
        }
    }

    /// What leads its mutations among `0..n_choices`; none if it mutates nothing.
    ///
    /// # Panics
    /// If it mutates and there is nothing to choose from.
    pub fn guide(self, n_choices: usize, rng: ChaCha8Rng) -> Option<Box<dyn Guide>> {
        match self {
            ProgramMethod::Diwi | ProgramMethod::RecbiMh => {
                Some(Box::new(Metropolis::new(n_choices, rng)))
            }
            ProgramMethod::Recbi => {
                let parameters = ActorCriticParameters::default();
                Some(Box::new(ActorCritic::new(n_choices, parameters, rng)))
            }
            ProgramMethod::DiwiRandom | ProgramMethod::RecbiRandom | ProgramMethod::RecbiFilter => {
                Some(Box::new(RandomGuide::new(n_choices, rng)))
            }
            ProgramMethod::Dev | ProgramMethod::Csmith => None,
        }
    }
}

impl fmt::Display for ProgramMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ProgramMethod {
    type Err = SearchError;

    fn from_str(name: &str) -> Result<ProgramMethod, SearchError> {
        let found = ProgramMethod::ALL.into_iter().find(|method| method.name() == name);
        found.ok_or_else(|| SearchError::UnknownMethod {
            name: name.to_owned(),
            known: ProgramMethod::ALL.map(ProgramMethod::name).join(", "),
        })
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn a_name_comes_back() {
        for method in ProgramMethod::ALL {
            assert_eq!(method.to_string().parse(), Ok(method));
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let error = "locseq".parse::<ProgramMethod>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown method `locseq`; there are diwi, diwi-random, recbi, recbi-mh, \
             recbi-random, recbi-filter, dev, csmith"
        );
    }

    #[test]
    fn only_what_mutates_has_a_guide() {
        for method in ProgramMethod::ALL {
            let guide = method.guide(3, ChaCha8Rng::seed_from_u64(1));
            let mutates = !matches!(method, ProgramMethod::Dev | ProgramMethod::Csmith);
            assert_eq!(guide.is_some(), mutates, "{method}");
        }
    }

    #[test]
    fn a_copy_of_a_witness_has_no_new_coverage_and_may_have_a_gain() {
        let check = |to_witnesses: &[f64], gain: f64, expected: [bool; 3]| {
            let all = [Acceptance::NewCoverage, Acceptance::Gain, Acceptance::Any];
            assert_eq!(all.map(|one| one.accepts(to_witnesses, gain)), expected);
        };
        check(&[], 0.1, [true, true, true]);
        check(&[0.3, 0.0], 0.1, [false, true, true]);
        check(&[0.3, 0.1], -0.1, [true, false, true]);
        check(&[0.3, 0.1], 0.0, [true, false, true]);
    }
}
