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
    /// In hundredths of the budget. What is not reduced leaves that time to its bisection:
    /// its runs are slow, and without a guilty invocation nothing else is worth much.
    const fn share(self, with_zoom: bool, is_reduced: bool) -> u32 {
        let own = self.of_reduced(with_zoom);
        match (self, is_reduced) {
            (Step::Reduce | Step::ReduceSingle, false) => 0,
            (Step::Bisect, false) => {
                own + Step::Reduce.of_reduced(with_zoom) + Step::ReduceSingle.of_reduced(with_zoom)
            }
            _ => own,
        }
    }

    /// Without zoom, the others have its share.
    const fn of_reduced(self, with_zoom: bool) -> u32 {
        match (self, with_zoom) {
            (Step::Reduce, false) => 40,
            (Step::Reduce, true) => 30,
            (Step::Bisect, _) => 10,
            (Step::ReduceSingle, false) => 15,
            (Step::ReduceSingle, true) => 10,
            (Step::BisectSingle, _) => 5,
            (Step::Rank, false) => 15,
            (Step::Rank, true) => 6,
            (Step::Zoom | Step::RankZoomed, false) => 0,
            (Step::Zoom, true) => 18,
            (Step::RankZoomed, true) => 10,
        }
    }
}

/// No step gets less, however small the budget is: with nothing, none finds
/// anything.
const LEAST: Duration = Duration::from_secs(2);

/// The share of what cannot be cut short: seeing a reduced case fail five times,
/// and asking the distribution's tools.
#[cfg(test)]
const UNDIVIDED: [(bool, u32); 2] = [(false, 15), (true, 11)];

/// When a triage has to be done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    whole: Duration,
    with_zoom: bool,
    is_reduced: bool,
    end: Instant,
}

impl Budget {
    /// Begins now. Making workers and seeing the failure first is no part of it.
    pub(super) fn begin(whole: Duration, with_zoom: bool, is_reduced: bool) -> Budget {
        Budget { whole, with_zoom, is_reduced, end: Instant::now() + whole }
    }

    /// What a step that begins now may use: its share, or what is left.
    pub(super) fn of(&self, step: Step) -> Duration {
        let left = self.end.saturating_duration_since(Instant::now());
        left.min(self.whole * step.share(self.with_zoom, self.is_reduced) / 100).max(LEAST)
    }

    /// When a step has to end that has all that is left.
    pub(super) fn end(&self) -> Instant {
        self.end.max(Instant::now() + LEAST)
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
        for (with_zoom, undivided) in UNDIVIDED {
            for is_reduced in [true, false] {
                let shares = steps.map(|step| step.share(with_zoom, is_reduced));
                assert_eq!(shares.iter().sum::<u32>() + undivided, 100, "{with_zoom}");
            }
        }
    }

    #[test]
    fn no_step_gets_more_than_its_share_or_what_is_left() {
        let whole = Duration::from_secs(100);
        assert_eq!(Budget::begin(whole, true, true).of(Step::Reduce), Duration::from_secs(30));
        let over = Budget { whole, with_zoom: false, is_reduced: true, end: Instant::now() };
        assert_eq!(over.of(Step::Reduce), LEAST);
    }
}
