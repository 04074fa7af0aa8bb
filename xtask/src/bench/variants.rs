//! How many variants (equivalence modulo inputs) are derived, and how many
//! programs a hunt with them tests at five levels.

use std::path::PathBuf;
use std::time::Duration;

use optsleuth_bench::variants::{VariantBenchPlan, bench_variants};
use optsleuth_compiler::workdir::Workdir;
use optsleuth_hunt::campaign::{HuntPlan, HuntStart, HuntStop};
use optsleuth_hunt::programs::{ProgramPlan, ProgramSource, SizeProfile, Swarm};
use optsleuth_hunt::variants::{CompilerChoice, LEVELS, VariantRecipe, hunt};
use optsleuth_model::{Hunt, Silent, Trust};
use optsleuth_mutate::emi::Strategy;

use super::raw::{VariantHunts, VariantStrategy, Variants};
use super::rounded;

/// Enough that one slow base program does not decide.
const PROGRAMS: u64 = 4;
/// As many as the paper has.
const VARIANTS: u64 = 10;
const BUDGET: Duration = Duration::from_secs(60);

/// Deriving by each strategy, then hunts with compilers as users call them, and
/// with workers.
pub(super) fn measure(llvm: u32) -> anyhow::Result<Variants> {
    let folder = Workdir::new()?;
    let programs = ProgramPlan {
        source: ProgramSource::Csmith(Swarm::Default),
        size: SizeProfile::Small,
        min_bytes: None,
        seed: 1,
    };
    let derived = bench_variants(
        &VariantBenchPlan {
            programs: programs.clone(),
            count: PROGRAMS,
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
        let recipe = VariantRecipe {
            seed: 1,
            strategies: Strategy::ALL.to_vec(),
            compilers: compilers.clone(),
            levels: LEVELS.to_vec(),
            variants: VARIANTS,
            programs: programs.clone(),
            broken: None,
        };
        let plan = HuntPlan {
            start: HuntStart::New(Box::new(recipe)),
            folder: folder.file(&format!("hunt-{number}")),
            trust: Trust::Author,
            stop: HuntStop { budget: Some(BUDGET), tests: None },
            reduce: None,
            callback_binary: PathBuf::from("optsleuth"),
        };
        let found = hunt(&plan, &Silent)?;
        let made = match &found.hunt {
            Hunt::Variants(hunt) => hunt.variants.iter(),
            Hunt::Passes(_) => [].iter(),
        };
        let n_variants: u64 = made.map(|strategy| strategy.variants).sum();
        hunts.push(VariantHunts {
            compilers: compilers.iter().map(ToString::to_string).collect(),
            programs: found.programs + n_variants,
            tests: found.tests,
            cores: found.workers,
            seconds: rounded(found.seconds),
        });
    }
    let strategies = derived.strategies.into_iter().map(|row| VariantStrategy {
        strategy: row.strategy,
        variants: row.variants + row.errors,
        deriving_seconds: rounded(row.deriving),
        judging_seconds: rounded(row.judging),
    });
    Ok(Variants { strategies: strategies.collect(), hunts })
}
