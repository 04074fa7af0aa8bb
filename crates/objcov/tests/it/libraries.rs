//! Debian's static libraries: instrumented ones behave like the originals.
//!
//! A library that is not installed makes its test fail: zlib1g-dev, libzstd-dev and g++ are needed.

use std::fs;
use std::path::Path;

use optsleuth_objcov::{ArchiveOptions, ArchiveResult, instrument_archive};

use crate::tools::{self, Bench, Setup, Trial};

const NO_FILES: fn(&str) -> Option<Vec<u8>> = |_| None;

fn instrumented(path: &str) -> ArchiveResult {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let options = ArchiveOptions { first_object_id: 0, thin_member: &NO_FILES };
    instrument_archive(&bytes, &options).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Links `source` with the library at `path` and with its instrumented form, using `linker`, and compares.
fn check(source: &str, path: &str, linker: &str, link_flags: &[&str]) -> Trial {
    let bench = Bench::new();
    let result = instrumented(path);
    fs::write(bench.path().join("libcov.a"), &result.bytes).expect("write");
    let link_flags = [link_flags, &[linker]].concat();
    let setup = Setup { compiler: "clang-19", flags: &["-O1", "-w"], link_flags: &link_flags };
    bench.compile(setup, source, "main.o");
    bench.link(setup, &["main.o", path], "plain");
    bench.link_framed(setup, &["main.o", "libcov.a"], "instrumented");
    let functions =
        result.members.into_iter().filter_map(|member| member.outcome.ok()).flatten().collect();
    bench.compare("plain", "instrumented", functions, source)
}

#[track_caller]
fn check_hit(trial: &Trial, called: &[&str], not_called: &[&str]) {
    for name in called.iter().chain(not_called) {
        let mut copies = trial.functions.iter().filter(|function| function.symbol == *name);
        let hits = copies
            .find_map(|function| trial.hits(function))
            .unwrap_or_else(|| panic!("{name} is missing"));
        assert_eq!(hits.contains(&true), called.contains(name), "{name}");
    }
}

#[test]
fn zlib_compresses_to_the_same_bytes() {
    for linker in ["-fuse-ld=bfd", "-fuse-ld=lld"] {
        let trial = check("use_zlib.c", "/usr/lib/x86_64-linux-gnu/libz.a", linker, &[]);
        check_hit(&trial, &["deflate", "inflate", "crc32", "adler32"], &["deflateCopy"]);
    }
}

#[test]
fn zstd_compresses_to_the_same_bytes() {
    let trial = check("use_zstd.c", "/usr/lib/x86_64-linux-gnu/libzstd.a", "-fuse-ld=lld", &[]);
    check_hit(&trial, &["ZSTD_compress", "ZSTD_decompress"], &[]);
}

#[test]
fn the_standard_library_of_cpp_works() {
    let driver = tools::must(&["g++", "-print-file-name=libstdc++.a"], Path::new("."));
    for linker in ["-fuse-ld=bfd", "-fuse-ld=lld"] {
        let trial = check("use_cpp.cpp", driver.trim(), linker, &["-nostdlib++"]);
        check_hit(
            &trial,
            &["__cxa_throw", "__gxx_personality_v0", "_ZNSt6localeC2Ev"],
            &["__cxa_bad_cast"],
        );
    }
}

#[test]
fn thin_archives_are_read_and_become_regular_ones() {
    let bench = Bench::new();
    let setup = Setup { compiler: "gcc", flags: &["-O1"], link_flags: &[] };
    bench.compile(setup, "goto.c", "a.o");
    bench.compile(setup, "switch.c", "b-with-a-rather-long-name.o");
    tools::must(&["ar", "rcsT", "thin.a", "a.o", "b-with-a-rather-long-name.o"], bench.path());
    tools::must(&["ar", "rcs", "fat.a", "a.o", "b-with-a-rather-long-name.o"], bench.path());
    let load = |name: &str| fs::read(bench.path().join(name)).ok();
    let options = ArchiveOptions { first_object_id: 7, thin_member: &load };
    let read = |name: &str| fs::read(bench.path().join(name)).expect("archive");
    let thin = instrument_archive(&read("thin.a"), &options).expect("thin archive");
    let fat = instrument_archive(&read("fat.a"), &options).expect("fat archive");
    assert_eq!(thin, fat);
    assert_eq!(thin.members[1].object_id, 8);
    fs::write(bench.path().join("out.a"), &thin.bytes).expect("write");
    let listing = tools::must(&["ar", "t", "out.a"], bench.path());
    assert_eq!(listing, "a.o\nb-with-a-rather-long-name.o\n");
    let index = tools::must(&["nm", "-s", "out.a"], bench.path());
    assert!(index.contains("used_interpreter in a.o"), "{index}");
    let missing = ArchiveOptions { first_object_id: 0, thin_member: &NO_FILES };
    assert!(instrument_archive(&read("thin.a"), &missing).is_err());
}

#[test]
fn the_number_of_threads_does_not_change_the_result() {
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("pool");
    let path = "/usr/lib/x86_64-linux-gnu/libzstd.a";
    assert_eq!(alone.install(|| instrumented(path)), instrumented(path));
}
