//! Cases of compilers as their users call them: gcc, and clang's driver.
//!
//! ```text
//! C ──► the compiler at the case's level ──► program ──► behaviour ─┐
//!  └──► the same at -O0, another family's at -O0 ──► reference ─────┴► verdict
//! ```
//! Only its passes can be looked at, and only gcc's: see the bisection in `triage`.
//!
//! **Invariant:** a program is executed behind a worker's fence only, whoever
//! compiled it.

mod loaded;

use std::path::Path;

use optsleuth_compiler::driver::{Driver, Family};
use optsleuth_compiler::llvm::Worker;
use optsleuth_model::{Case, CaseKind, Limits, OptLevel, Outcome, Pipeline};

use crate::CaseError;
use crate::definedness::References;
use crate::oracle::{Oracle, behaviour, is_limit};
use crate::portable::portable;
use crate::tried::tried;
pub use crate::tried::{Tried, try_level};
pub use loaded::{FailingDriverCase, LoadedDriverCase, Reproduction, include_folder};

/// The compiler that a case accuses, and who contradicts it.
#[derive(Clone, Debug)]
pub struct DriverUnderTest {
    pub driver: Driver,
    pub level: OptLevel,
    /// The case's `cflags`, and what candidates elsewhere need.
    pub flags: Vec<String>,
    kind: CaseKind,
    /// Whose unoptimized program is right, in words; for wrong code alone.
    references: Vec<(&'static str, Driver)>,
}

impl DriverUnderTest {
    /// Finds them. Wrong code needs two opinions.
    pub fn find(case: &Case, driver: Driver) -> Result<DriverUnderTest, CaseError> {
        let level = match &case.pipeline {
            Pipeline::Level(level) => *level,
            // Not so in a case that was read.
            Pipeline::Passes(_) | Pipeline::Codegen(_) => OptLevel::O2,
        };
        let references = match case.kind {
            // What is linked with objects of this compiler is its own measure.
            CaseKind::WrongCode if case.execution.unlinked => {
                vec![(OWN, driver.clone())]
            }
            CaseKind::WrongCode => references(&driver, level)?,
            _ => Vec::new(),
        };
        let (flags, kind) = (case.cflags.clone(), case.kind);
        Ok(DriverUnderTest { driver, level, flags, kind, references })
    }

    /// The failing run, with this program.
    pub fn run(
        &self,
        source: &Path,
        worker: &mut Worker,
        limits: Limits,
    ) -> Result<Tried, CaseError> {
        let DriverUnderTest { driver, level, flags, .. } = self;
        match self.kind {
            CaseKind::WrongCode => try_level(driver, source, *level, flags, worker, limits),
            // Whoever gets a program has passed.
            _ => self.compile(source, limits),
        }
    }

    /// The same without an execution.
    pub fn compile(&self, source: &Path, limits: Limits) -> Result<Tried, CaseError> {
        let DriverUnderTest { driver, level, flags, .. } = self;
        tried(driver, source, *level, flags, limits, |_| Ok(None))
    }

    /// What the program does unoptimized, by both families; or why
    /// that cannot be told.
    pub fn references(
        &self,
        source: &Path,
        worker: &mut Worker,
        limits: Limits,
    ) -> Result<Result<References, NoReference>, CaseError> {
        let portable = self.portable_flags();
        let mut references = References::new();
        for &(way, ref driver) in &self.references {
            let flags = if driver.path == self.driver.path { &self.flags } else { &portable };
            let tried = try_level(driver, source, OptLevel::O0, flags, worker, limits)?;
            let (what, ends) = match tried {
                Tried::Ran(Outcome::Ok(Some(execution))) if !is_limit(execution.end) => {
                    references.push((way, execution));
                    continue;
                }
                Tried::Ran(Outcome::Ok(Some(execution))) => {
                    (format!("the program {}", behaviour(&execution)), false)
                }
                other => (other.describe(&Oracle::new(self.kind, None)), true),
            };
            return Ok(Err(NoReference { way, what, ends }));
        }
        Ok(Ok(references))
    }

    /// Takes the second opinion from another gcc where the other family does not take
    /// this program: GNU's extensions are gcc's alone. Whoever takes it, keeps its
    /// say: a program made of this one has to please the same compilers.
    pub fn settle_second_opinion(
        &mut self,
        source: &Path,
        limits: Limits,
    ) -> Result<(), CaseError> {
        if self.driver.family != Family::Gcc {
            return Ok(());
        }
        let portable = self.portable_flags();
        let Some((way, driver)) =
            self.references.iter_mut().find(|(_, driver)| driver.family != Family::Gcc)
        else {
            return Ok(());
        };
        let tried = tried(driver, source, OptLevel::O0, &portable, limits, |_| Ok(None))?;
        let Tried::Refused(_) = tried else { return Ok(()) };
        let is_another =
            |other: &Driver| other.family == Family::Gcc && other.version != self.driver.version;
        if let Some(another) = Driver::installed().into_iter().rfind(is_another) {
            (*way, *driver) = ("unoptimized, by another gcc", another);
        }
        Ok(())
    }

    /// The flags that say what the program means, for any compiler.
    pub fn portable_flags(&self) -> Vec<String> {
        portable(&self.flags)
    }
}

/// An unoptimized program of gcc's.
const OWN: &str = "unoptimized, by gcc";

/// Who says what a program should do: both families. The compiler itself speaks
/// for its own family, unless it is accused of wrong code without optimization;
/// then another one of its family does, where there is one.
fn references(accused: &Driver, level: OptLevel) -> Result<Vec<(&'static str, Driver)>, CaseError> {
    let own = match level {
        OptLevel::O0 => {
            let is_like = |driver: &Driver| driver.family == accused.family;
            let is_other = |driver: &Driver| driver.version != accused.version;
            Driver::installed().into_iter().rfind(|one| is_like(one) && is_other(one))
        }
        _ => Some(accused.clone()),
    };
    let other = Driver::newest(accused.family.other())?;
    let named = |driver: Driver| match driver.family {
        Family::Clang => ("unoptimized, by clang", driver),
        Family::Gcc => (OWN, driver),
    };
    Ok(own.into_iter().chain([other]).map(named).collect())
}

/// Why it cannot be told what a program should do.
#[derive(Clone, Debug)]
pub struct NoReference {
    pub way: &'static str,
    pub what: String,
    /// As in [`CaseError::NoReference`].
    pub ends: bool,
}
