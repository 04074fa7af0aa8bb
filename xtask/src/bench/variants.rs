//! How many variants (equivalence modulo inputs) are derived, and how many
//! programs a hunt with them tests at five levels.

use std::path::PathBuf;
use std::time::Duration;

use optsleuth_bench::variants::{EmiBenchPlan, bench_emi};
use optsleuth_compiler::workdir::Workdir;
use optsleuth_hunt::passes::HuntStop;
use optsleuth_hunt::programs::{ProgramPlan, ProgramSource, SizeProfile, Swarm};
use optsleuth_hunt::variants::{
    CompilerChoice, EMI_LEVELS, EmiPlan, EmiRecipe, EmiStart, hunt_emi,
};
use optsleuth_model::Silent;
use optsleuth_mutate::emi::Strategy;

use super::raw::{Emi, EmiHunt, EmiStrategy};
use super::rounded;

/// Enough that one slow seed does not decide.
const SEEDS: u64 = 4;
/// As many as the paper has.
const VARIANTS: u64 = 10;
const BUDGET: Duration = Duration::from_secs(60);

/// Deriving by each strategy, then hunts with compilers as users call them, and
/// with workers.
pub(super) fn measure(llvm: u32) -> anyhow::Result<Emi> {
    let folder = Workdir::new()?;
    let programs = ProgramPlan {
        source: ProgramSource::Csmith(Swarm::Default),
        size: SizeProfile::Small,
        min_bytes: None,
        seed: 1,
    };
    let derived = bench_emi(
        &EmiBenchPlan {
            programs: programs.clone(),
            seeds: SEEDS,
            variants: VARIANTS,
            strategies: Strategy::ALL.to_vec(),
            seed: 1,
            coverage: None,
            folder: folder.file("derived"),
        },
        &Silent,
    )?;
    let mut hunts = Vec::new();
    let drivers = optsleuth_hunt::variants::default_compilers()?;
    for (number, compilers) in [drivers, vec![CompilerChoice::Workers(llvm)]].iter().enumerate() {
        let recipe = EmiRecipe {
            seed: 1,
            strategies: Strategy::ALL.to_vec(),
            compilers: compilers.clone(),
            levels: EMI_LEVELS.to_vec(),
            variants: VARIANTS,
            programs: programs.clone(),
            broken: None,
        };
        let plan = EmiPlan {
            start: EmiStart::New(Box::new(recipe)),
            folder: folder.file(&format!("hunt-{number}")),
            stop: HuntStop { budget: Some(BUDGET), tests: None },
            reduce: None,
            asker: PathBuf::from("optsleuth"),
        };
        let found = hunt_emi(&plan, &Silent)?;
        let n_variants: u64 = found.variants.iter().map(|strategy| strategy.variants).sum();
        hunts.push(EmiHunt {
            compilers: compilers.iter().map(ToString::to_string).collect(),
            programs: found.seeds + n_variants,
            tests: found.tests,
            cores: found.workers,
            seconds: rounded(found.seconds),
        });
    }
    let strategies = derived.strategies.into_iter().map(|row| EmiStrategy {
        strategy: row.strategy,
        variants: row.variants + row.errors,
        deriving_seconds: rounded(row.deriving),
        judging_seconds: rounded(row.judging),
    });
    Ok(Emi { strategies: strategies.collect(), hunts })
}
