//! Remedies and exit codes for what keeps a failure from being reduced, bisected
//! or localized.

use optsleuth_model::CheckStatus;
use optsleuth_triage::TriageError;

use super::compiler::install;
use super::{case, mutate};
use crate::exit::Exit;

pub(super) fn remedy(error: &TriageError) -> Option<String> {
    let said = match error {
        TriageError::Case(error) => return case::remedy(error),
        TriageError::NoCsmith => {
            return Some(format!(
                "{}\n      or name a folder with `--programs`",
                install("csmith")
            ));
        }
        TriageError::Mutate(error) | TriageError::NotC { source: error, .. } => {
            return mutate::remedy(error);
        }
        TriageError::NoFailure { status: CheckStatus::Unstable, .. } => {
            "a compiler may do anything with a program whose behaviour is not defined; \
             docs/definedness.md says who is asked and what each of them sees"
        }
        TriageError::NoFailure { .. } => {
            "is it the right LLVM, are `--passes`, `--level` and `--option` right?"
        }
        TriageError::NoWitness { runs, discarded, .. } if discarded * 2 > *runs => {
            "most sequences fail in another way or take too long: give them more time \
             (`--candidate-timeout 10`), or try `--method locseq-wc`"
        }
        TriageError::NoWitness { .. } => {
            "give it more time (`--budget 60s`) or another seed (`--seed`), reduce the case first, or \
             take another method: `locseq-wc` has no constraint, `culprit` needs no witness"
        }
        TriageError::NoCoveredGcc { .. } => "that takes a quarter of an hour on two cores, once",
        TriageError::OnlyOpt { .. } => {
            "the crash depends on where things lie in memory; `valgrind opt`, or an LLVM that was \
             built with `-DLLVM_USE_SANITIZER=Address` (`--llvm-config`), may show it every time"
        }
        TriageError::NoReducer(_) => {
            "`--tool built-in` needs nothing else; `--tool auto` uses what is there"
        }
        TriageError::Troubled(_) => "start it again when the machine is quiet",
        TriageError::NoPrograms(_) => {
            "name a folder of other C or IR programs with `--programs`, or let csmith write them"
        }
        TriageError::NoCPrograms(_) => "name a folder of .c files with `--pool`",
        TriageError::NotInC(_) => {
            "name a .c file; for a case in LLVM IR, `--method culprit` and `--method locseq` do"
        }
        TriageError::NoPlace { .. } => "`--list --rule NAME` shows the places, `--list` all rules",
        TriageError::NoNumberedPlaces(_) => {
            "leave `--place` and `--list` out, or give another `--seed`"
        }
        TriageError::NothingToInsert(_) => "give other programs with `--pool`, or another `--seed`",
        TriageError::NothingToMutate => "`--list` shows what there is",
        // The error says so itself.
        TriageError::Search(_)
        | TriageError::ZoomOfFault
        | TriageError::NothingToZoom(_)
        | TriageError::NotZoomed(_)
        | TriageError::OtherCompilersMethod { .. } => return None,
    };
    Some(said.to_owned())
}

pub(super) fn exit(error: &TriageError) -> Exit {
    match error {
        TriageError::Case(error) => case::exit(error),
        TriageError::NoFailure { status, .. } => case::status_exit(*status),
        TriageError::OnlyOpt { .. } => case::status_exit(CheckStatus::Passes),
        TriageError::NoWitness { interrupted: true, .. } => Exit::Interrupted,
        TriageError::NoWitness { interrupted: false, .. } => Exit::NoWitness,
        TriageError::Mutate(error) | TriageError::NotC { source: error, .. } => mutate::exit(error),
        TriageError::NoCsmith | TriageError::NoCoveredGcc { .. } => Exit::Missing,
        TriageError::Troubled(_) | TriageError::NotZoomed(_) => Exit::Internal,
        TriageError::Search(_)
        | TriageError::NoReducer(_)
        | TriageError::OtherCompilersMethod { .. }
        | TriageError::ZoomOfFault
        | TriageError::NothingToZoom(_)
        | TriageError::NoPrograms(_)
        | TriageError::NoCPrograms(_)
        | TriageError::NotInC(_)
        | TriageError::NoPlace { .. }
        | TriageError::NoNumberedPlaces(_)
        | TriageError::NothingToInsert(_)
        | TriageError::NothingToMutate => Exit::Usage,
    }
}
