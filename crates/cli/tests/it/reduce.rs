//! `optsleuth reduce`, as a user sees it, on real bugs of LLVM 14 in programs
//! and pass sequences that have more in them than the bug.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use optsleuth_compiler::spawn::{Tool, find_on_path};

use crate::program::{copy_of_case, failure, json, optsleuth, processes_in, run, testdata};

/// Functions and variables that have nothing to do with any bug.
const PADDING: &str = "
static int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
int unused_sum(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) { if (i % 3) { sum += table[i % 8]; } else { sum -= i; } }
    return sum;
}
int unused_switch(int n) {
    switch (n) { case 1: return 7; case 2: return unused_sum(n); default: return n * 2; }
}
";

/// One of our cases with padding in its program, and these passes.
fn padded(name: &str, input: &str, passes: Option<&str>) -> (tempfile::TempDir, String) {
    let (kept, case) = copy_of_case(name);
    let program = Path::new(&case).join(input);
    let text = fs::read_to_string(&program).unwrap();
    fs::write(&program, format!("{text}{PADDING}")).unwrap();
    let toml = Path::new(&case).join("case.toml");
    let text = fs::read_to_string(&toml).unwrap();
    let own = text.lines().find(|line| line.starts_with("passes")).unwrap().to_owned();
    let passes = passes.map_or(own.clone(), |passes| format!("passes = \"{passes}\""));
    fs::write(&toml, format!("# Kept.\n{}", text.replace(&own, &passes))).unwrap();
    (kept, case)
}

/// The same with the program as LLVM assembly.
fn padded_ir(name: &str, input: &str, passes: Option<&str>) -> (tempfile::TempDir, String) {
    let (kept, case) = padded(name, input, passes);
    let folder = Path::new(&case);
    let flags =
        ["-O0", "-Xclang", "-disable-O0-optnone", "-S", "-emit-llvm", "-w", input, "-o", "x.ll"];
    Tool::new("clang-14").directory(folder).args(flags).check().unwrap();
    let toml = fs::read_to_string(folder.join("case.toml")).unwrap();
    fs::write(folder.join("case.toml"), toml.replace(input, "x.ll")).unwrap();
    (kept, case)
}

fn read(case: &str, name: &str) -> String {
    fs::read_to_string(Path::new(case).join(name)).unwrap()
}

