//! A sample of what `make identity` does at length: the worker's module is the
//! one that `opt` prints, and a worker with probes prints the same, to the byte.

use optsleuth_bench::as_clang::{AsClangPlan, LEVELS, compare_levels};
use optsleuth_bench::identity::{IdentityPlan, PairVerdict, Subject, compare};
use optsleuth_case::workers::LlvmChoice;
use optsleuth_compiler::{csmith, llvm};
use optsleuth_model::Silent;

/// 14 on Debian 12, 17 on Debian 13.
fn oldest() -> u32 {
    llvm::installed()[0].major
}

fn check(subject: Subject, llvm: u32, n_programs: usize) {
    let llvm = LlvmChoice::Version(llvm);
    let plan = IdentityPlan { subject, llvm, n_programs, n_sequences: 2, seed: 1000 };
    let pairs = compare(&plan, &Silent).unwrap();
    assert_eq!(pairs.len(), n_programs * 7);
    for pair in &pairs {
        assert_eq!(pair.verdict, PairVerdict::Identical, "{pair:?}");
        assert!(pair.bytes > 1000, "{pair:?}");
    }
}

/// `make identity` compares 100 programs of csmith's usual size.
#[test]
fn a_level_makes_the_object_that_clang_makes() {
    let plan = AsClangPlan {
        llvm: LlvmChoice::Version(19),
        levels: &LEVELS,
        n_programs: 2,
        csmith_flags: &csmith::SMALL_PROGRAMS,
        seed: 1000,
    };
    let pairs = compare_levels(&plan, &Silent).unwrap();
    assert_eq!(pairs.len(), 10);
    for pair in &pairs {
        assert_eq!(pair.verdict, PairVerdict::Identical, "{pair:?}");
        assert!(pair.bytes > 500, "{pair:?}");
    }
}

#[test]
fn llvm_19_prints_what_opt_19_prints() {
    check(Subject::WorkerWithOpt, 19, 4);
}

#[test]
fn the_oldest_llvm_prints_what_its_opt_prints() {
    check(Subject::WorkerWithOpt, oldest(), 2);
}

#[test]
fn probes_change_nothing_in_llvm_19() {
    check(Subject::CoveredWithPlain, 19, 6);
}

#[test]
fn probes_change_nothing_in_the_oldest_llvm() {
    check(Subject::CoveredWithPlain, oldest(), 3);
}
