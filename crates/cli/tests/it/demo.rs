//! The bugs that `make demo` shows, and which LLVM it shows one on.

use optsleuth_case::folder::open_case;
use optsleuth_compiler::llvm;
use optsleuth_compiler::spawn::Tool;
use optsleuth_model::Trust;

use crate::program::{json, run, testdata};

/// The bundled bugs, and the LLVMs that each was seen to break, as numbers.
fn bugs() -> Vec<(String, Vec<u32>)> {
    let folders = std::fs::read_dir(testdata("demo")).unwrap();
    let mut bugs: Vec<(String, Vec<u32>)> = folders
        .map(|entry| {
            let path = entry.unwrap().path();
            let fails_in = open_case(&path, Trust::Data).unwrap().case.fails_in;
            let llvms = fails_in.iter().map(|llvm| llvm.parse().unwrap()).collect();
            (path.display().to_string(), llvms)
        })
        .collect();
    bugs.sort();
    bugs
}

#[test]
fn a_bundled_bug_breaks_the_newest_llvm_that_it_names_and_the_usual_one() {
    for (bug, llvms) in bugs() {
        let mut installed: Vec<u32> =
            llvms.into_iter().filter(|major| llvm::find(*major).is_ok()).collect();
        installed.sort_unstable();
        let newest = *installed.last().unwrap();
        let usual = installed.contains(&19).then_some(19).filter(|usual| *usual != newest);
        for major in [Some(newest), usual].into_iter().flatten() {
            let major = major.to_string();
            let output = run(&["case", "check", &bug, "--llvm", &major]);
            let text = String::from_utf8(output.stdout).unwrap();
            assert_eq!(output.status.code(), Some(0), "LLVM {major}: {text}");
            assert!(text.contains("reproduces (wrong-code)"), "LLVM {major}: {text}");
        }
    }
}

#[test]
fn the_demo_prefers_an_llvm_with_source_then_the_newest_and_three_or_more_have_a_bug() {
    let mut llvms: Vec<u32> = bugs().into_iter().flat_map(|(_, llvms)| llvms).collect();
    llvms.sort_unstable_by(|one, other| other.cmp(one));
    llvms.dedup();
    assert!(llvms.len() >= 3 && llvms.contains(&19), "{llvms:?}");
    llvms.sort_by_key(|llvm| *llvm != 19); // Stable.
    let script = testdata("../scripts/demo.sh");
    let said = Tool::new(script).arg("--llvms").text().unwrap();
    let said: Vec<u32> = said.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(said, llvms);
}

/// On every release, whichever LLVMs it has.
#[test]
fn the_bundled_bug_becomes_a_report_that_names_its_pass_and_file() {
    let folder = tempfile::tempdir().unwrap();
    let (input, out) = (testdata("demo/attributor/basket.c"), folder.path().join("case"));
    let passes = "sroa,instcombine,attributor,gvn,simplifycfg";
    let args = ["triage", &input, "--llvm", "19", "--passes", passes, "-o"];
    let quick = [out.to_str().unwrap(), "--built-in", "--budget", "6s", "--zoom", "off", "--json"];
    let found = json(&[&args[..], &quick].concat());
    assert_eq!((&found["kind"], &found["confirmed"]), (&"wrong-code".into(), &true.into()));
    assert!(found["guilty"].as_str().unwrap().contains("attributor on module"), "{found}");
    let single = &found["single_pass"];
    assert_eq!((&single["n_passes"], &single["passes"]), (&1.into(), &"attributor".into()));
    assert!(found["files"][0].as_str().unwrap().contains("/Attributor"), "{found}");
}
