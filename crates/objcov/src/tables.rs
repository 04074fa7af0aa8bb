//! Jump tables: finding what a data word that is relative to code counts from.
//!
//! A table entry is `label - table`, but its relocation only says `label + (entry - table)`.
//! The table's start is where some function takes an address by `lea`; the label must then lie in
//! that very function (or its split-off cold part). **Invariant:** no base, no guess.

use std::collections::{BTreeMap, HashMap};

use crate::elf::{Object, Rela};
use crate::error::ObjcovError;
use crate::functions::Functions;
use crate::relocation;
use crate::text::Text;
use crate::unwind::Spot;

/// A jump table belongs to one function, which takes its address a few times at most; more are not looked at.
const MAX_TAKERS: usize = 16;

/// Data addresses that code takes, and from where.
#[derive(Debug, Default)]
pub(crate) struct Bases {
    /// Per data section: offset -> the instructions that take its address.
    of: HashMap<u32, BTreeMap<u64, Vec<Spot>>>,
}

impl Bases {
    /// Notes every data address that `text` takes. `relas` are its relocations.
    pub(crate) fn add(&mut self, object: &Object<'_>, text: &Text, relas: &[Rela]) {
        for (rela, place) in relas.iter().zip(&text.relas) {
            let symbol = &object.symbols[rela.symbol as usize];
            let Some(section) = relocation::section_of(symbol) else {
                continue;
            };
            if !place.takes_address
                || !relocation::is_direct(rela.kind)
                || object.is_text(section as usize)
            {
                continue;
            }
            let distance = rela.addend.wrapping_add(place.bias);
            let offset = symbol.value.wrapping_add_signed(distance);
            let from = Spot {
                section: text.section,
                offset: u64::from(text.insns[place.insn as usize].off),
            };
            let takers = self.of.entry(section).or_default().entry(offset).or_default();
            if takers.len() < MAX_TAKERS {
                takers.push(from);
            }
        }
    }

    /// The nearest address taken at or before `entry` of `section`, and who takes it.
    fn nearest(&self, section: u32, entry: u64) -> Option<(u64, &[Spot])> {
        let (base, takers) = self.of.get(&section)?.range(..=entry).next_back()?;
        Some((*base, takers))
    }
}

/// For each relocation of a data section: the start of the run of adjacent 4-byte entries it is in.
pub(crate) fn runs(relas: &[Rela]) -> Vec<u64> {
    let mut starts: Vec<u64> = Vec::with_capacity(relas.len());
    for (index, rela) in relas.iter().enumerate() {
        let continues = index > 0 && {
            let previous = &relas[index - 1];
            previous.offset.checked_add(4) == Some(rela.offset) && previous.kind == rela.kind
        };
        let start = if continues { starts[index - 1] } else { rela.offset };
        starts.push(start);
    }
    starts
}

/// What must be added to the addend of the table entry `rela` in `section` to get its label's distance
/// from the symbol.
///
/// `run` is where the entry's run of adjacent entries starts.
pub(crate) fn bias(
    object: &Object<'_>,
    functions: &HashMap<u32, Functions>,
    bases: &Bases,
    section: u32,
    rela: &Rela,
    run: u64,
) -> Result<i64, ObjcovError> {
    let unknown = ObjcovError::UnknownTable { section, offset: rela.offset };
    let symbol = &object.symbols[rela.symbol as usize];
    if !symbol.is_section() && rela.addend == 0 {
        return Ok(0); // `function - .`: right wherever the function starts.
    }
    let (base, takers) = bases.nearest(section, rela.offset).ok_or_else(|| unknown.clone())?;
    if base < run {
        return Err(unknown);
    }
    let bias = -((rela.offset - base) as i64);
    let target_section = relocation::section_of(symbol).ok_or_else(|| unknown.clone())?;
    let offset = symbol.value.wrapping_add_signed(rela.addend.wrapping_add(bias));
    let label = Spot { section: target_section, offset };
    let is_own = takers.iter().any(|&taker| is_same_function(object, functions, taker, label));
    if is_own { Ok(bias) } else { Err(unknown) }
}

/// Whether `label` lies in (or at the end of) the function that holds the instruction at `taker`.
fn is_same_function(
    object: &Object<'_>,
    functions: &HashMap<u32, Functions>,
    taker: Spot,
    label: Spot,
) -> bool {
    let owner = |spot: Spot| functions.get(&spot.section)?.owner(spot.offset);
    let Some(taking) = owner(taker) else {
        return false;
    };
    if taker.section == label.section {
        return (taking.start..=taking.end).contains(&label.offset);
    }
    let base_name = |symbol: usize| {
        let name = object.symbol_name(&object.symbols[symbol]);
        let end = name.windows(5).position(|window| window == b".cold").unwrap_or(name.len());
        &name[..end]
    };
    owner(label).is_some_and(|labelled| base_name(labelled.symbol) == base_name(taking.symbol))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(entries: &[(u64, u32)], expect: &[u64]) {
        let rela = |&(offset, kind)| Rela { offset, kind, symbol: 0, addend: 0 };
        assert_eq!(runs(&entries.iter().map(rela).collect::<Vec<_>>()), expect);
    }

    #[test]
    fn runs_end_at_gaps_and_at_other_types() {
        check(&[], &[]);
        check(&[(0, 2), (4, 2), (8, 2)], &[0, 0, 0]);
        check(&[(0, 2), (4, 2), (12, 2), (16, 2)], &[0, 0, 12, 12]);
        check(&[(0, 1), (4, 2), (8, 2)], &[0, 4, 4]);
        check(&[(u64::MAX - 2, 2), (1, 2)], &[u64::MAX - 2, 1]);
    }
}
