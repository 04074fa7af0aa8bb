//! Does a case fail as it says? Folder -> workers -> references, repetitions,
//! the distribution's tools -> an answer with its reason.
//!
//! A compiler that was broken on purpose is beside its unmodified self: that
//! one says what the program should do, and has to pass where the other fails.
//!
//! A case of gcc or of clang's driver goes to [`crate::driver_case`].
//!
//! **Invariant:** no case counts as reproduced on the word of one run.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Duration;

use optsleuth_compiler::distribution::Job;
use optsleuth_compiler::driver::Driver;
use optsleuth_compiler::llvm::{Flavor, Pool, RunError, Targets};
use optsleuth_model::{
    Case, CaseKind, CodegenLevel, Emit, Execute, Execution, Limits, OptLevel, Outcome,
    PassSequence, Pipeline, Program, RunRequest, RunResult,
};

use crate::Progress;
use crate::case_folder::CaseFolder;
use crate::confirm::{Confirmation, confirm};
use crate::driver_case;
use crate::oracle::{Oracle, Verdict, behaviour, describe, is_limit, same_behaviour};
use crate::setup::{Bench, LabError, LlvmChoice};

/// How often a failure has to show.
pub const REPETITIONS: usize = 5;

/// What is to be checked.
#[derive(Clone, Debug)]
pub struct CheckPlan {
    /// The case's folder.
    pub folder: PathBuf,
    /// Another LLVM than the case's.
    pub llvm: Option<LlvmChoice>,
    /// When to stop a run.
    pub limits: Limits,
    /// Ask the distribution's tools, too.
    pub confirm: bool,
    /// All repetitions of a hang but the first get this much time.
    pub repeat_hangs_within: Option<Duration>,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct CheckReport {
    /// The case.
    pub case: CaseFolder,
    /// `19.1.7`; the compiler's own version where that is a driver.
    pub llvm: String,
    /// The sequence, as LLVM got it; empty for a driver.
    pub passes: String,
    /// How the compiler is called, where that is a driver.
    pub driver: Option<DriverUse>,
    /// Whether it fails as it says.
    pub status: CheckStatus,
    /// Why, in a line.
    pub what: String,
    /// For wrong code: what the unoptimized program does, by each way.
    pub references: Vec<(&'static str, String)>,
    /// Something about the case that is not as it says.
    pub note: Option<String>,
    /// How many of the repetitions failed as the case does.
    pub n_failing: usize,
    /// How many repetitions there were.
    pub n_repetitions: usize,
    /// The stack of a crash, innermost first.
    pub frames: Vec<String>,
    /// What the distribution's tools say, if they were asked.
    pub confirmation: Option<Confirmation>,
    /// For a case with a fault: what the unmodified compiler does.
    pub unmodified: Option<Unmodified>,
}

/// A compiler as its users call it, in a case's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverUse {
    /// `gcc 12.2.0`.
    pub compiler: String,
    /// The case's.
    pub level: OptLevel,
    /// Every command, in order.
    pub commands: Vec<String>,
}

/// What the unmodified compiler does with the run on which the faulty one
/// fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmodified {
    /// Whether nothing is wrong with it.
    pub passes: bool,
    /// In words.
    pub what: String,
}

/// Whether a case fails as it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckStatus {
    /// It does, every time.
    Reproduces,
    /// Nothing fails.
    Passes,
    /// Something else fails.
    FailsOtherwise,
    /// It does, but not every time, or not in the same way.
    Flaky,
    /// What is right cannot be told: unoptimized programs disagree.
    Unstable,
    /// It does, but not because of its fault: the unmodified compiler fails,
    /// too.
    FailsUnmodified,
}

impl CheckStatus {
    /// A word for scripts.
    pub fn name(self) -> &'static str {
        match self {
            CheckStatus::Reproduces => "reproduces",
            CheckStatus::Passes => "passes",
            CheckStatus::FailsOtherwise => "fails-otherwise",
            CheckStatus::Flaky => "flaky",
            CheckStatus::Unstable => "unstable-reference",
            CheckStatus::FailsUnmodified => "fails-unmodified",
        }
    }
}

