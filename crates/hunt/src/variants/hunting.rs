//! The loop of a hunt: every lane has a base program of its own; what comes of
//! them is kept, and looked into, in the order of their numbers.
//!
//! **Invariant:** a base program's tests are in the store before its deviations
//! are looked into, and a finding before the next one is.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use optsleuth_case::folder::write_whole;
use optsleuth_model::{Execution, OptLevel, Quiet};
use optsleuth_triage::TriageError;

use super::base_program::{BaseProgramTester, FailedTest, GenerationResult, TestedProgram};
use super::compilers::Lane;
use super::reproduce::VariantReproducer;
use super::store::{error_file, outvoted_file};
use crate::HuntError;
use crate::campaign::{Deviation, Examined, Examiner, Fate, Session, TestId, is_same_in_program};

/// So many variants of a base program are examined for one bug. If all of these are
/// dismissed, so are the others.
const CHANCES: usize = 3;

/// So many of csmith's numbers in a row without a base program are enough.
const EMPTY_NUMBERS: u64 = 20;

/// A hunt that goes on.
pub(super) struct Hunting<'a> {
    /// The campaign's folder.
    pub(super) folder: PathBuf,
    pub(super) tester: &'a BaseProgramTester<'a>,
    pub(super) examiner: Examiner,
    /// Its tests are those of finished base programs: one that was cut short is
    /// tested again, so that a hunt in parts comes to the same as one in one go.
    pub(super) session: Session<'a>,
    /// How many numbers in a row gave no base program.
    pub(super) n_empty: u64,
}

/// What a lane reports about a base program: in which turn it was begun.
type Report = (u64, Result<TestedProgram, HuntError>);

/// The numbers of base programs that are left to do, in their order.
struct Numbers {
    next: u64,
    turn: u64,
    finished: BTreeSet<u64>,
}

