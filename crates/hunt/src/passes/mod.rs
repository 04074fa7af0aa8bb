//! `optsleuth hunt`: an LLVM -> its bugs, by many programs and pass sequences.
//!
//! ```text
//! programs ──┐                        ┌─► right
//!            ├─► round ──► tests ──►──┤
//! sequences ─┘  (a part    (each with └─► deviations ──► examine ──► findings
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
pub mod differential;
mod examine;
mod exclude;
mod plan;
mod round;
mod sequences;
mod store;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use optsleuth_case::CaseError;
use optsleuth_case::workers::Workers;
use optsleuth_compiler::llvm::{Flavor, RunError, Targets};
use optsleuth_model::{
    CaseKind, Coverage, Execute, Growth, HuntSettings, HuntStatus, Limits, PassSequence, Progress,
    Quiet, RunRequest, RunResult, SequenceChoice,
};
use optsleuth_triage::TriageError;

use crate::HuntError;
use crate::programs::TestProgram;
pub use campaign::{campaign, merge};
pub use choice::PassChoice;
use choice::{default_passes, names};
use differential::{Seen, is_outvoted, tells};
use examine::{Examined, Office, Subject};
use exclude::learnt;
pub use exclude::{parse_exclusion, table_3};
pub use plan::{HuntPlan, HuntRecipe, HuntStart, HuntStop};
pub use round::ProgramSelection;
use round::{Round, Rounds};
use sequences::{Drawn, sequence};
use store::{Batch, Deviation, Fate, Store};

/// What a test may use: less than usual, because most need next to nothing, and
/// what needs more is looked at again.
pub const TEST_LIMITS: Limits = Limits {
    compile: Duration::from_secs(4),
    execute: Duration::from_secs(2),
    memory: 4 << 30,
    output: 1 << 20,
};

/// How many tests a worker makes between two entries in the store.
const BATCH: usize = 16;

/// One test in so many has its IR verified after every pass; all others at the
/// end. Verifying takes twice as long as all passes together, and what it finds
/// on the way mostly shows at the end as well.
const VERIFIED: u64 = 8;

/// After so many dismissals of one mark, more of it are not looked into.
const ENOUGH_DISMISSED: u64 = 8;

/// So many rounds without a program that can be used are enough, if there is no
/// end of them.
const EMPTY_ROUNDS: u64 = 5;

/// Hunts, until it is time to stop.
pub fn hunt(
    plan: &HuntPlan,
    progress: &dyn Progress,
) -> Result<optsleuth_model::Campaign, HuntError> {
    let (store, recipe) = match &plan.start {
        HuntStart::New(recipe) => (None, (**recipe).clone()),
        HuntStart::Resume => {
            let store = Store::open(&plan.folder)?;
            let recipe = store.get(RECIPE)?.ok_or_else(|| HuntError::Damaged {
                folder: plan.folder.clone(),
                what: "it does not say what is to be done".to_owned(),
            })?;
            (Some(store), recipe)
        }
    };
    let mut workers =
        Workers::set_up(&recipe.llvm, Targets::Native, Flavor::Covered, None, progress)?;
    // Making a worker is no part of the budget.
    let begun = Instant::now();
    let deck = choice::passes(&mut workers, &recipe.passes)?;
    let rounds = Rounds::new(&recipe, deck, &mut workers)?;
    let store = match store {
        Some(store) => store,
        None => begin(plan, &recipe, &workers, &rounds)?,
    };
    let known = store.llvm()?;
    if known != workers.install.version {
        return Err(HuntError::OtherSettings {
            folder: plan.folder.clone(),
            what: "LLVM",
            theirs: known,
            ours: workers.install.version.clone(),
        });
    }
    let known = store.settings()?.passes;
    if known != rounds.pass_names() {
        return Err(HuntError::OtherSettings {
            folder: plan.folder.clone(),
            what: "list of passes",
            theirs: known.join(","),
            ours: rounds.pass_names().join(","),
        });
    }
    let office = office(plan, &recipe, &workers, &store)?;
    let clock = Clock { begun, before: store.get(SECONDS)?.unwrap_or_default() };
    let hunting = Hunting {
        coverage: store.coverage()?,
        testing: store.get(TESTING_SECONDS)?.unwrap_or_default(),
        n_tests: store.n_tests()?,
        plan,
        recipe: &recipe,
        store,
        workers,
        office,
        rounds,
        clock,
        progress,
    };
    hunting.run()?;
    campaign(&plan.folder)
}

/// Names of values in the store.
const RECIPE: &str = "recipe";
const SECONDS: &str = "seconds";
const TESTING_SECONDS: &str = "testing-seconds";
const WORKERS: &str = "workers";
const NOTES: &str = "notes";
const N_BLOCKS: &str = "blocks";
/// The beginning of marks that are sequences by which programs go wrong.
const SHOWS_WRONG_CODE: &str = "wrong-code by ";

