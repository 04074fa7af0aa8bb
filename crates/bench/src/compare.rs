//! `optsleuth bench hunt`: ways to hunt, side by side, with equal time.
//!
//! Each run is a campaign in a folder of its own, so all raw data is kept, and a
//! comparison that was interrupted goes on with the runs that are missing.
//!
//! **Invariant:** no run gains by another one: programs are other ones for every
//! way and seed, so that none is checked already when a run begins.

use std::path::{Path, PathBuf};

use fs_err as fs;
use optsleuth_case::folder::write_whole;
use optsleuth_hunt::HuntError;
use optsleuth_hunt::campaign::{HuntPlan, HuntStart, HuntStop};
use optsleuth_hunt::passes::{PassRecipe, ProgramSelection, campaign, hunt};
use optsleuth_model::{Campaign, Compared, ComparedRun, Finding, Progress, SequenceChoice, Trust};

use crate::BenchError;

/// The recipe for sequences that are chosen in this way, with everything else as
/// it is.
fn recipe_for(choice: SequenceChoice, recipe: &PassRecipe, seed: u64) -> PassRecipe {
    let (pool, used) = recipe.program_pool;
    let (selection, pool) = match choice {
        SequenceChoice::Ctos => (ProgramSelection::Ctos, pool),
        _ => (ProgramSelection::All, used),
    };
    let mut recipe = recipe.clone();
    recipe.seed = seed;
    recipe.programs.seed = seed * SequenceChoice::ALL.len() as u64 + choice as u64;
    recipe.sequences = choice;
    recipe.selection = selection;
    recipe.program_pool = (pool, used);
    // The same for all: it takes time.
    recipe.coverage_every = 1;
    recipe
}

/// What is to be compared.
#[derive(Clone, Debug)]
pub struct ComparePlan {
    /// Everything but sequences, programs and seeds.
    pub recipe: PassRecipe,
    pub strategies: Vec<SequenceChoice>,
    /// Each with each of these.
    pub seeds: Vec<u64>,
    /// How long each hunts.
    pub stop: HuntStop,
    /// Where campaigns are kept.
    pub folder: PathBuf,
    /// See [`HuntPlan::callback_binary`].
    pub callback_binary: PathBuf,
}

/// In a campaign's folder: its time is used up.
const FINISHED: &str = "finished";
/// In the folder of a comparison: what all runs have in common.
const COMMON: &str = "common.json";

/// Results of another recipe or time do not belong in the same table.
fn claim(plan: &ComparePlan) -> Result<(), BenchError> {
    let path = plan.folder.join(COMMON);
    let HuntStop { budget, tests } = plan.stop;
    let common = serde_json::json!({
        "recipe": plan.recipe,
        "budget": budget.map(|budget| budget.as_secs_f64()),
        "tests": tests,
    });
    let ours = common.to_string();
    match fs::read_to_string(&path) {
        Ok(theirs) if theirs == ours => Ok(()),
        Ok(theirs) => Err(HuntError::OtherSettings {
            folder: plan.folder.clone(),
            what: "recipe or time",
            theirs,
            ours,
        }
        .into()),
        Err(_) => Ok(write_whole(&path, ours)?),
    }
}

/// Compares ways to hunt.
pub fn compare(plan: &ComparePlan, progress: &dyn Progress) -> Result<Compared, BenchError> {
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
    strategy: SequenceChoice,
    seed: u64,
    folder: &Path,
    progress: &dyn Progress,
) -> Result<(), BenchError> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    let hunting = HuntPlan {
        start: HuntStart::New(Box::new(recipe_for(strategy, &plan.recipe, seed))),
        folder: folder.to_owned(),
        trust: Trust::Author,
        stop: plan.stop,
        reduce: None,
        callback_binary: plan.callback_binary.clone(),
    };
    hunt(&hunting, progress)?;
    match progress.stop_requested() {
        true => Ok(()),
        false => Ok(write_whole(&folder.join(FINISHED), "")?),
    }
}

fn summary(strategy: SequenceChoice, seed: u64, found: &Campaign) -> ComparedRun {
    let bug = |finding: &Finding| {
        let Finding { kind, pass, signature, .. } = finding;
        let pass = pass.as_deref().unwrap_or("-");
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
