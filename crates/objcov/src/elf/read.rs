//! Bytes -> [`Object`]. Checks everything later stages rely on.
//!
//! **Invariant:** after success, all links, symbol places and names are in range, sections do not
//! overlap in the file, and each section has at most one RELA section.

use std::borrow::Cow;

use object::elf;

use super::{Object, Place, Section, Symbol};
use crate::bytes::{c_string, u16_at, u32_at, u64_at};
use crate::error::ObjcovError;

/// Larger inputs are refused: offsets stay comfortably within 32 bits even after growth.
const MAX_FILE: usize = 1 << 30;

const HEADER_SIZE: usize = 64;
const SYMBOL_SIZE: usize = 24;

/// Parses a relocatable x86-64 object.
pub(crate) fn parse(data: &[u8]) -> Result<Object<'_>, ObjcovError> {
    if data.get(..4) != Some(&elf::ELFMAG) {
        return Err(ObjcovError::NotElf);
    }
    if data.len() > MAX_FILE {
        return Err(ObjcovError::TooLarge);
    }
    let truncated = ObjcovError::Malformed("truncated header");
    let header = data.get(..HEADER_SIZE).ok_or(truncated)?;
    let is_ours = header[4] == elf::ELFCLASS64
        && header[5] == elf::ELFDATA2LSB
        && u16_at(header, 16) == Some(elf::ET_REL)
        && u16_at(header, 18) == Some(elf::EM_X86_64);
    if !is_ours {
        return Err(ObjcovError::ForeignElf);
    }
    let (sections, shstrtab) =
        sections(data, header).ok_or(ObjcovError::Malformed("section header table"))?;
    check_extents(&sections, data.len())?;

    let mut symtabs = (0..sections.len()).filter(|&i| sections[i].kind == elf::SHT_SYMTAB);
    let symtab = symtabs.next().ok_or(ObjcovError::NoCode)?;
    if symtabs.next().is_some() {
        return Err(ObjcovError::Unsupported("several symbol tables"));
    }
    let symbols = symbols(&sections, symtab).ok_or(ObjcovError::Malformed("symbol table"))?;
    let n_locals = sections[symtab].info as usize;
    let is_split = n_locals <= symbols.len()
        && symbols[..n_locals].iter().all(Symbol::is_local)
        && !symbols[n_locals..].iter().any(Symbol::is_local);
    let strtab = sections[symtab].link as usize;
    // Names are appended later, so the last one must be complete.
    let is_names =
        |names: &Section<'_>| names.kind == elf::SHT_STRTAB && names.data.last() == Some(&0);
    let has_names = |table: usize| sections.get(table).is_some_and(is_names);
    if !is_split || !has_names(strtab) || !has_names(shstrtab) {
        return Err(ObjcovError::Malformed("symbol table"));
    }
    check_names(&sections, &symbols, shstrtab, strtab, data.len())?;
    check_groups(&sections, symtab, symbols.len())
        .ok_or(ObjcovError::Malformed("section group"))?;
    let rela_of = rela_of(&sections, symtab)?;
    let abi = [header[7], header[8]];
    let flags = u32_at(header, 48).unwrap_or_default();
    Ok(Object { abi, flags, sections, symbols, n_locals, symtab, strtab, shstrtab, rela_of })
}

/// The section table, and the index of the section that holds section names.
fn sections<'a>(data: &'a [u8], header: &[u8]) -> Option<(Vec<Section<'a>>, usize)> {
    let table = usize::try_from(u64_at(header, 40)?).ok()?;
    let entry_size = u16_at(header, 58)?;
    if table == 0 || entry_size != 64 {
        return None;
    }
    // Counts too large for the header live in the first section header.
    let first = data.get(table..table.checked_add(64)?)?;
    let count = match u16_at(header, 60)? {
        0 => usize::try_from(u64_at(first, 32)?).ok()?,
        n => n as usize,
    };
    let shstrtab = match u16_at(header, 62)? {
        elf::SHN_XINDEX => u32_at(first, 40)? as usize,
        n => n as usize,
    };
    let table = data.get(table..table.checked_add(count.checked_mul(64)?)?)?;
    let mut sections =
        table.chunks_exact(64).map(|entry| section(data, entry)).collect::<Option<Vec<_>>>()?;
    let null = sections.first_mut().filter(|null| null.kind == elf::SHT_NULL)?;
    (null.link, null.info, null.size) = (0, 0, 0); // These only extended the header.
    (shstrtab < sections.len()).then_some((sections, shstrtab))
}

fn section<'a>(data: &'a [u8], entry: &[u8]) -> Option<Section<'a>> {
    let kind = u32_at(entry, 4)?;
    let size = u64_at(entry, 32)?;
    let contents = match kind {
        // The null section's size field may hold the section count.
        elf::SHT_NULL | elf::SHT_NOBITS => &[][..],
        _ => {
            let start = usize::try_from(u64_at(entry, 24)?).ok()?;
            data.get(start..start.checked_add(usize::try_from(size).ok()?)?)?
        }
    };
    Some(Section {
        name_offset: u32_at(entry, 0)?,
        kind,
        flags: u64_at(entry, 8)?,
        addr: u64_at(entry, 16)?,
        size: if kind == elf::SHT_NULL { 0 } else { size },
        link: u32_at(entry, 40)?,
        info: u32_at(entry, 44)?,
        align: u64_at(entry, 48)?,
        entsize: u64_at(entry, 56)?,
        data: Cow::Borrowed(contents),
    })
}

