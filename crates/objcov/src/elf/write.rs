//! [`Object`] -> bytes: header, contents in section order, section table.
//!
//! **Invariant:** same model, same bytes; nothing is decided here.

use object::elf;

use super::{Object, Place, Section};
use crate::bytes::align_up;

/// Serializes `object`. The symbol table section is made from `object.symbols`.
pub(crate) fn write(mut object: Object<'_>) -> Vec<u8> {
    write_symbols(&mut object);
    let total = object.sections.iter().map(|section| section.data.len() + 80).sum::<usize>();
    let mut out = Vec::with_capacity(total + 64);
    out.resize(64, 0);
    let mut offsets = Vec::with_capacity(object.sections.len());
    for section in &object.sections {
        if section.kind == elf::SHT_NULL {
            offsets.push(0);
            continue;
        }
        // Contents are mapped by linkers at file offsets, so alignment beyond a cache line buys nothing.
        pad(&mut out, section.align.clamp(1, 64));
        offsets.push(out.len() as u64);
        out.extend_from_slice(&section.data);
    }
    pad(&mut out, 8);
    let table = out.len() as u64;
    let wide_count = object.sections.len() >= usize::from(elf::SHN_LORESERVE);
    let wide_names = object.shstrtab >= usize::from(elf::SHN_LORESERVE);
    for (index, (section, offset)) in object.sections.iter().zip(&offsets).enumerate() {
        let mut section = Section { data: Default::default(), ..section.clone() };
        if index == 0 {
            section.size = if wide_count { object.sections.len() as u64 } else { 0 };
            section.link = if wide_names { object.shstrtab as u32 } else { 0 };
        }
        write_section(&mut out, &section, *offset);
    }
    let count = if wide_count { 0 } else { object.sections.len() as u16 };
    let names = if wide_names { elf::SHN_XINDEX } else { object.shstrtab as u16 };
    write_header(&mut out, &object, table, count, names);
    out
}

fn pad(out: &mut Vec<u8>, align: u64) {
    out.resize(align_up(out.len() as u64, align) as usize, 0);
}

fn write_header(out: &mut [u8], object: &Object<'_>, table: u64, count: u16, names: u16) {
    let mut header = Vec::with_capacity(64);
    header.extend_from_slice(&elf::ELFMAG);
    header.extend_from_slice(&[elf::ELFCLASS64, elf::ELFDATA2LSB, elf::EV_CURRENT]);
    header.extend_from_slice(&object.abi);
    header.resize(16, 0);
    header.extend_from_slice(&elf::ET_REL.to_le_bytes());
    header.extend_from_slice(&elf::EM_X86_64.to_le_bytes());
    header.extend_from_slice(&u32::from(elf::EV_CURRENT).to_le_bytes());
    header.extend_from_slice(&[0; 16]); // No entry point, no program headers.
    header.extend_from_slice(&table.to_le_bytes());
    header.extend_from_slice(&object.flags.to_le_bytes());
    for half in [64, 0, 0, 64, count, names] {
        header.extend_from_slice(&u16::to_le_bytes(half));
    }
    out[..64].copy_from_slice(&header);
}

fn write_section(out: &mut Vec<u8>, section: &Section<'_>, offset: u64) {
    out.extend_from_slice(&section.name_offset.to_le_bytes());
    out.extend_from_slice(&section.kind.to_le_bytes());
    for word in [section.flags, section.addr, offset, section.size] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    out.extend_from_slice(&section.link.to_le_bytes());
    out.extend_from_slice(&section.info.to_le_bytes());
    out.extend_from_slice(&section.align.to_le_bytes());
    out.extend_from_slice(&section.entsize.to_le_bytes());
}

/// Fills the symbol table section, and the table of wide section numbers when one is needed.
fn write_symbols(object: &mut Object<'_>) {
    let mut data = Vec::with_capacity(object.symbols.len() * 24);
    let mut wide = Vec::with_capacity(object.symbols.len() * 4);
    let mut needs_wide = false;
    for symbol in &object.symbols {
        let (short, long) = match symbol.place {
            Place::Undefined => (elf::SHN_UNDEF, 0),
            Place::Reserved(number) => (number, 0),
            Place::Section(number) if number < u32::from(elf::SHN_LORESERVE) => (number as u16, 0),
            Place::Section(number) => (elf::SHN_XINDEX, number),
        };
        needs_wide |= long != 0;
        data.extend_from_slice(&symbol.name.to_le_bytes());
        data.extend_from_slice(&[symbol.info, symbol.other]);
        data.extend_from_slice(&short.to_le_bytes());
        data.extend_from_slice(&symbol.value.to_le_bytes());
        data.extend_from_slice(&symbol.size.to_le_bytes());
        wide.extend_from_slice(&u32::to_le_bytes(long));
    }
    let symtab = object.symtab;
    object.set_data(symtab, data);
    object.sections[symtab].info = object.n_locals as u32;
    let existing = object.sections.iter().position(|section| {
        section.kind == elf::SHT_SYMTAB_SHNDX && section.link as usize == symtab
    });
    match existing {
        Some(index) => object.set_data(index, wide),
        None if needs_wide => {
            let name_offset = object.add_name(object.shstrtab, b".symtab_shndx");
            object.sections.push(Section {
                name_offset,
                kind: elf::SHT_SYMTAB_SHNDX,
                flags: 0,
                addr: 0,
                size: wide.len() as u64,
                link: symtab as u32,
                info: 0,
                align: 4,
                entsize: 4,
                data: wide.into(),
            });
        }
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boundary;
    use crate::elf::read;

    #[test]
    fn writing_what_was_read_is_a_fixed_point() {
        let (first, _) = boundary::boundary_objects();
        let once = write(read::parse(&first).expect("boundary object"));
        let twice = write(read::parse(&once).expect("written object"));
        assert_eq!(once, twice);
    }

    #[test]
    fn more_sections_than_the_header_can_count_survive() {
        let (first, _) = boundary::boundary_objects();
        let mut object = read::parse(&first).expect("boundary object");
        let template = object.sections[1].clone();
        object.sections.resize(70_000, template);
        let last = object.symbols.len() - 1;
        object.symbols[last].place = Place::Section(69_999);
        let bytes = write(object);
        let again = read::parse(&bytes).expect("many sections");
        assert_eq!(again.sections.len(), 70_001); // One more: the table of wide section numbers.
        assert_eq!(again.symbols[last].place, Place::Section(69_999));
    }
}
