//! `optsleuth hunt --emi`: compilers -> their bugs, by variants of programs that
//! must behave as the programs do (equivalence modulo inputs).
//!
//! ```text
//! seed ──► variants ──► equivalent? ──► every compiler, every level ──► deviations ──► findings
//!            ▲  │           └─► errors of ours                           (findings.rs)
//!            └──┘ (derive.rs)  (valid.rs)     (testers.rs, trial.rs)
//! ```
//! Every core has a seed of its own; what comes of seeds is kept, and looked
//! into, in the order of their numbers.
//!
//! **Invariant:** a seed's tests are in the store before its deviations are
//! looked into, and a finding before the next one is. With `--tests`, what is
//! tested depends on the recipe alone.

mod bench;
mod campaign;
mod derive;
mod findings;
mod plan;
mod seed;
mod status;
mod store;
mod testers;
mod trial;
mod valid;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use optsleuth_compiler::driver::{Driver, Family};
use optsleuth_compiler::llvm::{Flavor, Targets};
use optsleuth_model::{Coverage, EmiCampaign, EmiGrowth, EmiSettings, OptLevel};
use optsleuth_mutate::emi::Strategy;
use optsleuth_mutate::{Libclang, Pool};

use crate::Progress;
use crate::case_folder::write_whole;
use crate::hunt::CampaignError;
use crate::hunt::programs::Programs;
use crate::mutate::load_libclang;
use crate::setup::{Bench, LabError, LlvmChoice};
use crate::witness::ingredients;
pub use bench::{EmiBench, EmiBenchCoverage, EmiBenchPlan, EmiBenchStrategy, bench_emi};
pub use campaign::emi_campaign;
use derive::Tools;
use findings::{Examined, Office, Subject};
pub use plan::{Broken, CompilerChoice, EMI_LEVELS, EmiPlan, EmiRecipe, EmiStart};
use seed::{Deviation, Fate, Ground, Tested};
pub use status::EmiStatus;
use store::{Outcome, Place, Store, error_file};
use testers::{Crews, Hand, Testers};
use valid::Judges;

/// Names of values in the store.
const RECIPE: &str = "recipe";
const SETTINGS: &str = "settings";
const SECONDS: &str = "seconds";
const WORKERS: &str = "workers";
const NOTES: &str = "notes";
const N_BLOCKS: &str = "blocks";

/// So many of csmith's numbers in a row without a seed are enough.
const EMPTY_SEEDS: u64 = 20;

/// The newest clang and the newest gcc of this machine.
pub fn default_compilers() -> Result<Vec<CompilerChoice>, LabError> {
    let newest = |family| Driver::newest(family).map(|driver| CompilerChoice::Driver(driver.name));
    Ok(vec![newest(Family::Clang)?, newest(Family::Gcc)?])
}

/// Hunts, until it is time to stop.
pub fn hunt_emi(plan: &EmiPlan, progress: &dyn Progress) -> Result<EmiCampaign, LabError> {
    let (store, recipe) = match &plan.start {
        EmiStart::New(recipe) => (None, (**recipe).clone()),
        EmiStart::Resume => {
            let store = Store::open(&plan.folder)?;
            let recipe = store.get(RECIPE)?;
            let recipe =
                recipe.ok_or_else(|| store.damaged("it does not say what is to be done"))?;
            (Some(store), recipe)
        }
    };
    let mut workshop = Workshop::set_up(&recipe, progress)?;
    // Making workers is no part of the budget.
    let begun = Instant::now();
    let settings = workshop.settings(&recipe);
    let store = match store {
        Some(store) => store,
        None => begin(plan, &recipe, &settings, &workshop)?,
    };
    let known: Option<EmiSettings> = store.get(SETTINGS)?;
    if let Some(known) = known.filter(|known| known.compilers != settings.compilers) {
        return Err(CampaignError::OtherSettings {
            folder: plan.folder.clone(),
            what: "compiler",
            theirs: versions(&known),
            ours: versions(&settings),
        }
        .into());
    }
    let Workshop { bench, testers, crews, judges, clang, pool, programs, .. } = &mut workshop;
    let tools = Tools { clang, judges, pool };
    let ground = Ground { recipe: &recipe, programs, tools, testers };
    let office = Office {
        testers,
        judges,
        folder: plan.folder.clone(),
        reduce: plan.reduce,
        asker: plan.asker.clone(),
        keys: store.findings()?.into_iter().map(|(key, known)| (key, known.number)).collect(),
    };
    let hunting = Hunting {
        coverage: store.coverage()?,
        before: store.get(SECONDS)?.unwrap_or_default(),
        n_tests: store.n_tests()?,
        plan,
        ground: &ground,
        office,
        store,
        begun,
        progress,
        n_empty: 0,
    };
    let mut hands = crews.hands(&mut bench.pool);
    let own = hands.pop();
    hunting.run(hands, own)?;
    emi_campaign(&plan.folder)
}

