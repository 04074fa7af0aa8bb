//! Remedies and exit codes for the research tools.

use optsleuth_bench::BenchError;

use super::{case, hunt, project, triage};
use crate::exit::Exit;

pub(super) fn remedy(error: &BenchError) -> Option<String> {
    let said = match error {
        BenchError::Case(error) => return case::remedy(error),
        BenchError::Triage(error) => return triage::remedy(error),
        BenchError::Hunt(error) => return hunt::remedy(error),
        BenchError::Project(error) => return project::remedy(error),
        BenchError::NoCases(_) => {
            "a case is a folder with a case.toml; docs/case-format.md describes it"
        }
        BenchError::SameName(_) => {
            "measure them one after the other, into different folders (`-o`)"
        }
        BenchError::NoTruth => "write the culprit into case.toml, under [truth]",
        BenchError::OtherBudget { .. } => {
            "measure into another folder (`-o`), or with the same `--budget` or `--runs`"
        }
        BenchError::ForeignMeasurement { .. } | BenchError::OtherSetup(_) => {
            "measure into another folder (`-o`), or remove that file"
        }
        BenchError::OtherArguments { .. } => {
            "name another folder with `-o`, or give the arguments it was begun with"
        }
        BenchError::NotImportable { .. } => {
            "a file of llvm-autofix or llvm-apr-benchmark is expected; \
             docs/case-format.md says what is read of it"
        }
        BenchError::UnknownMethod { .. } | BenchError::NotRanked(_) | BenchError::Unreadable(_) => {
            return None;
        }
    };
    Some(said.to_owned())
}

pub(super) fn exit(error: &BenchError) -> Exit {
    match error {
        BenchError::Case(error) => case::exit(error),
        BenchError::Triage(error) => triage::exit(error),
        BenchError::Hunt(error) => hunt::exit(error),
        BenchError::Project(error) => project::exit(error),
        BenchError::NoCases(_)
        | BenchError::SameName(_)
        | BenchError::NoTruth
        | BenchError::NotRanked(_)
        | BenchError::OtherBudget { .. }
        | BenchError::ForeignMeasurement { .. }
        | BenchError::OtherSetup(_)
        | BenchError::OtherArguments { .. }
        | BenchError::NotImportable { .. }
        | BenchError::UnknownMethod { .. }
        | BenchError::Unreadable(_) => Exit::Usage,
    }
}
