//! `optsleuth hunt passes`: an LLVM -> its bugs, by many programs and pass
//! sequences (CTOS).
//!
//! ```text
//! programs ──┐                        ┌─► right
//!            ├─► round ──► tests ──►──┤
//! sequences ─┘  (a part    (each with └─► deviations ──► examiner ──► findings
//!                of each)   each)
//! ```
//! A campaign is a series of rounds. What a round consists of depends on the
//! recipe, the round's number and what earlier rounds left in the store; so a
//! hunt that ended anywhere goes on as if it had not.
//!
//! **Invariant:** a test is in the store before the next batch begins, and a
//! finding before the next deviation is looked at.

mod campaign;
mod choice;
mod exclude;
mod recipe;
mod reproduce;
mod request;
mod round;
mod sequences;
mod store;
mod vote;
mod wrong_code;

use std::collections::BTreeSet;
use std::time::Instant;

use optsleuth_case::CaseError;
use optsleuth_case::workers::Workers;
use optsleuth_compiler::CompilerError;
use optsleuth_compiler::llvm::{Flavor, Targets};
use optsleuth_model::{
    Campaign, CaseKind, PassSequence, PassSettings, Progress, Quiet, RunRequest, RunResult,
    SequenceChoice, Trigger,
};
use optsleuth_triage::TriageError;

use crate::HuntError;
use crate::campaign::{
    Beginning, Deviation, Examined, Examiner, Fate, HuntPlan, Session, TestId, TestResult,
    is_telling, of_error, same_settings,
};
use crate::programs::TestProgram;
pub use campaign::{campaign, merge};
pub use choice::PassChoice;
use choice::{default_passes, names};
use exclude::learnt;
pub use exclude::{parse_exclusion, table_3};
pub use recipe::{PassRecipe, ProgramSelection};
use reproduce::{Common, SequenceReproducer};
pub use request::TEST_LIMITS;
use request::test_request;
use round::{Round, Rounds};
use sequences::{Drawn, sequence};
use store::{Batch, FORMAT};
use vote::is_outvoted;
use wrong_code::KnownWrongCode;

/// How many tests a worker makes between two entries in the store.
const BATCH: usize = 16;

/// After so many dismissals of one mark, more of it are not looked into.
const ENOUGH_DISMISSED: u64 = 8;

/// So many rounds without a program that can be used are enough, if there is no
/// end of them.
const EMPTY_ROUNDS: u64 = 5;

/// Hunts, until it is time to stop.
pub fn hunt(plan: &HuntPlan<PassRecipe>, progress: &dyn Progress) -> Result<Campaign, HuntError> {
    let (recipe, store) = plan.open(&FORMAT)?;
    let mut workers =
        Workers::set_up(&recipe.llvm, Targets::Native, Flavor::Covered, None, progress)?;
    // Making a worker is no part of the budget.
    let begun = Instant::now();
    let deck = choice::passes(&mut workers, &recipe.passes)?;
    let rounds = Rounds::new(&recipe, deck, &mut workers)?;
    let settings = settings(&recipe, &workers, &rounds);
    let store = match store {
        Some(store) => store,
        None => {
            let beginning = Beginning {
                seed: recipe.seed,
                source: recipe.programs.to_string(),
                workers: workers.pool.size() as u64,
                n_blocks: u64::from(workers.provisioned.code_map()?.n_blocks),
                notes: rounds.notes(),
            };
            let store = plan.begin(&FORMAT, &recipe, &beginning, &settings)?;
            for exclusion in &recipe.exclusions {
                store.exclude(exclusion)?;
            }
            store.mark_begun()?;
            store
        }
    };
    let known: PassSettings = store.settings()?;
    let passes = (known.passes.join(","), settings.passes.join(","));
    let different = [("LLVM", known.llvm, settings.llvm), ("list of passes", passes.0, passes.1)];
    same_settings(&plan.folder, different)?;
    let examiner = Examiner::new(plan, &store)?;
    let wrong_code = KnownWrongCode::new(store.wrong_code()?);
    let n_tests = store.n_round_tests()?;
    let hunting = Hunting {
        testing: store.testing_seconds()?,
        session: Session::new(store, plan.stop, begun, n_tests, progress)?,
        compiler: format!("llvm-{}", workers.install.major),
        common: Common { llvm: recipe.llvm.clone(), default_passes: default_passes(&workers) },
        recipe: &recipe,
        workers,
        examiner,
        wrong_code,
        rounds,
    };
    hunting.run()?;
    campaign(&plan.folder)
}

