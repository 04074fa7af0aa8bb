//! `optsleuth hunt variants`: test compilers with variants of programs that must
//! behave the same.

use std::path::PathBuf;

use clap::Args;
use optsleuth_hunt::variants::{
    Broken, CompilerChoice, LEVELS, VariantRecipe, default_compilers, hunt,
};
use optsleuth_model::{OptLevel, Trust};
use optsleuth_mutate::emi::Strategy;

use super::{BeginFlags, SessionFlags, SourceFlags, absolute};
use crate::exit::Exit;
use crate::failure::Failure;

/// Test compilers with variants of programs that must behave the same
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  optsleuth hunt variants --budget 30m -o campaign/             # the newest clang and gcc
  optsleuth hunt variants --strategy hermes --compilers clang-19,gcc-12 -o campaign/
  optsleuth hunt variants --compilers llvm-19 --programs tests/ --tests 5000 -o campaign/
  optsleuth hunt variants --resume campaign/ --budget 30m       # go on
  optsleuth case check campaign/cases/001-wrong-code-gcc-12-O2  # a finding again

The hunt varies every program in ways that must not change its behaviour (equivalence modulo
inputs), checks every variant for that, and compiles it at every level with every compiler. It
examines every crash, wrong behaviour and hang: it runs the test again, takes out snippets that
the failure does not need, drops duplicates, and writes the rest as cases. campaign.html shows
all of it. Ctrl-C ends it; even kill -9 loses only the programs in flight, which --resume
repeats. docs/emi.md says more.
Exit codes: 0 nothing found, 2 bugs found, 4 csmith or gcc is not installed, 130 Ctrl-C.")]
pub(super) struct Variants {
    #[command(flatten)]
    begin: BeginFlags,
    #[command(flatten)]
    test: TestFlags,
    #[command(flatten)]
    source: SourceFlags,
    /// Go on with the campaign of this folder, by the recipe it was begun with
    #[arg(long, value_name = "DIR", conflicts_with_all = ["BeginFlags", "TestFlags", "SourceFlags"])]
    resume: Option<PathBuf>,
    #[command(flatten)]
    session: SessionFlags,
}

/// What is tested, and with which variants.
#[derive(Debug, Args)]
struct TestFlags {
    /// How variants are made: hermes, athena, orion, or all, which take turns
    #[arg(long, value_name = "STRATEGY", default_value = "all", value_parser = parse_strategies)]
    strategy: Strategies,
    /// Which compilers, as in clang-19,gcc-12,llvm-19 or a path; llvm-N is LLVM inside our own
    /// workers, faster and with coverage; the newest clang and gcc if not given
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    compilers: Vec<CompilerChoice>,
    /// At which levels; O0,O1,Os,O2,O3 if not given
    #[arg(long, value_name = "LEVELS", value_delimiter = ',', value_parser = parse_level)]
    levels: Vec<OptLevel>,
    /// How many variants each program has
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    variants: u64,
    /// Break the llvm-N under test as this case of `optsleuth bench plant` does
    #[arg(long, value_name = "CASE")]
    fault: Option<PathBuf>,
}

/// One value of `--strategy`.
#[derive(Clone, Debug)]
pub(crate) struct Strategies(pub(crate) Vec<Strategy>);

impl Variants {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        match self.resume {
            Some(folder) => self.session.hunt(folder, None, hunt),
            None => {
                let trust = self.session.trust.trust();
                let recipe = self.test.recipe(self.source, self.begin.seed, trust)?;
                self.session.hunt(self.begin.output.unwrap_or_default(), Some(recipe), hunt)
            }
        }
    }
}

impl TestFlags {
    fn recipe(
        self,
        source: SourceFlags,
        seed: u64,
        trust: Trust,
    ) -> Result<VariantRecipe, Failure> {
        let compilers = match self.compilers.is_empty() {
            true => default_compilers()?,
            false => unique(self.compilers),
        };
        let levels = match self.levels.is_empty() {
            true => LEVELS.to_vec(),
            false => unique(self.levels),
        };
        Ok(VariantRecipe {
            seed,
            strategies: self.strategy.0,
            compilers: compilers.into_iter().map(located).collect(),
            levels,
            variants: self.variants,
            programs: source.plan(seed),
            broken: self.fault.map(|case| Broken::of_case(&case, trust)).transpose()?,
        })
    }
}

/// Each once, in the order in which they came.
fn unique<T: PartialEq>(all: Vec<T>) -> Vec<T> {
    let mut unique = Vec::new();
    for one in all {
        if !unique.contains(&one) {
            unique.push(one);
        }
    }
    unique
}

/// A hunt may go on from another folder.
fn located(choice: CompilerChoice) -> CompilerChoice {
    match choice {
        CompilerChoice::Driver(name) if name.contains('/') => {
            CompilerChoice::Driver(absolute(PathBuf::from(name)).display().to_string())
        }
        other => other,
    }
}

/// `hermes`, `all`.
pub(crate) fn parse_strategies(text: &str) -> Result<Strategies, String> {
    match text {
        "all" => Ok(Strategies(Strategy::ALL.to_vec())),
        _ => match text.parse() {
            Ok(strategy) => Ok(Strategies(vec![strategy])),
            Err(_) => Err("give hermes, athena, orion or all".to_owned()),
        },
    }
}

fn parse_level(text: &str) -> Result<OptLevel, String> {
    let all = [OptLevel::O0, OptLevel::O1, OptLevel::O2, OptLevel::O3, OptLevel::Os, OptLevel::Oz];
    let named = all.into_iter().find(|level| level.name() == text.trim_start_matches('-'));
    named.ok_or_else(|| "give levels such as O0,O1,Os,O2,O3".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strategies_and_levels_go_by_their_names() {
        assert_eq!(parse_strategies("all").map(|all| all.0.len()), Ok(3));
        assert_eq!(parse_strategies("orion").map(|one| one.0), Ok(vec![Strategy::Orion]));
        assert!(parse_strategies("hera").is_err());
        assert_eq!(parse_level("-O2"), Ok(OptLevel::O2));
        assert!(parse_level("O9").is_err());
        assert_eq!(unique(vec![2, 1, 2]), [2, 1]);
    }
}
