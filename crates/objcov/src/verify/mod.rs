//! Original object + rewritten bytes -> proof that they mean the same, or what differs.
//!
//! Everything is derived again from the two files: the rewritten code is decoded, probes are stripped,
//! and control flow, bytes, relocation targets, symbols, groups, unwind and exception tables are compared.
//! **Invariant:** nothing computed while rewriting (layout, offset maps, fixups) is used here.

mod code;
mod frames;
mod handlers;
mod refs;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use object::elf;

use crate::elf::{Object, Place, Rela, Section, Symbol, read};
use crate::index::FunctionIndex;
use crate::probe::{PROBE_SECTION, PROBE_SYMBOL_PREFIX};
use code::{Code, Side};
use refs::Labels;

/// The two objects and their relocations per section, sorted.
struct Both<'a> {
    old: &'a Object<'a>,
    new: &'a Object<'a>,
    old_relas: Vec<Vec<Rela>>,
    new_relas: Vec<Vec<Rela>>,
    n_added: usize,
}

/// Checks that `output` is `old` with probes, as `functions` describes them.
pub(crate) fn verify(
    old: &Object<'_>,
    output: &[u8],
    functions: &[FunctionIndex],
) -> Result<(), String> {
    let new = read::parse(output).map_err(|skip| format!("output: {skip}"))?;
    let n_added = new.symbols.len().checked_sub(old.symbols.len()).ok_or("symbols are missing")?;
    if new.n_locals != old.n_locals + n_added {
        return Err("symbols changed their binding".into());
    }
    let both = Both { old, new: &new, old_relas: relas(old)?, new_relas: relas(&new)?, n_added };
    both.sections()?;
    both.groups()?;
    let marks = both.marks()?;
    let mut codes: BTreeMap<u32, Code> = BTreeMap::new();
    for (&section, name) in &marks {
        let index = section as usize;
        let left =
            Side { object: old, data: &old.sections[index].data, relas: &both.old_relas[index] };
        let right =
            Side { object: &new, data: &new.sections[index].data, relas: &both.new_relas[index] };
        let compared = code::compare(&left, &right, name);
        codes.insert(section, compared.map_err(|what| format!("section {section}: {what}"))?);
    }
    let mut labels = Labels::new(&both, &codes);
    labels.check_code()?;
    labels.check_symbols()?;
    labels.check_data()?;
    handlers::check(&both, &mut labels)?;
    labels.check_probes(functions)
}

/// All relocations, sorted by offset, per section they apply to.
fn relas(object: &Object<'_>) -> Result<Vec<Vec<Rela>>, String> {
    let mut all = Vec::with_capacity(object.sections.len());
    for rela_section in &object.rela_of {
        let mut relas = match rela_section {
            Some(index) => object.relas(*index).map_err(|skip| skip.to_string())?,
            None => vec![],
        };
        relas.sort_by_key(|rela| rela.offset);
        all.push(relas);
    }
    Ok(all)
}

