//! `optsleuth hunt passes`: test LLVM with many programs and pass sequences.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use optsleuth_hunt::passes::{
    PassChoice, PassRecipe, ProgramSelection, hunt, parse_exclusion, table_3,
};
use optsleuth_model::{Exclusion, SequenceChoice};

use super::{BeginFlags, SessionFlags, SourceFlags, absolute};
use crate::command::LlvmFlags;
use crate::exit::Exit;
use crate::failure::Failure;

/// Test LLVM with many programs and pass sequences
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  optsleuth hunt passes --llvm 19 --budget 30m -o campaign/
  optsleuth hunt passes --llvm 19 --only-default-passes --auto-exclude -o campaign/
  optsleuth hunt passes --llvm 22 --guide coverage --budget 2h -o campaign/
  optsleuth hunt passes --llvm 19 --programs tests/ -o campaign/    # your own C or IR programs
  optsleuth hunt passes --llvm 19 --shard 3/16 -o part-3/           # one of 16 machines
  optsleuth hunt passes --resume campaign/ --budget 30m             # go on
  optsleuth triage campaign/cases/001-crash-gvn                     # a finding in detail

The hunt compiles every program with every sequence and executes it. It examines every crash,
invalid IR, wrong behaviour and hang: it runs the test again, reduces its passes, drops
duplicates, confirms the failure with the distribution's own tools, and writes the rest as cases.
campaign.html shows all of it. Ctrl-C ends it; even kill -9 loses only the tests
in flight, which --resume repeats. docs/hunt.md says more.
Exit codes: 0 nothing found, 2 bugs found, 4 csmith is not installed, 130 Ctrl-C.")]
pub(super) struct Passes {
    #[command(flatten)]
    begin: BeginFlags,
    #[command(flatten)]
    choice: ChoiceFlags,
    #[command(flatten)]
    recipe: RecipeFlags,
    /// Go on with the campaign of this folder, by the recipe it was begun with
    #[arg(long, value_name = "DIR", conflicts_with_all = ["BeginFlags", "ChoiceFlags", "RoundFlags", "SourceFlags", "LlvmFlags"])]
    resume: Option<PathBuf>,
    #[command(flatten)]
    session: SessionFlags,
}

/// How sequences and programs are chosen.
#[derive(Debug, Args)]
struct ChoiceFlags {
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
}

/// What a hunt is made of, however sequences are chosen.
#[derive(Debug, Args)]
pub(crate) struct RecipeFlags {
    #[command(flatten)]
    llvm: LlvmFlags,
    #[command(flatten)]
    source: SourceFlags,
    #[command(flatten)]
    rounds: RoundFlags,
}

/// What rounds have.
#[derive(Debug, Args)]
struct RoundFlags {
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

/// One value of `--exclude`.
#[derive(Clone, Debug)]
struct Exclusions(Vec<Exclusion>);

impl Passes {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        match self.resume {
            Some(folder) => self.session.hunt(folder, None, hunt),
            None => {
                let recipe = self.choice.recipe(self.recipe, self.begin.seed);
                self.session.hunt(self.begin.output.unwrap_or_default(), Some(recipe), hunt)
            }
        }
    }
}

impl ChoiceFlags {
    fn recipe(self, recipe: RecipeFlags, seed: u64) -> PassRecipe {
        let mut recipe = recipe.recipe();
        recipe.seed = seed;
        recipe.programs.seed = seed;
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
        // What nothing is chosen from need not be made.
        if recipe.selection == ProgramSelection::All {
            recipe.program_pool.0 = recipe.program_pool.1;
        }
        recipe.shard = self.shard;
        recipe
    }
}

impl RecipeFlags {
    /// A hunt of CTOS's kind, from seed 1, in one piece.
    pub(crate) fn recipe(self) -> PassRecipe {
        let rounds = self.rounds;
        let passes = match (rounds.passes_from, rounds.only_default_passes) {
            (Some(file), _) => PassChoice::From(absolute(file)),
            (None, true) => PassChoice::OnlyDefault,
            (None, false) => PassChoice::All,
        };
        let seed = 1;
        PassRecipe {
            llvm: self.llvm.choice(),
            seed,
            sequences: SequenceChoice::Ctos,
            selection: ProgramSelection::Ctos,
            programs: self.source.plan(seed),
            passes,
            length: rounds.length,
            sequence_pool: (
                rounds.sequence_pool.max(rounds.round_sequences),
                rounds.round_sequences,
            ),
            program_pool: (rounds.program_pool.max(rounds.round_programs), rounds.round_programs),
            exclusions: rounds.exclude.into_iter().flat_map(|Exclusions(list)| list).collect(),
            auto_exclude: rounds.auto_exclude,
            shard: (1, 1),
            coverage_every: rounds.coverage_every,
        }
    }
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
