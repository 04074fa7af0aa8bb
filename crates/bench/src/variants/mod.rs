//! `optsleuth bench variants`: are variants what they should be, how long do they
//! take, and how much more of a compiler do they reach than their base
//! programs?
//!
//! No compiler is tested here. For coverage, base programs and variants are compiled
//! at every level by one LLVM (Figure 7 of the paper has lines of code; here it is
//! basic blocks).
//!
//! **Invariant:** every strategy gets the same base programs, and as many attempts
//! with each; of one that was cut short, only errors are in the figures. What a
//! strategy could not make, or made wrong, is.

mod figures;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use optsleuth_case::folder::write_whole;
use optsleuth_hunt::programs::{ProgramPlan, ProgramSource, Programs, Source as Written};
use optsleuth_hunt::variants::compilers::{Compilers, Lane};
use optsleuth_hunt::variants::derive::{Derivation, Tools, key};
use optsleuth_hunt::variants::setup::Setup;
use optsleuth_hunt::variants::trial::Source;
use optsleuth_hunt::variants::valid::Verdict;
use optsleuth_hunt::variants::{CompilerChoice, LEVELS, VariantRecipe, error_file};
use optsleuth_model::{
    Coverage, Execution, Progress, VARIANT_BENCH_VERSION, VariantBench, VariantBenchCoverage,
    VariantError, VariantSettings,
};
use optsleuth_mutate::emi::{Strategy, unmarked};

use crate::BenchError;
use figures::Figures;

/// What is to be measured.
#[derive(Clone, Debug)]
pub struct VariantBenchPlan {
    /// Where base programs come from.
    pub programs: ProgramPlan,
    /// How many base programs.
    pub count: u64,
    /// How many variants of each, by each strategy.
    pub variants: u64,
    /// Who makes them.
    pub strategies: Vec<Strategy>,
    /// Where the random numbers start.
    pub seed: u64,
    /// The LLVM whose coverage is measured.
    pub coverage: Option<u32>,
    /// Where wrong variants are kept, and figures after every base program.
    pub folder: PathBuf,
}

/// Measures.
pub fn bench_variants(
    plan: &VariantBenchPlan,
    progress: &dyn Progress,
) -> Result<VariantBench, BenchError> {
    let recipe = VariantRecipe {
        seed: plan.seed,
        strategies: plan.strategies.clone(),
        compilers: plan.coverage.into_iter().map(CompilerChoice::Workers).collect(),
        levels: LEVELS.to_vec(),
        variants: plan.variants,
        programs: plan.programs.clone(),
        broken: None,
    };
    let mut setup = Setup::new(&recipe, progress)?;
    let settings = setup.settings(&recipe);
    let n_blocks = setup.compilers.n_blocks();
    let Setup { workers, compilers, lane_pools, judges, clang, pool, programs } = &mut setup;
    let tools = Tools { clang, judges, pool };
    let end = programs.count().map_or(plan.count, |count| count.min(plan.count));
    let all = end * plan.strategies.len() as u64 * plan.variants;
    let arguments = arguments(plan, &settings);
    let sums = Figures::read(&plan.folder, &arguments, plan)?;
    let course = Course { done: AtomicU64::new(0), all, progress };
    let before = sums.done.clone();
    course.step(before.len() as u64 * plan.strategies.len() as u64 * plan.variants);
    let measuring = Measuring { plan, tools, compilers, programs, course };
    let sums = Mutex::new((sums, Vec::new()));
    let next = AtomicU64::new(0);
    progress.step("deriving and judging variants");
    let mut lanes = lane_pools.lanes(&mut workers.pool);
    // One for each core.
    lanes.truncate(lanes.len().saturating_sub(1).max(1));
    let work = |mut lane: Lane<'_>| -> Result<(), BenchError> {
        while !progress.stop_requested() {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= end {
                return Ok(());
            }
            if before.contains(&number) {
                continue;
            }
            let measured = measuring.base_program(number, &mut lane)?;
            let mut sums = sums.lock().unwrap_or_else(PoisonError::into_inner);
            match measured {
                Measured::Whole(figures) => {
                    sums.0.add(figures);
                    sums.0.write(&plan.folder, &arguments)?;
                }
                Measured::CutShort(errors) => sums.1.extend(errors),
            }
        }
        Ok(())
    };
    let work = &work;
    thread::scope(|scope| {
        let threads: Vec<_> =
            lanes.into_iter().map(|lane| scope.spawn(move || work(lane))).collect();
        threads.into_iter().try_for_each(|thread| match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })?;
    let (mut sums, late) = sums.into_inner().unwrap_or_else(PoisonError::into_inner);
    sums.errors.extend(late);
    sums.errors.sort_by_key(|(number, error)| (*number, error.strategy.clone(), error.generation));
    let coverage = settings.compilers.first().map(|(_, version)| VariantBenchCoverage {
        llvm: version.clone(),
        n_blocks,
        programs: sums.by_programs.count() as u64,
        gained: sums.gained(),
    });
    Ok(VariantBench {
        version: VARIANT_BENCH_VERSION,
        programs: sums.n_programs,
        unsuited: sums.n_unsuited,
        variants: plan.variants,
        seed: plan.seed,
        source: plan.programs.to_string(),
        judges: settings.judges,
        strategies: sums.rows,
        coverage,
        errors: sums.errors.into_iter().map(|(_, error)| error).collect(),
        interrupted: progress.stop_requested(),
    })
}

