//! Runs the real `optsleuth`, as a user's shell would.
#![expect(clippy::disallowed_methods, reason = "a test starts the program itself")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

pub fn testdata(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name);
    path.canonicalize().unwrap().display().to_string()
}

/// A copy of one of our cases, for results to be kept in. The folder goes when
/// the first of the two does.
pub fn copy_of_case(name: &str) -> (tempfile::TempDir, String) {
    let original = PathBuf::from(testdata(&format!("cases/{name}")));
    let folder = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(&original).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            std::fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
        }
    }
    let path = folder.path().display().to_string();
    (folder, path)
}

/// The program, not yet started.
pub fn optsleuth() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_optsleuth"));
    command.stdin(Stdio::null());
    command
}

pub fn run(args: &[&str]) -> Output {
    optsleuth().args(args).output().unwrap()
}

pub fn json(args: &[&str]) -> Value {
    let output = run(args);
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// Exit code and standard error of a command that has to fail.
pub fn failure(args: &[&str]) -> (i32, String) {
    let output = run(args);
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// Processes whose working directory lies in this folder: our workers and
/// whatever they started.
pub fn processes_in(folder: &Path) -> Vec<String> {
    let folder = folder.canonicalize().unwrap();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let lies_in = |cwd: PathBuf| cwd.starts_with(&folder);
        if std::fs::read_link(entry.path().join("cwd")).is_ok_and(lies_in) {
            found.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    found
}
