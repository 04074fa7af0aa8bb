//! Whole projects: `optsleuth build`, and `optsleuth triage` of what it recorded.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use fs_err as fs;
use optsleuth_compiler::spawn::Tool;
use serde_json::Value;

use crate::program::{failure, json, optsleuth, run, testdata};

/// A copy of a small project.
fn copy() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in fs::read_dir(testdata("project")).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
    }
    folder
}

/// Builds it; exit status, and what was said.
fn build(tree: &Path, project: &Path, more: &[&str], command: &[&str]) -> (i32, String) {
    let mut build = optsleuth();
    build.current_dir(tree).arg("build").arg("-o").arg(project);
    let output = build.args(more).arg("--").args(command).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn the_unit_and_the_function_that_break_a_check_are_found() {
    let (tree, record) = (copy(), tempfile::tempdir().unwrap());
    let project = record.path().join("project");
    let (status, said) =
        build(tree.path(), &project, &["--llvm", "19"], &["make", "EXTRA=-DWRAPS"]);
    assert_eq!(status, 0, "{said}");
    assert!(said.contains("3 units and 2 links and archives"), "{said}");
    let built = fs::read(tree.path().join("list.o")).unwrap();
    let project = project.display().to_string();
    let output = run(&["triage", &project, "--check", "make check", "--json"]);
    assert_eq!(output.status.code(), Some(3));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["units"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["units"][0]["name"], "list.c");
    assert_eq!(found["units"][0]["functions"], Value::from(vec!["is_allowed"]), "{found}");
    assert_eq!(found["units"][0]["n_functions"], 2);
    // What the user should look at first.
    let said = found["sanitizers"]["text"].as_str().unwrap();
    assert!(said.contains("list.c:6:19: runtime error: signed integer overflow"), "{said}");
    assert_eq!(found["several"], Value::Array(vec![]));
    // The tree is as the build left it.
    assert!(fs::read(tree.path().join("list.o")).unwrap() == built, "another object");
}

/// A compiler that is wrong is found down to the pass, as the page says.
#[test]
fn the_newcomers_page_works_to_the_letter() {
    let folder = tempfile::tempdir().unwrap();
    // Sanitizers reserve more addresses than tools may have.
    let script = Tool::new(testdata("../scripts/my-build-breaks.sh")).memory(u64::MAX);
    let said = script.arg(env!("CARGO_BIN_EXE_optsleuth")).arg(folder.path()).text().unwrap();
    assert!(said.contains("guilty unit      sum.c at -O2 (one of 3)"), "{said}");
    // Where it shows.
    assert!(said.contains("on function list_sum"), "{said}");
    let report = fs::read_to_string(folder.path().join("case/report.md")).unwrap();
    for part in ["`sum.c` at `-O2`, one of 3 units", "sanitizers in the guilty units", "```diff"] {
        assert!(report.contains(part), "{part}: {report}");
    }
}

#[test]
fn a_unit_of_gcc_is_found_down_to_the_pass_and_the_function() {
    let (tree, record) = (copy(), tempfile::tempdir().unwrap());
    let project = record.path().join("project");
    // No fault of gcc's, and no sanitizer's matter.
    let (status, said) =
        build(tree.path(), &project, &[], &["make", "CC=gcc-12", "EXTRA=-DHIDDEN"]);
    assert_eq!(status, 0, "{said}");
    let project = project.display().to_string();
    let case = record.path().join("case").display().to_string();
    let args =
        ["triage", &project, "--check", "make check", "--budget", "30s", "--json", "-o", &case];
    let found = json(&args);
    assert_eq!(found["units"][0]["name"], "sum.c", "{found}");
    let guilty = found["triage"]["guilty"].as_str().unwrap();
    assert!(guilty.contains("tree-") && guilty.contains("list_sum"), "{found}");
}

#[test]
fn a_project_that_is_right_is_not_triaged() {
    let (tree, record) = (copy(), tempfile::tempdir().unwrap());
    let project = record.path().join("project");
    let (status, said) = build(tree.path(), &project, &[], &["make"]);
    assert_eq!(status, 0, "{said}");
    let folder = project.display().to_string();
    let (code, said) = failure(&["triage", &folder, "--check", "make check"]);
    assert_eq!((code, said.contains("nothing fails")), (6, true), "{said}");
    let (code, said) = failure(&["triage", &folder, "--check", "false"]);
    assert_eq!((code, said.contains("without any optimization")), (6, true), "{said}");
    // What is there is not lost by mistake, and a failing build fails as without us.
    let (code, said) = build(tree.path(), &project, &[], &["make"]);
    assert_eq!((code, said.contains("exists already")), (1, true), "{said}");
    let (code, said) =
        build(tree.path(), &record.path().join("other"), &[], &["sh", "-c", "exit 7"]);
    assert_eq!((code, said.contains("no compilation was recorded")), (7, true), "{said}");
}

#[test]
fn a_compiler_that_crashes_in_a_build_is_triaged_on_that_file() {
    let (tree, record) = (copy(), tempfile::tempdir().unwrap());
    let project = record.path().join("project");
    // gcc cannot do without this pass.
    let (status, said) =
        build(tree.path(), &project, &[], &["make", "CC=gcc-12", "EXTRA=-fdisable-tree-ssa"]);
    assert_ne!(status, 0, "{said}");
    assert!(said.contains("if the compiler crashed: optsleuth triage"), "{said}");
    let project = project.display().to_string();
    let case = record.path().join("case").display().to_string();
    let args = ["triage", &project, "--budget", "10s", "--built-in", "--json", "-o", &case];
    let found = json(&args);
    assert_eq!(found["kind"], "crash", "{found}");
    // Nothing of what it includes is missed.
    let report = fs::read_to_string(Path::new(&case).join("report.md")).unwrap();
    assert!(report.contains("-fdisable-tree-ssa"), "{report}");
}

#[test]
fn a_build_that_is_over_is_known_by_its_compile_commands() {
    let (tree, record) = (copy(), tempfile::tempdir().unwrap());
    let flags = "-O2 -mllvm -force-attribute=add:noreturn";
    let make = format!("make CC=clang-19 CFLAGS='{flags}'");
    Tool::new("sh").args(["-c", &make]).directory(tree.path()).check().unwrap();
    let entry = |name: &str| {
        let command = format!("clang-19 {flags} -c -o {name}.o {name}.c");
        serde_json::json!({
            "directory": tree.path(), "command": command, "file": format!("{name}.c"),
        })
    };
    let entries = Value::from(["main", "list", "sum", "gone"].map(entry).to_vec());
    let database = record.path().join("compile_commands.json");
    fs::write(&database, entries.to_string()).unwrap();
    let project = record.path().join("project").display().to_string();
    let mut import = optsleuth();
    import.current_dir(tree.path()).args(["build", "-o", &project, "--relink", &make]);
    let output = import.arg("--compile-commands").arg(&database).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("3 units and 1 links"), "{said}");
    let case = record.path().join("case").display().to_string();
    let args = ["triage", &project, "--check", "test `./prog` = 6", "--budget", "4s", "--json"];
    let found = json(&[&args[..], &["--zoom", "off", "-o", &case]].concat());
    assert_eq!(found["units"][0]["name"], "sum.c", "{found}");
}

#[test]
fn ctrl_c_ends_a_search_and_leaves_the_tree_as_it_was() {
    let (tree, record) = (copy(), tempfile::tempdir().unwrap());
    let project = record.path().join("project");
    let (status, said) = build(tree.path(), &project, &["--llvm", "19"], &["make"]);
    assert_eq!(status, 0, "{said}");
    let built = fs::read(tree.path().join("sum.o")).unwrap();
    // It fails as built; without optimization it does not end.
    let check = "touch begun; cmp -s sum.o built.o && exit 1; touch searching; sleep 1000";
    fs::copy(tree.path().join("sum.o"), tree.path().join("built.o")).unwrap();
    let mut triage = optsleuth();
    let mut child = triage.arg("triage").arg(&project).args(["--check", check]).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !tree.path().join("searching").exists() {
        assert!(Instant::now() < deadline, "it never searched");
        sleep(Duration::from_millis(20));
    }
    Tool::new("kill").args(["-INT", &child.id().to_string()]).check().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(fs::read(tree.path().join("sum.o")).unwrap() == built, "another object");
}
