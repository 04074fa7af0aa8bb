//! What decides everything about a hunt with variants; kept in its campaign.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use optsleuth_case::folder::{llvm_of, open_case};
use optsleuth_model::{Fault, OptLevel, Trust};
use optsleuth_mutate::emi::Strategy;
use serde::{Deserialize, Serialize};

use crate::HuntError;
use crate::campaign::Recipe;
use crate::programs::ProgramPlan;

/// A compiler under test, as people name it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CompilerChoice {
    /// `clang-19`, `gcc-12`, a path: the program that users call.
    Driver(String),
    /// `llvm-19`: clang's front end, then passes and code generator inside our
    /// own workers.
    Workers(u32),
}

impl FromStr for CompilerChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<CompilerChoice, String> {
        let text = text.trim();
        match text.strip_prefix("llvm-").map(str::parse) {
            Some(Ok(major)) => Ok(CompilerChoice::Workers(major)),
            Some(Err(_)) => Err(format!("`{text}` has no number, as in llvm-19")),
            None if text.is_empty() => Err("name a compiler, as in clang-19 or gcc-12".to_owned()),
            None => Ok(CompilerChoice::Driver(text.to_owned())),
        }
    }
}

impl fmt::Display for CompilerChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompilerChoice::Driver(name) => f.write_str(name),
            CompilerChoice::Workers(major) => write!(f, "llvm-{major}"),
        }
    }
}

/// An LLVM that is broken on purpose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Broken {
    /// Its number.
    pub llvm: u32,
    /// In a case's words.
    pub fault: String,
}

impl Broken {
    /// The LLVM of a case of `bench plant`.
    pub fn of_case(folder: &Path, trust: Trust) -> Result<Broken, HuntError> {
        let case = open_case(folder, trust)?;
        let fault = case.case.fault.as_ref().map(ToString::to_string);
        let fault = fault.ok_or_else(|| HuntError::NoFault(folder.to_owned()))?;
        Ok(Broken { llvm: llvm_of(&case.case)?.find()?.major, fault })
    }

    /// The fault.
    pub fn parsed(&self) -> Result<Fault, HuntError> {
        self.fault.parse().map_err(|error| HuntError::BadFault(format!("{error}")))
    }
}

/// Everything that decides what a hunt with variants does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariantRecipe {
    /// Where the random numbers start.
    pub seed: u64,
    /// They take turns.
    #[serde(with = "names")]
    pub strategies: Vec<Strategy>,
    /// Every variant is compiled by each.
    pub compilers: Vec<CompilerChoice>,
    /// At each of these levels.
    pub levels: Vec<OptLevel>,
    /// How many variants a base program has.
    pub variants: u64,
    /// Where base programs come from.
    pub programs: ProgramPlan,
    /// What is broken on purpose.
    pub broken: Option<Broken>,
}

impl Recipe for VariantRecipe {
    fn programs_by_path(&self) -> Vec<String> {
        let by_path = |choice: &CompilerChoice| match choice {
            CompilerChoice::Driver(name) => name.contains('/').then(|| name.clone()),
            CompilerChoice::Workers(_) => None,
        };
        self.compilers.iter().filter_map(by_path).collect()
    }
}

/// The levels that the paper tests with.
pub const LEVELS: [OptLevel; 5] =
    [OptLevel::O0, OptLevel::O1, OptLevel::Os, OptLevel::O2, OptLevel::O3];

/// Strategies as their names.
mod names {
    use optsleuth_mutate::emi::Strategy;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    pub fn serialize<S: Serializer>(of: &[Strategy], to: S) -> Result<S::Ok, S::Error> {
        let names: Vec<&str> = of.iter().map(|strategy| strategy.name()).collect();
        names.serialize(to)
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(of: D) -> Result<Vec<Strategy>, D::Error> {
        let names = Vec::<String>::deserialize(of)?;
        names.iter().map(|name| name.parse().map_err(D::Error::custom)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_are_named_as_people_do() {
        let read = |text: &str| text.parse::<CompilerChoice>();
        assert_eq!(read("llvm-19"), Ok(CompilerChoice::Workers(19)));
        assert_eq!(read("gcc-12"), Ok(CompilerChoice::Driver("gcc-12".to_owned())));
        assert_eq!(read("./my/clang"), Ok(CompilerChoice::Driver("./my/clang".to_owned())));
        assert!(read("llvm-x").is_err() && read("").is_err());
        assert_eq!(read("llvm-19").map(|read| read.to_string()), Ok("llvm-19".to_owned()));
    }
}
