//! What most tests of workers need first: LLVM 19, its worker, a program.
#![expect(clippy::expect_used, reason = "a test may fail loudly")]

use std::path::{Path, PathBuf};

use optsleuth_compiler::clang;
use optsleuth_compiler::llvm::{self, Flavor, Install, Provisioned, Targets, Worker};
use optsleuth_model::{Limits, Program, RunRequest};

/// The LLVM that all tests but the comparisons use.
pub const LLVM: u32 = 19;

pub fn install() -> Install {
    llvm::find(LLVM).expect("LLVM 19 is installed by `make test`")
}

pub fn provisioned() -> Provisioned {
    llvm::provision(&install(), Targets::Native, Flavor::Plain, &mut |_| {}).expect("a worker")
}

pub fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name)
}

pub fn program(name: &str) -> Program {
    clang::read_program(&install(), &testdata(name), &[]).expect("a program")
}

/// IR given as text.
pub fn ir(text: &str) -> Program {
    Program { name: "test.ll".to_owned(), ir: text.as_bytes().to_vec() }
}

/// A worker with this program loaded.
pub fn loaded(program: &Program) -> Worker {
    let mut worker = Worker::start(&provisioned()).expect("a worker");
    worker.load(program, &[], Limits::STANDARD).expect("a program that loads");
    worker
}

pub fn request(passes: &str) -> RunRequest {
    RunRequest::new(Some(passes.parse().expect("a pass sequence")))
}

/// The children of a process, by the kernel's own list.
pub fn children(pid: u32) -> Vec<u32> {
    let list = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    list.unwrap_or_default().split_whitespace().map(|pid| pid.parse().expect("a number")).collect()
}
