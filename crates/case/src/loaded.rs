//! A case with workers that have its program loaded, and how its failing run
//! goes. Jobs hand it from one to the next, so that workers start once.
//!
//! A compiler that was broken on purpose is beside its unmodified self: that
//! one says what the program should do, and has to pass where the other fails.
//!
//! **Invariant:** no case counts as reproduced on the word of one run.

use std::num::NonZero;
use std::path::Path;
use std::time::Duration;

use fs_err as fs;
use optsleuth_compiler::distribution::Job;
use optsleuth_compiler::llvm::{Flavor, Pool, Targets};
use optsleuth_compiler::spawn::quote;
use optsleuth_compiler::{CompilerError, clang};
use optsleuth_model::{
    Case, CaseFolder, CaseKind, CheckStatus, Checker, Confirmation, Definedness, Emit, Execute,
    Execution, Limits, OptLevel, Outcome, PassSequence, Pipeline, Program, Progress, RunRequest,
    RunResult, Stage, Unmodified, is_source,
};

use crate::CaseError;
use crate::confirm::confirm;
use crate::definedness::{
    Asked, FailingRun, OF_C, OF_IR, References, UnderTest, ask, disagreement,
};
use crate::folder::{kept_definedness, llvm_of, surroundings};
use crate::oracle::{Oracle, Verdict, behaviour};
use crate::repetition::{REPETITIONS, conclude};
use crate::workers::{LlvmChoice, Workers};

/// Which workers a case gets.
#[derive(Clone, Copy, Debug)]
pub struct WorkerPlan<'a> {
    /// Another LLVM than the case's.
    pub llvm: Option<&'a LlvmChoice>,
    pub flavor: Flavor,
    /// One for each core if nothing is said.
    pub n_workers: Option<NonZero<usize>>,
}

/// A case with workers that have its program loaded.
#[derive(Debug)]
pub struct LoadedCase {
    pub case: CaseFolder,
    pub workers: Workers,
    /// For a case with a fault: the compiler without it, with the program
    /// loaded.
    unmodified: Option<Workers>,
    pub program: Program,
    /// Of wrong code where clang's front end is told of a level: the same program
    /// at `O0`, which does what it should.
    at_o0: Option<Program>,
    /// The failing run.
    pub request: RunRequest,
    /// What the failing run may use, before anything is known about it.
    limits: Limits,
    /// What a repetition of a hang gets, where that is less: each costs all of it.
    hang_time: Option<Duration>,
    /// A hang used up all of its time before; it need not do so again.
    was_seen: bool,
    /// The last program that was asked about, and what was said of it.
    asked: Option<(Vec<u8>, Definedness)>,
}

/// A case that was seen to fail as it says, every time. Steps of a triage hand it
/// from one to the next.
#[derive(Debug)]
pub struct FailingCase {
    pub loaded: LoadedCase,
    pub reproduction: Reproduction,
}

/// How a case's failing run went.
#[derive(Debug)]
pub struct Reproduction {
    pub status: CheckStatus,
    pub what: String,
    pub references: Vec<(&'static str, String)>,
    pub n_failing: usize,
    /// The first of the repetitions.
    pub first: RunResult,
    /// Knows this failure from others.
    pub oracle: Oracle,
    /// How long the unoptimized program takes, where it was run.
    pub reference_time: Duration,
    /// For a case with a fault.
    pub unmodified: Option<Unmodified>,
    /// Of wrong code: whether the program is defined.
    pub definedness: Definedness,
}

impl LoadedCase {
    /// Starts workers for a case and loads its program. Where the program is
    /// for another target, workers with all code generators are made.
    pub fn set_up(
        case: CaseFolder,
        worker_plan: &WorkerPlan<'_>,
        limits: Limits,
        progress: &dyn Progress,
    ) -> Result<LoadedCase, CaseError> {
        let &WorkerPlan { llvm, flavor, n_workers } = worker_plan;
        let llvm = chosen_llvm(&case, llvm)?;
        let load = |targets| {
            let plain = |flavor| Workers::set_up(&llvm, targets, flavor, n_workers, progress);
            let (workers, unmodified) = match &case.case.fault {
                None => (plain(flavor)?, None),
                Some(fault) => {
                    let unmodified = plain(Flavor::Plain)?;
                    let faulty =
                        Workers::set_up_faulty(&llvm, fault, targets, flavor, n_workers, progress)?;
                    (faulty, Some(unmodified))
                }
            };
            LoadedCase::load_into(workers, unmodified, case.clone(), limits, progress)
        };
        match load(Targets::Native) {
            Err(CaseError::Compiler(CompilerError::ForeignTarget { .. })) => load(Targets::All),
            other => other,
        }
    }

