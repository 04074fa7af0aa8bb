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
use optsleuth_model::{Emit, Fault, Limits, OptLevel, Outcome, Pipeline, RunRequest, Silent};

use crate::ProjectError;
use crate::command::{level_of, recompile};
use crate::project::Head;

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
