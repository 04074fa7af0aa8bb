//! Conditions of the compiler, decided the other way -> the blocks that cure the
//! failure.
//!
//! Coverage says what ran; a detour says what the failure depends on. Most of
//! them break the compiler or change nothing. Where the failure vanishes and
//! nothing else goes wrong, the condition has a part in it.
//!
//! One condition at a time; where none of them cures, pairs of those that change
//! nothing by themselves.
//!
//! **Invariant:** only conditions that the guilty invocation came to are tried,
//! each at most once by itself, those in the blocks of most promise first.

use std::collections::BTreeSet;

use optsleuth_case::oracle::{Oracle, Verdict};
use optsleuth_compiler::CompilerError;
use optsleuth_compiler::llvm::{Condition, ConditionKind, Pool};
use optsleuth_model::{BlockId, Detour, RunRequest, RunResult};
use optsleuth_rank::Cure;

use super::authors::FailingChanges;

/// Pairs are made of so many conditions, those of most promise.
const PAIRED: usize = 24;

/// What there is to try, and what came of it.
#[derive(Debug)]
pub(super) struct Detours {
    /// The next one last.
    left: Vec<Attempt>,
    /// Conditions with which the failure stays as it is, most promise first.
    indifferent: Vec<Placed>,
    pub(super) tried: Vec<Tried>,
    /// Indices of blocks.
    pub(super) cures: BTreeSet<u32>,
    /// By index of their block.
    pub(super) grades: Vec<(u32, Cure)>,
    /// Cures that are not graded yet.
    ungraded: Vec<Attempt>,
    /// Pairs are all that is left.
    in_pairs: bool,
}

/// A condition, and the index of its block.
type Placed = (u32, Condition);

/// One or two conditions that are decided the other way in one run.
#[derive(Clone, Debug)]
pub(super) struct Attempt(Vec<Placed>);

impl Attempt {
    pub(super) fn detours(&self) -> Vec<Detour> {
        self.0.iter().map(|(_, condition)| condition.detour).collect()
    }

    fn request(&self, template: &RunRequest) -> RunRequest {
        RunRequest { detours: self.detours(), ..template.clone() }
    }
}

/// A condition that was decided the other way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tried {
    /// The index of its block.
    pub(super) index: u32,
    /// Which instruction of the block it is.
    pub(super) nth: u32,
    /// The failure vanished.
    pub(super) cures: bool,
}

impl Detours {
    /// All of these conditions. `promise` has a number for each block of the
    /// universe.
    pub(super) fn new(found: Vec<Condition>, universe: &[BlockId], promise: &[f64]) -> Detours {
        let in_universe = |condition: Condition| {
            let index = universe.binary_search(&condition.block).ok()?;
            Some(Attempt(vec![(index as u32, condition)]))
        };
        let mut left: Vec<Attempt> = found.into_iter().filter_map(in_universe).collect();
        // Of equals, the first in the code comes first.
        left.reverse();
        let mut detours = Detours {
            left,
            indifferent: Vec::new(),
            tried: Vec::new(),
            cures: BTreeSet::new(),
            grades: Vec::new(),
            ungraded: Vec::new(),
            in_pairs: false,
        };
        detours.reorder(promise);
        detours
    }

    /// The most promise first, of what is left.
    pub(super) fn reorder(&mut self, promise: &[f64]) {
        let of = |attempt: &Attempt| promise[attempt.0[0].0 as usize];
        self.left.sort_by(|a, b| of(a).total_cmp(&of(b)));
    }

    /// Nothing is left to try, alone or in pairs.
    pub(super) fn is_exhausted(&mut self) -> bool {
        if self.left.is_empty() && self.cures.is_empty() && !self.in_pairs {
            self.in_pairs = true;
            self.left = pairs(&self.indifferent);
        }
        self.left.is_empty()
    }

