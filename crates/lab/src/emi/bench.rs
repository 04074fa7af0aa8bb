//! `optsleuth bench emi`: are variants what they should be, how long do they
//! take, and how much more of a compiler do they reach than their seeds?
//!
//! No compiler is accused here. For coverage, seeds and variants are compiled at
//! every level by one LLVM (Figure 7 of the paper has lines of code; here it is
//! basic blocks).
//!
//! **Invariant:** every strategy gets the same seeds, and as many attempts with
//! each; what it could not make, or made wrong, is in the figures.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use optsleuth_model::{Coverage, EmiError, Execution};
use optsleuth_mutate::emi::{Strategy, unmarked};
use serde::Serialize;

use super::derive::{Derivation, Tools, key};
use super::plan::{EMI_LEVELS, EmiRecipe};
use super::store::error_file;
use super::testers::{Hand, Testers};
use super::trial::Source;
use super::{CompilerChoice, Workshop};
use crate::Progress;
use crate::case_folder::write_whole;
use crate::hunt::programs::{ProgramPlan, Programs, Source as Written};
use crate::setup::LabError;

/// Coverage is told for so many variants of each seed.
const TOLD: [u64; 3] = [1, 5, 10];

/// What is to be measured.
#[derive(Clone, Debug)]
pub struct EmiBenchPlan {
    /// Where seeds come from.
    pub programs: ProgramPlan,
    /// How many seeds.
    pub seeds: u64,
    /// How many variants of each, by each strategy.
    pub variants: u64,
    /// Who makes them.
    pub strategies: Vec<Strategy>,
    /// Where the random numbers start.
    pub seed: u64,
    /// The LLVM whose coverage is measured.
    pub coverage: Option<u32>,
    /// Where wrong variants are kept.
    pub folder: PathBuf,
}

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub struct EmiBench {
    /// Goes up when a field changes its meaning or disappears.
    pub version: u32,
    /// How many seeds were used.
    pub seeds: u64,
    /// How many were not, for want of a profile and the like.
    pub unsuited: u64,
    /// How many variants of each were asked for.
    pub variants: u64,
    /// Where the random numbers start.
    pub seed: u64,
    /// Where seeds come from, in words.
    pub source: String,
    /// Who says that variants are equivalent, in words.
    pub judges: Vec<String>,
    /// By strategy.
    pub strategies: Vec<EmiBenchStrategy>,
    /// What of a compiler was executed, if that was asked for.
    pub coverage: Option<EmiBenchCoverage>,
    /// Variants that are not equivalent to their seeds.
    pub errors: Vec<EmiError>,
    /// Whether somebody ended it early.
    pub interrupted: bool,
}

/// One strategy's figures.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EmiBenchStrategy {
    /// Its name.
    pub strategy: String,
    /// Variants that are equivalent to their seeds.
    pub variants: u64,
    /// How often it made none.
    pub nothing: u64,
    /// Variants that are not equivalent.
    pub errors: u64,
    /// New snippets in all variants.
    pub snippets: u64,
    /// Seconds for making variants: reading, profiling, synthesis.
    pub deriving: f64,
    /// The longest that one took.
    pub longest: f64,
    /// Seconds for judging them.
    pub judging: f64,
}

/// How much of a compiler was executed.
#[derive(Clone, Debug, Serialize)]
pub struct EmiBenchCoverage {
    /// `19.1.7`.
    pub llvm: String,
    /// How many blocks it has.
    pub n_blocks: u64,
    /// By all seeds at all levels.
    pub seeds: u64,
    /// Strategy, number of variants of each seed, blocks by seeds and variants.
    pub gained: Vec<(String, u64, u64)>,
}

/// What all hands add to.
struct Sums {
    rows: Vec<EmiBenchStrategy>,
    errors: Vec<(u64, EmiError)>,
    n_seeds: u64,
    n_unsuited: u64,
    by_seeds: Coverage,
    /// By strategy and number of variants.
    by_variants: Vec<[Coverage; TOLD.len()]>,
}

