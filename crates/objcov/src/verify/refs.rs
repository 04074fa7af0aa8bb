//! Where branches, relocations and symbols lead, before and after; and whether every block has its probe.
//!
//! A label is right if it leads to the copy of the same instruction and passes that instruction's probe.
//! Which instructions must have probes is collected from the labels met on the way.

use std::collections::{BTreeMap, BTreeSet};

use object::elf;

use super::Both;
use super::code::Code;
use crate::elf::Rela;
use crate::functions::Functions;
use crate::index::FunctionIndex;
use crate::relocation::{self, section_of};

/// The labels of an object and the blocks they imply.
pub(super) struct Labels<'a> {
    both: &'a Both<'a>,
    codes: &'a BTreeMap<u32, Code>,
    /// Per section: for each pair, the probes directly in front of it, as a range.
    gaps: BTreeMap<u32, Vec<(u32, u32)>>,
    /// Per section: labels as (old, new) offsets.
    met: BTreeMap<u32, BTreeMap<u64, u64>>,
    /// Per data section: addresses that code takes.
    bases: BTreeMap<u32, BTreeSet<u64>>,
}

impl<'a> Labels<'a> {
    pub(super) fn new(both: &'a Both<'a>, codes: &'a BTreeMap<u32, Code>) -> Self {
        let mut gaps = BTreeMap::new();
        for (&section, code) in codes {
            let mut ranges = vec![(0, 0); code.pairs.len() + 1];
            for (number, probe) in code.probes.iter().enumerate() {
                let (first, count) = &mut ranges[probe.before as usize];
                if *count == 0 {
                    *first = number as u32;
                }
                *count += 1;
            }
            gaps.insert(section, ranges);
        }
        Labels { both, codes, gaps, met: BTreeMap::new(), bases: BTreeMap::new() }
    }

    pub(super) fn is_code(&self, section: u32) -> bool {
        self.codes.contains_key(&section)
    }

    /// Notes that what led to `old` in `section` now leads to `new`.
    pub(super) fn meet(&mut self, section: u32, old: u64, new: u64) -> Result<(), String> {
        let Some(code) = self.codes.get(&section) else {
            return if old == new {
                Ok(())
            } else {
                Err(format!("label {old:#x} of section {section} moved"))
            };
        };
        if old == u64::from(code.old_size) {
            let is_end = new == u64::from(code.new_size);
            return if is_end {
                Ok(())
            } else {
                Err(format!("end of section {section} moved to {new:#x}"))
            };
        }
        match self.met.entry(section).or_default().insert(old, new) {
            Some(before) if before != new => {
                Err(format!("label {old:#x} of section {section} is split"))
            }
            _ => Ok(()),
        }
    }

    /// Whether `new` is where control comes by on its way to the copy of what starts at `old`.
    pub(super) fn is_copy(&self, section: u32, old: u64, new: u64) -> bool {
        let Some(code) = self.codes.get(&section) else {
            return old == new;
        };
        if old == u64::from(code.old_size) {
            return new == u64::from(code.new_size);
        }
        let Some(number) = code.pair_at(old) else {
            return false;
        };
        let (first, count) = self.gaps[&section][number];
        let probes = &code.probes[first as usize..(first + count) as usize];
        u64::from(code.pairs[number].new) == new
            || probes.iter().any(|probe| u64::from(probe.at) == new)
    }

    /// Where code that ends at `old` may end now.
    pub(super) fn end(&self, section: u32, old: u64) -> Option<[u64; 2]> {
        let Some(code) = self.codes.get(&section) else {
            return Some([old; 2]);
        };
        if old == 0 {
            return Some([0; 2]);
        }
        let after = code.pairs.partition_point(|pair| u64::from(pair.old) < old);
        let last = code.pairs.get(after.checked_sub(1)?)?;
        let is_boundary =
            code.pairs.get(after).map_or(u64::from(code.old_size), |pair| u64::from(pair.old))
                == old;
        // The probe of a gate stands behind it and may be counted to it.
        let behind = if last.is_gate { 7 } else { 0 };
        let end = u64::from(last.new_end);
        is_boundary.then_some([end, end + behind])
    }

