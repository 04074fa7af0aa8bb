//! The baseline of an LLVM: small programs that use what most programs use, and
//! the coverage of every pass on them.

mod coverage;
mod programs;

use optsleuth_case::CaseError;
use optsleuth_case::workers::steps;
use optsleuth_compiler::CompilerError;
use optsleuth_compiler::llvm::{self, Flavor, Install, Provisioned, Targets};
use optsleuth_model::{Program, Progress};

use crate::TriageError;
use coverage::BaselineCoverage;
pub use programs::SOURCES;

/// The baseline programs as IR of one LLVM, and what its passes execute on them.
#[derive(Debug, Default)]
pub struct Baseline {
    pub coverage: BaselineCoverage,
    pub programs: Vec<Program>,
}

impl Baseline {
    /// Of this LLVM. Without a clang there is none, and methods do without.
    pub fn of(install: &Install, progress: &dyn Progress) -> Result<Baseline, TriageError> {
        let mut report = steps(install, progress);
        let worker = llvm::provision(install, Targets::Native, Flavor::Covered, &mut report)?;
        Baseline::of_worker(&worker, progress)
    }

    /// The same for a worker with zoomed files.
    pub fn of_zoomed(
        &self,
        worker: &Provisioned,
        progress: &dyn Progress,
    ) -> Result<Baseline, TriageError> {
        if self.programs.is_empty() {
            return Ok(Baseline::default());
        }
        let coverage = self.coverage.of_zoomed(worker, progress)?;
        Ok(Baseline { coverage, programs: self.programs.clone() })
    }

    fn of_worker(worker: &Provisioned, progress: &dyn Progress) -> Result<Baseline, TriageError> {
        match programs::programs(&worker.install) {
            Ok(programs) => {
                Ok(Baseline { coverage: BaselineCoverage::of(worker, progress)?, programs })
            }
            Err(TriageError::Case(CaseError::Compiler(
                error @ (CompilerError::NoClang(_) | CompilerError::DoesNotCompile { .. }),
            ))) => {
                tracing::warn!(%error, "there is no baseline coverage for this LLVM");
                Ok(Baseline::default())
            }
            Err(error) => Err(error),
        }
    }
}