/// Checks a case.
pub fn check(plan: &CheckPlan, progress: &dyn Progress) -> Result<CheckReport, LabError> {
    let case = CaseFolder::open(&plan.folder)?;
    if let Some(driver) = Driver::of_case(&case.case.compiler) {
        return driver_case::check(plan, case, driver?, progress);
    }
    let staging = Staging { llvm: plan.llvm.as_ref(), flavor: Flavor::Plain, n_workers: None };
    let mut stage = Stage::set_up(case, &staging, plan.limits, progress)?;
    if let Some(time) = plan.repeat_hangs_within {
        stage.repeat_hangs_within(time);
    }
    let reproduction = stage.reproduce(progress)?;
    let reproduces = reproduction.status == CheckStatus::Reproduces;
    // The distribution's tools do not have the fault.
    let confirmation = match plan.confirm && reproduces && stage.unmodified.is_none() {
        true => {
            progress.step("asking the distribution's tools");
            Some(stage.confirm(&reproduction)?)
        }
        false => None,
    };
    Ok(CheckReport {
        llvm: stage.bench.install.version.clone(),
        passes: stage.request.passes.as_ref().map(ToString::to_string).unwrap_or_default(),
        driver: None,
        note: unexpected_output(&stage.case.case, &reproduction.oracle),
        case: stage.case,
        status: reproduction.status,
        what: reproduction.what,
        references: reproduction.references,
        n_failing: reproduction.n_failing,
        n_repetitions: REPETITIONS,
        frames: match reproduction.first.outcome {
            Outcome::Crash(crash) => crash.frames,
            _ => Vec::new(),
        },
        confirmation,
        unmodified: reproduction.unmodified,
    })
}

/// Which workers a case gets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Staging<'a> {
    /// Another LLVM than the case's.
    pub(crate) llvm: Option<&'a LlvmChoice>,
    pub(crate) flavor: Flavor,
    /// One for each core if nothing is said.
    pub(crate) n_workers: Option<NonZero<usize>>,
}

/// A case with workers that have its program loaded.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) case: CaseFolder,
    pub(crate) bench: Bench,
    /// For a case with a fault: the compiler without it, with the program
    /// loaded.
    unmodified: Option<Bench>,
    pub(crate) program: Program,
    /// The failing run.
    pub(crate) request: RunRequest,
    /// For all repetitions of it but the first.
    repeat_limits: Limits,
    /// How long the slowest reference took.
    reference_time: Duration,
}

/// How a case's failing run went.
#[derive(Debug)]
pub(crate) struct Reproduction {
    pub(crate) status: CheckStatus,
    pub(crate) what: String,
    pub(crate) references: Vec<(&'static str, String)>,
    pub(crate) n_failing: usize,
    /// The first of the repetitions.
    pub(crate) first: RunResult,
    /// Knows this failure from others.
    pub(crate) oracle: Oracle,
    /// How long the unoptimized program takes, where it was run.
    pub(crate) reference_time: Duration,
    /// For a case with a fault.
    unmodified: Option<Unmodified>,
}

impl Stage {
    /// Starts workers for a case and loads its program. Where the program is
    /// for another target, workers with all code generators are made.
    pub(crate) fn set_up(
        case: CaseFolder,
        staging: &Staging<'_>,
        limits: Limits,
        progress: &dyn Progress,
    ) -> Result<Stage, LabError> {
        let &Staging { llvm, flavor, n_workers } = staging;
        let llvm = chosen_llvm(&case, llvm)?;
        let load = |targets| -> Result<(Bench, Option<Bench>, Program), LabError> {
            let plain = |flavor| Bench::set_up(&llvm, targets, flavor, n_workers, progress);
            let (mut bench, mut unmodified) = match &case.case.fault {
                None => (plain(flavor)?, None),
                Some(fault) => {
                    let unmodified = plain(Flavor::Plain)?;
                    let faulty =
                        Bench::set_up_faulty(&llvm, fault, targets, flavor, n_workers, progress)?;
                    (faulty, Some(unmodified))
                }
            };
            progress.step("loading the program");
            let input = case.input();
            let program = bench.load(&input, &case.case.cflags, &case.case.flags, limits)?;
            if let Some(unmodified) = &mut unmodified {
                unmodified.pool.load(&program, &case.case.flags, limits)?;
            }
            Ok((bench, unmodified, program))
        };
        let (bench, unmodified, program) = match load(Targets::Native) {
            Err(LabError::Run(RunError::ForeignTarget { .. })) => load(Targets::All)?,
            other => other?,
        };
        let passes = bench.passes(&case.case.pipeline.passes())?;
        let request = RunRequest {
            coverage: flavor == Flavor::Covered,
            limits,
            ..failing_request(case.case.kind, &case.case.pipeline, passes)
        };
        let (repeat_limits, reference_time) = (limits, Duration::ZERO);
        Ok(Stage { case, bench, unmodified, program, request, repeat_limits, reference_time })
    }

