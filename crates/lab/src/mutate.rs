//! `optsleuth mutate`: a C program, preprocessed and read with libclang, and one
//! change to it.
//!
//! **Invariant:** the file itself is never changed; what comes of it is a text.

use std::path::{Path, PathBuf};

use optsleuth_compiler::clang::{self, Markers};
use optsleuth_compiler::libclang;
use optsleuth_compiler::llvm::Install;
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::Language;
use optsleuth_mutate::{Libclang, Mutant, Program, Rule};
use rand::seq::IndexedRandom as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use crate::setup::{LabError, LlvmChoice};

/// What is to be changed, and how.
#[derive(Clone, Debug)]
pub struct MutatePlan {
    /// Whose clang preprocesses it.
    pub llvm: LlvmChoice,
    /// A C file.
    pub program: PathBuf,
    /// What it is compiled with.
    pub c_flags: Vec<String>,
    /// One of those that apply, if not given.
    pub rule: Option<Rule>,
    /// Any, if not given.
    pub place: Option<usize>,
    /// For everything that is not given.
    pub seed: u64,
}

/// Reads a C program: preprocessed by this LLVM's clang, parsed by its libclang
/// or, where that is too old or missing, by the newest one.
pub fn read_c(install: &Install, path: &Path, c_flags: &[String]) -> Result<Program, LabError> {
    if Language::of_path(path) != Some(Language::C) {
        return Err(LabError::NotInC(path.to_owned()));
    }
    let folder = Workdir::new().map_err(clang::ProgramError::NoRoom)?;
    let text =
        clang::preprocess(install, path, c_flags, Markers::Dropped, &folder.file("program.i"))?;
    load_libclang(install)?
        .parse(&text, c_flags)
        .map_err(|source| LabError::NotC { path: path.to_owned(), source })
}

/// The libclang to read programs with.
pub fn load_libclang(install: &Install) -> Result<Libclang, LabError> {
    let own = (install.major >= optsleuth_mutate::OLDEST).then(|| libclang::of(install)).flatten();
    let path = match own {
        Some(path) => path,
        None => libclang::newest(optsleuth_mutate::OLDEST)?,
    };
    Ok(Libclang::load(&path)?)
}

/// The program that a plan is about.
pub fn mutable_program(plan: &MutatePlan) -> Result<Program, LabError> {
    read_c(&plan.llvm.find()?, &plan.program, &plan.c_flags)
}

/// Makes one change to a program.
pub fn mutate(program: &Program, plan: &MutatePlan) -> Result<Mutant, LabError> {
    let mut rng = ChaCha8Rng::seed_from_u64(plan.seed);
    let rule = match plan.rule {
        Some(rule) => rule,
        None => {
            let wanted = plan.place.unwrap_or(0);
            let rules: Vec<Rule> =
                Rule::all().filter(|&rule| program.count(rule) > wanted).collect();
            *rules.choose(&mut rng).ok_or(LabError::NothingToMutate)?
        }
    };
    let mutant = match plan.place {
        Some(place) => program.apply(rule, place, &mut rng),
        None => program.mutate(rule, &mut rng),
    };
    mutant.ok_or_else(|| LabError::NoPlace { rule: rule.name(), n_places: program.count(rule) })
}
