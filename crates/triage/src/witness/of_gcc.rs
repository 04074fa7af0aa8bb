//! Programs that witness a failure of gcc: preprocessed by the gcc of the case, compiled
//! on a cc1 with probes, executed behind a worker's fence.
//!
//! **Invariant:** see [`super::trial`]. What a mutant should do is what the installed gcc
//! makes of it without optimization.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fs_err as fs;
use optsleuth_case::CaseError;
use optsleuth_case::driver::{Tried as DriverTried, try_level};
use optsleuth_case::oracle::Verdict;
use optsleuth_compiler::CompilerError;
use optsleuth_compiler::driver::{Driver, PluginOrders};
use optsleuth_compiler::llvm::{Pool, Worker};
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{CaseKind, Coverage, IndexSet, Limits, OptLevel, Outcome, Progress};
use optsleuth_mutate::Program;
use optsleuth_search::Reference;

use super::effect::Effect;
use super::lines::Lines;
use super::mutable::{MutableProgram, Reader, not_reproduced, require_c};
use super::trial::{Compiler, GoOn, Judgement, Preprocessor, Text, Tried};
use crate::TriageError;
use crate::c_programs::load_libclang;
use crate::covered_gcc::{CoveredGcc, GccFailure, GccJob, GccRun, covered};

/// What every program is called.
const NAME: &str = "program.c";
/// What a mutant's execution may take, unless the case's own program takes longer:
/// inserted loops may have no end, and are many.
const SHORT: Duration = Duration::from_millis(100);

/// A case's program, ready to be mutated, and how its mutants are compiled and run.
#[derive(Debug)]
pub struct GccPrograms {
    pub(super) mutable: MutableProgram,
    pub(super) c: GccFrontEnd,
    /// Of a mutant's execution.
    execute: Duration,
}

/// The preprocessor of the case's gcc.
#[derive(Debug)]
pub(super) struct GccFrontEnd {
    driver: Driver,
    flags: Vec<String>,
}

impl Preprocessor for GccFrontEnd {
    fn preprocess(&self, file: &Path) -> Result<(String, Lines), CompilerError> {
        let marked = self.driver.preprocess(file, &self.flags)?;
        Ok(Lines::strip(&marked, &file.display().to_string()))
    }
}

impl GccPrograms {
    /// Reads the program of a failure, and sees it fail as its mutants will be run.
    pub fn read(
        failure: &mut GccFailure,
        progress: &dyn Progress,
    ) -> Result<GccPrograms, TriageError> {
        let GccFailure { failing, gcc, .. } = failure;
        let loaded = &mut failing.loaded;
        let input = loaded.case.input();
        require_c(&input)?;
        progress.step("reading the program");
        let case = &gcc.described.case;
        let driver = gcc.tested().driver.clone();
        let c = GccFrontEnd { driver, flags: case.cflags.clone() };
        let (text, lines) = c.preprocess(&input)?;
        let clang = load_libclang(&loaded.fence.install)?;
        let is_wrong_code = case.kind == CaseKind::WrongCode;
        let flags = gcc.tested().portable_flags();
        let reader = Reader { clang, flags, input, only_reached: is_wrong_code };
        let mut trials = GccTrials { gcc, c: &c, pool: &mut loaded.fence.pool, execute: SHORT };
        trials.execute = trials.patience(&text)?;
        let execute = trials.execute;
        let (verdict, failing, window) = trials.covered(&text, |orders| {
            orders.window = gcc.guilty.map(|guilty| (guilty, guilty + 1));
        })?;
        if verdict != Verdict::Fails {
            return Err(not_reproduced("once preprocessed, it does not fail".to_owned()));
        }
        // A compiler that does not crash does not hide a crash.
        let effect = match (gcc.guilty, window) {
            (Some(guilty), Some(window)) if is_wrong_code => {
                let (verdict, without, _) = trials.covered(&text, |orders| {
                    orders.skips = IndexSet::of([guilty]);
                })?;
                if verdict == Verdict::Passes { Effect::of(&window, &without) } else { None }
            }
            _ => None,
        };
        let ready = reader.ready(&text, &mut trials)?;
        let mutable = MutableProgram {
            passes: gcc.described.passes.clone(),
            reference: Reference::new(&failing, &gcc.map),
            failing_program: Arc::new(ready),
            lines,
            reader,
            failing,
            effect,
            ingredient_pool: None,
        };
        Ok(GccPrograms { mutable, c, execute })
    }

    /// How candidates are tried.
    pub(super) fn trials<'a>(&'a self, gcc: &'a CoveredGcc, pool: &'a mut Pool) -> GccTrials<'a> {
        GccTrials { gcc, c: &self.c, pool, execute: self.execute }
    }
}

/// A cc1 with probes, and workers that execute what it makes.
pub(super) struct GccTrials<'a> {
    gcc: &'a CoveredGcc,
    c: &'a GccFrontEnd,
    pool: &'a mut Pool,
    execute: Duration,
}

/// What a mutant is tried with, on any thread.
#[derive(Clone, Copy)]
struct MutantTrial<'a> {
    gcc: &'a CoveredGcc,
    c: &'a GccFrontEnd,
    limits: Limits,
}

