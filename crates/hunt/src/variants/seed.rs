//! One seed: made, read, tested, and its variants after it.
//!
//! **Invariant:** what comes of a seed depends on its number and the recipe
//! alone, so that seeds can be tested in any order, by any number of hands, and
//! again.

use std::collections::BTreeMap;

use optsleuth_model::{CaseKind, Coverage, Execution, OptLevel};
use optsleuth_mutate::emi::{Strategy, unmarked};

use super::derive::{Derivation, Tools, key, turn};
use super::plan::EmiRecipe;
use super::testers::{Hand, Testers};
use super::trial::{Seen, Source};
use super::valid::Verdict;
use crate::HuntError;
use crate::programs::{Programs, Source as Written};

/// What came of a seed.
#[derive(Debug, Default)]
pub struct Tested {
    pub(super) number: u64,
    pub(super) name: String,
    /// Why programs were not used for it, and how many.
    pub(super) rejected: BTreeMap<String, u64>,
    /// What it does; `None` if there is no seed.
    pub(super) expected: Option<Execution>,
    /// The seed itself, then its variants.
    pub(super) generations: Vec<Generation>,
    /// What of a compiler was executed.
    pub(super) coverage: Option<Coverage>,
    /// Whether nothing is left to do with it.
    pub(super) is_whole: bool,
}

/// The seed or one of its variants.
#[derive(Debug)]
pub(super) struct Generation {
    pub(super) number: u64,
    /// `None`: the seed.
    pub(super) strategy: Option<Strategy>,
    pub(super) n_snippets: u64,
    pub(super) fate: Fate,
    /// With markers; kept where somebody has to look at it.
    pub(super) text: String,
}

/// What became of a variant.
#[derive(Debug)]
pub(super) enum Fate {
    /// The strategy made none.
    Nothing,
    /// It is not equivalent to the seed: what was seen.
    Error(String),
    /// A letter for each test, and what deviates.
    Tested(String, Vec<Deviation>),
}

/// A test that went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Deviation {
    pub(super) tester: usize,
    pub(super) level: OptLevel,
    pub(super) kind: CaseKind,
    pub(super) mark: String,
}

/// Everything that seeds are tested with.
pub(super) struct Ground<'a> {
    pub(super) recipe: &'a EmiRecipe,
    pub(super) programs: &'a Programs,
    pub(super) tools: Tools<'a>,
    pub(super) testers: &'a Testers,
}

impl Ground<'_> {
    /// Tests one seed and its variants, until `stop` says so.
    pub(super) fn test(
        &self,
        number: u64,
        hand: &mut Hand<'_>,
        stop: &dyn Fn() -> bool,
    ) -> Result<Tested, HuntError> {
        let mut tested = Tested { number, ..Tested::default() };
        // A folder's programs come again and again, each time with other numbers.
        let index = self.programs.count().map_or(number, |count| number % count.max(1));
        let made = self.programs.make_one(hand.fence, index)?;
        for rejected in &made.rejected {
            *tested.rejected.entry(rejected.reason.to_string()).or_default() += 1;
        }
        let Some(program) = made.program else {
            tested.is_whole = true;
            return Ok(tested);
        };
        tested.name = program.name;
        let Written::C(text) = program.source else {
            *tested.rejected.entry("not in C".to_owned()).or_default() += 1;
            tested.is_whole = true;
            return Ok(tested);
        };
        let key = key(self.recipe.seed, number);
        let expected = program.expected;
        let begun = Derivation::begin(self.tools, &text, &expected, key, hand.fence)?;
        let derivation = match begun {
            Ok(derivation) => derivation,
            Err(unsuited) => {
                *tested.rejected.entry(unsuited.reason()).or_default() += 1;
                tested.is_whole = true;
                return Ok(tested);
            }
        };
        self.generations(&mut tested, text, &expected, derivation, hand, stop)?;
        tested.expected = Some(expected);
        Ok(tested)
    }

    fn generations(
        &self,
        tested: &mut Tested,
        text: String,
        expected: &Execution,
        mut derivation: Derivation<'_>,
        hand: &mut Hand<'_>,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), HuntError> {
        let source = Source::new(text)?;
        let Some(fate) = self.try_all(&source, expected, &mut tested.coverage, hand, stop)? else {
            return Ok(());
        };
        let text = source.text;
        tested.generations.push(Generation {
            number: 0,
            strategy: None,
            n_snippets: 0,
            fate,
            text,
        });
        for number in 1..=self.recipe.variants {
            if stop() {
                return Ok(());
            }
            let strategy = turn(&self.recipe.strategies, tested.number, number);
            let made = derivation.propose(strategy, number, hand.fence)?;
            let mut generation = Generation {
                number,
                strategy: Some(strategy),
                n_snippets: 0,
                fate: Fate::Nothing,
                text: String::new(),
            };
            if let Some(variant) = made {
                let source = Source::new(unmarked(&variant.text))?;
                generation.n_snippets = variant.snippets.len() as u64;
                let verdict = self.tools.judges.judge(&source, expected, hand.fence)?;
                if let Verdict::Undecided(why) = &verdict {
                    // If that compiler is under test, its tests will show it.
                    tracing::warn!(why, seed = tested.name, "a judge falls over a variant");
                }
                let is_certain = verdict == Verdict::Equivalent;
                generation.fate = match verdict {
                    Verdict::Different(why) => Fate::Error(why),
                    Verdict::Equivalent | Verdict::Undecided(_) => {
                        let coverage = &mut tested.coverage;
                        let tried = self.try_all(&source, expected, coverage, hand, stop)?;
                        let Some(tried) = tried else { return Ok(()) };
                        if is_certain {
                            derivation.go_on(strategy, number, &variant, hand.fence)?;
                        }
                        tried
                    }
                };
                generation.text = variant.text;
            }
            tested.generations.push(generation);
        }
        tested.is_whole = true;
        Ok(())
    }

    /// A program by every compiler at every level; `None` if there was no time.
    fn try_all(
        &self,
        source: &Source,
        expected: &Execution,
        coverage: &mut Option<Coverage>,
        hand: &mut Hand<'_>,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Fate>, HuntError> {
        let (mut letters, mut deviations) = (String::new(), Vec::new());
        for (tester, level) in self.testers.tests() {
            if stop() {
                return Ok(None);
            }
            let (seen, executed) = self.testers.test(tester, level, source, expected, hand)?;
            letters.push(seen.letter());
            if let Some(executed) = executed {
                *coverage = Some(match coverage.take() {
                    Some(known) => known.union(&executed),
                    None => executed,
                });
            }
            if let Seen::Wrong(kind, mark) = seen {
                deviations.push(Deviation { tester, level, kind, mark });
            }
        }
        Ok(Some(Fate::Tested(letters, deviations)))
    }
}

impl Generation {
    /// How many tests it had.
    pub(super) fn n_tests(&self) -> u64 {
        match &self.fate {
            Fate::Tested(letters, _) => letters.chars().count() as u64,
            Fate::Nothing | Fate::Error(_) => 0,
        }
    }

    pub(super) fn deviations(&self) -> &[Deviation] {
        match &self.fate {
            Fate::Tested(_, deviations) => deviations,
            Fate::Nothing | Fate::Error(_) => &[],
        }
    }
}