    /// All repetitions of a hang but the first get this much time: each costs
    /// all of it.
    pub(crate) fn repeat_hangs_within(&mut self, time: Duration) {
        if self.case.case.kind == CaseKind::Hang {
            self.repeat_limits.compile = time;
        }
    }

    /// What a repetition of the failing run may use.
    pub(crate) fn repeat_limits(&self) -> Limits {
        self.repeat_limits
    }

    /// Loads another program, or the same under more options than the case's.
    /// Whoever does so loads the case's own afterwards.
    pub(crate) fn load(&mut self, program: &Program, more: &[String]) -> Result<(), RunError> {
        let options = [&self.case.case.flags, more].concat();
        self.bench.pool.load(program, &options, self.request.limits)
    }

    /// The workers with the case's compiler; beside them, for a case with a
    /// fault, those without it.
    pub(crate) fn pools(&mut self) -> (&mut Pool, Option<&mut Pool>) {
        (&mut self.bench.pool, self.unmodified.as_mut().map(|bench| &mut bench.pool))
    }

    /// Runs the failing run several times, and what it is measured by.
    pub(crate) fn reproduce(&mut self, progress: &dyn Progress) -> Result<Reproduction, LabError> {
        let kind = self.case.case.kind;
        let references = match kind {
            CaseKind::WrongCode => self.references(progress)?,
            _ => Vec::new(),
        };
        let expected = references.first().map(|(_, execution)| execution.clone());
        let mut oracle = Oracle::new(kind, expected);
        if let Some(signature) = &self.case.case.signature {
            oracle = oracle.with_signature(signature);
        }
        progress.step("repeating the failure");
        let mut requests = vec![self.request.clone(); REPETITIONS];
        for request in requests.iter_mut().skip(1) {
            request.limits = self.repeat_limits;
        }
        let results = self.bench.pool.run_all(&requests, &|done| progress.count(done, REPETITIONS));
        let mut results = results.into_iter().collect::<Result<Vec<RunResult>, _>>()?;
        let oracle = oracle.like(&results[0].outcome);
        let verdicts: Vec<Verdict> =
            results.iter().map(|result| oracle.judge(&result.outcome)).collect();
        let n_failing = verdicts.iter().filter(|verdict| **verdict == Verdict::Fails).count();
        let said: Vec<String> =
            results.iter().map(|result| oracle.describe(&result.outcome)).collect();
        let (mut status, mut what) = match disagreement(&references) {
            Some(why) => (CheckStatus::Unstable, why),
            None => conclude(&oracle, &said, &verdicts),
        };
        let unmodified = self.run_unmodified(&oracle, progress)?;
        if let Some(Unmodified { passes: false, what: theirs }) = &unmodified
            && status == CheckStatus::Reproduces
        {
            status = CheckStatus::FailsUnmodified;
            what = format!("the compiler without the fault fails as well: {theirs}");
        }
        let references =
            references.into_iter().map(|(way, execution)| (way, behaviour(&execution))).collect();
        let first = results.swap_remove(0);
        let reference_time = self.reference_time;
        Ok(Reproduction {
            status,
            what,
            references,
            n_failing,
            first,
            oracle,
            reference_time,
            unmodified,
        })
    }

