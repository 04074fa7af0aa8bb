//! `optsleuth hunt variants`: compilers -> their bugs, by variants of programs
//! that must behave as the programs do (equivalence modulo inputs; the papers call
//! the base program a seed).
//!
//! ```text
//! base program ──► variants ──► equivalent? ──► every compiler, every level ──► deviations
//!                    ▲  │           └─► errors of ours     (compilers.rs, trial.rs)   │
//!                    └──┘ (derive.rs)  (valid.rs)         findings ◄── examiner ◄─────┘
//! ```
//! Set up by setup.rs, led by hunting.rs.
//!
//! **Invariant:** what comes of a base program depends on its number and the recipe
//! alone; with `--tests`, so does the campaign.

mod base_program;
mod campaign;
pub mod compilers;
pub mod derive;
mod hunting;
mod recipe;
mod reproduce;
pub mod setup;
mod store;
pub mod trial;
pub mod valid;

use std::time::Instant;

use optsleuth_compiler::driver::{Driver, Family};
use optsleuth_model::{Campaign, Progress, VariantSettings};

use crate::HuntError;
use crate::campaign::{Examiner, HuntPlan, Session, same_settings};
use base_program::BaseProgramTester;
pub use campaign::{campaign, merge};
use derive::Tools;
use hunting::Hunting;
pub use recipe::{Broken, CompilerChoice, LEVELS, VariantRecipe};
use setup::Setup;
use store::FORMAT;
pub use store::error_file;

/// The newest clang and the newest gcc of this machine.
pub fn default_compilers() -> Result<Vec<CompilerChoice>, HuntError> {
    let newest = |family| Driver::newest(family).map(|driver| CompilerChoice::Driver(driver.name));
    Ok(vec![newest(Family::Clang)?, newest(Family::Gcc)?])
}

/// Hunts, until it is time to stop.
pub fn hunt(
    plan: &HuntPlan<VariantRecipe>,
    progress: &dyn Progress,
) -> Result<Campaign, HuntError> {
    let (recipe, store) = plan.open(&FORMAT)?;
    let mut setup = Setup::new(&recipe, progress)?;
    // Making workers is no part of the budget.
    let begun = Instant::now();
    let settings = setup.settings(&recipe);
    let store = match store {
        Some(store) => store,
        None => {
            let store = plan.begin(&FORMAT, &recipe, &setup.beginning(&recipe), &settings)?;
            store.mark_begun()?;
            store
        }
    };
    let known: VariantSettings = store.settings()?;
    let judges = (known.judges.join(", "), settings.judges.join(", "));
    let different = [
        ("compiler", versions(&known), versions(&settings)),
        ("judge of variants", judges.0, judges.1),
    ];
    same_settings(&plan.folder, different)?;
    let Setup { workers, compilers, lane_pools, judges, clang, pool, programs } = &mut setup;
    let tools = Tools { clang, judges, pool };
    let tester = BaseProgramTester { recipe: &recipe, programs, tools, compilers };
    let n_tests = store.n_settled_tests()?;
    let hunting = Hunting {
        folder: plan.folder.clone(),
        tester: &tester,
        examiner: Examiner::new(plan, &store)?,
        session: Session::new(store, plan.stop, begun, n_tests, progress)?,
        n_empty: 0,
    };
    let mut lanes = lane_pools.lanes(&mut workers.pool);
    if let Some(examining) = lanes.pop() {
        hunting.run(lanes, examining)?;
    }
    campaign(&plan.folder)
}

fn versions(settings: &VariantSettings) -> String {
    let named = settings.compilers.iter().map(|(name, version)| format!("{name} ({version})"));
    named.collect::<Vec<_>>().join(", ")
}
