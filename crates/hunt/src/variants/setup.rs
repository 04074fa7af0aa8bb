//! What is set up before the first base program: compilers under test, judges, libclang,
//! Athena's statements, the source of programs, and a lane for every core.
//!
//! **Invariant:** what is missing on this machine is said before anything is
//! built or a folder written.

use std::num::NonZero;
use std::thread;

use optsleuth_case::workers::{LlvmChoice, Workers};
use optsleuth_compiler::driver::{Driver, Family};
use optsleuth_compiler::llvm::{Flavor, Targets};
use optsleuth_model::{Progress, VariantSettings};
use optsleuth_mutate::emi::Strategy;
use optsleuth_mutate::{Libclang, Pool};
use optsleuth_triage::c_programs::load_libclang;
use optsleuth_triage::witness::programs_at_hand;

use super::compilers::{Compilers, LanePools};
use super::recipe::{CompilerChoice, VariantRecipe};
use super::valid::Judges;
use crate::HuntError;
use crate::campaign::Beginning;
use crate::programs::Programs;

/// Everything that is set up before the first base program.
pub struct Setup {
    pub workers: Workers,
    pub compilers: Compilers,
    pub lane_pools: LanePools,
    pub judges: Judges,
    pub clang: Libclang,
    pub pool: Pool,
    pub programs: Programs,
}

impl Setup {
    pub fn new(recipe: &VariantRecipe, progress: &dyn Progress) -> Result<Setup, HuntError> {
        let reference = reference(&recipe.compilers);
        // What cannot be found is said before anything is built.
        let clang = load_libclang(&reference.find()?)?;
        let gcc = Driver::newest(Family::Gcc)?;
        let cores = thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        // One for each core, and one to look into what they find.
        let n_lanes = cores.saturating_add(1);
        let (compilers, lane_pools) = Compilers::set_up(recipe, n_lanes, progress)?;
        let (targets, flavor) = (Targets::Native, Flavor::Plain);
        let mut workers = Workers::set_up(&reference, targets, flavor, Some(n_lanes), progress)?;
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
        Ok(Setup { workers, compilers, lane_pools, judges, clang, pool, programs })
    }

    pub fn settings(&self, recipe: &VariantRecipe) -> VariantSettings {
        let compilers = self.compilers.all.iter();
        VariantSettings {
            strategies: recipe.strategies.iter().map(|one| one.name().to_owned()).collect(),
            compilers: compilers.map(|one| (one.name.clone(), one.version.clone())).collect(),
            levels: recipe.levels.iter().map(|level| level.name().to_owned()).collect(),
            variants: recipe.variants,
            judges: self.judges.names(),
            fault: recipe.broken.as_ref().map(|broken| broken.fault.clone()),
        }
    }

    /// What is known of the campaign when it begins.
    pub(crate) fn beginning(&self, recipe: &VariantRecipe) -> Beginning {
        Beginning {
            seed: recipe.seed,
            source: recipe.programs.to_string(),
            // One lane examines what the others find.
            workers: self.workers.pool.size() as u64 - 1,
            n_blocks: self.compilers.n_blocks(),
            notes: self.judges.notes().into_iter().chain(self.programs.notes()).collect(),
        }
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
