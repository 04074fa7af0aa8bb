//! Cases and `optsleuth case check`, as a user sees them.

use std::path::Path;

use crate::program::{copy_of_case, failure, json, run, testdata};

fn case(name: &str) -> String {
    testdata(&format!("cases/{name}"))
}

/// A folder with a case made of these files.
fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let path = folder.path().display().to_string();
    (folder, path)
}

/// A copy of a case with a part of its `case.toml` replaced.
fn changed(name: &str, from: &str, to: &str) -> (tempfile::TempDir, String) {
    let (folder, path) = copy_of_case(name);
    let file = folder.path().join("case.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains(from), "{text}");
    std::fs::write(&file, text.replace(from, to)).unwrap();
    (folder, path)
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn cases_that_fail_as_they_say_are_confirmed() {
    let (crash, invalid, wrong) = (case("crash"), case("invalid-ir"), case("wrong-code"));
    let args = ["case", "check", &crash, &invalid, &wrong];
    let json = json(&[&args[..], &["--json"]].concat());
    assert_eq!(json["version"], 1);
    assert_eq!(json["reproduced"], 3, "{json}");
    for entry in json["cases"].as_array().unwrap() {
        assert_eq!(entry["status"], "reproduces", "{entry}");
        assert_eq!(entry["failing"], 5, "{entry}");
        assert_eq!(entry["confirmed"], true, "{entry}");
        assert!(!entry["commands"].as_array().unwrap().is_empty(), "{entry}");
    }
    assert_eq!(json["cases"][2]["references"].as_array().unwrap().len(), 4);
    let text = run(&args);
    assert_eq!(text.status.code(), Some(0));
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("crash: reproduces (crash)"), "{text}");
    assert!(text.contains("5 of 5 repetitions fail the same way"), "{text}");
    assert!(text.contains("3 of 3 cases reproduce"), "{text}");
}

/// The wrong pass is part of every level; the option makes it wrong.
const AT_LEVEL: &str = "version = 1\nid = \"level\"\ncompiler = { llvm = \"19\" }\n\
    input = \"forced.c\"\nlevel = \"O2\"\nflags = [\"-force-attribute=add:noreturn\"]\n\
    kind = \"wrong-code\"\n";

#[test]
fn a_level_takes_the_programs_way_through_clang() {
    let program = std::fs::read_to_string(testdata("first-wrong/forced.c")).unwrap();
    let (_folder, path) = folder(&[("case.toml", AT_LEVEL), ("forced.c", &program)]);
    let found = &json(&["case", "check", &path, "--json"])["cases"][0];
    assert_eq!(found["status"], "reproduces", "{found}");
    let references = found["references"].as_array().unwrap();
    assert_eq!(references.len(), 5, "four at -O0, and the level's own IR: {found}");
    let commands = found["commands"].to_string();
    assert!(
        commands.contains("clang-19 -S -emit-llvm -w -O2 -Xclang -disable-llvm-passes"),
        "{found}"
    );
    assert!(
        commands
            .contains("'-passes=default<O2>' -force-attribute=add:noreturn -relocation-model=pic"),
        "{found}"
    );
}

#[test]
fn a_hang_and_used_up_memory_are_cases() {
    let explodes = std::fs::read_to_string(testdata("explodes.ll")).unwrap();
    let toml = "version = 1\nid = \"x\"\ncompiler = { llvm = \"19\" }\ninput = \"x.ll\"\n\
                passes = \"always-inline\"\nkind = \"hang\"\n";
    let (_kept, path) = folder(&[("case.toml", toml), ("x.ll", &explodes)]);
    let args = ["case", "check", &path, "--json", "--timeout", "0.2", "--no-confirm"];
    let hang = json(&args);
    assert_eq!(hang["cases"][0]["status"], "reproduces", "{hang}");
    let (_kept, path) =
        folder(&[("case.toml", &toml.replace("hang", "memory")), ("x.ll", &explodes)]);
    let args = ["case", "check", &path, "--json", "--memory", "256", "--no-confirm"];
    let memory = json(&args);
    assert_eq!(memory["cases"][0]["status"], "reproduces", "{memory}");
}

#[test]
fn a_code_generator_that_refuses_is_a_case() {
    let bad_asm = std::fs::read_to_string(testdata("bad_asm.ll")).unwrap();
    let toml = "version = 1\nid = \"x\"\ncompiler = { llvm = \"19\" }\ninput = \"x.ll\"\n\
                level = \"O1\"\nkind = \"codegen\"\n";
    let (_kept, path) = folder(&[("case.toml", toml), ("x.ll", &bad_asm)]);
    let json = json(&["case", "check", &path, "--json"]);
    assert_eq!(json["cases"][0]["status"], "reproduces", "{json}");
    assert_eq!(json["cases"][0]["confirmed"], true, "{json}");
    assert!(json["cases"][0]["commands"].to_string().contains("llc-19 -O1"), "{json}");
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn a_case_that_passes_is_not_reproduced() {
    let crash = case("crash");
    let args = ["case", "check", &crash, "--llvm", "19"];
    assert_eq!(run(&args).status.code(), Some(6));
    let json = json(&[&args[..], &["--json"]].concat());
    assert_eq!(json["cases"][0]["status"], "passes", "{json}");
    assert_eq!(json["cases"][0]["failing"], 0);
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn another_failure_is_not_the_cases() {
    let (_kept, path) = changed("crash", "kind = \"crash\"", "kind = \"invalid-ir\"");
    let args = ["case", "check", &path];
    assert_eq!(run(&args).status.code(), Some(6));
    let json = json(&[&args[..], &["--json"]].concat());
    assert_eq!(json["cases"][0]["status"], "fails-otherwise", "{json}");
}

/// Where things lie in memory is not the program's to decide.
const PRINTS_AN_ADDRESS: &str =
    "#include <stdio.h>\nint main(void) { int x = 1; printf(\"%p\\n\", (void *)&x); return 0; }\n";

const WRONG_CODE: &str = "version = 1\nid = \"x\"\ncompiler = { llvm = \"19\" }\n\
                          input = \"x.c\"\npasses = \"sroa\"\nkind = \"wrong-code\"\n";

#[test]
fn a_program_without_defined_behaviour_is_no_case() {
    let (_kept, path) = folder(&[("case.toml", WRONG_CODE), ("x.c", PRINTS_AN_ADDRESS)]);
    let args = ["case", "check", &path];
    let output = run(&args);
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("not a valid case") && text.contains("is not defined"), "{text}");
}

/// Prints 0 until `llvm.is.constant` is decided after optimization; from then
/// on, what it prints is chance.
const FLAKY: &str = r#"
target triple = "x86_64-unknown-linux-gnu"
@text = constant [4 x i8] c"%d\0A\00"
declare i32 @printf(ptr, ...)
declare i32 @getpid()
declare i1 @llvm.is.constant.i32(i32)
define i32 @main() {
  %slot = alloca i32
  store i32 1, ptr %slot
  %value = load i32, ptr %slot
  %known = call i1 @llvm.is.constant.i32(i32 %value)
  br i1 %known, label %chance, label %sure
sure:
  call i32 (ptr, ...) @printf(ptr @text, i32 0)
  ret i32 0
chance:
  %pid = call i32 @getpid()
  %bit = and i32 %pid, 1
  call i32 (ptr, ...) @printf(ptr @text, i32 %bit)
  ret i32 0
}
"#;

#[test]
fn a_failure_that_comes_and_goes_is_rejected() {
    let toml = WRONG_CODE
        .replace("x.c", "x.ll")
        .replace("\"sroa\"", "\"sroa,lower-constant-intrinsics,simplifycfg\"");
    let (_kept, path) = folder(&[("case.toml", &toml), ("x.ll", FLAKY)]);
    // Five equal numbers in a row are chance, too; ten times over they are not.
    let is_flaky = |_: &i32| {
        let json = json(&["case", "check", &path, "--json"]);
        json["cases"][0]["status"] == "flaky"
    };
    assert!((0..10).any(|attempt| is_flaky(&attempt)));
    let exits: Vec<Option<i32>> =
        (0..5).map(|_| run(&["case", "check", &path, "--no-confirm"]).status.code()).collect();
    assert!(exits.contains(&Some(3)), "{exits:?}");
}

#[test]
fn bad_folders_are_named_with_file_and_line() {
    let check = |path: &str, message: &str, help: &str| {
        for command in [&["case", "check"][..], &["localize"], &["report"]] {
            let (code, stderr) = failure(&[command, &[path]].concat());
            assert_eq!(code, 1, "{stderr}");
            assert!(stderr.contains(message) && stderr.contains(help), "{stderr}");
        }
    };
    check("/nonexistent", "has no case.toml", "docs/case-format.md");
    let (_kept, path) = folder(&[("case.toml", WRONG_CODE)]);
    check(&path, "x.c` does not exist", "`input` in case.toml");
    let (_kept, path) = changed("crash", "kind = \"crash\"", "kind = \"explosion\"");
    check(&path, "case.toml:7: unknown variant `explosion`", "docs/case-format.md");
    let (_kept, path) = changed("crash", "passes = ", "pases = ");
    check(&path, "case.toml:6: unknown field `pases`", "docs/case-format.md");
    let file = Path::new(&path).join("case.toml").display().to_string();
    check(&file, "case.toml:6", "docs/case-format.md");
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn what_cannot_be_run_is_said() {
    let (_kept, path) = changed("crash", "llvm = \"14\"", "gcc = \"12\"");
    let (code, stderr) = failure(&["case", "check", &path]);
    assert_eq!(code, 1);
    assert!(stderr.contains("`level` has to be given"), "{stderr}");
    let (_kept, path) = changed("crash", "llvm = \"14\"", "llvm = \"18\"");
    let (code, stderr) = failure(&["case", "check", &path]);
    assert_eq!(code, 4);
    assert!(stderr.contains("another one may do"), "{stderr}");
    let (_kept, path) = changed("crash", "slp-vectorizer\"", "slp-vectoriser\"");
    let (code, stderr) = failure(&["case", "check", &path]);
    assert_eq!(code, 1);
    assert!(stderr.contains("slp-vectoriser") && stderr.contains("slp-vectorizer"), "{stderr}");
}

#[test]
fn one_bad_case_does_not_hide_the_others() {
    let always = case("always");
    let json = json(&["case", "check", "/nonexistent", &always, "--json"]);
    assert_eq!(json["cases"][0]["status"], "error");
    assert_eq!(json["cases"][1]["status"], "reproduces");
    assert_eq!(run(&["case", "check", "/nonexistent", &always]).status.code(), Some(1));
}