/// What figures depend on; more base programs only add to them.
fn arguments(plan: &VariantBenchPlan, settings: &VariantSettings) -> String {
    let compilers = settings.compilers.iter().map(|(name, version)| format!("{name} {version}"));
    let compilers: Vec<String> = compilers.collect();
    let source = match &plan.programs.source {
        ProgramSource::Csmith(_) => plan.programs.to_string(),
        // Folders of one name may hold anything.
        ProgramSource::Folder(folder) => {
            let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
            format!("the folder {}", folder.display())
        }
    };
    format!(
        "{source} of seed {}, {} variants by {}, judged by {}, coverage of {}",
        plan.seed,
        plan.variants,
        settings.strategies.join(", "),
        settings.judges.join(", "),
        if compilers.is_empty() { "nothing".to_owned() } else { compilers.join(", ") },
    )
}

/// What came of measuring a base program.
enum Measured {
    Whole(Figures),
    /// It was interrupted; these are the errors until then.
    CutShort(Vec<(u64, VariantError)>),
}

/// How far it is, in variants.
struct Course<'a> {
    done: AtomicU64,
    all: u64,
    progress: &'a dyn Progress,
}

impl Course<'_> {
    fn step(&self, variants: u64) {
        let done = self.done.fetch_add(variants, Ordering::Relaxed) + variants;
        let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        self.progress.count(size(done), size(self.all));
    }
}

/// What base programs are measured with.
struct Measuring<'a> {
    plan: &'a VariantBenchPlan,
    tools: Tools<'a>,
    compilers: &'a Compilers,
    programs: &'a Programs,
    course: Course<'a>,
}

/// One variant of one base program by one strategy.
#[derive(Clone, Copy)]
struct Attempt<'a> {
    /// The base program's.
    number: u64,
    name: &'a str,
    expected: &'a Execution,
    /// The strategy's, among those that are measured.
    place: usize,
    strategy: Strategy,
    generation: u64,
}