    /// Where the label at `old` must lead: its probe if it has one, else the instruction.
    fn expected(&self, section: u32, old: u64) -> Option<u64> {
        let code = &self.codes[&section];
        let number = code.pair_at(old)?;
        let pair = &code.pairs[number];
        let (first, count) = self.gaps[&section][number];
        let is_behind_gate = number > 0 && code.pairs[number - 1].is_gate;
        let own =
            count - u32::from(is_behind_gate && count > 0 && self.is_label(section, number - 1));
        match own {
            0 => Some(u64::from(pair.new)),
            _ => Some(u64::from(code.probes[(first + count - 1) as usize].at)),
        }
    }

    fn is_label(&self, section: u32, number: usize) -> bool {
        let old = u64::from(self.codes[&section].pairs[number].old);
        self.met.get(&section).is_some_and(|met| met.contains_key(&old))
    }

    /// Branches and relocations of the compared code.
    pub(super) fn check_code(&mut self) -> Result<(), String> {
        let codes = self.codes;
        for (&section, code) in codes {
            for distance in &code.distances {
                self.meet(section, distance.old_target, distance.new_target)?;
            }
            for pair in &code.relas {
                let old = &self.both.old_relas[section as usize][pair.old];
                let new = &self.both.new_relas[section as usize][pair.new];
                self.check_rela(old, new, pair.bias)?;
                let symbol = &self.both.old.symbols[old.symbol as usize];
                if let Some(data) =
                    section_of(symbol).filter(|data| pair.is_lea && !self.is_code(*data))
                {
                    let base = symbol.value.wrapping_add_signed(old.addend.wrapping_add(pair.bias));
                    self.bases.entry(data).or_default().insert(base);
                }
            }
        }
        Ok(())
    }

    /// `bias` turns the addends into distances from the symbol.
    pub(super) fn check_rela(&mut self, old: &Rela, new: &Rela, bias: i64) -> Result<(), String> {
        let differs = || format!("relocation at {:#x} differs", old.offset);
        if old.kind != new.kind || self.both.old_number(new.symbol) != Some(old.symbol) {
            return Err(differs());
        }
        let symbol = &self.both.old.symbols[old.symbol as usize];
        match section_of(symbol).filter(|&section| self.is_code(section)) {
            Some(section) if relocation::is_direct(old.kind) => {
                let new_value = self.both.new_symbol(old.symbol as usize).value;
                let spot = |value: u64, rela: &Rela| {
                    value.wrapping_add_signed(rela.addend.wrapping_add(bias))
                };
                self.meet(section, spot(symbol.value, old), spot(new_value, new))
            }
            _ if old.addend == new.addend => Ok(()),
            _ => Err(differs()),
        }
    }

    /// Symbols keep everything but their places in moved code.
    pub(super) fn check_symbols(&mut self) -> Result<(), String> {
        for (number, old) in self.both.old.symbols.iter().enumerate() {
            let new = self.both.new_symbol(number);
            let differs = || format!("symbol {number} differs");
            let is_same = (old.name, old.info, old.other, old.place)
                == (new.name, new.info, new.other, new.place);
            if !is_same {
                return Err(differs());
            }
            match section_of(old) {
                Some(section) if self.is_code(section) && !old.is_section() => {
                    self.meet(section, old.value, new.value)?;
                    let ends =
                        self.end(section, old.value.wrapping_add(old.size)).ok_or_else(differs)?;
                    let is_right = old.size == 0 && new.size == 0
                        || old.size != 0 && ends.contains(&new.value.wrapping_add(new.size));
                    if !is_right {
                        return Err(differs());
                    }
                }
                // Exception tables move too; their symbols are judged with them.
                Some(section) if self.both.is_exception_table(section as usize) => {}
                _ if (old.value, old.size) == (new.value, new.size) => {}
                _ => return Err(differs()),
            }
        }
        Ok(())
    }

    /// Everything that is neither rewritten code nor an unwind table is unchanged.
    pub(super) fn check_data(&mut self) -> Result<(), String> {
        let both = self.both;
        for (index, (old, new)) in both.old.sections.iter().zip(&both.new.sections).enumerate() {
            let is_elsewhere = self.is_code(index as u32)
                || both.is_exception_table(index)
                || both.is_unwind_table(index)
                || both.is_dropped(index);
            let is_structure = index == both.old.strtab
                || index == both.old.shstrtab
                || matches!(
                    old.kind,
                    elf::SHT_RELA | elf::SHT_SYMTAB | elf::SHT_GROUP | elf::SHT_SYMTAB_SHNDX
                );
            if is_elsewhere || is_structure {
                continue;
            }
            if old.data != new.data || old.size != new.size {
                return Err(format!("contents of section {index} differ"));
            }
            let (old_relas, new_relas) = (&both.old_relas[index], &both.new_relas[index]);
            if old_relas.len() != new_relas.len() {
                return Err(format!("relocations of section {index} differ"));
            }
            for (old, new) in old_relas.iter().zip(new_relas) {
                if old.offset != new.offset {
                    return Err(format!("relocations of section {index} differ"));
                }
                let bias = self.data_bias(index, old);
                self.check_rela(old, new, bias)
                    .map_err(|what| format!("section {index}: {what}"))?;
            }
        }
        Ok(())
    }

