//! `optsleuth bench hunt`: ways to hunt, side by side.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use optsleuth_bench::compare::{ComparePlan, compare};
use optsleuth_case::folder::write_whole;
use optsleuth_hunt::campaign::HuntStop;
use optsleuth_model::{Compared, SequenceChoice};
use optsleuth_report::{compare_csv, compare_json, compare_markdown, compare_text};

use crate::command::hunt::{RecipeFlags, callback_binary};
use crate::command::{parse_duration, print, style};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Bar;

/// Compare ways to choose sequences: the bugs they find in the same time
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  optsleuth bench hunt --llvm 14 --budget 2m -o ways/
  optsleuth bench hunt --llvm 14 --strategies ctos,random --seeds 10 --budget 10m -o ways/
  optsleuth bench hunt --llvm 14 --tests 500 -o ways/         # equal tests instead of equal time

Each run is a campaign of its own in the output folder, with programs of its own; the time includes
making, checking and selecting programs. ways.md, ways.csv and ways.json have the figures. The same
command continues an interrupted comparison.
Exit codes: 0 done, 130 interrupted.")]
pub(crate) struct Hunt {
    #[command(flatten)]
    recipe: RecipeFlags,
    /// What to compare: ctos, random, pairwise, guided; all if not given
    #[arg(long, value_name = "WAYS", value_delimiter = ',', value_parser = parse_strategy)]
    strategies: Vec<SequenceChoice>,
    /// With how many seeds: 1, 2, and so on
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// How long each run hunts
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = parse_duration)]
    budget: Duration,
    /// End each run after this many tests instead
    #[arg(long, value_name = "N", conflicts_with = "budget")]
    tests: Option<u64>,
    /// Where campaigns and results are kept
    #[arg(short, long, value_name = "FOLDER", default_value = "hunt-results")]
    output: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Hunt {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let stop = match self.tests {
            Some(tests) => HuntStop { budget: None, tests: Some(tests) },
            None => HuntStop { budget: Some(self.budget), tests: None },
        };
        let plan = ComparePlan {
            recipe: self.recipe.recipe(),
            strategies: match self.strategies.is_empty() {
                true => SequenceChoice::ALL.to_vec(),
                false => self.strategies,
            },
            seeds: (1..=self.seeds).collect(),
            stop,
            folder: self.output.clone(),
            callback_binary: callback_binary(),
        };
        let bar = Bar::new();
        let compared = compare(&plan, &bar)?;
        bar.finish();
        keep(&self.output, &compared)?;
        match self.json {
            true => print(&compare_json(&compared)),
            false => print(&compare_text(&compared, style())),
        }
        Ok(if compared.interrupted { Exit::Interrupted } else { Exit::Clean })
    }
}

fn keep(folder: &std::path::Path, compared: &Compared) -> Result<(), Failure> {
    let files = [
        ("ways.md", compare_markdown(compared)),
        ("ways.csv", compare_csv(compared)),
        ("ways.json", compare_json(compared)),
    ];
    for (name, text) in files {
        let path = folder.join(name);
        write_whole(&path, text)?;
    }
    Ok(())
}

fn parse_strategy(text: &str) -> Result<SequenceChoice, String> {
    SequenceChoice::ALL
        .into_iter()
        .find(|strategy| strategy.name() == text)
        .ok_or_else(|| format!("`{text}` is none of ctos, random, pairwise and guided"))
}
