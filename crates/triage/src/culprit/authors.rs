//! Who wrote the failing run's changes to the IR, and how many of them a cured
//! run still makes.
//!
//! A change is a call of a function of `lib/IR` that writes, with the stack that
//! led to it. The same worker has the same addresses in every run, so changes are
//! the same if they have the same stack.
//!
//! **Invariant:** pure. Where nothing was recorded, nothing is said against a cure.

use std::collections::{BTreeMap, HashMap};

use optsleuth_model::{AuthorKind, Authorship, CodeMap, Coverage, FunctionId, RunResult};
use optsleuth_rank::Cure;

/// A change, but for the instruction that it is made to.
type Change = (AuthorKind, Vec<u64>);

/// What the guilty invocation does in the failing run.
pub(super) struct FailingChanges<'a> {
    window: &'a Coverage,
    changes: BTreeMap<Change, usize>,
}

impl<'a> FailingChanges<'a> {
    pub(super) fn new(window: &'a Coverage, authorship: Option<&Authorship>) -> FailingChanges<'a> {
        FailingChanges { window, changes: authorship.map(changes).unwrap_or_default() }
    }

    /// How much of it a cured run still does.
    pub(super) fn compare(&self, cured: &RunResult) -> Cure {
        let n_blocks = self.window.count().max(1) as f64;
        let executed = cured.coverage.as_ref();
        let executed = executed.map_or(0, |coverage| coverage.intersection(self.window).count());
        let all: usize = self.changes.values().sum();
        let written = match (all, &cured.authorship) {
            (0, _) => 1.0,
            (_, None) => 0.0,
            (_, Some(authorship)) => {
                let theirs = changes(authorship);
                let common = |(change, count): (&Change, &usize)| {
                    theirs.get(change).copied().unwrap_or(0).min(*count)
                };
                self.changes.iter().map(common).sum::<usize>() as f64 / all as f64
            }
        };
        Cure { cures: true, executed: executed as f64 / n_blocks, written }
    }
}

fn changes(authorship: &Authorship) -> BTreeMap<Change, usize> {
    let mut changes = BTreeMap::new();
    for event in &authorship.events {
        let stack = authorship.stack(event).iter().map(|frame| frame.address).collect();
        *changes.entry((event.kind, stack)).or_default() += 1;
    }
    changes
}

/// Every author's share of the changes. Who calls an author has half as much of
/// its changes, and so on.
pub(super) fn shares(map: &CodeMap, authorship: &Authorship) -> HashMap<FunctionId, f64> {
    let ids = (0u32..).map(FunctionId).zip(&map.functions);
    let by_name: HashMap<&str, FunctionId> =
        ids.map(|(id, function)| (function.name.as_str(), id)).collect();
    let mut shares: HashMap<FunctionId, f64> = HashMap::new();
    let n_events = authorship.events.len().max(1) as f64;
    for event in &authorship.events {
        let authors = authorship.stack(event).iter().filter(|frame| !frame.is_machinery());
        let known = authors.filter_map(|frame| by_name.get(frame.function.as_str()));
        let mut seen = Vec::new();
        for id in known {
            let host = map.host(*id);
            if !seen.contains(&host) {
                seen.push(host);
                *shares.entry(host).or_default() += 1.0 / seen.len() as f64 / n_events;
            }
        }
    }
    shares
}
