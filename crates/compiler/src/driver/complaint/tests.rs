//! What compilers print, as they print it.

use super::*;

const LIMIT: Duration = Duration::from_secs(10);

fn judged(family: Family, end: ToolEnd, stderr: &str, seconds: u64) -> String {
    let wall = Duration::from_secs(seconds);
    let ended = ToolOutput { end, stdout: Vec::new(), stderr: stderr.into(), wall };
    match judge(family, &ended, LIMIT) {
        Ok(Compiled::Program) => "program".to_owned(),
        Ok(Compiled::Refused(why)) => format!("refused: {why}"),
        Ok(Compiled::Crash(crash)) => format!("crash: {}", crash.signature),
        Ok(Compiled::Hang) => "hang".to_owned(),
        Ok(Compiled::Memory) => "memory".to_owned(),
        Err(how) => how,
    }
}

fn check(family: Family, status: i32, stderr: &str, expected: &str) {
    assert_eq!(judged(family, ToolEnd::Exited(status), stderr, 1), expected, "{stderr}");
}

#[test]
fn a_failed_check_of_gcc_is_known_by_function_file_and_pass() {
    let said = "\
during GIMPLE pass: vect
a.c: In function 'f':
a.c:5:6: internal compiler error: in vect_get_loop_mask, at tree-vect-loop.cc:10417
    5 | void f(void)
      |      ^
0x6d1b2c vect_get_loop_mask(gimple_stmt_iterator*, vec_loop_masks*)
\t../../src/gcc/tree-vect-loop.cc:10417
Please submit a full bug report, with preprocessed source (by using -freport-bug).
";
    let expected = "crash: in vect_get_loop_mask, at tree-vect-loop.cc:N, during GIMPLE pass: vect";
    check(Family::Gcc, 1, said, expected);
    let elsewhere = said.replace("a.c:5:6", "b.c:77:1").replace("0x6d1b2c", "0x7e2c3d");
    check(Family::Gcc, 1, &elsewhere, expected);
}

#[test]
fn a_segmentation_fault_of_gcc_is_known_by_its_frames() {
    let said = "\
during RTL pass: sched2
a.c: In function 'main':
a.c:9:1: internal compiler error: Segmentation fault
0xe3f5a7 crash_signal
\t../../src/gcc/toplev.cc:322
0x7f3a4c2b3d5f ???
\t./signal/../sysdeps/unix/sysv/linux/x86_64/libc_sigaction.c:0
0xc0ffee schedule_insns()
\t../../src/gcc/sched-rgn.cc:3534
0xc0fff0 execute(function*)
\t../../src/gcc/passes.cc:2
";
    let expected = "crash: SIGSEGV in schedule_insns < execute, during RTL pass: schedN";
    check(Family::Gcc, 1, said, expected);
}

#[test]
fn what_gccs_verifiers_complain_about_tells_two_of_their_crashes_apart() {
    let said = "\
a.c: In function 'f':
a.c:2:1: error: definition in block 12 does not dominate use in block 4
    2 | f(void)
      | ^
during GIMPLE pass: dom
a.c:2:1: internal compiler error: verify_ssa failed
";
    let expected = "crash: verify_ssa failed: definition in block N does not dominate use in \
                    block N, during GIMPLE pass: dom";
    check(Family::Gcc, 1, said, expected);
}

#[test]
fn a_stack_that_gcc_used_up_is_told_by_its_driver() {
    let said = "\
gcc-12: internal compiler error: Segmentation fault signal terminated program cc1
Please submit a full bug report, with preprocessed source (by using -freport-bug).
";
    check(Family::Gcc, 4, said, "crash: SIGSEGV");
}

#[test]
fn a_crash_of_clang_is_known_by_its_frames() {
    let dump = "\
PLEASE submit a bug report to https://example.org and include the crash backtrace.
Stack dump:
0.\tProgram arguments: clang -cc1 -O2 a.c
3.\tRunning pass \"instcombine\" on function \"main\"
 #0 0x00007fdc9f8b73c6 llvm::sys::PrintStackTrace(llvm::raw_ostream&, int) (/lib/libLLVM.so+0xeb7)
 #3 0x00007fdc9e45a050 (/lib/x86_64-linux-gnu/libc.so.6+0x3c050)
 #4 0x00007fdca7220eb9 llvm::InstCombinerImpl::visitAdd(llvm::BinaryOperator&) (/lib/libLLVM.so+0x1)
 #5 0x00007fdca7220eba llvm::InstCombinerImpl::run() (/lib/libLLVM.so+0x2)
";
    let driver = "clang-19: error: unable to execute command: Segmentation fault\n\
                  clang-19: error: clang frontend command failed due to signal\n";
    let expected =
        "crash: SIGSEGV in llvm::InstCombinerImpl::visitAdd < llvm::InstCombinerImpl::run";
    check(Family::Clang, 254, &format!("{dump}{driver}"), expected);
    // The front end inside the driver's own process.
    check(Family::Clang, 139, dump, expected);
}

