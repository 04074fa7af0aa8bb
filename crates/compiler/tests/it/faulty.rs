//! Workers of an LLVM that was broken on purpose: wrong in one function, and
//! only there.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use object::{Object, ObjectSection, ObjectSymbol};
use optsleuth_compiler::CompilerError;
use optsleuth_compiler::llvm::{self, FaultyBuilder, Flavor, Provisioned, Targets, Worker};
use optsleuth_model::{Change, CodeMap, Execute, Fault, Limits, Outcome, RunRequest};

use crate::ready::{install, program, provisioned, request};

fn map() -> &'static CodeMap {
    static MAP: OnceLock<CodeMap> = OnceLock::new();
    MAP.get_or_init(|| {
        let covered = llvm::provision(&install(), Targets::Native, Flavor::Covered, &mut |_| {});
        covered.unwrap().code_map().unwrap()
    })
}

fn builder() -> FaultyBuilder {
    FaultyBuilder::new(&install(), Targets::Native, &mut |_| {}).unwrap()
}

/// All faults of the first function whose name begins so.
fn faults(name: &str) -> Vec<Fault> {
    let function = map().functions.iter().find(|function| function.name.starts_with(name)).unwrap();
    llvm::possible_faults(map(), function).unwrap().into_values().flatten().collect()
}

const REASSOCIATE: &str = "llvm::ReassociatePass::OptimizeAdd(";

fn build(fault: &Fault, flavor: Flavor) -> Provisioned {
    builder().build(fault, flavor, &mut |_| {}).unwrap()
}

#[test]
fn a_function_allows_all_changes() {
    let faults = faults(REASSOCIATE);
    let kinds: BTreeSet<&str> = faults.iter().map(|fault| fault.change.name()).collect();
    assert_eq!(kinds, BTreeSet::from(["invert", "skip", "increment", "decrement"]));
    for fault in &faults {
        assert_eq!(fault.to_string().parse::<Fault>().as_ref(), Ok(fault));
        assert_eq!(fault.object.to_string(), "libLLVMScalarOpts.a(Reassociate.cpp.o)");
    }
}

/// Where two linked files differ.
fn differences(a: &Provisioned, b: &Provisioned) -> Vec<usize> {
    let (a, b) = (std::fs::read(&a.binary).unwrap(), std::fs::read(&b.binary).unwrap());
    assert_eq!(a.len(), b.len());
    (0..a.len()).filter(|&at| a[at] != b[at]).collect()
}

/// Where a function and the linker's own checksum lie in a linked file.
fn places(file: &Provisioned, symbol: &str) -> (std::ops::Range<u64>, std::ops::Range<u64>) {
    let bytes = std::fs::read(&file.binary).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let symbol = file.symbols().find(|other| other.name() == Ok(symbol)).unwrap();
    let section = file.section_by_index(symbol.section_index().unwrap()).unwrap();
    let from = section.file_range().unwrap().0 + symbol.address() - section.address();
    let checksum = file.section_by_name(".note.gnu.build-id").and_then(|note| note.file_range());
    let (at, size) = checksum.unwrap_or((0, 0));
    (from..from + symbol.size(), at..at + size)
}

#[test]
fn the_linked_worker_differs_in_one_function_alone() {
    let all = faults(REASSOCIATE);
    let skip = all.iter().find(|fault| matches!(fault.change, Change::Skip { .. })).unwrap();
    let faulty = build(skip, Flavor::Plain);
    let (function, checksum) = places(&faulty, &skip.symbol);
    let differences = differences(&faulty, &provisioned());
    let inside = |&at: &usize| function.contains(&(at as u64));
    assert!(differences.iter().any(inside));
    let strange: Vec<&usize> =
        differences.iter().filter(|at| !inside(at) && !checksum.contains(&(**at as u64))).collect();
    assert!(strange.is_empty(), "{strange:?}");
}

#[test]
fn a_faulty_worker_goes_with_its_last_user() {
    let fault = faults(REASSOCIATE).remove(0);
    let faulty = build(&fault, Flavor::Plain);
    let file = faulty.binary.clone();
    let other = build(&fault, Flavor::Plain);
    assert_ne!(file, other.binary);
    let worker = Worker::start(&faulty).unwrap();
    drop(faulty);
    assert!(file.exists());
    drop(worker);
    assert!(!file.exists() && !file.parent().unwrap().exists());
    assert!(other.binary.exists());
}

#[test]
fn a_fault_of_another_build_is_refused() {
    let check =
        |fault: Fault, message: &str| match builder().build(&fault, Flavor::Plain, &mut |_| {}) {
            Err(CompilerError::FaultDoesNotFit { source, .. }) => {
                assert!(source.to_string().contains(message), "{source}");
                assert!(matches!(
                    *source,
                    CompilerError::OtherBuild { .. } | CompilerError::NoSuchCode(_)
                ));
            }
            other => panic!("{other:?}"),
        };
    let good = || faults(REASSOCIATE).remove(0);
    check(Fault { code: "0123456789ab".into(), ..good() }, "has other code");
    check(Fault { was: vec![0xcc], ..good() }, "has other code");
    check(Fault { symbol: "_Z7missingv".into(), ..good() }, "no function _Z7missingv");
    let mut fault = good();
    fault.object.nth = 2;
    check(fault, "no object libLLVMScalarOpts.a(Reassociate.cpp.o#2)");
    let mut fault = good();
    fault.object.archive = "libLLVMNone.a".into();
    check(fault, "no archive libLLVMNone.a");
}

/// Covered and plain, a broken promotion of slots to registers is as wrong.
#[test]
fn both_flavors_have_the_fault() {
    let usual = llvm::provision(&install(), Targets::Native, Flavor::Covered, &mut |_| {}).unwrap();
    let mut worker = started(&usual);
    let asking = RunRequest { coverage: true, ..request("function(sroa)") };
    let coverage = worker.run(&asking).unwrap().coverage.unwrap();
    let real = run(&mut worker);
    assert!(matches!(real, Outcome::Ok(Some(_))));
    let name = "(anonymous namespace)::PromoteMem2Reg::run(";
    let function = map().functions.iter().find(|function| function.name.starts_with(name)).unwrap();
    let blocks: Vec<_> = function.block_ids().collect();
    let faults = llvm::possible_faults(map(), function).unwrap();
    let reached = faults.into_iter().filter(|(place, _)| coverage.contains(blocks[*place]));
    let inverted = reached.flat_map(|(_, faults)| faults).filter(|f| f.change == Change::Invert);
    let shown = inverted.take(12).find_map(|fault| {
        let outcome = run(&mut started(&build(&fault, Flavor::Plain)));
        (outcome != real).then_some((fault, outcome))
    });
    let (fault, plain) = shown.unwrap();
    let faulty = build(&fault, Flavor::Covered);
    let covered = run(&mut started(&faulty));
    match (&plain, &covered) {
        (Outcome::Crash(a), Outcome::Crash(b)) => assert_eq!(a.signature, b.signature),
        (a, b) => assert_eq!(a, b),
    }
    // The member with the fault is instrumented as any other.
    let left_alone = |worker: &Provisioned| worker.summary().unwrap().left_alone.len();
    assert_eq!(left_alone(&faulty), left_alone(&usual));
}

fn started(provisioned: &Provisioned) -> Worker {
    let mut worker = Worker::start(provisioned).unwrap();
    worker.load(&program("sum.c"), &[], Limits::STANDARD).unwrap();
    worker
}

fn run(worker: &mut Worker) -> Outcome {
    let request = RunRequest { execute: Execute::InChild, ..request("function(sroa)") };
    worker.run(&request).unwrap().outcome
}