impl<'a> GccTrials<'a> {
    fn trial(&self) -> MutantTrial<'a> {
        let limits = Limits { execute: self.execute, ..self.gcc.trial.limits };
        MutantTrial { gcc: self.gcc, c: self.c, limits }
    }

    /// What mutants get: more where the case's own program is not through by then.
    fn patience(&mut self, text: &str) -> Result<Duration, TriageError> {
        let trial = self.trial();
        let in_time = match self.gcc.described.case.kind {
            CaseKind::WrongCode => {
                let ran = trial.unoptimized(text, self.pool.first())?;
                ran.is_some_and(|outcome| !trial.is_useless(&outcome))
            }
            _ => true,
        };
        Ok(if in_time { SHORT } else { self.gcc.trial.limits.execute })
    }

    /// The failing run of a text, with more orders: what it comes to, and what it and
    /// its window execute.
    fn covered(
        &mut self,
        text: &str,
        more: impl FnOnce(&mut PluginOrders),
    ) -> Result<(Verdict, Coverage, Option<Coverage>), TriageError> {
        let mut orders = covered();
        more(&mut orders);
        let folder = Workdir::new()?;
        let job = self.trial().job(text, orders, &folder)?;
        let run = self.gcc.trial.run(&job, self.pool.first())?;
        let window = run.log.window.filter(|window| !window.is_empty());
        Ok((run.verdict, run.log.coverage.unwrap_or_default(), window))
    }
}

impl Compiler for GccTrials<'_> {
    fn try_all(&mut self, texts: &[Text], go_on: GoOn<'_>) -> Vec<Result<Tried, CompilerError>> {
        let trial = self.trial();
        self.pool.each_while(None, texts, go_on, &|worker, _, text| trial.of(text, worker))
    }

    fn reached(&mut self, program: &Program) -> Result<Option<BTreeSet<usize>>, TriageError> {
        let outcome = self.trial().unoptimized(&program.probed(), self.pool.first())?;
        let execution = outcome.as_ref().and_then(Outcome::execution);
        Ok(execution.map(|execution| Program::reached(&execution.stderr)))
    }
}

impl MutantTrial<'_> {
    fn of(&self, text: &Text, worker: &mut Worker) -> Result<Tried, CompilerError> {
        let begun = Instant::now();
        let judged = match self.c.text(text)? {
            Some(text) => self.judge(&text, worker),
            None => Ok((Judgement::Invalid, Duration::ZERO)),
        };
        let (judgement, wall) = match judged {
            Err(CaseError::Compiler(error)) if error.is_programs_fault() => {
                (Judgement::Invalid, Duration::ZERO)
            }
            Err(CaseError::Compiler(error)) => return Err(error),
            Err(CaseError::Io(error)) => return Err(error.into()),
            Err(_) => (Judgement::Other, Duration::ZERO),
            Ok(judged) => judged,
        };
        Ok(Tried { judgement, wall, occupied: begun.elapsed() })
    }

    fn judge(&self, text: &str, worker: &mut Worker) -> Result<(Judgement, Duration), CaseError> {
        let oracle = &self.gcc.trial.oracle;
        let expected = match self.gcc.described.case.kind {
            CaseKind::WrongCode => match self.unoptimized(text, worker)? {
                None => return Ok((Judgement::Invalid, Duration::ZERO)),
                // One that does not end says nothing, however it is compiled.
                Some(outcome) if self.is_useless(&outcome) => {
                    return Ok((Judgement::Other, Duration::ZERO));
                }
                Some(outcome) => Some(outcome),
            },
            CaseKind::Crash
            | CaseKind::InvalidIr
            | CaseKind::Hang
            | CaseKind::Memory
            | CaseKind::Codegen => None,
        };
        let folder = Workdir::new()?;
        let job = self.job(text, covered(), &folder)?;
        let begun = Instant::now();
        let GccRun { tried, log, .. } = self.gcc.trial.run_within(&job, self.limits, worker)?;
        let wall = begun.elapsed();
        let verdict = match (&tried, &expected) {
            (DriverTried::Refused(_), _) => return Ok((Judgement::Invalid, wall)),
            (DriverTried::Ran(outcome), Some(expected)) => oracle.compare(expected, outcome),
            (DriverTried::Ran(outcome), None) => oracle.judge(outcome),
        };
        let judgement = match (verdict, log.coverage) {
            (Verdict::Fails, _) => Judgement::Fails,
            (Verdict::Passes, Some(coverage)) => Judgement::Passes(coverage),
            (Verdict::Passes, None) | (Verdict::Other, _) => Judgement::Other,
        };
        Ok((judgement, wall))
    }

    /// A program in a file, compiled as the case's is.
    fn job(&self, text: &str, orders: PluginOrders, folder: &Workdir) -> Result<GccJob, CaseError> {
        let source = folder.file(NAME);
        fs::write(&source, text)?;
        let tested = self.gcc.tested();
        let other = Some((source, tested.level, tested.flags.clone()));
        Ok(GccJob { other, ..GccJob::of_case(orders) })
    }

    /// What a program does without optimization; `None` if gcc does not take it.
    fn unoptimized(&self, text: &str, worker: &mut Worker) -> Result<Option<Outcome>, CaseError> {
        let folder = Workdir::new()?;
        let source = folder.file(NAME);
        fs::write(&source, text)?;
        let flags = &self.c.flags;
        let level = OptLevel::O0;
        let tried = try_level(&self.c.driver, &source, level, flags, worker, self.limits)?;
        Ok(match tried {
            DriverTried::Ran(outcome) => Some(outcome),
            DriverTried::Refused(_) => None,
        })
    }

    fn is_useless(&self, outcome: &Outcome) -> bool {
        self.gcc.trial.oracle.compare(outcome, outcome) == Verdict::Other
    }
}
