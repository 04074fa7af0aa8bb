//! Why a compiler, a tool or a worker cannot be used, or a run has no outcome.
//!
//! Trouble of the harness, of the machine, or of what was asked for. What to do
//! about it is said by the command line.
//!
//! **Invariant:** what a compiler under test does wrong is never in here; that is
//! an [`optsleuth_model::Outcome`].

use std::fmt;
use std::io;
use std::path::PathBuf;

use optsleuth_model::{FaultObject, ModelError};
use optsleuth_objcov::ObjcovError;

use crate::versions::{NEWEST, OLDEST};

/// Why a compiler, a tool or a worker cannot be used, or a run has no outcome.
#[derive(Debug, thiserror::Error)]
pub enum CompilerError {
    /// A tool could not be started at all.
    #[error("cannot start `{}`", .program.display())]
    ToolStart {
        /// As it was given to [`crate::spawn::Tool::new`].
        program: PathBuf,
        /// From the kernel, or from making files for its output.
        source: io::Error,
    },
    /// A tool ran, but failed.
    #[error("`{command}` {how}{}", indent(.stderr))]
    ToolFailed {
        /// The whole command line.
        command: String,
        /// `exited with status 1`, and so on.
        how: String,
        /// What it wrote to standard error, shortened.
        stderr: String,
    },
    /// A file cannot be read or written; the error names it.
    #[error(transparent)]
    File(#[from] io::Error),
    /// What a program is to be executed with is missing.
    #[error("`{}`, the program's `{key}`, does not exist", .path.display())]
    NoFileOfExecution {
        /// The key in `case.toml`.
        key: &'static str,
        path: PathBuf,
    },
    /// A script that is to judge programs.
    #[error("the check `{}` cannot be executed", .0.display())]
    CheckNotExecutable(PathBuf),

    /// No LLVM is installed under this number.
    #[error("LLVM {0} is not installed")]
    NoLlvm(u32),
    /// An LLVM of a version the worker does not speak.
    #[error("LLVM {0} is not supported: the worker speaks {OLDEST} to {NEWEST}")]
    UnsupportedLlvm(u32),
    /// No LLVM at all.
    #[error("no LLVM from {OLDEST} to {NEWEST} is installed")]
    NoLlvmAtAll,
    /// No source of a gcc.
    #[error("the source of gcc {version} is not here")]
    NoGccSource {
        /// `12.2.0`.
        version: String,
    },
    /// A folder that is no build tree of gcc.
    #[error("`{}` is no tree in which gcc was built", .0.display())]
    NotAGccBuild(PathBuf),
    /// A tool that is not there, or is no part of an LLVM.
    #[error("no LLVM is known to have `{}`", .0.display())]
    NoLlvmOfTool(PathBuf),
    /// `llvm-config` does not say what it should.
    #[error("`{}` does not answer as an llvm-config should: {what}", .path.display())]
    NotLlvmConfig { path: PathBuf, what: String },
    /// No LLVM that is new enough has a libclang.
    #[error("no libclang from {oldest} on is installed")]
    NoLibclang {
        /// The oldest that would do.
        oldest: u32,
    },
    /// A tool of the distribution is not installed.
    #[error("LLVM {major} has no `{tool}`")]
    NoTool {
        /// Major version of the LLVM that was asked.
        major: u32,
        /// The name of its program.
        tool: &'static str,
    },
    /// There is no clang to compile C with.
    #[error("LLVM {0} has no clang to compile C with")]
    NoClang(u32),

    /// A word that names no compiler.
    #[error(
        "`{0}` names no compiler; give one as `gcc-12`, `clang-19`, `gcc`, `clang`, or by its path"
    )]
    NotACompilerName(String),
    /// No compiler of this name is installed.
    #[error("there is no {name} here; {}", instead(.installed))]
    NoDriver {
        /// As the user wrote it: `gcc-12`.
        name: String,
        /// The package that has it.
        package: String,
        /// The compilers that can be named instead.
        installed: Vec<String>,
    },
    /// A path that leads to no program.
    #[error("`{}` is no program; name a compiler's executable file", .0.display())]
    NotExecutable(PathBuf),
    /// A program of another kind.
    #[error("`{}` is neither gcc nor clang: {said}", .path.display())]
    NotACompiler {
        /// The file that was started.
        path: PathBuf,
        /// What it says of itself.
        said: String,
    },
    /// A compiler under another one's name.
    #[error("`{}` is {found}, and not {asked}; name it as what it is", .path.display())]
    Disguised {
        /// The file that was started.
        path: PathBuf,
        /// As the user wrote it: `gcc-12`.
        asked: String,
        /// Family and version that it states itself.
        found: String,
    },

    /// gcc's plug-in cannot be compiled.
    #[error("{compiler} cannot be looked into without {package}")]
    NoPluginPart {
        /// Family and version.
        compiler: String,
        /// The package that is missing.
        package: String,
    },
    /// gcc's plug-in does not say what it should.
    #[error("the plug-in for gcc wrote {0}")]
    Plugin(String),

    /// The headers or archives are not installed.
    #[error("LLVM {major} has no static archives in {}", .lib.display())]
    NoArchives {
        /// Major version of that LLVM.
        major: u32,
        /// Where they were looked for.
        lib: PathBuf,
    },
    /// Neither this LLVM's clang++ nor another C++ compiler was found.
    #[error("no C++ compiler found to build the worker for LLVM {0}")]
    NoCxxCompiler(u32),
    /// Neither `XDG_CACHE_HOME` nor `HOME` is set.
    #[error("no cache directory: neither XDG_CACHE_HOME nor HOME is set")]
    NoCache,
    /// A worker's files cannot be read or written.
    #[error("cannot use the cache of workers")]
    Cache(#[source] io::Error),
    /// The worker does not compile or link.
    #[error("cannot {doing} the worker for LLVM {major}")]
    Build {
        /// `compile` or `link`.
        doing: &'static str,
        /// Major version of that LLVM.
        major: u32,
        /// The command, and what it complained about.
        source: Box<CompilerError>,
    },
    /// The archives cannot be instrumented.
    #[error("cannot put probes into LLVM {major}")]
    Cover {
        /// Major version of that LLVM.
        major: u32,
        /// What went wrong with which file.
        source: Box<CompilerError>,
    },
    /// The linked worker does not have what its probes need.
    #[error("the linked worker has no `{0}`")]
    NoMarks(&'static str),
    /// An archive makes no sense.
    #[error("cannot {doing} `{}`", .path.display())]
    Archive {
        /// `read` or `instrument`.
        doing: &'static str,
        /// LLVM's own, not a copy with probes or a fault.
        path: PathBuf,
        /// What is wrong with its format.
        source: ObjcovError,
    },
    /// A fault cannot be made.
    #[error("the fault does not fit this LLVM {version}")]
    FaultDoesNotFit {
        /// The whole version, because a fault fits one build.
        version: String,
        /// What of it is missing or different.
        source: Box<CompilerError>,
    },
    /// This LLVM has no such archive, member or function.
    #[error("there is no {0}")]
    NoSuchCode(String),
    /// It has, but not this code.
    #[error("the function {symbol} of {object} has other code than the fault was made for")]
    OtherBuild {
        /// Its mangled name.
        symbol: String,
        /// Archive and member that hold it.
        object: FaultObject,
    },
    /// A folder that is no source of LLVM.
    #[error("`{}` has no `llvm/lib/Transforms`, so it is no source of LLVM", .0.display())]
    NotLlvmSource(PathBuf),
    /// It is the source of another one.
    #[error("`{}` is the source of LLVM {version}, and not of {asked}", .folder.display())]
    OtherSource { folder: PathBuf, version: String, asked: String },
    /// An LLVM that no package brought has no source package.
    #[error("`{}` does not come from a package, so its source is not known", .0.display())]
    NotPackaged(PathBuf),
    /// The source package is not here, and nothing may be fetched.
    #[error("the source of {0} was not fetched yet")]
    SourceNotKept(String),
    /// The source package cannot be fetched or unpacked.
    #[error("the source of {package} cannot be had: {why}")]
    NoSource {
        /// Name and version.
        package: String,
        /// What apt or tar says.
        why: String,
    },
    /// The worker was built but does not work.
    #[error("the new worker for LLVM {major} does not work")]
    UnusableWorker {
        /// Major version of that LLVM.
        major: u32,
        /// What it answered instead of its pass registry.
        source: Box<CompilerError>,
    },

    /// A program's file cannot be read.
    #[error("cannot read `{}`", .path.display())]
    UnreadableProgram { path: PathBuf, source: io::Error },
    /// Its name ends neither in `.c` nor in `.ll` nor in `.bc`.
    #[error("`{}` is neither C (.c, .i) nor LLVM IR (.ll, .bc)", .0.display())]
    UnknownLanguage(PathBuf),
    /// clang's command refuses a program.
    #[error("`{}` does not compile", .path.display())]
    DoesNotCompile {
        path: PathBuf,
        /// What clang says.
        source: Box<CompilerError>,
    },
    /// The front end refuses a program.
    #[error("the program does not compile: {0}")]
    FrontEndRefuses(String),
    /// clang refuses the flags.
    #[error("clang does not take these C flags; correct them")]
    BadCFlags(#[source] Box<CompilerError>),
    /// C flags that ask for more than one module.
    #[error("the C flags `{0}` do more than compile; leave out what writes other files")]
    NotOneJob(String),
    /// clang was there, and could not be started on a C program.
    #[error("cannot compile C; is clang still installed?")]
    ClangGone(#[source] Box<CompilerError>),

    /// LLVM does not take these options.
    #[error("LLVM does not accept these options: {0}")]
    BadOptions(String),
    /// An LLVM option that would reach outside of LLVM.
    #[error("the LLVM option `{option}` {why}, so it is refused")]
    RefusedOption {
        /// As it was given.
        option: String,
        /// What it does, without a subject.
        why: &'static str,
    },
    /// The module cannot be read, or is not valid.
    #[error("cannot load `{name}`: {message}")]
    BadModule {
        /// The module's name.
        name: String,
        /// What LLVM says.
        message: String,
    },
    /// The module is for a target whose code generator the worker lacks.
    #[error("cannot load `{name}`: {message}")]
    ForeignTarget {
        /// The module's name.
        name: String,
        /// What the worker says.
        message: String,
    },
    /// LLVM does not take this pipeline.
    #[error("LLVM does not accept this pipeline: {0}")]
    BadPipeline(String),
    /// There is no such function to interpret, or it takes other arguments.
    #[error("cannot interpret the program: {0}")]
    CannotCall(String),
    /// The edit changes nothing, or makes no valid program.
    #[error("the program cannot be edited like this: {0}")]
    BadEdit(String),
    /// The program cannot be linked, whatever passes run.
    #[error("the program does not link, even unoptimized")]
    DoesNotLink(#[source] Box<CompilerError>),
    /// LLVM fails on the program before any pass runs.
    #[error("the program has no shape: reading it ends in `{0}`")]
    NoShape(&'static str),
    /// The module or the request is too large for the shared memory.
    #[error("{bytes} bytes are too many for a worker: at most {most} fit")]
    TooLarge { bytes: usize, most: u64 },
    /// Programs cannot be fenced in on this kernel.
    #[error("this kernel has no seccomp filters, so neither LLVM nor programs can be fenced in")]
    NoSandbox,
    /// Coverage was asked of a plain worker.
    #[error("this worker was not built for coverage")]
    NotInstrumented,
    /// The worker was lost and replaced, again and again.
    #[error("the worker was lost {attempts} times in a row on the same run ({how})")]
    Lost {
        /// How often it was tried.
        attempts: u32,
        /// How it was lost the last time.
        how: &'static str,
    },
    /// The worker speaks another protocol.
    #[error("the worker does not answer as it should: {0}")]
    Protocol(String),
    /// Something failed inside the worker's own code.
    #[error("the worker failed: {0}")]
    Trouble(String),
    /// LLVM's list of passes cannot be read.
    #[error(transparent)]
    Registry(#[from] ModelError),
    /// What a worker needs of the system could not be had.
    #[error("cannot {doing}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// Why it failed.
        source: io::Error,
    },
}

impl CompilerError {
    /// Whether a run has no outcome because the program is none that this LLVM
    /// can compile and link. Says nothing about the compiler or the harness.
    pub fn is_programs_fault(&self) -> bool {
        matches!(
            self,
            CompilerError::DoesNotCompile { .. }
                | CompilerError::FrontEndRefuses(_)
                | CompilerError::DoesNotLink(_)
                | CompilerError::BadModule { .. }
                | CompilerError::ForeignTarget { .. }
                | CompilerError::TooLarge { .. }
        )
    }
}

fn instead(installed: &[String]) -> String {
    match installed {
        [] => "no gcc and no clang is installed".to_owned(),
        some => format!("installed are {}", some.join(", ")),
    }
}

fn indent(text: &str) -> impl fmt::Display + use<> {
    if text.is_empty() {
        return String::new();
    }
    text.lines().fold(String::from(":"), |all, line| all + "\n    " + line)
}
