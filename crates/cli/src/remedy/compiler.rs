//! Remedies and exit codes for what is wrong with compilers, their parts and
//! their input.

use optsleuth_compiler::CompilerError;
use optsleuth_compiler::doctor::how_to_get;
use optsleuth_compiler::llvm::{NEWEST, OLDEST};
use optsleuth_compiler::packages::{install_command, suggested_llvm};

use super::model;
use crate::exit::Exit;

pub(super) fn remedy(error: &CompilerError) -> Option<String> {
    let or_another = |how: &str| {
        format!("{how}\n      another one may do: `optsleuth doctor` lists what is here")
    };
    let said = match error {
        CompilerError::NoLlvm(major) => or_another(&how_to_get(*major)),
        CompilerError::NoDriver { package, .. } => or_another(&install(package)),
        CompilerError::NoPluginPart { package, .. } => install(package),
        CompilerError::NoClang(major) | CompilerError::NoCxxCompiler(major) => {
            install(&format!("clang-{major}"))
        }
        CompilerError::NoTool { major, .. } => install(&format!("llvm-{major}")),
        CompilerError::NoLibclang { .. } => install_libclang(),
        CompilerError::NoLlvmAtAll => how_to_get(suggested_llvm()),
        CompilerError::NoGccSource { version } => {
            let major = version.split('.').next().unwrap_or(version);
            format!(
                "`apt-get install -y gcc-{major}-source libgmp-dev libmpfr-dev libmpc-dev \
                 libisl-dev zlib1g-dev`, or give a build tree with `--gcc-build DIR`"
            )
        }
        CompilerError::NotAGccBuild(_) => {
            "give the folder in which `make all-gcc` ended well".to_owned()
        }
        CompilerError::NoLlvmOfTool(_) => {
            "say which one it is: `--llvm 19`, or `--llvm-config PATH` for one of your own".to_owned()
        }
        CompilerError::UnsupportedLlvm(_) => format!("choose one from {OLDEST} to {NEWEST}"),
        CompilerError::NotLlvmConfig { .. } => {
            "`--llvm-config` takes the path of an `llvm-config` program".to_owned()
        }
        CompilerError::NotACompiler { .. } => {
            "name a gcc or a clang; `optsleuth doctor` lists those that are here".to_owned()
        }
        CompilerError::NoArchives { major, .. } => format!(
            "{}\n      in a build tree of your own, build with BUILD_SHARED_LIBS=OFF",
            how_to_get(*major)
        ),
        CompilerError::NoCache => "set XDG_CACHE_HOME to a directory".to_owned(),
        CompilerError::Cache(_) => {
            "set XDG_CACHE_HOME to a directory that can be written".to_owned()
        }
        CompilerError::Build { major, .. } => format!(
            "`optsleuth doctor` says what is missing; if it is LLVM, {}",
            how_to_get(*major)
        ),
        CompilerError::FaultDoesNotFit { .. } => {
            "a fault fits only the build of LLVM it was planted in: install that one, or plant anew \
             with `optsleuth bench plant`"
                .to_owned()
        }
        CompilerError::NotLlvmSource(_) => {
            "give a checkout of llvm-project, or its folder llvm".to_owned()
        }
        CompilerError::OtherSource { asked, .. } => {
            format!("check out the tag llvmorg-{asked}")
        }
        CompilerError::NotPackaged(_) | CompilerError::NoSource { .. } => {
            "give the source with `--source DIR`, or do without: `--zoom off`".to_owned()
        }
        CompilerError::SourceNotKept(_) => "leave out `--offline` once".to_owned(),
        CompilerError::DoesNotCompile { .. } | CompilerError::FrontEndRefuses(_) => {
            "pass what it needs with `-I DIR`, `-D NAME=VALUE` or `--cflag=-std=gnu89`".to_owned()
        }
        CompilerError::UnknownLanguage(_) => "rename it to end in .c, .cpp, .ll or .bc".to_owned(),
        CompilerError::NoFileOfExecution { .. } => {
            "`--stdin`, `--files`, `--expect-output` and `--check`, or `[execution]` in case.toml, \
             name files that are there"
                .to_owned()
        }
        CompilerError::CheckNotExecutable(script) => format!("`chmod +x {}`", script.display()),
        CompilerError::ForeignTarget { .. } => {
            "build a worker with all code generators: `--targets all`".to_owned()
        }
        CompilerError::Lost { .. } => {
            "something kills the workers: is the machine out of memory?".to_owned()
        }
        CompilerError::RefusedOption { .. } => {
            "leave it out: passes read and write nothing outside of LLVM here".to_owned()
        }
        CompilerError::DoesNotLink(_) => {
            "only programs that need nothing but libc, libm and libpthread can be executed"
                .to_owned()
        }
        CompilerError::NoSandbox => "use a kernel with CONFIG_SECCOMP_FILTER".to_owned(),
        CompilerError::BadModule { .. } | CompilerError::NoShape(_) => {
            "LLVM refuses it before any pass runs: the program itself is not valid IR".to_owned()
        }
        CompilerError::CannotCall(_) => {
            "name a function that the program defines with `--function`, and give it one word for \
             each parameter with `--args`"
                .to_owned()
        }
        CompilerError::ClangGone(_) => "see what `optsleuth doctor` says of clang".to_owned(),
        CompilerError::Registry(error) => return model::remedy(error),
        // They say so themselves, or only their cause can be named.
        CompilerError::NotACompilerName(_)
        | CompilerError::NotExecutable(_)
        | CompilerError::Disguised { .. }
        | CompilerError::BadCFlags(_)
        | CompilerError::NotOneJob(_)
        | CompilerError::UnreadableProgram { .. }
        | CompilerError::BadOptions(_)
        | CompilerError::BadPipeline(_)
        | CompilerError::BadEdit(_)
        | CompilerError::TooLarge { .. }
        | CompilerError::ToolStart { .. }
        | CompilerError::ToolFailed { .. }
        | CompilerError::File(_)
        | CompilerError::Cover { .. }
        | CompilerError::NoMarks(_)
        | CompilerError::Archive { .. }
        | CompilerError::NoSuchCode(_)
        | CompilerError::OtherBuild { .. }
        | CompilerError::UnusableWorker { .. }
        | CompilerError::NotInstrumented
        | CompilerError::Plugin(_)
        | CompilerError::Protocol(_)
        | CompilerError::Trouble(_)
        | CompilerError::Io { .. } => return None,
    };
    Some(said)
}