/// A new campaign's store.
fn begin(
    plan: &HuntPlan,
    recipe: &HuntRecipe,
    workers: &Workers,
    rounds: &Rounds,
) -> Result<Store, HuntError> {
    let notes = rounds.notes();
    let settings = HuntSettings {
        seed: recipe.seed,
        sequences: recipe.sequences.name().to_owned(),
        selection: recipe.selection.name().to_owned(),
        source: recipe.programs.to_string(),
        length: recipe.length,
        passes: rounds.pass_names(),
        sequence_pool: recipe.sequence_pool,
        program_pool: recipe.program_pool,
        shard: recipe.shard,
        auto_exclude: recipe.auto_exclude,
    };
    let store = Store::create(&plan.folder, &workers.install.version, &settings)?;
    for exclusion in &recipe.exclusions {
        store.exclude(exclusion)?;
    }
    store.put(WORKERS, &workers.pool.size())?;
    store.put(N_BLOCKS, &workers.provisioned.code_map()?.n_blocks)?;
    store.put(NOTES, &notes)?;
    store.put(RECIPE, recipe)?;
    store.is_begun()?;
    Ok(store)
}

fn office(
    plan: &HuntPlan,
    recipe: &HuntRecipe,
    workers: &Workers,
    store: &Store,
) -> Result<Office, HuntError> {
    let findings = store.findings()?;
    let wrong_code = store
        .known_with(SHOWS_WRONG_CODE)?
        .into_iter()
        .filter_map(|(passes, number)| Some((number, passes.parse().ok()?)))
        .collect();
    Ok(Office {
        llvm: recipe.llvm.clone(),
        folder: plan.folder.clone(),
        default_passes: default_passes(workers),
        reduce: plan.reduce,
        asker: plan.asker.clone(),
        wrong_code,
        goes_wrong: Vec::new(),
        keys: findings.into_iter().map(|(key, finding)| (key, finding.number)).collect(),
    })
}

/// How long a campaign has been going on.
#[derive(Clone, Copy, Debug)]
struct Clock {
    begun: Instant,
    /// What earlier sessions took.
    before: f64,
}

impl Clock {
    fn seconds(&self) -> f64 {
        self.before + self.begun.elapsed().as_secs_f64()
    }
}

/// A hunt that goes on.
struct Hunting<'a> {
    plan: &'a HuntPlan,
    recipe: &'a HuntRecipe,
    store: Store,
    workers: Workers,
    office: Office,
    rounds: Rounds,
    clock: Clock,
    progress: &'a dyn Progress,
    coverage: Coverage,
    /// Seconds that went into tests.
    testing: f64,
    n_tests: u64,
}

/// Why a hunt does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Halt {
    /// It is time.
    Over,
    /// Somebody pressed Ctrl-C.
    Interrupted,
}

