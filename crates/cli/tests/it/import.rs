//! `optsleuth case import`, as a user sees it: on a file of our own, around a
//! program that LLVM 14 crashes on.

use std::path::Path;

use serde_json::{Value, json};

use crate::program::{failure, json, run, testdata};

const PASSES: &str = "structurizecfg,break-crit-edges,structurizecfg,slp-vectorizer";

/// The program of one of our cases, as IR that clang 14 makes of it.
fn module(case: &str) -> String {
    let (kept, source) = (folder(&[]), testdata(&format!("cases/{case}")));
    let file = path(&kept, "module.ll");
    let made = run(&["run", &source, "--llvm", "14", "--passes", "verify", "-o", &file]);
    assert_eq!(made.status.code(), Some(0));
    std::fs::read_to_string(file).unwrap()
}

fn test(name: &str, body: &str) -> Value {
    json!({"test_name": name, "test_body": body})
}

fn tests(commands: &[&str], tests: &[Value]) -> Value {
    json!({"file": "llvm/test/x.ll", "commands": commands, "tests": tests})
}

fn bug(id: &str, bug_type: &str, tests: &[Value]) -> Value {
    json!({
        "bug_id": id,
        "bug_type": bug_type,
        "issue": {"title": "A title"},
        "issue_url": "https://example.org/issue",
        "hints": {
            "bug_location_funcname": {"llvm/lib/Transforms/Scalar/StructurizeCFG.cpp": ["f"]},
            "bug_location_lineno": {},
            "components": ["StructurizeCFG"],
            "fix_commit": "abc"
        },
        "tests": tests
    })
}

