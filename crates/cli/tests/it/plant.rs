//! `optsleuth bench plant` and the cases it makes, as a user sees them.

use std::collections::BTreeMap;
use std::path::Path;

use crate::program::{failure, json, run};

/// Every file below a folder, and what it holds.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

#[test]
fn the_same_seed_makes_the_same_cases_and_they_hold() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let seed = |name: &str, count: &str| {
        let output = path(name);
        // Its faults show soon.
        let args = ["bench", "plant", "--llvm", "19", "--generate", "4", "--seed", "3"];
        json(&[&args[..], &["--count", count, "-o", &output, "--json"]].concat())
    };
    let report = seed("a", "2");
    assert_eq!(report["cases"].as_array().unwrap().len(), 2, "{report}");
    assert_eq!(report["funnel"]["kept"], 2, "{report}");
    // One after the other is as both at once.
    assert_eq!(seed("b", "1")["funnel"]["kept"], 1);
    assert_eq!(seed("b", "2")["cases"], report["cases"]);
    assert_eq!(files(&folder.path().join("a")), files(&folder.path().join("b")));

    let case = path("a") + "/" + report["cases"][0]["id"].as_str().unwrap();
    let checked = json(&["case", "check", &case, "--json"]);
    let entry = &checked["cases"][0];
    assert_eq!(entry["status"], "reproduces", "{checked}");
    assert_eq!(entry["unmodified"]["passes"], true, "{checked}");
    assert_eq!(entry["commands"].as_array().unwrap().len(), 0, "{checked}");
    assert_eq!(entry["confirmed"], serde_json::Value::Null, "{checked}");

    let other = optsleuth_compiler::llvm::installed()[0].major.to_string();
    for command in [&["case", "check"][..], &["localize"]] {
        let (code, stderr) = failure(&[command, &[&case, "--llvm", &other]].concat());
        assert_eq!(code, 1, "{stderr}");
        assert!(
            stderr.contains(&format!("cannot be made in LLVM {other}")) && stderr.contains("help:"),
            "{stderr}"
        );
    }
    let other = ["bench", "plant", "--llvm", "19", "--generate", "4", "--seed", "2", "-o"];
    let (code, stderr) = failure(&[&other[..], &[&path("a")]].concat());
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("other arguments"), "{stderr}");

    // A case of another build of the library.
    let file = Path::new(&case).join("case.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let at = text.find(", code ").unwrap() + ", code ".len();
    let changed = format!("{}0123456789ab{}", &text[..at], &text[at + 12..]);
    std::fs::write(&file, changed).unwrap();
    let (code, stderr) = failure(&["case", "check", &case]);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("other code") && stderr.contains("bench plant"), "{stderr}");
    std::fs::write(&file, text.replace(", code ", ", cod ")).unwrap();
    let (code, stderr) = failure(&["case", "check", &case]);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("case.toml:") && stderr.contains("not a fault"), "{stderr}");
}

#[test]
fn bench_alone_explains_itself() {
    let output = run(&["bench"]);
    assert_eq!(output.status.code(), Some(1));
    let (_, stderr) = failure(&["bench", "plant"]);
    assert!(stderr.contains("--output"), "{stderr}");
}
