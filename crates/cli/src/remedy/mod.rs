//! Errors for people: the way out, and the exit code. A file for each crate whose
//! errors they are.

mod bench;
mod case;
mod compiler;
mod hunt;
mod model;
mod mutate;
mod project;
mod triage;

use crate::exit::Exit;
use crate::failing_command::CommandError;
use crate::failure::Failure;

/// What to do about it, where that is known.
pub(crate) fn remedy(failure: &Failure) -> Option<String> {
    match failure {
        Failure::Case(error) => case::remedy(error),
        Failure::Triage(error) => triage::remedy(error),
        Failure::Hunt(error) => hunt::remedy(error),
        Failure::Bench(error) => bench::remedy(error),
        Failure::Project(error) => project::remedy(error),
        Failure::NoCheck => Some("give one: --check 'make check'".to_owned()),
        Failure::Command(error) => Some(command_remedy(error).to_owned()),
    }
}

fn command_remedy(error: &CommandError) -> &'static str {
    match error {
        CommandError::UnknownTool(_) => {
            "give the program itself: `optsleuth triage repro.c --llvm 19 --level O2`, or IR that \
             another front end wrote"
        }
        CommandError::NoProgram | CommandError::NoValue(_) => {
            "give the whole command behind `--`, as in `-- clang-19 -O2 -c repro.c`"
        }
        CommandError::SeveralPrograms(..) => "give the command that compiles the one that fails",
        CommandError::NoScript(..) => "unpack it, and give the .sh file that clang wrote",
        CommandError::Refused(..) => "leave it out if the failure stays without it",
        CommandError::ExecutionOfCase => "docs/case-format.md describes `[execution]`",
        CommandError::NoReproducer(_) => {
            "take the .sh file that clang names when it crashes, with the source beside it"
        }
    }
}

/// The code to end with.
pub(crate) fn exit(failure: &Failure) -> Exit {
    match failure {
        Failure::Case(error) => case::exit(error),
        Failure::Triage(error) => triage::exit(error),
        Failure::Hunt(error) => hunt::exit(error),
        Failure::Bench(error) => bench::exit(error),
        Failure::Project(error) => project::exit(error),
        Failure::Command(_) | Failure::NoCheck => Exit::Usage,
    }
}
