//! From what a user names to workers that are ready: LLVM, program, passes.

use std::num::NonZero;
use std::path::{Path, PathBuf};

use optsleuth_compiler::c_front_end::FrontEndError;
use optsleuth_compiler::clang::{self, ProgramError};
use optsleuth_compiler::distribution::DistributionError;
use optsleuth_compiler::driver::DriverError;
use optsleuth_compiler::libclang::LibclangError;
use optsleuth_compiler::llvm::{
    self, CoverError, FaultyBuilder, FaultyError, Flavor, Install, InstallError, Pool,
    ProvisionError, Provisioned, RunError, Step, Targets,
};
use optsleuth_compiler::spawn::ToolError;
use optsleuth_model::{
    Fault, Language, Limits, PassRegistry, PassSequence, PassSequenceError, PassesError, Program,
};

use optsleuth_mutate::{LoadError, ParseError};
use optsleuth_search::AlphabetError;

use crate::Progress;
use crate::case_folder::CaseFolderError;
use crate::check::CheckStatus;
use crate::hunt::CampaignError;
use crate::import::ImportError;
use crate::measure::StoreError;

/// Which LLVM to use.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LlvmChoice {
    /// The installed one of this number.
    Version(u32),
    /// The newest one installed.
    Newest,
    /// The one this `llvm-config` describes: a user's own build tree.
    Config(PathBuf),
}

impl LlvmChoice {
    /// Finds it.
    pub fn find(&self) -> Result<Install, InstallError> {
        match self {
            LlvmChoice::Version(major) => llvm::find(*major),
            LlvmChoice::Config(path) => llvm::from_llvm_config(path),
            LlvmChoice::Newest => llvm::discover()
                .into_iter()
                .rev()
                .find_map(|(_, found)| found.ok())
                .ok_or(InstallError::None),
        }
    }
}

