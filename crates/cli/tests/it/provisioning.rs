//! Building a worker: once, whoever asks; whole, whatever happens.
//!
//! One test, because every part of it starts from the cache that the part
//! before it left.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::program::optsleuth;

fn ask(cache: &Path) -> Child {
    optsleuth()
        .env("XDG_CACHE_HOME", cache)
        .args(["passes", "--llvm", "19", "--verbose"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits for an answer; says whether this process linked a worker.
fn answer(child: Child) -> bool {
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("instcombine"));
    stderr.contains("processes.cpp")
}

fn entries(cache: &Path, suffix: &str) -> Vec<PathBuf> {
    let Ok(folder) = std::fs::read_dir(cache.join("optsleuth/workers")) else { return Vec::new() };
    let is_wanted = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let plain = !name.ends_with(".lock") && !name.ends_with(".building");
        if suffix.is_empty() { plain } else { name.ends_with(suffix) }
    };
    folder.flatten().map(|entry| entry.path()).filter(is_wanted).collect()
}

#[test]
fn a_worker_is_built_once_and_whole() {
    let cache = tempfile::tempdir().unwrap();
    let cache = cache.path();

    // Killed in the middle: no entry.
    let mut killed = ask(cache);
    let deadline = Instant::now() + Duration::from_secs(60);
    while entries(cache, ".building").is_empty() {
        assert!(Instant::now() < deadline, "no build began");
        sleep(Duration::from_millis(5));
    }
    sleep(Duration::from_millis(300));
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(entries(cache, ""), Vec::<PathBuf>::new());

    // Ten at the same time: one builds, all are served.
    let all: Vec<Child> = (0..10).map(|_| ask(cache)).collect();
    let builders = all.into_iter().map(answer).filter(|&built| built).count();
    assert_eq!(builders, 1);
    let entry = entries(cache, "");
    assert_eq!(entry.len(), 1, "{entry:?}");
    assert_eq!(entries(cache, ".building"), Vec::<PathBuf>::new());

    // Built already: nobody builds.
    assert!(!answer(ask(cache)));

    // Damaged: noticed, and built anew.
    let worker = entry[0].join("worker");
    let mut bytes = std::fs::read(&worker).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x40;
    std::fs::write(&worker, bytes).unwrap();
    assert!(answer(ask(cache)));
    assert!(!answer(ask(cache)));
}
