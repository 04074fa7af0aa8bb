//! What a user sees: results, JSON, messages and exit codes.

use optsleuth_compiler::packages::packaged_llvms;

use crate::program::{self, failure, json, optsleuth, run, testdata};

fn check_failure(args: &[&str], code: i32, message: &str, help: &str) {
    let (exit, stderr) = failure(args);
    assert_eq!(exit, code, "{args:?}: {stderr}");
    assert!(stderr.starts_with("error: "), "{args:?}: {stderr}");
    assert!(stderr.contains(message), "{args:?}: {stderr}");
    assert!(stderr.contains(help), "{args:?}: {stderr}");
}

#[test]
fn a_run_says_what_happened() {
    let sum = testdata("sum.c");
    let json =
        json(&["run", &sum, "--llvm", "19", "--passes", "default<O2>", "--execute", "--json"]);
    assert_eq!(json["version"], 1);
    assert_eq!(json["outcome"]["kind"], "ok");
    assert_eq!(json["stdout"], "109494\n");
    assert_eq!(json["exit"], 0);
    assert!(json["ms"].as_f64().unwrap() > 0.0);
    assert!(json.get("runs").is_none());
    let text = run(&["run", &sum, "--llvm", "19", "--passes", "default<O2>", "--execute"]);
    assert_eq!(text.status.code(), Some(0));
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("ok\n") && text.contains("109494"), "{text}");
    assert!(!text.contains('\x1b'), "colours in a pipe: {text}");
}

#[test]
fn repeated_runs_are_counted_and_compared() {
    let sum = testdata("sum.c");
    let json =
        json(&["run", &sum, "--llvm", "19", "--passes", "sroa,gvn", "--runs", "25", "--json"]);
    assert_eq!(json["runs"], 25);
    assert_eq!(json["stable"], true);
    assert!(json["ms_median"].as_f64().unwrap() > 0.0);
    assert_eq!(json["passes"], "function(sroa,gvn)");
}

#[test]
fn the_distributions_tools_confirm() {
    let check = |name: &str, passes: &str, more: &[&str], code: i32, commands: usize| {
        let file = testdata(name);
        let mut args = vec!["run", &file, "--llvm", "19", "--passes", passes, "--confirm"];
        args.extend(more);
        args.push("--json");
        let output = run(&args);
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["confirmation"]["agrees"], true, "{json}");
        let list = json["confirmation"]["commands"].as_array().unwrap();
        assert_eq!(list.len(), commands, "{json}");
    };
    let sum = testdata("sum.c");
    let text = run(&["run", &sum, "--llvm", "19", "--passes", "default<O2>", "--confirm"]);
    assert_eq!(text.status.code(), Some(0));
    check("sum.c", "default<O2>", &[], 0, 2);
    check("sum.c", "default<O2>", &["--execute"], 0, 5);
    check("sum.c", "trigger-crash-module", &[], 2, 2);
    check("sum.c", "trigger-verifier-error", &[], 2, 2);
    check("bad_asm.ll", "sroa", &["--execute"], 2, 2);
    check("explodes.ll", "always-inline", &["--timeout", "0.3"], 2, 1);
}

#[test]
fn the_printed_commands_can_be_pasted() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(testdata("sum.c"), folder.path().join("sum.c")).unwrap();
    let mut here = program::optsleuth();
    here.current_dir(folder.path()).args(["run", "sum.c", "--llvm", "19", "--passes"]);
    here.args(["default<O2>", "--execute", "--confirm", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&here.output().unwrap().stdout).unwrap();
    let commands = json["confirmation"]["commands"].as_array().unwrap();
    let script: Vec<&str> = commands.iter().map(|command| command.as_str().unwrap()).collect();
    let shell = optsleuth_compiler::spawn::Tool::new("sh")
        .arg("-ec")
        .arg(script.join("\n"))
        .directory(folder.path());
    assert_eq!(shell.text().unwrap(), "109494");
}

