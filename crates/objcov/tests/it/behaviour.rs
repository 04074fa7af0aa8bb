//! Small programs, many ways to translate them: instrumented ones behave like plain ones.

use crate::tools::{self, Bench, Setup};

/// Position-independent or not, and with or without a section per function.
const MODES: [(&[&str], &[&str]); 5] = [
    (&["-fPIC", "-ffunction-sections"], &["-pie"]),
    (&["-fno-pic", "-g"], &["-no-pie"]),
    (&["-fPIE", "-g3", "-fdebug-types-section", "-fcf-protection"], &["-pie"]),
    (&["-fno-pic", "-ffunction-sections", "-fdata-sections"], &["-no-pie"]),
    (&["-fPIC", "-fno-plt", "-mtls-dialect=gnu2", "-fno-asynchronous-unwind-tables"], &["-pie"]),
];

const LEVELS: [&str; 5] = ["-O0", "-O1", "-O2", "-O3", "-Os"];

/// Translates `sources` in every way, instruments all objects, and compares. The compilers take turns: each
/// pair of level and mode is tried with one of them, each level and each mode with both.
fn check(sources: &[&str]) {
    let bench = Bench::new();
    let compilers = [("gcc", "-fuse-ld=bfd"), ("clang-19", "-fuse-ld=lld")];
    for (turn, (compiler, linker)) in compilers.into_iter().enumerate() {
        for (row, level) in LEVELS.into_iter().enumerate() {
            for (column, (flags, link_flags)) in MODES.into_iter().enumerate() {
                if (turn + row + column) % 2 == 1 {
                    continue;
                }
                let flags = [flags, &[level, "-w"]].concat();
                let link_flags = [link_flags, &[linker, "-Wl,--gc-sections"]].concat();
                let setup = Setup { compiler, flags: &flags, link_flags: &link_flags };
                check_one(&bench, setup, sources, level == "-O0");
            }
        }
    }
}

fn check_one(bench: &Bench, setup: Setup<'_>, sources: &[&str], is_plain_code: bool) {
    let what = format!("{sources:?} {setup:?}");
    let (mut plain, mut instrumented, mut functions) = (vec![], vec![], vec![]);
    for (number, source) in sources.iter().enumerate() {
        let object = format!("{number}.o");
        let bytes = bench.compile(setup, source, &object);
        let copy = format!("{number}.cov.o");
        let index = bench.instrument(&bytes, number as u32, &copy);
        functions.extend(index.unwrap_or_else(|skip| panic!("{what}: {skip}")));
        plain.push(object);
        instrumented.push(copy);
    }
    let plain = plain.iter().map(String::as_str).collect::<Vec<_>>();
    let instrumented = instrumented.iter().map(String::as_str).collect::<Vec<_>>();
    bench.link(setup, &plain, "plain");
    bench.link_framed(setup, &instrumented, "instrumented");
    bench.compare("plain", "instrumented", functions, &what).check_names(is_plain_code, &what);
}

#[test]
fn jump_tables_lead_to_the_same_cases() {
    check(&["switch.c"]);
}

#[test]
fn label_addresses_in_tables_move_along() {
    check(&["goto.c"]);
}

#[test]
fn exceptions_find_their_handlers_and_cleanups() {
    check(&["throw.cpp"]);
}

#[test]
fn thread_local_sequences_stay_whole() {
    check(&["tls.c"]);
}

#[test]
fn long_jumps_tail_calls_and_callbacks_work() {
    check(&["jumps.c"]);
}

#[test]
fn initializers_member_pointers_and_shared_templates_work() {
    check(&["init.cpp", "init_other.cpp"]);
}

#[test]
fn stacks_unwind_through_instrumented_frames() {
    check(&["trace.c"]);
}

#[test]
fn inline_assembly_keeps_its_local_jumps() {
    check(&["asm.c"]);
}

#[test]
fn load_time_choices_aliases_and_weak_symbols_work() {
    check(&["ifunc.c"]);
}

#[test]
fn label_differences_are_refused() {
    let bench = Bench::new();
    for compiler in ["gcc", "clang-19"] {
        for mode in ["-fPIC", "-fno-pic"] {
            let setup = Setup { compiler, flags: &["-O2", mode], link_flags: &[] };
            let bytes = bench.compile(setup, "differences.c", "differences.o");
            let refusal = bench.instrument(&bytes, 0, "never.o").expect_err("refused");
            assert_eq!(refusal.kind(), "label-arithmetic", "{compiler} {mode}: {refusal}");
        }
    }
}

#[test]
fn intermediate_code_is_refused() {
    let bench = Bench::new();
    let setup = Setup { compiler: "gcc", flags: &["-flto", "-ffat-lto-objects"], link_flags: &[] };
    let bytes = bench.compile(setup, "goto.c", "fat.o");
    assert_eq!(
        bench.instrument(&bytes, 0, "never.o").expect_err("refused").kind(),
        "link-time-code"
    );
}

#[test]
fn thread_local_variables_of_a_shared_library_work() {
    let bench = Bench::new();
    for (compiler, linker) in [("gcc", "-fuse-ld=bfd"), ("clang-19", "-fuse-ld=lld")] {
        let flags = ["-O2", "-fPIC", "-Dmain=library_main"];
        let shared = Setup {
            compiler,
            flags: &flags,
            link_flags: &["-shared", linker, "-Wl,-soname,library.so"],
        };
        let bytes = bench.compile(shared, "tls.c", "library.o");
        let functions = bench.instrument(&bytes, 0, "library.cov.o").expect("instrumented");
        let main = Setup { compiler, flags: &[], link_flags: &[linker, "-Wl,-rpath,$ORIGIN"] };
        bench.compile(main, "library_main.c", "main.o");
        let mut outputs = vec![];
        for is_plain in [true, false] {
            let what = format!("{compiler} {is_plain}");
            match is_plain {
                true => bench.link(shared, &["library.o"], "library.so"),
                false => bench.link_framed(shared, &["library.cov.o"], "library.so"),
            }
            bench.link(main, &["main.o", "./library.so"], "program");
            let hits = bench.path().join("library.hits");
            let output =
                tools::run(&["./program"], bench.path(), &[("OBJCOV_HITS", tools::path(&hits))]);
            outputs.push(output.stdout);
            assert_eq!(hits.exists(), !is_plain, "{what}");
            let _ = std::fs::remove_file(hits);
        }
        assert_eq!(outputs[0], outputs[1], "{compiler}");
        assert!(functions.iter().any(|function| function.symbol == "used_step"));
    }
}

#[test]
fn instrumenting_twice_is_refused() {
    let bench = Bench::new();
    let setup = Setup { compiler: "gcc", flags: &[], link_flags: &[] };
    let bytes = bench.compile(setup, "goto.c", "once.o");
    bench.instrument(&bytes, 0, "twice.o").expect("first time");
    let again = std::fs::read(bench.path().join("twice.o")).expect("object");
    assert_eq!(bench.instrument(&again, 0, "never.o").expect_err("refused").kind(), "unsupported");
}
