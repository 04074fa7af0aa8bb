//! Programs that witness a failure of LLVM: read, compiled by the case's front end, and
//! run on its workers.
//!
//! **Invariant:** see [`super::trial`].

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use optsleuth_case::loaded::{FailingCase, patience};
use optsleuth_case::oracle::{Oracle, Verdict};
use optsleuth_compiler::CompilerError;
use optsleuth_compiler::llvm::{Pool, Worker};
use optsleuth_model::{
    Case, CaseKind, CodegenLevel, Execute, Limits, Outcome, Pipeline, Progress, RunRequest,
};
use optsleuth_mutate::Program;
use optsleuth_search::Reference;

use super::c_tools::CTools;
use super::effect::Effect;
use super::mutable::{MutableProgram, Reader, not_reproduced, require_c};
use super::trial::{Compiler, GoOn, Judgement, Preprocessor, Text, Tried};
use crate::TriageError;
use crate::c_programs::load_libclang;
use crate::localize::CoveredFailure;

/// What a mutant may take at least. Inserted loops may have no end, and are many.
const LEAST_TIME: Duration = Duration::from_millis(50);

/// A case's program, ready to be mutated, and how its mutants are compiled and run.
#[derive(Debug)]
pub struct LlvmPrograms {
    pub(super) mutable: MutableProgram,
    pub(super) c: CTools,
    /// A candidate's run.
    template: RunRequest,
}

impl LlvmPrograms {
    /// Reads the program of a failure, and sees it fail as its mutants will be run.
    pub fn read(
        failure: &mut CoveredFailure,
        progress: &dyn Progress,
    ) -> Result<LlvmPrograms, TriageError> {
        failure.with_other_programs(|failure| LlvmPrograms::read_now(failure, progress))
    }

    fn read_now(
        failure: &mut CoveredFailure,
        progress: &dyn Progress,
    ) -> Result<LlvmPrograms, TriageError> {
        let CoveredFailure { failing, input: search } = failure;
        let case = failing.loaded.case.case.clone();
        let input = failing.loaded.case.input();
        require_c(&input)?;
        let guilty = Effect::guilty(failing, progress)?;
        let FailingCase { loaded, reproduction } = failing;
        progress.step("reading the program");
        let c = CTools::new(&loaded.workers.install, &case.clang_flags(), progress)?;
        let (text, lines) = c.preprocess(&input)?;
        let clang = load_libclang(&loaded.workers.install)?;
        let limits = Limits {
            execute: patience(reproduction.reference_time, LEAST_TIME),
            ..search.template.limits
        };
        let template =
            RunRequest { cover_codegen: covers_codegen(&case), limits, ..search.template.clone() };
        let worker = loaded.workers.pool.first();
        let program = c.compile(&text, template.limits)?;
        let program =
            program.ok_or_else(|| not_reproduced("clang itself fails on it".to_owned()))?;
        worker.load(&program, &case.llvm_options(), template.limits)?;
        let run = worker.run(&template)?;
        if reproduction.oracle.judge(&run.outcome) != Verdict::Fails {
            let what = reproduction.oracle.describe(&run.outcome);
            return Err(not_reproduced(format!("once preprocessed, {what}")));
        }
        let failing = run.coverage.ok_or(CompilerError::NotInstrumented)?;
        let effect = match guilty {
            Some(guilty) => Effect::find(loaded, reproduction, &template, guilty)?,
            None => None,
        };
        let passes = loaded.request.passes.as_ref().map(ToString::to_string);
        let only_reached = case.kind == CaseKind::WrongCode;
        let reader = Reader { clang, flags: case.cflags.clone(), input, only_reached };
        let (pool, unmodified) = loaded.pools();
        let trial = Trial::new(&case, &reproduction.oracle, &template, &c);
        let ready = reader.ready(&text, &mut TrialWorkers { pool, unmodified, trial })?;
        let mutable = MutableProgram {
            passes: passes.unwrap_or_default(),
            reference: Reference::new(&failing, &search.map),
            failing_program: Arc::new(ready),
            lines,
            reader,
            failing,
            effect,
            ingredient_pool: None,
        };
        Ok(LlvmPrograms { mutable, c, template })
    }

    /// How a candidate is tried.
    pub(super) fn trial<'a>(&'a self, case: &Case, oracle: &'a Oracle) -> Trial<'a> {
        Trial::new(case, oracle, &self.template, &self.c)
    }
}

/// A level means the code generator, too.
fn covers_codegen(case: &Case) -> bool {
    matches!(case.pipeline, Pipeline::Level(_)) || case.kind == CaseKind::Codegen
}

/// Workers that try programs: with the case's compiler and, for a fault that was
/// made on purpose, the compiler without it beside them.
pub(super) struct TrialWorkers<'a> {
    pub(super) pool: &'a mut Pool,
    pub(super) unmodified: Option<&'a mut Pool>,
    pub(super) trial: Trial<'a>,
}

impl Compiler for TrialWorkers<'_> {
    fn try_all(&mut self, texts: &[Text], go_on: GoOn<'_>) -> Vec<Result<Tried, CompilerError>> {
        let TrialWorkers { pool, unmodified, trial } = self;
        let trial = &*trial;
        pool.each_while(unmodified.as_deref_mut(), texts, go_on, &|worker, other, text| {
            trial.of(worker, other, text)
        })
    }

    fn reached(&mut self, program: &Program) -> Result<Option<BTreeSet<usize>>, TriageError> {
        let Trial { c, template, options, .. } = &self.trial;
        let worker = self.pool.first();
        let program = match c.compile(&program.probed(), template.limits) {
            Err(error) if error.is_programs_fault() => {
                tracing::warn!(%error, "it cannot be told which statements are executed");
                return Ok(None);
            }
            other => other?,
        };
        let Some(program) = program else { return Ok(None) };
        worker.load(&program, options, template.limits)?;
        let asking = RunRequest {
            limits: template.limits,
            execute: Execute::InChild,
            ..RunRequest::new(None)
        };
        let outcome = worker.run(&asking)?.outcome;
        Ok(outcome.execution().map(|execution| Program::reached(&execution.stderr)))
    }
}

/// How programs are tried.
pub(super) struct Trial<'a> {
    kind: CaseKind,
    oracle: &'a Oracle,
    template: &'a RunRequest,
    c: &'a CTools,
    /// LLVM's, of the case.
    options: Vec<String>,
}

impl<'a> Trial<'a> {
    fn new(case: &Case, oracle: &'a Oracle, template: &'a RunRequest, c: &'a CTools) -> Trial<'a> {
        Trial { kind: case.kind, oracle, template, c, options: case.llvm_options() }
    }
}

impl Trial<'_> {
    fn of(
        &self,
        worker: &mut Worker,
        unmodified: Option<&mut Worker>,
        text: &Text,
    ) -> Result<Tried, CompilerError> {
        let begun = Instant::now();
        let judged = match self.c.text(text)? {
            Some(text) => self.judge(worker, unmodified, &text),
            None => Ok((Judgement::Invalid, Duration::ZERO)),
        };
        let (judgement, wall) = match judged {
            Err(error) if error.is_programs_fault() => (Judgement::Invalid, Duration::ZERO),
            other => other?,
        };
        Ok(Tried { judgement, wall, occupied: begun.elapsed() })
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
