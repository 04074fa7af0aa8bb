//! `optsleuth mutate`: a C program, preprocessed and read with libclang, and one
//! change to it.
//!
//! **Invariant:** the file itself is never changed; what comes of it is a text.

use std::path::PathBuf;
use std::str::FromStr;

use fs_err as fs;
use optsleuth_case::workers::LlvmChoice;
use optsleuth_compiler::workdir::Workdir;
use optsleuth_mutate::{Insertion, Mutant, MutateError, Pool, Program, Rule};
use rand::seq::IndexedRandom as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use crate::TriageError;
use crate::baseline::SOURCES;
use crate::c_programs::{c_files, read_c};

/// One way to change a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// A small change at one of its places.
    Rule(Rule),
    /// Something new, made of other programs.
    Insertion(Insertion),
    /// A statement of another program.
    Blend,
}

impl Operator {
    /// Those that take something from other programs, in the order of the manual.
    pub fn structural() -> impl Iterator<Item = Operator> {
        Insertion::ALL.into_iter().map(Operator::Insertion).chain([Operator::Blend])
    }

    /// `plus-to-minus`, `insert-if`.
    pub fn name(self) -> String {
        match self {
            Operator::Rule(rule) => rule.name(),
            Operator::Insertion(insertion) => insertion.name().to_owned(),
            Operator::Blend => "blend".to_owned(),
        }
    }
}

impl FromStr for Operator {
    type Err = MutateError;

    fn from_str(text: &str) -> Result<Operator, MutateError> {
        let structural = Operator::structural().find(|operator| operator.name() == text);
        structural.map_or_else(|| text.parse().map(Operator::Rule), Ok)
    }
}

/// What is to be changed, and how.
#[derive(Clone, Debug)]
pub struct MutatePlan {
    /// Whose clang preprocesses it.
    pub llvm: LlvmChoice,
    /// A C file.
    pub program: PathBuf,
    /// What it is compiled with.
    pub c_flags: Vec<String>,
    /// A rule of those that apply, if not given.
    pub operator: Option<Operator>,
    /// Any, if not given.
    pub place: Option<usize>,
    /// A folder with programs to insert from; the tool's own, if not given.
    pub pool: Option<PathBuf>,
    /// For everything that is not given.
    pub seed: u64,
}

/// The program that a plan is about.
pub fn mutable_program(plan: &MutatePlan) -> Result<Program, TriageError> {
    read_c(&plan.llvm.find()?, &plan.program, &plan.c_flags)
}

/// Makes one change to a program.
pub fn mutate(program: &Program, plan: &MutatePlan) -> Result<Mutant, TriageError> {
    let mut rng = ChaCha8Rng::seed_from_u64(plan.seed);
    let rule = match plan.operator {
        Some(Operator::Rule(rule)) => rule,
        Some(operator @ (Operator::Insertion(_) | Operator::Blend)) if plan.place.is_some() => {
            return Err(TriageError::NoNumberedPlaces(operator.name()));
        }
        Some(Operator::Insertion(insertion)) => {
            let inserted = program.insert(insertion, &pool(plan)?, &|_| true, &mut rng);
            return inserted
                .ok_or_else(|| TriageError::NothingToInsert(insertion.name().to_owned()));
        }
        Some(Operator::Blend) => {
            let blended = program.blend(&pool(plan)?, &mut rng);
            return blended.ok_or_else(|| TriageError::NothingToInsert(Operator::Blend.name()));
        }
        None => {
            let wanted = plan.place.unwrap_or(0);
            let rules: Vec<Rule> =
                Rule::all().filter(|&rule| program.count(rule) > wanted).collect();
            *rules.choose(&mut rng).ok_or(TriageError::NothingToMutate)?
        }
    };
    let mutant = match plan.place {
        Some(place) => program.apply(rule, place, &mut rng),
        None => program.mutate(rule, &mut rng),
    };
    mutant.ok_or_else(|| TriageError::NoPlace { rule: rule.name(), n_places: program.count(rule) })
}

/// What can be taken from other programs. What is no program is left out: a
/// folder may hold anything.
fn pool(plan: &MutatePlan) -> Result<Pool, TriageError> {
    let install = plan.llvm.find()?;
    let folder = Workdir::new()?;
    let files = match &plan.pool {
        Some(pool) => c_files(pool)?,
        None => {
            let mut files = Vec::new();
            for (name, text) in SOURCES {
                fs::write(folder.file(name), text)?;
                files.push(folder.file(name));
            }
            files
        }
    };
    let programs: Vec<Program> =
        files.iter().filter_map(|file| read_c(&install, file, &[]).ok()).collect();
    Ok(Pool::gather(&programs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operator_is_found_by_its_name() {
        let rules = Rule::all().map(Operator::Rule);
        for operator in Operator::structural().chain(rules) {
            assert_eq!(operator.name().parse::<Operator>().unwrap(), operator);
        }
        let error = "insert".parse::<Operator>().unwrap_err();
        assert!(matches!(error, MutateError::NoSuchRule(name) if name == "insert"));
    }
}