impl Hunting<'_> {
    fn run(mut self) -> Result<(), HuntError> {
        let mut n_empty = 0;
        while self.halt().is_none() {
            let number = self.store.next_round(self.recipe.shard)?;
            self.say(number, "choosing sequences and programs");
            let round = self.rounds.make(number, &self.store, &mut self.workers, self.progress)?;
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
        self.keep_course()
    }

    fn halt(&self) -> Option<Halt> {
        if self.progress.stop_requested() {
            return Some(Halt::Interrupted);
        }
        let HuntStop { budget, tests } = self.plan.stop;
        let is_late = budget.is_some_and(|budget| self.clock.begun.elapsed() >= budget);
        let is_enough = tests.is_some_and(|tests| self.n_tests >= tests);
        (is_late || is_enough).then_some(Halt::Over)
    }

    /// Every program with every sequence.
    fn go_through(&mut self, round: &Round) -> Result<Option<Halt>, HuntError> {
        let names: Vec<String> =
            round.programs.iter().map(|(_, program)| program.name.clone()).collect();
        self.store.begin_round(round.number, &names)?;
        for (place, (number, program)) in round.programs.iter().enumerate() {
            let (done, finished) = self.store.progress_of(round.number, place)?;
            if finished {
                continue;
            }
            match self.workers.pool.load(&program.program, &[], TEST_LIMITS) {
                Ok(()) => {}
                Err(RunError::BadModule { .. } | RunError::ForeignTarget { .. }) => {
                    self.store.reject("LLVM does not read its IR", 1)?;
                    self.store.finish_program(round.number, place)?;
                    continue;
                }
                Err(error) => return Err(error.into()),
            }
            self.office.begin_program();
            let halt = self.test(round, place, *number, program, done)?;
            if halt != Some(Halt::Interrupted) {
                self.examine(round, place, program)?;
            }
            self.keep_course()?;
            if let Some(halt) = halt.or_else(|| self.interruption()) {
                return Ok(Some(halt));
            }
            self.store.finish_program(round.number, place)?;
        }
        self.learn(round.number)?;
        self.store.finish_round(round.number)?;
        Ok(None)
    }

    fn interruption(&self) -> Option<Halt> {
        self.progress.stop_requested().then_some(Halt::Interrupted)
    }

    /// Runs the sequences from `done` on, batch by batch.
    fn test(
        &mut self,
        round: &Round,
        place: usize,
        number: u64,
        program: &TestProgram,
        mut done: usize,
    ) -> Result<Option<Halt>, HuntError> {
        while done < round.sequences.len() {
            if let Some(halt) = self.halt() {
                return Ok(Some(halt));
            }
            self.say(round.number, &format!("testing {}", program.name));
            let mut size = BATCH * self.workers.pool.size();
            if let Some(tests) = self.plan.stop.tests {
                size = size.min(usize::try_from(tests - self.n_tests).unwrap_or(size));
            }
            let end = round.sequences.len().min(done + size);
            let before = self.coverage.count();
            let batch = self.run_batch(round, program, done, end)?;
            done += batch.outcomes.len();
            self.n_tests += batch.outcomes.len() as u64;
            let grown = (self.coverage.count() > before).then_some(&self.coverage);
            self.store.add_batch(round.number, place, number, &batch, grown)?;
        }
        Ok(None)
    }

    /// Runs some of the sequences; fewer than asked for if somebody wants to
    /// stop.
    fn run_batch(
        &mut self,
        round: &Round,
        program: &TestProgram,
        from: usize,
        end: usize,
    ) -> Result<Batch, HuntError> {
        let begun = Instant::now();
        let is_guided = self.recipe.sequences == SequenceChoice::Guided;
        let every = if is_guided { 1 } else { self.recipe.coverage_every.max(1) };
        let requests: Vec<RunRequest> = (from..end)
            .map(|index| {
                let test = self.n_tests + (index - from) as u64;
                test_request(sequence(&round.sequences[index]), test, every)
            })
            .collect();
        let digest =
            |result: RunResult, _| (Seen::of(&result.outcome, &program.expected), result.coverage);
        let keep_going = || !self.progress.stop_requested();
        let results = self.workers.pool.run_while(&requests, &keep_going, &digest);
        self.testing += begun.elapsed().as_secs_f64();
        let seconds = self.clock.seconds();
        let mut batch = Batch::default();
        for (index, result) in (from..).zip(results) {
            let (mut seen, coverage) = match result {
                Ok(found) => found,
                Err(error) => (trouble(error)?, None),
            };
            if round.sequences[index].is_empty() {
                seen = Seen::Empty;
            }
            batch.outcomes.push(seen.letter());
            let test = self.n_tests + (index - from) as u64 + 1;
            if let Seen::Wrong(kind, mark) = seen {
                batch.deviations.push(Deviation { sequence: index, test, seconds, kind, mark });
            }
            if let Some(coverage) = coverage
                && self.cover(&coverage)
                && is_guided
                && let Some(passes) = sequence(&round.sequences[index])
            {
                batch.kept.push((index, passes.to_string()));
            }
        }
        Ok(batch)
    }

    /// Adds to what was executed; whether there is anything new in it.
    fn cover(&mut self, coverage: &Coverage) -> bool {
        let before = self.coverage.count();
        self.coverage = self.coverage.union(coverage);
        self.coverage.count() > before
    }

    /// Looks into all deviations of a program about which nothing is known.
    fn examine(
        &mut self,
        round: &Round,
        place: usize,
        program: &TestProgram,
    ) -> Result<(), HuntError> {
        let deviations = self.store.open_deviations(round.number, place)?;
        let letters = self.store.letters_of(round.number, place)?;
        let is_whole = letters.len() == round.sequences.len();
        if is_whole && is_outvoted(&letters, &self.store.all_deviations(round.number, place)?) {
            self.store.mark_outvoted(round.number, place)?;
        }
        for deviation in deviations {
            let here = (round.number, place, deviation.sequence);
            let telling = tells(deviation.kind, &deviation.mark).then_some(deviation.mark.as_str());
            let known = telling.map(|mark| self.store.known(mark)).transpose()?.flatten();
            if let Some(number) = known {
                self.store.settle(here, &Fate::Finding(number), None, None)?;
                continue;
            }
            if self.store.n_dismissed(&deviation.mark)? >= ENOUGH_DISMISSED {
                let why = "many like it were no findings".to_owned();
                self.store.settle(here, &Fate::Dismissed(why), None, None)?;
                continue;
            }
            self.say(round.number, &format!("looking into {}", deviation.mark));
            let subject = Subject {
                name: &program.name,
                input: program.file_name(),
                text: program.text(),
                program: &program.program,
                expected: &program.expected,
            };
            let drawn = &round.sequences[deviation.sequence];
            let unheard = Quiet(self.progress);
            let alike = match telling {
                None => self.store.settled_alike(round.number, place, &deviation.mark)?,
                Some(_) => None,
            };
            let seen = (&deviation, alike);
            let examined = self.office.examine(&mut self.workers, subject, seen, drawn, &unheard);
            let examined = match examined {
                Err(HuntError::Case(CaseError::Run(error))) => {
                    trouble(error)?;
                    Examined::Dismissed("the harness could not run it again".to_owned())
                }
                other => other?,
            };
            // A mark shows a finding only if it is one of the same kind.
            let mark = |kind| telling.filter(|_| kind == deviation.kind).map(str::to_owned);
            match examined {
                Examined::Interrupted => return Ok(()),
                Examined::Duplicate(number, kind, passes) => {
                    let mark = passes.map(shows_wrong_code).or_else(|| mark(kind));
                    self.store.settle(here, &Fate::Finding(number), mark.as_deref(), None)?;
                }
                Examined::Dismissed(why) => {
                    self.store.settle(here, &Fate::Dismissed(why), None, None)?;
                }
                Examined::New(key, finding) => {
                    let fate = Fate::Finding(finding.number);
                    let mark = match finding.kind {
                        CaseKind::WrongCode => Some(shows_wrong_code(&finding.passes)),
                        kind => mark(kind),
                    };
                    self.store.settle(here, &fate, mark.as_deref(), Some((&key, &finding)))?;
                }
            }
        }
        Ok(())
    }

    /// What findings with many duplicates teach, from the next round on.
    fn learn(&self, round: u64) -> Result<(), HuntError> {
        if !self.recipe.auto_exclude {
            return Ok(());
        }
        let known: BTreeSet<Vec<String>> =
            self.store.exclusions()?.into_iter().map(|exclusion| exclusion.passes).collect();
        for (_, finding) in self.store.findings()? {
            let Ok(passes) = finding.passes.parse() else { continue };
            let exclusion = learnt(&finding, &names(&passes), round + 1);
            if let Some(exclusion) = exclusion.filter(|new| !known.contains(&new.passes)) {
                self.store.exclude(&exclusion)?;
            }
        }
        Ok(())
    }

    /// Keeps how far it is.
    fn keep_course(&self) -> Result<(), HuntError> {
        let seconds = self.clock.seconds();
        self.store.put(SECONDS, &seconds)?;
        self.store.put(TESTING_SECONDS, &self.testing)?;
        self.store.grow(&Growth {
            seconds,
            tests: self.n_tests,
            findings: self.store.n_findings()?,
            blocks: self.coverage.count() as u64,
        })?;
        Ok(())
    }

    fn say(&self, round: u64, doing: &str) {
        self.progress.hunt(&HuntStatus {
            elapsed: Duration::from_secs_f64(self.clock.seconds()),
            budget: self
                .plan
                .stop
                .budget
                .map(|budget| budget + Duration::from_secs_f64(self.clock.before)),
            round,
            tests: self.n_tests,
            rate: self.n_tests as f64 / self.testing.max(0.001),
            findings: self.store.n_findings().unwrap_or_default(),
            blocks: self.coverage.count() as u64,
            doing: doing.to_owned(),
        });
    }
}

