//! `optsleuth bench`, as a user sees it, on real bugs of LLVM 14.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use optsleuth_compiler::spawn::Tool;
use serde_json::Value;

use crate::program::{failure, json, optsleuth, processes_in, run, testdata};

/// Two of our cases, and one that does not fail.
fn cases() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["crash", "invalid-ir", "fixed"] {
        let original = testdata(&format!("cases/{}", name.replace("fixed", "crash")));
        let copy = folder.path().join(name);
        std::fs::create_dir(&copy).unwrap();
        for file in ["case.toml", "checked.c"] {
            std::fs::copy(Path::new(&original).join(file), copy.join(file)).unwrap();
        }
    }
    let fixed = folder.path().join("fixed/case.toml");
    let text = std::fs::read_to_string(&fixed).unwrap();
    let passes = "structurizecfg,break-crit-edges,structurizecfg,slp-vectorizer";
    assert!(text.contains(passes));
    std::fs::write(&fixed, text.replace(passes, "sroa")).unwrap();
    folder
}

const METHODS: &str = "culprit,locseq,locseq-rwc,pass-name,top-frame";

fn arguments<'a>(cases: &'a str, output: &'a str) -> Vec<&'a str> {
    vec!["bench", cases, "--methods", METHODS, "--seeds", "2", "--runs", "60", "-o", output]
}

/// Everything in a folder, by path.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut left = vec![folder.to_owned()];
    while let Some(next) = left.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_owned();
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn n_measured(output: &Path) -> usize {
    match output.join("raw").is_dir() {
        true => {
            let is_json = |path: &&PathBuf| path.extension().is_some_and(|end| end == "json");
            contents(&output.join("raw")).keys().filter(is_json).count()
        }
        false => 0,
    }
}

