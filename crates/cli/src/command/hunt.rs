//! `optsleuth hunt`: look for bugs, with many programs and pass sequences.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use optsleuth_hunt::campaign::database::CampaignKind;
use optsleuth_hunt::passes::{
    HuntPlan, HuntRecipe, HuntStart, HuntStop, PassChoice, ProgramSelection, hunt, parse_exclusion,
    table_3,
};
use optsleuth_hunt::programs::{ProgramPlan, ProgramSource, SizeProfile, Swarm};
use optsleuth_hunt::variants::{EmiPlan, EmiStart, hunt_emi};
use optsleuth_model::{Exclusion, SequenceChoice};

use super::campaign::{show, show_emi};
use super::emi::EmiFlags;
use super::{LlvmFlags, parse_duration};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt;
use crate::progress::Bar;

/// What a campaign was begun with, and keeps to.
const RECIPE: [&str; 27] = [
    "output",
    "seed",
    "sequences",
    "guide",
    "select",
    "shard",
    "llvm",
    "llvm_config",
    "length",
    "passes_from",
    "only_default_passes",
    "exclude",
    "auto_exclude",
    "sequence_pool",
    "round_sequences",
    "programs",
    "swarm",
    "size",
    "min_bytes",
    "program_pool",
    "round_programs",
    "coverage_every",
    "emi",
    "compilers",
    "levels",
    "variants",
    "fault",
];

/// Look for bugs in LLVM with many programs and pass sequences; in clang and gcc with variants
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  optsleuth hunt --llvm 19 --budget 30m -o campaign/
  optsleuth hunt --llvm 19 --only-default-passes --auto-exclude -o campaign/
  optsleuth hunt --llvm 22 --guide coverage --budget 2h -o campaign/
  optsleuth hunt --llvm 19 --programs tests/ -o campaign/    # your own C or IR programs
  optsleuth hunt --llvm 19 --shard 3/16 -o part-3/           # one of 16 machines
  optsleuth hunt --emi hermes --compilers clang-19,gcc-12 --budget 30m -o campaign/
  optsleuth hunt --emi all --compilers llvm-19 --programs tests/ --tests 5000 -o campaign/
  optsleuth hunt --resume campaign/ --budget 30m             # go on
  optsleuth triage campaign/cases/001-crash-gvn              # a finding in detail

Every program is compiled with every sequence and executed. What crashes, is invalid, does
something else than unoptimized, or takes too long is looked into: it is run again, its passes are
reduced, duplicates are recognized, the distribution's own tools are asked, and the rest is
written as cases. campaign.html shows all of it. Ctrl-C ends it; nothing is lost by that, nor by
kill -9. docs/hunt.md says more.
With --emi, every program is varied in ways that must not change what it does, every variant is
checked for that, and compiled at every level by every compiler; docs/emi.md says more.
Exit codes: 0 nothing found, 2 bugs found, 4 csmith is not installed, 130 Ctrl-C.")]
pub(crate) struct Hunt {
    #[command(flatten)]
    emi: EmiFlags,
    #[command(flatten)]
    recipe: RecipeFlags,
    /// The campaign's folder
    #[arg(long, short, value_name = "DIR", required_unless_present = "resume")]
    output: Option<PathBuf>,
    /// Go on with the campaign of this folder, by the recipe it was begun with
    #[arg(long, value_name = "DIR", conflicts_with_all = RECIPE)]
    resume: Option<PathBuf>,
    /// How long, as in 30m; until Ctrl-C if neither this nor --tests is given
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    budget: Option<Duration>,
    /// End when the campaign has this many tests; what is found then depends on the seed alone
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    tests: Option<u64>,
    /// Where the random numbers start
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// How sequences are chosen
    #[arg(long, value_enum, default_value_t = Sequences::Ctos)]
    sequences: Sequences,
    /// What leads the choice of sequences and programs
    #[arg(long, value_enum, conflicts_with = "sequences")]
    guide: Option<Guide>,
    /// How programs are selected
    #[arg(long, value_enum, default_value_t = Selection::Ctos)]
    select: Selection,
    /// Do one part of a campaign, as in 3/16; `optsleuth campaign merge` joins them
    #[arg(long, value_name = "I/N", default_value = "1/1", value_parser = parse_shard)]
    shard: (u64, u64),
    /// How long the program of a finding is made smaller; 0 leaves it to triage
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = parse_pause)]
    reduce: Duration,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What a hunt is made of, whatever its strategy.
