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
pub(super) fn shares(map: &CodeMap, authorship: &Authorship) -> BTreeMap<FunctionId, f64> {
    let ids = (0u32..).map(FunctionId).zip(&map.functions);
    let by_name: HashMap<&str, FunctionId> =
        ids.map(|(id, function)| (function.name.as_str(), id)).collect();
    let mut shares: BTreeMap<FunctionId, f64> = BTreeMap::new();
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use optsleuth_model::{
        AuthorEvent, AuthorFrame, BlockId, CodeFunction, FileId, Origin, Outcome,
    };

    use super::*;

    const GVN: &str = "llvm/lib/Transforms/Scalar/GVN.cpp";

    /// Events with these stacks, each of functions at addresses.
    fn authorship(stacks: &[&[(u64, &str)]]) -> Authorship {
        let frame = |&(address, function): &(u64, &str)| AuthorFrame {
            address,
            function: function.to_owned(),
            file: Some(GVN.to_owned()),
        };
        let event = |stack: usize| AuthorEvent {
            kind: AuthorKind::Created,
            before: None,
            after: None,
            replacement: None,
            stack: Some(stack),
        };
        Authorship {
            events: (0..stacks.len()).map(event).collect(),
            stacks: stacks.iter().map(|stack| stack.iter().map(frame).collect()).collect(),
            ..Authorship::default()
        }
    }

    fn run(blocks: &[u32], authorship: Option<Authorship>) -> RunResult {
        RunResult {
            outcome: Outcome::Ok(None),
            stack: Vec::new(),
            said: String::new(),
            asserted_at: None,
            emitted: Vec::new(),
            interpretation: None,
            n_items: 0,
            n_invocations: 1,
            invocations: Vec::new(),
            coverage: Some(Coverage::of(blocks.iter().map(|&block| BlockId(block)))),
            window: None,
            authorship,
            wall: Duration::ZERO,
            cpu: Duration::ZERO,
            pipeline: Duration::ZERO,
            peak_memory: 0,
        }
    }

    #[test]
    fn a_cure_is_compared_by_what_it_still_executes_and_writes() {
        let window = Coverage::of([0, 1, 2, 3].map(BlockId));
        let (fold, erase) = (&[(1, "fold"), (9, "run")][..], &[(2, "erase"), (9, "run")][..]);
        let failing = FailingChanges::new(&window, Some(&authorship(&[fold, fold, erase, erase])));
        let check = |blocks: &[u32], written: Option<Authorship>, expected: (f64, f64)| {
            let Cure { cures, executed, written } = failing.compare(&run(blocks, written));
            assert_eq!((cures, executed, written), (true, expected.0, expected.1));
        };
        check(&[0, 1, 2, 7], Some(authorship(&[fold, erase, erase])), (0.75, 0.75));
        // The same function from elsewhere is another change; more of one is no more.
        let elsewhere = &[(1, "fold"), (8, "run")][..];
        check(&[0], Some(authorship(&[elsewhere, erase, erase, erase])), (0.25, 0.5));
        check(&[0], None, (0.25, 0.0));
        let nothing = FailingChanges::new(&window, None);
        assert_eq!(nothing.compare(&run(&[0], None)).written, 1.0);
    }

    #[test]
    fn who_calls_an_author_has_half_of_its_changes() {
        let function = |name: &str| CodeFunction {
            symbol: name.to_owned(),
            name: name.to_owned(),
            file: FileId(0),
            host: None,
            blocks: Vec::new(),
            origin: Origin::default(),
        };
        let map = CodeMap {
            files: vec![GVN.to_owned()],
            functions: ["fold", "run"].map(function).into(),
            ..CodeMap::default()
        };
        let wrote = authorship(&[&[(1, "fold"), (9, "run")], &[(9, "run")]]);
        let expected = BTreeMap::from([(FunctionId(0), 0.5), (FunctionId(1), 0.75)]);
        assert_eq!(shares(&map, &wrote), expected);
    }
}
