//! `optsleuth bisect`, as a user sees it, on real bugs of LLVM 14 and on cases
//! that have no guilty pass.

use std::path::Path;

use serde_json::{Value, json};

use crate::program::{copy_of_case, failure, json, run, testdata};

/// A case written for one test.
fn case(input: &str, llvm: &str, what: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let extension = Path::new(input).extension().unwrap().to_str().unwrap();
    let toml = format!(
        "version = 1\nid = \"x\"\ncompiler = {{ llvm = \"{llvm}\" }}\ninput = \"x.{extension}\"\n{what}\n"
    );
    std::fs::write(folder.path().join("case.toml"), toml).unwrap();
    std::fs::copy(testdata(input), folder.path().join(format!("x.{extension}"))).unwrap();
    let path = folder.path().display().to_string();
    (folder, path)
}

/// The pass and the unit of an invocation.
fn name(found: &Value, number: &Value) -> (String, String) {
    let place = usize::try_from(number.as_u64().unwrap()).unwrap();
    let invocation = &found["invocations"][place];
    assert_eq!(&invocation["index"], number);
    let text = |key: &str| invocation[key].as_str().unwrap().to_owned();
    (text("pass"), text("unit"))
}

fn passes(found: &Value, numbers: &Value) -> Vec<String> {
    numbers.as_array().unwrap().iter().map(|number| name(found, number).0).collect()
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn the_functions_that_made_the_change_are_named_where_they_are_asked_for() {
    let (_kept, case) = copy_of_case("wrong-code");
    let plain = json(&["bisect", &case, "--json", "--no-save"]);
    assert_eq!(plain["change"].get("authors"), None);
    let text = String::from_utf8(run(&["bisect", &case, "--authors"]).stdout).unwrap();
    let wired = "  br i1 %7, label %8, label %Flow6 ";
    let line = text.lines().find(|line| line.contains(wired)).unwrap();
    assert!(line.ends_with("; written by StructurizeCFG::wireFlow (StructurizeCFG.cpp)"), "{line}");
    // A page of what was kept says the same.
    run(&["report", &case]);
    let page = std::fs::read_to_string(Path::new(&case).join("report.html")).unwrap();
    assert!(page.contains("; written by StructurizeCFG::wireFlow (StructurizeCFG.cpp)</span>"));
    assert!(page.contains("called by StructurizeCFG::"));
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn a_crash_is_bisected_and_what_broke_earlier_is_named() {
    let (_kept, case) = copy_of_case("crash");
    let found = json(&["bisect", &case, "--json"]);
    assert_eq!((&found["version"], &found["ended"]), (&1.into(), &"complete".into()));
    let verdict = &found["verdict"];
    assert_eq!(verdict["says"], "guilty");
    let (pass, unit) = name(&found, &verdict["invocation"]);
    assert_eq!((pass.as_str(), unit.as_str()), ("slp-vectorizer", "function checked_add"));
    assert_eq!(found["certain_after"], verdict["invocation"]);
    assert_eq!(
        passes(&found, &verdict["needs_also"]),
        ["structurizecfg", "break-crit-edges", "structurizecfg"]
    );
    let broken = &found["broken_earlier"];
    assert_eq!(broken["verifier"], "verify-each");
    assert_eq!(name(&found, &broken["invocation"]).0, "structurizecfg");
    assert!(broken["message"].as_str().unwrap().contains("PHI node"), "{broken}");
    // No worker has a say in what is found.
    let again = json(&["bisect", &case, "--json", "--no-save"]);
    for key in ["minimal", "needed", "verdict", "invocations", "runs"] {
        assert_eq!(found[key], again[key], "{key}");
    }
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn invalid_ir_has_a_single_pass_form_that_fails_with_the_distributions_tools() {
    let (_kept, case) = copy_of_case("invalid-ir");
    let found = json(&["bisect", &case, "--json"]);
    assert_eq!(passes(&found, &found["minimal"]).len(), 3);
    assert_eq!(name(&found, &found["verdict"]["invocation"]).0, "structurizecfg");
    let form = &found["single_pass"];
    assert_eq!((&form["form"], &form["n_passes"]), (&"found".into(), &1.into()), "{form}");
    assert_eq!(form["passes"], "function(structurizecfg)");
    let kept = std::fs::read_to_string(Path::new(&case).join("single-pass.ll")).unwrap();
    assert_eq!(form["ir"], kept);
    // Another case, made of what was kept: it fails as it says.
    let toml = "version = 1\nid = \"single\"\ncompiler = { llvm = \"14\" }\n\
                input = \"single-pass.ll\"\npasses = \"structurizecfg\"\nkind = \"invalid-ir\"\n";
    std::fs::write(Path::new(&case).join("case.toml"), toml).unwrap();
    let checked = json(&["case", "check", &case, "--json"]);
    assert_eq!(checked["cases"][0]["status"], "reproduces");
    assert_eq!(checked["cases"][0]["confirmed"], true);
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn wrong_code_is_found_among_the_invocations_of_a_whole_level() {
    let what = "passes = \"structurizecfg,structurizecfg,default<O2>\"\nkind = \"wrong-code\"";
    let (_kept, case) = case("cases/wrong-code/shift.c", "14", what);
    let found = json(&["bisect", &case, "--json"]);
    assert!(found["invocations"].as_array().unwrap().len() > 100);
    let verdict = &found["verdict"];
    assert_eq!(verdict["says"], "guilty", "{verdict}");
    let (pass, unit) = name(&found, &verdict["invocation"]);
    assert_eq!((pass.as_str(), unit.as_str()), ("structurizecfg", "function checked_shift"));
    assert_eq!(passes(&found, &verdict["needs_also"]), ["structurizecfg"]);
    assert_eq!(found["needed"], found["minimal"]);
    let (before, after) = (&found["change"]["before"], &found["change"]["after"]);
    assert!(before.as_str().unwrap().starts_with("define"), "{before}");
    assert_ne!(before, after);
    assert_eq!(found["single_pass"]["form"], "found", "{}", found["single_pass"]["why"]);
    assert_eq!(found["single_pass"]["commands"].as_array().unwrap().last().unwrap(), "./program");
    // The page shows it, although nothing was localized.
    let made = json(&["report", &case, "--json"]);
    let html = std::fs::read_to_string(made["report"].as_str().unwrap()).unwrap();
    assert!(html.contains("Guilty invocations of passes") && html.contains("<ins>"), "no section");
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn people_get_a_few_plain_lines() {
    let (_kept, case) = copy_of_case("wrong-code");
    let text = String::from_utf8(run(&["bisect", &case]).stdout).unwrap();
    for said in
        ["guilty: #3 structurizecfg on function", "needs also: #2", "single pass:", "$ opt-14"]
    {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert!(text.lines().count() <= 15, "{text}");
    assert!(Path::new(&case).join("bisect.json").exists());
}

#[test]
fn a_failure_of_the_code_generator_alone_has_no_guilty_pass() {
    let (_kept, case) = case("bad_asm.ll", "19", "level = \"O2\"\nkind = \"codegen\"");
    let found = json(&["bisect", &case, "--json"]);
    assert_eq!(found["verdict"], json!({ "says": "in-codegen" }));
    // What is left is the IR that code is generated from.
    assert_eq!(found["single_pass"]["form"], "found");
    assert!(Path::new(&case).join("single-pass.ll").exists());
    let text = String::from_utf8(run(&["bisect", &case, "--no-save"]).stdout).unwrap();
    assert!(text.contains("no pass: it fails in code generation"), "{text}");
}

#[test]
fn a_pass_that_cannot_be_skipped_is_named() {
    let (_kept, case) = case("explodes.ll", "19", "passes = \"always-inline\"\nkind = \"hang\"");
    let limits = ["--timeout", "0.5", "--candidate-timeout", "0.2"];
    let found = json(&[&["bisect", &case, "--json", "--no-save"][..], &limits].concat());
    let verdict = &found["verdict"];
    assert_eq!(verdict["says"], "required-pass", "{verdict}");
    assert_eq!(name(&found, &verdict["invocation"]).0, "always-inline");
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn what_does_not_fail_is_not_bisected() {
    let (_kept, crash) = copy_of_case("crash");
    let (code, stderr) = failure(&["bisect", &crash, "--llvm", "19"]);
    assert_eq!(code, 6, "{stderr}");
    assert!(stderr.contains("does not fail as it says"), "{stderr}");
    let (_kept, invalid) = case("invalid.ll", "19", "passes = \"sroa\"\nkind = \"invalid-ir\"");
    let (code, stderr) = failure(&["bisect", &invalid]);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("before any pass runs"), "{stderr}");
    assert!(!Path::new(&invalid).join("bisect.json").exists());
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "shows a bug of LLVM 14, which is not installed")]
fn a_result_that_cannot_be_read_says_how_to_make_it_again() {
    let (_kept, case) = copy_of_case("crash");
    std::fs::write(Path::new(&case).join("bisect.json"), "{}").unwrap();
    let (code, stderr) = failure(&["report", &case]);
    assert_eq!(code, 1);
    assert!(stderr.contains("bisect.json") && stderr.contains("`optsleuth bisect`"), "{stderr}");
}

#[test]
fn what_makes_a_program_wrong_is_told_from_what_makes_it_show() {
    let folder = tempfile::tempdir().unwrap();
    for file in ["case.toml", "forced.c"] {
        let from = testdata(&format!("first-wrong/{file}"));
        std::fs::copy(from, folder.path().join(file)).unwrap();
    }
    let case = folder.path().display().to_string();
    let found = json(&["bisect", &case, "--json"]);
    assert_eq!(name(&found, &found["verdict"]["invocation"]).0, "simplifycfg");
    let first = &found["first_wrong"];
    assert_eq!(first["step"], "found");
    assert_eq!(name(&found, &first["invocation"]), ("forceattrs".to_owned(), "module".to_owned()));
    assert_eq!(first["value"]["after"], "undefined: the noreturn function add returns");
    assert_eq!(first["value"]["place_after"]["function"], "add");
    // What can be reported begins with it, and shows it.
    assert_eq!(found["single_pass"]["passes"], "forceattrs,function(simplifycfg)");
    assert!(found["single_pass"]["ir"].as_str().unwrap().contains("define internal void @add"));
    let text = String::from_utf8(run(&["bisect", &case]).stdout).unwrap();
    let both = "first wrong step: #2 forceattrs on module makes it wrong; \
                #4 simplifycfg on function main makes it show";
    assert!(text.contains(both), "{text}");
}

#[test]
fn a_crash_on_a_program_that_was_wrong_before_says_so() {
    let passes = "passes = \"forceattrs,function(trigger-crash-function)\"\n\
                  flags = [\"-force-attribute=add:noreturn\"]\nkind = \"crash\"";
    let (_kept, case) = case("first-wrong/forced.c", "19", passes);
    let found = json(&["bisect", &case, "--json"]);
    assert_eq!(name(&found, &found["first_wrong"]["invocation"]).0, "forceattrs");
    assert_eq!(name(&found, &found["verdict"]["invocations"][0]).0, "trigger-crash-function");
    let text = String::from_utf8(run(&["bisect", &case]).stdout).unwrap();
    let aside = "#0 forceattrs on module makes the program wrong; the failure does not need that";
    assert!(text.contains(aside), "{text}");
}
