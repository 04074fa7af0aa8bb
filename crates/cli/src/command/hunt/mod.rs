//! `optsleuth hunt`: look for bugs, with pass sequences or with variants of
//! programs; and the flags that both have.

mod passes;
mod variants;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use optsleuth_hunt::HuntError;
use optsleuth_hunt::campaign::{HuntPlan, HuntStart, HuntStop};
use optsleuth_hunt::programs::{ProgramPlan, ProgramSource, SizeProfile, Swarm};
use optsleuth_model::{Campaign, Progress};

use super::campaign::show;
use super::{TrustFlags, parse_duration};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt;
use crate::progress::Bar;

pub(super) use passes::RecipeFlags;
pub(super) use variants::{Strategies, parse_strategies};

/// What `optsleuth hunt` says when it is called alone.
const WHICH: &str = "\
error: say what to hunt with

  optsleuth hunt passes     test LLVM with many programs and pass sequences
  optsleuth hunt variants   test clang, gcc and LLVM with variants of programs that must behave
                            the same

Examples:
  optsleuth hunt passes --llvm 19 --budget 30m -o campaign/
  optsleuth hunt variants --compilers clang-19,gcc-12 --budget 30m -o campaign/
";

/// Look for bugs: in LLVM with pass sequences, in clang and gcc with variants of programs
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  optsleuth hunt passes --llvm 19 --budget 30m -o campaign/
  optsleuth hunt variants --compilers clang-19,gcc-12 --budget 30m -o campaign/
  optsleuth hunt passes --resume campaign/ --budget 30m      # go on
  optsleuth campaign show campaign/                          # what was found, also meanwhile

`optsleuth hunt passes --help` and `optsleuth hunt variants --help` have all flags.")]
pub(crate) struct Hunt {
    #[command(subcommand)]
    command: Option<HuntCommand>,
}

#[derive(Debug, Subcommand)]
enum HuntCommand {
    Passes(Box<passes::Passes>),
    Variants(Box<variants::Variants>),
}

impl Hunt {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        match self.command {
            Some(HuntCommand::Passes(passes)) => passes.run(),
            Some(HuntCommand::Variants(variants)) => variants.run(),
            None => {
                eprint!("{WHICH}");
                Ok(Exit::Usage)
            }
        }
    }
}

/// What every campaign is begun with.
#[derive(Debug, Args)]
struct BeginFlags {
    /// The campaign's folder
    #[arg(long, short, value_name = "DIR", required_unless_present = "resume")]
    output: Option<PathBuf>,
    /// Where the random numbers start
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// What is said for one session, whatever the campaign was begun with.
#[derive(Debug, Args)]
struct SessionFlags {
    /// How long, as in 30m; until Ctrl-C if neither this nor --tests is given
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    budget: Option<Duration>,
    /// End when the campaign has this many tests; what is found then depends on the seed alone
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    tests: Option<u64>,
    /// How long the program of a finding is made smaller; 0 leaves it to triage
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = parse_pause)]
    reduce: Duration,
    #[command(flatten)]
    trust: TrustFlags,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Where programs come from.
#[derive(Debug, Args)]
pub(super) struct SourceFlags {
    /// Where programs come from: csmith, or a folder of C, for pass sequences also of IR
    #[arg(long, value_name = "csmith|DIR", default_value = "csmith")]
    programs: PathBuf,
    /// How csmith's probabilities are chosen: default, on-off or graded
    #[arg(long, value_name = "HOW", default_value_t = Swarm::Default)]
    swarm: Swarm,
    /// How large csmith's programs are: small, or as in the CTOS paper
    #[arg(long, value_name = "SIZE", default_value_t = SizeProfile::Small)]
    size: SizeProfile,
    /// Leave out programs with less C than this
    #[arg(long, value_name = "BYTES")]
    min_bytes: Option<usize>,
}

impl SourceFlags {
    pub(super) fn plan(self, seed: u64) -> ProgramPlan {
        let source = match self.programs.as_os_str() == "csmith" {
            true => ProgramSource::Csmith(self.swarm),
            false => ProgramSource::Folder(absolute(self.programs)),
        };
        ProgramPlan { source, size: self.size, min_bytes: self.min_bytes, seed }
    }
}

impl SessionFlags {
    /// Hunts, and shows what came of it. A recipe begins a campaign in the folder;
    /// without one it goes on.
    fn hunt<Recipe>(
        self,
        folder: PathBuf,
        recipe: Option<Recipe>,
        hunt: fn(&HuntPlan<Recipe>, &dyn Progress) -> Result<Campaign, HuntError>,
    ) -> Result<Exit, Failure> {
        let plan = HuntPlan {
            start: recipe.map_or(HuntStart::Resume, |recipe| HuntStart::New(Box::new(recipe))),
            folder,
            trust: self.trust.trust(),
            stop: HuntStop { budget: self.budget, tests: self.tests },
            reduce: Some(self.reduce).filter(|time| !time.is_zero()),
            callback_binary: callback_binary(),
        };
        let bar = Bar::new();
        let found = hunt(&plan, &bar);
        bar.finish();
        let found = found?;
        show(&plan.folder, &found, self.json)?;
        Ok(match (interrupt::requested(), found.findings.is_empty()) {
            (true, _) => Exit::Interrupted,
            (false, true) => Exit::Clean,
            (false, false) => Exit::BugFound,
        })
    }
}

/// This program, which external reducers call back.
pub(super) fn callback_binary() -> PathBuf {
    std::env::current_exe().unwrap_or_else(|_| PathBuf::from("optsleuth"))
}

/// A hunt may go on from another folder.
fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

/// A time, or 0.
fn parse_pause(text: &str) -> Result<Duration, String> {
    if text == "0" || text == "0s" { Ok(Duration::ZERO) } else { parse_duration(text) }
}