impl Numbers {
    /// The turn and the base program's number.
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
    /// Tests on all lanes, and examines on one of its own.
    pub(super) fn run(
        mut self,
        lanes: Vec<Lane<'_>>,
        mut examining: Lane<'_>,
    ) -> Result<(), HuntError> {
        let over = AtomicBool::new(self.session.is_enough());
        let finished = self.session.store.finished()?;
        let numbers = Mutex::new(Numbers { next: 0, turn: 0, finished });
        let (tester, progress) = (self.tester, self.session.progress);
        let is_late = self.session.deadline();
        let stop = || over.load(Ordering::Relaxed) || progress.stop_requested() || is_late();
        let (sender, receiver) = sync_channel::<Report>(lanes.len());
        thread::scope(|scope| {
            for mut lane in lanes {
                let (sender, stop, numbers) = (sender.clone(), &stop, &numbers);
                scope.spawn(move || {
                    while !stop() {
                        let taken = numbers.lock().unwrap_or_else(PoisonError::into_inner).take();
                        let (turn, number) = taken;
                        let tested = tester.test(number, &mut lane, stop);
                        // The receiver is gone when the hunt is over.
                        if sender.send((turn, tested)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            let received = self.receive(&receiver, &mut examining);
            over.store(true, Ordering::Relaxed);
            // A lane that waits to send ends now.
            drop(receiver);
            received
        })?;
        self.keep_growth()
    }

    /// Takes in what comes of base programs, in the order in which they were begun.
    fn receive(
        &mut self,
        receiver: &Receiver<Report>,
        lane: &mut Lane<'_>,
    ) -> Result<(), HuntError> {
        let mut early: BTreeMap<u64, Result<TestedProgram, HuntError>> = BTreeMap::new();
        let mut turn = 0;
        self.say("testing");
        while !self.session.is_enough()
            && let Ok((begun, tested)) = receiver.recv()
        {
            early.insert(begun, tested);
            while let Some(tested) = early.remove(&turn) {
                turn += 1;
                self.take(&tested?, lane)?;
                if self.session.is_enough() {
                    return Ok(());
                }
            }
            self.say("testing");
        }
        Ok(())
    }

    /// Keeps what came of a base program and looks into what deviates.
    fn take(&mut self, tested: &TestedProgram, lane: &mut Lane<'_>) -> Result<(), HuntError> {
        let has_grown = tested.coverage.as_ref().is_some_and(|found| self.session.cover(found));
        self.keep_disputed(tested)?;
        let deviations = self.deviations(tested);
        let all: Vec<Deviation> = deviations.iter().map(|one| one.deviation.clone()).collect();
        let grown = has_grown.then_some(&self.session.coverage);
        self.session.store.add(tested, &all, grown)?;
        let is_settled = self.examine(tested, deviations, lane)?;
        if tested.is_whole && is_settled {
            self.session.store.finish(tested.number)?;
        }
        self.session.n_tests = self.session.store.n_settled_tests()?;
        self.keep_growth()?;
        self.n_empty = match tested.is_whole && tested.expected.is_none() {
            true => self.n_empty + 1,
            false => 0,
        };
        if self.n_empty >= self.tester.programs.count().unwrap_or(EMPTY_NUMBERS) {
            let reasons = self.session.store.rejected()?;
            let reasons: Vec<String> =
                reasons.iter().map(|(why, n)| format!("{n} {why}")).collect();
            let what = format!("none of them can be used ({})", reasons.join(", "));
            return Err(TriageError::NoPrograms(what).into());
        }
        Ok(())
    }

    /// Writes variants on which judges do not agree: those that are not equivalent
    /// to their base program, which are errors of ours, and those for which a
    /// compiler makes wrong code at -O0, whether it is under test or not.
    fn keep_disputed(&self, tested: &TestedProgram) -> Result<(), HuntError> {
        for generation in &tested.generations {
            let (why, what, file): (_, _, fn(u64, u64) -> String) =
                match (&generation.result, &generation.outvoted) {
                    (GenerationResult::Error(why), _) => {
                        (why, "a variant is not equivalent", error_file)
                    }
                    (_, Some(why)) => (why, "a compiler is wrong at -O0", outvoted_file),
                    (GenerationResult::Nothing | GenerationResult::Tested(..), None) => continue,
                };
            let strategy = generation.strategy.map_or("nothing", |strategy| strategy.name());
            tracing::warn!(strategy, why, program = tested.name, "{what}");
            let path = self.folder.join(file(tested.number, generation.number));
            let why = why.replace("*/", "* /");
            let text = format!("/* {strategy} on {}: {why} */\n{}", tested.name, generation.text);
            write_whole(&path, text)?;
        }
        Ok(())
    }

    /// The tests of a base program and its variants that went wrong.
    fn deviations<'t>(&self, tested: &'t TestedProgram) -> Vec<Shown<'t>> {
        let compilers = self.tester.compilers;
        let seconds = self.session.seconds();
        let (mut all, mut n_done) = (Vec::new(), self.session.n_tests);
        for (index, generation) in tested.generations.iter().enumerate() {
            for failed in generation.failed() {
                let position = compilers.position(failed.compiler, failed.level);
                let (unit, program) = (tested.number, generation.number);
                let deviation = Deviation {
                    id: TestId { unit, program, position },
                    test: n_done + position + 1,
                    seconds,
                    compiler: compilers.all[failed.compiler].name.clone(),
                    mark: failed.mark.clone(),
                };
                all.push(Shown { deviation, failed, generation: index });
            }
            n_done += generation.n_tests();
        }
        all
    }

    /// Looks into all deviations of a base program; whether it came to an end.
    fn examine(
        &mut self,
        tested: &TestedProgram,
        deviations: Vec<Shown<'_>>,
        lane: &mut Lane<'_>,
    ) -> Result<bool, HuntError> {
        let Some(expected) = &tested.expected else { return Ok(true) };
        for alike in alike(deviations) {
            let mut rest = &alike[..];
            let mut n_chances = CHANCES;
            while let Some((first, others)) = rest.split_first() {
                n_chances -= 1;
                // A dismissal says nothing about the next variant.
                let is_last = n_chances == 0 || others.is_empty();
                let shown = &first[0].deviation;
                let store = &self.session.store;
                let examined = match store.fate(shown.id)? {
                    Some(Fate::Finding(number)) => Examined::Duplicate(number, shown.mark.kind),
                    Some(Fate::Dismissed(why)) => Examined::Dismissed(why),
                    None => match store.known(shown)? {
                        Some(number) => Examined::Duplicate(number, shown.mark.kind),
                        None => self.examined(tested, expected, first, lane)?,
                    },
                };
                let is_dismissed = matches!(examined, Examined::Dismissed(_));
                let same =
                    if is_dismissed && !is_last { std::slice::from_ref(first) } else { rest };
                let same: Vec<TestId> = same.iter().flatten().map(|one| one.deviation.id).collect();
                if examined.keep(&self.session.store, &same, shown)?.is_none() {
                    return Ok(false);
                }
                rest = if is_dismissed && !is_last { others } else { &[] };
            }
        }
        Ok(true)
    }

    fn examined(
        &mut self,
        tested: &TestedProgram,
        expected: &Execution,
        shown: &[Shown<'_>],
        lane: &mut Lane<'_>,
    ) -> Result<Examined, HuntError> {
        let Shown { deviation, failed, generation } = &shown[0];
        let mut reproducer = VariantReproducer {
            compilers: self.tester.compilers,
            judges: self.tester.tools.judges,
            lane,
            program: &tested.name,
            expected,
            generation: &tested.generations[*generation],
            failed,
            levels: shown.iter().map(|one| one.failed.level).collect::<Vec<OptLevel>>(),
        };
        self.say(&format!("looking into {} of {}", deviation.mark, deviation.compiler));
        let unheard = Quiet(self.session.progress);
        self.examiner.examine(deviation, &tested.name, &mut reproducer, &unheard)
    }

    /// Keeps how far it is.
    fn keep_growth(&self) -> Result<(), HuntError> {
        self.session.keep_growth(self.session.store.n_variant_tests()?)
    }

    fn say(&self, doing: &str) {
        let Session { store, .. } = &self.session;
        let programs = store.n_base_programs().unwrap_or_default();
        let variants = store.n_variants().unwrap_or_default();
        let reached = format!("{programs} programs · {variants} variants");
        self.session.say(reached, self.session.seconds(), doing);
    }
}

/// A test that went wrong, and whose it is.
struct Shown<'t> {
    deviation: Deviation,
    failed: &'t FailedTest,
    /// The place of its generation.
    generation: usize,
}

/// Deviations of one base program, those together that are taken for one bug, by
/// generation; nothing of it is empty.
fn alike(deviations: Vec<Shown<'_>>) -> Vec<Vec<Vec<Shown<'_>>>> {
    let mut bugs: Vec<Vec<Vec<Shown<'_>>>> = Vec::new();
    for shown in deviations {
        let is_like = |bug: &&mut Vec<Vec<Shown<'_>>>| {
            let known = &bug[0][0].deviation;
            known.compiler == shown.deviation.compiler
                && is_same_in_program(&known.mark, &shown.deviation.mark)
        };
        match bugs.iter_mut().find(is_like) {
            None => bugs.push(vec![vec![shown]]),
            // Generations come in their order.
            Some(bug) => match bug.last_mut() {
                Some(last) if last[0].generation == shown.generation => last.push(shown),
                _ => bug.push(vec![shown]),
            },
        }
    }
    bugs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finished_base_programs_are_left_out_and_turns_are_not() {
        let mut numbers = Numbers { next: 0, turn: 0, finished: BTreeSet::from([0, 1, 3]) };
        let taken: Vec<(u64, u64)> = (0..3).map(|_| numbers.take()).collect();
        assert_eq!(taken, [(0, 2), (1, 4), (2, 5)]);
    }
}
