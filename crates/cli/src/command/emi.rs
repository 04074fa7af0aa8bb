//! Flags of `optsleuth hunt --emi` and `optsleuth bench emi`: what is tested
//! with variants of programs.

use std::path::PathBuf;

use clap::Args;
use optsleuth_hunt::programs::ProgramPlan;
use optsleuth_hunt::variants::{Broken, CompilerChoice, EMI_LEVELS, EmiRecipe, default_compilers};
use optsleuth_model::OptLevel;
use optsleuth_mutate::emi::Strategy;

use crate::failure::Failure;

/// What a hunt with variants does not have: pass sequences.
pub(super) const OF_SEQUENCES: [&str; 16] = [
    "sequences",
    "guide",
    "select",
    "shard",
    "llvm",
    "llvm_config",
    "length",
    "passes_from",
    "only_default_passes",
    "exclude",
    "auto_exclude",
    "sequence_pool",
    "round_sequences",
    "program_pool",
    "round_programs",
    "coverage_every",
];

/// What is tested with variants.
#[derive(Debug, Args)]
#[command(next_help_heading = "Variants of programs instead of pass sequences")]
pub(super) struct EmiFlags {
    /// Test compilers with variants of programs that must behave the same: hermes, athena, orion
    /// or all
    #[arg(long, value_name = "STRATEGY", value_parser = parse_strategies, conflicts_with_all = OF_SEQUENCES)]
    pub(super) emi: Option<Strategies>,
    /// Which compilers, as in clang-19,gcc-12,llvm-19 or a path; llvm-N is LLVM inside our own
    /// workers, faster and with coverage; the newest clang and gcc if not given
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "emi")]
    compilers: Vec<CompilerChoice>,
    /// At which levels; O0,O1,Os,O2,O3 if not given
    #[arg(long, value_name = "LEVELS", value_delimiter = ',', value_parser = parse_level, requires = "emi")]
    levels: Vec<OptLevel>,
    /// How many variants each program has; 10 if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000), requires = "emi")]
    variants: Option<u64>,
    /// Break the llvm-N under test as this case of `optsleuth bench seed` does
    #[arg(long, value_name = "CASE", requires = "emi")]
    fault: Option<PathBuf>,
}

/// One value of `--emi`.
#[derive(Clone, Debug)]
pub(crate) struct Strategies(pub(crate) Vec<Strategy>);

/// How many variants a seed has in the paper.
const VARIANTS: u64 = 10;

impl EmiFlags {
    /// What a hunt with these strategies does.
    pub(super) fn recipe(
        self,
        strategies: Strategies,
        seed: u64,
        programs: ProgramPlan,
    ) -> Result<EmiRecipe, Failure> {
        let compilers = match self.compilers.is_empty() {
            true => default_compilers()?,
            false => unique(self.compilers),
        };
        let levels = match self.levels.is_empty() {
            true => EMI_LEVELS.to_vec(),
            false => unique(self.levels),
        };
        Ok(EmiRecipe {
            seed,
            strategies: strategies.0,
            compilers: compilers.into_iter().map(absolute).collect(),
            levels,
            variants: self.variants.unwrap_or(VARIANTS),
            programs,
            broken: self.fault.as_deref().map(Broken::of_case).transpose()?,
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
fn absolute(choice: CompilerChoice) -> CompilerChoice {
    match choice {
        CompilerChoice::Driver(name) if name.contains('/') => {
            let path = std::path::absolute(&name).unwrap_or_else(|_| PathBuf::from(&name));
            CompilerChoice::Driver(path.display().to_string())
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
