//! `optsleuth bench plant`: an LLVM -> cases whose culprit is known exactly.
//!
//! ```text
//! programs x sequences ──► unmodified, covered worker ──► blocks worth breaking
//!                                                              │ one at a time
//!        case folder ◄── checked ◄── reduced ◄── fails ◄── faulty worker
//! ```
//!
//! **Invariant:** what is made depends on the LLVM, the programs and the seed
//! alone. A case is written whole and only after it was checked from its folder.

pub(crate) mod baseline;
mod ledger;
mod pipelines;
mod programs;
mod trial;

use std::path::{Path, PathBuf};

use fs_err as fs;
use optsleuth_case::CaseError;
use optsleuth_case::check::{CheckPlan, check};
use optsleuth_case::workers::{LlvmChoice, Workers, steps};
use optsleuth_compiler::CompilerError;
use optsleuth_compiler::llvm::{
    self, FaultyBuilder, Flavor, Install, SourceChoice, SourceTree, Targets, Variant, ZoomPlan,
};
use optsleuth_model::{
    CASE_FILE, Case, CaseKind, Change, CheckStatus, CodeMap, CompilerSpec, Conditions, Fault,
    Funnel, Limits, Pipeline, PlantReport, PlantedCase, Progress, Silent, Trust,
};
use optsleuth_triage::TriageError;

use crate::BenchError;
use baseline::{Baseline, Candidate, SHORT, truth_name};
use ledger::Ledger;
use programs::PlantProgram;
use trial::{Failure, FaultTrials, Shown};

/// What is to be made.
#[derive(Clone, Debug)]
pub struct PlantPlan {
    /// Which LLVM is to be broken.
    pub llvm: LlvmChoice,
    /// How many cases to make.
    pub count: usize,
    /// Where the random numbers start.
    pub seed: u64,
    /// A folder of C programs; csmith's if not given.
    pub programs: Option<PathBuf>,
    /// How many programs to generate.
    pub n_programs: usize,
    /// Break files that are compiled anew, without inlining, so many of those that
    /// programs reach most; every other fault is in a function that the installed
    /// LLVM has no symbol for.
    pub zoomed: Option<usize>,
    /// Where the cases go.
    pub output: PathBuf,
}

/// Ended before anything was tried.
fn interrupted(plan: &PlantPlan, install: &Install) -> PlantReport {
    PlantReport {
        llvm: install.version.clone(),
        seed: plan.seed,
        wanted: plan.count,
        cases: Vec::new(),
        funnel: Funnel::default(),
        interrupted: true,
    }
}

/// No part of LLVM gets more cases. They take turns, so few get that many; and
/// how many are asked for has no say in which are made.
const QUOTA: usize = 10;
/// The input's name in every case.
const INPUT: &str = "program.c";

/// Makes cases until there are enough, or nothing is left to break.
pub fn plant(plan: &PlantPlan, progress: &dyn Progress) -> Result<PlantReport, BenchError> {
    let mut covered =
        Workers::set_up(&plan.llvm, Targets::Native, Flavor::Covered, None, progress)?;
    let install = covered.install.clone();
    let programs = match &plan.programs {
        Some(folder) => programs::read(&install, &mut covered.pool, folder, progress)?,
        None => {
            let (seed, count) = (plan.seed, plan.n_programs);
            programs::generate(&install, &mut covered.pool, seed, count, progress)?
        }
    };
    if progress.stop_requested() {
        return Ok(interrupted(plan, &install));
    }
    let pipelines = pipelines::pipelines(&mut covered, plan.seed)?;
    let mut baseline = Baseline::measure(&mut covered, &programs, &pipelines, progress)?;
    let installed = match plan.zoomed {
        None => None,
        Some(n_files) => {
            let files = baseline.most_reached_files(n_files);
            let mut zoomed = zoomed_workers(&covered, &baseline.map, &files, progress)?;
            let anew = Baseline::measure(&mut zoomed, &programs, &pipelines, progress)?;
            Some(std::mem::replace(&mut baseline, anew).symbols())
        }
    };
    drop(covered);
    if progress.stop_requested() {
        return Ok(interrupted(plan, &install));
    }
    if baseline.n_useful_programs() < 2 {
        let what = "fewer than two programs run, end and always do the same";
        return Err(TriageError::NoPrograms(what.to_owned()).into());
    }
    let candidates = baseline.candidates(plan.seed, installed.as_ref());
    let mut unmodified =
        Workers::set_up(&plan.llvm, Targets::Native, Flavor::Plain, None, progress)?;
    let builder = FaultyBuilder::new(&install, Targets::Native, &mut steps(&install, progress))?;
    let hash = hash_of(&programs);
    let ledger = Ledger::open(&plan.output, &install.version, plan.seed, &hash, candidates.len())?;
    let trials = FaultTrials {
        builder: &builder,
        unmodified: &mut unmodified,
        programs: &programs,
        pipelines: &pipelines,
    };
    let mut planting = Planting { plan, baseline: &baseline, trials, ledger };
    let interrupted = planting.run(&candidates, progress)?;
    let Ledger { cases, funnel, llvm, .. } = planting.ledger;
    Ok(PlantReport { llvm, seed: plan.seed, wanted: plan.count, cases, funnel, interrupted })
}

