//! Which blocks of LLVM a run executes: complete, repeatable, and kept whatever
//! ends the run.

use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::time::Duration;

use optsleuth_compiler::CompilerError;
use optsleuth_compiler::llvm::{self, Flavor, Provisioned, Targets, Worker};
use optsleuth_model::{
    CodeMap, CodegenLevel, Coverage, Emit, Execute, HEADERS, IndexSet, Limits, Outcome, Program,
    RunRequest,
};

use crate::ready::{self, install, loaded, program, request};

fn covered() -> Provisioned {
    llvm::provision(&install(), Targets::Native, Flavor::Covered, &mut |_| {}).unwrap()
}

fn map() -> &'static CodeMap {
    static MAP: OnceLock<CodeMap> = OnceLock::new();
    MAP.get_or_init(|| covered().code_map().unwrap())
}

fn worker(program: &Program) -> Worker {
    let mut worker = Worker::start(&covered()).unwrap();
    worker.load(program, &[], Limits::STANDARD).unwrap();
    worker
}

fn asking(passes: &str) -> RunRequest {
    RunRequest { coverage: true, ..request(passes) }
}

fn files(coverage: &Coverage) -> BTreeSet<&'static str> {
    map().per_file(coverage).into_iter().map(|(file, _)| map().file(file)).collect()
}

const SROA: &str = "llvm/lib/Transforms/Scalar/SROA.cpp";
const GVN: &str = "llvm/lib/Transforms/Scalar/GVN.cpp";
const VERIFIER: &str = "llvm/lib/IR/Verifier.cpp";
const WRITER: &str = "llvm/lib/IR/AsmWriter.cpp";

#[test]
fn only_what_ran_is_covered() {
    let mut worker = worker(&program("sum.c"));
    let sroa = worker.run(&asking("function(sroa)")).unwrap().coverage.unwrap();
    let both = worker.run(&asking("function(sroa,gvn)")).unwrap().coverage.unwrap();
    assert!(files(&sroa).contains(SROA) && !files(&sroa).contains(GVN));
    assert!(files(&both).contains(SROA) && files(&both).contains(GVN));
    assert!(sroa.count() > 1000 && both.count() > sroa.count());
}

#[test]
fn the_same_run_covers_the_same_blocks() {
    let program = program("sum.c");
    let (mut one, mut other) = (worker(&program), worker(&program));
    let first = one.run(&asking("default<O2>")).unwrap().coverage;
    let _ = one.run(&asking("function(sroa)")).unwrap();
    assert_eq!(one.run(&asking("default<O2>")).unwrap().coverage, first);
    assert_eq!(other.run(&asking("default<O2>")).unwrap().coverage, first);
    assert!(first.unwrap().count() > 20_000);
}

#[test]
fn what_comes_before_and_after_the_pipeline_does_not_count() {
    let mut worker = worker(&program("sum.c"));
    let plain = worker.run(&asking("function(sroa)")).unwrap().coverage.unwrap();
    assert!(!files(&plain).contains(VERIFIER) && !files(&plain).contains(WRITER));
    let more = RunRequest {
        emit: Emit::Text,
        execute: Execute::InChild,
        verify_each: true,
        ..asking("function(sroa)")
    };
    let result = worker.run(&more).unwrap();
    assert!(matches!(result.outcome, Outcome::Ok(Some(_))));
    let also = result.coverage.unwrap();
    assert!(!files(&also).contains(VERIFIER) && !files(&also).contains(WRITER));
    assert!(plain.difference(&also).is_empty(), "a longer request covers less");
}

#[test]
fn the_code_generator_counts_where_that_is_asked_for() {
    let selector = "llvm/lib/CodeGen/SelectionDAG/SelectionDAGISel.cpp";
    let mut worker = worker(&program("sum.c"));
    let object = RunRequest { emit: Emit::Object, ..asking("function(sroa)") };
    let passes = worker.run(&object).unwrap().coverage.unwrap();
    assert!(!files(&passes).contains(selector));
    let whole = RunRequest { cover_codegen: true, codegen: CodegenLevel::O2, ..object };
    let both = worker.run(&whole).unwrap().coverage.unwrap();
    assert!(files(&both).contains(selector) && files(&both).contains(SROA));
    assert!(!files(&both).contains(VERIFIER), "verifying is not generating code");
    assert!(passes.difference(&both).is_empty());
    assert_eq!(worker.run(&whole).unwrap().coverage, Some(both.clone()));
    // What the program does when it is executed is not the compiler at work.
    let executed = RunRequest { execute: Execute::InChild, emit: Emit::Nothing, ..whole };
    assert_eq!(worker.run(&executed).unwrap().coverage, Some(both));
}

#[test]
fn coverage_survives_a_crash_and_a_timeout() {
    let mut worker = worker(&program("sum.c"));
    let crash = worker.run(&asking("function(sroa),trigger-crash-module")).unwrap();
    assert!(matches!(crash.outcome, Outcome::Crash(_)));
    assert!(files(&crash.coverage.unwrap()).contains(SROA));

    worker.load(&program("explodes.ll"), &[], Limits::STANDARD).unwrap();
    let mut slow = asking("always-inline");
    slow.limits.compile = Duration::from_millis(300);
    let slow = worker.run(&slow).unwrap();
    assert!(matches!(slow.outcome, Outcome::Timeout { .. }));
    let inliner = "llvm/lib/Transforms/IPO/AlwaysInliner.cpp";
    assert!(files(&slow.coverage.unwrap()).contains(inliner));
}