#[derive(Debug, Args)]
pub(crate) struct RecipeFlags {
    #[command(flatten)]
    llvm: LlvmFlags,
    /// How many passes a sequence has, at least and at most
    #[arg(long, value_name = "MIN..MAX", default_value = "50..200", value_parser = parse_length)]
    length: (usize, usize),
    /// Take passes from this file: one a line, with or without parameters
    #[arg(long, value_name = "FILE", conflicts_with = "only_default_passes")]
    passes_from: Option<PathBuf>,
    /// Keep to passes that -O1, -O2 or -O3 run
    #[arg(long)]
    only_default_passes: bool,
    /// Passes that may not follow each other: `gvn-hoist,early-cse: why`, or table-3 for the CTOS
    /// paper's list; may be given several times
    #[arg(long, value_name = "PASSES", value_parser = parse_exclusions)]
    exclude: Vec<Exclusions>,
    /// Leave out what only brings more duplicates of known findings
    #[arg(long)]
    auto_exclude: bool,
    /// How many sequences are drawn for a round, for those that represent them to be used
    #[arg(long, value_name = "N", default_value_t = 6000, value_parser = parse_size)]
    sequence_pool: usize,
    /// How many sequences a round has
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = parse_size)]
    round_sequences: usize,
    /// Where programs come from: csmith, or a folder of C or IR
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
    /// How many programs are made for a round, for those that represent them to be used
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = parse_size)]
    program_pool: usize,
    /// How many programs a round has
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = parse_size)]
    round_programs: usize,
    /// Measure the compiler's coverage with one test in N
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..))]
    coverage_every: u64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Sequences {
    /// The most representative of many random ones
    Ctos,
    /// Random ones
    Random,
    /// Any two passes at any two places
    Pairwise,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Guide {
    /// Vary what reached new parts of the compiler
    Coverage,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Selection {
    /// The most representative ones, by control flow and calls
    Ctos,
    /// The most representative ones, by counts of what is in them
    Features,
    /// All
    All,
}

/// What is to be done.
enum Plan {
    Sequences(HuntPlan),
    Emi(EmiPlan),
}

/// One value of `--exclude`.
#[derive(Clone, Debug)]
struct Exclusions(Vec<Exclusion>);

impl Hunt {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let json = self.json;
        match self.plan()? {
            Plan::Sequences(plan) => {
                let bar = Bar::new();
                let found = hunt(&plan, &bar);
                bar.finish();
                let found = found?;
                show(&plan.folder, &found, json)?;
                Ok(ended(found.findings.is_empty()))
            }
            Plan::Emi(plan) => {
                let bar = Bar::new();
                let found = hunt_emi(&plan, &bar);
                bar.finish();
                let found = found?;
                show_emi(&plan.folder, &found, json)?;
                Ok(ended(found.findings.is_empty()))
            }
        }
    }

    fn plan(self) -> Result<Plan, Failure> {
        let stop = HuntStop { budget: self.budget, tests: self.tests };
        let reduce = Some(self.reduce).filter(|time| !time.is_zero());
        let asker = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("optsleuth"));
        if let Some(folder) = self.resume {
            return Ok(match CampaignKind::of(&folder)? {
                CampaignKind::Sequences => {
                    let start = HuntStart::Resume;
                    Plan::Sequences(HuntPlan { start, folder, stop, reduce, asker })
                }
                CampaignKind::Emi => {
                    let start = EmiStart::Resume;
                    Plan::Emi(EmiPlan { start, folder, stop, reduce, asker })
                }
            });
        }
        let folder = self.output.clone().unwrap_or_default();
        if let Some(strategies) = self.emi.emi.clone() {
            let mut programs = self.recipe.recipe().programs;
            programs.seed = self.seed;
            let recipe = self.emi.recipe(strategies, self.seed, programs)?;
            let start = EmiStart::New(Box::new(recipe));
            return Ok(Plan::Emi(EmiPlan { start, folder, stop, reduce, asker }));
        }
        let start = HuntStart::New(Box::new(self.recipe()));
        Ok(Plan::Sequences(HuntPlan { start, folder, stop, reduce, asker }))
    }

    fn recipe(self) -> HuntRecipe {
        let mut recipe = self.recipe.recipe();
        recipe.seed = self.seed;
        recipe.programs.seed = self.seed;
        recipe.sequences = match (self.guide, self.sequences) {
            (Some(Guide::Coverage), _) => SequenceChoice::Guided,
            (None, Sequences::Ctos) => SequenceChoice::Ctos,
            (None, Sequences::Random) => SequenceChoice::Random,
            (None, Sequences::Pairwise) => SequenceChoice::Pairwise,
        };
        recipe.selection = match self.select {
            Selection::Ctos => ProgramSelection::Ctos,
            Selection::Features => ProgramSelection::Features,
            Selection::All => ProgramSelection::All,
        };
        // What nobody chooses among need not be made.
        if recipe.selection == ProgramSelection::All {
            recipe.program_pool.0 = recipe.program_pool.1;
        }
        recipe.shard = self.shard;
        recipe
    }
}