    /// Tries the next `count` on all workers, as long as `go_on` allows.
    /// Gives what each run meant.
    pub(super) fn go_on(
        &mut self,
        count: usize,
        pool: &mut Pool,
        oracle: &Oracle,
        template: &RunRequest,
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Vec<Verdict> {
        let batch = self.next(count);
        let template = RunRequest { coverage: false, ..template.clone() };
        let requests: Vec<RunRequest> =
            batch.iter().map(|attempt| attempt.request(&template)).collect();
        // Whatever a compiler that went astray does is not the harness's trouble.
        let judge = |result: Result<RunResult, CompilerError>| {
            result.map_or(Verdict::Other, |result| oracle.judge(&result.outcome))
        };
        let results = pool.run_while(&requests, keep_going, &|result, _| result);
        let verdicts: Vec<Verdict> = results.into_iter().map(judge).collect();
        for (attempt, verdict) in batch.into_iter().zip(&verdicts) {
            self.take(attempt, *verdict);
        }
        verdicts
    }

    /// The next ones to try.
    pub(super) fn next(&mut self, count: usize) -> Vec<Attempt> {
        let mut batch = Vec::new();
        while batch.len() < count
            && let Some(attempt) = self.left.pop()
        {
            // One condition that cures is enough.
            if !attempt.0.iter().any(|(index, _)| self.cures.contains(index)) {
                batch.push(attempt);
            }
        }
        batch
    }

    /// What came of one whose run says already what else it changes.
    pub(super) fn take_graded(
        &mut self,
        attempt: Attempt,
        verdict: Verdict,
        cure: impl Fn(bool) -> Cure,
    ) {
        self.take(attempt, verdict);
        for Attempt(placed) in std::mem::take(&mut self.ungraded) {
            let grade =
                |(index, condition): Placed| (index, cure(condition.kind == ConditionKind::Return));
            self.grades.extend(placed.into_iter().map(grade));
        }
    }

    fn take(&mut self, attempt: Attempt, verdict: Verdict) {
        let cures = verdict == Verdict::Passes;
        for &(index, condition) in &attempt.0 {
            // Of a pair, it is known already that neither cures by itself.
            if cures || attempt.0.len() == 1 {
                self.tried.push(Tried { index, nth: condition.nth, cures });
            }
        }
        if cures {
            self.cures.extend(attempt.0.iter().map(|(index, _)| *index));
            self.ungraded.push(attempt);
        } else if verdict == Verdict::Fails && self.indifferent.len() < PAIRED {
            self.indifferent.extend(attempt.0);
        }
    }

    /// Runs new cures once more, to see what else they change; these are no new
    /// candidates. `template` asks for coverage of the guilty invocation and for
    /// authorship. Says whether there were any.
    pub(super) fn grade(
        &mut self,
        pool: &mut Pool,
        template: &RunRequest,
        failing: &mut FailingChanges<'_>,
    ) -> bool {
        let cures = std::mem::take(&mut self.ungraded);
        let requests: Vec<RunRequest> =
            cures.iter().map(|attempt| attempt.request(template)).collect();
        let results = pool.run_while(&requests, &|| true, &|result, _| result);
        for (attempt, result) in cures.iter().zip(results) {
            for &(index, Condition { kind, .. }) in &attempt.0 {
                let by_return = kind == ConditionKind::Return;
                // A run that cannot be made again says that much less.
                let (executed, written) =
                    result.as_ref().map_or((0.0, 0.0), |run| failing.compare(run));
                let cure = Cure { cures: true, by_return, executed, written };
                if let Ok(run) = &result {
                    failing.take_cured(run, cure.grade());
                }
                self.grades.push((index, cure));
            }
        }
        !cures.is_empty()
    }
}

/// Each with each, those of most promise together first; the first one last.
fn pairs(conditions: &[Placed]) -> Vec<Attempt> {
    let mut pairs = Vec::new();
    for (second, &b) in conditions.iter().enumerate() {
        let others = conditions[..second].iter().filter(|a| a.0 != b.0);
        pairs.extend(others.map(|&a| Attempt(vec![a, b])));
    }
    pairs.reverse();
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(index: u32) -> Placed {
        let detour = Detour { address: u64::from(index), bytes: [0; 4], length: 1 };
        let kind = ConditionKind::Instruction;
        (index, Condition { block: BlockId(index), nth: 0, kind, detour })
    }

    fn detours(n_blocks: u32) -> Detours {
        let found = (0..n_blocks).map(|index| condition(index).1).collect();
        let universe: Vec<BlockId> = (0..n_blocks).map(BlockId).collect();
        Detours::new(found, &universe, &vec![1.0; universe.len()])
    }

    fn next(detours: &mut Detours, verdict: Verdict) -> Vec<u32> {
        let attempt = detours.left.pop().unwrap();
        let indices = attempt.0.iter().map(|(index, _)| *index).collect();
        detours.take(attempt, verdict);
        indices
    }

    #[test]
    fn pairs_follow_where_no_condition_cures_by_itself() {
        let mut detours = detours(4);
        for (index, verdict) in
            [Verdict::Fails, Verdict::Other, Verdict::Fails, Verdict::Fails].into_iter().enumerate()
        {
            assert_eq!(next(&mut detours, verdict), [index as u32]);
        }
        // What goes wrong by itself is not paired.
        assert!(!detours.is_exhausted());
        assert_eq!(next(&mut detours, Verdict::Fails), [0, 2]);
        assert_eq!(next(&mut detours, Verdict::Passes), [0, 3]);
        assert_eq!(detours.cures, BTreeSet::from([0, 3]));
        assert_eq!(next(&mut detours, Verdict::Fails), [2, 3]);
        assert!(detours.is_exhausted());
        let cures = detours.tried.iter().filter(|tried| tried.cures);
        assert_eq!((cures.count(), detours.tried.len()), (2, 6));
    }

    #[test]
    fn a_single_cure_leaves_nothing_to_pair() {
        let mut detours = detours(2);
        next(&mut detours, Verdict::Fails);
        next(&mut detours, Verdict::Passes);
        assert!(detours.is_exhausted());
    }
}