/// Measures.
pub fn bench_emi(plan: &EmiBenchPlan, progress: &dyn Progress) -> Result<EmiBench, LabError> {
    let recipe = EmiRecipe {
        seed: plan.seed,
        strategies: plan.strategies.clone(),
        compilers: plan.coverage.into_iter().map(CompilerChoice::Workers).collect(),
        levels: EMI_LEVELS.to_vec(),
        variants: plan.variants,
        programs: plan.programs.clone(),
        broken: None,
    };
    let mut workshop = Workshop::set_up(&recipe, progress)?;
    let settings = workshop.settings(&recipe);
    let n_blocks = workshop.testers.n_blocks();
    let Workshop { bench, testers, crews, judges, clang, pool, programs } = &mut workshop;
    let tools = Tools { clang, judges, pool };
    let row = |one: &Strategy| EmiBenchStrategy {
        strategy: one.name().to_owned(),
        ..EmiBenchStrategy::default()
    };
    let sums = Mutex::new(Sums {
        rows: plan.strategies.iter().map(row).collect(),
        errors: Vec::new(),
        n_seeds: 0,
        n_unsuited: 0,
        by_seeds: Coverage::default(),
        by_variants: plan.strategies.iter().map(|_| TOLD.map(|_| Coverage::default())).collect(),
    });
    let measuring = Measuring { plan, tools, testers, programs, sums: &sums };
    let next = AtomicU64::new(0);
    let end = programs.count().map_or(plan.seeds, |count| count.min(plan.seeds));
    progress.step("deriving and judging variants");
    let mut hands = crews.hands(&mut bench.pool);
    // One for each core.
    hands.truncate(hands.len().saturating_sub(1).max(1));
    let work = |mut hand: Hand<'_>| -> Result<(), LabError> {
        while !progress.stop_requested() {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= end {
                return Ok(());
            }
            measuring.seed(number, &mut hand, &|| progress.stop_requested())?;
            let done = usize::try_from(number + 1).unwrap_or(usize::MAX);
            progress.count(done, usize::try_from(end).unwrap_or(usize::MAX));
        }
        Ok(())
    };
    let work = &work;
    thread::scope(|scope| {
        let threads: Vec<_> =
            hands.into_iter().map(|hand| scope.spawn(move || work(hand))).collect();
        threads.into_iter().try_for_each(|thread| match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })?;
    let mut sums = sums.into_inner().unwrap_or_else(PoisonError::into_inner);
    sums.errors.sort_by_key(|(number, error)| (*number, error.strategy.clone(), error.generation));
    let coverage = settings.compilers.first().map(|(_, version)| EmiBenchCoverage {
        llvm: version.clone(),
        n_blocks,
        seeds: sums.by_seeds.count() as u64,
        gained: sums.gained(plan),
    });
    Ok(EmiBench {
        version: 1,
        seeds: sums.n_seeds,
        unsuited: sums.n_unsuited,
        variants: plan.variants,
        seed: plan.seed,
        source: settings.source,
        judges: settings.judges,
        strategies: sums.rows,
        coverage,
        errors: sums.errors.into_iter().map(|(_, error)| error).collect(),
        interrupted: progress.stop_requested(),
    })
}

impl Sums {
    fn gained(&self, plan: &EmiBenchPlan) -> Vec<(String, u64, u64)> {
        let mut gained = Vec::new();
        for (strategy, by_variants) in plan.strategies.iter().zip(&self.by_variants) {
            for (told, by_variants) in TOLD.iter().zip(by_variants) {
                if *told <= plan.variants {
                    let blocks = self.by_seeds.union(by_variants).count() as u64;
                    gained.push((strategy.name().to_owned(), *told, blocks));
                }
            }
        }
        gained
    }
}

/// What seeds are measured with.
struct Measuring<'a> {
    plan: &'a EmiBenchPlan,
    tools: Tools<'a>,
    testers: &'a Testers,
    programs: &'a Programs,
    sums: &'a Mutex<Sums>,
}