/// Everything that is set up before the first seed.
struct Workshop {
    bench: Bench,
    testers: Testers,
    crews: Crews,
    judges: Judges,
    clang: Libclang,
    pool: Pool,
    programs: Programs,
}

impl Workshop {
    fn set_up(recipe: &EmiRecipe, progress: &dyn Progress) -> Result<Workshop, LabError> {
        let reference = reference(&recipe.compilers);
        // What cannot be found is said before anything is built.
        let clang = load_libclang(&reference.find()?)?;
        let cores = thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        // One for each core, and one to look into what they find.
        let n_hands = cores.saturating_add(1);
        let (testers, crews) = Testers::set_up(recipe, n_hands, progress)?;
        let (targets, flavor) = (Targets::Native, Flavor::Plain);
        let mut bench = Bench::set_up(&reference, targets, flavor, Some(n_hands), progress)?;
        let judges = Judges::find(&bench.install, bench.pool.first(), progress)?;
        let pool = match recipe.strategies.contains(&Strategy::Athena) {
            true => {
                let mut accepts = |text: &str| judges.is_for_gcc(text);
                ingredients(&bench.install, &clang, &mut accepts, progress)?
            }
            false => Pool::gather(&[]),
        };
        let programs = Programs::open(recipe.programs.clone(), &mut bench)?;
        Ok(Workshop { bench, testers, crews, judges, clang, pool, programs })
    }

    fn settings(&self, recipe: &EmiRecipe) -> EmiSettings {
        let compilers = self.testers.all.iter();
        EmiSettings {
            seed: recipe.seed,
            strategies: recipe.strategies.iter().map(|one| one.name().to_owned()).collect(),
            compilers: compilers.map(|one| (one.name.clone(), one.version.clone())).collect(),
            levels: recipe.levels.iter().map(|level| level.name().to_owned()).collect(),
            variants: recipe.variants,
            source: recipe.programs.to_string(),
            judges: self.judges.names(),
            fault: recipe.broken.as_ref().map(|broken| broken.fault.clone()),
        }
    }

    /// What is to be known about this machine, in sentences.
    fn notes(&self) -> Vec<String> {
        self.judges.notes().into_iter().chain(self.programs.notes()).collect()
    }
}

/// The LLVM whose front end and fence are used for everything that is not under
/// test: the first that is named, because that one is here; else the newest.
fn reference(compilers: &[CompilerChoice]) -> LlvmChoice {
    let named = compilers.iter().filter_map(|choice| match choice {
        CompilerChoice::Workers(major) => Some(*major),
        CompilerChoice::Driver(name) => name.strip_prefix("clang-")?.parse().ok(),
    });
    let has_clang =
        |choice: &LlvmChoice| choice.find().is_ok_and(|install| install.tool("clang").is_some());
    named.map(LlvmChoice::Version).find(has_clang).unwrap_or(LlvmChoice::Newest)
}

/// A new campaign's store.
fn begin(
    plan: &EmiPlan,
    recipe: &EmiRecipe,
    settings: &EmiSettings,
    workshop: &Workshop,
) -> Result<Store, LabError> {
    let store = Store::create(&plan.folder)?;
    store.put(SETTINGS, settings)?;
    store.put(WORKERS, &(workshop.bench.pool.size() - 1))?;
    store.put(N_BLOCKS, &workshop.testers.n_blocks())?;
    store.put(NOTES, &workshop.notes())?;
    store.put(RECIPE, recipe)?;
    store.is_begun()?;
    Ok(store)
}

fn versions(settings: &EmiSettings) -> String {
    let named = settings.compilers.iter().map(|(name, version)| format!("{name} ({version})"));
    named.collect::<Vec<_>>().join(", ")
}

/// A hunt that goes on.
struct Hunting<'a> {
    plan: &'a EmiPlan,
    ground: &'a Ground<'a>,
    office: Office<'a>,
    store: Store,
    begun: Instant,
    /// Seconds that earlier sessions took.
    before: f64,
    progress: &'a dyn Progress,
    coverage: Coverage,
    n_tests: u64,
    /// How many numbers in a row gave no seed.
    n_empty: u64,
}

