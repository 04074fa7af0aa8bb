//! A real worker on a real LLVM: outcomes, invocations, what repeats.

use std::fmt::Write as _;
use std::time::Duration;

use optsleuth_compiler::CompilerError;
use optsleuth_compiler::llvm::Worker;
use optsleuth_model::{
    CodegenLevel, CrashCause, Emit, Execute, IndexSet, Limits, Outcome, ProgramEnd, RunRequest,
    Stage,
};

use crate::ready::{ir, loaded, program, provisioned, request, testdata};

/// A chain of this many blocks overflows the stack of anything that recurses
/// over the dominator tree.
fn deep_function() -> String {
    let n_blocks = 200_000;
    let mut text = String::from("define void @f() {\nb0:\n  br label %b1\n");
    for i in 1..n_blocks {
        writeln!(text, "b{i}:\n  br label %b{}", i + 1).unwrap();
    }
    writeln!(text, "b{n_blocks}:\n  ret void\n}}").unwrap();
    text
}

#[test]
fn a_module_comes_back_optimized() {
    let mut worker = loaded(&program("sum.c"));
    let text = RunRequest { emit: Emit::Text, ..request("default<O2>") };
    let result = worker.run(&text).unwrap();
    assert_eq!(result.outcome, Outcome::Ok(None));
    let module = String::from_utf8(result.emitted).unwrap();
    assert!(module.contains("define dso_local noundef i32 @main"), "{module}");
    assert!(!module.contains("alloca"), "{module}");
    assert!(result.n_invocations > 50);
}

#[test]
fn no_run_leaves_a_trace_in_the_next() {
    let mut worker = loaded(&program("sum.c"));
    let text = |passes| RunRequest { emit: Emit::Text, ..request(passes) };
    let first = worker.run(&text("default<O3>")).unwrap();
    let other = worker.run(&text("function(sroa)")).unwrap();
    let _ = worker.run(&request("function(trigger-crash-function)")).unwrap();
    let again = worker.run(&text("default<O3>")).unwrap();
    assert_eq!(first.emitted, again.emitted);
    assert_ne!(first.emitted, other.emitted);
}

#[test]
fn another_program_takes_the_place_of_the_first() {
    let mut worker = loaded(&program("sum.c"));
    worker.load(&program("exits.c"), &[], Limits::STANDARD).unwrap();
    let result =
        worker.run(&RunRequest { execute: Execute::InChild, ..request("default<O1>") }).unwrap();
    assert_eq!(result.outcome.execution().unwrap().stdout, b"main\nhandler\n");
}

#[test]
fn a_crash_has_a_signature_frames_and_its_invocation() {
    let mut worker = loaded(&program("sum.c"));
    let result = worker.run(&request("function(sroa,trigger-crash-function)")).unwrap();
    let Outcome::Crash(crash) = result.outcome else { panic!("{:?}", result.outcome) };
    assert_eq!(crash.cause, CrashCause::Signal(6));
    assert_eq!(crash.stage, Stage::Pipeline);
    assert_eq!(crash.signature.as_str(), "SIGABRT in {anonymous}::TriggerCrashFunctionPass::run");
    let invocation = crash.invocation.unwrap();
    assert_eq!(invocation.pass, "trigger-crash-function");
    assert_eq!(invocation.index, 1);
    assert!(crash.frames.iter().all(|frame| !frame.contains("optsleuth")), "{:?}", crash.frames);
}

#[test]
fn invalid_ir_names_the_pass_when_every_pass_is_verified() {
    let mut worker = loaded(&program("sum.c"));
    let each =
        RunRequest { verify_each: true, ..request("globaldce,trigger-verifier-error,globaldce") };
    let result = worker.run(&each).unwrap();
    let Outcome::InvalidIr { invocation: Some(invocation), message } = result.outcome else {
        panic!("{:?}", result.outcome)
    };
    assert_eq!(invocation.pass, "trigger-verifier-error");
    assert!(message.contains("Aliasee cannot be NULL"), "{message}");
    let end = worker.run(&request("trigger-verifier-error")).unwrap();
    assert!(matches!(end.outcome, Outcome::InvalidIr { invocation: None, .. }));
}

