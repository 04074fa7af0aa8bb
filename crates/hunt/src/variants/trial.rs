//! One program by one compiler at one level: what it does, next to what it
//! should do.
//!
//! ```text
//! text ──► driver ──────────────────────► program file ──┐
//!    └───► front end ──► worker: passes, code ───────────┴──► fence ──► TestResult
//! ```
//!
//! **Invariant:** what is right is what the base program does by itself; no compiler
//! under test has a say in that. A program that a compiler refuses is none of
//! its bugs: who is wrong then is not for a machine to decide.

use fs_err as fs;
use optsleuth_case::CaseError;
use optsleuth_case::driver::{Tried, try_level};
use optsleuth_compiler::CompilerError;
use optsleuth_compiler::c_front_end::{CSource, Compiled as Ir, FrontEnd};
use optsleuth_compiler::driver::Driver;
use optsleuth_compiler::llvm::Worker;
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{
    CaseKind, CodegenLevel, Coverage, Execute, Execution, Limits, OptLevel, Outcome, PassSequence,
    RunRequest,
};

use crate::HuntError;
use crate::campaign::{Mark, TestResult, of_error};

/// What a test may use.
pub const LIMITS: Limits = Limits::STANDARD;

/// A program in memory and in a file.
#[derive(Debug)]
pub struct Source {
    pub text: String,
    folder: Workdir,
}

impl Source {
    pub fn new(text: String) -> Result<Source, HuntError> {
        let folder = Workdir::new()?;
        fs::write(folder.file(NAME), &text)?;
        Ok(Source { text, folder })
    }

    /// The file.
    pub fn path(&self) -> std::path::PathBuf {
        self.folder.file(NAME)
    }

    /// As a front end takes it. Every program goes by the same name.
    pub fn c(&self) -> CSource {
        CSource { name: NAME.to_owned(), text: self.text.as_bytes().to_vec() }
    }
}

const NAME: &str = "program.c";

/// One of LLVM's levels inside a worker.
#[derive(Debug)]
pub struct LevelInside {
    pub level: OptLevel,
    /// clang as at this level, without LLVM's passes.
    pub front_end: FrontEnd,
    pub passes: PassSequence,
    /// LLVM's, with which it does what it does inside clang.
    pub options: Vec<String>,
    pub codegen: CodegenLevel,
}

/// A program by a driver.
pub fn by_driver(
    driver: &Driver,
    level: OptLevel,
    source: &Source,
    expected: &Execution,
    fence: &mut Worker,
) -> Result<TestResult, HuntError> {
    match try_level(driver, &source.path(), level, &[], fence, LIMITS) {
        Ok(Tried::Refused(_)) => Ok(TestResult::Refused),
        // A driver's crash is a crash at whatever stage. The pass is not asked for:
        // only some drivers name it.
        Ok(Tried::Ran(Outcome::Crash(crash))) => {
            let (kind, signature) = (CaseKind::Crash, crash.signature.to_string());
            Ok(TestResult::Wrong(Mark { kind, pass: None, signature }))
        }
        Ok(Tried::Ran(outcome)) => Ok(TestResult::of(&outcome, expected)),
        Err(CaseError::Compiler(error)) => of_error(error),
        Err(error) => Err(error.into()),
    }
}

/// A program by a worker's LLVM; also what of it was executed.
pub fn by_worker(
    tools: &LevelInside,
    covers: bool,
    source: &Source,
    expected: &Execution,
    worker: &mut Worker,
) -> Result<(TestResult, Option<Coverage>), HuntError> {
    let mut run = || -> Result<(TestResult, Option<Coverage>), CompilerError> {
        let program = match tools.front_end.compile(&source.c(), LIMITS)? {
            Ir::Ir(program) => program,
            Ir::Failed(result) => return Ok((TestResult::of(&result.outcome, expected), None)),
        };
        worker.load(&program, &tools.options, LIMITS)?;
        let request = RunRequest {
            codegen: tools.codegen,
            execute: Execute::InChild,
            coverage: covers,
            cover_codegen: covers,
            limits: LIMITS,
            ..RunRequest::new(Some(tools.passes.clone()))
        };
        let result = worker.run(&request)?;
        Ok((TestResult::of(&result.outcome, expected), result.coverage))
    };
    match run() {
        Ok(seen) => Ok(seen),
        Err(CompilerError::FrontEndRefuses(_)) => Ok((TestResult::Refused, None)),
        Err(error) => Ok((of_error(error)?, None)),
    }
}
