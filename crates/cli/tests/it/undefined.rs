//! Undefined programs that an optimizer changes: nobody is accused, and the line is
//! named. `testdata/undefined` has them, docs/definedness.md who sees which.

use std::fs;
use std::path::Path;

use crate::program::{failure, json, testdata};

/// A program that optimization changes -> what is said of it.
fn check(name: &str, more: &[&str], expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    let (input, out) = (testdata(&format!("undefined/{name}.c")), folder.path().join("case"));
    let args = ["triage", &input, "--llvm", "19", "-o", out.to_str().unwrap()];
    let (code, said) = failure(&[&args[..], more].concat());
    assert_eq!(code, 3, "{name}: {said}");
    assert!(said.contains(expected), "{name}: {said}");
    assert!(said.contains("so no compiler is to blame"), "{name}: {said}");
    assert!(!out.exists(), "a case was made of {name}");
}

const O2: [&str; 2] = ["--level", "O2"];

#[test]
fn undefined_programs_blame_no_compiler_and_name_the_line() {
    let overflow = "signed-overflow.c:3:29: signed overflow: 2147483647 + 1 cannot be represented \
                    in int; the program's behaviour is undefined, so no compiler is to blame";
    check("signed-overflow", &O2, overflow);
    check("uninitialized-read", &O2, "uninitialized-read.c:7:3: use-of-uninitialized-value");
    check("out-of-bounds", &O2, "out-of-bounds.c:6:28: ");
    check("use-after-return", &O2, "use-after-return.c:10:18: ");
    check("unreachable", &O2, "unreachable.c:5:5: ");
    check("misaligned", &["--passes", "sroa,attributor,instcombine"], "misaligned.c:5:14: ");
    // Nobody sees where: what it should do cannot be told.
    check("endless-loop", &[&O2[..], &["--timeout", "1"]].concat(), "does not end");
}

/// A case of a program in `testdata/undefined`.
fn case_of(name: &str, more: &str, folder: &Path) -> String {
    let input = format!("{name}.c");
    fs::copy(testdata(&format!("undefined/{input}")), folder.join(&input)).unwrap();
    let text = format!(
        "version = 1\nid = \"{name}\"\ninput = \"{input}\"\nkind = \"wrong-code\"\n\
         level = \"O2\"\n{more}\n"
    );
    fs::write(folder.join("case.toml"), text).unwrap();
    folder.display().to_string()
}

#[test]
fn types_in_memory_are_looked_at_where_a_clang_has_the_sanitizer() {
    let folder = tempfile::tempdir().unwrap();
    let case = case_of("strict-aliasing", "compiler = { clang = \"19\" }", folder.path());
    let found = &json(&["case", "check", &case, "--json"])["cases"][0];
    let asked = found["definedness"]["asked"].as_array().unwrap();
    let said = asked.iter().find(|answer| answer["who"] == "type-sanitizer").unwrap();
    match said["said"] == "not-here" {
        // No clang since 20 with its libraries is here, and nobody else can tell.
        true => assert_eq!(found["status"], "reproduces", "{found}"),
        false => {
            assert_eq!(found["status"], "unstable-reference", "{found}");
            let what = found["what"].as_str().unwrap();
            assert!(what.starts_with("strict-aliasing.c:5:6: type-aliasing-violation"), "{what}");
        }
    }
}

/// `-O0` and `-O2` differ through what clang's front end says about types.
#[test]
fn a_level_means_what_it_means_to_clang() {
    let folder = tempfile::tempdir().unwrap();
    let llvm = "compiler = { llvm = \"19\" }";
    let case = case_of("strict-aliasing", llvm, folder.path());
    let (code, said) = failure(&["triage", &case]);
    assert_eq!(code, 3, "{said}");
    let by_line = said.contains("strict-aliasing.c:5:6: type-aliasing-violation");
    // Without a clang since 20.
    let by_cure = said.contains("probably undefined, so no compiler is blamed");
    assert!(by_line || by_cure, "{said}");
    // A case may keep the IR of -O0, which says nothing about types.
    case_of("strict-aliasing", &format!("{llvm}\nfront_end = \"O0\""), folder.path());
    let (code, said) = failure(&["triage", &case]);
    assert_eq!(code, 6, "{said}");
    let input = testdata("undefined/strict-aliasing.c");
    let printed = |how: &[&str]| {
        let run = json(&[&["run", &input, "--llvm", "19", "--execute", "--json"], how].concat());
        run.to_string()
    };
    assert!(printed(&["--level", "O2"]).contains("\"1\\n\""), "{}", printed(&["--level", "O2"]));
    assert!(printed(&["--passes", "default<O2>"]).contains("1073741824"));
}

#[test]
fn every_command_refuses_a_case_of_an_undefined_program() {
    let folder = tempfile::tempdir().unwrap();
    let case = case_of("signed-overflow", "compiler = { llvm = \"19\" }", folder.path());
    for command in ["bisect", "localize", "reduce", "triage"] {
        let (code, said) = failure(&[command, &case]);
        assert_eq!(code, 3, "{command}: {said}");
        assert!(said.contains("signed-overflow.c:3:29: signed overflow"), "{command}: {said}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "something was written");
}

#[test]
fn a_case_says_who_was_asked() {
    let found = &json(&["case", "check", &testdata("demo/attributor"), "--json"])["cases"][0];
    assert_eq!(found["status"], "reproduces", "{found}");
    let asked = found["definedness"]["asked"].as_array().unwrap();
    let named = |who: &str| asked.iter().find(|answer| answer["who"] == who).unwrap();
    assert_eq!(named("referee")["said"], "nothing-found", "{found}");
    assert_eq!(named("undefined-sanitizer")["said"], "nothing-found", "{found}");
    assert_eq!(named("other-memory")["said"], "nothing-found", "{found}");
}
