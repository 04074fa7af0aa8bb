//! What to do about a project that could not be recorded or searched.

use optsleuth_project::ProjectError;

use super::{case, compiler};
use crate::exit::Exit;

pub(super) fn remedy(error: &ProjectError) -> Option<String> {
    let text = match error {
        ProjectError::Compiler(error) => return compiler::remedy(error),
        ProjectError::Case(error) => return case::remedy(error),
        ProjectError::Io(_) | ProjectError::Interrupted => return None,
        ProjectError::NoProject { .. } => "record one: `optsleuth build -o project/ -- make`",
        ProjectError::Unreadable { .. } => "record the build again, into another folder",
        ProjectError::Exists(_) => "name another folder with -o, or remove this one",
        ProjectError::NoCompiler(_) => "install it, or name another with --llvm",
        ProjectError::NothingRecorded => {
            "build a clean tree (`make clean`), and configure it within the build: \
             `optsleuth build -- sh -c './configure && make'`"
        }
        ProjectError::DoesNotLink(_) => {
            "see that the project links with every file compiled at -O0"
        }
        ProjectError::FailsUnoptimized(_) => {
            "no optimization is to blame; see that the check passes with -O0 first"
        }
        ProjectError::NothingFails => "see that the check fails in the folder of the build",
        ProjectError::Unstable(_) => "make the check do the same every time",
    };
    Some(text.to_owned())
}

pub(super) fn exit(error: &ProjectError) -> Exit {
    match error {
        ProjectError::Compiler(error) => compiler::exit(error),
        ProjectError::Case(error) => case::exit(error),
        ProjectError::Io(_) | ProjectError::DoesNotLink(_) => Exit::Internal,
        ProjectError::Interrupted => Exit::Interrupted,
        ProjectError::NoProject { .. }
        | ProjectError::Unreadable { .. }
        | ProjectError::Exists(_)
        | ProjectError::NothingRecorded => Exit::Usage,
        ProjectError::NoCompiler(_) => Exit::Missing,
        ProjectError::FailsUnoptimized(_) | ProjectError::NothingFails => Exit::NotReproduced,
        ProjectError::Unstable(_) => Exit::Unstable,
    }
}
