//! `optsleuth mutate`, as a user sees it.

use optsleuth_compiler::{libclang, llvm};
use optsleuth_mutate::{Libclang, OLDEST};

use crate::program::{failure, json, run, testdata};

#[test]
fn rules_are_listed_with_their_places_and_applied_by_number() {
    let sum = testdata("sum.c");
    let list = json(&["mutate", &sum, "--llvm", "19", "--list", "--json"]);
    let rules = list["rules"].as_array().unwrap();
    assert_eq!(rules.len(), 132);
    assert_eq!(list["operators"].as_array().unwrap().len(), 5);
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

#[test]
fn operators_are_listed_last_and_insert_from_a_pool() {
    let sum = testdata("sum.c");
    let list = run(&["mutate", &sum, "--llvm", "19", "--list"]).stdout;
    let list = String::from_utf8(list).unwrap();
    let last: Vec<&str> = list.lines().rev().take(6).map(str::trim).collect();
    let expected =
        ["blend", "insert-goto", "insert-call", "insert-while", "insert-if", "structure"];
    assert_eq!(last, expected);
    let folder = tempfile::tempdir().unwrap();
    let donor = "int f(int v) { return v == 4711 ? 1 : 2; }";
    std::fs::write(folder.path().join("donor.c"), donor).unwrap();
    let pool = folder.path().display().to_string();
    let given = ["mutate", &sum, "--llvm", "19", "--json", "--rule"];
    let guarded = json(&[&given[..], &["insert-if", "--pool", &pool]].concat());
    assert_eq!(guarded["rule"], "insert-if");
    assert!(guarded["text"].as_str().unwrap().contains("== 4711)"), "{guarded}");
    for name in ["insert-call", "blend"] {
        assert_eq!(json(&[&given[..], &[name]].concat())["rule"], name);
    }
}

#[test]
fn an_operator_that_draws_its_place_takes_no_number() {
    let sum = testdata("sum.c");
    for flags in [&["--place", "1"][..], &["--list"]] {
        let given = [&["mutate", &sum, "--llvm", "19", "--rule", "insert-if"], flags].concat();
        let (code, text) = failure(&given);
        assert_eq!(code, 1);
        assert!(text.contains("--seed"), "{text}");
    }
}

#[test]
#[cfg_attr(not(has_llvm_14), ignore = "loads libclang 14, which is not installed")]
fn a_libclang_that_is_too_old_is_refused_and_a_better_one_named() {
    let old = llvm::find(14).unwrap();
    let said = Libclang::load(&libclang::of(&old).unwrap()).unwrap_err().to_string();
    for text in ["libclang-14", &format!("from {OLDEST} on")] {
        assert!(said.contains(text), "{text}: {said}");
    }
}