#[test]
fn a_stack_overflow_is_a_crash_and_not_a_hang() {
    let mut worker = loaded(&ir(&deep_function()));
    let result = worker.run(&request("function(require<regions>)")).unwrap();
    let Outcome::Crash(crash) = result.outcome else { panic!("{:?}", result.outcome) };
    assert_eq!(crash.cause, CrashCause::StackOverflow);
    assert_eq!(
        crash.signature.as_str(),
        "stack overflow in llvm::RegionInfoBase::buildRegionsTree"
    );
}

#[test]
fn a_crash_of_the_reader_is_the_result_of_every_run() {
    let depth = 100_000;
    let text = format!(
        "@g = global i64 {}ptrtoint (ptr @g to i64){}",
        "sub (i64 ".repeat(depth),
        ", i64 ptrtoint (ptr @g to i64))".repeat(depth)
    );
    let mut worker = Worker::start(&provisioned()).unwrap();
    worker.load(&ir(&text), &[], Limits::STANDARD).unwrap();
    for _ in 0..2 {
        let result = worker.run(&request("globaldce")).unwrap();
        let Outcome::Crash(crash) = result.outcome else { panic!("{:?}", result.outcome) };
        assert_eq!((crash.cause, crash.stage), (CrashCause::StackOverflow, Stage::Parse));
    }
    assert_eq!(worker.n_replaced(), 0);
    // The same worker goes on with something better.
    worker.load(&program("sum.c"), &[], Limits::STANDARD).unwrap();
    assert_eq!(worker.run(&request("globaldce")).unwrap().outcome, Outcome::Ok(None));
}

#[test]
fn time_and_memory_of_llvm_are_limited() {
    let mut worker = loaded(&program("explodes.ll"));
    let mut explode = request("always-inline");
    explode.limits.compile = Duration::from_millis(200);
    let result = worker.run(&explode).unwrap();
    let Outcome::Timeout { invocation: Some(invocation) } = &result.outcome else {
        panic!("{:?}", result.outcome)
    };
    assert_eq!(invocation.pass, "always-inline");
    explode.limits = Limits { memory: 128 << 20, ..Limits::STANDARD };
    let result = worker.run(&explode).unwrap();
    assert!(matches!(result.outcome, Outcome::OutOfMemory { .. }), "{:?}", result.outcome);
}

#[test]
fn what_llvm_prints_is_never_taken_for_a_crash() {
    let mut worker = loaded(&program("sum.c"));
    let mut chatty = request("function(print<domtree>,print<loops>,print<scalar-evolution>)");
    chatty.limits.output = 100;
    assert_eq!(worker.run(&chatty).unwrap().outcome, Outcome::Ok(None));
}

#[test]
fn the_code_generator_may_refuse() {
    let mut worker = loaded(&program("bad_asm.ll"));
    for execute in [Execute::InChild, Execute::AsProcess] {
        let result = worker.run(&RunRequest { execute, ..request("function(sroa)") }).unwrap();
        let Outcome::CodegenFailure { message } = result.outcome else {
            panic!("{:?}", result.outcome)
        };
        assert!(message.contains("no_such_instruction_at_all"), "{message}");
    }
}

