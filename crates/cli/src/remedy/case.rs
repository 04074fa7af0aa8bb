//! Remedies and exit codes for what is wrong with a case.

use optsleuth_case::CaseError;
use optsleuth_model::CheckStatus;

use super::{compiler, model};
use crate::exit::Exit;

pub(super) fn remedy(error: &CaseError) -> Option<String> {
    let said = match error {
        CaseError::Compiler(error) => return compiler::remedy(error),
        CaseError::Passes(error) => return model::remedy(error),
        CaseError::NotLocalized(folder) => {
            let case = folder.display();
            return Some(format!(
                "run `optsleuth localize {case}` or `optsleuth bisect {case}` first"
            ));
        }
        CaseError::Stale { kind, .. } => {
            return Some(format!("remove it, and run `{}` again", kind.command()));
        }
        CaseError::Syntax { .. } => {
            "a sequence looks like `sroa,instcombine` or `function(sroa,loop(indvars))`"
        }
        CaseError::NoCase(_) => "name a folder with a case.toml; docs/case-format.md describes it",
        CaseError::CaseText { .. } => "docs/case-format.md describes case.toml",
        CaseError::NoInput(_) => "`input` in case.toml names a file in the case's folder",
        CaseError::Untrusted { .. } => {
            "`--trust` follows it all the same; say so only if you trust whoever wrote it"
        }
        CaseError::LeadsOut { .. } => {
            "remove it: cases and campaigns are folders with files, and nothing else"
        }
        CaseError::DriverCase(_) => {
            "`case check` and `reduce` work on it, of gcc `bisect`, `localize` and `triage` as \
             well. A failure of clang may show in LLVM alone, too: \
             `compiler = { llvm = \"19\" }` with the same `level`"
        }
        CaseError::Exists(_) => "`--force` replaces it, `-o` names another folder",
        CaseError::NotACase(_) => "`-o` names another folder",
        CaseError::NotReproduced { status, .. } => not_reproduced(*status),
        CaseError::NotInterpreted(_) => {
            "`optsleuth run` with the same program and passes says more"
        }
        CaseError::NoReference { ends: false, .. } => {
            "what a program should do that does not end cannot be told, so no compiler is to blame; \
             `--timeout` gives it more time"
        }
        CaseError::NoReference { .. } => {
            "wrong code needs a program with `main` that runs without optimization; \
             `--timeout` and `--memory` set its limits"
        }
        CaseError::Unexpected(_) => {
            "what is expected has to hold for the program at -O0; the check gets the program's \
             path, and its directory holds a copy of `--files` and nothing else"
        }
        CaseError::NoSuchInvocation { .. } => "`optsleuth run ... --invocations` lists them",
        CaseError::NoLines => {
            "build LLVM with -g and name it with `--llvm-config`; files and functions need none"
        }
        CaseError::OtherLlvm { .. } => {
            "leave `--llvm` out: a fault is a change to the code of one build of LLVM"
        }
        CaseError::Unreadable(_) | CaseError::Io(_) => return None,
    };
    Some(said.to_owned())
}

fn not_reproduced(status: CheckStatus) -> &'static str {
    match status {
        CheckStatus::Flaky => {
            "a case has to fail the same way every time; `optsleuth case check` shows how it varies"
        }
        CheckStatus::Unstable => {
            "a compiler may do anything with a program whose behaviour is not defined; \
             docs/definedness.md says who is asked and what each of them sees"
        }
        CheckStatus::FailsUnmodified => {
            "a case with a fault has to pass without it; remove `fault` to make it a case of LLVM itself"
        }
        CheckStatus::Reproduces | CheckStatus::Passes | CheckStatus::FailsOtherwise => {
            "`optsleuth case check` says more; is it the right LLVM, are `flags` and `kind` right?"
        }
    }
}

pub(super) fn exit(error: &CaseError) -> Exit {
    match error {
        CaseError::Compiler(error) => compiler::exit(error),
        CaseError::NotReproduced { status, .. } => status_exit(*status),
        CaseError::NoReference { ends: false, .. } => Exit::Unstable,
        CaseError::Syntax { .. }
        | CaseError::Passes(_)
        | CaseError::NoCase(_)
        | CaseError::CaseText { .. }
        | CaseError::NoInput(_)
        | CaseError::Untrusted { .. }
        | CaseError::LeadsOut { .. }
        | CaseError::Stale { .. }
        | CaseError::NotLocalized(_)
        | CaseError::DriverCase(_)
        | CaseError::Exists(_)
        | CaseError::NotACase(_)
        | CaseError::OtherLlvm { .. }
        | CaseError::NoReference { .. }
        | CaseError::NotInterpreted(_)
        | CaseError::Unexpected(_)
        | CaseError::NoSuchInvocation { .. }
        | CaseError::NoLines
        | CaseError::Unreadable(_) => Exit::Usage,
        CaseError::Io(_) => Exit::Internal,
    }
}

/// The code for an input that does not fail as it should.
pub(super) fn status_exit(status: CheckStatus) -> Exit {
    match status {
        CheckStatus::Flaky | CheckStatus::Unstable => Exit::Unstable,
        CheckStatus::Reproduces
        | CheckStatus::Passes
        | CheckStatus::FailsOtherwise
        | CheckStatus::FailsUnmodified => Exit::NotReproduced,
    }
}