#[test]
fn a_crash_and_invalid_ir_are_bugs() {
    let sum = testdata("sum.c");
    let crash =
        json(&["run", &sum, "--llvm", "19", "--passes", "sroa,trigger-crash-function", "--json"]);
    assert_eq!(crash["outcome"]["kind"], "crash");
    assert_eq!(crash["outcome"]["invocation"]["pass"], "trigger-crash-function");
    // The pass is named although only the end was verified.
    let invalid = json(&[
        "run",
        &sum,
        "--llvm",
        "19",
        "--passes",
        "globaldce,trigger-verifier-error",
        "--json",
    ]);
    assert_eq!(invalid["outcome"]["kind"], "invalid-ir");
    assert_eq!(invalid["outcome"]["invocation"]["index"], 1);
}

#[test]
fn a_stopped_program_has_an_exit_code_of_its_own() {
    for name in ["hostile/never_ends.c", "hostile/prints_without_end.c", "aborts.c"] {
        let file = testdata(name);
        let output = run(&[
            "run",
            &file,
            "--llvm",
            "19",
            "--passes",
            "sroa",
            "--execute",
            "--timeout",
            "0.5",
        ]);
        assert_eq!(output.status.code(), Some(5), "{name}");
    }
}

#[test]
fn bad_input_is_refused_with_a_way_out() {
    let (sum, no_main) = (testdata("sum.c"), testdata("no_main.c"));
    let (invalid, broken) = (testdata("invalid.ll"), testdata("broken.ll"));
    let other = testdata("other_target.ll");
    let passes = |text| ["run", &sum, "--llvm", "19", "--passes", text];
    let file = |file| ["run", file, "--llvm", "19", "--passes", "sroa"];
    check_failure(&file("no-such-file.c"), 1, "cannot read `no-such-file.c`", "No such file");
    check_failure(&file("/etc/hostname"), 1, "neither C", "rename it");
    check_failure(&file(&invalid), 1, "Instruction does not dominate all uses", "");
    check_failure(&file(&broken), 1, "2:8: error: expected instruction opcode", "");
    check_failure(&file(&other), 1, "no code generator for target", "--targets all");
    check_failure(
        &passes("instcombin"),
        1,
        "unknown pass `instcombin`",
        "did you mean `instcombine`",
    );
    check_failure(&passes("function(globalopt)"), 1, "is a module pass", "at the top level");
    check_failure(&passes("function(licm)"), 1, "is a loop pass", "write `loop-mssa(licm)`");
    check_failure(&passes("sroa,(gvn"), 1, "is not a pass sequence", "a sequence looks like");
    check_failure(&passes("-prune-eh"), 1, "no counterpart", "");
    check_failure(&passes("sroa<bogus>"), 1, "does not accept this pipeline", "");
    let option = [&passes("sroa")[..], &["--option=-bogus"]].concat();
    check_failure(&option, 1, "does not accept these options", "");
    let execute = ["run", &no_main, "--llvm", "19", "--passes", "sroa", "--execute"];
    check_failure(&execute, 1, "does not link, even unoptimized", "undefined reference to `main'");
}

#[test]
fn a_missing_llvm_is_named_with_the_command_that_installs_it_if_apt_has_it() {
    let sum = testdata("sum.c");
    let packaged = packaged_llvms();
    let missing = (14..=22).filter(|n| optsleuth_compiler::llvm::find(*n).is_err());
    let (packaged, others): (Vec<u32>, _) = missing.partition(|n| packaged.contains(n));
    let check = |missing: u32, remedy: &str| {
        let number = missing.to_string();
        let args = ["run", &sum, "--llvm", &number, "--passes", "sroa"];
        check_failure(&args, 4, "is not installed", remedy);
    };
    packaged.first().inspect(|n| check(**n, &format!("apt-get install -y llvm-{n}-dev")));
    others.first().inspect(|n| check(**n, &format!(" here, and not {n}\n")));
    let args = ["run", &sum, "--llvm", "3", "--passes", "sroa"];
    check_failure(&args, 1, "LLVM 3 is not supported", "from 14 to 22");
    let args = ["run", &sum, "--llvm-config", "/bin/echo", "--passes", "sroa"];
    check_failure(&args, 1, "does not answer as an llvm-config should", "--llvm-config");
}

