//! Compilers under test, ready to be used by several hands at once.
//!
//! What they have in common is in [`Testers`]; a [`Hand`] has, for one thread, a
//! worker of each LLVM that is tested inside, and one that fences in whatever is
//! executed as a file.
//!
//! **Invariant:** the fence's LLVM is as it is installed, whatever is broken in
//! one under test.

use std::num::NonZero;

use optsleuth_case::workers::{LlvmChoice, Workers, steps};
use optsleuth_compiler::c_front_end::FrontEnd;
use optsleuth_compiler::driver::Driver;
use optsleuth_compiler::llvm::{Flavor, Install, Pool, Provisioned, Targets, Worker};
use optsleuth_model::{Coverage, Execution, Fault, OptLevel, Pipeline, Progress};

use super::plan::{CompilerChoice, EmiRecipe};
use super::trial::{LevelInside, Seen, Source, by_driver, by_worker};
use crate::HuntError;

/// A compiler under test.
#[derive(Debug)]
pub struct Tester {
    /// As it was named.
    pub name: String,
    pub version: String,
    pub way: Way,
}

/// How a compiler is used.
#[derive(Debug)]
pub enum Way {
    Driver(Driver),
    Inside(Box<Inside>),
}

/// An LLVM in our own workers.
#[derive(Debug)]
pub struct Inside {
    pub install: Install,
    pub fault: Option<Fault>,
    pub levels: Vec<LevelInside>,
    /// Whether its coverage is measured.
    pub covers: bool,
    /// How many basic blocks it has, where that is measured.
    pub n_blocks: u64,
    /// A faulty worker's files go with it.
    _provisioned: Provisioned,
}

/// All compilers under test.
#[derive(Debug)]
pub struct Testers {
    pub all: Vec<Tester>,
    pub levels: Vec<OptLevel>,
}

/// Workers of each tester; none where it is a driver.
#[derive(Debug)]
pub struct Crews(Vec<Option<Pool>>);

/// What one thread has to work with.
pub struct Hand<'a> {
    pub fence: &'a mut Worker,
    workers: Vec<Option<&'a mut Worker>>,
}

impl Testers {
    /// Finds and starts everything, for this many hands.
    pub fn set_up(
        recipe: &EmiRecipe,
        n_hands: NonZero<usize>,
        progress: &dyn Progress,
    ) -> Result<(Testers, Crews), HuntError> {
        let is_broken = |choice: &CompilerChoice| match (choice, &recipe.broken) {
            (CompilerChoice::Workers(major), Some(broken)) => *major == broken.llvm,
            (CompilerChoice::Workers(_) | CompilerChoice::Driver(_), _) => false,
        };
        if let Some(broken) = &recipe.broken
            && !recipe.compilers.iter().any(is_broken)
        {
            return Err(HuntError::FaultNotTested(broken.llvm));
        }
        let (mut all, mut crews) = (Vec::new(), Vec::new());
        let mut covers = true;
        for choice in &recipe.compilers {
            let name = choice.to_string();
            match choice {
                CompilerChoice::Driver(called) => {
                    let driver = Driver::find(called)?;
                    let version = driver.version.clone();
                    all.push(Tester { name, version, way: Way::Driver(driver) });
                    crews.push(None);
                }
                CompilerChoice::Workers(major) => {
                    let fault = match recipe.broken.as_ref().filter(|_| is_broken(choice)) {
                        Some(broken) => Some(broken.parsed()?),
                        None => None,
                    };
                    let llvm = LlvmChoice::Version(*major);
                    let (inside, pool) = inside(&llvm, fault, covers, recipe, n_hands, progress)?;
                    covers &= !inside.covers;
                    let version = inside.install.version.clone();
                    all.push(Tester { name, version, way: Way::Inside(Box::new(inside)) });
                    crews.push(Some(pool));
                }
            }
        }
        Ok((Testers { all, levels: recipe.levels.clone() }, Crews(crews)))
    }

