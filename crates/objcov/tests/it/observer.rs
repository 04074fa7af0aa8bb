//! Coverage is exactly right: equal, block for block, to what a debugger sees in the plain program.

use std::collections::BTreeSet;
use std::fs;

use optsleuth_objcov::{ArchiveOptions, FunctionIndex, instrument_archive};

use crate::tools::{Bench, Method, Setup};

/// Observes `plain` and compares every block of every function with the hits of `instrumented`.
fn check(bench: &Bench, functions: Vec<FunctionIndex>, method: Method, what: &str) {
    let trial = bench.compare("plain", "instrumented", functions, what);
    let symbols = bench.symbols("plain");
    let mut blocks = Vec::new();
    for function in &trial.functions {
        // Copies that the linker dropped have no marks.
        let (Some(hits), Some(&address)) = (trial.hits(function), symbols.get(&function.symbol))
        else {
            continue;
        };
        for (block, &is_hit) in function.blocks.iter().zip(&hits) {
            let at = address + u64::from(block.offset - function.start);
            blocks.push((at, is_hit, function.symbol.as_str(), block.offset));
        }
    }
    let addresses = blocks.iter().map(|block| block.0).collect::<BTreeSet<_>>();
    let (seen, _) = bench.observe(&["./plain"], &[], &addresses, method);
    for &(at, is_hit, symbol, offset) in &blocks {
        assert_eq!(seen.contains(&at), is_hit, "{what}: {symbol} block {offset:#x}");
    }
    assert!(
        seen.len() > 5 && seen.len() < blocks.len(),
        "{what}: {} of {}",
        seen.len(),
        blocks.len()
    );
}

/// Compares `source`, translated by each compiler at each level of `ways`.
fn check_program(source: &str, method: Method, ways: &[(&str, &str)]) {
    let bench = Bench::new();
    for (compiler, level) in ways {
        let flags = [level, "-fno-pic", "-fcf-protection"];
        // Static: the dynamic linker would take most of the steps.
        let setup = Setup { compiler, flags: &flags, link_flags: &["-no-pie", "-static"] };
        let bytes = bench.compile(setup, source, "object.o");
        let functions = bench.instrument(&bytes, 0, "object.cov.o").expect("instrumented");
        bench.link(setup, &["object.o"], "plain");
        bench.link_framed(setup, &["object.cov.o"], "instrumented");
        check(&bench, functions, method, &format!("{source} {compiler} {level}"));
    }
}

#[test]
fn breakpoints_see_the_same_blocks() {
    for source in ["switch.c", "throw.cpp", "jumps.c", "asm.c"] {
        let ways = [("gcc", "-O0"), ("gcc", "-O2"), ("clang-19", "-O1"), ("clang-19", "-O3")];
        check_program(source, Method::Traps, &ways);
    }
}

#[test]
fn single_stepping_sees_the_same_blocks() {
    check_program("goto.c", Method::Steps, &[("gcc", "-O1"), ("clang-19", "-O2")]);
}

#[test]
fn a_library_is_covered_exactly() {
    let bench = Bench::new();
    let path = "/usr/lib/x86_64-linux-gnu/libz.a";
    let bytes = fs::read(path).expect("zlib1g-dev is installed");
    let options = ArchiveOptions { first_object_id: 0, thin_member: &|_| None };
    let result = instrument_archive(&bytes, &options).expect("instrumented");
    fs::write(bench.path().join("libcov.a"), &result.bytes).expect("write");
    let setup = Setup { compiler: "gcc", flags: &["-O1"], link_flags: &["-no-pie"] };
    bench.compile(setup, "use_zlib.c", "main.o");
    bench.link(setup, &["main.o", path], "plain");
    bench.link_framed(setup, &["main.o", "libcov.a"], "instrumented");
    let functions =
        result.members.into_iter().filter_map(|member| member.outcome.ok()).flatten().collect();
    check(&bench, functions, Method::Traps, path);
}
