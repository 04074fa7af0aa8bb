//! A command that compiles several programs and links them -> the guilty one, triaged
//! with the others as companions.
//!
//! Which one is guilty is tried out: one at a time is compiled as the command says,
//! with the others unoptimized; then with the others as the command has them.
//!
//! **Invariant:** a program is guilty only if the whole fails with the others as they
//! are in its case.

use std::path::PathBuf;

use optsleuth_case::CaseError;
use optsleuth_compiler::companion::companion;
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{CheckStatus, Conditions, OptLevel, Progress, Triage};

use super::front_end::triage_suspicion;
use super::of_gcc::{self, GccSuspicion};
use super::open::Suspicion;
use super::{TriagePlan, nothing_fails};
use crate::TriageError;

/// One of the programs of a command.
#[derive(Clone, Debug)]
pub enum Suspect {
    Llvm(Box<Suspicion>),
    Gcc(Box<GccSuspicion>),
}

/// Programs of one command.
#[derive(Clone, Debug)]
pub struct SeveralPrograms {
    /// In the order of the command.
    pub suspects: Vec<Suspect>,
    /// The command's compiler, for the companions.
    pub compiler: PathBuf,
    pub flags: Vec<String>,
    pub level: OptLevel,
    /// Whether they become one program.
    pub are_linked: bool,
}

impl Suspect {
    fn program(&self) -> PathBuf {
        match self {
            Suspect::Llvm(suspicion) => suspicion.program.clone(),
            Suspect::Gcc(suspicion) => suspicion.program.clone(),
        }
    }

    fn conditions(&mut self) -> &mut Conditions {
        match self {
            Suspect::Llvm(suspicion) => &mut suspicion.conditions,
            Suspect::Gcc(suspicion) => &mut suspicion.conditions,
        }
    }

    pub(super) fn triage(
        &self,
        plan: &TriagePlan,
        progress: &dyn Progress,
    ) -> Result<Triage, TriageError> {
        match self {
            Suspect::Llvm(suspicion) => triage_suspicion(plan, suspicion, progress),
            Suspect::Gcc(suspicion) => of_gcc::triage_program(plan, suspicion, progress),
        }
    }
}

/// Finds the guilty one, and triages it.
pub(super) fn triage_several(
    plan: &TriagePlan,
    several: &SeveralPrograms,
    progress: &dyn Progress,
) -> Result<Triage, TriageError> {
    let SeveralPrograms { suspects, level, are_linked, .. } = several;
    let folder = Workdir::new().map_err(CaseError::from)?;
    let levels: &[OptLevel] = match (are_linked, level) {
        (false, _) | (true, OptLevel::O0) => &[OptLevel::O0],
        (true, level) => &[OptLevel::O0, *level],
    };
    for (round, &level) in levels.iter().enumerate() {
        let objects = match are_linked {
            true => objects(several, &folder, level, progress)?,
            false => Vec::new(),
        };
        for (number, suspect) in suspects.iter().enumerate() {
            let mut suspect = suspect.clone();
            let others = objects.iter().enumerate().filter(|(other, _)| *other != number);
            suspect.conditions().companions.extend(others.map(|(_, object)| object.clone()));
            let name = suspect.program().display().to_string();
            match suspect.triage(plan, progress) {
                Err(error) if nothing_fails(&error) => {}
                Ok(mut found) => {
                    let how = match (are_linked, round) {
                        (false, _) => "it is the one that does not compile".to_owned(),
                        (true, 0) => "the others are linked as they are at -O0".to_owned(),
                        (true, _) => {
                            format!("the others are linked as they are at -{}", level.name())
                        }
                    };
                    let n_programs = suspects.len();
                    found
                        .notes
                        .insert(0, format!("of {n_programs} programs, `{name}` is guilty; {how}"));
                    return Ok(found);
                }
                Err(error) => return Err(error),
            }
            if progress.stop_requested() {
                break;
            }
        }
    }
    let what = match are_linked {
        true => {
            "no program of the command makes the whole fail, with the others unoptimized or \
                 as the command has them"
        }
        false => "all programs of the command are compiled without complaint",
    };
    Err(TriageError::NoFailure { status: CheckStatus::Passes, what: what.to_owned() })
}

/// All programs at one level, by the command's own compiler.
fn objects(
    several: &SeveralPrograms,
    folder: &Workdir,
    level: OptLevel,
    progress: &dyn Progress,
) -> Result<Vec<PathBuf>, TriageError> {
    let SeveralPrograms { suspects, compiler, flags, .. } = several;
    progress.step(&format!("compiling {} programs at -{}", suspects.len(), level.name()));
    let flags = [&flags[..], &[format!("-{}", level.name())]].concat();
    let object = |(number, suspect): (usize, &Suspect)| {
        let program = suspect.program();
        let stem = program.file_stem().unwrap_or_default().to_string_lossy();
        let object = folder.file(&format!("{number}-{stem}-{}.o", level.name()));
        companion(compiler, &program, &flags, &object)?;
        Ok(object)
    };
    suspects.iter().enumerate().map(object).collect()
}
