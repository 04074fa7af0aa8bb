//! A clang with a planted fault, for a whole build: clang's front end, then a worker of
//! a broken LLVM for the passes and the code.
//!
//! Stands where the recorder calls the real compiler, in builds with `--fault` alone.
//! They show whether the fault is found again.
//!
//! **Invariant:** what is not optimized is compiled by the real clang.

use std::num::NonZero;
use std::path::Path;

use fs_err as fs;
use optsleuth_case::CaseError;
use optsleuth_case::workers::{LlvmChoice, Workers};
use optsleuth_compiler::llvm::{Flavor, Targets};
use optsleuth_compiler::spawn::pass_through;
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{
    Emit, Fault, Limits, OptLevel, Outcome, Pipeline, Program, RunRequest, RunResult, Silent,
};

use crate::ProjectError;
use crate::command::{level_of, recompile};
use crate::project::{Head, Project, Unit};
use crate::tree::{Judged, Objects, Tree};

/// Compiles as the real compiler would, with a broken LLVM behind it.
pub fn compile_with_fault(
    head: &Head,
    fault: &str,
    real: &Path,
    args: &[String],
    object: &Path,
) -> Result<i32, ProjectError> {
    let Some(level) = optimizing(args) else { return Ok(pass_through(real, args, &[])?) };
    let folder = Workdir::new()?;
    let ir = folder.file("unit.bc");
    let status = pass_through(real, &recompile(args, &front_end_flags(), &ir), &[])?;
    if status != 0 {
        return Ok(status);
    }
    let fault: Fault = fault.parse().map_err(CaseError::from)?;
    let llvm = head.llvm.clone().map_or(LlvmChoice::Newest, LlvmChoice::Config);
    let (targets, flavor) = (Targets::Native, Flavor::Plain);
    let mut workers =
        Workers::set_up_faulty(&llvm, &fault, targets, flavor, NonZero::new(1), &Silent)?;
    workers.load(&ir, &[], &llvm_options(level, args), Limits::STANDARD)?;
    let request = object_request(&workers, level)?;
    let run = workers.pool.first().run(&request)?;
    match run.outcome {
        Outcome::Ok(_) => {
            fs::write(object, &run.emitted)?;
            Ok(0)
        }
        _ => Ok(1),
    }
}

/// The level, where passes are to run.
pub fn optimizing(args: &[String]) -> Option<OptLevel> {
    match level_of(args) {
        "-O0" => None,
        "-O1" | "-Og" => Some(OptLevel::O1),
        "-Os" => Some(OptLevel::Os),
        "-Oz" => Some(OptLevel::Oz),
        "-O2" => Some(OptLevel::O2),
        _ => Some(OptLevel::O3),
    }
}

/// What makes clang stop after its front end.
pub fn front_end_flags() -> Vec<String> {
    ["-emit-llvm", "-Xclang", "-disable-llvm-passes"].map(str::to_owned).to_vec()
}

/// What LLVM is told beside the IR, which does not hold it.
pub fn llvm_options(level: OptLevel, args: &[String]) -> Vec<String> {
    let sections =
        [("-ffunction-sections", "-function-sections"), ("-fdata-sections", "-data-sections")];
    let asked = |(flag, _): &&(&str, &str)| args.iter().any(|word| word == flag);
    let mut own: Vec<String> =
        sections.iter().filter(asked).map(|(_, option)| (*option).to_owned()).collect();
    let pairs = args.iter().zip(args.iter().skip(1));
    own.extend(pairs.filter(|(word, _)| *word == "-mllvm").map(|(_, option)| option.clone()));
    level.llvm_options(args, &own)
}

/// The run that makes an object of what is loaded.
pub fn object_request(workers: &Workers, level: OptLevel) -> Result<RunRequest, CaseError> {
    let pipeline = Pipeline::Level(level);
    let passes = workers.passes(&pipeline.passes())?;
    let (emit, codegen) = (Emit::Object, pipeline.codegen());
    Ok(RunRequest { emit, codegen, ..RunRequest::new(Some(passes)) })
}

/// A unit as LLVM gets it.
#[derive(Clone, Debug)]
pub struct UnitProgram {
    pub number: usize,
    pub level: OptLevel,
    pub options: Vec<String>,
    pub ir: String,
}

impl UnitProgram {
    /// What a worker makes of it: an object, if LLVM compiles it.
    pub fn run(&self, workers: &mut Workers, coverage: bool) -> Result<RunResult, ProjectError> {
        let ir = self.ir.as_bytes().to_vec();
        let program = Program { name: "unit.ll".to_owned(), ir };
        workers.pool.load(&program, &self.options, Limits::STANDARD)?;
        let request = RunRequest { coverage, ..object_request(workers, self.level)? };
        Ok(workers.pool.first().run(&request)?)
    }
}

impl Project {
    /// A unit as clang's front end hands it to LLVM.
    pub fn unit_program(&self, unit: &Unit, level: OptLevel) -> Result<UnitProgram, ProjectError> {
        let folder = Workdir::new()?;
        let file = folder.file("unit.ll");
        let flags = [front_end_flags(), vec!["-S".to_owned()]].concat();
        self.compile(unit, &flags, &file)?;
        let (ir, options) = (fs::read_to_string(&file)?, llvm_options(level, &unit.command.args));
        Ok(UnitProgram { number: unit.number, level, options, ir })
    }

    /// Every unit that is optimized.
    pub fn unit_programs(&self) -> Result<Vec<UnitProgram>, ProjectError> {
        let levels = self.units.iter().map(|unit| (unit, optimizing(&unit.command.args)));
        let optimized = levels.filter_map(|(unit, level)| Some((unit, level?)));
        optimized.map(|(unit, level)| self.unit_program(unit, level)).collect()
    }

    /// Whether a check fails with these objects. The tree is then as it was.
    pub fn breaks(&self, objects: &Objects, check: &str) -> Result<bool, ProjectError> {
        let judged = Tree::new(self, check, &Silent).judge(objects);
        self.restore()?;
        Ok(judged? != Judged::Passes)
    }
}
