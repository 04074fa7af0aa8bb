//! What a search for witness programs has to know about its case: the failing
//! program in one text, its failing run, which of its statements are executed.
//! Found out once for all searches in a failure.
//!
//! **Invariant:** the failing run is one of the text that is mutated, compiled as
//! its mutants are: nothing but the mutation tells a mutant's run from it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use optsleuth_case::CaseError;
use optsleuth_case::loaded::{FailingCase, patience};
use optsleuth_case::oracle::{Oracle, Verdict};
use optsleuth_compiler::CompilerError;
use optsleuth_compiler::llvm::Pool;
use optsleuth_model::{
    Case, CaseKind, CheckStatus, Coverage, Execute, Language, Limits, Pipeline, Progress,
    RunRequest,
};
use optsleuth_mutate::{Libclang, Program};
use optsleuth_search::Reference;

use super::WitnessPlan;
use super::c_tools::CTools;
use super::effect::Effect;
use super::ingredient_pool::IngredientPool;
use super::lines::Lines;
use super::trial::Trial;
use crate::TriageError;
use crate::c_programs::load_libclang;
use crate::localize::CoveredFailure;

/// What a mutant may take at least. Inserted loops may have no end, and are many.
const LEAST_TIME: Duration = Duration::from_millis(50);

/// A case's program, ready to be mutated.
#[derive(Debug)]
pub struct MutableProgram {
    pub(super) clang: Libclang,
    pub(super) c: CTools,
    /// The failing program.
    pub(super) failing_program: Arc<Ready>,
    /// Where its lines come from.
    pub(super) lines: Lines,
    /// What its failing run covers.
    pub(super) failing: Coverage,
    pub(super) reference: Reference,
    /// A candidate's run.
    pub(super) template: RunRequest,
    /// The case's, as LLVM gets them.
    pub(super) passes: String,
    /// Whether only statements that are executed are worth changing.
    only_reached: bool,
    pub(super) effect: Option<Effect>,
    /// What the last search that needed ingredients took them from.
    pub(super) ingredient_pool: Option<IngredientPool>,
}

/// A program that can be mutated.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) program: Program,
    /// The statements that are executed; `None` where that does not matter.
    reached: Option<BTreeSet<usize>>,
}

impl Ready {
    /// Whether a change in a statement can show; one outside of all functions
    /// always can.
    pub(super) fn is_reached(&self, statement: Option<usize>) -> bool {
        match (statement, &self.reached) {
            (Some(statement), Some(reached)) => reached.contains(&statement),
            (None, _) | (_, None) => true,
        }
    }
}

impl MutableProgram {
    /// Reads the program of a failure, and sees it fail as its mutants will be run.
    pub fn read(
        failure: &mut CoveredFailure,
        progress: &dyn Progress,
    ) -> Result<MutableProgram, TriageError> {
        failure.with_other_programs(|failure| MutableProgram::read_now(failure, progress))
    }

    /// Takes ingredients from where the plan says, if it needs any.
    pub(super) fn fill_pool(
        &mut self,
        plan: &WitnessPlan,
        progress: &dyn Progress,
    ) -> Result<(), TriageError> {
        let is_right = |known: &IngredientPool| known.folder == plan.pool;
        if plan.needs_ingredients() && !self.ingredient_pool.as_ref().is_some_and(is_right) {
            progress.step("gathering ingredients");
            let filled = IngredientPool::fill(plan.pool.as_deref(), &self.clang, &self.c)?;
            self.ingredient_pool = Some(filled);
        }
        Ok(())
    }