    /// The failing run on a compiler without the fault, as often as with it.
    fn run_unmodified(
        &mut self,
        oracle: &Oracle,
        progress: &dyn Progress,
    ) -> Result<Option<Unmodified>, LabError> {
        let Some(bench) = &mut self.unmodified else { return Ok(None) };
        progress.step("running the unmodified compiler");
        let request = RunRequest { coverage: false, ..self.request.clone() };
        let results = bench.pool.run_all(&vec![request; REPETITIONS], &|_| ());
        let results = results.into_iter().collect::<Result<Vec<RunResult>, _>>()?;
        let fails = |result: &&RunResult| oracle.judge(&result.outcome) != Verdict::Passes;
        let told = results.iter().find(fails).unwrap_or(&results[0]);
        let passes = !results.iter().any(|result| fails(&result));
        Ok(Some(Unmodified { passes, what: oracle.describe(&told.outcome) }))
    }

    /// What the unoptimized program does, by every way. A compiler with a fault
    /// is not asked: the code generator may have it, too.
    fn references(
        &mut self,
        progress: &dyn Progress,
    ) -> Result<Vec<(&'static str, Execution)>, LabError> {
        progress.step("running the unoptimized program");
        let bench = self.unmodified.as_mut().unwrap_or(&mut self.bench);
        let (references, time) = references(&mut bench.pool, self.request.limits)?;
        self.reference_time = time;
        Ok(references)
    }

    /// The distribution's commands that show the failure; none where a tool is
    /// missing.
    pub(crate) fn commands(&self) -> Vec<String> {
        let case = &self.case.case;
        if case.fault.is_some() {
            return Vec::new(); // Nobody's tools have the fault.
        }
        let executes = self.request.execute != Execute::No;
        let generates_code = executes || self.request.emit == Emit::Object;
        let job = Job {
            install: &self.bench.install,
            program: &self.program,
            options: &case.flags,
            passes: self.request.passes.as_ref(),
            verify_each: false,
            codegen: generates_code.then_some(self.request.codegen),
            link: executes,
            limits: self.request.limits,
        };
        let source = self.source_command();
        let (Ok(source), Ok(mut commands)) = (source, job.commands()) else { return Vec::new() };
        if executes {
            commands.push("./program".to_owned());
        }
        source.into_iter().chain(commands).collect()
    }

    /// The command that makes IR of the program, in the case's folder.
    fn source_command(&self) -> Result<Option<String>, LabError> {
        let case = &self.case.case;
        self.bench.source_command(&self.case.folder, Path::new(&case.input), &case.cflags)
    }

