//! One C program on one worker: compiled, run as the case's program is, judged.
//!
//! **Invariant:** a program that computes something is judged by itself: what it
//! does unoptimized is what it should do. What is wrong with a program is its
//! own fault, never the harness's, and the other way round.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use optsleuth_compiler::csmith;
use optsleuth_compiler::llvm::{RunError, Worker};
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{CaseKind, CodegenLevel, Coverage, Outcome, RunRequest};

use super::c_tools::CTools;
use crate::oracle::{Oracle, Verdict, compared};

/// A program to try, as cheap to make as possible: what costs time is done
/// where there are many hands.
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

/// How programs are tried.
pub(super) struct Trial<'a> {
    pub(super) kind: CaseKind,
    pub(super) oracle: &'a Oracle,
    pub(super) template: &'a RunRequest,
    pub(super) c: &'a CTools,
    /// LLVM's, of the case.
    pub(super) options: &'a [String],
}

impl Trial<'_> {
    /// Tries a program.
    pub(super) fn of(&self, worker: &mut Worker, text: &Text) -> Result<Tried, RunError> {
        let begun = Instant::now();
        let judged = match text {
            Text::Ready(text) => self.judge(worker, text),
            Text::File(file) => match self.c.preprocess(file) {
                Ok((text, _)) => self.judge(worker, &text),
                Err(_) => Ok((Judgement::Invalid, Duration::ZERO)),
            },
            Text::Csmith(seed) => match self.generate(*seed) {
                Some(text) => self.judge(worker, &text),
                None => Ok((Judgement::Invalid, Duration::ZERO)),
            },
        };
        let (judgement, wall) = match judged {
            // The program's fault.
            Err(
                RunError::DoesNotCompile(_)
                | RunError::DoesNotLink(_)
                | RunError::BadModule { .. }
                | RunError::ForeignTarget { .. }
                | RunError::TooLarge { .. },
            ) => (Judgement::Invalid, Duration::ZERO),
            other => other?,
        };
        Ok(Tried { judgement, wall, occupied: begun.elapsed() })
    }

    /// csmith does not find an end for every seed.
    fn generate(&self, seed: u64) -> Option<String> {
        let folder = Workdir::new().ok()?;
        let file = folder.file("generated.c");
        csmith::generate(seed, &csmith::SMALL_PROGRAMS, &file).ok()?;
        self.c.preprocess(&file).ok().map(|(text, _)| text)
    }

    /// What the loaded program does without passes.
    fn unoptimized(&self, worker: &mut Worker) -> Result<Outcome, RunError> {
        let request = RunRequest {
            passes: None,
            coverage: false,
            cover_codegen: false,
            codegen: CodegenLevel::O0,
            ..self.template.clone()
        };
        Ok(worker.run(&request)?.outcome)
    }

    fn judge(&self, worker: &mut Worker, text: &str) -> Result<(Judgement, Duration), RunError> {
        self.c.load(worker, text, self.options, self.template.limits)?;
        let expected = match self.kind {
            CaseKind::WrongCode => Some(self.unoptimized(worker)?),
            CaseKind::Crash
            | CaseKind::InvalidIr
            | CaseKind::Hang
            | CaseKind::Memory
            | CaseKind::Codegen => None,
        };
        // One that does not end says nothing, however it is compiled.
        let is_endless = |reference: &Outcome| compared(reference, reference) == Verdict::Other;
        if expected.as_ref().is_some_and(is_endless) {
            return Ok((Judgement::Other, Duration::ZERO));
        }
        let result = worker.run(self.template)?;
        let verdict = match &expected {
            Some(reference) => compared(reference, &result.outcome),
            None => self.oracle.judge(&result.outcome),
        };
        let judgement = match (verdict, result.coverage) {
            (Verdict::Fails, _) => Judgement::Fails,
            (Verdict::Passes, Some(coverage)) => Judgement::Passes(coverage),
            (Verdict::Passes, None) | (Verdict::Other, _) => Judgement::Other,
        };
        Ok((judgement, result.wall))
    }
}
