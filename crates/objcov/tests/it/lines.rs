//! Source lines of real objects, compared byte by byte with two tools that read them on their own:
//! binutils asked about the object, LLVM asked about the linked program.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use object::{Object as _, ObjectSection as _};
use optsleuth_objcov::{FunctionIndex, Lines, ObjcovError, Options, instrument_object};
use proptest::prelude::*;

use crate::tools::{self, Bench};

const C_SOURCE: &str = r#"#include "shared.h"

static volatile int seen;

int leaf(int n) {
    return n * 3 + 1;
}

__attribute__((cold, noinline)) int rare(int n) {
    if (n > 100)
        seen = n;
    return n - 1;
}

int choose(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (i % 3 == 0)
            sum += leaf(i);
        else if (i % 7 == 2)
            sum -= from_header(i);
        else
            switch (n & 7) {
            case 0: sum ^= 5; break;
            case 1: sum += rare(sum); break;
            case 2: sum *= 3; break;
            case 3: seen = sum; break;
            case 4: sum |= 64; break;
            default: sum--; break;
            }
    }
    return sum;
}

int main(int argc, char **argv) {
    (void)argv;
    return choose(argc + 10) == 12345;
}
"#;

const CPP_SOURCE: &str = r#"#include "shared.h"
#include <stdexcept>
#include <string>

thread_local int depth;

struct Counter {
    virtual ~Counter() {}
    virtual int count(int n) { return n + 1; }
};

template <int N> int scale(int n) {
    depth++;
    if (n > N)
        throw std::runtime_error(std::to_string(n));
    return n * N;
}

int leaf(int n) {
    return n * 3 + 1;
}

int guarded(int n) {
    try {
        return scale<4>(n) + scale<9>(n);
    } catch (const std::exception &error) {
        return error.what()[0] + from_header(n);
    }
}

int main(int argc, char **) {
    Counter counter;
    return guarded(argc) == counter.count(leaf(argc));
}
"#;

const HEADER: &str = "static inline int from_header(int n) {
    if (n & 1)
        return n ^ 21;
    return n + 7;
}
";

/// A folder with the sources, the header in a folder of its own.
fn bench() -> Bench {
    let bench = Bench::new();
    fs::create_dir(bench.path().join("include")).expect("folder");
    for (name, text) in
        [("lines.c", C_SOURCE), ("lines.cpp", CPP_SOURCE), ("include/shared.h", HEADER)]
    {
        fs::write(bench.path().join(name), text).expect("write");
    }
    bench
}

/// Compiles `source` to `lines.o`, naming everything relative to the folder.
fn compile(bench: &Bench, compiler: &str, flags: &str, source: &str) -> Vec<u8> {
    let flags = flags.split_whitespace().collect::<Vec<_>>();
    let fixed = ["-I", "include", "-c", source, "-o", "lines.o"];
    tools::must(&[&[compiler], &flags[..], &fixed].concat(), bench.path());
    fs::read(bench.path().join("lines.o")).expect("object")
}

fn read(bytes: &[u8], what: &str) -> Lines {
    Lines::read(bytes)
        .unwrap_or_else(|error| panic!("{what}: {error}"))
        .unwrap_or_else(|| panic!("{what}: no lines"))
}

fn functions(bytes: &[u8], what: &str) -> Vec<FunctionIndex> {
    let options = Options { object_id: 0 };
    instrument_object(bytes, &options).unwrap_or_else(|skip| panic!("{what}: {skip}")).functions
}

fn section_name(bytes: &[u8], section: u32) -> String {
    let file = object::File::parse(bytes).expect("object");
    let section = file.section_by_index(object::SectionIndex(section as usize)).expect("section");
    section.name().expect("name").to_owned()
}

/// What a tool prints for an address, if it knows the line: path, colon, line and perhaps remarks.
fn printed(text: &str) -> Option<(&Path, u32)> {
    let (file, line) = text.split_whitespace().next()?.rsplit_once(':')?;
    let line = line.parse().ok().filter(|&line| line != 0)?;
    Some((Path::new(file), line))
}

/// What of a tool's answer is worth comparing.
#[derive(Clone, Copy)]
enum Trust {
    LineOnly,
    FileAndLine,
}