/// The run of a test, by its number.
fn test_request(passes: Option<PassSequence>, test: u64, coverage_every: u64) -> RunRequest {
    RunRequest {
        verify_each: test % VERIFIED == 1,
        execute: Execute::InChild,
        coverage: test.is_multiple_of(coverage_every),
        limits: TEST_LIMITS,
        ..RunRequest::new(passes)
    }
}

/// Tests as a hunt makes them, for whoever wants to know how long they take:
/// the first programs and random sequences of a recipe.
pub fn sample_tests(
    recipe: &HuntRecipe,
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

/// What a run that could not be made is. Trouble that will not go away ends
/// the hunt.
fn trouble(error: RunError) -> Result<Seen, HuntError> {
    match error {
        RunError::Lost { .. } | RunError::Trouble(_) | RunError::DoesNotLink(_) => {
            tracing::warn!(%error, "a test could not be run");
            Ok(Seen::Trouble)
        }
        RunError::BadPipeline(_) => {
            tracing::warn!(%error, "LLVM does not take a sequence");
            Ok(Seen::Trouble)
        }
        error => Err(error.into()),
    }
}

/// The mark of a sequence by which programs go wrong.
fn shows_wrong_code(passes: impl std::fmt::Display) -> String {
    format!("{SHOWS_WRONG_CODE}{passes}")
}
