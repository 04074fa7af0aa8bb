//! Everybody, one by one, about the programs in `testdata/undefined`: the table in
//! docs/definedness.md is what was measured.

use std::num::NonZero;
use std::path::Path;

use optsleuth_compiler::llvm::{Flavor, Targets};
use optsleuth_model::{Execute, ObjectionKind, OptLevel, Pipeline, Silent};

use super::*;
use crate::workers::{LlvmChoice, Workers};

const COLUMNS: [Checker; 7] = [
    Checker::Referee,
    Checker::UndefinedSanitizer,
    Checker::AddressSanitizer,
    Checker::MemorySanitizer,
    Checker::TypeSanitizer,
    Checker::OtherMemory,
    Checker::SecondCompiler,
];

/// Who cannot name a line still sees that the failure needs C's alias rules.
#[test]
fn what_needs_the_alias_rules_is_probably_undefined() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let llvm = LlvmChoice::Version(19);
    let mut workers =
        Workers::set_up(&llvm, Targets::Native, Flavor::Plain, NonZero::new(1), &Silent).unwrap();
    let pipeline = Pipeline::Level(OptLevel::O2);
    let (clang_flags, options) =
        (OptLevel::O2.clang_flags(&[]), OptLevel::O2.llvm_options(&[], &[]));
    let passes = workers.passes(&pipeline.passes()).unwrap();
    let request = RunRequest {
        codegen: pipeline.codegen(),
        execute: Execute::InChild,
        ..RunRequest::new(Some(passes))
    };
    let limits = Limits::STANDARD;
    let mut said_of = |name: &str| {
        let source = root.join("testdata/undefined").join(name);
        let program = workers.load(&source, &[], &[], limits).unwrap();
        let Workers { install, pool, .. } = &mut workers;
        let worker = pool.first();
        let ran = worker.run(&PLAIN.request(None, limits)).unwrap().outcome;
        let asked = Asked {
            source: &source,
            c_flags: &[],
            loaded: Some((&program, &[])),
            expected: ran.execution().unwrap(),
            failing: Some(FailingRun {
                clang_flags: &clang_flags,
                options: &options,
                request: &request,
            }),
            limits,
        };
        ask(&[Checker::AliasRules], &asked, install, worker, &Silent).unwrap()
    };
    let said = said_of("strict-aliasing.c");
    let objection = said.objection().unwrap();
    assert_eq!(objection.kind, ObjectionKind::ProbablyUndefined, "{objection:?}");
    // This one is undefined by something else.
    assert_eq!(said_of("signed-overflow.c").asked[0].said, Said::NothingFound);
}

/// What the table has of an answer; `None` where nobody could be asked here.
fn cell(name: &str, said: &Said) -> Option<&'static str> {
    match said {
        Said::Objects(objection) if objection.what.starts_with(name) => Some("line"),
        Said::Objects(_) => Some("yes"),
        Said::NothingFound => Some("-"),
        Said::NoVerdict(_) => Some("no verdict"),
        Said::NotHere => None,
    }
}

#[test]
fn the_table_says_who_sees_what() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/definedness.md")).unwrap();
    let llvm = LlvmChoice::Version(19);
    let mut workers =
        Workers::set_up(&llvm, Targets::Native, Flavor::Plain, NonZero::new(1), &Silent).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let rows: Vec<Vec<&str>> =
        rows.map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect()).collect();
    let listed = std::fs::read_dir(root.join("testdata/undefined")).unwrap().count();
    assert_eq!(rows.len(), listed, "the table has a row for each program");
    let mut wrong = Vec::new();
    for row in rows.iter().filter(|row| row[0] != "`endless-loop.c`") {
        let name = row[0].trim_matches('`');
        let source = root.join("testdata/undefined").join(name);
        let limits = Limits::STANDARD;
        let program = workers.load(&source, &[], &[], limits).unwrap();
        let Workers { install, pool, .. } = &mut workers;
        let worker = pool.first();
        let ran = worker.run(&PLAIN.request(None, limits)).unwrap().outcome;
        let expected = ran.execution().unwrap().clone();
        let loaded = Some((&program, &[][..]));
        let asked = Asked {
            source: &source,
            c_flags: &[],
            loaded,
            expected: &expected,
            failing: None,
            limits,
        };
        for (who, written) in COLUMNS.into_iter().zip(&row[1..]) {
            let answers = ask(&[who], &asked, install, worker, &Silent).unwrap().asked;
            let found = cell(name, &answers[0].said).unwrap_or(written);
            if found != *written {
                wrong.push(format!("{name}: `{found}`, not `{written}`: {answers:?}"));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}
