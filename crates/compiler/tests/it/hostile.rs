//! Programs that do what a miscompiled program may do, executed both ways.

use std::time::Duration;

use optsleuth_compiler::llvm::Worker;
use optsleuth_model::{Execute, Execution, Limits, ProgramEnd, RunRequest};

use crate::ready::{loaded, program, request};

/// Small enough that a test does not take long.
const LIMITS: Limits = Limits {
    compile: Duration::from_secs(10),
    execute: Duration::from_millis(500),
    memory: 256 << 20,
    output: 64 << 10,
    with_shadows: false,
};

/// Executes a hostile program both ways; both must end the same.
fn execute(name: &str) -> Execution {
    let mut worker = loaded(&program(&format!("hostile/{name}")));
    let mut run = |execute| {
        let request = RunRequest { execute, limits: LIMITS, ..request("default<O1>") };
        worker.run(&request).unwrap().outcome.execution().unwrap().clone()
    };
    let in_child = run(Execute::InChild);
    let as_process = run(Execute::AsProcess);
    assert_eq!(in_child, as_process);
    assert_alive(&mut worker);
    in_child
}

/// Nothing a program does may cost the worker its life.
fn assert_alive(worker: &mut Worker) {
    worker.run(&request("function(sroa)")).unwrap();
    assert_eq!(worker.n_replaced(), 0, "the program took the worker down");
}

fn check(name: &str, end: ProgramEnd, stdout: &str) {
    let execution = execute(name);
    assert_eq!(execution.end, end);
    assert_eq!(String::from_utf8_lossy(&execution.stdout), stdout);
}

#[test]
fn one_that_never_ends_is_stopped() {
    check("never_ends.c", ProgramEnd::Timeout, "");
}

#[test]
fn one_that_sleeps_for_ever_is_stopped() {
    check("sleeps.c", ProgramEnd::Timeout, "");
}

#[test]
fn one_that_prints_without_end_is_stopped_and_its_output_is_cut() {
    let execution = execute("prints_without_end.c");
    assert_eq!(execution.end, ProgramEnd::OutputLimit);
    assert_eq!(execution.stdout.len() as u64, LIMITS.output);
}

#[test]
fn one_that_allocates_without_end_is_stopped() {
    check("allocates_without_end.c", ProgramEnd::OutOfMemory, "");
}

#[test]
fn one_that_forks_is_refused() {
    check("forks_without_end.c", ProgramEnd::Exited(0), "fork refused: EPERM\n");
}

#[test]
fn one_that_writes_outside_its_directory_is_refused() {
    let expected = "outside: refused\nabsolute: refused\nnull: written\nchmod: refused\n";
    check("writes_outside.c", ProgramEnd::Exited(0), expected);
}

#[test]
fn one_that_kills_its_parent_is_refused() {
    check("kills_parent.c", ProgramEnd::Exited(0), "parent: refused\neverybody: refused\n");
}

#[test]
fn one_that_opens_a_socket_is_refused() {
    check("calls_home.c", ProgramEnd::Exited(0), "socket: refused\n");
}

#[test]
fn files_in_the_private_directory_are_gone_before_the_next_run() {
    // The program says "refused" where the folder is there already.
    check("leaves_files.c", ProgramEnd::Exited(0), "private: written\n");
}

#[test]
fn one_that_locks_its_folder_leaves_nothing() {
    // As the folder above: it must be gone before the second run.
    check("locks_its_folder.c", ProgramEnd::Exited(0), "locked: made\n");
}

#[test]
fn one_that_shares_memory_without_end_is_stopped() {
    check("shares_without_end.c", ProgramEnd::OutOfMemory, "");
}

#[test]
fn ways_around_the_fence_are_closed() {
    let expected = "pipe: done\nowner of signals: refused\nkind of signal: refused\n\
                    typing: refused\nterminal: refused\nmemory file: refused\n\
                    new call: refused\naffinity: refused\ndeath signal: refused\n";
    check("reaches_out.c", ProgramEnd::Exited(0), expected);
}

#[test]
fn root_has_no_rights_behind_the_fence() {
    let expected = "capabilities: none\nclock: refused\nopen_tree: refused\nmove_mount: refused\n\
                    fsopen: refused\nfsconfig: refused\nfsmount: refused\nfspick: refused\n\
                    mount_setattr: refused\naccounting: refused\nqueue: refused\n";
    check("acts_as_root.c", ProgramEnd::Exited(0), expected);
}

#[test]
fn one_that_starts_threads_without_end_is_stopped() {
    check("starts_threads_without_end.c", ProgramEnd::ThreadLimit, "");
}

#[test]
fn one_whose_address_space_is_free_is_stopped_by_what_is_resident() {
    let limits = Limits { with_shadows: true, ..LIMITS };
    let mut worker = loaded(&program("hostile/allocates_without_end.c"));
    let request = RunRequest { execute: Execute::AsProcess, limits, ..request("default<O1>") };
    let outcome = worker.run(&request).unwrap().outcome;
    assert_eq!(outcome.execution().unwrap().end, ProgramEnd::OutOfMemory);
    assert_alive(&mut worker);
}

#[test]
fn one_that_closes_all_descriptors_harms_only_itself() {
    check("closes_everything.c", ProgramEnd::Exited(5), "first\n");
}

#[test]
fn one_that_scribbles_over_memory_harms_only_itself() {
    check("scribbles.c", ProgramEnd::Signaled(11), "");
}
