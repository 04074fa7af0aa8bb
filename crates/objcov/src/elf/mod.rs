//! The ELF model: a relocatable object as sections, symbols and relocations.
//!
//! [`read`] makes it from bytes, the rewriting stages change it, [`write`] makes bytes again.
//! Section numbers never change: stages replace contents, blank sections out, or append.

pub(crate) mod read;
pub(crate) mod write;

use std::borrow::Cow;

use object::elf;

use crate::bytes;
use crate::error::ObjcovError;

/// `SHF_GNU_RETAIN`: keep the section although nothing refers to it.
pub(crate) const SHF_GNU_RETAIN: u64 = 0x20_0000;

/// A relocatable object, its big contents borrowed from the input.
#[derive(Debug, Clone)]
pub(crate) struct Object<'a> {
    /// `e_ident[7..9]`: operating system ABI and its version.
    pub(crate) abi: [u8; 2],
    pub(crate) flags: u32,
    pub(crate) sections: Vec<Section<'a>>,
    pub(crate) symbols: Vec<Symbol>,
    /// How many symbols at the front are local.
    pub(crate) n_locals: usize,
    pub(crate) symtab: usize,
    /// The section that names the symbols.
    pub(crate) strtab: usize,
    /// The section that names the sections; may be the same as `strtab`.
    pub(crate) shstrtab: usize,
    /// For each section, the RELA section that applies to it.
    pub(crate) rela_of: Vec<Option<usize>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Section<'a> {
    pub(crate) name_offset: u32,
    pub(crate) kind: u32,
    pub(crate) flags: u64,
    pub(crate) addr: u64,
    /// Equals `data.len()` except for NOBITS.
    pub(crate) size: u64,
    pub(crate) link: u32,
    pub(crate) info: u32,
    pub(crate) align: u64,
    pub(crate) entsize: u64,
    pub(crate) data: Cow<'a, [u8]>,
}

/// Where a symbol is defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Undefined,
    Section(u32),
    /// Absolute, common and processor-specific places, by their ELF number.
    Reserved(u16),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Symbol {
    pub(crate) name: u32,
    pub(crate) info: u8,
    pub(crate) other: u8,
    pub(crate) place: Place,
    pub(crate) value: u64,
    pub(crate) size: u64,
}

impl Symbol {
    pub(crate) fn kind(&self) -> u8 {
        self.info & 0xf
    }

    pub(crate) fn binding(&self) -> u8 {
        self.info >> 4
    }

    pub(crate) fn is_section(&self) -> bool {
        self.kind() == elf::STT_SECTION
    }

    pub(crate) fn is_local(&self) -> bool {
        self.binding() == elf::STB_LOCAL
    }

    pub(crate) fn is_function(&self) -> bool {
        matches!(self.kind(), elf::STT_FUNC | elf::STT_GNU_IFUNC)
    }

    pub(crate) fn is_in(&self, section: usize) -> bool {
        matches!(self.place, Place::Section(index) if index as usize == section)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rela {
    pub(crate) offset: u64,
    pub(crate) kind: u32,
    pub(crate) symbol: u32,
    pub(crate) addend: i64,
}

impl<'a> Object<'a> {
    pub(crate) fn section_name(&self, index: usize) -> &[u8] {
        let names = &self.sections[self.shstrtab].data;
        self.sections
            .get(index)
            .and_then(|section| bytes::c_string(names, section.name_offset as usize))
            .unwrap_or_default()
    }

    pub(crate) fn symbol_name(&self, symbol: &Symbol) -> &[u8] {
        bytes::c_string(&self.sections[self.strtab].data, symbol.name as usize).unwrap_or_default()
    }

    /// Executable, loaded and present in the file.
    pub(crate) fn is_text(&self, index: usize) -> bool {
        self.sections.get(index).is_some_and(|section| {
            let wanted = u64::from(elf::SHF_ALLOC | elf::SHF_EXECINSTR);
            section.kind == elf::SHT_PROGBITS && section.flags & wanted == wanted
        })
    }

    /// The relocations in RELA section `index`, in file order.
    pub(crate) fn relas(&self, index: usize) -> Result<Vec<Rela>, ObjcovError> {
        let data = &self.sections[index].data;
        if !data.len().is_multiple_of(24) {
            return Err(ObjcovError::Malformed("relocation section size"));
        }
        data.chunks_exact(24)
            .map(|entry| {
                let info = bytes::u64_at(entry, 8)?;
                Some(Rela {
                    offset: bytes::u64_at(entry, 0)?,
                    kind: info as u32,
                    symbol: (info >> 32) as u32,
                    addend: bytes::u64_at(entry, 16)? as i64,
                })
            })
            .collect::<Option<Vec<_>>>()
            .ok_or(ObjcovError::Malformed("relocation section size"))
            .and_then(|relas| {
                let all_known =
                    relas.iter().all(|rela| (rela.symbol as usize) < self.symbols.len());
                if all_known { Ok(relas) } else { Err(ObjcovError::Malformed("relocation symbol")) }
            })
    }

    pub(crate) fn set_relas(&mut self, index: usize, relas: &[Rela]) {
        let mut data = Vec::with_capacity(relas.len() * 24);
        for rela in relas {
            data.extend_from_slice(&rela.offset.to_le_bytes());
            data.extend_from_slice(
                &(u64::from(rela.symbol) << 32 | u64::from(rela.kind)).to_le_bytes(),
            );
            data.extend_from_slice(&rela.addend.to_le_bytes());
        }
        self.set_data(index, data);
    }

    pub(crate) fn set_data(&mut self, index: usize, data: Vec<u8>) {
        self.sections[index].size = data.len() as u64;
        self.sections[index].data = Cow::Owned(data);
    }

    /// The members of group section `index`: flag word and section numbers.
    pub(crate) fn group(&self, index: usize) -> Option<(u32, Vec<u32>)> {
        let data = &self.sections[index].data;
        let words = data.chunks_exact(4).filter_map(|word| bytes::u32_at(word, 0));
        let mut words = words.collect::<Vec<_>>();
        if words.is_empty() {
            return None;
        }
        let flags = words.remove(0);
        Some((flags, words))
    }

    /// For each section, the group that holds it.
    pub(crate) fn groups(&self) -> Vec<Option<usize>> {
        let mut group_of = vec![None; self.sections.len()];
        for (index, section) in self.sections.iter().enumerate() {
            if section.kind != elf::SHT_GROUP {
                continue;
            }
            for member in self.group(index).map(|(_, members)| members).unwrap_or_default() {
                if let Some(slot) = group_of.get_mut(member as usize) {
                    *slot = Some(index);
                }
            }
        }
        group_of
    }

    /// Appends a name to string table `table` and returns its offset.
    pub(crate) fn add_name(&mut self, table: usize, name: &[u8]) -> u32 {
        let data = self.sections[table].data.to_mut();
        let offset = data.len() as u32;
        data.extend_from_slice(name);
        data.push(0);
        self.sections[table].size = data.len() as u64;
        offset
    }
}
