//! The two objects that frame the marks in the linked program.
//!
//! The first one, linked before everything else, gives `__objcov` page alignment; the last one,
//! linked after everything else, fills its last page. So shared memory can be mapped over the whole
//! section without touching foreign data. Both are kept by `--gc-sections` (`SHF_GNU_RETAIN`).

use std::borrow::Cow;

use object::elf;

use crate::elf::{Object, Place, SHF_GNU_RETAIN, Section, Symbol, write};
use crate::probe::PROBE_SECTION;

/// The first byte of the marks.
pub const START_SYMBOL: &str = "__objcov_first";

/// The first byte of the page after the marks: all marks lie below it.
pub const STOP_SYMBOL: &str = "__objcov_last";

/// The page size the marks are aligned to.
pub const PAGE: u64 = 4096;

/// `(first, last)`: the objects to link before and after all others.
///
/// They define [`START_SYMBOL`] and [`STOP_SYMBOL`]. A program must check at start that
/// `__start___objcov == START_SYMBOL` and `__stop___objcov == STOP_SYMBOL + PAGE`: a linker that pulls an
/// archive member in later than the last object would place its marks outside.
pub fn boundary_objects() -> (Vec<u8>, Vec<u8>) {
    // A few bytes suffice to carry the alignment; an empty section might be dropped.
    (frame(START_SYMBOL, 64), frame(STOP_SYMBOL, PAGE))
}

/// `size` bytes of marks named `symbol`, in an object of its own.
fn frame(symbol: &str, size: u64) -> Vec<u8> {
    let section = |name_offset, kind, flags, align, entsize, data: Vec<u8>| Section {
        name_offset,
        kind,
        flags,
        addr: 0,
        size: data.len() as u64,
        link: 0,
        info: 0,
        align,
        entsize,
        data: Cow::Owned(data),
    };
    let mut names = vec![0];
    let mut name = |text: &str| {
        let offset = names.len() as u32;
        names.extend_from_slice(text.as_bytes());
        names.push(0);
        offset
    };
    let (probe_name, stack_name, symtab_name, strtab_name) =
        (name(PROBE_SECTION), name(".note.GNU-stack"), name(".symtab"), name(".strtab"));
    let symbol_name = name(symbol);
    let flags = u64::from(elf::SHF_ALLOC | elf::SHF_WRITE) | SHF_GNU_RETAIN;
    let mut marks = section(probe_name, elf::SHT_NOBITS, flags, PAGE, 0, vec![]);
    marks.size = size;
    let mut symtab = section(symtab_name, elf::SHT_SYMTAB, 0, 8, 24, vec![]);
    symtab.link = 4;
    let sections = vec![
        section(0, elf::SHT_NULL, 0, 0, 0, vec![]),
        marks,
        section(stack_name, elf::SHT_PROGBITS, 0, 1, 0, vec![]),
        symtab,
        section(strtab_name, elf::SHT_STRTAB, 0, 1, 0, names),
    ];
    let none = Symbol { name: 0, info: 0, other: 0, place: Place::Undefined, value: 0, size: 0 };
    let mark = Symbol {
        name: symbol_name,
        info: elf::STB_GLOBAL << 4 | elf::STT_OBJECT,
        other: elf::STV_HIDDEN,
        place: Place::Section(1),
        value: 0,
        size,
    };
    write::write(Object {
        // SHF_GNU_RETAIN belongs to the GNU ABI.
        abi: [elf::ELFOSABI_GNU, 0],
        flags: 0,
        rela_of: vec![None; sections.len()],
        sections,
        symbols: vec![none, mark],
        n_locals: 1,
        symtab: 3,
        strtab: 4,
        shstrtab: 4,
    })
}
