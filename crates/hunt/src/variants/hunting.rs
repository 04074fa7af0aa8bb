//! The loop of a hunt: every core has a seed of its own; what comes of seeds is
//! kept, and looked into, in the order of their numbers.
//!
//! **Invariant:** a seed's tests are in the store before its deviations are
//! looked into, and a finding before the next one is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use optsleuth_case::folder::write_whole;
use optsleuth_model::{Coverage, EmiGrowth, EmiStatus, Execution, OptLevel, Progress, Quiet};
use optsleuth_triage::TriageError;

use super::SECONDS;
use super::findings::{Examined, Office, Subject, tells};
use super::plan::EmiPlan;
use super::seed::{Deviation, Fate, Ground, Tested};
use super::store::{Outcome, Place, Store, error_file};
use super::testers::Hand;
use crate::HuntError;

/// So many variants of a seed are looked into for one bug before what comes to
/// nothing is taken to come to nothing with all of them.
const CHANCES: usize = 3;

/// So many of csmith's numbers in a row without a seed are enough.
const EMPTY_SEEDS: u64 = 20;

/// A hunt that goes on.
pub(super) struct Hunting<'a> {
    pub(super) plan: &'a EmiPlan,
    pub(super) ground: &'a Ground<'a>,
    pub(super) office: Office<'a>,
    pub(super) store: Store,
    pub(super) begun: Instant,
    /// Seconds that earlier sessions took.
    pub(super) before: f64,
    pub(super) progress: &'a dyn Progress,
    pub(super) coverage: Coverage,
    /// Of finished seeds: one that was cut short is tested again, so that a
    /// hunt in parts comes to the same as one in one go.
    pub(super) n_tests: u64,
    /// How many numbers in a row gave no seed.
    pub(super) n_empty: u64,
}

/// What a hand has to say about a seed: in which turn it was begun.
type Told = (u64, Result<Tested, HuntError>);

/// The numbers of seeds that are left to do, in their order.
struct Numbers {
    next: u64,
    turn: u64,
    finished: BTreeSet<u64>,
}

impl Numbers {
    /// The turn and the seed's number.
    fn take(&mut self) -> (u64, u64) {
        while self.finished.contains(&self.next) {
            self.next += 1;
        }
        let taken = (self.turn, self.next);
        self.next += 1;
        self.turn += 1;
        taken
    }
}

