//! `optsleuth triage`, as a user sees it: real bugs of LLVM 14, and inputs that
//! are none.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::program::{copy_of_case, failure, json, optsleuth, run, testdata};

const STRUCTURIZER: &str = "llvm/lib/Transforms/Scalar/StructurizeCFG.cpp";
/// Enough to get somewhere, and all of it is used.
const QUICK: [&str; 5] = ["--built-in", "--budget", "6s", "--zoom", "off"];

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn wrong_code_becomes_a_report() {
    let (_kept, case) = copy_of_case("wrong-code");
    let found = json(&[&["triage", &case, "--json"][..], &QUICK].concat());
    assert_eq!((&found["version"], &found["kind"]), (&1.into(), &"wrong-code".into()));
    assert!(found["guilty"].as_str().unwrap().contains("structurizecfg"), "{found}");
    assert_eq!((&found["files"][0], &found["confirmed"]), (&STRUCTURIZER.into(), &true.into()));
    assert_eq!((&found["notes"], &found["interrupted"]), (&Value::Array(vec![]), &false.into()));
    let single = &found["single_pass"];
    assert_eq!(
        (&single["n_passes"], &single["passes"]),
        (&1.into(), &"function(structurizecfg)".into())
    );
    assert!(single["commands"][0].as_str().unwrap().starts_with("opt-14"), "{single}");

    // Everything can be run again.
    let single = single["folder"].as_str().unwrap();
    for folder in [case.as_str(), single] {
        let checked = json(&["case", "check", folder, "--json"]);
        assert_eq!(checked["cases"][0]["status"], "reproduces", "{folder}");
    }
    let folder = Path::new(&case);
    for file in ["bisect.json", "reduce.json", "localize/culprit.json", "original/case.toml"] {
        assert!(folder.join(file).exists(), "{file}");
    }
    let issue = fs::read_to_string(folder.join("report.md")).unwrap();
    for part in [
        "opt-14 '-passes=function(structurizecfg)'",
        "```llvm",
        "```diff",
        "## Suspects",
        STRUCTURIZER,
    ] {
        assert!(issue.contains(part), "{part}: {issue}");
    }
    assert!(!issue.contains(&case) && !issue.contains("ModuleID"), "names a folder: {issue}");
    let page = fs::read_to_string(folder.join("index.html")).unwrap();
    assert!(page.contains("Guilty invocations of passes") && page.contains("Cures"), "no sections");
}

#[test]
fn what_makes_a_program_wrong_is_ranked_and_not_what_makes_it_show() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("case").display().to_string();
    let program = testdata("first-wrong/forced.c");
    let passes = ["--passes", "sroa,forceattrs,simplifycfg", "--llvm", "19"];
    let option = ["--option=-force-attribute=add:noreturn", "--built-in", "--budget", "10s"];
    let option = [&option[..], &["--zoom", "off"]].concat();
    let args = [&["triage", &program, "-o", &out, "--json"][..], &passes, &option].concat();
    let found = json(&args);
    // Whether it needs the other pass to show depends on how far it was reduced.
    assert!(found["guilty"].as_str().unwrap().contains("forceattrs on module"), "{found}");
    assert_eq!(found["files"][0], "llvm/lib/Transforms/IPO/ForceFunctionAttrs.cpp", "{found}");
    let issue = fs::read_to_string(folder.path().join("case/report.md")).unwrap();
    assert!(issue.contains("First wrong value: undefined: the noreturn function add returns"));
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn a_program_that_the_compiler_makes_endless_becomes_a_report() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("case").display().to_string();
    let passes = ["--llvm", "14", "--passes", "structurizecfg,structurizecfg"];
    let program = testdata("endless.c");
    // Every failing run takes half a second: more time than for other programs.
    let time = ["--built-in", "--budget", "20s", "--zoom", "off"];
    let args = [&["triage", &program, "-o", &out, "--json"][..], &passes, &time].concat();
    let found = json(&args);
    assert!(found["what"].as_str().unwrap().contains("does not end"), "{found}");
    assert!(found["guilty"].as_str().unwrap().contains("structurizecfg"), "{found}");
    assert_eq!((&found["files"][0], &found["confirmed"]), (&STRUCTURIZER.into(), &true.into()));
    // No step failed, the reduction among them.
    assert_eq!(found["notes"], Value::Array(vec![]), "{found}");
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn a_program_that_crashes_a_pass_becomes_a_case() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("case");
    let program = testdata("cases/crash/checked.c");
    let passes = "structurizecfg,break-crit-edges,structurizecfg,slp-vectorizer";
    let out = out.to_str().unwrap();
    let args = ["triage", &program, "--llvm", "14", "--passes", passes, "-o", out];
    let output = run(&[&args[..], &QUICK].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.lines().count() <= 15, "{text}");
    for said in ["case: crash on LLVM 14", "guilty", "slp-vectorizer", "verify-each", "report.md"] {
        assert!(text.contains(said), "{said}: {text}");
    }
    let toml = fs::read_to_string(Path::new(out).join("case.toml")).unwrap();
    assert!(toml.contains("kind = \"crash\"") && toml.contains("llvm = \"14\""), "{toml}");
    // What is there is not lost by mistake.
    let (code, stderr) = failure(&args);
    assert_eq!(code, 1);
    assert!(stderr.contains("exists already") && stderr.contains("--force"), "{stderr}");
}

