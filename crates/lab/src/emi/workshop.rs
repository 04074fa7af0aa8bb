//! What is set up before the first seed: compilers under test, judges, libclang,
//! Athena's statements, the source of programs, and a hand for every core.
//!
//! **Invariant:** what is missing on this machine is said before anything is
//! built or a folder written.

use std::num::NonZero;
use std::thread;

use optsleuth_compiler::driver::{Driver, Family};
use optsleuth_compiler::llvm::{Flavor, Targets};
use optsleuth_model::EmiSettings;
use optsleuth_mutate::emi::Strategy;
use optsleuth_mutate::{Libclang, Pool};

use super::plan::{CompilerChoice, EmiRecipe};
use super::testers::{Crews, Testers};
use super::valid::Judges;
use crate::Progress;
use crate::hunt::programs::Programs;
use crate::mutate::load_libclang;
use crate::setup::{Bench, LabError, LlvmChoice};
use crate::witness::ingredients;

/// Everything that is set up before the first seed.
pub(super) struct Workshop {
    pub(super) bench: Bench,
    pub(super) testers: Testers,
    pub(super) crews: Crews,
    pub(super) judges: Judges,
    pub(super) clang: Libclang,
    pub(super) pool: Pool,
    pub(super) programs: Programs,
}

impl Workshop {
    pub(super) fn set_up(
        recipe: &EmiRecipe,
        progress: &dyn Progress,
    ) -> Result<Workshop, LabError> {
        let reference = reference(&recipe.compilers);
        // What cannot be found is said before anything is built.
        let clang = load_libclang(&reference.find()?)?;
        let gcc = Driver::newest(Family::Gcc)?;
        let cores = thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        // One for each core, and one to look into what they find.
        let n_hands = cores.saturating_add(1);
        let (testers, crews) = Testers::set_up(recipe, n_hands, progress)?;
        let (targets, flavor) = (Targets::Native, Flavor::Plain);
        let mut bench = Bench::set_up(&reference, targets, flavor, Some(n_hands), progress)?;
        let judges = Judges::find(&bench.install, gcc, bench.pool.first(), progress)?;
        let pool = match recipe.strategies.contains(&Strategy::Athena) {
            true => {
                let mut accepts = |text: &str| judges.is_for_gcc(text);
                ingredients(&bench.install, &clang, &mut accepts, progress)?
            }
            false => Pool::gather(&[]),
        };
        let programs = Programs::open(recipe.programs.clone(), &mut bench)?;
        Ok(Workshop { bench, testers, crews, judges, clang, pool, programs })
    }

    pub(super) fn settings(&self, recipe: &EmiRecipe) -> EmiSettings {
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
    pub(super) fn notes(&self) -> Vec<String> {
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