/// Compares every byte of `functions` with the answers of a tool, one per byte.
fn compare(lines: &Lines, functions: &[FunctionIndex], answers: &str, trust: Trust, what: &str) {
    let mut answers = answers.lines().filter(|line| !line.is_empty());
    for function in functions {
        for offset in function.start..function.end {
            let what = format!("{what}: {} at {offset:#x}", function.symbol);
            let answer = printed(answers.next().expect("an answer"));
            let found = lines.find(function.section, offset);
            let found = found.map(|found| (Path::new(found.file), found.line));
            let line = |at: Option<(&Path, u32)>| at.map(|at| at.1);
            match trust {
                Trust::LineOnly => assert_eq!(line(found), line(answer), "{what}"),
                Trust::FileAndLine => assert_eq!(found, answer, "{what}"),
            }
        }
    }
    assert_eq!(answers.next(), None, "{what}");
}

/// Asks binutils about the object. Version 2.40 forgets to relocate the names of DWARF 5 files there.
fn compare_object(bench: &Bench, bytes: &[u8], lines: &Lines, what: &str) {
    let functions = functions(bytes, what);
    for functions in functions.chunk_by(|a, b| a.section == b.section) {
        let section = section_name(bytes, functions[0].section);
        let offsets = functions.iter().flat_map(|function| function.start..function.end);
        let offsets = offsets.map(|offset| format!("{offset:#x}")).collect::<Vec<_>>();
        let mut command = vec!["addr2line", "-e", "lines.o", "-j", &section];
        command.extend(offsets.iter().map(String::as_str));
        let answers = tools::must(&command, bench.path());
        compare(lines, functions, &answers, Trust::LineOnly, what);
    }
}

/// Asks LLVM about a program linked from the object.
fn compare_program(bench: &Bench, bytes: &[u8], lines: &Lines, what: &str) {
    tools::must(&["g++", "lines.o", "-o", "program"], bench.path());
    let symbols = bench.symbols("program");
    let functions = functions(bytes, what);
    let mut addresses = Vec::new();
    for function in &functions {
        let start = symbols[&function.symbol];
        let end = start + u64::from(function.end - function.start);
        addresses.extend((start..end).map(|address| format!("{address:#x}")));
    }
    let mut command = vec!["llvm-symbolizer-19", "-e", "program", "--no-inlines"];
    command.extend(["--functions=none", "--output-style=GNU"]);
    command.extend(addresses.iter().map(String::as_str));
    let answers = tools::must(&command, bench.path());
    compare(lines, &functions, &answers, Trust::FileAndLine, what);
}

/// Compiles and compares with LLVM, and with binutils if they know these `flags`.
fn check(compiler: &str, flags: &str, source: &str) {
    let bench = bench();
    let what = format!("{compiler} {flags} {source}");
    let bytes = compile(&bench, compiler, flags, source);
    let lines = read(&bytes, &what);
    if !["-gdwarf64", "-gsplit-dwarf"].iter().any(|unknown| flags.contains(unknown)) {
        compare_object(&bench, &bytes, &lines, &what);
    }
    compare_program(&bench, &bytes, &lines, &what);
    check_starts(&bench, &bytes, &lines, flags, source);
}

/// The line of the first source line that contains `text`, from 1.
fn line_with(source: &str, text: &str) -> u32 {
    source.lines().position(|line| line.contains(text)).expect("such a line") as u32 + 1
}

/// The first block of `leaf` is at its first line; optimized code may start with the line behind.
fn check_starts(bench: &Bench, bytes: &[u8], lines: &Lines, flags: &str, source: &str) {
    let what = format!("{flags} {source}");
    let text = if source == "lines.c" { C_SOURCE } else { CPP_SOURCE };
    let functions = functions(bytes, &what);
    let leaf = functions.iter().find(|function| function.symbol.contains("leaf")).expect("leaf");
    let found = lines.find(leaf.section, leaf.blocks[0].offset).expect("line");
    let first = line_with(text, "int leaf");
    let last = if flags.contains("-O0") { first } else { first + 1 };
    assert!((first..=last).contains(&found.line), "{what}: {found:?}");
    let folder = bench.path().canonicalize().expect("folder");
    assert_eq!(Path::new(found.file), folder.join(source), "{what}");
}