    /// Asks the distribution's tools about a failure.
    fn confirm(&mut self, reproduction: &Reproduction) -> Result<Confirmation, LabError> {
        let case = &self.case.case;
        let source = self.source_command()?;
        let (request, first) = (&self.request, &reproduction.first);
        let mut confirmation =
            confirm(&mut self.bench, &self.program, source, &case.flags, request, first)?;
        // What a wrong program prints may vary: that it is wrong counts.
        if let Some(theirs) = &confirmation.execution
            && reproduction.oracle.judge(&Outcome::Ok(Some(theirs.clone()))) == Verdict::Fails
        {
            confirmation.agrees = true;
            confirmation.theirs = format!("their program {}", behaviour(theirs));
        }
        Ok(confirmation)
    }
}

/// The LLVM that a case is to be tried on. A fault is one of its own LLVM alone.
fn chosen_llvm(case: &CaseFolder, asked: Option<&LlvmChoice>) -> Result<LlvmChoice, LabError> {
    let own = case.llvm()?;
    let Some(asked) = asked else { return Ok(own) };
    if case.case.fault.is_some() {
        let (own, other) = (own.find()?.version, asked.find()?.version);
        if own != other {
            return Err(LabError::OtherLlvm { own, asked: other });
        }
    }
    Ok(asked.clone())
}

/// The run that shows a failure of this kind.
pub(crate) fn failing_request(
    kind: CaseKind,
    pipeline: &Pipeline,
    passes: PassSequence,
) -> RunRequest {
    let is_level = matches!(pipeline, Pipeline::Level(_));
    RunRequest {
        // Some crashes show only when the module is printed; a level means the
        // code generator, too.
        emit: if is_level || kind == CaseKind::Codegen { Emit::Object } else { Emit::Text },
        codegen: pipeline.codegen(),
        execute: if kind == CaseKind::WrongCode { Execute::InChild } else { Execute::No },
        ..RunRequest::new(Some(passes))
    }
}

/// Executions and how they came about.
pub(crate) type References = Vec<(&'static str, Execution)>;

/// The unoptimized program of a pool, by ways that have little in common: what
/// they agree on does not depend on how the program is compiled, nor on what
/// unused memory happens to hold: it is filled where it can be. Also says how long
/// the slowest took.
pub(crate) fn references(
    pool: &mut Pool,
    limits: Limits,
) -> Result<(References, Duration), LabError> {
    const WAYS: [(&str, CodegenLevel, Execute, Option<u8>); 4] = [
        ("unoptimized", CodegenLevel::O0, Execute::InChild, Some(0x00)),
        ("unoptimized, as a process", CodegenLevel::O0, Execute::AsProcess, None),
        ("optimized by the code generator alone", CodegenLevel::O2, Execute::InChild, Some(0x5a)),
        ("the same, as a process", CodegenLevel::O2, Execute::AsProcess, None),
    ];
    let requests = WAYS.map(|(_, codegen, execute, fill)| RunRequest {
        codegen,
        execute,
        fill,
        limits,
        ..RunRequest::new(None)
    });
    let results = pool.run_all(&requests, &|_| ());
    let (mut references, mut slowest) = (Vec::new(), Duration::ZERO);
    for ((way, ..), result) in WAYS.into_iter().zip(results) {
        let result = result?;
        slowest = slowest.max(result.wall);
        match result.outcome {
            Outcome::Ok(Some(execution)) if !is_limit(execution.end) => {
                references.push((way, execution));
            }
            other => return Err(LabError::NoReference { way, what: describe(&other) }),
        }
    }
    Ok((references, slowest))
}

/// A case that expects another output than the unoptimized program's.
pub(crate) fn unexpected_output(case: &Case, oracle: &Oracle) -> Option<String> {
    let expected = case.expected.as_ref().filter(|_| case.kind == CaseKind::WrongCode)?;
    let printed = oracle.expected_output()?;
    (expected.trim() != printed.trim()).then(|| {
        format!("the case expects `{}`, the unoptimized program prints otherwise", expected.trim())
    })
}

/// Two references that differ, in words.
pub(crate) fn disagreement(references: &[(&'static str, Execution)]) -> Option<String> {
    let (first, rest) = references.split_first()?;
    let (way, other) = rest.iter().find(|(_, other)| !same_behaviour(&first.1, other))?;
    Some(format!(
        "without any pass, the program {} when {}, but {} when {way}: its behaviour is not defined",
        behaviour(&first.1),
        first.0,
        behaviour(other),
    ))
}

/// What all repetitions together show; `said` is each in words.
pub(crate) fn conclude(
    oracle: &Oracle,
    said: &[String],
    verdicts: &[Verdict],
) -> (CheckStatus, String) {
    if let Some(other) = verdicts.iter().position(|verdict| *verdict != verdicts[0]) {
        let n_failing = verdicts.iter().filter(|verdict| **verdict == Verdict::Fails).count();
        let what = format!(
            "of {} repetitions {n_failing} fail as the case does; once: {}; another time: {}",
            verdicts.len(),
            said[0],
            said[other],
        );
        return (CheckStatus::Flaky, what);
    }
    let status = match verdicts[0] {
        Verdict::Fails => CheckStatus::Reproduces,
        Verdict::Passes => CheckStatus::Passes,
        Verdict::Other => CheckStatus::FailsOtherwise,
    };
    let varies = said.iter().any(|other| *other != said[0]);
    let what = match oracle.expected_output().filter(|_| varies) {
        // What changes from run to run is no part of a result.
        Some(expected) => {
            format!("the program does not print `{}`; what it prints varies", expected.trim())
        }
        None => said[0].clone(),
    };
    (status, what)
}
