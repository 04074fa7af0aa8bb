//! `--zoom`, as a user sees it: files of a source tree in the place of LLVM's own
//! objects. The tree in `testdata/zoom` has one file, which is ours.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use crate::program::{failure, json, run, testdata};

const FILE: &str = "llvm/lib/Transforms/IPO/ForceFunctionAttrs.cpp";

/// A copy of the case that the file makes fail.
fn case() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    for file in ["case.toml", "forced.c"] {
        std::fs::copy(testdata(&format!("first-wrong/{file}")), folder.path().join(file)).unwrap();
    }
    let path = folder.path().display().to_string();
    (folder, path)
}

#[test]
fn a_zoomed_file_has_lines_its_inlined_functions_and_its_assertions() {
    let (_kept, case) = case();
    let tree = testdata("zoom");
    let args = ["localize", &case, "--source", &tree, "--zoom", "1", "--runs", "120", "--json"];
    let found = json(&args);
    assert_eq!(found["zoom"]["files"], Value::Array(vec![FILE.into()]), "{}", found["zoom"]);
    assert_eq!(found["files"][0]["path"], FILE);
    // It is inlined in what the distribution ships.
    let functions = found["functions"].as_array().unwrap();
    let inlined = functions
        .iter()
        .find(|function| function["name"].as_str().is_some_and(|name| name.starts_with("isMeant")));
    assert_eq!(inlined.unwrap()["path"], FILE);
    // Headers go by their own names.
    let is_header = |function: &&Value| function["path"] == "llvm/include/llvm/ADT/StringRef.h";
    assert!(functions.iter().any(|function| is_header(&function)), "no header is named");

    let source = std::fs::read_to_string(testdata(&format!("zoom/{FILE}"))).unwrap();
    let line = &found["lines"][0];
    assert_eq!(line["path"], FILE, "{line}");
    let number = usize::try_from(line["line"].as_u64().unwrap()).unwrap();
    let first = usize::try_from(line["excerpt"]["first"].as_u64().unwrap()).unwrap();
    let shown = line["excerpt"]["lines"][number - first].as_str();
    assert_eq!(shown, source.lines().nth(number - 1), "{line}");
    assert!(line["cures"]["blocks"].as_u64().unwrap() > 0, "{line}");

    let failed = &found["zoom"]["assertions"]["fails"];
    assert!(
        failed["text"].as_str().unwrap().contains("a function that returns is noreturn"),
        "{failed}"
    );
    let place = usize::try_from(failed["place"]["line"].as_u64().unwrap()).unwrap();
    assert!(source.lines().nth(place - 1).unwrap().contains("assert("), "{failed}");
}

/// An LLVM whose `opt` crashes, as its own does where a crash depends on the heap.
fn crashing_opt(folder: &Path) -> String {
    let real = optsleuth_compiler::llvm::find(19).unwrap();
    let bin = folder.join("bin");
    std::fs::create_dir(&bin).unwrap();
    for tool in ["clang", "clang++", "ld.lld", "llvm-ar"] {
        let theirs = real.bin.join(tool);
        if theirs.exists() {
            std::os::unix::fs::symlink(theirs, bin.join(tool)).unwrap();
        }
    }
    let program = |name: &str, text: String| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    };
    let frame = "llvm::ForceFunctionAttrsPass::run(llvm::Module&, llvm::ModuleAnalysisManager&)";
    program(
        "bin/opt",
        format!(
            "#!/bin/sh\necho ' #0 0x00007f0012 {frame} (/lib/libLLVM.so+0x1)' >&2\nkill -SEGV $$\n"
        ),
    );
    let (config, theirs) = (real.llvm_config.display(), real.bin.display());
    let own = bin.display();
    program("llvm-config", format!("#!/bin/sh\n{config} \"$@\" | sed 's|^{theirs}$|{own}|'\n"))
}

#[test]
fn a_crash_of_opt_alone_is_looked_into_with_assertions_on() {
    let folder = tempfile::tempdir().unwrap();
    let config = crashing_opt(folder.path());
    let path = |name: &str| folder.path().join(name).display().to_string();
    let ir = "target triple = \"x86_64-pc-linux-gnu\"\ndefine i32 @f() {\n  ret i32 1\n}\n";
    std::fs::write(path("returns.ll"), ir).unwrap();
    let (program, output, tree) = (path("returns.ll"), path("case"), testdata("zoom"));
    let args = |forced: &'static str| {
        let mut args = vec!["triage", &program, "-o", &output, "--passes", "forceattrs"];
        args.extend(["--llvm-config", &config, "--source", &tree, "--budget", "2s", forced]);
        args
    };
    // Where not even an assertion fails, that is all that can be said.
    let (code, said) = failure(&args("--option=-force-attribute=g:noreturn"));
    assert_eq!(code, 6, "{said}");
    let both = "opt is ended by SIGSEGV, and the workers of the same LLVM do not fail";
    assert!(said.contains(both) && said.contains("valgrind opt"), "{said}");

    let mut args = args("--option=-force-attribute=f:noreturn");
    args.push("--json");
    let found = json(&args);
    let failed = &found["assertion"]["text"];
    assert!(failed.as_str().unwrap().contains("a function that returns is noreturn"), "{failed}");
    assert!(found["lines"][0].as_str().unwrap().starts_with(FILE), "{}", found["lines"]);
    assert_eq!(found["confirmed"], true, "{found}");
    assert!(found["notes"][0].as_str().unwrap().starts_with("opt is ended by"), "{found}");
}

#[test]
fn a_folder_that_is_no_source_is_refused_before_anything_is_ranked() {
    let (_kept, case) = case();
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().display().to_string();
    for flag in ["--source", "--zoom"] {
        let (code, said) = failure(&["localize", &case, flag, &tree]);
        assert_eq!(code, 1, "{said}");
        assert!(said.contains("give a checkout of llvm-project"), "{said}");
    }
    let (code, said) = failure(&["localize", &case, "--zoom", "deep"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("auto, off, a number of files"), "{said}");
}

#[test]
fn a_source_of_another_version_costs_the_zoom_and_nothing_else() {
    let (_kept, case) = case();
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("llvm/lib/Transforms")).unwrap();
    let cmake = "set(LLVM_VERSION_MAJOR 3)\nset(LLVM_VERSION_MINOR 1)\nset(LLVM_VERSION_PATCH 0)";
    std::fs::write(folder.path().join("llvm/CMakeLists.txt"), cmake).unwrap();
    let tree = folder.path().display().to_string();
    let output = run(&["localize", &case, "--source", &tree, "--runs", "20", "--json"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("is the source of LLVM 3.1.0, and not of 19."), "{said}");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&found["zoom"], output.status.code()), (&Value::Null, Some(0)));
    assert_eq!(found["runs"], 20);
}
