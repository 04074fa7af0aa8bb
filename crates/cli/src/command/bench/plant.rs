//! `optsleuth bench plant`: cases of a compiler that is broken in one known
//! function.

use std::path::PathBuf;

use clap::Args;
use optsleuth_bench::plant::{PlantPlan, plant};
use optsleuth_report::{plant_json, plant_text};

use crate::command::{LlvmFlags, print, style};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Bar;

/// Break LLVM in known places and keep what shows as cases
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  optsleuth bench plant --llvm 19 --count 50 -o faults/
  optsleuth bench plant --llvm 19 --count 20 --seed 7 --programs corpus/ -o faults-7/
  optsleuth bench plant --llvm 19 --count 100 --zoomed -o inlined/   # in inlined functions, too

Each case has an LLVM of its own that differs from the real one in one instruction of one
function of a pass or an analysis: a branch that goes the other way, a block that is left
out, a constant that is one off. It fails where the unmodified LLVM passes, and most programs
pass with both. `case check`, `localize` and `report` work on these cases as on any other.
The same arguments give the same cases. Ctrl-C ends it and keeps the cases made so far; the same
command continues.")]
pub(crate) struct Plant {
    #[command(flatten)]
    llvm: LlvmFlags,
    /// How many cases to make
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    count: u64,
    /// Where the random numbers start
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// The folder for the cases
    #[arg(long, short, value_name = "FOLDER")]
    output: PathBuf,
    /// C programs to use instead of csmith's
    #[arg(long, value_name = "FOLDER")]
    programs: Option<PathBuf>,
    /// How many programs to generate
    #[arg(long, value_name = "N", default_value_t = 12, conflicts_with = "programs", value_parser = clap::value_parser!(u64).range(2..=200))]
    generate: u64,
    /// Break files that are compiled anew from LLVM's source, without inlining: so many of those
    /// that programs reach most; half of the faults are in functions that are inlined otherwise
    #[arg(long, value_name = "FILES", num_args = 0..=1, default_missing_value = "24", value_parser = clap::value_parser!(u64).range(1..=200))]
    zoomed: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Plant {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let plan = PlantPlan {
            llvm: self.llvm.choice(),
            count: size(self.count),
            seed: self.seed,
            programs: self.programs,
            n_programs: size(self.generate),
            zoomed: self.zoomed.map(size),
            output: self.output,
        };
        let bar = Bar::new();
        let report = plant(&plan, &bar)?;
        bar.finish();
        match self.json {
            true => print(&plant_json(&report)),
            false => print(&plant_text(&report, style())),
        }
        Ok(if report.interrupted { Exit::Interrupted } else { Exit::Clean })
    }
}