impl RecipeFlags {
    /// A hunt of CTOS's kind, from seed 1, in one piece.
    pub(super) fn recipe(self) -> HuntRecipe {
        let passes = match (self.passes_from, self.only_default_passes) {
            (Some(file), _) => PassChoice::From(absolute(file)),
            (None, true) => PassChoice::OnlyDefault,
            (None, false) => PassChoice::All,
        };
        let seed = 1;
        let source = match self.programs.as_os_str() == "csmith" {
            true => ProgramSource::Csmith(self.swarm),
            false => ProgramSource::Folder(absolute(self.programs)),
        };
        HuntRecipe {
            llvm: self.llvm.choice(),
            seed,
            sequences: SequenceChoice::Ctos,
            selection: ProgramSelection::Ctos,
            programs: ProgramPlan { source, size: self.size, min_bytes: self.min_bytes, seed },
            passes,
            length: self.length,
            sequence_pool: (self.sequence_pool.max(self.round_sequences), self.round_sequences),
            program_pool: (self.program_pool.max(self.round_programs), self.round_programs),
            exclusions: self.exclude.into_iter().flat_map(|Exclusions(list)| list).collect(),
            auto_exclude: self.auto_exclude,
            shard: (1, 1),
            coverage_every: self.coverage_every,
        }
    }
}

/// How a hunt ends.
fn ended(is_clean: bool) -> Exit {
    match (interrupt::requested(), is_clean) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Clean,
        (false, false) => Exit::BugFound,
    }
}

/// A hunt may go on from another folder.
fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

/// `50..200`, or `100` for exactly that many.
fn parse_length(text: &str) -> Result<(usize, usize), String> {
    let number = |text: &str| text.trim().parse::<usize>().ok().filter(|n| (1..=5000).contains(n));
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    match (number(from), number(to)) {
        (Some(from), Some(to)) if from <= to => Ok((from, to)),
        _ => Err("give two numbers from 1 to 5000 such as 50..200".to_owned()),
    }
}

/// At least one.
fn parse_size(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(size) if size > 0 => Ok(size),
        _ => Err("give a number from 1 on".to_owned()),
    }
}

/// `3/16`.
fn parse_shard(text: &str) -> Result<(u64, u64), String> {
    let number = |text: &str| text.trim().parse::<u64>().ok();
    match text.split_once('/').map(|(part, of)| (number(part), number(of))) {
        Some((Some(part), Some(of))) if part >= 1 && part <= of => Ok((part, of)),
        _ => Err("give a part and how many there are, such as 1/16".to_owned()),
    }
}

/// A time, or 0.
fn parse_pause(text: &str) -> Result<Duration, String> {
    if text == "0" || text == "0s" { Ok(Duration::ZERO) } else { parse_duration(text) }
}

fn parse_exclusions(text: &str) -> Result<Exclusions, String> {
    match text {
        "table-3" => Ok(Exclusions(table_3())),
        _ => Ok(Exclusions(vec![parse_exclusion(text)?])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_shards_are_pairs() {
        assert_eq!(parse_length("50..200"), Ok((50, 200)));
        assert_eq!(parse_length("7"), Ok((7, 7)));
        assert!(parse_length("9..3").is_err());
        assert!(parse_length("0..3").is_err());
        assert_eq!(parse_shard("3/16"), Ok((3, 16)));
        for wrong in ["0/4", "5/4", "1", "a/b", "1/0"] {
            assert!(parse_shard(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_papers_list_goes_by_a_name() {
        assert_eq!(parse_exclusions("table-3").unwrap().0.len(), 8);
        assert_eq!(parse_exclusions("sroa,gvn").unwrap().0.len(), 1);
        assert!(parse_exclusions("sroa,").is_err());
    }
}
