//! Whatever happens to `optsleuth`, nothing of it stays: no process, no file.

use std::path::Path;
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

use optsleuth_compiler::spawn::Tool;

use crate::program::{optsleuth, processes_in, testdata};

/// Long enough for a loaded machine; reached only by a failure.
const PATIENCE: Duration = Duration::from_secs(30);

fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        sleep(Duration::from_millis(20));
    }
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

fn start(temporary: &Path, name: &str, more: &[&str]) -> Child {
    optsleuth()
        .env("TMPDIR", temporary)
        .args(["run", &testdata(name), "--llvm", "19", "--passes", "sroa", "--execute"])
        .args(["--timeout", "1000"])
        .args(more)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap()
}

fn signal(child: &Child, signal: &str) {
    Tool::new("kill").args([signal, &child.id().to_string()]).check().unwrap();
}

/// The zygote, its session and the program itself.
fn program_runs(temporary: &Path) -> bool {
    processes_in(temporary).len() >= 3
}

#[test]
fn nothing_stays_after_hostile_programs() {
    for name in ["never_ends.c", "forks_without_end.c", "leaves_files.c", "prints_without_end.c"] {
        for mode in [&[][..], &["--as-process"]] {
            let temporary = tempfile::tempdir().unwrap();
            let output = optsleuth()
                .env("TMPDIR", temporary.path())
                .args(["run", &testdata(&format!("hostile/{name}")), "--llvm", "19"])
                .args(["--passes", "sroa", "--execute", "--timeout", "0.3"])
                .args(mode)
                .output()
                .unwrap();
            assert!(matches!(output.status.code(), Some(0 | 5)), "{name}: {output:?}");
            assert!(is_empty(temporary.path()), "{name} left files");
            assert_eq!(processes_in(temporary.path()), Vec::<String>::new(), "{name}");
        }
    }
}

#[test]
fn nothing_stays_after_kill_9() {
    for mode in [&[][..], &["--as-process"]] {
        let temporary = tempfile::tempdir().unwrap();
        let mut child = start(temporary.path(), "hostile/never_ends.c", mode);
        wait_for("the program", || program_runs(temporary.path()));
        signal(&child, "-KILL");
        child.wait().unwrap();
        wait_for("the processes to end", || processes_in(temporary.path()).is_empty());
        wait_for("the private directory to go", || is_empty(temporary.path()));
    }
}

#[test]
fn nothing_stays_after_an_interrupt() {
    let temporary = tempfile::tempdir().unwrap();
    let mut child = start(temporary.path(), "hostile/never_ends.c", &[]);
    wait_for("the program", || program_runs(temporary.path()));
    signal(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    wait_for("the processes to end", || processes_in(temporary.path()).is_empty());
    wait_for("the private directory to go", || is_empty(temporary.path()));
}
