//! One base program (EMI's seed): made, read, tested, and its variants after it.
//!
//! **Invariant:** what comes of a base program depends on its number and the
//! recipe alone, so that they can be tested in any order, by any number of lanes,
//! and again.

use std::collections::BTreeMap;

use optsleuth_model::{Coverage, Execution, OptLevel};
use optsleuth_mutate::emi::{Strategy, unmarked};

use super::compilers::{Compilers, Lane};
use super::derive::{Derivation, Tools, key, turn};
use super::recipe::VariantRecipe;
use super::trial::Source;
use super::valid::Verdict;
use crate::HuntError;
use crate::campaign::{Mark, TestResult};
use crate::programs::{Programs, Source as Written};

/// What came of a base program.
#[derive(Debug, Default)]
pub struct TestedProgram {
    pub(super) number: u64,
    pub(super) name: String,
    /// Why programs were not used for it, and how many.
    pub(super) rejected: BTreeMap<String, u64>,
    /// What it does; `None` if it cannot be used.
    pub(super) expected: Option<Execution>,
    /// The base program itself, then its variants.
    pub(super) generations: Vec<Generation>,
    /// What of a compiler was executed.
    pub(super) coverage: Option<Coverage>,
    /// Whether nothing is left to do with it.
    pub(super) is_whole: bool,
}

/// The base program or one of its variants.
#[derive(Debug)]
pub(super) struct Generation {
    pub(super) number: u64,
    /// `None`: the base program.
    pub(super) strategy: Option<Strategy>,
    pub(super) n_snippets: u64,
    /// What one judge alone makes of it at -O0: wrong code of that compiler.
    pub(super) outvoted: Option<String>,
    pub(super) result: GenerationResult,
    /// With markers.
    pub(super) text: String,
}

/// What became of a variant.
#[derive(Debug)]
pub(super) enum GenerationResult {
    /// The strategy made none.
    Nothing,
    /// It is not equivalent to the base program: what was seen.
    Error(String),
    /// A letter for each test, and those that deviate.
    Tested(String, Vec<FailedTest>),
}

/// A test of a variant that went wrong, by its compiler's number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FailedTest {
    pub(super) compiler: usize,
    pub(super) level: OptLevel,
    pub(super) mark: Mark,
}

/// Everything that base programs are tested with.
pub(super) struct BaseProgramTester<'a> {
    pub(super) recipe: &'a VariantRecipe,
    pub(super) programs: &'a Programs,
    pub(super) tools: Tools<'a>,
    pub(super) compilers: &'a Compilers,
}

impl BaseProgramTester<'_> {
    /// Tests one base program and its variants, until `stop` says so.
    pub(super) fn test(
        &self,
        number: u64,
        lane: &mut Lane<'_>,
        stop: &dyn Fn() -> bool,
    ) -> Result<TestedProgram, HuntError> {
        let mut tested = TestedProgram { number, ..TestedProgram::default() };
        // A folder's programs come again and again, each time with other numbers.
        let index = self.programs.count().map_or(number, |count| number % count.max(1));
        let made = self.programs.make_one(lane.fence, index)?;
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
        let begun = Derivation::begin(self.tools, &text, &expected, key, lane.fence)?;
        let derivation = match begun {
            Ok(derivation) => derivation,
            Err(unsuited) => {
                *tested.rejected.entry(unsuited.reason()).or_default() += 1;
                tested.is_whole = true;
                return Ok(tested);
            }
        };
        self.generations(&mut tested, text, &expected, derivation, lane, stop)?;
        tested.expected = Some(expected);
        Ok(tested)
    }

    fn generations(
        &self,
        tested: &mut TestedProgram,
        text: String,
        expected: &Execution,
        mut derivation: Derivation<'_>,
        lane: &mut Lane<'_>,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), HuntError> {
        let source = Source::new(text)?;
        let Some(result) = self.try_all(&source, expected, &mut tested.coverage, lane, stop)?
        else {
            return Ok(());
        };
        let text = source.text;
        tested.generations.push(Generation {
            number: 0,
            strategy: None,
            n_snippets: 0,
            outvoted: None,
            result,
            text,
        });
        for number in 1..=self.recipe.variants {
            if stop() {
                return Ok(());
            }
            let strategy = turn(&self.recipe.strategies, tested.number, number);
            let made = derivation.propose(strategy, number, lane.fence)?;
            let mut generation = Generation {
                number,
                strategy: Some(strategy),
                n_snippets: 0,
                outvoted: None,
                result: GenerationResult::Nothing,
                text: String::new(),
            };
            if let Some(variant) = made {
                let source = Source::new(unmarked(&variant.text))?;
                generation.n_snippets = variant.snippets.len() as u64;
                let verdict = self.tools.judges.judge(&source, expected, lane.fence)?;
                // If that compiler is under test, its tests will show it.
                match &verdict {
                    Verdict::Undecided(why) => {
                        tracing::warn!(why, program = tested.name, "a judge crashes on a variant");
                    }
                    Verdict::Outvoted(what) => generation.outvoted = Some(what.clone()),
                    Verdict::Equivalent | Verdict::Different(_) => {}
                }
                let is_certain = verdict == Verdict::Equivalent;
                generation.result = match verdict {
                    Verdict::Different(why) => GenerationResult::Error(why),
                    Verdict::Equivalent | Verdict::Undecided(_) | Verdict::Outvoted(_) => {
                        let coverage = &mut tested.coverage;
                        let tried = self.try_all(&source, expected, coverage, lane, stop)?;
                        let Some(tried) = tried else { return Ok(()) };
                        if is_certain {
                            derivation.go_on(strategy, number, &variant, lane.fence)?;
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
        lane: &mut Lane<'_>,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<GenerationResult>, HuntError> {
        let (mut letters, mut failed) = (String::new(), Vec::new());
        for (compiler, level) in self.compilers.tests() {
            if stop() {
                return Ok(None);
            }
            let (result, executed) =
                self.compilers.test(compiler, level, source, expected, lane)?;
            letters.push(result.letter());
            if let Some(executed) = executed {
                *coverage = Some(match coverage.take() {
                    Some(known) => known.union(&executed),
                    None => executed,
                });
            }
            if let TestResult::Wrong(mark) = result {
                failed.push(FailedTest { compiler, level, mark });
            }
        }
        Ok(Some(GenerationResult::Tested(letters, failed)))
    }
}

impl Generation {
    /// How many tests it had.
    pub(super) fn n_tests(&self) -> u64 {
        match &self.result {
            GenerationResult::Tested(letters, _) => letters.chars().count() as u64,
            GenerationResult::Nothing | GenerationResult::Error(_) => 0,
        }
    }

    pub(super) fn failed(&self) -> &[FailedTest] {
        match &self.result {
            GenerationResult::Tested(_, failed) => failed,
            GenerationResult::Nothing | GenerationResult::Error(_) => &[],
        }
    }
}
