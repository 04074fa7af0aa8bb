//! Detours in a real worker: one condition of LLVM decides the other way, for
//! one run.

use std::collections::BTreeSet;
use std::time::Duration;

use optsleuth_compiler::CompilerError;
use optsleuth_compiler::llvm::{self, Condition, Flavor, Targets, Worker};
use optsleuth_model::{Detour, Emit, Limits, Outcome, RunRequest};

use crate::ready::{self, install, program, request};

#[test]
fn a_detour_changes_one_run_and_no_other() {
    let covered = llvm::provision(&install(), Targets::Native, Flavor::Covered, &mut |_| {});
    let covered = covered.unwrap();
    let mut worker = Worker::start(&covered).unwrap();
    worker.load(&program("sum.c"), &[], Limits::STANDARD).unwrap();
    let sroa = RunRequest { emit: Emit::Text, coverage: true, ..request("function(sroa)") };
    let usual = worker.run(&sroa).unwrap();
    assert_eq!(usual.outcome, Outcome::Ok(None));
    let executed = usual.coverage.unwrap();
    let detours = covered.detours(&executed).unwrap();
    assert!(detours.len() > 500, "{}", detours.len());
    assert!(detours.iter().all(|condition| executed.contains(condition.block)));

    // A few of them, from all over LLVM.
    let mut seen = BTreeSet::new();
    for Condition { detour, .. } in detours.iter().step_by(detours.len() / 60) {
        let changed = RunRequest { detour: Some(*detour), coverage: false, ..sroa.clone() };
        // Some go round for ever.
        let compile = Duration::from_millis(200);
        let limits = Limits { compile, memory: 1 << 30, ..Limits::STANDARD };
        let result = worker.run(&RunRequest { limits, ..changed }).unwrap();
        seen.insert(match result.outcome {
            Outcome::Ok(_) if result.emitted == usual.emitted => "the same",
            Outcome::Ok(_) => "another module",
            _ => "a failure",
        });
    }
    assert_eq!(seen.len(), 3, "{seen:?}");
    let again = worker.run(&sroa).unwrap();
    assert_eq!(again.emitted, usual.emitted);
    assert_eq!(again.coverage.unwrap(), executed);
    assert_eq!(worker.n_replaced(), 0);
}

#[test]
fn a_detour_outside_of_the_code_is_refused() {
    let mut worker = ready::loaded(&program("sum.c"));
    for address in [1, u64::MAX, 0x7fff_ffff_0000] {
        let detour = Some(Detour { address, opcode: 0x74 });
        let error = worker.run(&RunRequest { detour, ..request("function(sroa)") }).unwrap_err();
        assert!(matches!(error, CompilerError::Trouble(_)), "{error}");
    }
}
