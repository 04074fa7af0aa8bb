//! `optsleuth bench emi`: are variants equivalent to their programs, and what
//! are they worth?

use std::path::{Path, PathBuf};

use clap::Args;
use optsleuth_bench::variants::{EmiBenchPlan, bench_emi};
use optsleuth_case::folder::write_whole;
use optsleuth_hunt::programs::{ProgramPlan, ProgramSource, SizeProfile, Swarm};
use optsleuth_model::EmiBench;
use optsleuth_report::{emi_bench_json, emi_bench_markdown, emi_bench_picture, emi_bench_text};

use crate::command::emi::{Strategies, parse_strategies};
use crate::command::{print, style};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Bar;

/// Derive variants of programs, and count those that do not behave as they must
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  optsleuth bench emi --seeds 200 --variants 10 -o variants/
  optsleuth bench emi --seeds 100 --coverage 19 -o variants/      # and what of LLVM 19 they execute
  optsleuth bench emi --strategies orion --programs tests/ --seeds 20 -o variants/

Every variant is compared with its program at -O0 by clang and by gcc, and run under clang's
address and undefined-behaviour sanitizers. No compiler is tested. emi.json has all figures,
emi.md a table, and with --coverage gained.svg a picture; wrong variants are kept in errors/.
Exit codes: 0 all variants are equivalent, 3 some are not, 130 interrupted.")]
pub(crate) struct Emi {
    /// How many programs
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
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
    /// Where programs come from: csmith, or a folder of C
    #[arg(long, value_name = "csmith|DIR", default_value = "csmith")]
    programs: PathBuf,
    /// How csmith's probabilities are chosen: default, on-off or graded
    #[arg(long, value_name = "HOW", default_value_t = Swarm::Default)]
    swarm: Swarm,
    /// How large csmith's programs are: small or paper
    #[arg(long, value_name = "SIZE", default_value_t = SizeProfile::Small)]
    size: SizeProfile,
    /// Where results are kept
    #[arg(short, long, value_name = "FOLDER", default_value = "emi-results")]
    output: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Emi {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let source = match self.programs.as_os_str() == "csmith" {
            true => ProgramSource::Csmith(self.swarm),
            false => ProgramSource::Folder(self.programs),
        };
        let programs = ProgramPlan { source, size: self.size, min_bytes: None, seed: self.seed };
        let plan = EmiBenchPlan {
            programs,
            seeds: self.seeds,
            variants: self.variants,
            strategies: self.strategies.0,
            seed: self.seed,
            coverage: self.coverage,
            folder: self.output.clone(),
        };
        let bar = Bar::new();
        let found = bench_emi(&plan, &bar)?;
        bar.finish();
        keep(&self.output, &found)?;
        match self.json {
            true => print(&emi_bench_json(&found)),
            false => print(&emi_bench_text(&found, style())),
        }
        Ok(match (found.interrupted, found.errors.is_empty()) {
            (true, _) => Exit::Interrupted,
            (false, true) => Exit::Clean,
            (false, false) => Exit::Unstable,
        })
    }
}

fn keep(folder: &Path, found: &EmiBench) -> Result<(), Failure> {
    let files = [("emi.json", emi_bench_json(found)), ("emi.md", emi_bench_markdown(found))];
    let picture = emi_bench_picture(found).map(|picture| ("gained.svg", picture));
    for (name, text) in files.into_iter().chain(picture) {
        let path = folder.join(name);
        write_whole(&path, text)?;
    }
    Ok(())
}