impl Hunting<'_> {
    pub(super) fn run(
        mut self,
        hands: Vec<Hand<'_>>,
        own: Option<Hand<'_>>,
    ) -> Result<(), HuntError> {
        let Some(mut own) = own else { return Ok(()) };
        let over = AtomicBool::new(self.is_enough());
        let numbers = Numbers { next: 0, turn: 0, finished: self.store.finished()? };
        let numbers = Mutex::new(numbers);
        let (begun, budget) = (self.begun, self.plan.stop.budget);
        let (ground, progress) = (self.ground, self.progress);
        let stop = || {
            over.load(Ordering::Relaxed)
                || progress.stop_requested()
                || budget.is_some_and(|budget| begun.elapsed() >= budget)
        };
        let (sender, receiver) = sync_channel::<Told>(hands.len());
        thread::scope(|scope| {
            for mut hand in hands {
                let (sender, stop, numbers) = (sender.clone(), &stop, &numbers);
                scope.spawn(move || {
                    while !stop() {
                        let taken = numbers.lock().unwrap_or_else(PoisonError::into_inner).take();
                        let (turn, number) = taken;
                        let tested = ground.test(number, &mut hand, stop);
                        // Nobody listens any more when it is over.
                        if sender.send((turn, tested)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            let listened = self.listen(&receiver, &mut own);
            over.store(true, Ordering::Relaxed);
            // A hand that waits to be heard ends now.
            drop(receiver);
            listened
        })?;
        self.keep_course()
    }

    /// Takes in what comes of seeds, in the order in which they were begun.
    fn listen(&mut self, receiver: &Receiver<Told>, own: &mut Hand<'_>) -> Result<(), HuntError> {
        let mut early: BTreeMap<u64, Result<Tested, HuntError>> = BTreeMap::new();
        let mut turn = 0;
        self.say("testing");
        while !self.is_enough()
            && let Ok((told, tested)) = receiver.recv()
        {
            early.insert(told, tested);
            while let Some(tested) = early.remove(&turn) {
                turn += 1;
                self.take(&tested?, own)?;
                if self.is_enough() {
                    return Ok(());
                }
            }
            self.say("testing");
        }
        Ok(())
    }

    /// Whether there are as many tests as were asked for.
    fn is_enough(&self) -> bool {
        self.plan.stop.tests.is_some_and(|tests| self.n_tests >= tests)
    }

    /// Keeps what came of a seed and looks into what deviates.
    fn take(&mut self, tested: &Tested, own: &mut Hand<'_>) -> Result<(), HuntError> {
        let before = self.coverage.count();
        if let Some(coverage) = &tested.coverage {
            self.coverage = self.coverage.union(coverage);
        }
        let grown = (self.coverage.count() > before).then_some(&self.coverage);
        self.keep_errors(tested)?;
        self.store.add(tested, grown)?;
        let is_settled = self.examine(tested, own)?;
        if tested.is_whole && is_settled {
            self.store.finish(tested.number)?;
        }
        self.n_tests = self.store.n_settled_tests()?;
        self.keep_course()?;
        self.n_empty = match tested.is_whole && tested.expected.is_none() {
            true => self.n_empty + 1,
            false => 0,
        };
        if self.n_empty >= self.ground.programs.count().unwrap_or(EMPTY_SEEDS) {
            let reasons = self.store.rejected()?;
            let reasons: Vec<String> =
                reasons.iter().map(|(why, n)| format!("{n} {why}")).collect();
            let what = format!("none of them can be used ({})", reasons.join(", "));
            return Err(TriageError::NoPrograms(what).into());
        }
        Ok(())
    }

    /// Writes variants that are not equivalent to their seed: somebody has to
    /// find out why.
    fn keep_errors(&self, tested: &Tested) -> Result<(), HuntError> {
        for generation in &tested.generations {
            let Fate::Error(why) = &generation.fate else { continue };
            let strategy = generation.strategy.map_or("the seed", |strategy| strategy.name());
            tracing::warn!(strategy, why, seed = tested.name, "a variant is not equivalent");
            let path = self.plan.folder.join(error_file(tested.number, generation.number));
            let why = why.replace("*/", "* /");
            let text = format!("/* {strategy} on {}: {why} */\n{}", tested.name, generation.text);
            write_whole(&path, text)?;
        }
        Ok(())
    }

    /// Looks into all deviations of a seed; whether it came to an end.
    fn examine(&mut self, tested: &Tested, own: &mut Hand<'_>) -> Result<bool, HuntError> {
        let Some(expected) = &tested.expected else { return Ok(true) };
        for alike in self.alike(tested) {
            let mut rest = &alike.shown[..];
            let mut n_chances = CHANCES;
            while let Some((first, others)) = rest.split_first() {
                n_chances -= 1;
                // What comes to nothing speaks for itself, not for the next variant.
                let is_last = n_chances == 0 || others.is_empty();
                let own_places = if is_last { rest } else { std::slice::from_ref(first) };
                let all = places(rest);
                let outcome = match self.store.settled(first.places[0].0)? {
                    Some(outcome) => outcome,
                    None => match self.looked_into(tested, expected, first, own)? {
                        Examined::Interrupted => return Ok(false),
                        Examined::Duplicate(number) => Outcome::Finding(number),
                        Examined::Dismissed(why) => Outcome::Dismissed(why),
                        Examined::New(key, finding) => {
                            let outcome = Outcome::Finding(finding.number);
                            self.store.settle(&all, &outcome, Some((&key, &finding)))?;
                            break;
                        }
                    },
                };
                match outcome {
                    Outcome::Finding(_) => {
                        self.store.settle(&all, &outcome, None)?;
                        break;
                    }
                    Outcome::Dismissed(_) => {
                        self.store.settle(&places(own_places), &outcome, None)?;
                        rest = if is_last { &[] } else { others };
                    }
                }
            }
        }
        Ok(true)
    }

    fn looked_into(
        &mut self,
        tested: &Tested,
        expected: &Execution,
        shown: &Shown<'_>,
        own: &mut Hand<'_>,
    ) -> Result<Examined, HuntError> {
        let subject = Subject {
            program: &tested.name,
            expected,
            generation: &tested.generations[shown.generation],
            deviation: shown.deviation,
            levels: shown.places.iter().map(|(_, level)| *level).collect(),
            test: shown.test,
            seconds: self.seconds(),
        };
        self.say(&format!("looking into {}", shown.deviation.mark));
        let unheard = Quiet(self.progress);
        self.office.examine(&subject, own, &unheard)
    }

    /// The deviations of a seed, those together that are taken for one bug: of
    /// one compiler and kind, and of one mark where that is a crash's. Variants
    /// have most of their snippets in common, so what one shows the next does.
    fn alike<'t>(&self, tested: &'t Tested) -> Vec<Alike<'t>> {
        let n_before = self.n_tests;
        let levels = &self.ground.testers.levels;
        let (mut found, mut n_done) = (Vec::<Alike<'t>>::new(), 0);
        for (index, generation) in tested.generations.iter().enumerate() {
            for deviation in generation.deviations() {
                let level = levels.iter().position(|level| *level == deviation.level);
                let offset = deviation.tester * levels.len() + level.unwrap_or_default();
                let place = ((tested.number, generation.number, offset), deviation.level);
                let test = n_before + n_done + offset as u64 + 1;
                let shown = Shown { deviation, generation: index, places: vec![place], test };
                match found.iter_mut().find(|known| known.is_like(deviation)) {
                    Some(known) => known.add(shown),
                    None => found.push(Alike { shown: vec![shown] }),
                }
            }
            n_done += generation.n_tests();
        }
        found
    }

    fn seconds(&self) -> f64 {
        self.before + self.begun.elapsed().as_secs_f64()
    }

    /// Keeps how far it is.
    fn keep_course(&self) -> Result<(), HuntError> {
        let seconds = self.seconds();
        self.store.put(SECONDS, &seconds)?;
        self.store.grow(&EmiGrowth {
            seconds,
            variants: self.store.n_variants()?,
            tests: self.store.n_tests()?,
            findings: self.store.n_findings()?,
            blocks: self.coverage.count() as u64,
        })?;
        Ok(())
    }

    fn say(&self, doing: &str) {
        self.progress.emi(&EmiStatus {
            elapsed: Duration::from_secs_f64(self.seconds()),
            budget: self.plan.stop.budget.map(|time| time + Duration::from_secs_f64(self.before)),
            seeds: self.store.n_seeds().unwrap_or_default(),
            variants: self.store.n_variants().unwrap_or_default(),
            tests: self.n_tests,
            findings: self.store.n_findings().unwrap_or_default(),
            blocks: self.coverage.count() as u64,
            doing: doing.to_owned(),
        });
    }
}

/// Deviations of one seed that are taken for one bug, by generation; never empty.
struct Alike<'t> {
    shown: Vec<Shown<'t>>,
}

/// Those of one generation.
struct Shown<'t> {
    /// The first.
    deviation: &'t Deviation,
    /// The place of its generation.
    generation: usize,
    /// Never empty.
    places: Vec<(Place, OptLevel)>,
    /// The number of the first one's test in the campaign.
    test: u64,
}

fn places(shown: &[Shown<'_>]) -> Vec<Place> {
    shown.iter().flat_map(|shown| &shown.places).map(|(place, _)| *place).collect()
}

impl<'t> Alike<'t> {
    /// Generations come in their order.
    fn add(&mut self, more: Shown<'t>) {
        match self.shown.last_mut().filter(|last| last.generation == more.generation) {
            Some(last) => last.places.extend(more.places),
            None => self.shown.push(more),
        }
    }

    fn is_like(&self, other: &Deviation) -> bool {
        let own = self.shown[0].deviation;
        let is_same = own.tester == other.tester && own.kind == other.kind;
        is_same && (own.mark == other.mark || !tells(own.kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finished_seeds_are_left_out_and_turns_are_not() {
        let mut numbers = Numbers { next: 0, turn: 0, finished: BTreeSet::from([0, 1, 3]) };
        let taken: Vec<(u64, u64)> = (0..3).map(|_| numbers.take()).collect();
        assert_eq!(taken, [(0, 2), (1, 4), (2, 5)]);
    }
}