/// Refuses overlapping contents (they would multiply on output) and absurd alignments.
fn check_extents(sections: &[Section<'_>], file_size: usize) -> Result<(), ObjcovError> {
    let total = sections.iter().map(|section| section.data.len()).sum::<usize>();
    if total > file_size {
        return Err(ObjcovError::Malformed("sections overlap"));
    }
    let is_sane = |align: u64| align == 0 || align.is_power_of_two() && align <= 1 << 30;
    if !sections.iter().all(|section| is_sane(section.align)) {
        return Err(ObjcovError::Malformed("section alignment"));
    }
    Ok(())
}

fn symbols(sections: &[Section<'_>], symtab: usize) -> Option<Vec<Symbol>> {
    let wide = sections
        .iter()
        .find(|section| section.kind == elf::SHT_SYMTAB_SHNDX && section.link as usize == symtab);
    let data = &sections[symtab].data;
    if data.is_empty() || !data.len().is_multiple_of(SYMBOL_SIZE) {
        return None;
    }
    let symbol = |(index, entry): (usize, &[u8])| {
        let place = match u16_at(entry, 6)? {
            elf::SHN_UNDEF => Place::Undefined,
            elf::SHN_XINDEX => Place::Section(u32_at(&wide?.data, index * 4)?),
            n if n >= elf::SHN_LORESERVE => Place::Reserved(n),
            n => Place::Section(u32::from(n)),
        };
        if matches!(place, Place::Section(n) if n as usize >= sections.len()) {
            return None;
        }
        Some(Symbol {
            name: u32_at(entry, 0)?,
            info: entry[4],
            other: entry[5],
            place,
            value: u64_at(entry, 8)?,
            size: u64_at(entry, 16)?,
        })
    };
    data.chunks_exact(SYMBOL_SIZE).enumerate().map(symbol).collect()
}

/// Names exist. Their total length is bounded, because damaged tables may share one huge name.
fn check_names(
    sections: &[Section<'_>],
    symbols: &[Symbol],
    shstrtab: usize,
    strtab: usize,
    file_size: usize,
) -> Result<(), ObjcovError> {
    let mut left = file_size.saturating_mul(16);
    let of_sections = sections.iter().map(|section| (shstrtab, section.name_offset));
    let of_symbols = symbols.iter().map(|symbol| (strtab, symbol.name));
    for (table, offset) in of_sections.chain(of_symbols) {
        let name = c_string(&sections[table].data, offset as usize);
        left = name
            .and_then(|name| left.checked_sub(name.len()))
            .ok_or(ObjcovError::Malformed("names"))?;
    }
    Ok(())
}

/// Groups have a name, and members that exist and are in no other group.
fn check_groups(sections: &[Section<'_>], symtab: usize, n_symbols: usize) -> Option<()> {
    let mut is_member = vec![false; sections.len()];
    for group in sections.iter().filter(|section| section.kind == elf::SHT_GROUP) {
        let is_whole = group.data.len() >= 4 && group.data.len() % 4 == 0;
        if !is_whole || group.link as usize != symtab || group.info as usize >= n_symbols {
            return None;
        }
        for member in group.data.chunks_exact(4).skip(1) {
            let slot = is_member.get_mut(u32_at(member, 0)? as usize)?;
            if std::mem::replace(slot, true) {
                return None;
            }
        }
    }
    Some(())
}

fn rela_of(sections: &[Section<'_>], symtab: usize) -> Result<Vec<Option<usize>>, ObjcovError> {
    let mut rela_of = vec![None; sections.len()];
    for (index, section) in sections.iter().enumerate() {
        match section.kind {
            elf::SHT_RELA => {}
            elf::SHT_REL => return Err(ObjcovError::Unsupported("relocations without addends")),
            _ => continue,
        }
        if section.link as usize != symtab {
            return Err(ObjcovError::Malformed("relocation section link"));
        }
        // Tables of the format itself are rebuilt, not relocated.
        let is_plain = |target: &Section<'_>| {
            !matches!(
                target.kind,
                elf::SHT_NULL
                    | elf::SHT_SYMTAB
                    | elf::SHT_STRTAB
                    | elf::SHT_RELA
                    | elf::SHT_GROUP
                    | elf::SHT_SYMTAB_SHNDX
            )
        };
        if !sections.get(section.info as usize).is_some_and(is_plain) {
            return Err(ObjcovError::Malformed("relocation section target"));
        }
        let target = rela_of.get_mut(section.info as usize);
        match target {
            Some(slot @ None) if section.info != 0 => *slot = Some(index),
            _ => return Err(ObjcovError::Malformed("relocation section target")),
        }
    }
    Ok(rela_of)
}