fn check_all_flags(compiler: &str, source: &str) {
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        for level in ["-O0", "-O2"] {
            for sections in ["", "-ffunction-sections"] {
                check(compiler, &format!("-g {version} {level} {sections}"), source);
            }
        }
    }
}

#[test]
fn lines_of_gcc_c_are_those_other_tools_find() {
    check_all_flags("gcc", "lines.c");
}

#[test]
fn lines_of_gcc_cpp_are_those_other_tools_find() {
    check_all_flags("g++", "lines.cpp");
}

#[test]
fn lines_of_clang_c_are_those_other_tools_find() {
    check_all_flags("clang-19", "lines.c");
}

#[test]
fn lines_of_clang_cpp_are_those_other_tools_find() {
    check_all_flags("clang++-19", "lines.cpp");
}

#[test]
fn unusual_forms_of_debug_information_are_read() {
    for compiler in ["g++", "clang++-19"] {
        for flags in [
            "-g1 -O1",
            "-gdwarf-2 -O0",
            "-gdwarf-3 -O1",
            "-gdwarf-4 -gdwarf64 -O0",
            "-gdwarf-5 -gdwarf64 -O0",
            "-gdwarf-4 -fdebug-types-section -O0",
            "-gdwarf-5 -fdebug-types-section -O0 -ffunction-sections",
            "-gdwarf-4 -gsplit-dwarf -O0",
            "-gdwarf-5 -gsplit-dwarf -O0",
            "-g -O2 -fPIC",
        ] {
            check(compiler, flags, "lines.cpp");
        }
    }
}

#[test]
fn lines_of_inlined_code_are_in_the_header() {
    let bench = bench();
    for compiler in ["gcc", "clang-19"] {
        let bytes = compile(&bench, compiler, "-g -O2", "lines.c");
        let lines = read(&bytes, compiler);
        let mut files = Vec::new();
        for function in functions(&bytes, compiler) {
            let offsets = function.start..function.end;
            let found = offsets.filter_map(|offset| lines.find(function.section, offset));
            files.extend(found.filter(|found| found.line <= 5).map(|found| found.file));
        }
        let folder = bench.path().canonicalize().expect("folder");
        let header = folder.join("include/shared.h");
        assert!(files.iter().any(|file| Path::new(file) == header), "{compiler}: {files:?}");
    }
}

#[test]
fn objects_joined_by_the_linker_keep_their_lines() {
    let bench = bench();
    let main = compile(&bench, "gcc", "-gdwarf-4 -O0 -Dleaf=first -Dfrom_header=h", "lines.c");
    fs::write(bench.path().join("main.o"), main).expect("write");
    compile(&bench, "clang-19", "-gdwarf-5 -O0 -Dmain=other -Dchoose=c -Drare=r", "lines.c");
    fs::rename(bench.path().join("lines.o"), bench.path().join("other.o")).expect("rename");
    tools::must(&["ld", "-r", "main.o", "other.o", "-o", "lines.o"], bench.path());
    let bytes = fs::read(bench.path().join("lines.o")).expect("object");
    let lines = read(&bytes, "joined");
    compare_object(&bench, &bytes, &lines, "joined");
    compare_program(&bench, &bytes, &lines, "joined");
}

#[test]
fn hand_written_code_without_units_has_lines() {
    let bench = Bench::new();
    let source = ".file 1 \"some/where.x\"\n.text\n.loc 1 7\nnop\n.loc 1 0\nnop\n.loc 1 9\nret\n";
    fs::write(bench.path().join("a.s"), source).expect("write");
    tools::must(&["clang-19", "-c", "a.s", "-o", "a.o"], bench.path());
    let bytes = fs::read(bench.path().join("a.o")).expect("object");
    let lines = read(&bytes, "assembly");
    let text = object::File::parse(&bytes[..]).expect("object");
    let text = text.section_by_name(".text").expect("section").index().0 as u32;
    let found = |offset| lines.find(text, offset).map(|found| found.line);
    assert_eq!([0, 1, 2, 3].map(found), [Some(7), None, Some(9), None]);
    assert!(lines.find(text, 0).is_some_and(|found| found.file.ends_with("some/where.x")));
    assert_eq!(lines.find(0, 0), None);
    assert_eq!(lines.find(99, 0), None);
}

