//! The jobs a user asks for, composed of what the other crates offer.
//!
//! **Invariant:** nothing here prints. What a person should see while waiting
//! goes to [`Progress`]; everything else is a return value.

mod bisect;
mod case_folder;
mod check;
mod confirm;
mod cov;
mod culprit;
mod database;
mod driver_case;
mod emi;
mod hunt;
pub mod identity;
mod import;
mod localize;
mod measure;
mod mutate;
mod oracle;
mod reduce;
mod run;
mod seed;
mod setup;
mod triage;
mod watched;
mod witness;

pub use bisect::{BisectPlan, bisect};
pub use case_folder::{
    CaseFolder, CaseFolderError, KeptKind, save_bisection, save_localization, write_whole,
};
pub use check::{CheckPlan, CheckReport, CheckStatus, DriverUse, REPETITIONS, Unmodified, check};
pub use confirm::{Confirmation, confirm};
pub use cov::{CovPlan, CovReport, CovRun, cov};
pub use culprit::{CulpritPlan, Technique};
pub use database::CampaignKind;
pub use driver_case::{Tried, try_level};
pub use emi::{
    Broken, CompilerChoice, EMI_LEVELS, EmiBench, EmiBenchCoverage, EmiBenchGain, EmiBenchPlan,
    EmiBenchStrategy, EmiPlan, EmiRecipe, EmiStart, EmiStatus, bench_emi, default_compilers,
    emi_campaign, hunt_emi,
};
pub use hunt::{
    CampaignError, ComparePlan, Compared, ComparedRun, HuntPlan, HuntRecipe, HuntStart, HuntStatus,
    HuntStop, PassChoice, ProgramSelection, SequenceChoice, Strategy, TEST_LIMITS, campaign,
    compare, hunt, merge, parse_exclusion, programs, sample_tests, table_3,
};
pub use import::{
    Attempt, BugType, CommandError, ImportError, ImportPlan, ImportReport, ImportedTest, Seen,
    TestStatus, UsableLlvms, import, usable_llvms,
};
pub use localize::{Localized, Scene, ScenePlan, SearchPlan, SearchStatus, Stop};
pub use measure::{
    BenchPlan, Benched, Contender, Outlook, StoreError, UnknownContender, bench, measured_budget,
    outlook,
};
pub use mutate::{MutatePlan, Operator, load_libclang, mutable_program, mutate, read_c};
pub use oracle::{Oracle, Verdict};
pub use reduce::{Part, ReducePlan, ReduceReport, Reducer, ask, reduce};
pub use run::{Repetition, RunPlan, RunReport, run};
pub use seed::{Funnel, SeedPlan, SeedReport, SeededCase, seed};
pub use setup::{Bench, LabError, LlvmChoice, passes};
pub use triage::{SINGLE_PASS, SingleCase, Suspicion, Triage, TriageInput, TriagePlan, triage};
pub use witness::WitnessPlan;

/// What a person who waits gets to see.
pub trait Progress: Sync {
    /// Something new begins.
    fn step(&self, what: &str);
    /// Of `total` things, `done` are done.
    fn count(&self, done: usize, total: usize);
    /// A search goes on.
    fn search(&self, _: &SearchStatus) {}
    /// A hunt goes on.
    fn hunt(&self, _: &HuntStatus) {}
    /// A hunt with variants goes on.
    fn emi(&self, _: &EmiStatus) {}
    /// Whether to end early, with what there is.
    fn stop_requested(&self) -> bool {
        false
    }
}

/// Nobody is watching.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn step(&self, _: &str) {}
    fn count(&self, _: usize, _: usize) {}
}

/// For a part of something larger: its steps are no news to whoever waits for the
/// whole, but that somebody wants to stop reaches it.
pub(crate) struct Unheard<'a>(pub(crate) &'a dyn Progress);

impl Progress for Unheard<'_> {
    fn step(&self, _: &str) {}
    fn count(&self, _: usize, _: usize) {}
    fn stop_requested(&self) -> bool {
        self.0.stop_requested()
    }
}
