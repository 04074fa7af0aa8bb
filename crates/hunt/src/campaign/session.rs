//! One session of a hunt, from its start or `--resume` to its end: the store, the
//! clock and what was executed until now.

use std::path::Path;
use std::time::{Duration, Instant};

use optsleuth_case::CaseError;
use optsleuth_model::{Coverage, Growth, HuntStatus, Progress, Trust};
use serde::Serialize;

use super::database::Format;
use super::plan::{HuntPlan, HuntStart, HuntStop, Recipe};
use super::store::{Beginning, Store};
use crate::HuntError;

/// The name of the recipe among the campaign's values.
const RECIPE: &str = "recipe";

/// One session of a hunt.
pub(crate) struct Session<'a> {
    pub(crate) store: Store,
    pub(crate) stop: HuntStop,
    pub(crate) progress: &'a dyn Progress,
    /// What of the compiler was executed, by all sessions.
    pub(crate) coverage: Coverage,
    /// Tests of all sessions that need not be made again.
    pub(crate) n_tests: u64,
    begun: Instant,
    /// Seconds that earlier sessions took.
    before: f64,
}

impl<R: Recipe> HuntPlan<R> {
    /// The recipe, and the store of a campaign that is resumed.
    pub(crate) fn open(&self, format: &Format) -> Result<(R, Option<Store>), HuntError> {
        match &self.start {
            HuntStart::New(recipe) => Ok(((**recipe).clone(), None)),
            HuntStart::Resume => {
                let store = Store::open(&self.folder, format)?;
                let recipe: Option<R> = store.get(RECIPE)?;
                let nothing = || store.damaged("it does not say what is to be done");
                let recipe = recipe.ok_or_else(nothing)?;
                let what = recipe.programs_by_path();
                if self.trust == Trust::Data && !what.is_empty() {
                    let path = self.folder.clone();
                    return Err(CaseError::Untrusted { path, what }.into());
                }
                Ok((recipe, Some(store)))
            }
        }
    }

    /// The store of a new campaign, which is one when that is marked.
    pub(crate) fn begin(
        &self,
        format: &Format,
        recipe: &R,
        beginning: &Beginning,
        settings: &impl Serialize,
    ) -> Result<Store, HuntError> {
        let store = Store::create(&self.folder, format, beginning, settings)?;
        store.put(RECIPE, recipe)?;
        Ok(store)
    }
}

impl<'a> Session<'a> {
    pub(crate) fn new(
        store: Store,
        stop: HuntStop,
        begun: Instant,
        n_tests: u64,
        progress: &'a dyn Progress,
    ) -> Result<Session<'a>, HuntError> {
        let (coverage, before) = (store.coverage()?, store.seconds()?);
        Ok(Session { store, stop, progress, coverage, n_tests, begun, before })
    }

    /// How long the campaign has been going on, all sessions together.
    pub(crate) fn seconds(&self) -> f64 {
        self.before + self.begun.elapsed().as_secs_f64()
    }

    /// Says that it is time to end, on any thread.
    pub(crate) fn deadline(&self) -> impl Fn() -> bool + use<> {
        let (begun, budget) = (self.begun, self.stop.budget);
        move || budget.is_some_and(|budget| begun.elapsed() >= budget)
    }

    /// Whether there are as many tests as were asked for.
    pub(crate) fn is_enough(&self) -> bool {
        self.stop.tests.is_some_and(|tests| self.n_tests >= tests)
    }

    /// Adds to what was executed; whether there is anything new in it.
    pub(crate) fn cover(&mut self, coverage: &Coverage) -> bool {
        let before = self.coverage.count();
        self.coverage = self.coverage.union(coverage);
        self.coverage.count() > before
    }

    /// Keeps how far it is: so many tests, however far they were examined.
    pub(crate) fn keep_growth(&self, tests: u64) -> Result<(), HuntError> {
        let findings = self.store.n_findings()?;
        let blocks = self.coverage.count() as u64;
        self.store.grow(&Growth { seconds: self.seconds(), tests, findings, blocks })
    }

    /// Says how far it is; `testing` is how many seconds went into tests.
    pub(crate) fn say(&self, reached: String, testing: f64, doing: &str) {
        let before = Duration::from_secs_f64(self.before);
        self.progress.hunt(&HuntStatus {
            elapsed: Duration::from_secs_f64(self.seconds()),
            budget: self.stop.budget.map(|budget| budget + before),
            reached,
            tests: self.n_tests,
            rate: self.n_tests as f64 / testing.max(0.001),
            findings: self.store.n_findings().unwrap_or_default(),
            blocks: self.coverage.count() as u64,
            doing: doing.to_owned(),
        });
    }
}

/// Refuses to mix what differs: which setting, theirs, ours.
pub(crate) fn same_settings<const N: usize>(
    folder: &Path,
    settings: [(&'static str, String, String); N],
) -> Result<(), HuntError> {
    match settings.into_iter().find(|(_, theirs, ours)| theirs != ours) {
        None => Ok(()),
        Some((what, theirs, ours)) => {
            Err(HuntError::OtherSettings { folder: folder.to_owned(), what, theirs, ours })
        }
    }
}
