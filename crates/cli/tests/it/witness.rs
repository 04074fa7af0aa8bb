//! `optsleuth localize` with witness programs, as a user sees it, on real bugs
//! of LLVM 14 and on a code generator that was told to give up.

use serde_json::Value;

use crate::program::{failure, json, run, testdata};

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value}"))
}

/// What a search for programs found, with what always holds checked.
fn found(case: &str, method: &str, runs: &str, more: &[&str]) -> Value {
    let args = ["localize", case, "--method", method, "--runs", runs, "--json", "--no-save"];
    let result = json(&[&args[..], more].concat());
    assert_eq!(result["method"], method, "{result}");
    assert!(number(&result["witnesses"]) > 0, "{result}");
    let programs = &result["programs"];
    assert!(number(&programs["invalid"]) <= number(&result["discarded"]), "{programs}");
    for witness in result["witness_list"].as_array().unwrap() {
        assert!(!witness["edit"].as_str().unwrap().is_empty(), "{witness}");
    }
    assert!(!result["files"].as_array().unwrap().is_empty());
    result
}

/// A code generator that may not do what it has to: its fast selector cannot
/// take a short parameter, and may not leave it to the other one. For level O1.
fn selector() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let program = "int next(short a, int b) { return a + b; }\n\
        int main(void) { int c = 3; c = next(4, c); return c & 1; }\n";
    std::fs::write(folder.path().join("program.c"), program).unwrap();
    let case = "version = 1\nid = \"selector\"\ncompiler = { llvm = \"19\" }\n\
        input = \"program.c\"\nlevel = \"O1\"\nkind = \"codegen\"\n\
        flags = [\"-fast-isel\", \"-fast-isel-abort=3\"]\n";
    std::fs::write(folder.path().join("case.toml"), case).unwrap();
    let case = folder.path().display().to_string();
    (folder, case)
}

#[test]
fn a_seed_and_a_number_of_runs_decide_every_byte() {
    let (_kept, case) = selector();
    for method in ["diwi", "recbi"] {
        let args = ["localize", &case, "--method", method, "--runs", "80", "--json"];
        let (first, second) = (run(&args), run(&args));
        assert_eq!(first.status.code(), Some(0), "{}", String::from_utf8_lossy(&first.stderr));
        assert_eq!(first.stdout, second.stdout, "{method}");
        let other = run(&[&args[..], &["--seed", "2", "--no-save"]].concat());
        assert_ne!(first.stdout, other.stdout, "{method}");
    }
    assert!(std::path::Path::new(&case).join("localize/recbi.json").is_file());
}

#[test]
fn every_way_to_mutate_finds_programs_that_pass() {
    let (_kept, case) = selector();
    for method in ["diwi", "diwi-random", "recbi", "recbi-mh", "recbi-random", "recbi-filter"] {
        let result = found(&case, method, "80", &[]);
        assert_eq!(result["runs"], 80, "{method}");
        let edit = result["witness_list"][0]["edit"].as_str().unwrap();
        assert!(edit.starts_with("line 1: ") || edit.starts_with("line 2: "), "{edit}");
        // A level means the code generator, too.
        let files = result["files"].as_array().unwrap();
        let of_generator = |file: &&Value| file["path"].as_str().unwrap().contains("/CodeGen/");
        let first = files.iter().find(of_generator);
        let rank = number(&first.expect("nothing of the code generator is ranked")["rank"]);
        assert!(rank <= 20, "{method}: {rank}");
    }
}

#[test]
fn a_witness_can_be_blended_with_another_program() {
    let ((_kept, case), pool) = (selector(), tempfile::tempdir().unwrap());
    let other = "int x; int main(void) { x = 3; x = x + 2; return x; }\n";
    std::fs::write(pool.path().join("other.c"), other).unwrap();
    let pool = pool.path().display().to_string();
    let result = found(&case, "diwi", "80", &["--blend", "--pool", &pool]);
    let edits = result["witness_list"].as_array().unwrap();
    let is_blend = |witness: &Value| witness["edit"].as_str().unwrap().ends_with("(blend)");
    assert!(edits.iter().any(is_blend), "{edits:?}");
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn other_programs_are_witnesses_too() {
    let case = testdata("cases/crash");
    let own = found(&case, "dev", "100", &[]);
    assert_eq!(own["stopped"], "exhausted");
    let folder = testdata("");
    let of_folder = found(&case, "dev", "100", &["--pool", &folder]);
    let names: Vec<&str> = of_folder["witness_list"]
        .as_array()
        .unwrap()
        .iter()
        .map(|witness| witness["edit"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"sum.c"), "{names:?}");
    let generated = found(&case, "csmith", "6", &[]);
    let edit = generated["witness_list"][0]["edit"].as_str().unwrap();
    assert!(edit.starts_with("csmith --seed "), "{edit}");
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn programs_that_compute_something_are_judged_by_themselves() {
    let case = testdata("cases/wrong-code");
    let guarded = found(&case, "diwi", "120", &[]);
    assert!(number(&guarded["failing"]) > 0, "some mutants still fail: {guarded}");
    let fakes = number(&guarded["programs"]["fakes"]);
    assert!(fakes > 0, "{guarded}");
    // The same search until the first fake; then one of them has it as a witness.
    let all = found(&case, "diwi", "120", &["--keep-fakes"]);
    assert!(number(&all["witnesses"]) > number(&guarded["witnesses"]));
    // What time an execution takes decides nothing.
    let again = found(&case, "diwi", "120", &[]);
    assert_eq!(again, guarded);
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn what_cannot_be_mutated_is_refused() {
    let (code, stderr) =
        failure(&["localize", &testdata("cases/always"), "--method", "diwi", "--no-save"]);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("no C program") && stderr.contains("help:"), "{stderr}");
    let (case, folder) = (testdata("cases/crash"), tempfile::tempdir().unwrap());
    let empty = folder.path().display().to_string();
    for method in ["recbi", "dev"] {
        let (code, stderr) =
            failure(&["localize", &case, "--method", method, "--pool", &empty, "--no-save"]);
        assert_eq!(code, 1, "{stderr}");
        assert!(stderr.contains("there is no C program in"), "{stderr}");
    }
}
