//! One C program on one worker: compiled, run as the case's program is, judged.
//!
//! **Invariant:** a program that computes something is judged by itself: what it
//! does unoptimized is what it should do, by a compiler without the case's fault
//! where that was made on purpose. What is wrong with a program is its own fault,
//! never the harness's, and the other way round.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use optsleuth_case::oracle::{Oracle, Verdict};
use optsleuth_compiler::CompilerError;
use optsleuth_compiler::csmith;
use optsleuth_compiler::llvm::{Pool, Worker};
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{CaseKind, CodegenLevel, Coverage, Outcome, RunRequest};

use super::c_tools::CTools;

/// A program to try, as cheap to make as possible: what costs time is done
/// where there are many workers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Text {
    /// Here it is.
    Ready(String),
    /// In a file.
    File(PathBuf),
    /// What csmith makes of this seed.
    Csmith(u64),
}

/// What came of a program.
#[derive(Debug)]
pub(super) enum Judgement {
    /// It is none, or not one that can be executed.
    Invalid,
    /// It fails as the case does.
    Fails,
    /// It passes, and this is what the compiler executed.
    Passes(Coverage),
    /// It says nothing.
    Other,
}

/// A program that was tried.
#[derive(Debug)]
pub(super) struct Tried {
    pub(super) judgement: Judgement,
    /// How long LLVM's passes were at it.
    pub(super) wall: Duration,
    /// How long its worker was occupied with it.
    pub(super) occupied: Duration,
}

impl Tried {
    /// What the harness could not try.
    pub(super) fn trouble() -> Tried {
        let (wall, occupied) = (Duration::ZERO, Duration::ZERO);
        Tried { judgement: Judgement::Other, wall, occupied }
    }
}

/// Workers that try programs: with the case's compiler and, for a fault that was
/// made on purpose, the compiler without it beside them.
pub(super) struct TrialWorkers<'a> {
    pub(super) pool: &'a mut Pool,
    pub(super) unmodified: Option<&'a mut Pool>,
    pub(super) trial: Trial<'a>,
}

impl TrialWorkers<'_> {
    /// Tries programs as long as `go_on` allows. The answers are those of
    /// the first.
    pub(super) fn try_all(
        &mut self,
        texts: &[Text],
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Vec<Result<Tried, CompilerError>> {
        let TrialWorkers { pool, unmodified, trial } = self;
        let trial = &*trial;
        pool.each_while(unmodified.as_deref_mut(), texts, go_on, &|worker, other, text| {
            trial.of(worker, other, text)
        })
    }
}

/// How programs are tried.
pub(super) struct Trial<'a> {
    pub(super) kind: CaseKind,
    pub(super) oracle: &'a Oracle,
    pub(super) template: &'a RunRequest,
    pub(super) c: &'a CTools,
    /// LLVM's, of the case.
    pub(super) options: Vec<String>,
}

impl Trial<'_> {
    fn of(
        &self,
        worker: &mut Worker,
        unmodified: Option<&mut Worker>,
        text: &Text,
    ) -> Result<Tried, CompilerError> {
        let begun = Instant::now();
        let text = match text {
            Text::Ready(text) => Some(text.clone()),
            Text::File(file) => preprocessed(self.c.preprocess(file))?,
            Text::Csmith(seed) => self.generate(*seed)?,
        };
        let judged = match text {
            Some(text) => self.judge(worker, unmodified, &text),
            None => Ok((Judgement::Invalid, Duration::ZERO)),
        };
        let (judgement, wall) = match judged {
            Err(error) if error.is_programs_fault() => (Judgement::Invalid, Duration::ZERO),
            other => other?,
        };
        Ok(Tried { judgement, wall, occupied: begun.elapsed() })
    }

    /// csmith does not find an end for every seed.
    fn generate(&self, seed: u64) -> Result<Option<String>, CompilerError> {
        let folder = Workdir::new()?;
        let file = folder.file("generated.c");
        match csmith::generate(seed, &csmith::SMALL_PROGRAMS, &file) {
            Ok(()) => preprocessed(self.c.preprocess(&file)),
            Err(CompilerError::ToolFailed { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn judge(
        &self,
        worker: &mut Worker,
        unmodified: Option<&mut Worker>,
        text: &str,
    ) -> Result<(Judgement, Duration), CompilerError> {
        let limits = self.template.limits;
        let Some(program) = self.c.compile(text, limits)? else {
            return Ok((Judgement::Other, Duration::ZERO));
        };
        worker.load(&program, &self.options, limits)?;
        let expected = match (self.kind, unmodified) {
            (CaseKind::WrongCode, None) => Some(self.unoptimized(worker)?),
            (CaseKind::WrongCode, Some(unmodified)) => {
                unmodified.load(&program, &self.options, limits)?;
                Some(self.unoptimized(unmodified)?)
            }
            (
                CaseKind::Crash
                | CaseKind::InvalidIr
                | CaseKind::Hang
                | CaseKind::Memory
                | CaseKind::Codegen,
                _,
            ) => None,
        };
        // One that does not end says nothing, however it is compiled.
        let is_useless = |it: &Outcome| self.oracle.compare(it, it) == Verdict::Other;
        if expected.as_ref().is_some_and(is_useless) {
            return Ok((Judgement::Other, Duration::ZERO));
        }
        let result = worker.run(self.template)?;
        let verdict = match &expected {
            Some(reference) => self.oracle.compare(reference, &result.outcome),
            None => self.oracle.judge(&result.outcome),
        };
        let judgement = match (verdict, result.coverage) {
            (Verdict::Fails, _) => Judgement::Fails,
            (Verdict::Passes, Some(coverage)) => Judgement::Passes(coverage),
            (Verdict::Passes, None) | (Verdict::Other, _) => Judgement::Other,
        };
        Ok((judgement, result.wall))
    }

    /// What the loaded program does without passes.
    fn unoptimized(&self, worker: &mut Worker) -> Result<Outcome, CompilerError> {
        let request = RunRequest {
            passes: None,
            coverage: false,
            cover_codegen: false,
            codegen: CodegenLevel::O0,
            ..self.template.clone()
        };
        Ok(worker.run(&request)?.outcome)
    }
}

/// A text, `None` if it is no program; what else can go wrong is not its fault.
pub(super) fn preprocessed<T>(
    text: Result<(String, T), CompilerError>,
) -> Result<Option<String>, CompilerError> {
    match text {
        Ok((text, _)) => Ok(Some(text)),
        Err(
            CompilerError::DoesNotCompile { .. }
            | CompilerError::UnknownLanguage(_)
            | CompilerError::UnreadableProgram { .. },
        ) => Ok(None),
        Err(error) => Err(error),
    }
}
