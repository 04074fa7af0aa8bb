//! `optsleuth hunt --emi`: compilers -> their bugs, by variants of programs that
//! must behave as the programs do (equivalence modulo inputs).
//!
//! ```text
//! seed ──► variants ──► equivalent? ──► every compiler, every level ──► deviations ──► findings
//!            ▲  │           └─► errors of ours                           (findings.rs)
//!            └──┘ (derive.rs)  (valid.rs)     (testers.rs, trial.rs)
//! ```
//! Set up by workshop.rs, led by hunting.rs, kept by store.rs.
//!
//! **Invariant:** what comes of a seed depends on its number and the recipe
//! alone; with `--tests`, so does the campaign.

mod campaign;
mod case;
pub mod derive;
mod findings;
mod hunting;
pub mod plan;
mod seed;
pub mod store;
pub mod testers;
pub mod trial;
pub mod valid;
pub mod workshop;

use std::time::Instant;

use optsleuth_compiler::driver::{Driver, Family};
use optsleuth_model::{EmiCampaign, EmiSettings, Progress};

use crate::HuntError;
pub use campaign::emi_campaign;
use derive::Tools;
use findings::Office;
use hunting::Hunting;
pub use plan::{Broken, CompilerChoice, EMI_LEVELS, EmiPlan, EmiRecipe, EmiStart};
use seed::Ground;
use store::Store;
use workshop::Workshop;

/// Names of values in the store.
const RECIPE: &str = "recipe";
const SETTINGS: &str = "settings";
const SECONDS: &str = "seconds";
const WORKERS: &str = "workers";
const NOTES: &str = "notes";
const N_BLOCKS: &str = "blocks";

/// The newest clang and the newest gcc of this machine.
pub fn default_compilers() -> Result<Vec<CompilerChoice>, HuntError> {
    let newest = |family| Driver::newest(family).map(|driver| CompilerChoice::Driver(driver.name));
    Ok(vec![newest(Family::Clang)?, newest(Family::Gcc)?])
}

/// Hunts, until it is time to stop.
pub fn hunt_emi(plan: &EmiPlan, progress: &dyn Progress) -> Result<EmiCampaign, HuntError> {
    let (store, recipe) = match &plan.start {
        EmiStart::New(recipe) => (None, (**recipe).clone()),
        EmiStart::Resume => {
            let store = Store::open(&plan.folder)?;
            let recipe = store.get(RECIPE)?;
            let recipe =
                recipe.ok_or_else(|| store.damaged("it does not say what is to be done"))?;
            (Some(store), recipe)
        }
    };
    let mut workshop = Workshop::set_up(&recipe, progress)?;
    // Making workers is no part of the budget.
    let begun = Instant::now();
    let settings = workshop.settings(&recipe);
    let store = match store {
        Some(store) => store,
        None => begin(plan, &recipe, &settings, &workshop)?,
    };
    let known: EmiSettings = store.get(SETTINGS)?.unwrap_or_else(|| settings.clone());
    let settled = [
        ("compiler", versions(&known), versions(&settings)),
        ("judge of variants", known.judges.join(", "), settings.judges.join(", ")),
    ];
    if let Some((what, theirs, ours)) = settled.into_iter().find(|(_, a, b)| a != b) {
        let folder = plan.folder.clone();
        return Err(HuntError::OtherSettings { folder, what, theirs, ours });
    }
    let Workshop { workers, testers, crews, judges, clang, pool, programs, .. } = &mut workshop;
    let tools = Tools { clang, judges, pool };
    let ground = Ground { recipe: &recipe, programs, tools, testers };
    let office = Office {
        testers,
        judges,
        folder: plan.folder.clone(),
        reduce: plan.reduce,
        asker: plan.asker.clone(),
        keys: store.findings()?.into_iter().map(|(key, known)| (key, known.number)).collect(),
    };
    let hunting = Hunting {
        coverage: store.coverage()?,
        before: store.get(SECONDS)?.unwrap_or_default(),
        n_tests: store.n_settled_tests()?,
        plan,
        ground: &ground,
        office,
        store,
        begun,
        progress,
        n_empty: 0,
    };
    let mut hands = crews.hands(&mut workers.pool);
    let own = hands.pop();
    hunting.run(hands, own)?;
    emi_campaign(&plan.folder)
}

/// A new campaign's store.
fn begin(
    plan: &EmiPlan,
    recipe: &EmiRecipe,
    settings: &EmiSettings,
    workshop: &Workshop,
) -> Result<Store, HuntError> {
    let store = Store::create(&plan.folder)?;
    store.put(SETTINGS, settings)?;
    store.put(WORKERS, &(workshop.workers.pool.size() - 1))?;
    store.put(N_BLOCKS, &workshop.testers.n_blocks())?;
    store.put(NOTES, &workshop.notes())?;
    store.put(RECIPE, recipe)?;
    store.is_begun()?;
    Ok(store)
}

fn versions(settings: &EmiSettings) -> String {
    let named = settings.compilers.iter().map(|(name, version)| format!("{name} ({version})"));
    named.collect::<Vec<_>>().join(", ")
}