#[test]
fn invocations_are_numbered_and_any_of_them_can_be_skipped() {
    let mut worker = loaded(&program("sum.c"));
    let listed = RunRequest { list_invocations: true, ..request("default<O2>") };
    let all = worker.run(&listed).unwrap().invocations;
    assert!(all.iter().enumerate().all(|(i, invocation)| invocation.index as usize == i));
    assert!(all.iter().any(|i| i.pass == "instcombine" && i.unit == "function main"));
    assert!(all.iter().any(|i| i.pass == "globalopt" && i.unit == "module"));
    assert!(all.iter().any(|i| i.unit.starts_with("loop ") && i.unit.ends_with(" in main")));
    assert!(all.iter().any(|i| i.unit.starts_with("scc ")));

    // Without mem2reg's work nothing becomes of the loop.
    let sroas: Vec<u32> = all.iter().filter(|i| i.pass == "sroa").map(|i| i.index).collect();
    assert!(!sroas.is_empty());
    let skipping = RunRequest { skips: IndexSet::of(sroas.clone()), ..listed.clone() };
    let rest = worker.run(&skipping).unwrap().invocations;
    assert!(rest[sroas[0] as usize].skipped);
    assert_eq!(rest[sroas[0] as usize].pass, "sroa");
}

#[test]
fn skipping_everything_leaves_the_module_alone() {
    let mut worker = loaded(&program("sum.c"));
    let text = |request: RunRequest| RunRequest { emit: Emit::Text, ..request };
    let plain = worker.run(&text(RunRequest::new(None))).unwrap();
    let skipped = RunRequest { skips: IndexSet::from(0), ..request("function(sroa,instcombine)") };
    assert_eq!(worker.run(&text(skipped)).unwrap().emitted, plain.emitted);
}

#[test]
fn a_skipped_crash_does_not_happen() {
    let mut worker = loaded(&program("sum.c"));
    let crash = request("function(sroa),trigger-crash-module");
    let listed = worker.run(&RunRequest { list_invocations: true, ..crash.clone() }).unwrap();
    assert!(matches!(listed.outcome, Outcome::Crash(_)));
    let index = listed.invocations.last().unwrap().index;
    let skipping = RunRequest { skips: IndexSet::of([index]), ..crash };
    assert_eq!(worker.run(&skipping).unwrap().outcome, Outcome::Ok(None));
}

#[test]
fn options_reach_llvm_as_they_reach_opt() {
    let mut worker = Worker::start(&provisioned()).unwrap();
    let program = program("sum.c");
    let text = RunRequest { emit: Emit::Text, ..request("default<O2>") };
    let module = |worker: &mut Worker, options: &[&str]| {
        let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
        worker.load(&program, &options, Limits::STANDARD).unwrap();
        String::from_utf8(worker.run(&text).unwrap().emitted).unwrap()
    };
    let plain = module(&mut worker, &[]);
    let named = module(&mut worker, &["-mcpu=skylake", "-mattr=+avx2"]);
    assert_ne!(plain, named);
    assert!(named.contains(",+avx2\""), "{named}");
    let other = module(&mut worker, &["-mtriple=x86_64-pc-windows-msvc"]);
    assert!(other.contains("target triple = \"x86_64-pc-windows-msvc\""), "{other}");
    // An option does not outlive its session.
    assert_eq!(module(&mut worker, &[]), plain);
}

#[test]
fn what_a_user_got_wrong_is_an_error_and_no_outcome() {
    let mut worker = loaded(&program("sum.c"));
    let error = worker.run(&request("no-such-pass")).unwrap_err();
    assert!(matches!(error, CompilerError::BadPipeline(_)), "{error}");
    let error = worker.run(&request("sroa<bogus>")).unwrap_err();
    assert!(matches!(error, CompilerError::BadPipeline(_)), "{error}");
    for option in ["-no-such-option", "-help", "-aa-pipeline=bogus"] {
        let options = [option.to_owned()];
        let error = worker.load(&program("sum.c"), &options, Limits::STANDARD).unwrap_err();
        assert!(matches!(error, CompilerError::BadOptions(_)), "{option}: {error}");
    }
    for name in ["invalid.ll", "broken.ll"] {
        let error = worker.load(&program(name), &[], Limits::STANDARD).unwrap_err();
        assert!(matches!(error, CompilerError::BadModule { .. }), "{name}: {error}");
    }
    let error = worker.load(&program("other_target.ll"), &[], Limits::STANDARD).unwrap_err();
    assert!(matches!(error, CompilerError::ForeignTarget { .. }), "{error}");
}

