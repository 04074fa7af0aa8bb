//! The time of a triage, and the share of it that each step may use.

use std::time::{Duration, Instant};

/// What can take any amount of time. A step that needs less leaves the rest
/// unused, so that an easy case is done early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Reduce,
    Bisect,
    /// Reducing the single-pass form.
    ReduceSingle,
    /// Seeing what the one pass changes.
    BisectSingle,
    Rank,
    /// Compiling suspect files of LLVM.
    Zoom,
    RankZoomed,
}

impl Step {
    /// In hundredths of the budget.
    const fn share(self) -> u32 {
        match self {
            Step::Reduce => 30,
            Step::Bisect => 10,
            Step::ReduceSingle => 10,
            Step::BisectSingle => 5,
            Step::Rank => 6,
            Step::Zoom => 18,
            Step::RankZoomed => 10,
        }
    }
}

/// No step gets less, however small the budget is: with nothing, none finds
/// anything.
const LEAST: Duration = Duration::from_secs(2);

/// The share of what cannot be cut short: seeing a reduced case fail five times,
/// and asking the distribution's tools.
#[cfg(test)]
const UNDIVIDED: u32 = 11;

/// When a triage has to be done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    whole: Duration,
    end: Instant,
}

impl Budget {
    /// Begins now. Making workers and seeing the failure first is no part of it.
    pub(super) fn begin(whole: Duration) -> Budget {
        Budget { whole, end: Instant::now() + whole }
    }

    /// What a step that begins now may use: its share, or what is left.
    pub(super) fn of(&self, step: Step) -> Duration {
        let left = self.end.saturating_duration_since(Instant::now());
        left.min(self.whole * step.share() / 100).max(LEAST)
    }

    /// When a step that begins now has to end.
    pub(super) fn deadline(&self, step: Step) -> Instant {
        Instant::now() + self.of(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_add_up_to_the_whole() {
        let steps = [
            Step::Reduce,
            Step::Bisect,
            Step::ReduceSingle,
            Step::BisectSingle,
            Step::Rank,
            Step::Zoom,
            Step::RankZoomed,
        ];
        assert_eq!(steps.map(Step::share).iter().sum::<u32>() + UNDIVIDED, 100);
    }

    #[test]
    fn no_step_gets_more_than_its_share_or_what_is_left() {
        let whole = Duration::from_secs(100);
        assert_eq!(Budget::begin(whole).of(Step::Reduce), Duration::from_secs(30));
        let over = Budget { whole, end: Instant::now() };
        assert_eq!(over.of(Step::Reduce), LEAST);
    }
}
