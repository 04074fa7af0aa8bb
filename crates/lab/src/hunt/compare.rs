//! `optsleuth bench hunt`: ways to hunt, side by side, with equal time.
//!
//! Each run is a campaign in a folder of its own, so all raw data is kept, and a
//! comparison that was interrupted goes on with the runs that are missing.
//!
//! **Invariant:** no run gains by another one: programs are other ones for every
//! way and seed, so that none is checked already when a run begins.

use std::path::{Path, PathBuf};

use optsleuth_model::{Campaign, Finding};
use serde::Serialize;

use super::{CampaignError, HuntPlan, HuntRecipe, HuntStart, HuntStop, campaign, hunt};
use super::{ProgramSelection, SequenceChoice};
use crate::Progress;
use crate::case_folder::write_whole;
use crate::setup::LabError;

/// A way to hunt: how sequences and programs are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// Representative sequences, representative programs.
    Ctos,
    /// Random sequences, every program.
    Random,
    /// Rows of a covering array, every program.
    Pairwise,
    /// Sequences and programs that lead to new parts of the compiler.
    Guided,
}

impl Strategy {
    /// All of them.
    pub const ALL: [Strategy; 4] =
        [Strategy::Ctos, Strategy::Random, Strategy::Pairwise, Strategy::Guided];

    /// A word.
    pub fn name(self) -> &'static str {
        self.sequences().name()
    }

    fn sequences(self) -> SequenceChoice {
        match self {
            Strategy::Ctos => SequenceChoice::Ctos,
            Strategy::Random => SequenceChoice::Random,
            Strategy::Pairwise => SequenceChoice::Pairwise,
            Strategy::Guided => SequenceChoice::Guided,
        }
    }

    /// The recipe of this way, with everything else as it is.
    fn applied(self, recipe: &HuntRecipe, seed: u64) -> HuntRecipe {
        let (pool, used) = recipe.program_pool;
        let (selection, pool) = match self {
            Strategy::Ctos => (ProgramSelection::Ctos, pool),
            _ => (ProgramSelection::All, used),
        };
        let mut recipe = recipe.clone();
        recipe.seed = seed;
        recipe.programs.seed = seed * Strategy::ALL.len() as u64 + self as u64;
        recipe.sequences = self.sequences();
        recipe.selection = selection;
        recipe.program_pool = (pool, used);
        // The same for all: it takes time.
        recipe.coverage_every = 1;
        recipe
    }
}

/// What is to be compared.
#[derive(Clone, Debug)]
pub struct ComparePlan {
    /// Everything but sequences, programs and seeds.
    pub recipe: HuntRecipe,
    /// The ways.
    pub strategies: Vec<Strategy>,
    /// Each with each of these.
    pub seeds: Vec<u64>,
    /// How long each hunts.
    pub stop: HuntStop,
    /// Where campaigns are kept.
    pub folder: PathBuf,
    /// See [`HuntPlan::asker`].
    pub asker: PathBuf,
}

/// One run.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedRun {
    /// How it hunted.
    pub strategy: Strategy,
    /// Its seed.
    pub seed: u64,
    /// How many tests it made.
    pub tests: u64,
    /// With how many programs.
    pub programs: u64,
    /// In how many seconds.
    pub seconds: f64,
    /// How many basic blocks of the compiler it executed.
    pub blocks: u64,
    /// The bugs it found: kind, last pass, signature.
    pub bugs: Vec<String>,
}

/// What came of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// `14.0.6`.
    pub llvm: String,
    /// All runs, by seed and strategy.
    pub runs: Vec<ComparedRun>,
    /// How many blocks this LLVM has.
    pub n_blocks: u64,
    /// Whether somebody ended it early.
    pub interrupted: bool,
}

/// In a campaign's folder: its time is used up.
const FINISHED: &str = "finished";
/// In the folder of a comparison: what all runs have in common.
const COMMON: &str = "common.json";

/// Results of another recipe or time do not belong in the same table.
fn claim(plan: &ComparePlan) -> Result<(), LabError> {
    let path = plan.folder.join(COMMON);
    let HuntStop { budget, tests } = plan.stop;
    let common = serde_json::json!({
        "recipe": plan.recipe,
        "budget": budget.map(|budget| budget.as_secs_f64()),
        "tests": tests,
    });
    let ours = common.to_string();
    match std::fs::read_to_string(&path) {
        Ok(theirs) if theirs == ours => Ok(()),
        Ok(theirs) => Err(CampaignError::OtherSettings {
            folder: plan.folder.clone(),
            what: "recipe or time",
            theirs,
            ours,
        }
        .into()),
        Err(_) => write_whole(&path, ours).map_err(|source| LabError::Io {
            doing: format!("write `{}`", path.display()),
            source,
        }),
    }
}

/// Compares ways to hunt.
pub fn compare(plan: &ComparePlan, progress: &dyn Progress) -> Result<Compared, LabError> {
    claim(plan)?;
    let mut compared = Compared {
        llvm: plan.recipe.llvm.find()?.version,
        runs: Vec::new(),
        n_blocks: 0,
        interrupted: false,
    };
    for &seed in &plan.seeds {
        for &strategy in &plan.strategies {
            let folder = plan.folder.join(format!("{}-{seed}", strategy.name()));
            if !folder.join(FINISHED).exists() {
                run(plan, strategy, seed, &folder, progress)?;
            }
            if !folder.join(FINISHED).exists() {
                compared.interrupted = true;
                return Ok(compared);
            }
            let found = campaign(&folder)?;
            compared.n_blocks = found.n_blocks;
            compared.runs.push(summary(strategy, seed, &found));
        }
    }
    Ok(compared)
}

/// A run, from its beginning.
fn run(
    plan: &ComparePlan,
    strategy: Strategy,
    seed: u64,
    folder: &Path,
    progress: &dyn Progress,
) -> Result<(), LabError> {
    let io = |source| LabError::Io { doing: format!("write `{}`", folder.display()), source };
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(io)?;
    }
    let hunting = HuntPlan {
        start: HuntStart::New(Box::new(strategy.applied(&plan.recipe, seed))),
        folder: folder.to_owned(),
        stop: plan.stop,
        reduce: None,
        asker: plan.asker.clone(),
    };
    hunt(&hunting, progress)?;
    match progress.stop_requested() {
        true => Ok(()),
        false => write_whole(&folder.join(FINISHED), "").map_err(io),
    }
}

fn summary(strategy: Strategy, seed: u64, found: &Campaign) -> ComparedRun {
    let bug = |finding: &Finding| {
        let Finding { kind, pass, signature, .. } = finding;
        format!("{} | {pass} | {signature}", kind.name()).trim_end_matches(" | ").to_owned()
    };
    ComparedRun {
        strategy,
        seed,
        tests: found.tests,
        programs: found.programs,
        seconds: found.seconds,
        blocks: found.growth.iter().map(|growth| growth.blocks).max().unwrap_or_default(),
        bugs: found.findings.iter().map(bug).collect(),
    }
}