    /// Loads a case's program into workers that run already. A case with a fault
    /// brings workers without it.
    pub fn load_into(
        mut workers: Workers,
        mut unmodified: Option<Workers>,
        case: CaseFolder,
        limits: Limits,
        progress: &dyn Progress,
    ) -> Result<LoadedCase, CaseError> {
        let Prepared { program, at_o0, request } =
            prepare(&mut workers, unmodified.as_mut(), &case, limits, progress)?;
        Ok(LoadedCase {
            case,
            workers,
            unmodified,
            program,
            at_o0,
            request,
            limits,
            hang_time: None,
            was_seen: false,
            asked: None,
        })
    }

    /// The same case in other workers of the same LLVM.
    pub fn in_workers(
        &self,
        workers: Workers,
        progress: &dyn Progress,
    ) -> Result<LoadedCase, CaseError> {
        let case = self.case.clone();
        let unmodified = match &self.unmodified {
            Some(plain) => {
                Some(Workers::start(plain.provisioned.clone(), NonZero::new(1), progress)?)
            }
            None => None,
        };
        let loaded = LoadedCase::load_into(workers, unmodified, case, self.limits, progress)?;
        let (hang_time, was_seen) = (self.hang_time, self.was_seen);
        Ok(LoadedCase { hang_time, was_seen, asked: self.asked.clone(), ..loaded })
    }

    /// What was said already about the case's program, so that nobody is asked twice.
    pub fn remember(&mut self, program: Vec<u8>, said: Definedness) {
        self.asked = Some((program, said));
    }

    /// Makes it another case of the same compiler, in the same workers.
    pub fn reload(&mut self, case: CaseFolder, progress: &dyn Progress) -> Result<(), CaseError> {
        let LoadedCase { workers, unmodified, limits, .. } = self;
        let Prepared { program, at_o0, request } =
            prepare(workers, unmodified.as_mut(), &case, *limits, progress)?;
        (self.program, self.at_o0, self.request) = (program, at_o0, request);
        self.case = case;
        Ok(())
    }

    /// All repetitions of a hang but the first get this much time: each costs
    /// all of it.
    pub fn repeat_hangs_within(&mut self, time: Duration) {
        self.hang_time = Some(time);
    }

    /// Whether the compiler was broken on purpose.
    pub fn has_fault(&self) -> bool {
        self.unmodified.is_some()
    }

    /// What a repetition of the failing run may use.
    pub fn repeat_limits(&self) -> Limits {
        let mut limits = self.request.limits;
        if let (CaseKind::Hang, Some(time)) = (self.case.case.kind, self.hang_time) {
            limits.compile = limits.compile.min(time);
        }
        limits
    }

    /// Loads another program, or the same under more options than the case's.
    /// Whoever does so loads the case's own afterwards.
    pub fn load(&mut self, program: &Program, more: &[String]) -> Result<(), CompilerError> {
        let options = [&self.case.case.llvm_options(), more].concat();
        self.workers.pool.load(program, &options, self.request.limits)
    }

    /// The workers with the case's compiler; beside them, for a case with a
    /// fault, those without it.
    pub fn pools(&mut self) -> (&mut Pool, Option<&mut Pool>) {
        (&mut self.workers.pool, self.unmodified.as_mut().map(|workers| &mut workers.pool))
    }