#[test]
fn an_llvm_without_archives_is_told_apart() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("llvm-config");
    let real = optsleuth_compiler::llvm::find(19).unwrap().llvm_config;
    // As where only the run-time packages are installed: it names archives that
    // are not there.
    let script =
        format!("#!/bin/sh\n{} \"$@\" | sed 's|/lib/libLLVM|/none/libLLVM|g'\n", real.display());
    std::fs::write(&config, script).unwrap();
    std::fs::set_permissions(&config, std::fs::Permissions::from_mode(0o755)).unwrap();
    let (sum, config) = (testdata("sum.c"), config.display().to_string());
    let args = ["run", &sum, "--llvm-config", &config, "--passes", "sroa"];
    check_failure(&args, 4, "has no static archives", "llvm-19-dev");
}

#[test]
fn a_users_own_llvm_config_is_used() {
    let oldest = optsleuth_compiler::llvm::installed().remove(0);
    let config = oldest.llvm_config.display().to_string();
    let sum = testdata("sum.c");
    let json = json(&["run", &sum, "--llvm-config", &config, "--passes", "default<O2>", "--json"]);
    assert_eq!(json["llvm"].as_str(), Some(oldest.version.as_str()), "{json}");
}

#[test]
fn legacy_names_are_taken() {
    let sum = testdata("sum.c");
    let passes = "-sroa -early-cse-memssa -loop-unswitch -functionattrs";
    let json = json(&["run", &sum, "--llvm", "19", "--passes", passes, "--confirm", "--json"]);
    assert_eq!(
        json["passes"],
        "function(sroa,early-cse<memssa>,loop(simple-loop-unswitch<nontrivial>)),cgscc(function-attrs)"
    );
    assert_eq!(json["confirmation"]["agrees"], true);
}

#[test]
fn every_legacy_pass_of_the_locseq_paper_has_a_counterpart() {
    // Table I of the paper.
    let table = "-adce -argpromotion -bdce -correlated-propagation -constmerge -dse -early-cse \
         -early-cse-memssa -globaldce -globalopt -gvn -indvars -instcombine -instsimplify -ipsccp \
         -lcssa -licm -loop-deletion -loop-distribute -loop-idiom -loop-load-elim -loop-rotate \
         -loop-simplify -loop-sink -loop-unroll -loop-unswitch -loop-vectorize -reassociate -sccp \
         -simplifycfg -slp-vectorizer -sroa";
    let sum = testdata("sum.c");
    let oldest = optsleuth_compiler::llvm::installed()[0].major.to_string();
    for llvm in [&oldest, "19"] {
        let args = ["run", &sum, "--llvm", llvm, "--passes", table, "--confirm", "--json"];
        let json = json(&args);
        assert_eq!(json["outcome"]["kind"], "ok", "{json}");
        assert_eq!(json["confirmation"]["agrees"], true, "{json}");
    }
}

#[test]
fn invocations_can_be_listed_and_skipped() {
    let sum = testdata("sum.c");
    let args = ["run", &sum, "--llvm", "19", "--passes", "sroa,instcombine", "--invocations"];
    let listed = String::from_utf8(run(&args).stdout).unwrap();
    assert!(listed.contains("#0 sroa on function main"), "{listed}");
    let skipping = [&args[..], &["--skip", "1.."]].concat();
    let listed = String::from_utf8(run(&skipping).stdout).unwrap();
    assert!(listed.contains("#1 instcombine on function main (skipped)"), "{listed}");
}