    /// A program by one of them at one level; also what of the compiler was
    /// executed, where that is measured.
    pub fn test(
        &self,
        tester: usize,
        level: OptLevel,
        source: &Source,
        expected: &Execution,
        hand: &mut Hand<'_>,
    ) -> Result<(Seen, Option<Coverage>), HuntError> {
        match &self.all[tester].way {
            Way::Driver(driver) => {
                Ok((by_driver(driver, level, source, expected, hand.fence)?, None))
            }
            Way::Inside(inside) => {
                let tools = inside.levels.iter().find(|tools| tools.level == level);
                let worker = hand.workers[tester].as_deref_mut();
                let (Some(tools), Some(worker)) = (tools, worker) else {
                    return Ok((Seen::Trouble, None));
                };
                by_worker(tools, inside.covers, source, expected, worker)
            }
        }
    }

    /// Compilers and levels in the order of tests.
    pub fn tests(&self) -> impl Iterator<Item = (usize, OptLevel)> + '_ {
        (0..self.all.len()).flat_map(|tester| self.levels.iter().map(move |level| (tester, *level)))
    }

    /// How many blocks the LLVM has whose coverage is measured.
    pub fn n_blocks(&self) -> u64 {
        let blocks = |tester: &Tester| match &tester.way {
            Way::Driver(_) => 0,
            Way::Inside(inside) => inside.n_blocks,
        };
        self.all.iter().map(blocks).max().unwrap_or_default()
    }
}

impl Crews {
    /// One hand for each worker of the fence.
    pub fn hands<'a>(&'a mut self, fence: &'a mut Pool) -> Vec<Hand<'a>> {
        let mut hands: Vec<Hand<'a>> =
            fence.workers().iter_mut().map(|fence| Hand { fence, workers: Vec::new() }).collect();
        for crew in &mut self.0 {
            let workers = crew.iter_mut().flat_map(|pool| pool.workers().iter_mut().map(Some));
            let workers = workers.chain(std::iter::repeat_with(|| None));
            for (hand, worker) in hands.iter_mut().zip(workers) {
                hand.workers.push(worker);
            }
        }
        hands
    }
}

/// The flags by which clang's front end does what it does at a level, and leaves
/// the passes to others.
pub fn front_end_flags(level: OptLevel) -> Vec<String> {
    match level {
        OptLevel::O0 => Vec::new(),
        OptLevel::O1 | OptLevel::O2 | OptLevel::O3 | OptLevel::Os | OptLevel::Oz => {
            let level = format!("-{}", level.name());
            vec![level, "-Xclang".to_owned(), "-disable-llvm-passes".to_owned()]
        }
    }
}

fn inside(
    llvm: &LlvmChoice,
    fault: Option<Fault>,
    covers: bool,
    recipe: &EmiRecipe,
    n_hands: NonZero<usize>,
    progress: &dyn Progress,
) -> Result<(Inside, Pool), HuntError> {
    let targets = Targets::Native;
    let covers = covers && fault.is_none();
    let flavor = if covers { Flavor::Covered } else { Flavor::Plain };
    let workers = match &fault {
        None => Workers::set_up(llvm, targets, flavor, Some(n_hands), progress)?,
        Some(fault) => {
            Workers::set_up_faulty(llvm, fault, targets, flavor, Some(n_hands), progress)?
        }
    };
    let mut levels = Vec::new();
    for &level in &recipe.levels {
        let pipeline = Pipeline::Level(level);
        let flags = front_end_flags(level);
        let mut report = steps(&workers.install, progress);
        levels.push(LevelInside {
            level,
            front_end: FrontEnd::prepare(&workers.install, &flags, &mut report)?,
            passes: workers.passes(&pipeline.passes())?,
            codegen: pipeline.codegen(),
        });
    }
    let Workers { install, pool, provisioned, .. } = workers;
    let n_blocks = if covers { u64::from(provisioned.code_map()?.n_blocks) } else { 0 };
    Ok((Inside { install, fault, levels, covers, n_blocks, _provisioned: provisioned }, pool))
}