/// Starts a bench with a folder of its own for temporary files, and waits until
/// it has measured something, but not all.
fn begin(arguments: &[&str], output: &Path, temporary: &Path) -> Child {
    let mut program = optsleuth();
    program.args(arguments).env("TMPDIR", temporary);
    let mut child = program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while n_measured(output) == 0 {
        assert_eq!(child.try_wait().unwrap(), None, "it ended too early");
        sleep(Duration::from_millis(5));
    }
    child
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn an_interrupted_bench_goes_on_and_comes_to_the_same_table() {
    let (cases, results) = (cases(), tempfile::tempdir().unwrap());
    let folder = |name: &str| results.path().join(name).display().to_string();
    let cases = cases.path().display().to_string();
    let (whole, parted) = (folder("whole"), folder("parted"));

    let uninterrupted = run(&arguments(&cases, &whole));
    // One case does not fail as it says.
    assert_eq!(uninterrupted.status.code(), Some(6));

    let temporary = tempfile::tempdir().unwrap();
    let mut killed = begin(&arguments(&cases, &parted), Path::new(&parted), temporary.path());
    killed.kill().unwrap();
    killed.wait().unwrap();
    let n_before = n_measured(Path::new(&parted));
    assert!((1..16).contains(&n_before), "{n_before}");
    let resumed = run(&arguments(&cases, &parted));
    assert_eq!(resumed.status.code(), Some(6));
    assert_eq!(String::from_utf8(resumed.stdout), String::from_utf8(uninterrupted.stdout));

    let (whole, mut parted) = (contents(Path::new(&whole)), contents(Path::new(&parted)));
    // A file that was being written when it was killed has another name.
    parted.retain(|path, _| !path.to_string_lossy().ends_with(".tmp"));
    let names = |all: &BTreeMap<PathBuf, Vec<u8>>| all.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&whole), names(&parted));
    for (path, bytes) in &whole {
        assert!(parted[path] == *bytes, "{} differs", path.display());
    }
    assert_eq!(whole.keys().filter(|path| path.starts_with("raw")).count(), 16);
    for file in ["bench.csv", "bench.html", "bench.json", "bench.md"] {
        assert!(!whole[Path::new(file)].is_empty());
    }
    assert!(whole.keys().any(|path| path.starts_with("plots")));
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn ctrl_c_ends_a_bench_and_leaves_nothing_behind() {
    let (cases, results) = (cases(), tempfile::tempdir().unwrap());
    let cases = cases.path().display().to_string();
    let output = results.path().join("out");
    let name = output.display().to_string();
    let mut arguments = arguments(&cases, &name);
    arguments.extend(["--budget", "100s"]);
    arguments.retain(|word| *word != "--runs" && *word != "60");
    // The baselines take no time.
    let methods = arguments.iter().position(|word| *word == METHODS).unwrap();
    arguments[methods] = "pass-name,locseq";
    let temporary = tempfile::tempdir().unwrap();
    let child = begin(&arguments, &output, temporary.path());
    assert_ne!(processes_in(temporary.path()), Vec::<String>::new());
    Tool::new("kill").args(["-INT", &child.id().to_string()]).check().unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130));
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(said.contains("start it again"), "{said}");
    assert!(n_measured(&output) >= 1);
    assert!(contents(&output).keys().all(|path| !path.to_string_lossy().ends_with(".tmp")));
    assert_eq!(processes_in(temporary.path()), Vec::<String>::new());
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0);
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn the_json_has_the_figures_of_the_papers_and_every_case() {
    let (cases, results) = (cases(), tempfile::tempdir().unwrap());
    let cases = cases.path().display().to_string();
    let output = results.path().display().to_string();
    let mut arguments = arguments(&cases, &output);
    arguments.push("--json");
    let found = json(&arguments);
    assert_eq!(found["version"], 1);
    for method in METHODS.split(',') {
        let score = &found["methods"][method];
        assert_eq!(score["cases"], 2, "{method}");
        for figure in ["top1", "top5", "top10", "top20", "mfr", "mar"] {
            assert!(score["files"][figure].is_number(), "{method} {figure}");
        }
    }
    // The guilty pass runs last in one case and first in the other.
    assert_eq!(found["methods"]["pass-name"]["files"]["top1"], 1);
    let unmeasured = found["unmeasured"].as_array().unwrap();
    assert_eq!(unmeasured.len(), 1);
    assert_eq!(unmeasured[0]["case"], "fixed");
    assert!(unmeasured[0]["why"].as_str().unwrap().contains("does not fail"), "{unmeasured:?}");

    // A measurement names the ranks of the culprit under every recipe.
    let raw = std::fs::read(results.path().join("raw/crash/locseq-2.json")).unwrap();
    let raw: Value = serde_json::from_slice(&raw).unwrap();
    assert_eq!((&raw["runs"], &raw["seed"]), (&60.into(), &2.into()));
    assert_eq!(raw["rankings"].as_array().unwrap().len(), 64);
    let n_files = raw["files"]["suspects"].as_u64().unwrap();
    for ranked in raw["rankings"].as_array().unwrap() {
        assert!((1..=n_files).contains(&ranked["files"][0].as_u64().unwrap()), "{ranked}");
    }

    // More of the same needs only what is missing; another budget is refused.
    let list = run(&["bench", &cases, "--runs", "60", "--seeds", "3", "--list", "-o", &output]);
    let list = String::from_utf8(list.stdout).unwrap();
    assert!(list.contains("3 cases") && list.contains("16 of 54"), "{list}");
    let (code, said) = failure(&["bench", &cases, "--runs", "61", "-o", &output]);
    assert_eq!(code, 1);
    assert!(said.contains("another budget") && said.contains("help:"), "{said}");
    // So is a case that has changed since.
    let file = Path::new(&cases).join("crash/case.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text + "\n# changed\n").unwrap();
    let (code, said) = failure(&["bench", &cases, "--runs", "60", "-o", &output]);
    assert_eq!(code, 1);
    assert!(said.contains("before the case or the limits changed"), "{said}");
}

#[test]
fn what_is_no_case_or_no_method_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    let (code, said) = failure(&["bench", &path]);
    assert_eq!(code, 1);
    assert!(said.contains("no cases") && said.contains("case.toml"), "{said}");
    let (code, said) = failure(&["bench", &path, "--methods", "locsec"]);
    assert_eq!(code, 1);
    assert!(said.contains("csmith, options, by-size, pass-name, top-frame"), "{said}");
    let (code, said) = failure(&["bench", "/nowhere"]);
    assert_eq!(code, 1);
    assert!(said.contains("/nowhere") && said.contains("help:"), "{said}");
}

#[test]
fn what_is_for_c_is_measured_on_cases_in_c() {
    let folder = tempfile::tempdir().unwrap();
    let (cases, out) = (testdata("cases"), folder.path().display().to_string());
    let listed = |methods: &str| {
        let args = ["bench", &cases, "--methods", methods, "--seeds", "1", "--runs", "8"];
        json(&[&args[..], &["-o", &out, "--list", "--json"]].concat())["measurements"].clone()
    };
    let n_cases = std::fs::read_dir(&cases).unwrap().count();
    assert_eq!(listed("locseq"), n_cases);
    // One of them is LLVM IR.
    assert_eq!(listed("diwi"), n_cases - 1);
    assert_eq!(listed("diwi,locseq"), 2 * n_cases - 1);
}