/// Workers whose LLVM has these files compiled anew.
fn zoomed_workers(
    covered: &Workers,
    map: &CodeMap,
    files: &[String],
    progress: &dyn Progress,
) -> Result<Workers, BenchError> {
    let install = &covered.install;
    let mut report = steps(install, progress);
    let tree = SourceTree::find(install, &SourceChoice::Package, &mut report)?;
    let plan =
        ZoomPlan { tree: &tree, files, variant: Variant::Lines, deadline: None, fault: None };
    let zoomed = llvm::zoom(install, Targets::Native, map, &plan, &mut report)?;
    let left_out = || TriageError::NothingToZoom(files.join(", "));
    Ok(Workers::start(zoomed.provisioned.ok_or_else(left_out)?, None, progress)?)
}

/// Tells programs from others in the ledger.
fn hash_of(programs: &[PlantProgram]) -> String {
    // FNV-1a: no secret depends on it.
    let bytes = programs.iter().flat_map(|program| program.text.bytes().chain([0]));
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    format!("{} programs, {hash:016x}", programs.len())
}

struct Planting<'a> {
    plan: &'a PlantPlan,
    baseline: &'a Baseline,
    trials: FaultTrials<'a>,
    ledger: Ledger,
}

impl Planting<'_> {
    /// Goes on where the ledger ends; `true` if it was told to stop.
    fn run(
        &mut self,
        candidates: &[(String, Candidate)],
        progress: &dyn Progress,
    ) -> Result<bool, BenchError> {
        while self.ledger.cases.len() < self.plan.count {
            let position = self.ledger.position;
            let Some((component, candidate)) = candidates.get(position) else { break };
            if progress.stop_requested() {
                return Ok(true);
            }
            if !self.is_full(component) && !self.has_case_in(*candidate) {
                progress.step(&format!(
                    "{} of {} faults · {} tried · {component}",
                    self.ledger.cases.len(),
                    self.plan.count,
                    self.ledger.funnel.tried,
                ));
                let shown = self.attempt(component, *candidate, progress)?;
                // What was cut short says nothing.
                if progress.stop_requested() && !matches!(shown, Attempt::Kept) {
                    return Ok(true);
                }
                self.count(&shown);
            }
            self.ledger.position += 1;
            self.ledger.save(&self.plan.output)?;
        }
        Ok(false)
    }

    fn is_full(&self, component: &str) -> bool {
        let same = self.ledger.cases.iter().filter(|case| case.component == component);
        same.count() >= QUOTA
    }

    fn has_case_in(&self, candidate: Candidate) -> bool {
        let name = truth_name(&self.baseline.map.function(candidate.function).name);
        self.ledger.cases.iter().any(|case| Some(&case.function) == name.as_ref())
    }

    fn count(&mut self, attempt: &Attempt) {
        let funnel = &mut self.ledger.funnel;
        funnel.tried += 1;
        match attempt {
            Attempt::Unchangeable => funnel.unchangeable += 1,
            Attempt::NoEffect => funnel.no_effect += 1,
            Attempt::TooMuch => funnel.too_much += 1,
            Attempt::Unstable => funnel.unstable += 1,
            Attempt::Kept => funnel.kept += 1,
        }
    }

    fn attempt(
        &mut self,
        component: &str,
        candidate: Candidate,
        progress: &dyn Progress,
    ) -> Result<Attempt, BenchError> {
        let (seed, number) = (self.plan.seed, self.ledger.position);
        let Some(fault) = self.baseline.fault(candidate, seed, number)? else {
            return Ok(Attempt::Unchangeable);
        };
        let pairs = self.baseline.pairs_of(candidate);
        let failure = match self.trials.try_fault(&fault, &pairs, progress)? {
            Shown::NoEffect => return Ok(Attempt::NoEffect),
            Shown::TooMuch => return Ok(Attempt::TooMuch),
            Shown::Unstable => return Ok(Attempt::Unstable),
            Shown::Fails(failure) => failure,
        };
        let made = self.write(component, candidate, &fault, &failure)?;
        let Some(made) = made else { return Ok(Attempt::Unstable) };
        self.ledger.cases.push(made);
        Ok(Attempt::Kept)
    }

    /// Writes the case beside its place, checks it from there, and moves it into
    /// place if it holds.
    fn write(
        &self,
        component: &str,
        candidate: Candidate,
        fault: &Fault,
        failure: &Failure,
    ) -> Result<Option<PlantedCase>, BenchError> {
        let number = self.ledger.cases.len() + 1;
        let id = format!("{number:03}-{}-{}", component.to_lowercase(), fault.change.name());
        let case = self.case(&id, component, candidate, fault, failure);
        let (folder, beside) =
            (self.plan.output.join(&id), self.plan.output.join(format!(".{id}.tmp")));
        let write = || -> std::io::Result<()> {
            remove(&beside)?;
            fs::create_dir_all(&beside)?;
            let program = &self.trials.programs[failure.program];
            fs::write(beside.join(INPUT), &program.text)?;
            fs::write(beside.join(CASE_FILE), case.to_toml())
        };
        write()?;
        let plan = CheckPlan {
            folder: beside.clone(),
            trust: Trust::Author, // Written above.
            llvm: Some(self.plan.llvm.clone()),
            limits: Limits::STANDARD,
            confirm: false,
            repeat_hangs_within: Some(SHORT.compile),
        };
        let holds = match check(&plan, &Silent) {
            Ok(report) => report.status == CheckStatus::Reproduces,
            Err(CaseError::NoReference { .. }) => false,
            // A compiler that is broken on purpose may break anything.
            Err(CaseError::Compiler(
                CompilerError::BadPipeline(_)
                | CompilerError::Lost { .. }
                | CompilerError::Trouble(_)
                | CompilerError::Protocol(_),
            )) => false,
            Err(CaseError::Compiler(error)) if error.is_programs_fault() => false,
            Err(error) => return Err(error.into()),
        };
        if !holds {
            remove(&beside)?;
            return Ok(None);
        }
        remove(&folder).and_then(|()| fs::rename(&beside, &folder))?;
        let truth = case.truth.unwrap_or_default();
        Ok(Some(PlantedCase {
            id,
            component: component.to_owned(),
            file: truth.files.concat(),
            function: truth.functions.concat(),
            change: fault.change.name().to_owned(),
            kind: failure.kind.name().to_owned(),
            passes: failure.passes.optimizations().len(),
        }))
    }

    fn case(
        &self,
        id: &str,
        component: &str,
        candidate: Candidate,
        fault: &Fault,
        failure: &Failure,
    ) -> Case {
        let truth = self.baseline.truth(candidate);
        let name = truth.functions.concat();
        let what = match fault.change {
            Change::Invert => "a branch goes the other way",
            Change::Skip { .. } => "a block is left out",
            Change::Increment => "a constant is one too large",
            Change::Decrement => "a constant is one too small",
        };
        let compiler = match &self.plan.llvm {
            LlvmChoice::Config(path) => CompilerSpec::LlvmConfig(path.display().to_string()),
            LlvmChoice::Version(_) | LlvmChoice::Newest => {
                CompilerSpec::Llvm(self.trials.unmodified.install.major.to_string())
            }
        };
        let expected = &self.trials.programs[failure.program].expected;
        Case {
            id: id.to_owned(),
            title: Some(format!("{component}: {what} in {name}")),
            source: Some("planted by `optsleuth bench plant`".to_owned()),
            compiler,
            fault: Some(fault.clone()),
            input: INPUT.to_owned(),
            pipeline: Pipeline::Passes(failure.passes.to_string()),
            flags: Vec::new(),
            front_end: None,
            cflags: Vec::new(),
            kind: failure.kind,
            signature: None,
            expected: (failure.kind == CaseKind::WrongCode)
                .then(|| String::from_utf8_lossy(&expected.stdout).trim().to_owned()),
            observed: Some(failure.what.clone()),
            fails_in: Vec::new(),
            fixed_in: None,
            execution: Conditions::default(),
            truth: Some(truth),
        }
    }
}

/// What became of a candidate.
#[derive(Debug)]
enum Attempt {
    Unchangeable,
    NoEffect,
    TooMuch,
    Unstable,
    Kept,
}

/// Removes a folder that may be there.
fn remove(folder: &Path) -> std::io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
