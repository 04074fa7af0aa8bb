//! `optsleuth bench variants`: are variants equivalent to their programs, and what
//! are they worth?

use std::path::{Path, PathBuf};

use clap::Args;
use optsleuth_bench::variants::{VariantBenchPlan, bench_variants};
use optsleuth_case::folder::write_whole;
use optsleuth_model::VariantBench;
use optsleuth_report::{
    variant_bench_json, variant_bench_markdown, variant_bench_picture, variant_bench_text,
};

use crate::command::hunt::{SourceFlags, Strategies, parse_strategies};
use crate::command::{print, style};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Bar;

/// Derive variants of programs, and count those that do not behave as they must
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  optsleuth bench variants --count 200 --variants 10 -o variants/
  optsleuth bench variants --count 100 --coverage 19 -o variants/    # and LLVM's coverage
  optsleuth bench variants --strategies orion --programs tests/ --count 20 -o variants/

Every variant is compared with its program at -O0 by clang and by gcc, and run under clang's
address and undefined-behaviour sanitizers. No compiler is tested. variants.json has all figures,
variants.md a table, and with --coverage gained.svg a picture; wrong variants are kept in errors/.
Exit codes: 0 all variants are equivalent, 3 some are not, 130 interrupted.")]
pub(crate) struct Variants {
    /// How many programs
    #[arg(long, alias = "seeds", value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,
    /// How many variants of each program, by each strategy
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1000))]
    variants: u64,
    /// Who makes them: hermes, athena, orion or all
    #[arg(long, value_name = "STRATEGY", default_value = "all", value_parser = parse_strategies)]
    strategies: Strategies,
    /// Also measure how much of this LLVM's code they execute, at all levels
    #[arg(long, value_name = "LLVM")]
    coverage: Option<u32>,
    /// Where the random numbers start
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    source: SourceFlags,
    /// Where results are kept
    #[arg(short, long, value_name = "FOLDER", default_value = "variant-results")]
    output: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Variants {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let plan = VariantBenchPlan {
            programs: self.source.plan(self.seed),
            count: self.count,
            variants: self.variants,
            strategies: self.strategies.0,
            seed: self.seed,
            coverage: self.coverage,
            folder: self.output.clone(),
        };
        let bar = Bar::new();
        let found = bench_variants(&plan, &bar)?;
        bar.finish();
        keep(&self.output, &found)?;
        match self.json {
            true => print(&variant_bench_json(&found)),
            false => print(&variant_bench_text(&found, style())),
        }
        Ok(match (found.interrupted, found.errors.is_empty()) {
            (true, _) => Exit::Interrupted,
            (false, true) => Exit::Clean,
            (false, false) => Exit::Unstable,
        })
    }
}

fn keep(folder: &Path, found: &VariantBench) -> Result<(), Failure> {
    let files = [
        ("variants.json", variant_bench_json(found)),
        ("variants.md", variant_bench_markdown(found)),
    ];
    let picture = variant_bench_picture(found).map(|picture| ("gained.svg", picture));
    for (name, text) in files.into_iter().chain(picture) {
        let path = folder.join(name);
        write_whole(&path, text)?;
    }
    Ok(())
}
