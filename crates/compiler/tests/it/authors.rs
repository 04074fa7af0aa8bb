//! Authorship in a real worker: who in LLVM creates, changes and erases
//! instructions.

use std::sync::OnceLock;

use optsleuth_compiler::CompilerError;
use optsleuth_compiler::llvm::{self, Flavor, Provisioned, Targets, Worker};
use optsleuth_model::{
    AuthorKind, Authorship, CrashCause, Detour, Emit, Execute, InstructionPlace, Limits, Outcome,
    Program, ProgramEnd, RunRequest,
};

use crate::ready::{self, install, ir, request};

fn covered() -> &'static Provisioned {
    static COVERED: OnceLock<Provisioned> = OnceLock::new();
    COVERED.get_or_init(|| {
        llvm::provision(&install(), Targets::Native, Flavor::Covered, &mut |_| {}).unwrap()
    })
}

fn worker(program: &Program) -> Worker {
    let mut worker = Worker::start(covered()).unwrap();
    worker.load(program, &[], Limits::STANDARD).unwrap();
    worker
}

/// instcombine makes a shift of the multiplication, and another addition.
const FOLDED: &str = "define i32 @first(i32 %x) {
  ret i32 %x
}
define i32 @f(i32 %x) {
  %twice = add i32 %x, %x
  %more = add i32 %twice, 3
  %most = add i32 %more, 4
  ret i32 %most
}
";

fn asking(passes: &str) -> RunRequest {
    RunRequest { authors: true, window: Some((0, 9)), coverage: true, ..request(passes) }
}

/// Each deed with its author, as `Created llvm::f (F.cpp)`.
fn said(found: &Authorship, is_after: bool, ordinal: u32) -> Vec<String> {
    let deeds = if is_after { found.deeds_after() } else { found.deeds_before() };
    let place = InstructionPlace { function: "f".to_owned(), ordinal };
    let deeds = deeds.get(&place).into_iter().flatten();
    let said = deeds.map(|deed| {
        let author = deed.authors[0];
        let file = author.file.as_deref().unwrap().rsplit('/').next().unwrap();
        format!("{:?} {} ({file})", deed.kind, author.short_name())
    });
    said.collect()
}

#[test]
fn each_instruction_has_its_author_and_each_erased_one_its_eraser() {
    let mut worker = worker(&ir(FOLDED));
    let authors = RunRequest { emit: Emit::Text, ..asking("function(instcombine)") };
    let without = RunRequest { authors: false, ..authors.clone() };
    let (plain, result) = (worker.run(&without).unwrap(), worker.run(&authors).unwrap());
    let text = String::from_utf8(result.emitted.clone()).unwrap();
    assert!(text.contains("%twice = shl i32 %x, 1\n  %most = add i32 %twice, 7"), "{text}");
    assert_eq!(plain.authorship, None);
    // Recording changes neither what LLVM does nor what it is seen to execute.
    assert_eq!(result.emitted, plain.emitted);
    assert_eq!(result.coverage, plain.coverage);
    assert_eq!(result.window, plain.window);

    let found = result.authorship.unwrap();
    assert!(found.is_closed && found.n_cut == 0);
    let visit = "llvm::InstCombinerImpl::visitAdd (InstCombineAddSub.cpp)";
    assert_eq!(said(&found, true, 0), [format!("Created {visit}")]);
    assert_eq!(said(&found, false, 0), [format!("Replaced {visit}")]);
    // %more is folded into %most.
    let erased = said(&found, false, 1);
    assert!(erased[0].starts_with("Erased llvm::InstCombinerImpl"), "{erased:?}");
    assert!(said(&found, true, 9).is_empty());
    let created = found.events.iter().find(|event| event.kind == AuthorKind::Created).unwrap();
    let stack = found.stack(created);
    assert!(stack[0].function.starts_with("llvm::Instruction::Instruction("));
    assert!(stack[0].is_machinery() && stack.len() > 5);

    // What leads to the first event, and what happens from there on, is less.
    let all = result.window.unwrap();
    let n_events = found.events.len() as u32;
    let narrow = |events| RunRequest { narrow: Some(events), ..authors.clone() };
    let mut blocks = |events| worker.run(&narrow(events)).unwrap().window.unwrap();
    let (to_first, behind_last) = (blocks((0, 1)), blocks((n_events, u32::MAX)));
    for part in [&to_first, &behind_last] {
        assert!(part.count() > 100 && part.count() < all.count() * 9 / 10);
        assert_eq!(part.intersection(&all).count(), part.count());
    }
    assert_ne!(to_first, behind_last);
    assert_eq!(blocks((0, u32::MAX)).count(), all.count());
}

#[test]
fn what_was_recorded_survives_a_crash_and_a_trap_elsewhere_is_one() {
    let mut worker = worker(&ir(FOLDED));
    let crash = worker.run(&asking("function(instcombine),trigger-crash-module")).unwrap();
    assert!(matches!(crash.outcome, Outcome::Crash(_)));
    let found = crash.authorship.unwrap();
    assert!(!found.is_closed && !found.events.is_empty());
    assert!(said(&found, false, 0).iter().any(|deed| deed.starts_with("Replaced")));

    // A breakpoint that is not ours, in a function that instcombine executes.
    let passes = asking("function(instcombine)");
    let window = worker.run(&passes).unwrap().window.unwrap();
    let detours = covered().detours(&window).unwrap();
    let address = detours[detours.len() / 2].detour.address;
    let trapped = |authors: bool| {
        let detours = vec![Detour { address, bytes: [0xcc, 0, 0, 0], length: 1 }];
        RunRequest { detours, authors, ..passes.clone() }
    };
    for authors in [false, true] {
        let outcome = worker.run(&trapped(authors)).unwrap().outcome;
        let Outcome::Crash(crash) = outcome else { panic!("{outcome:?}") };
        assert_eq!(crash.cause, CrashCause::Signal(5));
        assert!(!crash.frames.is_empty(), "{crash:?}");
    }
    assert_eq!(worker.n_replaced(), 0);
}

#[test]
fn a_program_that_traps_does_so_itself() {
    let traps = "target triple = \"x86_64-pc-linux-gnu\"
declare void @llvm.debugtrap()
define i32 @main() {
  call void @llvm.debugtrap()
  ret i32 0
}
";
    let mut worker = worker(&ir(traps));
    let executed = RunRequest { execute: Execute::InChild, ..asking("function(instcombine)") };
    let Outcome::Ok(Some(execution)) = worker.run(&executed).unwrap().outcome else {
        panic!("it was not executed")
    };
    assert_eq!(execution.end, ProgramEnd::Signaled(5));
}

#[test]
fn a_plain_worker_has_no_authors() {
    let error = ready::loaded(&ir(FOLDED)).run(&asking("function(sroa)")).unwrap_err();
    assert!(matches!(error, CompilerError::NotInstrumented), "{error}");
}