/// How to get a package, or that this release has none of the name.
pub(super) fn install(package: &str) -> String {
    match install_command(&[package.to_owned()]) {
        Some(command) => format!("install it with: {command}"),
        None => format!("apt has no {package} here"),
    }
}

pub(super) fn install_libclang() -> String {
    install(&format!("libclang1-{}", suggested_llvm()))
}

pub(super) fn exit(error: &CompilerError) -> Exit {
    match error {
        CompilerError::NoLlvm(_)
        | CompilerError::NoLlvmAtAll
        | CompilerError::NoLlvmOfTool(_)
        | CompilerError::NoGccSource { .. }
        | CompilerError::NotAGccBuild(_)
        | CompilerError::NoDriver { .. }
        | CompilerError::NoLibclang { .. }
        | CompilerError::NoTool { .. }
        | CompilerError::NoClang(_)
        | CompilerError::NoArchives { .. }
        | CompilerError::NotPackaged(_)
        | CompilerError::SourceNotKept(_)
        | CompilerError::NoSource { .. }
        | CompilerError::NoPluginPart { .. }
        | CompilerError::NoCxxCompiler(_) => Exit::Missing,
        CompilerError::UnsupportedLlvm(_)
        | CompilerError::NotLlvmConfig { .. }
        | CompilerError::NotACompilerName(_)
        | CompilerError::NotExecutable(_)
        | CompilerError::NotACompiler { .. }
        | CompilerError::Disguised { .. }
        | CompilerError::NotLlvmSource(_)
        | CompilerError::OtherSource { .. }
        | CompilerError::FaultDoesNotFit { .. }
        | CompilerError::UnreadableProgram { .. }
        | CompilerError::UnknownLanguage(_)
        | CompilerError::NoFileOfExecution { .. }
        | CompilerError::CheckNotExecutable(_)
        | CompilerError::DoesNotCompile { .. }
        | CompilerError::FrontEndRefuses(_)
        | CompilerError::BadCFlags(_)
        | CompilerError::NotOneJob(_)
        | CompilerError::BadOptions(_)
        | CompilerError::RefusedOption { .. }
        | CompilerError::BadModule { .. }
        | CompilerError::ForeignTarget { .. }
        | CompilerError::BadPipeline(_)
        | CompilerError::DoesNotLink(_)
        | CompilerError::NoShape(_)
        | CompilerError::CannotCall(_)
        | CompilerError::TooLarge { .. } => Exit::Usage,
        CompilerError::ToolStart { .. }
        | CompilerError::ToolFailed { .. }
        | CompilerError::File(_)
        | CompilerError::NoCache
        | CompilerError::Cache(_)
        | CompilerError::Build { .. }
        | CompilerError::Cover { .. }
        | CompilerError::NoMarks(_)
        | CompilerError::Archive { .. }
        | CompilerError::NoSuchCode(_)
        | CompilerError::OtherBuild { .. }
        | CompilerError::UnusableWorker { .. }
        | CompilerError::ClangGone(_)
        | CompilerError::BadEdit(_)
        | CompilerError::NoSandbox
        | CompilerError::NotInstrumented
        | CompilerError::Lost { .. }
        | CompilerError::Plugin(_)
        | CompilerError::Protocol(_)
        | CompilerError::Trouble(_)
        | CompilerError::Registry(_)
        | CompilerError::Io { .. } => Exit::Internal,
    }
}
