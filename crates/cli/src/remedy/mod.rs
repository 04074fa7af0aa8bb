//! Errors for people: the way out, and the exit code. A file for each crate whose
//! errors they are.

mod bench;
mod case;
mod compiler;
mod hunt;
mod model;
mod mutate;
mod triage;

use crate::exit::Exit;
use crate::failure::Failure;

/// What to do about it, where that is known.
pub(crate) fn remedy(failure: &Failure) -> Option<String> {
    match failure {
        Failure::Case(error) => case::remedy(error),
        Failure::Triage(error) => triage::remedy(error),
        Failure::Hunt(error) => hunt::remedy(error),
        Failure::Bench(error) => bench::remedy(error),
    }
}

/// The code to end with.
pub(crate) fn exit(failure: &Failure) -> Exit {
    match failure {
        Failure::Case(error) => case::exit(error),
        Failure::Triage(error) => triage::exit(error),
        Failure::Hunt(error) => hunt::exit(error),
        Failure::Bench(error) => bench::exit(error),
    }
}
