//! `optsleuth localize` and `optsleuth report`, as a user sees them, on real
//! bugs of LLVM 14.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use optsleuth_compiler::spawn::Tool;
use serde_json::Value;

use crate::program::{copy_of_case, failure, json, optsleuth, processes_in, run, testdata};

/// Every rank is the number of suspects that are at least as suspect.
fn check_ranks(suspects: &Value) {
    let suspects = suspects.as_array().unwrap();
    assert!(!suspects.is_empty());
    let score = |suspect: &Value| suspect["score"].as_f64().unwrap();
    assert!(suspects.is_sorted_by(|a, b| score(a) >= score(b)));
    for suspect in suspects {
        let n_above = suspects.iter().filter(|other| score(other) >= score(suspect)).count();
        assert_eq!(suspect["rank"], n_above);
        let (blocks, unwitnessed) = (&suspect["blocks"], &suspect["unwitnessed"]);
        assert!(blocks.as_u64().unwrap() >= unwitnessed.as_u64().unwrap());
    }
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn a_seed_and_a_number_of_runs_decide_every_byte() {
    let (_kept, case) = copy_of_case("crash");
    let args = ["localize", &case, "--method", "locseq", "--runs", "150", "--json"];
    let (first, second) = (run(&args), run(&args));
    assert_eq!(first.status.code(), Some(0));
    assert_eq!(first.stdout, second.stdout);
    let result: Value = serde_json::from_slice(&first.stdout).unwrap();
    assert_eq!(
        (&result["version"], &result["method"], &result["seed"]),
        (&1.into(), &"locseq".into(), &1.into())
    );
    assert_eq!(result["runs"], 150);
    assert_eq!(result["stopped"], "runs");
    assert_eq!(result["seconds"], Value::Null);
    let (witnesses, failing) =
        (result["witnesses"].as_u64().unwrap(), result["failing"].as_u64().unwrap());
    assert!(witnesses > 50, "{witnesses}");
    assert_eq!(witnesses + failing + result["discarded"].as_u64().unwrap(), 150);
    check_ranks(&result["files"]);
    check_ranks(&result["functions"]);
    // The constraint: every witness contains all passes of the case.
    for witness in result["witness_list"].as_array().unwrap() {
        for pass in ["structurizecfg", "break-crit-edges", "slp-vectorizer"] {
            assert!(witness["passes"].as_str().unwrap().contains(pass), "{witness}");
        }
    }
    let culprit = "llvm/lib/Transforms/Scalar/StructurizeCFG.cpp";
    assert_eq!(result["truth"]["files"][0]["name"], culprit);
    let rank = result["truth"]["files"][0]["rank"].as_u64().unwrap();
    let files = result["files"].as_array().unwrap();
    let suspect = files.iter().find(|file| file["path"] == culprit).unwrap();
    assert_eq!(suspect["rank"], rank);
    let kept = std::fs::read(Path::new(&case).join("localize/locseq.json")).unwrap();
    assert_eq!(
        String::from_utf8(kept).unwrap().trim(),
        String::from_utf8(first.stdout).unwrap().trim()
    );
    let other = run(&[&args[..], &["--seed", "2", "--no-save"]].concat());
    assert_ne!(other.stdout, second.stdout);
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn every_method_finds_witnesses_and_those_without_constraint_do_without_the_cases_passes() {
    let (_kept, case) = copy_of_case("invalid-ir");
    for method in ["locseq", "locseq-r", "locseq-wc", "locseq-rwc"] {
        let result =
            json(&["localize", &case, "--method", method, "--runs", "120", "--json", "--no-save"]);
        assert_eq!(result["method"], method);
        assert!(result["witnesses"].as_u64().unwrap() > 20, "{method}");
        let list = result["witness_list"].as_array().unwrap();
        let all_contain = list.iter().all(|witness| {
            let passes = witness["passes"].as_str().unwrap();
            passes.contains("structurizecfg") && passes.contains("break-crit-edges")
        });
        assert_eq!(all_contain, !method.contains("wc"), "{method}");
    }
    assert!(!Path::new(&case).join("localize").exists());
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn the_culprit_of_wrong_code_comes_first_and_conditions_say_why() {
    let (_kept, case) = copy_of_case("wrong-code");
    let args = ["localize", &case, "--runs", "400", "--json"];
    let (first, second) = (run(&args), run(&args));
    assert_eq!(first.status.code(), Some(0));
    assert_eq!(first.stdout, second.stdout);
    let result: Value = serde_json::from_slice(&first.stdout).unwrap();
    assert_eq!((&result["method"], &result["runs"]), (&"culprit".into(), &400.into()));
    check_ranks(&result["files"]);
    check_ranks(&result["functions"]);
    let file = &result["files"][0];
    assert_eq!(file["path"], "llvm/lib/Transforms/Scalar/StructurizeCFG.cpp");
    let cures = &file["cures"];
    assert!(cures["blocks"].as_u64().unwrap() > 0, "{cures}");
    assert!(cures["tried"].as_u64().unwrap() > cures["blocks"].as_u64().unwrap(), "{cures}");
    // Mutants of the program are among the witnesses.
    let list = result["witness_list"].as_array().unwrap();
    assert!(list.iter().any(|witness| witness["edit"].is_string()), "{list:?}");
    assert!(list.iter().any(|witness| witness["edit"].is_null()), "{list:?}");
    assert!(Path::new(&case).join("localize/culprit.json").exists());
    let text = run(&["localize", &case, "--runs", "200", "--no-save", "--top", "3"]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("cures/tried") && text.contains("  with "), "{text}");
}

#[test]
fn a_failure_that_nothing_cures_is_ranked_all_the_same() {
    let case = testdata("cases/always");
    let result = json(&["localize", &case, "--runs", "60", "--json", "--no-save"]);
    assert_eq!(result["failure"]["kind"], "crash");
    assert!(!result["functions"].as_array().unwrap().is_empty(), "{result}");
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn wrong_code_is_localized() {
    let (_kept, case) = copy_of_case("wrong-code");
    let result =
        json(&["localize", &case, "--method", "locseq", "--runs", "100", "--json", "--no-save"]);
    assert_eq!(result["failure"]["kind"], "wrong-code");
    assert!(result["failure"]["what"].as_str().unwrap().contains("instead of"), "{result}");
    assert!(result["witnesses"].as_u64().unwrap() > 5, "{}", result["witnesses"]);
    assert_eq!(result["failure"]["commands"].as_array().unwrap().last().unwrap(), "./program");
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn formulas_and_aggregations_rank_the_same_runs_differently() {
    let (_kept, case) = copy_of_case("crash");
    let with = |more: &[&str]| {
        let args = ["localize", &case, "--method", "locseq", "--runs", "60", "--json", "--no-save"];
        let result = json(&[&args[..], more].concat());
        check_ranks(&result["files"]);
        result
    };
    let order = |result: &Value| -> Vec<String> {
        let files = result["files"].as_array().unwrap();
        files.iter().map(|file| file["path"].as_str().unwrap().to_owned()).collect()
    };
    let base = with(&[]);
    let mut orders = BTreeSet::from([order(&base)]);
    for formula in ["tarantula", "jaccard", "ochiai2", "kulczynski2", "op2", "dstar", "sbi"] {
        let result = with(&["--formula", formula]);
        assert_eq!(result["formula"], formula);
        assert_eq!(result["witness_list"][0], base["witness_list"][0]);
        assert_ne!(result["files"], base["files"], "{formula}");
        orders.insert(order(&result));
    }
    // Some of them differ in their scores alone, but not all.
    assert!(orders.len() > 1, "{orders:?}");
    for aggregation in ["max", "sum", "top-5"] {
        let result = with(&["--aggregation", aggregation]);
        assert_eq!(result["aggregation"], aggregation);
        assert_ne!(order(&result), order(&base), "{aggregation}");
    }
    assert_ne!(with(&["--weights", "similarity"])["files"], base["files"]);
    let check = |flag: &str, value: &str, known: &str| {
        let (code, stderr) = failure(&["localize", &case, flag, value]);
        assert_eq!(code, 1);
        assert!(stderr.contains(known), "{stderr}");
    };
    check("--formula", "ochai", "tarantula");
    check("--aggregation", "top-0", "top-");
    check("--method", "magic", "locseq-rwc");
    check("--budget", "5 parsecs", "60s");
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn a_search_ends_by_time_or_when_nothing_changes_any_more() {
    let (_kept, case) = copy_of_case("crash");
    let timed = json(&[
        "localize",
        &case,
        "--method",
        "locseq",
        "--budget",
        "500ms",
        "--json",
        "--no-save",
    ]);
    assert_eq!(timed["stopped"], "budget");
    assert!(timed["seconds"].as_f64().unwrap() >= 0.5);
    let args = [
        "localize",
        &case,
        "--method",
        "locseq",
        "--until-stable",
        "40",
        "--runs",
        "20000",
        "--json",
    ];
    let stable = json(&[&args[..], &["--no-save"]].concat());
    assert_eq!(stable["stopped"], "stable");
    assert!(stable["witnesses"].as_u64().unwrap() >= 40);
    assert_eq!(stable, json(&[&args[..], &["--no-save"]].concat()));
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn people_get_a_table_and_issue_trackers_get_markdown() {
    let (_kept, case) = copy_of_case("crash");
    let args =
        ["localize", &case, "--method", "locseq", "--runs", "100", "--top", "3", "--no-save"];
    let text = String::from_utf8(run(&args).stdout).unwrap();
    assert!(text.contains("rank  score  blocks  unwitnessed  witnesses  nearest  file"), "{text}");
    assert!(text.contains("nearest witnesses") && text.contains("true culprits"), "{text}");
    assert!(!text.contains('\x1b'), "{text}");
    let text = run(&[&args[..], &["--format", "markdown"]].concat());
    let text = String::from_utf8(text.stdout).unwrap();
    let rows = text.lines().filter(|line| line.starts_with("| ") && !line.contains("rank"));
    assert_eq!(rows.count(), 6, "{text}");
}

#[test]
fn hangs_are_localized() {
    let folder = tempfile::tempdir().unwrap();
    let toml = "version = 1\nid = \"x\"\ncompiler = { llvm = \"19\" }\ninput = \"x.ll\"\n\
                passes = \"always-inline\"\nkind = \"hang\"\n";
    std::fs::write(folder.path().join("case.toml"), toml).unwrap();
    std::fs::copy(testdata("explodes.ll"), folder.path().join("x.ll")).unwrap();
    let case = folder.path().display().to_string();
    let args = ["localize", &case, "--method", "locseq-rwc", "--runs", "40", "--json"];
    let limits = ["--timeout", "0.5", "--candidate-timeout", "0.2", "--no-save"];
    let result = json(&[&args[..], &limits].concat());
    assert_eq!(result["failure"]["kind"], "hang");
    assert!(result["witnesses"].as_u64().unwrap() > 0, "{result}");
    assert!(result["failing"].as_u64().unwrap() > 0, "{result}");
}

#[test]
fn no_witness_is_an_error_that_says_what_to_try() {
    let (_kept, case) = copy_of_case("always");
    let (code, stderr) = failure(&["localize", &case, "--method", "locseq", "--runs", "60"]);
    assert_eq!(code, 7, "{stderr}");
    assert!(stderr.contains("60 candidates were tried, 60 fail as the case does"), "{stderr}");
    assert!(stderr.contains("--budget") && stderr.contains("locseq-wc"), "{stderr}");
    assert!(!Path::new(&case).join("localize").exists());
    let freed = json(&["localize", &case, "--runs", "60", "--method", "locseq-wc", "--json"]);
    assert!(freed["witnesses"].as_u64().unwrap() > 0);
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn a_case_that_does_not_fail_is_not_localized() {
    let (_kept, case) = copy_of_case("crash");
    let (code, stderr) = failure(&["localize", &case, "--llvm", "19", "--runs", "10"]);
    assert_eq!(code, 6);
    assert!(stderr.contains("does not fail as it says"), "{stderr}");
    assert!(stderr.contains("optsleuth case check"), "{stderr}");
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn an_interrupt_prints_the_ranking_so_far_and_leaves_nothing_behind() {
    let (_kept, case) = copy_of_case("crash");
    // Builds the worker, so that the search below begins at once.
    run(&["localize", &case, "--runs", "5", "--no-save"]);
    let temporary = tempfile::tempdir().unwrap();
    // An interrupt before the search begins ends everything: try later, then.
    let attempt = |wait: u64| {
        let child = optsleuth()
            .env("TMPDIR", temporary.path())
            .args(["localize", &case, "--budget", "1000s", "--json", "--no-save"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        sleep(Duration::from_secs(wait));
        Tool::new("kill").args(["-INT", &child.id().to_string()]).check().unwrap();
        child.wait_with_output().unwrap()
    };
    let output = [3, 10, 30].into_iter().map(attempt).find(|output| !output.stdout.is_empty());
    let output = output.expect("no ranking after an interrupt");
    assert_eq!(output.status.code(), Some(130));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["stopped"], "interrupted");
    check_ranks(&result["files"]);
    assert_eq!(processes_in(temporary.path()), Vec::<String>::new());
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0);
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn a_report_shows_what_was_kept() {
    let (_kept, case) = copy_of_case("crash");
    let (code, stderr) = failure(&["report", &case]);
    assert_eq!(code, 1);
    assert!(stderr.contains("optsleuth localize"), "{stderr}");
    for method in ["locseq", "locseq-rwc"] {
        let args = ["localize", &case, "--method", method, "--runs", "60"];
        assert_eq!(run(&args).status.code(), Some(0));
    }
    let made = json(&["report", &case, "--json"]);
    assert_eq!(made["methods"], serde_json::json!(["locseq", "locseq-rwc"]));
    let html = std::fs::read_to_string(made["report"].as_str().unwrap()).unwrap();
    assert!(html.contains("StructurizeCFG.cpp") && html.contains("opt-14"), "no culprit");
    assert!(!html.contains("src=\"http") && !html.contains("href=\"http"), "needs the network");
    std::fs::write(Path::new(&case).join("localize/locseq.json"), "{}").unwrap();
    let (code, stderr) = failure(&["report", &case]);
    assert_eq!(code, 1);
    assert!(stderr.contains("localize/locseq.json"), "{stderr}");
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn a_folder_that_cannot_be_written_does_not_cost_the_result() {
    let (_kept, case) = copy_of_case("crash");
    // A file where the folder should be: the superuser could write anything else.
    std::fs::write(Path::new(&case).join("localize"), "").unwrap();
    let output = run(&["localize", &case, "--runs", "20", "--json"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(serde_json::from_slice::<Value>(&output.stdout).is_ok());
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("not kept"), "{stderr}");
}