impl Measuring<'_> {
    /// Everything about one base program.
    fn base_program(&self, number: u64, lane: &mut Lane<'_>) -> Result<Measured, BenchError> {
        let mut figures = Figures::none(self.plan);
        figures.done.insert(number);
        let made = self.programs.make_one(lane.fence, number)?;
        let Some(program) = made.program else { return Ok(self.unsuited(figures)) };
        let Written::C(text) = program.source else { return Ok(self.unsuited(figures)) };
        let (expected, key) = (program.expected, key(self.plan.seed, number));
        let begun = Derivation::begin(self.tools, &text, &expected, key, lane.fence)?;
        let Ok(mut derivation) = begun else { return Ok(self.unsuited(figures)) };
        figures.n_programs = 1;
        figures.by_programs = self.covered(&Source::new(text)?, &expected, lane)?;
        for (place, &strategy) in self.plan.strategies.iter().enumerate() {
            for generation in 1..=self.plan.variants {
                if self.course.progress.stop_requested() {
                    return Ok(Measured::CutShort(figures.errors));
                }
                let (name, expected) = (&program.name, &expected);
                let of = Attempt { number, name, expected, place, strategy, generation };
                self.variant(&of, &mut derivation, lane, &mut figures)?;
                self.course.step(1);
            }
        }
        Ok(Measured::Whole(figures))
    }

    fn unsuited(&self, figures: Figures) -> Measured {
        self.course.step(self.plan.strategies.len() as u64 * self.plan.variants);
        Measured::Whole(Figures { n_unsuited: 1, ..figures })
    }

    fn variant(
        &self,
        of: &Attempt<'_>,
        derivation: &mut Derivation<'_>,
        lane: &mut Lane<'_>,
        figures: &mut Figures,
    ) -> Result<(), BenchError> {
        let Attempt { expected, place, strategy, generation, .. } = *of;
        let row = &mut figures.rows[place];
        let begun = Instant::now();
        let made = derivation.propose(strategy, generation, lane.fence)?;
        let mut deriving = begun.elapsed().as_secs_f64();
        let Some(variant) = made else {
            row.nothing += 1;
            return Ok(());
        };
        let source = Source::new(unmarked(&variant.text))?;
        let begun = Instant::now();
        let verdict = self.tools.judges.judge(&source, expected, lane.fence)?;
        row.judging += begun.elapsed().as_secs_f64();
        match verdict {
            Verdict::Different(what) => {
                row.errors += 1;
                figures.errors.push((of.number, self.kept(of, what, &variant.text)?));
            }
            Verdict::Undecided(why) | Verdict::Outvoted(why) => {
                tracing::warn!(why, program = of.name, "a judge fails on a variant");
                row.undecided += 1;
            }
            Verdict::Equivalent => {
                row.variants += 1;
                row.snippets += variant.snippets.len() as u64;
                let begun = Instant::now();
                derivation.go_on(strategy, generation, &variant, lane.fence)?;
                deriving += begun.elapsed().as_secs_f64();
                let index = usize::try_from(generation - 1).unwrap_or(usize::MAX);
                figures.by_variants[place][index] = self.covered(&source, expected, lane)?;
            }
        }
        let row = &mut figures.rows[place];
        row.deriving += deriving;
        row.longest = row.longest.max(deriving);
        Ok(())
    }

    /// Keeps a wrong variant: an error of ours, to be explained.
    fn kept(&self, of: &Attempt<'_>, what: String, text: &str) -> Result<VariantError, BenchError> {
        // Strategies of one base program have files of their own.
        let file = error_file(of.number, of.place as u64 * 1000 + of.generation);
        let path = self.plan.folder.join(&file);
        write_whole(&path, text)?;
        let (strategy, program) = (of.strategy.name().to_owned(), of.name.to_owned());
        Ok(VariantError { strategy, what, program, generation: of.generation, file })
    }

    /// What of the compiler is executed for a program, at all levels.
    fn covered(
        &self,
        source: &Source,
        expected: &Execution,
        lane: &mut Lane<'_>,
    ) -> Result<Coverage, BenchError> {
        let mut all = Coverage::default();
        for (compiler, level) in self.compilers.tests() {
            let (_, executed) = self.compilers.test(compiler, level, source, expected, lane)?;
            if let Some(executed) = executed {
                all = all.union(&executed);
            }
        }
        Ok(all)
    }
}
