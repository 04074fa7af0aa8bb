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
use optsleuth_compiler::llvm::Pool;
use optsleuth_model::{BlockId, Coverage, Detour, RunRequest, RunResult};

use crate::TriageError;

/// What there is to try, and what came of it.
#[derive(Debug)]
pub(super) struct Detours {
    /// By the index of their block; the next one last.
    left: Vec<(u32, Detour)>,
    pub(super) tried: Vec<u32>,
    pub(super) cures: BTreeSet<u32>,
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
        let in_universe = |(block, detour): (BlockId, Detour)| {
            universe.binary_search(&block).ok().map(|index| (index as u32, detour))
        };
        let mut left: Vec<(u32, Detour)> = found.into_iter().filter_map(in_universe).collect();
        // Stable, and turned round: of equals, the first in the code comes first.
        left.reverse();
        left.sort_by(|(a, _), (b, _)| promise[*a as usize].total_cmp(&promise[*b as usize]));
        Ok(Detours { left, tried: Vec::new(), cures: BTreeSet::new() })
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
            && let Some((block, detour)) = self.left.pop()
        {
            // One condition that cures is enough.
            if !self.cures.contains(&block) {
                batch.push((block, detour));
            }
        }
        let request = |(_, detour): &(u32, Detour)| RunRequest {
            detour: Some(*detour),
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
        for ((block, _), verdict) in batch.iter().zip(&verdicts) {
            self.tried.push(*block);
            if *verdict == Verdict::Passes {
                self.cures.insert(*block);
            }
        }
        verdicts
    }
}
