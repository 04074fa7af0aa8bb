//! Conditions of the compiler, decided the other way one at a time -> the blocks
//! that cure the failure.
//!
//! Coverage says what ran; a detour says what the failure depends on. Most of
//! them break the compiler or change nothing. Where the failure vanishes and
//! nothing else goes wrong, the condition has a part in it.
//!
//! **Invariant:** only conditions that the guilty invocation came to are tried,
//! each at most once, those in the blocks of most promise first.

use std::collections::BTreeSet;

use optsleuth_case::loaded::LoadedCase;
use optsleuth_case::oracle::{Oracle, Verdict};
use optsleuth_compiler::CompilerError;
use optsleuth_compiler::llvm::{Condition, Pool};
use optsleuth_model::{BlockId, Coverage, RunRequest, RunResult};
use optsleuth_rank::Cure;

use super::authors::FailingChanges;
use crate::TriageError;

/// What there is to try, and what came of it.
#[derive(Debug)]
pub(super) struct Detours {
    /// By the index of their block; the next one last.
    left: Vec<(u32, Condition)>,
    pub(super) tried: Vec<Tried>,
    /// Indices of blocks.
    pub(super) cures: BTreeSet<u32>,
    /// By index of their block.
    pub(super) grades: Vec<(u32, Cure)>,
    /// Cures that are not graded yet.
    ungraded: Vec<(u32, Condition)>,
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
    /// All of a window. `promise` has a number for each block of the universe.
    pub(super) fn of(
        loaded: &LoadedCase,
        window: &Coverage,
        universe: &[BlockId],
        promise: &[f64],
    ) -> Result<Detours, TriageError> {
        let found = loaded.workers.provisioned.detours(window)?;
        let in_universe = |condition: Condition| {
            let index = universe.binary_search(&condition.block).ok()?;
            Some((index as u32, condition))
        };
        let mut left: Vec<(u32, Condition)> = found.into_iter().filter_map(in_universe).collect();
        // Stable, and turned round: of equals, the first in the code comes first.
        left.reverse();
        left.sort_by(|(a, _), (b, _)| promise[*a as usize].total_cmp(&promise[*b as usize]));
        Ok(Detours {
            left,
            tried: Vec::new(),
            cures: BTreeSet::new(),
            grades: Vec::new(),
            ungraded: Vec::new(),
        })
    }

    pub(super) fn is_exhausted(&self) -> bool {
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
        let mut batch = Vec::new();
        while batch.len() < count
            && let Some((index, condition)) = self.left.pop()
        {
            // One condition that cures is enough.
            if !self.cures.contains(&index) {
                batch.push((index, condition));
            }
        }
        let request = |(_, condition): &(u32, Condition)| RunRequest {
            detour: Some(condition.detour),
            coverage: false,
            ..template.clone()
        };
        let requests: Vec<RunRequest> = batch.iter().map(request).collect();
        // Whatever a compiler that went astray does is not the harness's trouble.
        let judge = |result: Result<RunResult, CompilerError>| {
            result.map_or(Verdict::Other, |result| oracle.judge(&result.outcome))
        };
        let results = pool.run_while(&requests, keep_going, &|result, _| result);
        let verdicts: Vec<Verdict> = results.into_iter().map(judge).collect();
        for (&(index, condition), verdict) in batch.iter().zip(&verdicts) {
            let cures = *verdict == Verdict::Passes;
            self.tried.push(Tried { index, nth: condition.nth, cures });
            if cures {
                self.cures.insert(index);
                self.ungraded.push((index, condition));
            }
        }
        verdicts
    }

    /// Runs new cures once more, to see what else they change; these are no new
    /// candidates. `template` asks for coverage of the guilty invocation and for
    /// authorship.
    pub(super) fn grade(
        &mut self,
        pool: &mut Pool,
        template: &RunRequest,
        failing: &FailingChanges<'_>,
    ) {
        let cures = std::mem::take(&mut self.ungraded);
        let request = |(_, condition): &(u32, Condition)| RunRequest {
            detour: Some(condition.detour),
            ..template.clone()
        };
        let requests: Vec<RunRequest> = cures.iter().map(request).collect();
        let results = pool.run_while(&requests, &|| true, &|result, _| result);
        for ((index, _), result) in cures.iter().zip(results) {
            // A run that cannot be made again says that much less.
            let cure =
                result.map_or(Cure { cures: true, ..Cure::default() }, |run| failing.compare(&run));
            self.grades.push((*index, cure));
        }
    }
}
