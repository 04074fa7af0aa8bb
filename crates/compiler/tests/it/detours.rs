//! Detours in a real worker: one condition of LLVM decides the other way, for
//! one run.

use std::collections::BTreeSet;
use std::time::Duration;

use optsleuth_compiler::CompilerError;
use optsleuth_compiler::llvm::{self, Condition, ConditionKind, Flavor, Targets, Worker};
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
        let changed = RunRequest { detours: vec![*detour], coverage: false, ..sroa.clone() };
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

    // The pass itself returns at once, and says that it changed nothing; two
    // detours at a time.
    let map = covered.code_map().unwrap();
    let owners = map.owners();
    let is_run = |condition: &&Condition| {
        let owner = owners[condition.block.0 as usize].unwrap();
        let name = &map.function(owner).name;
        condition.kind == ConditionKind::Return && name.contains("SROA") && name.contains("run")
    };
    let returns: Vec<Detour> =
        detours.iter().filter(is_run).map(|condition| condition.detour).collect();
    assert!(!returns.is_empty());
    let mut emits = |detours: &[Detour]| {
        let detours = detours.to_vec();
        worker.run(&RunRequest { detours, ..sroa.clone() }).unwrap().emitted
    };
    let off = returns.iter().find(|detour| {
        let emitted = emits(&[**detour]);
        String::from_utf8_lossy(&emitted).contains("alloca")
    });
    let both = emits(&[*off.unwrap(), detours[0].detour]);
    assert!(String::from_utf8_lossy(&both).contains("alloca"));
    assert!(!String::from_utf8_lossy(&usual.emitted).contains("alloca"));
    let again = worker.run(&sroa).unwrap();
    assert_eq!(again.emitted, usual.emitted);
    assert_eq!(again.coverage.unwrap(), executed);
    assert_eq!(worker.n_replaced(), 0);
}

#[test]
fn a_detour_outside_of_the_code_is_refused() {
    let mut worker = ready::loaded(&program("sum.c"));
    for address in [1, u64::MAX, 0x7fff_ffff_0000] {
        let detours = vec![Detour { address, bytes: [0x74, 0, 0, 0], length: 1 }];
        let error = worker.run(&RunRequest { detours, ..request("function(sroa)") }).unwrap_err();
        assert!(matches!(error, CompilerError::Trouble(_)), "{error}");
    }
}