impl Both<'_> {
    /// The original number of a symbol of the output; `None` for probe symbols.
    fn old_number(&self, new: u32) -> Option<u32> {
        let (new, n_locals) = (new as usize, self.old.n_locals);
        match new {
            _ if new < n_locals => Some(new as u32),
            _ if new < n_locals + self.n_added => None,
            _ => Some((new - self.n_added) as u32),
        }
    }

    fn new_symbol(&self, old: usize) -> &Symbol {
        let shift = if old < self.old.n_locals { 0 } else { self.n_added };
        &self.new.symbols[old + shift]
    }

    /// Whether section `index` was removed from the output.
    fn is_dropped(&self, index: usize) -> bool {
        self.new.sections[index].kind == elf::SHT_NULL
            && self.old.sections[index].kind != elf::SHT_NULL
    }

    fn is_unwind_table(&self, index: usize) -> bool {
        self.old.section_name(index) == b".eh_frame"
            && !matches!(self.old.sections[index].kind, elf::SHT_RELA | elf::SHT_NULL)
    }

    fn is_exception_table(&self, index: usize) -> bool {
        self.old.section_name(index).starts_with(b".gcc_except_table")
            && self.old.sections[index].kind == elf::SHT_PROGBITS
    }

    /// Every section keeps its header; only sections of marks and relocations are new.
    fn sections(&self) -> Result<(), String> {
        let n_old = self.old.sections.len();
        if self.new.sections.len() < n_old {
            return Err("sections are missing".into());
        }
        for (index, (old, new)) in self.old.sections.iter().zip(&self.new.sections).enumerate() {
            if self.is_dropped(index) {
                // What is loaded must stay, but for one table that only profilers read.
                let is_loaded = old.flags & u64::from(elf::SHF_ALLOC) != 0;
                if is_loaded && !self.old.section_name(index).starts_with(b".sframe") {
                    return Err(format!("section {index} is missing"));
                }
                continue;
            }
            let header = |section: &Section<'_>| {
                (
                    section.kind,
                    section.flags,
                    section.addr,
                    section.link,
                    section.align,
                    section.entsize,
                )
            };
            if header(old) != header(new)
                || self.old.section_name(index) != self.new.section_name(index)
            {
                return Err(format!("header of section {index} differs"));
            }
            let is_same_info = match old.kind {
                elf::SHT_GROUP => self.old_number(new.info) == Some(old.info),
                elf::SHT_SYMTAB => new.info as usize == self.new.n_locals,
                _ => old.info == new.info,
            };
            if !is_same_info {
                return Err(format!("info of section {index} differs"));
            }
            if old.kind == elf::SHT_STRTAB && !new.data.starts_with(&old.data) {
                return Err(format!("names in section {index} differ"));
            }
        }
        for index in n_old..self.new.sections.len() {
            let name = self.new.section_name(index);
            let is_expected = match self.new.sections[index].kind {
                elf::SHT_NOBITS => name == PROBE_SECTION.as_bytes(),
                elf::SHT_RELA => {
                    self.old.rela_of.get(self.new.sections[index].info as usize) == Some(&None)
                }
                elf::SHT_SYMTAB_SHNDX => true,
                _ => false,
            };
            if !is_expected {
                return Err(format!("section {index} is unexpected"));
            }
        }
        Ok(())
    }

    /// Groups keep their members, and marks and relocations are in the group of their code.
    fn groups(&self) -> Result<(), String> {
        let (old_groups, new_groups) = (self.old.groups(), self.new.groups());
        for (index, group) in old_groups.iter().enumerate() {
            if !self.is_dropped(index) && new_groups[index] != *group {
                return Err(format!("section {index} changed its group"));
            }
        }
        let n_old = self.old.sections.len();
        for index in (1..self.new.sections.len())
            .filter(|&index| self.new.sections[index].kind == elf::SHT_RELA)
        {
            let target = self.new.sections[index].info as usize;
            if index >= n_old && new_groups[index] != new_groups[target] {
                return Err(format!("section {index} is in the wrong group"));
            }
        }
        for (index, section) in self.old.sections.iter().enumerate() {
            if section.kind != elf::SHT_GROUP {
                continue;
            }
            let (flags, members) = self.old.group(index).unwrap_or_default();
            let is_kept = self.new.group(index).is_some_and(|(new_flags, _)| new_flags == flags);
            let is_rightly_dropped = self.is_dropped(index)
                && members.iter().all(|&member| self.is_dropped(member as usize));
            if !is_kept && !is_rightly_dropped {
                return Err(format!("group {index} differs"));
            }
        }
        for symbol in &self.new.symbols[self.old.n_locals..self.old.n_locals + self.n_added] {
            let text = probed_section(self.new.symbol_name(symbol)).map(|text| text as usize);
            let (Some(text), Place::Section(marks)) = (text, symbol.place) else {
                return Err("a probe symbol is misplaced".into());
            };
            if text >= n_old || new_groups[marks as usize] != new_groups[text] {
                return Err(format!("marks of section {text} are in the wrong group"));
            }
        }
        Ok(())
    }

    /// The rewritten text sections, and the name of the symbol on the marks of each.
    fn marks(&self) -> Result<BTreeMap<u32, Vec<u8>>, String> {
        let mut marks = BTreeMap::new();
        for symbol in &self.new.symbols[self.old.n_locals..self.old.n_locals + self.n_added] {
            let name = self.new.symbol_name(symbol);
            let text = probed_section(name).ok_or("unexpected symbol")?;
            let Place::Section(section) = symbol.place else {
                return Err("a probe symbol has no section".into());
            };
            let is_whole = symbol.value == 0
                && (symbol.info, symbol.other) == (elf::STB_LOCAL << 4 | elf::STT_OBJECT, 0)
                && section as usize >= self.old.sections.len()
                && self.new.sections[section as usize].kind == elf::SHT_NOBITS
                && self.new.sections[section as usize].size == symbol.size;
            if !is_whole || marks.insert(text, name.to_vec()).is_some() {
                return Err(format!("marks of section {text} are wrong"));
            }
        }
        Ok(marks)
    }
}

/// The section number in a probe symbol's name.
fn probed_section(name: &[u8]) -> Option<u32> {
    let name = std::str::from_utf8(name).ok()?;
    let (_, section) = name.strip_prefix(PROBE_SYMBOL_PREFIX)?.split_once('.')?;
    section.parse().ok()
}