    /// Runs the failing run several times, and what it is measured by.
    pub fn reproduce(&mut self, progress: &dyn Progress) -> Result<Reproduction, CaseError> {
        let kind = self.case.case.kind;
        let (references, reference_time) = match kind {
            CaseKind::WrongCode => self.references(progress)?,
            _ => (Vec::new(), Duration::ZERO),
        };
        if kind == CaseKind::WrongCode {
            // A program that the compiler made endless costs all of its time.
            let enough = execution_limit(reference_time);
            self.request.limits.execute = self.limits.execute.min(enough);
        }
        let expected = references.first().map(|(_, execution)| execution.clone());
        let has_check = self.workers.pool.first().surroundings().has_check();
        let mut oracle = Oracle::new(kind, expected).judged_by_script(has_check);
        if let Some(signature) = &self.case.case.signature {
            oracle = oracle.with_signature(signature);
        }
        progress.step("repeating the failure");
        let mut requests = vec![self.request.clone(); REPETITIONS];
        let at_full_length = usize::from(!self.was_seen);
        for request in requests.iter_mut().skip(at_full_length) {
            request.limits = self.repeat_limits();
        }
        let results =
            self.workers.pool.run_all(&requests, &|done| progress.count(done, REPETITIONS));
        let mut results = results.into_iter().collect::<Result<Vec<RunResult>, _>>()?;
        let oracle = oracle.like(&results[0].outcome);
        let verdicts: Vec<Verdict> =
            results.iter().map(|result| oracle.judge(&result.outcome)).collect();
        let n_failing = verdicts.iter().filter(|verdict| **verdict == Verdict::Fails).count();
        let said: Vec<String> =
            results.iter().map(|result| oracle.describe(&result.outcome)).collect();
        let disagreement = disagreement(&references);
        let is_disputed = disagreement.is_some();
        let (mut status, mut what) = match disagreement {
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
        let mut definedness = Definedness::default();
        if let Some((_, expected)) = references.first()
            && (is_disputed || status == CheckStatus::Reproduces)
        {
            definedness = self.definedness(expected, progress)?;
            if let Some(why) = definedness.acquittal(is_disputed) {
                (status, what) = (CheckStatus::Unstable, why);
            }
        }
        self.was_seen |= status == CheckStatus::Reproduces;
        let references =
            references.into_iter().map(|(way, execution)| (way, behaviour(&execution))).collect();
        let first = results.swap_remove(0);
        Ok(Reproduction {
            status,
            what,
            references,
            n_failing,
            first,
            oracle,
            reference_time,
            unmodified,
            definedness,
        })
    }

    /// The failing run on a compiler without the fault, as often as with it.
    fn run_unmodified(
        &mut self,
        oracle: &Oracle,
        progress: &dyn Progress,
    ) -> Result<Option<Unmodified>, CaseError> {
        let Some(workers) = &mut self.unmodified else { return Ok(None) };
        progress.step("running the unmodified compiler");
        let request = RunRequest { coverage: false, ..self.request.clone() };
        let results = workers.pool.run_all(&vec![request; REPETITIONS], &|_| ());
        let results = results.into_iter().collect::<Result<Vec<RunResult>, _>>()?;
        let fails = |result: &&RunResult| oracle.judge(&result.outcome) != Verdict::Passes;
        let told = results.iter().find(fails).unwrap_or(&results[0]);
        let passes = !results.iter().any(|result| fails(&result));
        Ok(Some(Unmodified { passes, what: oracle.describe(&told.outcome) }))
    }

    /// What the unoptimized program does, by every way. A compiler with a fault
    /// is not asked: the code generator may have it, too.
    fn references(&mut self, progress: &dyn Progress) -> Result<(References, Duration), CaseError> {
        progress.step("running the unoptimized program");
        // Without a fault, the reference is by the accused compiler itself.
        let accuses_codegen = self.case.case.pipeline.is_codegen() && self.unmodified.is_none();
        let workers = self.unmodified.as_mut().unwrap_or(&mut self.workers);
        let options = self.case.case.llvm_options();
        let (program, at_o0) = (&self.program, self.at_o0.as_ref());
        let under_test = UnderTest { program, at_o0, options: &options, accuses_codegen };
        under_test.references(&mut workers.pool, self.limits)
    }

    /// Whether the program is defined. A compiler with a fault is not asked. Of a part of
    /// something larger, it was asked when the whole was judged.
    fn definedness(
        &mut self,
        expected: &Execution,
        progress: &dyn Progress,
    ) -> Result<Definedness, CaseError> {
        if self.case.case.execution.unlinked {
            return Ok(kept_definedness(&self.case)?.unwrap_or_default());
        }
        let source = self.case.input();
        let text = fs::read(&source)?;
        if let Some((_, known)) = self.asked.as_ref().filter(|(known, _)| *known == text) {
            return Ok(known.clone());
        }
        let case = &self.case.case;
        let (clang_flags, options) = (case.clang_flags(), case.llvm_options());
        let failing = FailingRun {
            clang_flags: &clang_flags,
            options: &options,
            request: &RunRequest { coverage: false, ..self.request.clone() },
        };
        let is_of_level = self.at_o0.is_some() && self.unmodified.is_none();
        let program = self.at_o0.as_ref().unwrap_or(&self.program);
        let asked = Asked {
            source: &source,
            c_flags: &case.cflags,
            loaded: Some((program, &options)),
            expected,
            failing: is_of_level.then_some(failing),
            limits: self.limits,
        };
        let Workers { install, pool, .. } = self.unmodified.as_mut().unwrap_or(&mut self.workers);
        let worker = pool.first();
        if self.at_o0.is_some() {
            worker.load(program, &options, self.limits)?;
        }
        let said = ask(checkers(&source), &asked, install, worker, progress)?;
        if self.at_o0.is_some() {
            worker.load(&self.program, &options, self.limits)?;
        }
        self.remember(text, said.clone());
        Ok(said)
    }

    /// The distribution's commands that show the failure; none where a tool is
    /// missing.
    pub fn commands(&self) -> Vec<String> {
        let case = &self.case.case;
        if case.fault.is_some() {
            return Vec::new(); // The distribution's tools do not have the fault.
        }
        let executes = self.request.execute != Execute::No;
        let generates_code = executes || self.request.emit == Emit::Object;
        let job = Job {
            install: &self.workers.install,
            program: &self.program,
            options: &case.llvm_options(),
            passes: self.request.passes.as_ref(),
            verify_each: false,
            codegen: generates_code.then_some(self.request.codegen),
            link: executes && !case.execution.unlinked,
            link_words: &case.execution.link_words(),
            limits: self.request.limits,
        };
        let source = self.source_command();
        let (Ok(source), Ok(mut commands)) = (source, job.commands()) else { return Vec::new() };
        if executes {
            commands.push(case.execution.command_line(quote));
        }
        source.into_iter().chain(commands).collect()
    }

    /// The command that makes IR of the program, in the case's folder.
    fn source_command(&self) -> Result<Option<String>, CaseError> {
        let case = &self.case.case;
        self.workers.source_command(&self.case.folder, Path::new(&case.input), &case.clang_flags())
    }

    /// Asks the distribution's tools about a failure; `None` for a fault, which
    /// they do not have, and for what they cannot link.
    pub fn confirm(
        &mut self,
        reproduction: &Reproduction,
        progress: &dyn Progress,
    ) -> Result<Option<Confirmation>, CaseError> {
        // What is a part of something larger was seen to fail when that was built.
        if self.has_fault() || self.case.case.execution.unlinked {
            return Ok(None);
        }
        progress.step("asking the distribution's tools");
        let case = &self.case.case;
        let source = self.source_command()?;
        let request = RunRequest { limits: self.repeat_limits(), ..self.request.clone() };
        let first = &reproduction.first;
        let mut confirmation = confirm(
            &mut self.workers,
            &self.program,
            source,
            &case.llvm_options(),
            &request,
            first,
        )?;
        // What a wrong program prints may vary: that it is wrong counts.
        if let Some(theirs) = &confirmation.execution
            && reproduction.oracle.judge(&Outcome::Ok(Some(theirs.clone()))) == Verdict::Fails
        {
            confirmation.agrees = true;
            confirmation.theirs = format!("their program {}", behaviour(theirs));
        }
        Ok(Some(confirmation))
    }
}

/// Who is asked about a case of LLVM with this program.
pub fn checkers(source: &Path) -> &'static [Checker] {
    if is_source(source) { OF_C } else { OF_IR }
}

/// What a case's workers have loaded, and what they run.
struct Prepared {
    program: Program,
    at_o0: Option<Program>,
    request: RunRequest,
}

/// Loads a case's program, and says what the failing run is.
fn prepare(
    workers: &mut Workers,
    unmodified: Option<&mut Workers>,
    case: &CaseFolder,
    limits: Limits,
    progress: &dyn Progress,
) -> Result<Prepared, CaseError> {
    progress.step("loading the program");
    let Case { cflags, kind, pipeline, .. } = &case.case;
    let surroundings = surroundings(case)?;
    let (clang_flags, options) = (case.case.clang_flags(), case.case.llvm_options());
    let program = workers.load(&case.input(), &clang_flags, &options, limits)?;
    if let Some(unmodified) = unmodified {
        unmodified.pool.load(&program, &options, limits)?;
        unmodified.pool.surround(surroundings.clone());
    }
    workers.pool.surround(surroundings);
    let is_asked = *kind == CaseKind::WrongCode && case.case.front_end() != OptLevel::O0;
    let at_o0 = match is_asked {
        true => Some(clang::read_program(&workers.install, &case.input(), cflags)?),
        false => None,
    };
    let passes = workers.passes_of(pipeline)?;
    let request = RunRequest {
        coverage: workers.provisioned.flavor == Flavor::Covered,
        limits,
        ..failing_request(*kind, pipeline, passes)
    };
    if request.execute != Execute::No || request.emit == Emit::Object {
        Workers::note_missing_target(&program, &options, progress);
    }
    Ok(Prepared { program, at_o0, request })
}

impl FailingCase {
    /// Sees a loaded case fail. That it does not is an error.
    pub fn see(mut loaded: LoadedCase, progress: &dyn Progress) -> Result<FailingCase, CaseError> {
        let reproduction = seen_to_fail(&mut loaded, progress)?;
        Ok(FailingCase { loaded, reproduction })
    }