impl Measuring<'_> {
    fn seed(
        &self,
        number: u64,
        hand: &mut Hand<'_>,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), LabError> {
        let made = self.programs.make_one(hand.fence, number)?;
        let Some(program) = made.program else { return self.unsuited() };
        let Written::C(text) = program.source else { return self.unsuited() };
        let (expected, key) = (program.expected, key(self.plan.seed, number));
        let begun = Derivation::begin(self.tools, &text, &expected, key, hand.fence)?;
        let Ok(mut derivation) = begun else { return self.unsuited() };
        let covered = self.covered(&Source::new(text)?, &expected, hand)?;
        self.add(|sums| {
            sums.n_seeds += 1;
            sums.by_seeds = sums.by_seeds.union(&covered);
        });
        for (place, &strategy) in self.plan.strategies.iter().enumerate() {
            for generation in 1..=self.plan.variants {
                if stop() {
                    return Ok(());
                }
                let of = Attempt { number, name: &program.name, place, strategy, generation };
                self.variant(&of, &mut derivation, &expected, hand)?;
            }
        }
        Ok(())
    }

    fn variant(
        &self,
        of: &Attempt<'_>,
        derivation: &mut Derivation<'_>,
        expected: &Execution,
        hand: &mut Hand<'_>,
    ) -> Result<(), LabError> {
        let Attempt { number, name, place, strategy, generation } = *of;
        let begun = Instant::now();
        let made = derivation.propose(strategy, generation, hand.fence)?;
        let deriving = begun.elapsed().as_secs_f64();
        let Some(variant) = made else {
            self.add(|sums| sums.rows[place].nothing += 1);
            return Ok(());
        };
        let source = Source::new(unmarked(&variant.text))?;
        let begun = Instant::now();
        let judged = self.tools.judges.judge(&source, expected, hand.fence)?;
        let judging = begun.elapsed().as_secs_f64();
        self.add(|sums| {
            let row = &mut sums.rows[place];
            row.deriving += deriving;
            row.longest = row.longest.max(deriving);
            row.judging += judging;
        });
        if let Err(what) = judged {
            // Strategies of one seed have files of their own.
            let file = error_file(number, place as u64 * 1000 + generation);
            let path = self.plan.folder.join(&file);
            write_whole(&path, &variant.text).map_err(|source| LabError::Io {
                doing: format!("write `{}`", path.display()),
                source,
            })?;
            let (strategy, program) = (strategy.name().to_owned(), name.to_owned());
            let error = EmiError { strategy, what, program, generation, file };
            self.add(|sums| {
                sums.rows[place].errors += 1;
                sums.errors.push((number, error));
            });
            return Ok(());
        }
        let covered = self.covered(&source, expected, hand)?;
        self.add(|sums| {
            sums.rows[place].variants += 1;
            sums.rows[place].snippets += variant.snippets.len() as u64;
            for (told, known) in TOLD.iter().zip(&mut sums.by_variants[place]) {
                if generation <= *told {
                    *known = known.union(&covered);
                }
            }
        });
        let begun = Instant::now();
        derivation.go_on(strategy, generation, &variant, hand.fence)?;
        self.add(|sums| sums.rows[place].deriving += begun.elapsed().as_secs_f64());
        Ok(())
    }

    /// What of the compiler is executed for a program, at all levels.
    fn covered(
        &self,
        source: &Source,
        expected: &Execution,
        hand: &mut Hand<'_>,
    ) -> Result<Coverage, LabError> {
        let mut all = Coverage::default();
        for (tester, level) in self.testers.tests() {
            let (_, executed) = self.testers.test(tester, level, source, expected, hand)?;
            if let Some(executed) = executed {
                all = all.union(&executed);
            }
        }
        Ok(all)
    }

    fn unsuited(&self) -> Result<(), LabError> {
        self.add(|sums| sums.n_unsuited += 1);
        Ok(())
    }

    fn add(&self, add: impl FnOnce(&mut Sums)) {
        add(&mut self.sums.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// One variant of one seed by one strategy.
#[derive(Clone, Copy)]
struct Attempt<'a> {
    /// The seed's.
    number: u64,
    name: &'a str,
    /// The strategy's, among those that are measured.
    place: usize,
    strategy: Strategy,
    generation: u64,
}
