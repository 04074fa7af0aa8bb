//! The verifier notices damage: every bit of the rewritten parts counts.

use std::fs;
use std::process::Command;

use object::elf;

use super::verify;
use crate::elf::{read, write};
use crate::instrument::{Instrumented, Options, instrument_object};

/// Switches, calls, exceptions, a loop and a thread-local variable.
const SOURCE: &str = r#"
extern "C" int puts(const char *);
int helper(int);
thread_local int counter;
static int twice(int x) { return x > 3 ? helper(x) * 2 : x; }
int choose(int x) {
    switch (x) {
    case 0: return 11;
    case 1: puts("one"); return twice(helper(x));
    case 2: return x * 7 + counter++;
    case 3: puts("three"); break;
    case 4: return helper(99);
    case 5: puts("five"); return -1;
    }
    try {
        for (int i = 0; i < x; i++) helper(i);
    } catch (int v) {
        return v;
    }
    return 5;
}
"#;

#[expect(clippy::disallowed_methods, reason = "tests run real tools")]
fn sample(flags: &[&str]) -> (Vec<u8>, Instrumented) {
    let dir = tempfile::tempdir().expect("temporary folder");
    let (source, object) = (dir.path().join("a.cpp"), dir.path().join("a.o"));
    fs::write(&source, SOURCE).expect("write");
    let status =
        Command::new("g++").args(flags).arg("-c").arg(&source).arg("-o").arg(&object).status();
    assert!(status.expect("g++").success());
    let bytes = fs::read(&object).expect("object");
    let instrumented = instrument_object(&bytes, &Options { object_id: 3 }).expect("instrumented");
    (bytes, instrumented)
}

/// Flips every bit of the sections that `is_wanted` names, one at a time; returns those not noticed.
fn unnoticed(
    old: &[u8],
    new: &Instrumented,
    is_wanted: fn(&[u8]) -> bool,
) -> Vec<(String, usize, u32)> {
    let old = read::parse(old).expect("original");
    let object = read::parse(&new.bytes).expect("rewritten");
    let mut missed = Vec::new();
    let mut n_flips = 0;
    for index in 1..object.sections.len() {
        if !is_wanted(object.section_name(index)) || object.sections[index].kind == elf::SHT_NOBITS
        {
            continue;
        }
        for at in 0..object.sections[index].data.len() {
            for bit in 0..8 {
                let mut damaged = object.clone();
                damaged.sections[index].data.to_mut()[at] ^= 1 << bit;
                n_flips += 1;
                if verify(&old, &write::write(damaged), &new.functions).is_ok() {
                    let name = String::from_utf8_lossy(object.section_name(index)).into_owned();
                    missed.push((name, at, bit));
                }
            }
        }
    }
    assert!(n_flips > 100, "only {n_flips} bits");
    missed
}

#[test]
fn every_bit_of_code_and_its_relocations_counts() {
    for flags in [&["-O2", "-fPIC", "-ffunction-sections"], &["-O1", "-fno-pic", "-fcf-protection"]]
    {
        let (old, new) = sample(flags);
        let missed = unnoticed(&old, &new, |name| {
            name.starts_with(b".text") || name.starts_with(b".rela.text")
        });
        assert_eq!(missed, [], "{flags:?}");
    }
}

#[test]
fn every_bit_of_tables_counts() {
    let (old, new) = sample(&["-O2", "-fPIC"]);
    let missed = unnoticed(&old, &new, |name| {
        name.starts_with(b".rodata") || name.starts_with(b".rela.rodata")
    });
    assert_eq!(missed, []);
}

#[test]
fn every_bit_of_unwind_tables_counts() {
    let (old, new) = sample(&["-O2", "-fPIC"]);
    let missed = unnoticed(&old, &new, |name| {
        [&b".eh_frame"[..], b".rela.eh_frame", b".gcc_except_table", b".rela.gcc_except_table"]
            .contains(&name)
    });
    assert_eq!(missed, []);
}

#[test]
fn every_symbol_and_the_index_count() {
    let (old, new) = sample(&["-O2", "-fPIC"]);
    let old = read::parse(&old).expect("original");
    let object = read::parse(&new.bytes).expect("rewritten");
    for number in 1..object.symbols.len() {
        for change in 0..4 {
            let mut damaged = object.clone();
            let symbol = &mut damaged.symbols[number];
            match change {
                0 => symbol.value ^= 1,
                1 => symbol.size += 1,
                2 => symbol.other ^= 2,
                _ => symbol.name = symbol.name.wrapping_add(1),
            }
            let verdict = verify(&old, &write::write(damaged), &new.functions);
            assert!(verdict.is_err(), "symbol {number}, change {change}");
        }
    }
    for (function, block) in new
        .functions
        .iter()
        .enumerate()
        .flat_map(|(f, index)| (0..index.blocks.len()).map(move |b| (f, b)))
    {
        let mut functions = new.functions.clone();
        functions[function].blocks[block].slot ^= 1;
        assert!(verify(&old, &new.bytes, &functions).is_err());
        let mut functions = new.functions.clone();
        functions[function].blocks[block].offset += 1;
        assert!(verify(&old, &new.bytes, &functions).is_err());
    }
}
