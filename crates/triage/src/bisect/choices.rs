//! What came of choices of invocations, each asked for once.
//!
//! A choice by names is run with the failing run's numbers at first; where the run's
//! own log shows that it executed something else, the numbers are corrected by it.
//!
//! **Invariant:** a choice of invocations by name counts only if the run says that
//! it executed those and no others. No I/O: whoever asks brings the runs.

use std::collections::{BTreeSet, HashMap};

use optsleuth_case::oracle::Verdict;
use optsleuth_model::{IndexSet, Invocation};

use super::inquiry::Choice;
use super::names::{Name, all_but, corrected, names, same_among};

/// How often the numbers of a choice are corrected by what its run came to.
const CORRECTIONS: usize = 5;

/// A run that is to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Attempt {
    pub(super) skips: IndexSet,
    /// Its log is needed.
    pub(super) listed: bool,
}

/// What came of it, and its log if that was needed.
pub(super) type Answer = (Verdict, Vec<Invocation>);

/// What is known of choices, with the skips that stand for them.
#[derive(Debug, Default)]
pub(super) struct Choices(HashMap<Choice, (Verdict, IndexSet)>);

impl Choices {
    /// What comes of each choice. `log` is the failing run's; `run` is asked for what
    /// is not known.
    pub(super) fn judge<H, R: FnMut(&[Attempt]) -> Result<Vec<Answer>, H>>(
        &mut self,
        choices: &[Choice],
        log: &[Invocation],
        run: &mut R,
    ) -> Result<Vec<Verdict>, H> {
        let mut new: Vec<&Choice> = Vec::new();
        for choice in choices {
            if !self.0.contains_key(choice) && !new.contains(&choice) {
                new.push(choice);
            }
        }
        self.find_out(&new, log, run)?;
        let verdict = |choice| self.0.get(choice).map_or(Verdict::Other, |known| known.0);
        Ok(choices.iter().map(verdict).collect())
    }

    /// The skips that stand for a choice that was judged.
    pub(super) fn skips_of(&self, choice: &Choice) -> Option<&IndexSet> {
        self.0.get(choice).map(|(_, skips)| skips)
    }

    /// Runs choices whose outcome is not known.
    fn find_out<H, R: FnMut(&[Attempt]) -> Result<Vec<Answer>, H>>(
        &mut self,
        choices: &[&Choice],
        log: &[Invocation],
        run: &mut R,
    ) -> Result<(), H> {
        let mut open: Vec<(&Choice, IndexSet)> =
            choices.iter().map(|&choice| (choice, at_first(choice))).collect();
        for _ in 0..=CORRECTIONS {
            let attempt = |(choice, skips): &(&Choice, IndexSet)| Attempt {
                skips: skips.clone(),
                listed: matches!(choice, Choice::Only(_)),
            };
            let answers = run(&open.iter().map(attempt).collect::<Vec<_>>())?;
            let mut again = Vec::new();
            for ((choice, skips), (verdict, own_log)) in open.into_iter().zip(answers) {
                match correction(log, choice, &skips, &own_log) {
                    Some(better) => again.push((choice, better)),
                    None => {
                        self.0.insert(choice.clone(), (verdict, skips));
                    }
                }
            }
            open = again;
            if open.is_empty() {
                return Ok(());
            }
        }
        // Their numbers run away from them: nothing is known of these.
        for (choice, skips) in open {
            self.0.insert(choice.clone(), (Verdict::Other, skips));
        }
        Ok(())
    }
}

/// Better skips, where a run did not execute what it was meant to.
fn correction(
    log: &[Invocation],
    choice: &Choice,
    skips: &IndexSet,
    own_log: &[Invocation],
) -> Option<IndexSet> {
    let Choice::Only(kept) = choice else { return None };
    let all = names(log);
    let name = |number: &u32| all.get(usize::try_from(*number).ok()?).copied();
    let wanted: BTreeSet<Name<'_>> = kept.iter().filter_map(name).collect();
    let better = corrected(own_log, &wanted, kept);
    (!same_among(own_log.len(), skips, &better)).then_some(better)
}

/// The skips for a choice, if the numbers are the failing run's.
fn at_first(choice: &Choice) -> IndexSet {
    match choice {
        Choice::Below { end, without } => {
            let left_out = without.iter().map(|&number| (number, number.saturating_add(1)));
            IndexSet::of_ranges(left_out.chain([(*end, u32::MAX)]))
        }
        Choice::Only(kept) => all_but(kept.iter().copied()),
    }
}