    fn read_now(
        failure: &mut CoveredFailure,
        progress: &dyn Progress,
    ) -> Result<MutableProgram, TriageError> {
        let CoveredFailure { failing, input: search } = failure;
        let case = failing.loaded.case.case.clone();
        let input = failing.loaded.case.input();
        if Language::of_path(&input) != Some(Language::C) {
            return Err(TriageError::NotInC(input));
        }
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
        let Some(program) = program else {
            let what = "clang itself fails on it".to_owned();
            return Err(
                CaseError::NotReproduced { status: CheckStatus::FailsOtherwise, what }.into()
            );
        };
        worker.load(&program, &case.llvm_options(), template.limits)?;
        let run = worker.run(&template)?;
        if reproduction.oracle.judge(&run.outcome) != Verdict::Fails {
            let what = reproduction.oracle.describe(&run.outcome);
            let what = format!("once preprocessed, {what}");
            return Err(
                CaseError::NotReproduced { status: CheckStatus::FailsOtherwise, what }.into()
            );
        }
        let failing = run.coverage.ok_or(CompilerError::NotInstrumented)?;
        let effect = match guilty {
            Some(guilty) => Effect::find(loaded, reproduction, &template, guilty)?,
            None => None,
        };
        let only_reached = case.kind == CaseKind::WrongCode;
        let reading = Reading { clang: &clang, c: &c, template: &template };
        let ready = reading.ready(&text, &case, only_reached, &mut loaded.workers.pool)?;
        let passes = loaded.request.passes.as_ref().map(ToString::to_string);
        Ok(MutableProgram {
            passes: passes.unwrap_or_default(),
            reference: Reference::new(&failing, &search.map),
            failing_program: Arc::new(ready),
            lines,
            clang,
            c,
            failing,
            template,
            only_reached,
            effect,
            ingredient_pool: None,
        })
    }
}

impl MutableProgram {
    /// Reads a mutant that is to be mutated further; `None` if it cannot be.
    pub(super) fn ready(
        &self,
        text: &str,
        case: &Case,
        pool: &mut Pool,
    ) -> Result<Option<Ready>, TriageError> {
        let MutableProgram { clang, c, template, .. } = self;
        let reading = Reading { clang, c, template };
        match reading.ready(text, case, self.only_reached, pool) {
            Ok(ready) => Ok(Some(ready)),
            Err(TriageError::NotC { .. }) => Ok(None),
            Err(TriageError::Case(CaseError::Compiler(error))) if error.is_programs_fault() => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// How a candidate is tried.
    pub(super) fn trial<'a>(&'a self, case: &'a Case, oracle: &'a Oracle) -> Trial<'a> {
        Trial {
            kind: case.kind,
            oracle,
            template: &self.template,
            c: &self.c,
            options: case.llvm_options(),
        }
    }
}

/// What it takes to read a program.
struct Reading<'a> {
    clang: &'a Libclang,
    c: &'a CTools,
    template: &'a RunRequest,
}

impl Reading<'_> {
    fn ready(
        &self,
        text: &str,
        case: &Case,
        only_reached: bool,
        pool: &mut Pool,
    ) -> Result<Ready, TriageError> {
        let path = || PathBuf::from(&case.input);
        let program = self
            .clang
            .parse(text, &case.cflags)
            .map_err(|source| TriageError::NotC { path: path(), source })?;
        let reached = match only_reached {
            true => self.reached(&program, case, pool)?,
            false => None,
        };
        Ok(Ready { program, reached })
    }

    /// Which statements are executed. A program that cannot be asked is one of
    /// which all may be.
    fn reached(
        &self,
        program: &Program,
        case: &Case,
        pool: &mut Pool,
    ) -> Result<Option<BTreeSet<usize>>, TriageError> {
        let worker = pool.first();
        let program = match self.c.compile(&program.probed(), self.template.limits) {
            Err(error) if error.is_programs_fault() => {
                tracing::warn!(%error, "it cannot be told which statements are executed");
                return Ok(None);
            }
            other => other?,
        };
        let Some(program) = program else { return Ok(None) };
        worker.load(&program, &case.llvm_options(), self.template.limits)?;
        let asking = RunRequest {
            limits: self.template.limits,
            execute: Execute::InChild,
            ..RunRequest::new(None)
        };
        let outcome = worker.run(&asking)?.outcome;
        Ok(outcome.execution().map(|execution| Program::reached(&execution.stderr)))
    }
}

/// A level means the code generator, too.
fn covers_codegen(case: &Case) -> bool {
    matches!(case.pipeline, Pipeline::Level(_)) || case.kind == CaseKind::Codegen
}
