//! Fake passes: programs that pass although the compiler does to them what it
//! does wrong, because they do not show it. Both papers leave them in.
//!
//! The failing run without its guilty invocation passes. What that invocation
//! executes and the run without it does not is what the invocation does to this
//! program: its effect. A program that passes with all of the effect is
//! suspected to hide the bug.
//!
//! **Invariant:** a suspicion, not a proof: who uses it decides what follows.

use std::time::Instant;

use optsleuth_case::loaded::{FailingCase, LoadedCase, Reproduction};
use optsleuth_case::oracle::Verdict;
use optsleuth_model::{CaseKind, Coverage, IndexSet, Progress, RunRequest};

use crate::TriageError;
use crate::bisect::{BUDGET, bisect_failing};

/// What the guilty invocation alone makes the compiler execute.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Effect(Coverage); // Invariant: not empty.

impl Effect {
    /// The guilty invocation's number, where a wrong program has one. Asks the
    /// case's own program, which has to be loaded.
    pub(super) fn guilty(
        failing: &mut FailingCase,
        progress: &dyn Progress,
    ) -> Result<Option<u32>, TriageError> {
        // A compiler that does not crash does not hide a crash.
        if failing.loaded.case.case.kind != CaseKind::WrongCode {
            return Ok(None);
        }
        Ok(bisect_failing(failing, Instant::now() + BUDGET, progress)?.guilty())
    }

    /// The effect on the loaded program, whose failing run covers `failing`;
    /// `None` where it cannot be told.
    pub(super) fn find(
        loaded: &mut LoadedCase,
        reproduction: &Reproduction,
        template: &RunRequest,
        guilty: u32,
    ) -> Result<Option<Effect>, TriageError> {
        let worker = loaded.workers.pool.first(); // The program is loaded there.
        let window = Some((guilty, guilty.saturating_add(1)));
        let failing = worker.run(&RunRequest { window, ..template.clone() })?;
        let skips = IndexSet::of([guilty]);
        let without = worker.run(&RunRequest { skips, ..template.clone() })?;
        let (Some(inside), Some(without_it)) = (failing.window, without.coverage) else {
            return Ok(None);
        };
        let passes = reproduction.oracle.judge(&without.outcome) == Verdict::Passes;
        Ok(if passes { Effect::of(&inside, &without_it) } else { None })
    }

    pub(super) fn of(inside: &Coverage, without: &Coverage) -> Option<Effect> {
        let only = inside.difference(without);
        (!only.is_empty()).then_some(Effect(only))
    }

    /// Whether all of it is in a run.
    pub(super) fn shows_in(&self, coverage: &Coverage) -> bool {
        self.0.difference(coverage).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use optsleuth_model::BlockId;

    fn coverage(blocks: &[u32]) -> Coverage {
        Coverage::of(blocks.iter().map(|block| BlockId(*block)))
    }

    #[test]
    fn a_program_with_all_of_the_effect_is_suspected() {
        let effect = Effect::of(&coverage(&[1, 2, 3]), &coverage(&[1, 9])).unwrap();
        assert!(effect.shows_in(&coverage(&[2, 3, 7])));
        assert!(!effect.shows_in(&coverage(&[1, 2, 7])));
        assert_eq!(Effect::of(&coverage(&[1]), &coverage(&[1, 2])), None);
    }
}
