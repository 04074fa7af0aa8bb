//! From what a user names to workers that are ready: LLVM, program, passes.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Once;

use fs_err as fs;
use optsleuth_compiler::CompilerError;
use optsleuth_compiler::clang;
use optsleuth_compiler::llvm::{
    self, FaultyBuilder, Flavor, Install, Pool, Provisioned, Step, Targets,
};
use optsleuth_compiler::spawn::find_on_path;
use optsleuth_model::{
    Fault, Limits, PassRegistry, PassSequence, Pipeline, Program, Progress, is_source,
};

use crate::CaseError;

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
    pub fn find(&self) -> Result<Install, CompilerError> {
        match self {
            LlvmChoice::Version(major) => llvm::find(*major),
            LlvmChoice::Config(path) => llvm::from_llvm_config(path),
            LlvmChoice::Newest => llvm::discover()
                .into_iter()
                .rev()
                .find_map(|(_, found)| found.ok())
                .ok_or(CompilerError::NoLlvmAtAll),
        }
    }
}

/// The LLVM that an `opt` or clang belongs to, by a name on the `PATH` or a path.
pub fn llvm_of_tool(tool: &Path) -> Result<LlvmChoice, CompilerError> {
    let unknown = || CompilerError::NoLlvmOfTool(tool.to_owned());
    let name = tool.to_string_lossy();
    let found = if name.contains('/') { Some(tool.to_owned()) } else { find_on_path(&name) };
    let real = found.and_then(|path| fs::canonicalize(path).ok()).ok_or_else(unknown)?;
    let bin = real.parent().ok_or_else(unknown)?;
    let is_its = |install: &Install| fs::canonicalize(&install.bin).is_ok_and(|own| own == bin);
    if let Some(install) = llvm::installed().into_iter().find(is_its) {
        return Ok(LlvmChoice::Version(install.major));
    }
    let config = bin.join("llvm-config");
    if config.is_file() { Ok(LlvmChoice::Config(config)) } else { Err(unknown()) }
}

/// Paths for a sentence.
pub fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| format!("`{}`", path.display())).collect::<Vec<_>>().join(", ")
}

/// Workers of one LLVM, and what it knows of its passes.
#[derive(Debug)]
pub struct Workers {
    pub install: Install,
    pub registry: PassRegistry,
    pub pool: Pool,
    /// What they were made of.
    pub provisioned: Provisioned,
}

impl Workers {
    /// Finds the LLVM, builds its worker if need be, and starts workers: one
    /// for each core, or `n_workers`.
    pub fn set_up(
        choice: &LlvmChoice,
        targets: Targets,
        flavor: Flavor,
        n_workers: Option<NonZero<usize>>,
        progress: &dyn Progress,
    ) -> Result<Workers, CaseError> {
        let install = choice.find()?;
        let mut report = steps(&install, progress);
        let provisioned = llvm::provision(&install, targets, flavor, &mut report)?;
        Workers::start(provisioned, n_workers, progress)
    }

    /// The same for an LLVM with a fault.
    pub fn set_up_faulty(
        choice: &LlvmChoice,
        fault: &Fault,
        targets: Targets,
        flavor: Flavor,
        n_workers: Option<NonZero<usize>>,
        progress: &dyn Progress,
    ) -> Result<Workers, CaseError> {
        let install = choice.find()?;
        let mut report = steps(&install, progress);
        let builder = FaultyBuilder::new(&install, targets, &mut report)?;
        let provisioned = builder.build(fault, flavor, &mut report)?;
        Workers::start(provisioned, n_workers, progress)
    }

    /// Starts workers that are made already.
    pub fn start(
        provisioned: Provisioned,
        n_workers: Option<NonZero<usize>>,
        progress: &dyn Progress,
    ) -> Result<Workers, CaseError> {
        progress.step("starting workers");
        let mut pool = match n_workers {
            Some(n_workers) => Pool::of_size(&provisioned, n_workers)?,
            None => Pool::start(&provisioned)?,
        };
        let registry = pool.passes()?;
        Ok(Workers { install: provisioned.install.clone(), registry, pool, provisioned })
    }

    /// Reads a program, compiling C, and loads it into every worker.
    pub fn load(
        &mut self,
        program: &Path,
        c_flags: &[String],
        options: &[String],
        limits: Limits,
    ) -> Result<Program, CaseError> {
        let program = clang::read_program(&self.install, program, c_flags)?;
        self.pool.load(&program, options, limits)?;
        Ok(program)
    }

    /// Tells the user, once, that code is generated for this machine where the IR
    /// names none. Bitcode is not read for that.
    pub fn note_missing_target(program: &Program, options: &[String], progress: &dyn Progress) {
        let text = String::from_utf8_lossy(&program.ir);
        let is_named = program.ir.starts_with(b"BC")
            || text.lines().any(|line| line.starts_with("target triple"))
            || options.iter().any(|option| option.contains("-mtriple"));
        static SAID: Once = Once::new();
        if !is_named {
            let what = "the IR names no target triple: code is generated for this machine";
            SAID.call_once(|| progress.announce(what));
        }
    }

    /// The command that makes IR of a C program, for people in `folder`;
    /// `None` for IR.
    pub fn source_command(
        &self,
        folder: &Path,
        program: &Path,
        c_flags: &[String],
    ) -> Result<Option<String>, CaseError> {
        if !is_source(program) {
            return Ok(None);
        }
        let path = folder.join(program);
        let text = fs::read(&path)
            .map_err(|source| CompilerError::UnreadableProgram { path: path.clone(), source })?;
        let output = program.with_extension("ll");
        let output = output.file_name().map_or_else(|| output.clone(), PathBuf::from);
        let tool = clang::to_ir_command(&self.install, program, &text, c_flags, &output)?;
        Ok(Some(tool.command_line()))
    }

    /// Text -> the sequence as this LLVM takes it.
    pub fn passes(&self, text: &str) -> Result<PassSequence, CaseError> {
        let wrong = |source| CaseError::Syntax { text: text.to_owned(), source: Box::new(source) };
        let sequence: PassSequence = text.parse().map_err(wrong)?;
        Ok(sequence.resolve(&self.registry)?)
    }

    /// The passes of a pipeline; nothing where code is generated alone.
    pub fn passes_of(&self, pipeline: &Pipeline) -> Result<Option<PassSequence>, CaseError> {
        match pipeline {
            Pipeline::Codegen(_) => Ok(None),
            Pipeline::Passes(_) | Pipeline::Level(_) => self.passes(&pipeline.passes()).map(Some),
        }
    }
}

/// Says what provisioning is doing to whoever waits.
pub fn steps(install: &Install, progress: &dyn Progress) -> impl FnMut(Step) + Send {
    let version = install.version.clone();
    move |step: Step| match step {
        Step::Waiting => progress.step("waiting for another process that builds the worker"),
        Step::Compiling { done, total } => {
            progress.step(&format!("compiling the worker for LLVM {version}"));
            progress.count(done, total);
        }
        Step::Fetching => progress.announce(&format!(
            "fetching the source package of LLVM {version} with apt, once, 130 to 200 MB \
             (--offline does without)"
        )),
        Step::Unpacking => progress.step(&format!("unpacking the source of LLVM {version}")),
        Step::Zooming { done, total } => {
            progress.step(&format!("compiling files of LLVM {version}"));
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
) -> Result<(Install, PassRegistry), CaseError> {
    let workers =
        Workers::set_up(choice, Targets::Native, Flavor::Plain, NonZero::new(1), progress)?;
    Ok((workers.install, workers.registry))
}
