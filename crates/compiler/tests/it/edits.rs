//! Edits made by a real worker: every item of every kind is tried.

use optsleuth_compiler::CompilerError;
use optsleuth_compiler::llvm::Worker;
use optsleuth_model::{Edit, EditKind, Emit, IndexSet, Outcome, RunRequest};

use crate::ready::{ir, loaded, program, request};

fn n_items(worker: &mut Worker, kind: EditKind) -> u32 {
    let edit = Some(Edit { kind, items: IndexSet::none() });
    worker.run(&RunRequest { edit, ..RunRequest::new(None) }).unwrap().n_items
}

/// The module after an edit, or why there is none.
fn edited(worker: &mut Worker, edit: Edit) -> Result<String, CompilerError> {
    let request = RunRequest { edit: Some(edit), emit: Emit::Text, ..RunRequest::new(None) };
    let result = worker.run(&request)?;
    assert_eq!(result.outcome, Outcome::Ok(None));
    Ok(String::from_utf8(result.emitted).unwrap())
}

#[test]
fn every_item_of_every_kind_changes_the_program_or_is_refused() {
    let mut worker = loaded(&program("sum.c"));
    let plain = RunRequest { emit: Emit::Text, ..RunRequest::new(None) };
    let before = String::from_utf8(worker.run(&plain).unwrap().emitted).unwrap();
    let mut n_changed = 0;
    for &kind in EditKind::ALL {
        for item in 0..n_items(&mut worker, kind) {
            match edited(&mut worker, Edit::one(kind, item)) {
                Ok(after) => {
                    assert_ne!(after, before, "{} {item}", kind.name());
                    n_changed += 1;
                }
                Err(CompilerError::BadEdit(_)) => {}
                Err(error) => panic!("{} {item}: {error}", kind.name()),
            }
        }
    }
    assert!(n_changed > 50, "{n_changed}");
    // And nothing of it is left.
    assert_eq!(worker.run(&plain).unwrap().emitted, before.into_bytes());
}

#[test]
fn many_items_go_at_once() {
    let mut worker = loaded(&program("sum.c"));
    let mut n_edited = 0;
    for &kind in EditKind::REDUCING {
        let count = n_items(&mut worker, kind);
        if let Ok(after) = edited(&mut worker, Edit { kind, items: IndexSet::from(0) }) {
            assert!(count > 0, "{} changed something:\n{after}", kind.name());
            n_edited += 1;
        }
    }
    assert!(n_edited >= 6, "{n_edited}");
}

const SHAPES: &str = "
define i32 @f(i32 %a, i1 %c) {
entry:
  br i1 %c, label %left, label %right
left:
  %x = add nsw i32 %a, 7
  br label %join
right:
  %y = mul i32 %a, %a
  br label %join
join:
  %p = phi i32 [ %x, %left ], [ %y, %right ]
  %less = icmp slt i32 %p, 5
  %z = zext i1 %less to i32
  ret i32 %z
}
";

#[test]
fn each_kind_does_what_it_says() {
    let mut worker = loaded(&ir(SHAPES));
    // One edit of the function above -> a text that is there, one that is not.
    let mut check = |kind: EditKind, item: u32, there: &str, gone: &str| {
        let after = edited(&mut worker, Edit::one(kind, item)).unwrap();
        assert!(after.contains(there) && !after.contains(gone), "{}:\n{after}", kind.name());
    };
    check(EditKind::FunctionBodies, 0, "declare i32 @f", "define");
    check(EditKind::Blocks, 0, "br label %right", "left:"); // Blocks but the first.
    check(EditKind::Branches, 0, "br label %left", "right:");
    check(EditKind::Branches, 1, "br label %right", "left:");
    check(EditKind::Instructions, 0, "[ 0, %left ]", "add");
    check(EditKind::Bypasses, 0, "[ %a, %left ]", "add");
    check(EditKind::OperandsToZero, 1, "add nsw i32 0, 7", "i32 %a, 7");
    check(EditKind::OperandsToOne, 1, "add nsw i32 1, 7", "i32 %a, 7");
    check(EditKind::Flags, 0, "add i32 %a, 7", "nsw");
    check(EditKind::Increments, 0, "add nsw i32 %a, 8", "i32 %a, 7");
    check(EditKind::Negations, 0, "add nsw i32 %a, -7", "i32 %a, 7");
    check(EditKind::Inversions, 0, "icmp sge i32 %p, 5", "slt");
    check(EditKind::Signs, 0, "icmp ult i32 %p, 5", "slt");
    check(EditKind::Signs, 1, "sext i1 %less", "zext");
    check(EditKind::Swaps, 0, "icmp slt i32 5, %p", "%p, 5");
    check(EditKind::Opcodes, 0, "sub i32 %a, 7", "add");
}

#[test]
fn an_edit_that_changes_nothing_is_refused() {
    let mut worker = loaded(&ir(SHAPES));
    let error = edited(&mut worker, Edit::one(EditKind::Globals, 99)).unwrap_err();
    assert!(matches!(error, CompilerError::BadEdit(_)), "{error}");
}

#[test]
fn passes_run_on_the_edited_program() {
    let mut worker = loaded(&ir(SHAPES));
    let edit = Some(Edit::one(EditKind::Branches, 0));
    let optimized = RunRequest { edit, emit: Emit::Text, ..request("function(simplifycfg)") };
    let module = String::from_utf8(worker.run(&optimized).unwrap().emitted).unwrap();
    assert!(!module.contains("phi") && module.contains("%x = add nsw"), "{module}");
}

#[test]
fn invocations_that_change_the_ir_are_known() {
    let mut worker = loaded(&program("sum.c"));
    let watched = RunRequest {
        list_invocations: true,
        watch_changes: true,
        ..request("function(sroa,sroa,no-op-function),globaldce")
    };
    let result = worker.run(&watched).unwrap();
    let of = |pass: &str| -> Vec<bool> {
        let all = result.invocations.iter().filter(|invocation| invocation.pass == pass);
        all.map(|invocation| invocation.changed).collect()
    };
    assert!(of("sroa").iter().any(|&changed| changed));
    // The second has nothing left to do.
    let main: Vec<bool> = result
        .invocations
        .iter()
        .filter(|invocation| invocation.pass == "sroa" && invocation.unit == "function main")
        .map(|invocation| invocation.changed)
        .collect();
    assert_eq!(main, [true, false]);
    assert!(of("no-op-function").iter().all(|&changed| !changed));
}
