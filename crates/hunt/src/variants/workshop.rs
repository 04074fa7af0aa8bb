//! What is set up before the first seed: compilers under test, judges, libclang,
//! Athena's statements, the source of programs, and a hand for every core.
//!
//! **Invariant:** what is missing on this machine is said before anything is
//! built or a folder written.

use std::num::NonZero;
use std::thread;

use optsleuth_case::workers::{LlvmChoice, Workers};
use optsleuth_compiler::driver::{Driver, Family};
use optsleuth_compiler::llvm::{Flavor, Targets};
use optsleuth_model::{EmiSettings, Progress};
use optsleuth_mutate::emi::Strategy;
use optsleuth_mutate::{Libclang, Pool};
use optsleuth_triage::c_programs::load_libclang;
use optsleuth_triage::witness::programs_at_hand;

use super::plan::{CompilerChoice, EmiRecipe};
use super::testers::{Crews, Testers};
use super::valid::Judges;
use crate::HuntError;
use crate::programs::Programs;

/// Everything that is set up before the first seed.
pub struct Workshop {
    pub workers: Workers,
    pub testers: Testers,
    pub crews: Crews,
    pub judges: Judges,
    pub clang: Libclang,
    pub pool: Pool,
    pub programs: Programs,
}

impl Workshop {
    pub fn set_up(recipe: &EmiRecipe, progress: &dyn Progress) -> Result<Workshop, HuntError> {
        let reference = reference(&recipe.compilers);
        // What cannot be found is said before anything is built.
        let clang = load_libclang(&reference.find()?)?;
        let gcc = Driver::newest(Family::Gcc)?;
        let cores = thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        // One for each core, and one to look into what they find.
        let n_hands = cores.saturating_add(1);
        let (testers, crews) = Testers::set_up(recipe, n_hands, progress)?;
        let (targets, flavor) = (Targets::Native, Flavor::Plain);
        let mut workers = Workers::set_up(&reference, targets, flavor, Some(n_hands), progress)?;
        let judges = Judges::find(&workers.install, gcc, workers.pool.first(), progress)?;
        let pool = match recipe.strategies.contains(&Strategy::Athena) {
            true => {
                // Preprocessed by clang, which not every gcc takes.
                let mut programs = Vec::new();
                for text in programs_at_hand(&workers.install, progress)? {
                    if judges.is_for_gcc(&text)? {
                        programs.extend(clang.parse(&text, &[]).ok());
                    }
                }
                Pool::gather(&programs)
            }
            false => Pool::gather(&[]),
        };
        let programs = Programs::open(recipe.programs.clone(), &mut workers)?;
        Ok(Workshop { workers, testers, crews, judges, clang, pool, programs })
    }

    pub fn settings(&self, recipe: &EmiRecipe) -> EmiSettings {
        let compilers = self.testers.all.iter();
        EmiSettings {
            seed: recipe.seed,
            strategies: recipe.strategies.iter().map(|one| one.name().to_owned()).collect(),
            compilers: compilers.map(|one| (one.name.clone(), one.version.clone())).collect(),
            levels: recipe.levels.iter().map(|level| level.name().to_owned()).collect(),
            variants: recipe.variants,
            source: recipe.programs.to_string(),
            judges: self.judges.names(),
            fault: recipe.broken.as_ref().map(|broken| broken.fault.clone()),
        }
    }

    /// What is to be known about this machine, in sentences.
    pub fn notes(&self) -> Vec<String> {
        self.judges.notes().into_iter().chain(self.programs.notes()).collect()
    }
}

/// The LLVM whose front end and fence are used for everything that is not under
/// test: the first that is named, because that one is here; else the newest.
fn reference(compilers: &[CompilerChoice]) -> LlvmChoice {
    let named = compilers.iter().filter_map(|choice| match choice {
        CompilerChoice::Workers(major) => Some(*major),
        CompilerChoice::Driver(name) => name.strip_prefix("clang-")?.parse().ok(),
    });
    let has_clang =
        |choice: &LlvmChoice| choice.find().is_ok_and(|install| install.tool("clang").is_some());
    named.map(LlvmChoice::Version).find(has_clang).unwrap_or(LlvmChoice::Newest)
}
