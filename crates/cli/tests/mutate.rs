//! `optsleuth mutate`, as a user sees it.

mod program;

use program::{failure, json, run, testdata};

#[test]
fn rules_are_listed_with_their_places_and_applied_by_number() {
    let sum = testdata("sum.c");
    let list = json(&["mutate", &sum, "--llvm", "19", "--list", "--json"]);
    let rules = list["rules"].as_array().unwrap();
    assert_eq!(rules.len(), 132);
    let rule = rules.iter().find(|rule| rule["places"].as_u64() > Some(1)).unwrap();
    let name = rule["name"].as_str().unwrap();
    let places = json(&["mutate", &sum, "--llvm", "19", "--list", "--rule", name, "--json"]);
    let places = places["places"].as_array().unwrap();
    assert_eq!(places.len() as u64, rule["places"].as_u64().unwrap());
    let mutant = json(&["mutate", &sum, "--llvm", "19", "--rule", name, "--place", "1", "--json"]);
    assert_eq!(mutant["rule"], name);
    assert_eq!(mutant["line"], places[1]["line"]);
}

#[test]
fn the_same_seed_prints_the_same_mutant_and_a_file_gets_the_same_text() {
    let sum = testdata("sum.c");
    let print = || run(&["mutate", &sum, "--llvm", "19", "--seed", "5"]).stdout;
    let once = print();
    assert!(!once.is_empty());
    assert_eq!(once, print());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mutant.c");
    let path = file.display().to_string();
    let output = run(&["mutate", &sum, "--llvm", "19", "--seed", "5", "-o", &path]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(std::fs::read(&file).unwrap(), once);
    assert!(String::from_utf8(output.stdout).unwrap().contains(", line "));
}

#[test]
fn wrong_rules_places_and_programs_are_refused_with_a_way_out() {
    let sum = testdata("sum.c");
    let (code, text) = failure(&["mutate", &sum, "--rule", "plus-to-plus"]);
    assert_eq!(code, 1);
    assert!(text.contains("--list"), "{text}");
    let (code, text) =
        failure(&["mutate", &sum, "--llvm", "19", "--rule", "variable", "--place", "100000"]);
    assert_eq!(code, 1);
    assert!(text.contains("--list --rule"), "{text}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("old.c");
    std::fs::write(&file, "a; main() { return f(); }").unwrap();
    let path = file.display().to_string();
    let (code, text) = failure(&["mutate", &path, "--llvm", "19"]);
    assert_eq!(code, 1);
    assert!(text.contains("-std=gnu89"), "{text}");
    let output = run(&["mutate", &path, "--llvm", "19", "--list", "--", "-std=gnu89"]);
    assert_eq!(output.status.code(), Some(0));
}