#[test]
fn the_optimized_module_can_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("out.ll").display().to_string();
    let sum = testdata("sum.c");
    run(&["run", &sum, "--llvm", "19", "--passes", "default<O2>", "-o", &file]);
    assert!(std::fs::read_to_string(&file).unwrap().contains("define"));
    // The finding is told even where the module cannot be written.
    let nowhere = ["run", &sum, "--llvm", "19", "--passes", "sroa", "-o", "/no/such/folder/x.ll"];
    let output = run(&nowhere);
    assert_eq!(output.status.code(), Some(70));
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("ok"), "{output:?}");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("`/no/such/folder/x.ll`"), "{stderr}");
    // A run without a module leaves the file of an earlier one alone.
    run(&["run", &sum, "--llvm", "19", "--passes", "trigger-crash-module", "-o", &file]);
    assert!(std::fs::read_to_string(&file).unwrap().contains("define"));
}

#[test]
fn headers_and_macros_reach_clang() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("answer.h"), "#define ANSWER 42\n").unwrap();
    let source = folder.path().join("main.c").display().to_string();
    std::fs::write(&source, "#include <answer.h>\nint main(void) { return ANSWER - LESS; }\n")
        .unwrap();
    let include = folder.path().display().to_string();
    let mut args = vec!["run", &source, "--llvm", "19", "--passes", "sroa", "--execute", "--json"];
    check_failure(&args, 1, "does not compile", "-I DIR");
    args.extend(["-I", &include, "-D", "LESS=2"]);
    assert_eq!(json(&args)["exit"], 40);
}

#[test]
fn passes_are_listed_with_level_and_parameters() {
    let json = json(&["passes", "--llvm", "19", "--json"]);
    let passes = json["passes"].as_array().unwrap();
    let find = |name: &str| passes.iter().find(|pass| pass["name"] == name).unwrap();
    assert_eq!(find("licm")["level"], "loop");
    assert_eq!(find("inline")["level"], "cgscc");
    assert_eq!(find("globalopt")["level"], "module");
    assert_eq!(find("sroa")["params"], serde_json::json!(["preserve-cfg", "modify-cfg"]));
    let text = String::from_utf8(run(&["passes", "--llvm", "19"]).stdout).unwrap();
    assert!(text.contains("loop passes of LLVM 19"), "{text}");
}

#[test]
fn the_doctor_names_what_is_there() {
    let json = json(&["doctor", "--json"]);
    assert_eq!(json["version"], 1);
    assert_eq!(json["healthy"], true);
    let llvm = json["llvms"].as_array().unwrap().iter().find(|llvm| llvm["major"] == 19).unwrap();
    assert_eq!(llvm["usable"], true);
    assert!(json["kernel"]["seccomp"].is_boolean());
    let names: Vec<&str> = json["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["csmith", "cvise", "creduce", "csmith.h"]);
    let drivers = json["drivers"].as_array().unwrap();
    let find = |name: &str| drivers.iter().find(|driver| driver["name"] == name).unwrap();
    assert_eq!(find("gcc-12")["family"], "gcc");
    assert!(find("clang-19")["version"].as_str().unwrap().starts_with("19."));
    let text = String::from_utf8(run(&["doctor"]).stdout).unwrap();
    assert!(text.contains("LLVM 19") && text.contains("gcc-12"), "{text}");
}

#[test]
fn the_doctor_says_how_to_get_a_gcc() {
    let empty = tempfile::tempdir().unwrap();
    let output = optsleuth().args(["doctor", "--json"]).env("PATH", empty.path()).output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let drivers = json["drivers"].as_array().unwrap();
    let gcc = drivers.iter().find(|driver| driver["family"] == "gcc").unwrap();
    assert!(gcc["path"].is_null(), "{gcc}");
    assert!(gcc["install"].as_str().unwrap().ends_with("apt-get install -y gcc"));
}

#[test]
fn usage_errors_end_with_one() {
    assert_eq!(run(&["run"]).status.code(), Some(1));
    assert_eq!(run(&["no-such-command"]).status.code(), Some(1));
    assert_eq!(run(&["--help"]).status.code(), Some(0));
    let help = String::from_utf8(run(&["run", "--help"]).stdout).unwrap();
    assert!(help.contains("Examples:"), "{help}");
}