#[test]
fn objects_without_lines_have_none() {
    let bench = bench();
    for compiler in ["gcc", "clang-19"] {
        for flags in ["-g0", "-O2"] {
            let bytes = compile(&bench, compiler, flags, "lines.c");
            assert_eq!(Lines::read(&bytes), Ok(None), "{compiler} {flags}");
        }
    }
    for flags in ["-g -gz=zlib", "-gdwarf-4 -gz=zlib"] {
        let bytes = compile(&bench, "gcc", flags, "lines.c");
        assert_eq!(Lines::read(&bytes), Ok(None), "{flags}");
    }
}

#[test]
fn what_is_no_object_is_an_error() {
    assert!(matches!(Lines::read(b""), Err(ObjcovError::NotElf)));
    assert!(matches!(Lines::read(b"text"), Err(ObjcovError::NotElf)));
}

/// Where the contents of section `name` are in the file.
fn extent(bytes: &[u8], name: &str) -> std::ops::Range<usize> {
    let file = object::File::parse(bytes).expect("object");
    let range = file.section_by_name(name).and_then(|section| section.file_range());
    let (start, size) = range.expect("section");
    start as usize..(start + size) as usize
}

#[test]
fn unknown_relocations_are_an_error() {
    let bench = bench();
    let mut bytes = compile(&bench, "gcc", "-g", "lines.c");
    let relocations = extent(&bytes, ".rela.debug_line");
    bytes[relocations.start + 8] = 9; // Relative to the global offset table.
    assert!(matches!(Lines::read(&bytes), Err(ObjcovError::DebugRelocation { kind: 9, .. })));
}

#[test]
fn lines_beyond_the_code_are_an_error() {
    let bench = bench();
    let mut bytes = compile(&bench, "clang-19", "-g", "lines.c");
    let relocations = extent(&bytes, ".rela.debug_line");
    let last = relocations.end - 24; // Sets the address; its addend starts at 16.
    bytes[last + 17] = 0x7f;
    assert!(matches!(Lines::read(&bytes), Err(ObjcovError::DebugSections(_))));
}

/// Healthy objects.
fn samples() -> &'static [Vec<u8>] {
    static SAMPLES: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        let bench = bench();
        let mut samples = Vec::new();
        for compiler in ["gcc", "clang-19"] {
            for flags in ["-gdwarf-4 -O2", "-gdwarf-5 -O0 -ffunction-sections"] {
                samples.push(compile(&bench, compiler, flags, "lines.c"));
            }
        }
        samples
    })
}

/// What the damage goes for.
const TARGETS: [&str; 5] =
    [".debug_line", ".rela.debug_line", ".debug_info", ".debug_abbrev", ".symtab"];

/// Reads damaged bytes, twice, and asks for some lines.
fn survive(bytes: &[u8]) {
    let once = Lines::read(bytes);
    assert_eq!(once, Lines::read(bytes));
    if let Ok(Some(lines)) = once {
        for section in 0..20 {
            for offset in [0, 1, 50, u32::MAX] {
                let _ = lines.find(section, offset);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases * 16,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn damaged_debug_information_never_panics(
        sample in 0..4usize,
        target in 0..TARGETS.len(),
        changes in prop::collection::vec((any::<usize>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = samples()[sample].clone();
        let extent = extent(&bytes, TARGETS[target]);
        for (at, value) in changes {
            bytes[extent.start + at % extent.len()] = value;
        }
        survive(&bytes);
    }

    #[test]
    fn damaged_objects_never_panic(
        sample in 0..4usize,
        flips in prop::collection::vec((any::<usize>(), 0..8u8), 1..20),
        cut in prop::option::weighted(0.2, any::<usize>()),
    ) {
        let mut bytes = samples()[sample].clone();
        for (at, bit) in flips {
            let at = at % bytes.len();
            bytes[at] ^= 1 << bit;
        }
        bytes.truncate(cut.map_or(bytes.len(), |cut| cut % bytes.len()));
        survive(&bytes);
    }
}

#[test]
fn every_truncation_is_an_error() {
    let sample = &samples()[0];
    for len in 0..sample.len() {
        assert!(Lines::read(&sample[..len]).is_err(), "length {len}");
    }
}
