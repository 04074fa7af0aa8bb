//! What a search for witness programs has to know about its case, whichever compiler
//! it is of: the failing program in one text, its failing run, which of its statements
//! are executed. Found out once for all searches in a failure.
//!
//! **Invariant:** the failing run is one of the text that is mutated, compiled as
//! its mutants are: nothing but the mutation tells a mutant's run from it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use optsleuth_case::CaseError;
use optsleuth_model::{CheckStatus, Coverage, Language, Progress};
use optsleuth_mutate::{Libclang, Program};
use optsleuth_search::Reference;

use super::WitnessPlan;
use super::effect::Effect;
use super::ingredient_pool::IngredientPool;
use super::lines::Lines;
use super::trial::{Compiler, Preprocessor};
use crate::TriageError;

/// A case's program, ready to be mutated.
#[derive(Debug)]
pub(super) struct MutableProgram {
    pub(super) reader: Reader,
    /// The failing program.
    pub(super) failing_program: Arc<Ready>,
    /// Where its lines come from.
    pub(super) lines: Lines,
    /// What its failing run covers.
    pub(super) failing: Coverage,
    pub(super) reference: Reference,
    /// The case's passes, or gcc's level and flags.
    pub(super) passes: String,
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

/// An error for everything that is no C.
pub(super) fn require_c(input: &Path) -> Result<(), TriageError> {
    match Language::of_path(input) {
        Some(Language::C) => Ok(()),
        _ => Err(TriageError::NotInC(input.to_owned())),
    }
}

/// The text that is mutated does not fail as its file does.
pub(super) fn not_reproduced(what: String) -> TriageError {
    CaseError::NotReproduced { status: CheckStatus::FailsOtherwise, what }.into()
}

impl MutableProgram {
    /// Takes ingredients from where the plan says, if it needs any.
    pub(super) fn fill_pool(
        &mut self,
        plan: &WitnessPlan,
        c: &dyn Preprocessor,
        progress: &dyn Progress,
    ) -> Result<(), TriageError> {
        let is_right = |known: &IngredientPool| known.folder == plan.pool;
        if plan.needs_ingredients() && !self.ingredient_pool.as_ref().is_some_and(is_right) {
            progress.step("gathering ingredients");
            let filled = IngredientPool::fill(plan.pool.as_deref(), &self.reader.clang, c)?;
            self.ingredient_pool = Some(filled);
        }
        Ok(())
    }

    /// Reads a mutant that is to be mutated further; `None` if it cannot be.
    pub(super) fn ready(
        &self,
        text: &str,
        compiler: &mut dyn Compiler,
    ) -> Result<Option<Ready>, TriageError> {
        match self.reader.ready(text, compiler) {
            Ok(ready) => Ok(Some(ready)),
            Err(TriageError::NotC { .. }) => Ok(None),
            Err(TriageError::Case(CaseError::Compiler(error))) if error.is_programs_fault() => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// What it takes to read a program.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) clang: Libclang,
    pub(super) flags: Vec<String>,
    /// The case's program, for complaints.
    pub(super) input: PathBuf,
    /// Whether only statements that are executed are worth changing.
    pub(super) only_reached: bool,
}

impl Reader {
    pub(super) fn ready(
        &self,
        text: &str,
        compiler: &mut dyn Compiler,
    ) -> Result<Ready, TriageError> {
        let Reader { clang, flags, input, only_reached } = self;
        let program = clang
            .parse(text, flags)
            .map_err(|source| TriageError::NotC { path: input.clone(), source })?;
        let reached = match only_reached {
            true => compiler.reached(&program)?,
            false => None,
        };
        Ok(Ready { program, reached })
    }
}