#[test]
fn texts_of_clang_are_what_workers_say() {
    let dump = "Stack dump:\n0.\tProgram arguments: clang\n";
    let assertion = "clang: /src/llvm/lib/IR/Value.cpp:12: void llvm::Value::f(int): \
                     Assertion `New && \"no value\"' failed.\n";
    let expected = "crash: Assertion `New && \"no value\"' failed in void llvm::Value::f(int)";
    check(Family::Clang, 134, &format!("{assertion}{dump}"), expected);
    let unreachable = "bad opcode\nUNREACHABLE executed at /src/llvm/lib/IR/Value.cpp:123!\n";
    let expected = "crash: UNREACHABLE executed at Value.cpp:N!";
    check(Family::Clang, 134, &format!("{unreachable}{dump}"), expected);
    let said = "fatal error: error in backend: Cannot select: 0x55d0: i32 = foo %x\n\
                clang-19: error: clang frontend command failed with exit code 70\n";
    check(Family::Clang, 70, said, "crash: Cannot select: N: iN = foo %_");
    check(Family::Clang, 134, &format!("LLVM ERROR: broken\n{dump}"), "crash: broken");
}

#[test]
fn memory_that_is_used_up_is_no_crash() {
    let of_gcc = [
        "cc1: out of memory allocating 65536 bytes after a total of 123456789 bytes",
        "virtual memory exhausted: Cannot allocate memory",
        "terminate called after throwing an instance of 'std::bad_alloc'\n\
         a.c:1:1: internal compiler error: Aborted",
    ];
    for said in of_gcc {
        check(Family::Gcc, 1, said, "memory");
    }
    let of_clang = "LLVM ERROR: out of memory\nAllocation failed\nStack dump:\n\
                    clang: error: unable to execute command: Aborted\n";
    check(Family::Clang, 254, of_clang, "memory");
    // A program may say so itself.
    let quoted = "a.c:1:5: error: no\n    1 | die(\"out of memory\");\n";
    check(Family::Gcc, 1, quoted, "refused: a.c:1:5: error: no");
    let quoted = "a.c:1:5: error: no\ndie(\"out of memory\");\n    ^\n";
    check(Family::Clang, 1, quoted, "refused: a.c:1:5: error: no");
}

#[test]
fn time_that_is_used_up_is_told_from_a_kill_from_outside() {
    let of_gcc = "gcc-12: fatal error: Killed signal terminated program cc1\n";
    let of_clang = "clang-19: error: unable to execute command: Killed\n";
    for (family, said) in [(Family::Gcc, of_gcc), (Family::Clang, of_clang)] {
        let end = ToolEnd::Exited(1);
        assert_eq!(judged(family, end, said, 11), "hang");
        assert_eq!(judged(family, end, said, 2), "was killed from outside");
        let told = said.replace("Killed", "CPU time limit exceeded");
        assert_eq!(judged(family, end, &told, 2), "hang");
        assert_eq!(judged(family, ToolEnd::Signaled(SIGXCPU), "", 2), "hang");
        assert_eq!(judged(family, ToolEnd::Timeout, "", 45), "hang");
    }
}

#[test]
fn what_others_do_to_a_compiler_is_no_crash() {
    let gone = "was killed from outside";
    let of_clang = "clang-19: error: unable to execute command: Terminated\n\
                    clang-19: error: clang frontend command failed due to signal\n";
    assert_eq!(judged(Family::Clang, ToolEnd::Exited(254), of_clang, 2), gone);
    let of_gcc = "gcc-12: fatal error: Interrupt signal terminated program cc1\n";
    assert_eq!(judged(Family::Gcc, ToolEnd::Exited(1), of_gcc, 2), gone);
    assert_eq!(judged(Family::Gcc, ToolEnd::Signaled(SIGHUP), "", 2), gone);
    let of_clang = "fatal error: error in backend: IO failure on output stream: No space left\n\
                    clang-14: error: clang frontend command failed with exit code 70\n";
    let said = judged(Family::Clang, ToolEnd::Exited(70), of_clang, 2);
    assert!(said.starts_with("cannot write: fatal error"), "{said}");
    let of_gcc = "a.c:9:1: fatal error: error writing to /tmp/x.s: No space left on device\n";
    let said = judged(Family::Gcc, ToolEnd::Exited(1), of_gcc, 2);
    assert!(said.starts_with("cannot write: a.c"), "{said}");
}

#[test]
fn the_program_and_the_linker_are_not_the_compilers_fault() {
    let said = "a.c:3:4: error: expected ';'\na.c:5:6: error: nor this\n";
    check(Family::Clang, 1, said, "refused: a.c:3:4: error: expected ';'");
    check(Family::Gcc, 1, said, "refused: a.c:3:4: error: expected ';'");
    let said = "a.c:1:10: fatal error: no.h: No such file or directory\n";
    check(Family::Gcc, 1, said, "refused: a.c:1:10: fatal error: no.h: No such file or directory");
    let said = "/usr/bin/ld: final link failed: memory exhausted\n\
                collect2: error: ld returned 1 exit status\n";
    check(Family::Gcc, 1, said, "refused: collect2: error: ld returned 1 exit status");
    let said = "clang-19: error: unable to execute command: Segmentation fault\n\
                clang-19: error: linker command failed due to signal (use -v to see invocation)\n";
    let expected = "refused: clang-19: error: unable to execute command: Segmentation fault";
    check(Family::Clang, 254, said, expected);
    check(Family::Gcc, 1, "", "refused: the compiler does not say why");
}
