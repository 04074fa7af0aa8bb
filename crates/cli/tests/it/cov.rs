//! `optsleuth cov`, as a user sees it.

use serde_json::Value;

use crate::program::{failure, json, run, testdata};

fn blocks(list: &Value, path: &str) -> Option<u64> {
    let files = list.as_array().unwrap();
    files.iter().find(|file| file["path"] == path).map(|file| file["blocks"].as_u64().unwrap())
}

const SROA: &str = "llvm/lib/Transforms/Scalar/SROA.cpp";
const GVN: &str = "llvm/lib/Transforms/Scalar/GVN.cpp";

#[test]
fn files_and_functions_are_counted() {
    let sum = testdata("sum.c");
    let json = json(&["cov", &sum, "--llvm", "19", "--passes", "sroa,gvn", "--json"]);
    assert_eq!(json["version"], 1);
    assert_eq!(json["outcome"], "ok");
    assert!(blocks(&json["files"], SROA).unwrap() > 100);
    assert!(blocks(&json["files"], GVN).unwrap() > 100);
    let total: u64 =
        json["files"].as_array().unwrap().iter().map(|file| file["blocks"].as_u64().unwrap()).sum();
    assert_eq!(json["blocks"], total);
    let functions = json["functions"].as_array().unwrap();
    let of_functions: u64 = functions.iter().map(|f| f["blocks"].as_u64().unwrap()).sum();
    assert_eq!(of_functions, total);
    assert!(
        functions.iter().any(|f| f["path"] == GVN && f["name"].as_str().unwrap().contains("GVN"))
    );
    let text = run(&["cov", &sum, "--llvm", "19", "--passes", "sroa,gvn"]);
    assert_eq!(text.status.code(), Some(0));
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains(SROA) && text.contains("blocks  function"), "{text}");
}

#[test]
fn two_runs_are_compared() {
    let sum = testdata("sum.c");
    let json = json(&["cov", &sum, "--llvm", "19", "--diff", "sroa", "sroa,gvn", "--json"]);
    assert_eq!(json["a"]["passes"], "function(sroa)");
    assert_eq!(json["b"]["passes"], "function(sroa,gvn)");
    let gvn = json["files"].as_array().unwrap().iter().find(|file| file["path"] == GVN).unwrap();
    assert!(gvn["only_b"].as_u64().unwrap() > 100);
    assert_eq!(gvn["only_a"], 0);
    assert!(json["jaccard"].as_f64().unwrap() < 0.9);
    let same = ["cov", &sum, "--llvm", "19", "--diff", "sroa", "sroa"];
    let text = String::from_utf8(run(&same).stdout).unwrap();
    assert!(text.contains("similarity (Jaccard) 1.000") && text.contains("(0 differ)"), "{text}");
}

#[test]
fn one_invocation_is_covered_alone() {
    let sum = testdata("sum.c");
    let args = ["cov", &sum, "--llvm", "19", "--passes", "sroa,gvn", "--window"];
    let json = json(&[&args[..], &["0", "--json"]].concat());
    assert_eq!(json["window"]["invocations"], serde_json::json!(["#0 sroa on function main"]));
    assert!(blocks(&json["window"]["files"], SROA).is_some());
    assert_eq!(blocks(&json["window"]["files"], GVN), None);
    assert!(blocks(&json["files"], GVN).is_some());
    let (code, stderr) = failure(&[&args[..], &["77"]].concat());
    assert_eq!(code, 1);
    assert!(stderr.contains("invocation 77") && stderr.contains("--invocations"), "{stderr}");
}

#[test]
fn a_crash_is_covered_up_to_its_end() {
    let sum = testdata("sum.c");
    let json =
        json(&["cov", &sum, "--llvm", "19", "--passes", "sroa,trigger-crash-function", "--json"]);
    assert_eq!(json["outcome"], "crash");
    let crash = ["cov", &sum, "--llvm", "19", "--passes", "trigger-crash-module"];
    assert_eq!(run(&crash).status.code(), Some(2));
    assert!(blocks(&json["files"], SROA).is_some());
}

#[test]
fn the_doctor_lists_what_has_no_probes() {
    let sum = testdata("sum.c");
    run(&["cov", &sum, "--llvm", "19", "--passes", "sroa"]);
    let text = String::from_utf8(run(&["doctor", "--llvm", "19", "-v"]).stdout).unwrap();
    assert!(text.contains("members have probes"), "{text}");
    assert!(text.contains("left alone: libLLVMSupport.a(ABIBreak.cpp.o): no functions"), "{text}");
}

#[test]
fn lines_need_debug_information() {
    let (sum, folder) = (testdata("sum.c"), tempfile::tempdir().unwrap());
    let file = folder.path().join("trace").display().to_string();
    let (code, stderr) =
        failure(&["cov", &sum, "--llvm", "19", "--passes", "sroa", "--lcov", &file]);
    assert_eq!(code, 1);
    assert!(stderr.contains("no debug information") && stderr.contains("-g"), "{stderr}");
}
