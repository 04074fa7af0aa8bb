//! Damaged objects and archives: a refusal or a result, never a panic, never an endless run.

use std::fs;
use std::sync::OnceLock;

use optsleuth_objcov::{ArchiveOptions, Options, instrument_archive, instrument_object};
use proptest::prelude::*;

use crate::tools::{self, Bench, Setup};

/// Healthy objects with tables, exceptions, groups and thread-local variables, and an archive of them.
fn samples() -> &'static [Vec<u8>] {
    static SAMPLES: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        let bench = Bench::new();
        let mut samples = Vec::new();
        for (number, source) in
            ["switch.c", "throw.cpp", "tls.c", "init.cpp", "asm.c"].iter().enumerate()
        {
            for (compiler, flags) in
                [("gcc", &["-O2", "-fPIC"]), ("clang-19", &["-O1", "-ffunction-sections"])]
            {
                let setup = Setup { compiler, flags, link_flags: &[] };
                samples.push(bench.compile(setup, source, &format!("{compiler}{number}.o")));
            }
        }
        tools::must(&["sh", "-c", "ar rcs all.a gcc*.o"], bench.path());
        samples.push(fs::read(bench.path().join("all.a")).expect("archive"));
        samples
    })
}

/// One way to damage a file.
#[derive(Debug, Clone)]
enum Damage {
    Flip {
        at: usize,
        bit: u8,
    },
    Set {
        at: usize,
        value: u8,
    },
    /// Changes the section table, where a small change has large effects.
    Header {
        section: usize,
        field: usize,
        value: u64,
    },
    Copy {
        from: usize,
        to: usize,
        len: usize,
    },
    Truncate {
        at: usize,
    },
}

fn damage() -> impl Strategy<Value = Damage> {
    let big = any::<usize>();
    let odd_numbers =
        prop_oneof![Just(0), Just(1), Just(u64::MAX), Just(1 << 31), 0..200u64, any::<u64>()];
    prop_oneof![
        4 => (big, 0..8u8).prop_map(|(at, bit)| Damage::Flip { at, bit }),
        4 => (big, any::<u8>()).prop_map(|(at, value)| Damage::Set { at, value }),
        4 => (0..60usize, 0..10usize, odd_numbers).prop_map(|(section, field, value)| Damage::Header { section, field, value }),
        1 => (big, any::<usize>(), 1..200usize).prop_map(|(from, to, len)| Damage::Copy { from, to, len }),
        1 => any::<usize>().prop_map(|at| Damage::Truncate { at }),
    ]
}

/// Offsets and widths of the fields of a section header.
const FIELDS: [(usize, usize); 10] =
    [(0, 4), (4, 4), (8, 8), (16, 8), (24, 8), (32, 8), (40, 4), (44, 4), (48, 8), (56, 8)];

fn apply(bytes: &mut Vec<u8>, damage: &Damage) {
    let n = bytes.len().max(1);
    match *damage {
        _ if bytes.is_empty() => {}
        Damage::Flip { at, bit } => bytes[at % n] ^= 1 << bit,
        Damage::Set { at, value } => bytes[at % n] = value,
        Damage::Header { section, field, value } => {
            let table = bytes
                .get(40..48)
                .map_or(0, |field| u64::from_le_bytes(field.try_into().expect("8 bytes")));
            let (offset, width) = FIELDS[field];
            let at = (table as usize).saturating_add(section * 64 + offset);
            if let Some(slot) = bytes.get_mut(at..at.saturating_add(width)) {
                slot.copy_from_slice(&value.to_le_bytes()[..width]);
            }
        }
        Damage::Copy { from, to, len } => {
            let (from, to) = (from % n, to % n);
            let len = len.min(n - from.max(to));
            bytes.copy_within(from..from + len, to);
        }
        Damage::Truncate { at } => bytes.truncate(at % n),
    }
}

/// `PROPTEST_CASES` asks for more or fewer.
fn config() -> ProptestConfig {
    let default = if std::env::var_os("PROPTEST_CASES").is_some() {
        ProptestConfig::default().cases
    } else {
        4000
    };
    ProptestConfig { cases: default, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn damaged_files_never_panic(
        sample in 0..11usize,
        damages in prop::collection::vec(damage(), 1..6),
    ) {
        let mut bytes = samples()[sample].clone();
        for damage in &damages {
            apply(&mut bytes, damage);
        }
        // Whatever comes out, it comes out the same way again.
        let once = instrument_object(&bytes, &Options { object_id: 1 });
        let again = instrument_object(&bytes, &Options { object_id: 1 });
        prop_assert_eq!(once, again);
        let _ = instrument_archive(&bytes, &ArchiveOptions { first_object_id: 0, thin_member: &|_| None });
    }

    #[test]
    fn noise_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let _ = instrument_object(&bytes, &Options { object_id: 1 });
        let mut elf = samples()[0].clone();
        let n = bytes.len().min(elf.len() - 64);
        elf[64..64 + n].copy_from_slice(&bytes[..n]);
        let _ = instrument_object(&elf, &Options { object_id: 1 });
    }
}

#[test]
fn every_truncation_is_handled() {
    let sample = &samples()[2];
    for len in 0..sample.len() {
        assert!(
            instrument_object(&sample[..len], &Options { object_id: 1 }).is_err(),
            "length {len}"
        );
    }
}