fn settings(recipe: &PassRecipe, workers: &Workers, rounds: &Rounds) -> PassSettings {
    PassSettings {
        llvm: workers.install.version.clone(),
        sequences: recipe.sequences.name().to_owned(),
        selection: recipe.selection.name().to_owned(),
        length: recipe.length,
        passes: rounds.pass_names(),
        sequence_pool: recipe.sequence_pool,
        program_pool: recipe.program_pool,
        shard: recipe.shard,
        auto_exclude: recipe.auto_exclude,
    }
}

/// A hunt that goes on.
struct Hunting<'a> {
    recipe: &'a PassRecipe,
    session: Session<'a>,
    workers: Workers,
    /// `llvm-19`.
    compiler: String,
    common: Common,
    examiner: Examiner,
    wrong_code: KnownWrongCode,
    rounds: Rounds,
    /// Seconds that went into tests.
    testing: f64,
}

/// Why a hunt does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Halt {
    /// It is time.
    Over,
    /// By Ctrl-C.
    Interrupted,
}

impl Hunting<'_> {
    fn run(mut self) -> Result<(), HuntError> {
        let mut n_empty = 0;
        while self.halt().is_none() {
            let number = self.session.store.next_round(self.recipe.shard)?;
            self.say(number, "choosing sequences and programs");
            let Session { store, progress, .. } = &self.session;
            let round = self.rounds.make(number, store, &mut self.workers, *progress)?;
            let Some(round) = round else { break };
            n_empty = if round.programs.is_empty() { n_empty + 1 } else { 0 };
            if n_empty >= self.rounds.until_repeated().unwrap_or(EMPTY_ROUNDS) {
                let what = "none of them can be used: they do not compile, do not end, are too \
                            small, or their behaviour is not defined";
                return Err(TriageError::NoPrograms(what.to_owned()).into());
            }
            if round.sequences.iter().all(Vec::is_empty) {
                return Err(HuntError::NothingToDraw);
            }
            if self.go_through(&round)? == Some(Halt::Interrupted) {
                break;
            }
        }
        self.keep_growth()
    }

    fn halt(&self) -> Option<Halt> {
        let is_over = || self.session.is_enough() || self.session.deadline()();
        self.interruption().or_else(|| is_over().then_some(Halt::Over))
    }

    fn interruption(&self) -> Option<Halt> {
        self.session.progress.stop_requested().then_some(Halt::Interrupted)
    }

    /// Every program with every sequence.
    fn go_through(&mut self, round: &Round) -> Result<Option<Halt>, HuntError> {
        let names: Vec<String> =
            round.programs.iter().map(|(_, program)| program.name.clone()).collect();
        self.session.store.begin_round(round.number, &names)?;
        for (place, (number, program)) in (0..).zip(&round.programs) {
            let store = &self.session.store;
            if store.is_finished(round.number, place)? {
                continue;
            }
            match self.workers.pool.load(&program.program, &[], TEST_LIMITS) {
                Ok(()) => {}
                Err(CompilerError::BadModule { .. } | CompilerError::ForeignTarget { .. }) => {
                    store.reject(round.number, "LLVM does not read its IR", 1)?;
                    store.finish_program(round.number, place)?;
                    continue;
                }
                Err(error) => return Err(error.into()),
            }
            self.wrong_code.begin_program();
            let halt = self.test(round, place, *number, program)?;
            if halt != Some(Halt::Interrupted) {
                self.examine(round, place, program)?;
            }
            self.keep_growth()?;
            if let Some(halt) = halt.or_else(|| self.interruption()) {
                return Ok(Some(halt));
            }
            self.session.store.finish_program(round.number, place)?;
        }
        self.learn(round.number)?;
        self.session.store.finish_round(round.number)?;
        Ok(None)
    }

    /// Runs the sequences that are left, batch by batch.
    fn test(
        &mut self,
        round: &Round,
        place: u64,
        number: u64,
        program: &TestProgram,
    ) -> Result<Option<Halt>, HuntError> {
        let mut done = self.session.store.letters_of(round.number, place)?.len();
        while done < round.sequences.len() {
            if let Some(halt) = self.halt() {
                return Ok(Some(halt));
            }
            self.say(round.number, &format!("testing {}", program.name));
            let mut size = BATCH * self.workers.pool.size();
            if let Some(tests) = self.session.stop.tests {
                size = size.min(usize::try_from(tests - self.session.n_tests).unwrap_or(size));
            }
            let end = round.sequences.len().min(done + size);
            let before = self.session.coverage.count();
            let batch = self.run_batch(round, place, program, (done, end))?;
            done += batch.outcomes.len();
            let Session { store, coverage, n_tests, .. } = &mut self.session;
            *n_tests += batch.outcomes.len() as u64;
            let grown = (coverage.count() > before).then_some(&*coverage);
            store.add_batch(round.number, place, number, &batch, grown)?;
        }
        Ok(None)
    }

    /// Runs some of the sequences; fewer than asked for after Ctrl-C.
    fn run_batch(
        &mut self,
        round: &Round,
        place: u64,
        program: &TestProgram,
        (from, end): (usize, usize),
    ) -> Result<Batch, HuntError> {
        let begun = Instant::now();
        let is_guided = self.recipe.sequences == SequenceChoice::Guided;
        let every = if is_guided { 1 } else { self.recipe.coverage_every.max(1) };
        let first = self.session.n_tests;
        let requests: Vec<RunRequest> = (from..end)
            .zip(first..)
            .map(|(index, test)| test_request(sequence(&round.sequences[index]), test, every))
            .collect();
        let digest = |result: RunResult, _| {
            (TestResult::of(&result.outcome, &program.expected), result.coverage)
        };
        let progress = self.session.progress;
        let keep_going = || !progress.stop_requested();
        let results = self.workers.pool.run_while(&requests, &keep_going, &digest);
        self.testing += begun.elapsed().as_secs_f64();
        let seconds = self.session.seconds();
        let mut batch = Batch::default();
        for ((index, test), result) in (from..).zip(first + 1..).zip(results) {
            let (mut result, coverage) = match result {
                Ok(found) => found,
                Err(error) => (of_error(error)?, None),
            };
            if round.sequences[index].is_empty() {
                result = TestResult::Empty;
            }
            batch.outcomes.push(result.letter());
            if let TestResult::Wrong(mark) = result {
                let id = TestId { unit: round.number, program: place, position: index as u64 };
                let compiler = self.compiler.clone();
                batch.deviations.push(Deviation { id, test, seconds, compiler, mark });
            }
            if let Some(coverage) = coverage
                && self.session.cover(&coverage)
                && is_guided
                && let Some(passes) = sequence(&round.sequences[index])
            {
                batch.kept.push((index, passes.to_string()));
            }
        }
        Ok(batch)
    }

    /// Looks into all deviations of a program about which nothing is known.
    fn examine(
        &mut self,
        round: &Round,
        place: u64,
        program: &TestProgram,
    ) -> Result<(), HuntError> {
        let store = &self.session.store;
        let letters = store.letters_of(round.number, place)?;
        let is_whole = letters.len() == round.sequences.len();
        if is_whole && is_outvoted(&letters, &store.all_deviations(round.number, place)?) {
            store.mark_outvoted(round.number, place)?;
        }
        for deviation in store.open_deviations(round.number, place)? {
            let (examined, shown_by) = self.examined(round, program, &deviation)?;
            let store = &self.session.store;
            let Some(fate) = examined.keep(store, &[deviation.id], &deviation)? else {
                return Ok(());
            };
            if let (Fate::Finding(number), Some(passes)) = (fate, shown_by)
                && self.wrong_code.learn(number, &passes)
            {
                store.add_wrong_code(number, &passes)?;
            }
        }
        Ok(())
    }

    /// What comes of one of them; for wrong code also the few passes that show it.
    fn examined(
        &mut self,
        round: &Round,
        program: &TestProgram,
        deviation: &Deviation,
    ) -> Result<(Examined, Option<PassSequence>), HuntError> {
        let store = &self.session.store;
        if let Some(number) = store.known(deviation)? {
            return Ok((Examined::Duplicate(number, deviation.mark.kind), None));
        }
        if store.n_dismissed(deviation)? >= ENOUGH_DISMISSED {
            let why = "many like it were no findings".to_owned();
            return Ok((Examined::Dismissed(why), None));
        }
        self.say(round.number, &format!("looking into {}", deviation.mark));
        let position = usize::try_from(deviation.id.position).unwrap_or_default();
        let store = &self.session.store;
        let alike: Vec<Fate> = match is_telling(&deviation.mark) {
            true => Vec::new(),
            false => store.fates_alike(deviation)?,
        };
        let mut reproducer = SequenceReproducer {
            common: &self.common,
            workers: &mut self.workers,
            wrong_code: &mut self.wrong_code,
            program,
            deviation,
            alike,
            drawn: &round.sequences[position],
            reduced: None,
        };
        let unheard = Quiet(self.session.progress);
        let name = &program.name;
        let examined = match self.examiner.examine(deviation, name, &mut reproducer, &unheard) {
            Err(HuntError::Case(CaseError::Compiler(error))) => {
                of_error(error)?;
                Examined::Dismissed("the harness could not run it again".to_owned())
            }
            other => other?,
        };
        let is_wrong_code = match &examined {
            Examined::Duplicate(_, kind) => *kind == CaseKind::WrongCode,
            Examined::New(_, finding) => finding.kind == CaseKind::WrongCode,
            Examined::Dismissed(_) | Examined::Interrupted => false,
        };
        let reduced = reproducer.reduced.filter(|_| is_wrong_code);
        Ok((examined, reduced.map(|reduced| reduced.passes)))
    }

    /// What findings with many duplicates teach, from the next round on.
    fn learn(&self, round: u64) -> Result<(), HuntError> {
        if !self.recipe.auto_exclude {
            return Ok(());
        }
        let store = &self.session.store;
        let known: BTreeSet<Vec<String>> =
            store.exclusions()?.into_iter().map(|exclusion| exclusion.passes).collect();
        for (_, finding) in store.findings()? {
            let Trigger::Passes(trigger) = &finding.trigger else { continue };
            let Ok(passes) = trigger.passes.parse() else { continue };
            let exclusion = learnt(&finding, &names(&passes), round + 1);
            if let Some(exclusion) = exclusion.filter(|new| !known.contains(&new.passes)) {
                store.exclude(&exclusion)?;
            }
        }
        Ok(())
    }

    /// Keeps how far it is.
    fn keep_growth(&self) -> Result<(), HuntError> {
        self.session.store.put_testing_seconds(self.testing)?;
        self.session.keep_growth(self.session.n_tests)
    }

    fn say(&self, round: u64, doing: &str) {
        self.session.say(format!("round {round}"), self.testing, doing);
    }
}

/// Tests as a hunt makes them, for whoever wants to know how long they take:
/// the first programs and random sequences of a recipe.
pub fn sample_tests(
    recipe: &PassRecipe,
    workers: &mut Workers,
    progress: &dyn Progress,
) -> Result<Vec<(TestProgram, Vec<RunRequest>)>, HuntError> {
    let deck = choice::passes(workers, &recipe.passes)?;
    let mut rounds = Rounds::new(recipe, deck, workers)?;
    let (sequences, programs) = rounds.sample(workers, progress)?;
    let n_sequences = sequences.len() as u64;
    let tests = programs.into_iter().enumerate().map(|(place, program)| {
        let first = place as u64 * n_sequences;
        let request = |(drawn, test): (&Drawn, u64)| {
            test_request(sequence(drawn), test, recipe.coverage_every)
        };
        (program, sequences.iter().zip(first..).map(request).collect())
    });
    Ok(tests.collect())
}