    /// What makes the addend of a data word a distance from its symbol.
    fn data_bias(&self, section: usize, rela: &Rela) -> i64 {
        let symbol = &self.both.old.symbols[rela.symbol as usize];
        let is_plain =
            relocation::is_absolute(rela.kind) || rela.addend == 0 && !symbol.is_section();
        if is_plain || !section_of(symbol).is_some_and(|target| self.is_code(target)) {
            return 0;
        }
        if self.both.old.is_text(section) {
            return 4; // Code that was left alone.
        }
        let bases = self.bases.get(&(section as u32));
        let base = bases.and_then(|bases| bases.range(..=rela.offset).next_back());
        base.map_or(0, |base| -((rela.offset - base) as i64))
    }

    /// All labels lead to the right copies, and exactly the blocks have probes, as the index says.
    pub(super) fn check_probes(&mut self, functions: &[FunctionIndex]) -> Result<(), String> {
        let codes = self.codes;
        let texts = codes.keys().map(|&section| section as usize).collect::<Vec<_>>();
        let owners = Functions::collect(self.both.old, &texts).map_err(|skip| skip.to_string())?;
        let mut listed: BTreeMap<u32, Vec<(u32, u64)>> = BTreeMap::new();
        for function in functions {
            let blocks = function.blocks.iter().map(|block| (block.slot, u64::from(block.offset)));
            listed.entry(function.section).or_default().extend(blocks);
        }
        for (&section, code) in codes {
            let met = self.met.entry(section).or_default();
            // Where control continues behind a branch is a block, but nothing points there.
            let mut blocks = met.keys().copied().collect::<BTreeSet<_>>();
            blocks.extend(
                code.pairs.windows(2).filter(|w| w[0].is_branch).map(|w| u64::from(w[1].old)),
            );
            for &block in &blocks {
                if !met.contains_key(&block)
                    && code.pair_at(block).is_some_and(|pair| code.pairs[pair].is_gate)
                {
                    met.insert(block, u64::from(code.pairs[code.pair_at(block).unwrap_or(0)].new));
                }
            }
            for (&old, &new) in &self.met[&section] {
                if self.expected(section, old) != Some(new) {
                    return Err(format!("label {old:#x} of section {section} leads to {new:#x}"));
                }
            }
            let listed = listed.remove(&section).unwrap_or_default();
            self.check_blocks(section, code, &blocks, &owners[&section], listed)?;
        }
        if listed.is_empty() { Ok(()) } else { Err("index lists code without probes".into()) }
    }

    fn check_blocks(
        &self,
        section: u32,
        code: &Code,
        blocks: &BTreeSet<u64>,
        owners: &Functions,
        mut listed: Vec<(u32, u64)>,
    ) -> Result<(), String> {
        let mut expected = Vec::new();
        let mut n_before = vec![0u32; code.pairs.len() + 1];
        for &block in blocks.iter().filter(|&&block| owners.owner(block).is_some()) {
            let number =
                code.pair_at(block).ok_or_else(|| format!("no instruction at {block:#x}"))?;
            n_before[number + usize::from(code.pairs[number].is_gate)] += 1;
            expected.push(block);
        }
        let has_right_probes = self.gaps[&section].iter().map(|(_, count)| *count).eq(n_before);
        if !has_right_probes || expected.len() != code.probes.len() {
            return Err(format!("probes of section {section} do not match its blocks"));
        }
        // Slots ascend with the code, and so do blocks.
        listed.sort_unstable();
        let wanted = expected.iter().enumerate().map(|(slot, &block)| (slot as u32, block));
        if !listed.into_iter().eq(wanted) {
            return Err(format!("index of section {section} does not match its probes"));
        }
        Ok(())
    }
}
