//! Compilers under test, ready to be used by several lanes at once.
//!
//! What lanes share is in [`Compilers`]; a [`Lane`] has, for one thread, a worker
//! of each LLVM that is tested inside, and one that fences in whatever is executed
//! as a file.
//!
//! **Invariant:** the fence's LLVM is as it is installed, whatever is broken in
//! one under test.

use std::num::NonZero;

use optsleuth_case::workers::{LlvmChoice, Workers, steps};
use optsleuth_compiler::c_front_end::FrontEnd;
use optsleuth_compiler::driver::Driver;
use optsleuth_compiler::llvm::{Flavor, Install, Pool, Provisioned, Targets, Worker};
use optsleuth_model::{Coverage, Execution, Fault, OptLevel, Pipeline, Progress};

use super::recipe::{CompilerChoice, VariantRecipe};
use super::trial::{LevelInside, Source, by_driver, by_worker};
use crate::HuntError;
use crate::campaign::TestResult;

/// A compiler under test.
#[derive(Debug)]
pub struct TestedCompiler {
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
pub struct Compilers {
    pub all: Vec<TestedCompiler>,
    pub levels: Vec<OptLevel>,
}

/// Workers of each compiler; none where it is a driver.
#[derive(Debug)]
pub struct LanePools(Vec<Option<Pool>>);

/// What one thread has to work with.
pub struct Lane<'a> {
    pub fence: &'a mut Worker,
    workers: Vec<Option<&'a mut Worker>>,
}

impl Compilers {
    /// Finds and starts everything, for this many lanes.
    pub fn set_up(
        recipe: &VariantRecipe,
        n_lanes: NonZero<usize>,
        progress: &dyn Progress,
    ) -> Result<(Compilers, LanePools), HuntError> {
        let is_broken = |choice: &CompilerChoice| match (choice, &recipe.broken) {
            (CompilerChoice::Workers(major), Some(broken)) => *major == broken.llvm,
            (CompilerChoice::Workers(_) | CompilerChoice::Driver(_), _) => false,
        };
        if let Some(broken) = &recipe.broken
            && !recipe.compilers.iter().any(is_broken)
        {
            return Err(HuntError::FaultNotTested(broken.llvm));
        }
        let (mut all, mut pools) = (Vec::new(), Vec::new());
        let mut covers = true;
        for choice in &recipe.compilers {
            let name = choice.to_string();
            match choice {
                CompilerChoice::Driver(called) => {
                    let driver = Driver::find(called)?;
                    let version = driver.version.clone();
                    all.push(TestedCompiler { name, version, way: Way::Driver(driver) });
                    pools.push(None);
                }
                CompilerChoice::Workers(major) => {
                    let fault = match recipe.broken.as_ref().filter(|_| is_broken(choice)) {
                        Some(broken) => Some(broken.parsed()?),
                        None => None,
                    };
                    let llvm = LlvmChoice::Version(*major);
                    let (inside, pool) = inside(&llvm, fault, covers, recipe, n_lanes, progress)?;
                    covers &= !inside.covers;
                    let version = inside.install.version.clone();
                    all.push(TestedCompiler { name, version, way: Way::Inside(Box::new(inside)) });
                    pools.push(Some(pool));
                }
            }
        }
        Ok((Compilers { all, levels: recipe.levels.clone() }, LanePools(pools)))
    }

    /// A program by one of them at one level; also what of the compiler was
    /// executed, where that is measured.
    pub fn test(
        &self,
        compiler: usize,
        level: OptLevel,
        source: &Source,
        expected: &Execution,
        lane: &mut Lane<'_>,
    ) -> Result<(TestResult, Option<Coverage>), HuntError> {
        match &self.all[compiler].way {
            Way::Driver(driver) => {
                Ok((by_driver(driver, level, source, expected, lane.fence)?, None))
            }
            Way::Inside(inside) => {
                let tools = inside.levels.iter().find(|tools| tools.level == level);
                let worker = lane.workers[compiler].as_deref_mut();
                let (Some(tools), Some(worker)) = (tools, worker) else {
                    return Ok((TestResult::Trouble, None));
                };
                by_worker(tools, inside.covers, source, expected, worker)
            }
        }
    }

    /// Compilers and levels in the order of tests.
    pub fn tests(&self) -> impl Iterator<Item = (usize, OptLevel)> + '_ {
        (0..self.all.len())
            .flat_map(|compiler| self.levels.iter().map(move |level| (compiler, *level)))
    }

    /// The place of a compiler and a level in that order.
    pub fn position(&self, compiler: usize, level: OptLevel) -> u64 {
        let place = self.levels.iter().position(|known| *known == level).unwrap_or_default();
        (compiler * self.levels.len() + place) as u64
    }

    /// How many blocks the LLVM has whose coverage is measured.
    pub fn n_blocks(&self) -> u64 {
        let blocks = |compiler: &TestedCompiler| match &compiler.way {
            Way::Driver(_) => 0,
            Way::Inside(inside) => inside.n_blocks,
        };
        self.all.iter().map(blocks).max().unwrap_or_default()
    }
}

impl LanePools {
    /// One lane for each worker of the fence.
    pub fn lanes<'a>(&'a mut self, fence: &'a mut Pool) -> Vec<Lane<'a>> {
        let mut lanes: Vec<Lane<'a>> =
            fence.workers().iter_mut().map(|fence| Lane { fence, workers: Vec::new() }).collect();
        for pool in &mut self.0 {
            let workers = pool.iter_mut().flat_map(|pool| pool.workers().iter_mut().map(Some));
            let workers = workers.chain(std::iter::repeat_with(|| None));
            for (lane, worker) in lanes.iter_mut().zip(workers) {
                lane.workers.push(worker);
            }
        }
        lanes
    }
}

fn inside(
    llvm: &LlvmChoice,
    fault: Option<Fault>,
    covers: bool,
    recipe: &VariantRecipe,
    n_lanes: NonZero<usize>,
    progress: &dyn Progress,
) -> Result<(Inside, Pool), HuntError> {
    let targets = Targets::Native;
    let covers = covers && fault.is_none();
    let flavor = if covers { Flavor::Covered } else { Flavor::Plain };
    let workers = match &fault {
        None => Workers::set_up(llvm, targets, flavor, Some(n_lanes), progress)?,
        Some(fault) => {
            Workers::set_up_faulty(llvm, fault, targets, flavor, Some(n_lanes), progress)?
        }
    };
    let mut levels = Vec::new();
    for &level in &recipe.levels {
        let pipeline = Pipeline::Level(level);
        let flags = level.clang_flags(&[]);
        let mut report = steps(&workers.install, progress);
        levels.push(LevelInside {
            level,
            front_end: FrontEnd::prepare(&workers.install, &flags, &mut report)?,
            passes: workers.passes(&pipeline.passes())?,
            options: level.llvm_options(&[], &[]),
            codegen: pipeline.codegen(),
        });
    }
    let Workers { install, pool, provisioned, .. } = workers;
    let n_blocks = if covers { u64::from(provisioned.code_map()?.n_blocks) } else { 0 };
    Ok((Inside { install, fault, levels, covers, n_blocks, _provisioned: provisioned }, pool))
}