#[test]
fn what_fails_in_code_generation_alone_has_no_guilty_pass_but_a_machine_pass() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("case");
    let args = ["triage", &testdata("bad_asm.ll"), "--llvm", "19", "--level", "O2", "--json"];
    let found = json(&[&args[..], &["-o", out.to_str().unwrap()], &QUICK].concat());
    assert_eq!((&found["kind"], &found["guilty"]), (&"codegen".into(), &Value::Null));
    assert_eq!(found["machine_pass"]["stage"], "writing of the object, by the assembler");
    let issue = fs::read_to_string(out.join("report.md")).unwrap();
    assert!(issue.contains("Guilty pass of the code generator"), "{issue}");
}

/// An input that is no bug -> exit code, and what is said about it.
fn check(name: &str, text: &str, more: &[&str], expected: (i32, &str)) {
    let folder = tempfile::tempdir().unwrap();
    let (input, out) = (folder.path().join(name), folder.path().join("case"));
    fs::write(&input, text).unwrap();
    let mut command = optsleuth();
    command.arg("triage").arg(&input).args(["--llvm", "19"]).args(more).arg("-o").arg(&out);
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        (output.status.code(), output.stdout.is_empty()),
        (Some(expected.0), true),
        "{said}"
    );
    assert!(said.contains(expected.1), "{said}");
    assert!(!out.exists(), "a case was made of it");
}

#[test]
fn what_is_no_bug_is_said_plainly() {
    check("fine.c", "int main(void) { return 3; }", &[], (6, "the program does what it should"));
    let library = "int twice(int n) { return n * 2; }";
    check("library.c", library, &[], (6, "no program that can be executed"));
    let undefined = "#include <stdio.h>\nint main(void) { int a[4]; printf(\"%d\\n\", a[3]); }";
    check("undefined.c", undefined, &[], (3, "not defined"));
    check("broken.c", "int main(void) { return }", &[], (1, "does not compile"));
    check("broken.ll", "define i32 @f() { ret i64 0 }", &[], (1, "cannot load"));
    check("fine.ll", "define void @f() { ret void }", &["--passes", "srao"], (1, "sroa"));
}

#[test]
fn a_failing_command_is_triaged_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (ir, source, case) = (path("f.ll"), path("f.c"), path("case"));
    let text = "target triple = \"x86_64-pc-linux-gnu\"\ndefine i32 @f() {\n  ret i32 1\n}\n";
    fs::write(&ir, text).unwrap();
    fs::write(&source, "int main(void) { return 0; }\n").unwrap();
    let bin = optsleuth_compiler::llvm::find(19).unwrap().bin;
    let tool = |name: &str| bin.join(name).display().to_string();
    let (opt, clang) = (tool("opt"), tool("clang"));
    let mut args = vec!["triage", "-o", &case, "--json", "--built-in", "--budget", "2s"];
    args.extend(["--zoom", "off", "--", &opt, "-passes=trigger-crash-function", &ir, "-S"]);
    let found = json(&args);
    assert_eq!((&found["kind"], &found["confirmed"]), (&"crash".into(), &true.into()), "{found}");
    assert!(found["guilty"].as_str().unwrap().contains("trigger-crash-function"), "{found}");
    assert!(found["llvm"].as_str().unwrap().starts_with("19."), "{found}");

    let check = |command: &[&str], code: i32, expected: &str| {
        let (status, said) = failure(&[&["triage", "-o", &case, "--"], command].concat());
        assert_eq!(status, code, "{said}");
        assert!(said.contains(expected), "{said}");
    };
    check(&[&clang, "-O2", "-c", &source, "-o", "f.o"], 6, "the program does what it should");
    check(&[&clang, "-O2", "-flto", &source], 1, "`-flto` cannot be followed");
    check(&["/none/opt", &ir], 4, "say which one it is");
}