/// Why a job could not be done. The compiler's failures are not among these.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// No such LLVM.
    #[error(transparent)]
    Install(#[from] InstallError),
    /// No such compiler.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// No worker.
    #[error(transparent)]
    Provision(#[from] ProvisionError),
    /// No such program.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// Not a pass sequence.
    #[error("`{text}` is not a pass sequence: {source}")]
    Syntax {
        /// What was given.
        text: String,
        /// What is wrong with it.
        source: PassSequenceError,
    },
    /// Not a pass sequence of this LLVM.
    #[error(transparent)]
    Passes(#[from] PassesError),
    /// Not a case.
    #[error(transparent)]
    Case(#[from] CaseFolderError),
    /// Not a file to import.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A fault that was made for another LLVM.
    #[error("the case's fault is one of LLVM {own}, and cannot be made in LLVM {asked}")]
    OtherLlvm {
        /// The case's.
        own: String,
        /// The one that was asked for.
        asked: String,
    },
    /// Nothing to read C with.
    #[error(transparent)]
    Libclang(#[from] LibclangError),
    /// A libclang that cannot be used.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A text that libclang does not take for C.
    #[error("`{}` cannot be read", .path.display())]
    NotC {
        /// The file.
        path: PathBuf,
        /// What libclang says.
        source: ParseError,
    },
    /// A place that a rule does not have.
    #[error("`{rule}` applies in {n_places} places of this program, and not there")]
    NoPlace {
        /// Its name.
        rule: String,
        /// How many places it has, numbered from 0 on.
        n_places: usize,
    },
    /// An operator that draws its place.
    #[error("`{0}` has no numbered places: it draws one")]
    NoNumberedPlaces(String),
    /// An operator without location or ingredient.
    #[error("`{0}` finds nothing that goes into this program")]
    NothingToInsert(String),
    /// A program that no rule applies to.
    #[error("no rule applies to this program, or at no such place")]
    NothingToMutate,
    /// No campaign, or none that can be used.
    #[error(transparent)]
    Campaign(#[from] CampaignError),
    /// No pass that a sequence could have.
    #[error("no pass is left for sequences to be made of")]
    NothingToDraw,
    /// A file that lists no pass.
    #[error("`{}` lists no pass", .0.display())]
    NoPasses(PathBuf),
    /// Faults cannot be looked for.
    #[error(transparent)]
    Faulty(#[from] FaultyError),
    /// A folder with the results of other arguments.
    #[error("`{}` holds what was made with other arguments: {why}", .folder.display())]
    OtherArguments {
        /// The folder.
        folder: PathBuf,
        /// What is different.
        why: String,
    },
    /// A case of a compiler that nobody broke.
    #[error("the case in `{}` has no fault", .0.display())]
    NoFault(PathBuf),
    /// A fault that cannot be read.
    #[error("the campaign's fault cannot be read: {0}")]
    BadFault(String),
    /// A fault that no compiler under test has.
    #[error("the fault is one of LLVM {0}, and llvm-{0} is not among the compilers")]
    FaultNotTested(u32),
    /// No programs to work with.
    #[error("there are no programs: {0}")]
    NoPrograms(String),
    /// Nobody to write programs.
    #[error("there is no csmith here to generate programs with")]
    NoCsmith,
    /// A folder without programs.
    #[error("there is no program in `{}`: nothing in it ends in .c, .ll or .bc", .0.display())]
    EmptyFolder(PathBuf),
    /// A case with more optimizations than a search can number.
    #[error(transparent)]
    Alphabet(#[from] AlphabetError),
    /// A case that does not fail as it says.
    #[error("the case does not fail as it says: {what}")]
    NotReproduced {
        /// What it does instead.
        status: CheckStatus,
        /// In words.
        what: String,
    },
    /// Somebody else's reducer that is not there.
    #[error("there is no {0} here")]
    NoReducer(&'static str),
    /// A program of which no case can be made.
    #[error("there is no failure to triage: {what}")]
    NoFailure {
        /// What there is instead.
        status: CheckStatus,
        /// In words.
        what: String,
    },
    /// Nothing to measure.
    #[error("there are no cases in {}", list(.0))]
    NoCases(Vec<PathBuf>),
    /// Two cases that a table could not tell apart.
    #[error("two cases are called `{0}`")]
    SameName(String),
    /// A case without a known culprit.
    #[error("the case does not say who the culprit is")]
    NoTruth,
    /// A search that does not count.
    #[error("{0} of its runs could not be made; the machine may be too busy")]
    Troubled(usize),
    /// Measurements cannot be kept or taken up.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The program cannot be executed unoptimized.
    #[error("the program cannot be executed without passes ({way}): {what}")]
    NoReference {
        /// How it was tried.
        way: &'static str,
        /// What happened.
        what: String,
    },
    /// A folder without C programs.
    #[error("there is no C program in `{}`", .0.display())]
    NoCPrograms(PathBuf),
    /// Only C can be mutated as C.
    #[error("`{}` is no C program, and only those can be mutated", .0.display())]
    NotInC(PathBuf),
    /// C cannot be compiled at all.
    #[error(transparent)]
    FrontEnd(#[from] FrontEndError),
    /// A search without result.
    #[error(
        "no witness: {runs} candidates were tried, {failing} fail as the case does and {discarded} fail otherwise"
    )]
    NoWitness {
        /// How many candidates were tried.
        runs: usize,
        /// How many of them failed as the case does.
        failing: usize,
        /// How many failed otherwise.
        discarded: usize,
        /// Whether somebody ended the search early.
        interrupted: bool,
    },
    /// A window that the run never came to.
    #[error(
        "invocation {first} was not executed: there were {n_invocations}, from 0 on, and skipped ones do not count"
    )]
    NoSuchInvocation {
        /// Where the window starts.
        first: u32,
        /// How many there were.
        n_invocations: u32,
    },
    /// Debug information cannot be read.
    #[error(transparent)]
    Lines(CoverError),
    /// There is no debug information.
    #[error("the archives of this LLVM carry no debug information, so blocks have no lines")]
    NoLines,
    /// The worker failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The distribution's tools cannot be asked.
    #[error(transparent)]
    Distribution(#[from] DistributionError),
    /// Another tool failed.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// A file could not be read or written.
    #[error("cannot {doing}")]
    Io {
        /// What was tried.
        doing: String,
        /// Why it failed.
        source: std::io::Error,
    },
}

impl LabError {
    /// What is wrong, with its causes, each said once.
    pub fn in_words(&self) -> String {
        let mut text = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            let said = error.to_string();
            if !text.contains(&said) {
                text.push_str(": ");
                text.push_str(&said);
            }
            cause = error.source();
        }
        text
    }
}

/// Paths for a sentence.
pub(crate) fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| format!("`{}`", path.display())).collect::<Vec<_>>().join(", ")
}

/// Workers of one LLVM, and what it knows of its passes.
#[derive(Debug)]
pub struct Bench {
    /// The LLVM.
    pub install: Install,
    /// Its passes.
    pub registry: PassRegistry,
    /// Its workers.
    pub pool: Pool,
    /// What they were made of.
    pub provisioned: Provisioned,
}

impl Bench {
    /// Finds the LLVM, builds its worker if need be, and starts workers: one
    /// for each core, or `n_workers`.
    pub fn set_up(
        choice: &LlvmChoice,
        targets: Targets,
        flavor: Flavor,
        n_workers: Option<NonZero<usize>>,
        progress: &dyn Progress,
    ) -> Result<Bench, LabError> {
        let install = choice.find()?;
        let mut report = steps(&install, progress);
        let provisioned = llvm::provision(&install, targets, flavor, &mut report)?;
        Bench::start(provisioned, n_workers, progress)
    }

    /// The same for an LLVM with a fault.
    pub fn set_up_faulty(
        choice: &LlvmChoice,
        fault: &Fault,
        targets: Targets,
        flavor: Flavor,
        n_workers: Option<NonZero<usize>>,
        progress: &dyn Progress,
    ) -> Result<Bench, LabError> {
        let install = choice.find()?;
        let mut report = steps(&install, progress);
        let builder = FaultyBuilder::new(&install, targets, &mut report)?;
        let provisioned = builder.build(fault, flavor, &mut report)?;
        Bench::start(provisioned, n_workers, progress)
    }

    /// Starts workers that are made already.
    pub(crate) fn start(
        provisioned: Provisioned,
        n_workers: Option<NonZero<usize>>,
        progress: &dyn Progress,
    ) -> Result<Bench, LabError> {
        progress.step("starting workers");
        let mut pool = match n_workers {
            Some(n_workers) => Pool::of_size(&provisioned, n_workers)?,
            None => Pool::start(&provisioned)?,
        };
        let registry = pool.passes()?;
        Ok(Bench { install: provisioned.install.clone(), registry, pool, provisioned })
    }

    /// Reads a program, compiling C, and loads it into every worker.
    pub fn load(
        &mut self,
        program: &Path,
        c_flags: &[String],
        options: &[String],
        limits: Limits,
    ) -> Result<Program, LabError> {
        let program = clang::read_program(&self.install, program, c_flags)?;
        self.pool.load(&program, options, limits)?;
        Ok(program)
    }

    /// The command that makes IR of a C program, for people in `folder`;
    /// `None` for IR.
    pub fn source_command(
        &self,
        folder: &Path,
        program: &Path,
        c_flags: &[String],
    ) -> Result<Option<String>, LabError> {
        if Language::of_path(program) != Some(Language::C) {
            return Ok(None);
        }
        let path = folder.join(program);
        let text = std::fs::read(&path)
            .map_err(|source| ProgramError::Unreadable { path: path.clone(), source })?;
        let output = program.with_extension("ll");
        let output = output.file_name().map_or_else(|| output.clone(), PathBuf::from);
        let tool = clang::to_ir_command(&self.install, program, &text, c_flags, &output)?;
        Ok(Some(tool.command_line()))
    }

    /// Text -> the sequence as this LLVM takes it.
    pub fn passes(&self, text: &str) -> Result<PassSequence, LabError> {
        let sequence: PassSequence =
            text.parse().map_err(|source| LabError::Syntax { text: text.to_owned(), source })?;
        Ok(sequence.resolve(&self.registry)?)
    }
}

/// Says what provisioning is doing to whoever waits.
pub(crate) fn steps(install: &Install, progress: &dyn Progress) -> impl FnMut(Step) + Send {
    let version = install.version.clone();
    move |step: Step| match step {
        Step::Waiting => progress.step("waiting for another process that builds the worker"),
        Step::Compiling { done, total } => {
            progress.step(&format!("compiling the worker for LLVM {version}"));
            progress.count(done, total);
        }
        Step::Instrumenting { done, total } => {
            progress.step(&format!("putting probes into LLVM {version}"));
            progress.count(done, total);
        }
        Step::Linking => progress.step(&format!("linking the worker for LLVM {version}")),
        Step::Testing => progress.step("trying the new worker"),
    }
}

/// The passes of one LLVM.
pub fn passes(
    choice: &LlvmChoice,
    progress: &dyn Progress,
) -> Result<(Install, PassRegistry), LabError> {
    let bench = Bench::set_up(choice, Targets::Native, Flavor::Plain, NonZero::new(1), progress)?;
    Ok((bench.install, bench.registry))
}