    /// Makes it another case of the same compiler, in the same workers, and sees
    /// that one fail.
    pub fn reopen(&mut self, case: CaseFolder, progress: &dyn Progress) -> Result<(), CaseError> {
        self.loaded.reload(case, progress)?;
        self.reproduction = seen_to_fail(&mut self.loaded, progress)?;
        Ok(())
    }
}

fn seen_to_fail(
    loaded: &mut LoadedCase,
    progress: &dyn Progress,
) -> Result<Reproduction, CaseError> {
    let reproduction = loaded.reproduce(progress)?;
    match reproduction.status {
        CheckStatus::Reproduces => Ok(reproduction),
        status => Err(CaseError::NotReproduced { status, what: reproduction.what }),
    }
}

/// What every candidate's run has in common: as the failing run, but nothing is
/// printed or generated unless the failure is there. Where IR becomes invalid,
/// a later pass may remove what is wrong with it: such a run is no witness, so
/// the IR is verified after every pass.
pub fn candidate_request(
    time: Duration,
    failing: &RunRequest,
    reproduction: &Reproduction,
) -> RunRequest {
    let outcome = &reproduction.first.outcome;
    let emit = match outcome {
        Outcome::CodegenFailure { .. } => Emit::Object,
        Outcome::Crash(crash) => match crash.stage {
            Stage::Codegen => Emit::Object,
            Stage::Emit => Emit::Text,
            Stage::Start
            | Stage::Options
            | Stage::Parse
            | Stage::Pipeline
            | Stage::Verify
            | Stage::Compile => Emit::Nothing,
        },
        // After the last pass.
        Outcome::Timeout { invocation: None } | Outcome::OutOfMemory { invocation: None } => {
            failing.emit
        }
        Outcome::Ok(_)
        | Outcome::InvalidIr { .. }
        | Outcome::Timeout { .. }
        | Outcome::OutOfMemory { .. } => Emit::Nothing,
    };
    RunRequest {
        emit,
        verify_each: matches!(outcome, Outcome::InvalidIr { .. }),
        limits: Limits {
            compile: time,
            execute: execution_limit(reproduction.reference_time).min(failing.limits.execute),
            ..failing.limits
        },
        ..failing.clone()
    }
}

/// So many times the usual time is given to a run that may take longer.
const PATIENCE: u32 = 10;
/// What an optimized program may take at least, however fast the unoptimized one
/// is.
const LEAST_EXECUTION: Duration = Duration::from_millis(500);

/// Far more than a run usually takes, and not less than this. In large steps: the
/// same run takes a little more or less every time, and that must not decide
/// anything.
pub fn patience(usual: Duration, least: Duration) -> Duration {
    let mut time = least;
    while time < usual * PATIENCE {
        time *= 4;
    }
    time
}

/// What an optimized program may take, where the unoptimized one took so long. One
/// that does not end any more costs all of it, in every run.
pub fn execution_limit(reference_time: Duration) -> Duration {
    patience(reference_time, LEAST_EXECUTION)
}

/// The LLVM that a case is to be tried on. A fault is one of its own LLVM alone.
fn chosen_llvm(case: &CaseFolder, asked: Option<&LlvmChoice>) -> Result<LlvmChoice, CaseError> {
    let own = llvm_of(&case.case)?;
    let Some(asked) = asked else { return Ok(own) };
    if case.case.fault.is_some() {
        let (own, other) = (own.find()?.version, asked.find()?.version);
        if own != other {
            return Err(CaseError::OtherLlvm { own, asked: other });
        }
    }
    Ok(asked.clone())
}

/// The run that shows a failure of this kind.
pub fn failing_request(
    kind: CaseKind,
    pipeline: &Pipeline,
    passes: impl Into<Option<PassSequence>>,
) -> RunRequest {
    let generates_code = match pipeline {
        Pipeline::Passes(_) => kind == CaseKind::Codegen,
        Pipeline::Level(_) | Pipeline::Codegen(_) => true,
    };
    RunRequest {
        // Some crashes show only when the module is printed; a level means the
        // code generator, too.
        emit: if generates_code { Emit::Object } else { Emit::Text },
        // Where there is nothing else, its passes take the place of the others.
        machine_passes: pipeline.is_codegen(),
        cover_codegen: pipeline.is_codegen(),
        codegen: pipeline.codegen(),
        execute: if kind == CaseKind::WrongCode { Execute::InChild } else { Execute::No },
        ..RunRequest::new(passes.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_grows_in_large_steps() {
        let millis =
            |usual| patience(Duration::from_millis(usual), Duration::from_millis(200)).as_millis();
        assert_eq!([0, 5, 20, 21, 80, 300].map(millis), [200, 200, 200, 800, 800, 3200]);
    }

    #[test]
    fn what_a_program_may_take_follows_from_the_unoptimized_one() {
        let millis = |usual| execution_limit(Duration::from_millis(usual)).as_millis();
        assert_eq!([0, 1, 50, 51, 1000].map(millis), [500, 500, 500, 2000, 32_000]);
    }
}
