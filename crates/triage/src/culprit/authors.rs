//! Who wrote the failing run's changes to the IR, how many of them a cured run
//! still makes, and which of them is wrong.
//!
//! A change is a call of a function of `lib/IR` that writes, with the stack that
//! led to it. The same worker has the same addresses in every run, so changes are
//! the same if they have the same stack. The wrong one is the one that cured runs
//! leave out, those most that leave out the least else.
//!
//! **Invariant:** pure. Where nothing was recorded, nothing is said against a cure.

use std::collections::{BTreeMap, HashMap};

use optsleuth_model::{
    AuthorEvent, AuthorFrame, AuthorKind, Authorship, CodeMap, Coverage, FunctionId, RunResult,
};

/// A change, but for the instruction that it is made to.
type Change = (AuthorKind, Vec<u64>);

/// What the guilty invocation does in the failing run.
pub(super) struct FailingChanges<'a> {
    window: &'a Coverage,
    authorship: Option<&'a Authorship>,
    changes: BTreeMap<Change, usize>,
    /// How much speaks against each change.
    blame: BTreeMap<Change, f64>,
}

impl<'a> FailingChanges<'a> {
    pub(super) fn new(
        window: &'a Coverage,
        authorship: Option<&'a Authorship>,
    ) -> FailingChanges<'a> {
        let changes = authorship.map(changes).unwrap_or_default();
        FailingChanges { window, authorship, changes, blame: BTreeMap::new() }
    }

    /// How much of what it executes and of what it writes a cured run still does:
    /// two shares.
    pub(super) fn compare(&self, cured: &RunResult) -> (f64, f64) {
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
        (executed as f64 / n_blocks, written)
    }

    /// What a cured run leaves out may be wrong.
    pub(super) fn take_cured(&mut self, cured: &RunResult, grade: f64) {
        let Some(authorship) = &cured.authorship else { return };
        let theirs = changes(authorship);
        for (change, &count) in &self.changes {
            let left = theirs.get(change).copied().unwrap_or(0).min(count);
            let gone = 1.0 - left as f64 / count as f64;
            *self.blame.entry(change.clone()).or_default() += gone * grade;
        }
    }

    /// The events of the transformation that makes the wrong change, up to that
    /// change: a half-open range. For a crash that no change explains, what comes
    /// behind the last one.
    pub(super) fn wrong_events(&self) -> Option<(u32, u32)> {
        let authorship = self.authorship?;
        let events = &authorship.events;
        let blame = |event: &AuthorEvent| {
            self.blame.get(&change(authorship, event)).copied().unwrap_or(0.0)
        };
        let mut wrong: Option<(usize, f64)> = None;
        for (number, event) in events.iter().enumerate() {
            let blame = blame(event);
            if blame > wrong.map_or(0.0, |(_, most)| most) {
                wrong = Some((number, blame));
            }
        }
        let number = |place: usize| u32::try_from(place).ok();
        let Some((wrong, _)) = wrong else {
            let is_explained = authorship.is_closed || self.blame.is_empty();
            return if is_explained { None } else { Some((number(events.len())?, u32::MAX)) };
        };
        let transformation = transformation(authorship, &events[wrong]);
        let is_other =
            |event: &AuthorEvent| self::transformation(authorship, event) != transformation;
        let first = events[..wrong].iter().rposition(is_other).map_or(0, |other| other + 1);
        Some((number(first)?, number(wrong + 1)?))
    }
}

/// The author of an event, and from where it was called.
fn transformation<'a>(
    authorship: &'a Authorship,
    event: &AuthorEvent,
) -> Option<(&'a str, &'a [AuthorFrame])> {
    let author = authorship.author(event)?;
    let stack = authorship.stack(event);
    let depth = stack.iter().position(|frame| frame == author)?;
    Some((&author.function, &stack[depth + 1..]))
}

fn change(authorship: &Authorship, event: &AuthorEvent) -> Change {
    (event.kind, authorship.stack(event).iter().map(|frame| frame.address).collect())
}

fn changes(authorship: &Authorship) -> BTreeMap<Change, usize> {
    let mut changes = BTreeMap::new();
    for event in &authorship.events {
        *changes.entry(change(authorship, event)).or_default() += 1;
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

    use optsleuth_model::{BlockId, CodeFunction, FileId, Origin, Outcome};

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
        let wrote = authorship(&[fold, fold, erase, erase]);
        let failing = FailingChanges::new(&window, Some(&wrote));
        let check = |blocks: &[u32], written: Option<Authorship>, expected: (f64, f64)| {
            assert_eq!(failing.compare(&run(blocks, written)), expected);
        };
        check(&[0, 1, 2, 7], Some(authorship(&[fold, erase, erase])), (0.75, 0.75));
        // The same function from elsewhere is another change; more of one is no more.
        let elsewhere = &[(1, "fold"), (8, "run")][..];
        check(&[0], Some(authorship(&[elsewhere, erase, erase, erase])), (0.25, 0.5));
        check(&[0], None, (0.25, 0.0));
        let nothing = FailingChanges::new(&window, None);
        assert_eq!(nothing.compare(&run(&[0], None)).1, 1.0);
        assert_eq!(nothing.wrong_events(), None);
    }

    #[test]
    fn the_wrong_change_is_what_cures_leave_out() {
        let window = Coverage::of([BlockId(0)]);
        let first = &[(1, "first"), (9, "run")][..];
        let [fold, again] = [2, 3].map(|address| [(address, "fold"), (8, "run")]);
        let last = &[(4, "last"), (9, "run")][..];
        let wrote = authorship(&[first, &fold, &again, last]);
        let mut failing = FailingChanges::new(&window, Some(&wrote));
        assert_eq!(failing.wrong_events(), None);
        // Switches everything off, and says little; then without the second of `fold`.
        failing.take_cured(&run(&[], Some(authorship(&[]))), 0.1);
        failing.take_cured(&run(&[0], Some(authorship(&[first, &fold, last]))), 0.9);
        // The transformation began with its first change.
        assert_eq!(failing.wrong_events(), Some((1, 3)));

        let mut failing = FailingChanges::new(&window, Some(&wrote));
        failing.take_cured(&run(&[0], Some(wrote.clone())), 1.0);
        // It crashed behind the last change, and cures keep them all.
        assert_eq!(failing.wrong_events(), Some((4, u32::MAX)));
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