/// What a hand has to say about a seed: in which turn it was begun.
type Told = (u64, Result<Tested, LabError>);

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
    fn run(mut self, hands: Vec<Hand<'_>>, own: Option<Hand<'_>>) -> Result<(), LabError> {
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
    fn listen(&mut self, receiver: &Receiver<Told>, own: &mut Hand<'_>) -> Result<(), LabError> {
        let mut early: BTreeMap<u64, Result<Tested, LabError>> = BTreeMap::new();
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
    fn take(&mut self, tested: &Tested, own: &mut Hand<'_>) -> Result<(), LabError> {
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
        self.n_tests = self.store.n_tests()?;
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
            return Err(LabError::NoPrograms(what));
        }
        Ok(())
    }

    /// Writes variants that are not equivalent to their seed: somebody has to
    /// find out why.
    fn keep_errors(&self, tested: &Tested) -> Result<(), LabError> {
        for generation in &tested.generations {
            let Fate::Error(why) = &generation.fate else { continue };
            let strategy = generation.strategy.map_or("the seed", |strategy| strategy.name());
            tracing::warn!(strategy, why, seed = tested.name, "a variant is not equivalent");
            let path = self.plan.folder.join(error_file(tested.number, generation.number));
            let why = why.replace("*/", "* /");
            let text = format!("/* {strategy} on {}: {why} */\n{}", tested.name, generation.text);
            write_whole(&path, text).map_err(|source| LabError::Io {
                doing: format!("write `{}`", path.display()),
                source,
            })?;
        }
        Ok(())
    }

    /// Looks into all deviations of a seed; whether it came to an end.
    fn examine(&mut self, tested: &Tested, own: &mut Hand<'_>) -> Result<bool, LabError> {
        let Some(expected) = &tested.expected else { return Ok(true) };
        for alike in self.alike(tested) {
            let Some((first, _)) = alike.places.first() else { continue };
            let places: Vec<Place> = alike.places.iter().map(|(place, _)| *place).collect();
            if let Some(outcome) = self.store.settled(*first)? {
                self.store.settle(&places, &outcome, None)?;
                continue;
            }
            let generation = &tested.generations[alike.generation];
            let levels =
                alike.places.iter().filter(|((_, number, _), _)| *number == generation.number);
            let subject = Subject {
                program: &tested.name,
                expected,
                generation,
                deviation: alike.deviation,
                levels: levels.map(|(_, level)| *level).collect(),
                test: alike.test,
                seconds: self.seconds(),
            };
            self.say(&format!("looking into {}", alike.deviation.mark));
            let quiet = Quiet(self.progress);
            match self.office.examine(&subject, own, &quiet)? {
                Examined::Interrupted => return Ok(false),
                Examined::Duplicate(number) => {
                    self.store.settle(&places, &Outcome::Finding(number), None)?;
                }
                Examined::Dismissed(why) => {
                    self.store.settle(&places, &Outcome::Dismissed(why), None)?;
                }
                Examined::New(key, finding) => {
                    let outcome = Outcome::Finding(finding.number);
                    self.store.settle(&places, &outcome, Some((&key, &finding)))?;
                }
            }
        }
        Ok(true)
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
                match found.iter_mut().find(|known| known.is_like(deviation)) {
                    Some(known) => known.places.push(place),
                    None => found.push(Alike {
                        deviation,
                        generation: index,
                        places: vec![place],
                        test: n_before + n_done + offset as u64 + 1,
                    }),
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
    fn keep_course(&self) -> Result<(), LabError> {
        let seconds = self.seconds();
        self.store.put(SECONDS, &seconds)?;
        self.store.grow(&EmiGrowth {
            seconds,
            variants: self.store.n_variants()?,
            tests: self.n_tests,
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

/// Deviations of one seed that are taken for one bug.
struct Alike<'t> {
    /// The first.
    deviation: &'t Deviation,
    /// The place of its generation.
    generation: usize,
    places: Vec<(Place, OptLevel)>,
    /// The number of the first one's test in the campaign.
    test: u64,
}

impl Alike<'_> {
    fn is_like(&self, other: &Deviation) -> bool {
        let own = self.deviation;
        let is_same = own.tester == other.tester && own.kind == other.kind;
        is_same && (own.mark == other.mark || !findings::tells(own.kind))
    }
}

/// Steps of an examination are no news to whoever waits for the hunt.
struct Quiet<'a>(&'a dyn Progress);

impl Progress for Quiet<'_> {
    fn step(&self, _: &str) {}
    fn count(&self, _: usize, _: usize) {}
    fn stop_requested(&self) -> bool {
        self.0.stop_requested()
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