fn reproduces(case: &str) {
    let output = run(&["case", "check", case]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn passes_and_ir_of_a_crash_get_smaller_and_nothing_is_lost() {
    let passes = "instcombine,structurizecfg,early-cse<memssa>,break-crit-edges,structurizecfg,dce,slp-vectorizer,globaldce";
    let (_kept, case) = padded_ir("crash", "checked.c", Some(passes));
    let (original, program) = (read(&case, "case.toml"), read(&case, "x.ll"));
    let result = json(&["reduce", &case, "--json"]);
    assert_eq!(result["end"], "finished", "{result}");
    assert_eq!(result["sequence"]["n_before"], 8);
    assert!(result["sequence"]["n_after"].as_u64().unwrap() <= 4, "{result}");
    let size = |when: &str, what: &str| result["program"][when][what].as_u64().unwrap();
    assert!(size("after", "instructions") * 3 < size("before", "instructions"), "{result}");
    assert!(!read(&case, "reduced.ll").contains("unused"), "{}", read(&case, "reduced.ll"));
    reproduces(&case);
    // Everything that does not change is as it was.
    let toml = read(&case, "case.toml");
    assert!(toml.starts_with("# Kept.\n") && toml.contains("input = \"reduced.ll\""), "{toml}");
    assert_eq!(toml.split("[truth]").nth(1), original.split("[truth]").nth(1));
    assert_eq!(
        (read(&case, "original/case.toml"), read(&case, "original/x.ll")),
        (original, program)
    );
    reproduces(&format!("{case}/original"));
    // Finished is finished, unless somebody wants it again.
    let again = json(&["reduce", &case, "--json"]);
    assert_eq!((&again["was_finished"], &again["runs"]), (&true.into(), &result["runs"]));
    let again = json(&["reduce", &case, "--json", "--again", "--only", "passes"]);
    assert_eq!(again["program"]["after"], result["program"]["before"]);
    assert_eq!(again["sequence"]["after"], result["sequence"]["after"]);
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn wrong_code_keeps_a_defined_program() {
    let (_kept, case) =
        padded_ir("wrong-code", "shift.c", Some("dce,structurizecfg,early-cse,structurizecfg"));
    let result = json(&["reduce", &case, "--json"]);
    assert_eq!(result["end"], "finished", "{result}");
    assert_eq!(result["notes"], serde_json::json!([]));
    assert!(result["program"]["after"]["instructions"].as_u64().unwrap() < 25, "{result}");
    let reduced = read(&case, "reduced.ll");
    assert!(!reduced.contains("undef") && !reduced.contains("unused"), "{reduced}");
    reproduces(&case);
    // What the smaller program prints is what the case expects.
    let check = json(&["case", "check", &case, "--json", "--no-confirm"]);
    assert_eq!(check["cases"][0]["note"], serde_json::Value::Null, "{check}");
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn c_gets_smaller_without_other_tools() {
    let (_kept, case) = padded("wrong-code", "shift.c", None);
    let args = ["reduce", &case, "--tool", "built-in", "--budget", "10s", "--json"];
    json(&args);
    let reduced = read(&case, "reduced.c");
    assert!(reduced.contains("main") && !reduced.contains("unused"), "{reduced}");
    reproduces(&case);
    let (_kept, case) = padded("invalid-ir", "checked.c", None);
    let args = ["reduce", &case, "--only", "program", "--tool", "built-in", "--budget", "10s"];
    assert_eq!(run(&args).status.code(), Some(0));
    assert!(!read(&case, "reduced.c").contains("unused"));
    reproduces(&case);
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn other_reducers_ask_the_running_workers() {
    let temporary = tempfile::tempdir().unwrap();
    let reduce = |case: &str, tool: &str| {
        let args =
            ["reduce", case, "--only", "program", "--tool", tool, "--budget", "16s", "--json"];
        let output = optsleuth().env("TMPDIR", temporary.path()).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let tools = result["tools"].as_array().unwrap();
        assert!(tools.iter().any(|used| used == tool), "{result}");
        reproduces(case);
    };
    if find_on_path("llvm-reduce-14").is_some() {
        let (_kept, case) = padded_ir("crash", "checked.c", None);
        reduce(&case, "llvm-reduce");
        assert!(!read(&case, "reduced.ll").contains("unused"));
    }
    if find_on_path("cvise").is_some() {
        let (_kept, case) = padded("crash", "checked.c", None);
        reduce(&case, "cvise");
        assert!(!read(&case, "reduced.c").contains("unused"));
    }
    assert_eq!(processes_in(temporary.path()), Vec::<String>::new());
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
    let (_kept, case) = padded("crash", "checked.c", None);
    let (code, stderr) = failure(&["reduce", &case, "--only", "program", "--tool", "llvm-reduce"]);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("built-in"), "{stderr}");
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn what_is_killed_or_interrupted_goes_on_where_it_was() {
    let temporary = tempfile::tempdir().unwrap();
    for (signal, code) in [("-KILL", None), ("-INT", Some(130))] {
        let (_kept, case) = padded_ir("crash", "checked.c", None);
        let mut child = optsleuth()
            .env("TMPDIR", temporary.path())
            .args(["reduce", &case, "--json"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let begun = Instant::now();
        while !Path::new(&case).join("reduced.ll").exists() {
            assert!(begun.elapsed() < Duration::from_secs(60), "nothing was kept");
            sleep(Duration::from_millis(5));
        }
        Tool::new("kill").args([signal, &child.id().to_string()]).check().unwrap();
        assert_eq!(child.wait().unwrap().code(), code);
        let partial = read(&case, "reduced.ll").len();
        reproduces(&case);
        let result = json(&["reduce", &case, "--json"]);
        assert_eq!(result["end"], "finished", "{result}");
        assert!(read(&case, "reduced.ll").len() < partial, "it had been finished already");
        assert!(result["program"]["before"]["bytes"].as_u64().unwrap() > partial as u64);
        reproduces(&case);
        let hidden = fs::read_dir(&case).unwrap().flatten();
        let hidden = hidden.filter(|entry| entry.file_name().to_string_lossy().starts_with('.'));
        assert!(signal == "-KILL" || hidden.count() == 0);
    }
    // Workers see their host go; the next start removes what it left.
    let begun = Instant::now();
    while !processes_in(temporary.path()).is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(20), "processes are left");
        sleep(Duration::from_millis(50));
    }
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn a_case_that_does_not_fail_is_left_alone() {
    let (_kept, case) = padded_ir("crash", "checked.c", Some("dce"));
    let (code, stderr) = failure(&["reduce", &case]);
    assert_eq!(code, 6, "{stderr}");
    assert!(!Path::new(&case).join("original").exists());
}

/// A case of ours with other passes, in a folder of its own.
fn with_passes(name: &str, from: &str, to: &str) -> (tempfile::TempDir, String) {
    let (kept, case) = copy_of_case(name);
    let toml = read(&case, "case.toml");
    assert!(toml.contains(from), "{toml}");
    fs::write(Path::new(&case).join("case.toml"), toml.replace(from, to)).unwrap();
    (kept, case)
}

#[test]
fn a_pipeline_is_taken_apart() {
    let passes = "trigger-crash-function";
    let (_kept, case) = with_passes("always", passes, &format!("default<O2>,{passes},gvn"));
    let result = json(&["reduce", &case, "--only", "passes", "--json"]);
    assert!(result["sequence"]["n_before"].as_u64().unwrap() > 50, "{result}");
    assert_eq!(result["sequence"]["after"], format!("function({passes})"));
    reproduces(&case);
}

#[test]
fn a_hang_costs_little_time() {
    let folder = tempfile::tempdir().unwrap();
    let toml = "version = 1\nid = \"x\"\ncompiler = { llvm = \"19\" }\ninput = \"x.ll\"\n\
                passes = \"globaldce,always-inline,globalopt\"\nkind = \"hang\"\n";
    fs::write(folder.path().join("case.toml"), toml).unwrap();
    fs::copy(testdata("explodes.ll"), folder.path().join("x.ll")).unwrap();
    let case = folder.path().display().to_string();
    let args = ["reduce", &case, "--only", "passes", "--timeout", "0.3", "--json"];
    assert_eq!(json(&args)["sequence"]["after"], "always-inline");
}