#[test]
fn both_ways_to_execute_give_the_same() {
    let mut worker = Worker::start(&provisioned()).unwrap();
    let check = |worker: &mut Worker, name: &str, end: ProgramEnd, stdout: &str| {
        worker.load(&program(name), &[], Limits::STANDARD).unwrap();
        for execute in [Execute::InChild, Execute::AsProcess] {
            for codegen in [CodegenLevel::O0, CodegenLevel::O2] {
                let request = RunRequest { execute, codegen, ..request("default<O2>") };
                let result = worker.run(&request).unwrap();
                let execution = result.outcome.execution().unwrap();
                assert_eq!(execution.end, end, "{name} {execute:?} {codegen:?}");
                let text = String::from_utf8_lossy(&execution.stdout);
                assert_eq!(text, stdout, "{name} {execute:?} {codegen:?}");
            }
        }
    };
    check(&mut worker, "sum.c", ProgramEnd::Exited(0), "109494\n");
    check(&mut worker, "exits.c", ProgramEnd::Exited(7), "main\nhandler\n");
    check(&mut worker, "constructor.c", ProgramEnd::Exited(0), "ready 1\n");
    check(&mut worker, "thread_local.c", ProgramEnd::Exited(0), "counter 42\n");
    check(&mut worker, "aborts.c", ProgramEnd::Signaled(6), "before\n");
}

#[test]
fn a_program_that_does_not_link_is_not_the_compilers_fault() {
    let mut worker = loaded(&program("no_main.c"));
    let execute = RunRequest { execute: Execute::InChild, ..request("default<O1>") };
    assert!(matches!(worker.run(&execute), Err(CompilerError::DoesNotLink(_))));
}

#[test]
fn ir_without_a_target_is_executed_as_this_machines() {
    let mut worker = loaded(&program("no_triple.ll"));
    for codegen in [CodegenLevel::O0, CodegenLevel::O2] {
        let execute =
            RunRequest { execute: Execute::InChild, codegen, ..request("function(sroa)") };
        let outcome = worker.run(&execute).unwrap().outcome;
        assert_eq!(outcome.execution().unwrap().end, ProgramEnd::Exited(0));
    }
    let unknown = ir("target triple = \"unknown\"\ndefine i32 @main() {\n ret i32 0\n}\n");
    let execute = RunRequest { execute: Execute::InChild, ..request("function(sroa)") };
    assert!(matches!(loaded(&unknown).run(&execute), Err(CompilerError::BadModule { .. })));
}

#[test]
fn output_up_to_the_limit_is_allowed() {
    let mut worker = loaded(&program("sum.c"));
    let mut execute = RunRequest { execute: Execute::InChild, ..request("function(sroa)") };
    execute.limits.output = 7; // What it prints.
    let end = |worker: &mut Worker, request: &RunRequest| {
        worker.run(request).unwrap().outcome.execution().unwrap().end
    };
    assert_eq!(end(&mut worker, &execute), ProgramEnd::Exited(0));
    execute.limits.output = 6;
    assert_eq!(end(&mut worker, &execute), ProgramEnd::OutputLimit);
}

#[test]
fn bitcode_and_text_are_the_same_module() {
    let text = program("sum.c");
    let mut worker = loaded(&text);
    let bitcode = RunRequest { emit: Emit::Bitcode, ..RunRequest::new(None) };
    let mut as_bitcode = text.clone();
    as_bitcode.ir = worker.run(&bitcode).unwrap().emitted;
    assert!(as_bitcode.ir.starts_with(b"BC"));
    let optimized = RunRequest { emit: Emit::Text, ..request("default<O2>") };
    let from_text = worker.run(&optimized).unwrap().emitted;
    worker.load(&as_bitcode, &[], Limits::STANDARD).unwrap();
    assert_eq!(worker.run(&optimized).unwrap().emitted, from_text);
    assert!(testdata("sum.c").is_file());
}