#[test]
fn windows_are_parts_of_the_whole() {
    let mut worker = worker(&program("sum.c"));
    let listed = RunRequest { list_invocations: true, ..asking("default<O2>") };
    let result = worker.run(&listed).unwrap();
    let (whole, invocations) = (result.coverage.unwrap(), result.invocations);
    let window = |worker: &mut Worker, first: u32, end: u32| {
        let request = RunRequest { window: Some((first, end)), ..asking("default<O2>") };
        let result = worker.run(&request).unwrap();
        // A window changes nothing in what is reported for the whole run.
        assert_eq!(result.coverage.as_ref(), Some(&whole));
        result.window.unwrap()
    };
    let sroa = invocations.iter().find(|i| i.pass == "sroa" && i.unit == "function main").unwrap();
    let inside = window(&mut worker, sroa.index, sroa.index + 1);
    assert!(files(&inside).contains(SROA) && !files(&inside).contains(GVN));
    assert!(inside.difference(&whole).is_empty());

    // Two neighbours together cover what each covers alone, and all of them
    // together nearly everything.
    let next = window(&mut worker, sroa.index + 1, sroa.index + 2);
    let pair = window(&mut worker, sroa.index, sroa.index + 2);
    assert!(inside.union(&next).difference(&pair).is_empty());
    let all = window(&mut worker, 0, u32::MAX);
    assert!(all.difference(&whole).is_empty());
    assert!(all.count() * 10 > whole.count() * 9, "{} of {}", all.count(), whole.count());
}

#[test]
fn a_window_is_kept_when_the_run_crashes_in_it() {
    let mut worker = worker(&program("sum.c"));
    let crash =
        RunRequest { window: Some((0, 9)), ..asking("function(sroa),trigger-crash-module") };
    let result = worker.run(&crash).unwrap();
    assert!(matches!(result.outcome, Outcome::Crash(_)));
    assert!(files(&result.window.unwrap()).contains(SROA));
    let beyond = RunRequest { window: Some((900, 901)), ..asking("function(sroa)") };
    assert_eq!(worker.run(&beyond).unwrap().window, None);
}

#[test]
fn a_window_whose_last_invocation_is_skipped_ends_there() {
    let mut worker = worker(&program("sum.c"));
    let request = RunRequest {
        window: Some((0, 4)),
        skips: IndexSet::of([3]),
        list_invocations: true,
        ..asking("function(sroa,gvn),globalopt")
    };
    let result = worker.run(&request).unwrap();
    assert!(result.invocations[3].skipped && result.invocations[3].pass == "gvn");
    let inside = files(result.window.as_ref().unwrap());
    assert!(inside.contains(SROA) && inside.contains(GVN));
    assert!(!inside.contains("llvm/lib/Transforms/IPO/GlobalOpt.cpp"), "{inside:?}");
}

#[test]
fn reading_the_pipeline_does_not_count() {
    let mut worker = worker(&ready::ir("define void @f() {\n  ret void\n}\n"));
    let nothing = RunRequest { skips: IndexSet::from(0), ..asking("function(sroa)") };
    let coverage = worker.run(&nothing).unwrap().coverage.unwrap();
    assert!(!files(&coverage).contains("llvm/lib/Passes/PassBuilder.cpp"));
}

#[test]
fn every_block_has_a_function_and_a_file() {
    let mut worker = worker(&program("sum.c"));
    let coverage = worker.run(&asking("default<O3>")).unwrap().coverage.unwrap();
    let owners = map().owners();
    assert!(coverage.blocks().all(|block| owners[block.0 as usize].is_some()));
    let files = files(&coverage);
    assert!(files.contains(HEADERS));
    let strange: Vec<_> =
        files.iter().filter(|file| !file.starts_with("llvm/lib/") && **file != HEADERS).collect();
    assert!(strange.is_empty(), "{strange:?}");
}

#[test]
fn names_are_demangled_and_lead_to_their_file() {
    let find = |name: &str| {
        let found = map().functions.iter().find(|function| function.name.starts_with(name));
        found.map(|function| map().file(function.file))
    };
    assert_eq!(find("llvm::GVNPass::processLoad(llvm::LoadInst*)"), Some(GVN));
    assert_eq!(find("(anonymous namespace)::SROA::runOnAlloca"), Some(SROA));
    assert_eq!(find("llvm::PassManager<llvm::Function"), Some(HEADERS));
}

#[test]
fn nearly_every_member_has_probes() {
    let summary = covered().summary().unwrap();
    assert!(summary.n_members > 1000);
    let refused: Vec<_> =
        summary.left_alone.iter().filter(|left| left.reason != "no functions").collect();
    assert!(refused.is_empty(), "{refused:?}");
    assert!(summary.n_blocks > 1_000_000);
}

#[test]
fn a_plain_worker_says_that_it_cannot() {
    let mut plain = loaded(&program("sum.c"));
    assert!(matches!(plain.run(&asking("function(sroa)")), Err(CompilerError::NotInstrumented)));
}
