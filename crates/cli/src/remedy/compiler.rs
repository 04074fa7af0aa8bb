//! Remedies for what is wrong with compilers, their parts and their input.

use optsleuth_compiler::clang::ProgramError;
use optsleuth_compiler::doctor::{install_command, llvm_packages};
use optsleuth_compiler::driver::DriverError;
use optsleuth_compiler::llvm::{InstallError, NEWEST, OLDEST, ProvisionError, RunError};
use optsleuth_model::PassesError;

pub(super) fn install(error: &InstallError) -> Option<String> {
    match error {
        InstallError::Missing(major) => Some(format!(
            "install it with: {}\n      or name another one; `optsleuth doctor` lists what is here",
            install_command(&llvm_packages(*major))
        )),
        InstallError::None => {
            Some(format!("install one with: {}", install_command(&llvm_packages(19))))
        }
        InstallError::Unsupported(_) => Some(format!("choose one from {OLDEST} to {NEWEST}")),
        InstallError::Odd { .. } | InstallError::Tool(_) => {
            Some("`--llvm-config` takes the path of an `llvm-config` program".into())
        }
    }
}

pub(super) fn driver(error: &DriverError) -> Option<String> {
    match error {
        DriverError::Missing { package, .. } => Some(format!(
            "install it with: {}\n      or name another one; `optsleuth doctor` lists what is here",
            install_command(std::slice::from_ref(package))
        )),
        // They say so themselves.
        DriverError::NoName(_) | DriverError::NoProgram(_) | DriverError::Disguised { .. } => None,
        DriverError::NoCompiler { .. } | DriverError::Tool(_) => {
            Some("name a gcc or a clang; `optsleuth doctor` lists those that are here".into())
        }
    }
}

pub(super) fn provision(error: &ProvisionError) -> Option<String> {
    match error {
        ProvisionError::NoArchives { major, .. } => Some(format!(
            "install them with: {}\n      in a build tree of your own, build with BUILD_SHARED_LIBS=OFF",
            install_command(&llvm_packages(*major))
        )),
        ProvisionError::NoCompiler(major) => {
            Some(format!("install one with: {}", install_command(&[format!("clang-{major}")])))
        }
        ProvisionError::NoCache => Some("set XDG_CACHE_HOME to a directory".into()),
        ProvisionError::Build { major, .. } => Some(format!(
            "`optsleuth doctor` says what is missing; often it is: {}",
            install_command(&llvm_packages(*major))
        )),
        ProvisionError::Cache { .. } => {
            Some("set XDG_CACHE_HOME to a directory that can be written".into())
        }
        ProvisionError::Faulty { .. } => Some(
            "a fault fits only the build of LLVM it was planted in: install that one, or plant anew \
             with `optsleuth bench plant`"
                .into(),
        ),
        ProvisionError::Unusable { .. }
        | ProvisionError::Cover { .. }
        | ProvisionError::Tool(_) => None,
    }
}

pub(super) fn program(error: &ProgramError) -> Option<String> {
    match error {
        ProgramError::NoClang(major) => {
            Some(format!("install it with: {}", install_command(&[format!("clang-{major}")])))
        }
        ProgramError::DoesNotCompile { .. } => {
            Some("pass what it needs with `-I DIR`, `-D NAME=VALUE` or `--cflag=-std=gnu89`".into())
        }
        ProgramError::UnknownLanguage(_) => Some("rename it to end in .c, .ll or .bc".into()),
        ProgramError::Unreadable { .. } | ProgramError::NoRoom(_) => None,
    }
}

pub(super) fn passes(error: &PassesError) -> Option<String> {
    match error {
        PassesError::Unknown { similar, .. } if similar.is_empty() => {
            Some("`optsleuth passes` lists all of them".into())
        }
        PassesError::Unknown { similar, .. } => {
            let names: Vec<String> = similar.iter().map(|name| format!("`{name}`")).collect();
            Some(format!("did you mean {}?", names.join(" or ")))
        }
        PassesError::Misplaced { instead, .. } => Some(format!("write `{instead}`")),
        PassesError::EmptyAdaptor(name) => Some(format!("as in `{name}(sroa)`")),
        PassesError::Gone { .. } | PassesError::NotAnAdaptor(_) => None,
    }
}

pub(super) fn run(error: &RunError) -> Option<String> {
    match error {
        RunError::ForeignTarget { .. } => {
            Some("build a worker with all code generators: `--targets all`".into())
        }
        RunError::Lost { .. } => {
            Some("something kills the workers: is the machine out of memory?".into())
        }
        RunError::DoesNotLink(_) => Some(
            "only programs that need nothing but libc, libm and libpthread can be executed".into(),
        ),
        RunError::NoSandbox => Some("leave out `--execute` on this machine".into()),
        RunError::BadModule { .. } | RunError::NoShape(_) => {
            Some("LLVM refuses it before any pass runs: the program itself is not valid IR".into())
        }
        RunError::NoClang(_) => Some("see what `optsleuth doctor` says of clang".into()),
        RunError::BadOptions(_)
        | RunError::DoesNotCompile(_)
        | RunError::BadPipeline(_)
        | RunError::BadEdit(_)
        | RunError::NotInstrumented
        | RunError::TooLarge { .. }
        | RunError::Protocol(_)
        | RunError::Trouble(_)
        | RunError::Registry(_)
        | RunError::Io { .. } => None,
    }
}
