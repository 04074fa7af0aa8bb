//! Cases of gcc and of clang's driver, as a user sees them: real compilers, and
//! scripts around them that fail on purpose.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::program::{failure, json, optsleuth, run};

/// gcc, but at -O2 another program.
const MISCOMPILES: &str = "case \" $* \" in *' -O2 '*) exec gcc-12 -DBROKEN \"$@\" ;; esac\n\
                           exec gcc-12 \"$@\"";

/// gcc, but at -O2 it does not survive a word in the program.
const CRASHES: &str = "case \" $* \" in *' -O2 '*)\n\
    for word in \"$@\"; do case $word in *.c)\n\
        if grep -q poison \"$word\"; then\n\
            echo 'during GIMPLE pass: vect' >&2\n\
            echo 'x.c:1:1: internal compiler error: in vect_poison, at tree-vect.cc:7' >&2\n\
            exit 1\n\
        fi ;; esac; done ;; esac\n\
    exec gcc-12 \"$@\"";

const DOUBLED: &str = "#include <stdio.h>
static int table[2] = {3, 1};
static int scale(int x) {
#ifdef BROKEN
  return x * 3;
#else
  return x * 2;
#endif
}
int main(void) {
  printf(\"%d\\n\", scale(21));
  printf(\"%d\\n\", table[1]);
  return 0;
}
";

/// A folder with a case of this compiler and, where one is given, its script.
struct Folder {
    _kept: tempfile::TempDir,
    case: String,
}

impl Folder {
    fn new(compiler: &str, program: &str, kind: &str) -> Folder {
        let kept = tempfile::tempdir().unwrap();
        let case = kept.path().join("case");
        fs::create_dir(&case).unwrap();
        fs::write(case.join("program.c"), program).unwrap();
        let toml = format!(
            "version = 1\nid = \"made\"\ncompiler = {{ {compiler} }}\ninput = \"program.c\"\n\
             level = \"O2\"\nkind = \"{kind}\"\n"
        );
        fs::write(case.join("case.toml"), toml).unwrap();
        Folder { case: case.display().to_string(), _kept: kept }
    }

    /// The same with a script in gcc's place.
    fn scripted(script: &str, program: &str, kind: &str) -> Folder {
        let folder = Folder::new("gcc = \"12\"", program, kind);
        let path = folder._kept.path().join("gcc");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        folder.change("\"12\"", &format!("\"{}\"", path.display()));
        folder
    }

    fn change(&self, from: &str, to: &str) {
        let text = self.read("case.toml");
        assert!(text.contains(from), "{text}");
        fs::write(Path::new(&self.case).join("case.toml"), text.replace(from, to)).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(Path::new(&self.case).join(name)).unwrap()
    }

    fn check(&self, code: i32) -> serde_json::Value {
        let output = run(&["case", "check", &self.case, "--trust", "--json"]);
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{said}");
        serde_json::from_str::<serde_json::Value>(&said).unwrap()["cases"][0].clone()
    }
}

#[test]
fn wrong_code_is_measured_by_both_families_and_reduced() {
    let folder = Folder::scripted(MISCOMPILES, DOUBLED, "wrong-code");
    let found = folder.check(0);
    assert_eq!((&found["status"], &found["failing"]), (&"reproduces".into(), &5.into()));
    assert!(found["what"].as_str().unwrap().contains("instead of"), "{found}");
    assert_eq!(found["references"].as_array().unwrap().len(), 2);
    assert_eq!(found["level"], "O2");
    assert!(found["compiler"].as_str().unwrap().starts_with("gcc 12."), "{found}");
    assert!(found["commands"][0].as_str().unwrap().contains("-O2 -w program.c"), "{found}");
    assert!(found.get("llvm").is_none(), "{found}");
    // Long, because a busy machine is no reason to fail.
    let args =
        ["reduce", &folder.case, "--trust", "--tool", "built-in", "--budget", "20m", "--json"];
    let result = json(&args);
    assert_eq!(result["end"], "finished", "{result}");
    let reduced = folder.read("reduced.c");
    assert!(!reduced.contains("table") && reduced.contains("BROKEN"), "{reduced}");
    assert!(folder.read("case.toml").contains("input = \"reduced.c\""));
    assert_eq!(folder.read("original/program.c"), DOUBLED);
    assert_eq!(folder.check(0)["note"], serde_json::Value::Null);
    let again = json(&["reduce", &folder.case, "--trust", "--json"]);
    assert_eq!(again["was_finished"], true);
}

#[test]
fn a_crash_is_known_by_its_signature_and_reduced_by_others_tools() {
    let program = DOUBLED.replace("scale", "poison_scale");
    let folder = Folder::scripted(CRASHES, &program, "crash");
    let found = folder.check(0);
    let signature = "in vect_poison, at tree-vect.cc:N, during GIMPLE pass: vect";
    assert!(found["what"].as_str().unwrap().contains(signature), "{found}");
    folder.change("kind", "signature = \"in something_else\"\nkind");
    assert_eq!(folder.check(6)["status"], "fails-otherwise");
    folder.change("in something_else", signature);
    let result =
        json(&["reduce", &folder.case, "--trust", "--tool", "cvise", "--budget", "60s", "--json"]);
    assert!(result["tools"].as_array().unwrap().iter().any(|tool| tool == "cvise"), "{result}");
    let reduced = folder.read("reduced.c");
    assert!(reduced.contains("poison") && reduced.len() * 3 < program.len(), "{reduced}");
    folder.check(0);
}

/// gcc, but it does not survive that its passes remove a store.
const REMOVES_BADLY: &str = "out=$(mktemp)\n\
    gcc-12 \"$@\" -fdump-rtl-final=$out\n\
    status=$?\n\
    if [ -s $out ] && ! grep -q 'const_int 1234567' $out; then\n\
        echo 'x.c:1:1: internal compiler error: in remove_badly, at dse.cc:7' >&2\n\
        status=1\n\
    fi\n\
    rm $out\n\
    exit $status";

const OVERWRITTEN: &str = "int id(int x) { return x; }
int value;
void overwrite(void) { value = 1234567; value = 2; }
int main(void) { return 0; }
";

#[test]
fn gcc_is_bisected_by_pass_and_function() {
    let folder = Folder::scripted(REMOVES_BADLY, OVERWRITTEN, "crash");
    folder.change("O2", "O1");
    let found = json(&["bisect", &folder.case, "--trust", "--json"]);
    assert_eq!(found["gcc"]["by"], "plugin", "{found}");
    let culprit = |place: usize| {
        let number = found["verdict"]["invocations"][place].as_u64().unwrap();
        found["invocations"][usize::try_from(number).unwrap()].clone()
    };
    // Without the first, others remove it.
    assert_eq!(found["verdict"]["says"], "several-culprits", "{}", found["verdict"]);
    assert_eq!(culprit(0)["pass"], "tree-dse1");
    assert_eq!(culprit(0)["unit"], "function overwrite");
    assert_eq!(found["gcc"]["files"][0], "gcc/tree-ssa-dse.cc");
    assert_eq!(found["minimal"].as_array().unwrap().len(), 1, "{}", found["minimal"]);
    let after = found["change"]["after"].as_str().unwrap();
    assert!(after.contains("value = 2") && !after.contains("1234567"), "{after}");
    assert!(found["gcc"]["version"].as_str().unwrap().contains("gcc version 12."));
}

#[test]
#[ignore = "needs a gcc with probes, which takes a quarter of an hour: make test-gcc"]
fn gcc_with_probes_is_ranked() {
    let folder = Folder::scripted(REMOVES_BADLY, OVERWRITTEN, "crash");
    folder.change("O2", "O1");
    let found = json(&["localize", &folder.case, "--trust", "--runs", "200", "--json"]);
    assert_eq!((&found["of_gcc"], &found["runs"]), (&true.into(), &200.into()));
    let files: Vec<&str> = (found["files"].as_array().unwrap().iter().take(5))
        .filter_map(|file| file["path"].as_str())
        .collect();
    assert!(files.contains(&"gcc/tree-ssa-dse.cc"), "{files:?}");
    let tried = |file: &serde_json::Value| file["cures"]["tried"].as_u64();
    assert!(found["files"].as_array().unwrap().iter().filter_map(tried).sum::<u64>() > 50);
}

#[test]
#[ignore = "needs a gcc with probes, which takes a quarter of an hour: make test-gcc"]
fn gcc_with_probes_is_ranked_by_configurations_and_by_mutants() {
    let folder = Folder::scripted(REMOVES_BADLY, OVERWRITTEN, "crash");
    folder.change("O2", "O1");
    let ranked = |method: &str, runs: &str| {
        let own = ["localize", &folder.case, "--trust", "--method", method, "--json"];
        json(&[&own[..], &["--runs", runs]].concat())
    };
    for (method, runs) in [("options", "90"), ("diwi", "24"), ("recbi", "24")] {
        let found = ranked(method, runs);
        assert_eq!((&found["of_gcc"], &found["method"]), (&true.into(), &method.into()));
        assert!(found["witnesses"].as_u64() > Some(0), "{method}: {}", found["runs"]);
        let first = found["files"][0]["path"].as_str().unwrap();
        assert!(first.contains('.'), "{first}");
    }
    let found = ranked("pass-name", "1");
    assert_eq!(found["files"][0]["path"], "gcc/tree-ssa-dse.cc");
}

#[test]
fn a_case_of_gcc_names_the_methods_that_it_has() {
    let folder = Folder::new("gcc = \"12\"", DOUBLED, "crash");
    let (code, said) = failure(&["localize", &folder.case, "--method", "locseq"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("`locseq` does not rank gcc's code"), "{said}");
    assert!(said.contains("recbi, ") && said.contains("options, by-size"), "{said}");
}

#[test]
fn gcc_without_probes_says_how_to_get_them() {
    let folder = Folder::scripted(REMOVES_BADLY, OVERWRITTEN, "crash");
    let empty = tempfile::tempdir().unwrap();
    let mut localize = optsleuth();
    localize.args(["localize", &folder.case, "--trust"]).env("XDG_CACHE_HOME", empty.path());
    let output = localize.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("`optsleuth provision gcc 12` makes one"), "{said}");
}

#[test]
fn real_failures_of_clangs_driver_are_cases() {
    let program = "#pragma clang __debug crash\nint main(void) { return 0; }\n";
    let folder = Folder::new("clang = \"19\"", program, "crash");
    let found = folder.check(0);
    assert!(found["what"].as_str().unwrap().contains("HandlePragmaDirective"), "{found}");
    folder.change("crash", "hang");
    assert_eq!(folder.check(6)["status"], "fails-otherwise");
    let program = "#pragma clang __debug overflow_stack\nint main(void) { return 0; }\n";
    let folder = Folder::new("clang = \"19\"", program, "hang");
    let found = json(&["case", "check", &folder.case, "--trust", "--timeout", "1", "--json"]);
    assert_eq!(found["cases"][0]["status"], "reproduces", "{found}");
}

#[test]
fn a_program_without_a_judge_blames_no_compiler() {
    let overflows = DOUBLED.replace("scale(21)", "scale(21) + (0x7fffffff + scale(1) < 0 ? 0 : 0)");
    let folder = Folder::scripted(MISCOMPILES, &overflows, "wrong-code");
    let found = folder.check(3);
    assert!(found["what"].as_str().unwrap().contains("signed integer overflow"), "{found}");
    let disputed = DOUBLED.replace("x * 2", "x * 2 + __clang__ + 0");
    let disputed = format!("#ifndef __clang__\n#define __clang__ 0\n#endif\n{disputed}");
    let folder = Folder::scripted(MISCOMPILES, &disputed, "wrong-code");
    let found = folder.check(3);
    assert!(found["what"].as_str().unwrap().contains("by clang"), "{found}");
    let (code, stderr) = failure(&["reduce", &folder.case, "--trust"]);
    assert_eq!(code, 3, "{stderr}");
}

#[test]
fn a_compiler_that_is_right_is_not_accused() {
    let folder = Folder::new("gcc = \"12\"", DOUBLED, "wrong-code");
    assert_eq!(folder.check(6)["status"], "passes");
    let (code, stderr) = failure(&["reduce", &folder.case, "--trust"]);
    assert_eq!(code, 6, "{stderr}");
}

#[test]
fn what_needs_to_look_inside_says_so() {
    let folder = Folder::new("clang = \"19\"", DOUBLED, "wrong-code");
    for command in ["bisect", "localize", "triage"] {
        let (code, stderr) = failure(&[command, &folder.case]);
        assert_eq!(code, 1, "{command}: {stderr}");
        assert!(stderr.contains("cannot look inside"), "{command}: {stderr}");
        assert!(stderr.contains("compiler = { llvm = \"19\" }"), "{command}: {stderr}");
    }
    let (code, stderr) = failure(&["case", "check", &folder.case, "--trust", "--llvm", "19"]);
    assert_eq!(code, 1, "{stderr}");
}

#[test]
fn a_compiler_that_apt_does_not_have_is_not_to_be_installed() {
    let folder = Folder::new("gcc = \"99\"", DOUBLED, "crash");
    let (code, stderr) = failure(&["case", "check", &folder.case, "--trust"]);
    assert_eq!(code, 4, "{stderr}");
    assert!(stderr.contains("apt has no gcc-99 here"), "{stderr}");
    assert!(!stderr.contains("apt-get install"), "{stderr}");
    let folder = Folder::new("gcc = \"/usr/bin/clang-19\"", DOUBLED, "crash");
    let (code, stderr) = failure(&["case", "check", &folder.case, "--trust"]);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("is clang 19"), "{stderr}");
}