/// A folder with these files, and the folder's path.
fn folder(files: &[(&str, String)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn path(folder: &tempfile::TempDir, name: &str) -> String {
    folder.path().join(name).display().to_string()
}

const NOTHING: &str = "define void @nothing() {\n  ret void\n}\n";

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn what_fails_becomes_a_case_that_checks() {
    let crash = module("crash/checked.c");
    let crash_line = format!("opt -S -passes={PASSES} < %s | FileCheck %s");
    let invalid_line = "opt -passes=structurizecfg,break-crit-edges,structurizecfg %s -S";
    let all = [
        tests(&["llc < %s"], &[test("codegen", NOTHING)]),
        tests(&[&crash_line, invalid_line], &[test("good", NOTHING), test("bad", &crash)]),
    ];
    let kept = folder(&[("7.json", bug("7", "crash", &all).to_string())]);
    let (file, out) = (path(&kept, "7.json"), path(&kept, "cases"));
    let args = ["case", "import", &file, "-o", &out, "--llvm", "19", "--llvm", "14"];
    let result = json(&[&args[..], &["--json"]].concat());
    assert_eq!(result["imported"], 2, "{result}");
    let tests = result["files"][0]["tests"].as_array().unwrap();
    let statuses: Vec<&str> = tests.iter().map(|test| test["status"].as_str().unwrap()).collect();
    let nowhere = "reproduces-nowhere";
    assert_eq!(statuses, ["not-expressible", nowhere, nowhere, "reproduces", "reproduces"]);
    assert_eq!(tests[3]["case"]["kind"], "crash", "{result}");
    assert_eq!(tests[4]["case"]["kind"], "invalid-ir", "{result}");
    assert_eq!(tests[3]["attempts"][0]["llvm"], 19);
    assert_eq!(tests[3]["attempts"][0]["status"], "passes", "{result}");
    let toml = std::fs::read_to_string(Path::new(&out).join("7/case.toml")).unwrap();
    for line in [
        "id = \"7\"",
        "title = \"A title\"",
        "source = \"https://example.org/issue\"",
        "llvm = \"14\"",
        &format!("passes = \"{PASSES}\""),
        "kind = \"crash\"",
        "fails_in = [\"14\"]",
        "confidence = \"fix-commit\"",
        "fix_commit = \"abc\"",
    ] {
        assert!(toml.contains(line), "{line}: {toml}");
    }
    let (one, two) = (format!("{out}/7"), format!("{out}/7-2"));
    let check = json(&["case", "check", &one, &two, "--json"]);
    assert_eq!(check["reproduced"], 2, "{check}");

    let (code, stderr) = failure(&args);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("exists already") && stderr.contains("--force"), "{stderr}");
    let text = run(&[&args[..], &["--force"]].concat());
    assert_eq!(text.status.code(), Some(0));
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("x.ll: codegen: not imported") && text.contains("`llc`"), "{text}");
    assert!(text.contains("LLVM 19, 14: passes"), "{text}");
    assert!(text.contains("2 cases of 1 files imported"), "{text}");
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn wrong_code_is_executed_or_said_not_to_be_executable() {
    let wrong = module("wrong-code/shift.c");
    let line = "opt -passes=structurizecfg,structurizecfg -S < %s";
    let all = [tests(&[line], &[test("library", NOTHING), test("program", &wrong)])];
    let kept = folder(&[("8.json", bug("8", "miscompilation", &all).to_string())]);
    let (file, out) = (path(&kept, "8.json"), path(&kept, "cases"));
    let args = ["case", "import", &file, "-o", &out, "--llvm", "14", "--json"];
    let result = json(&args);
    let tests = &result["files"][0]["tests"];
    assert_eq!(tests[0]["status"], "not-executable", "{result}");
    assert_eq!(tests[1]["case"]["kind"], "wrong-code", "{result}");
    assert_eq!(tests[1]["case"]["id"], "8", "{result}");
    let result = json(&[&args[..], &["--keep-all", "--force"]].concat());
    assert_eq!(result["imported"], 2, "{result}");
    assert_eq!(result["files"][0]["tests"][0]["case"]["id"], "8-2", "{result}");
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn what_fails_nowhere_is_listed_and_kept_only_if_asked() {
    let unknown = "opt -passes=no-such-pass %s";
    let all = [tests(&["opt -passes=sroa %s", unknown], &[test("good", NOTHING)])];
    let kept = folder(&[("9.json", bug("9", "crash", &all).to_string())]);
    let (file, out) = (path(&kept, "9.json"), path(&kept, "cases"));
    let args = ["case", "import", &file, "-o", &out, "--llvm", "19"];
    let output = run(&args);
    assert_eq!(output.status.code(), Some(6));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("LLVM 19: passes"), "{text}");
    assert!(text.contains("LLVM 19: cannot be tried: unknown pass `no-such-pass`"), "{text}");
    assert!(!Path::new(&out).exists());
    assert_eq!(run(&[&args[..], &["--keep-all"]].concat()).status.code(), Some(0));
    let toml = std::fs::read_to_string(Path::new(&out).join("9/case.toml")).unwrap();
    assert!(toml.contains("kind = \"crash\"") && !toml.contains("fails_in"), "{toml}");
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn wrong_files_are_named_and_do_not_hide_the_others() {
    let all = [tests(&["opt -passes=trigger-crash-function %s"], &[test("bad", NOTHING)])];
    let good = bug("10", "crash", &all).to_string();
    let wrong = good.replace("\"crash\"", "\"slow\"").replace(",\"issue\"", ",\n\"issue\"");
    let kept = folder(&[("good.json", good), ("wrong.json", wrong)]);
    let out = path(&kept, "cases");
    let wrong = path(&kept, "wrong.json");
    let (code, stderr) = failure(&["case", "import", &wrong, "-o", &out, "--llvm", "19"]);
    assert_eq!(code, 1);
    assert!(stderr.contains("wrong.json:1: unknown variant `slow`"), "{stderr}");
    assert!(stderr.contains("help: "), "{stderr}");
    let (code, stderr) = failure(&["case", "import", "/nonexistent", "-o", &out, "--llvm", "19"]);
    assert_eq!(code, 1);
    assert!(stderr.contains("`/nonexistent`"), "{stderr}");
    let good = path(&kept, "good.json");
    let both = ["case", "import", &wrong, &good, "-o", &out, "--llvm", "19", "--json"];
    let output = run(&both);
    assert_eq!(output.status.code(), Some(1));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(result["files"][0]["error"].to_string().contains("slow"), "{result}");
    assert_eq!(result["imported"], 1, "{result}");
}
