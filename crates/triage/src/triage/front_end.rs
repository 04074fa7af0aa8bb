//! A program on which clang crashes before LLVM sees any IR -> a case of clang's
//! driver, reduced.
//!
//! **Invariant:** LLVM is asked first. Nothing of a front end is ranked: workers have
//! none.

use std::path::Path;

use fs_err as fs;
use optsleuth_case::CaseError;
use optsleuth_compiler::CompilerError;
use optsleuth_compiler::driver::{Compiled, Driver};
use optsleuth_compiler::llvm::Install;
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{Progress, Triage};

use super::of_gcc::{self, GccSuspicion};
use super::open::Suspicion;
use super::{LlvmInput, TriagePlan, triage_llvm};
use crate::TriageError;

/// Triages a program in LLVM; where clang makes no IR of it because it crashes, in
/// clang.
pub(super) fn triage_suspicion(
    plan: &TriagePlan,
    suspicion: &Suspicion,
    progress: &dyn Progress,
) -> Result<Triage, TriageError> {
    let found = triage_llvm(plan, &LlvmInput::Program(suspicion), progress);
    let Err(TriageError::Case(CaseError::Compiler(CompilerError::DoesNotCompile { .. }))) = &found
    else {
        return found;
    };
    match crashing(plan, suspicion)? {
        Some(in_clang) => of_gcc::triage_program(plan, &in_clang, progress),
        None => found, // It is the program's own fault.
    }
}

/// The suspicion against clang, if that crashes on the program.
fn crashing(plan: &TriagePlan, suspicion: &Suspicion) -> Result<Option<GccSuspicion>, TriageError> {
    let Suspicion { program, llvm, pipeline, options, c_flags, .. } = suspicion;
    let Some(driver) = driver_of(&llvm.find()?)? else { return Ok(None) };
    let level = pipeline.front_end();
    let for_llvm = options.iter().flat_map(|option| ["-mllvm".to_owned(), option.clone()]);
    let flags: Vec<String> = c_flags.iter().cloned().chain(for_llvm).collect();
    let folder = Workdir::new().map_err(CaseError::from)?;
    let compiled = driver.compile(program, level, &flags, &folder.file("program"), plan.limits)?;
    if !matches!(compiled, Compiled::Crash(_) | Compiled::Hang | Compiled::Memory) {
        return Ok(None);
    }
    Ok(Some(GccSuspicion {
        program: program.clone(),
        gcc: driver.name.clone(),
        level,
        flags,
        conditions: suspicion.conditions.clone(),
        trust: suspicion.trust,
        folder: suspicion.folder.clone(),
        force: suspicion.force,
    }))
}

/// `clang-19`, where that is this LLVM's; else by its path.
fn driver_of(install: &Install) -> Result<Option<Driver>, TriageError> {
    let Some(clang) = install.tool("clang") else { return Ok(None) };
    let by_name = Driver::find(&format!("clang-{}", install.major)).ok();
    let is_same = |driver: &Driver| {
        let real = |path: &Path| fs::canonicalize(path).ok();
        real(&driver.path) == real(&clang)
    };
    match by_name.filter(is_same) {
        Some(driver) => Ok(Some(driver)),
        None => Ok(Some(Driver::find(&clang.display().to_string())?)),
    }
}
