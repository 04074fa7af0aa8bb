//! Remedies and exit codes for C programs that cannot be read.

use optsleuth_mutate::MutateError;

use super::compiler::install_libclang;
use crate::exit::Exit;

pub(super) fn remedy(error: &MutateError) -> Option<String> {
    match error {
        MutateError::Unloadable { .. }
        | MutateError::Incomplete { .. }
        | MutateError::TooOld { .. } => Some(install_libclang()),
        MutateError::NotC { .. }
        | MutateError::Macro { .. }
        | MutateError::Misplaced
        | MutateError::GaveUp => {
            Some("give what it is compiled with behind `--`, as in `-- -std=gnu89`".to_owned())
        }
        // They say so themselves.
        MutateError::NoThread(_)
        | MutateError::IncompleteProfile
        | MutateError::NoSuchRule(_)
        | MutateError::NoSuchStrategy(_) => None,
    }
}

pub(super) fn exit(error: &MutateError) -> Exit {
    match error {
        MutateError::Unloadable { .. }
        | MutateError::Incomplete { .. }
        | MutateError::TooOld { .. } => Exit::Missing,
        MutateError::NotC { .. }
        | MutateError::Macro { .. }
        | MutateError::Misplaced
        | MutateError::GaveUp
        | MutateError::IncompleteProfile
        | MutateError::NoSuchRule(_)
        | MutateError::NoSuchStrategy(_) => Exit::Usage,
        MutateError::NoThread(_) => Exit::Internal,
    }
}
