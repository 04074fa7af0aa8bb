//! Which function an offset of a text section belongs to, by the symbol table.
//!
//! Symbols may share ranges (aliases) or have none (assembly); every offset has at most one owner.

use std::cmp::Reverse;
use std::collections::HashMap;

use object::elf;

use crate::elf::Object;
use crate::error::ObjcovError;

/// A function's extent in its section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The symbol that names it: a global one before a weak one before a local one, then the first.
    pub(crate) symbol: usize,
}

/// The functions of one section, by ascending start, one per start.
#[derive(Debug)]
pub(crate) struct Functions {
    list: Vec<Function>,
}

impl Functions {
    /// Collects the functions of every section in `texts`, by section number.
    pub(crate) fn collect(
        object: &Object<'_>,
        texts: &[usize],
    ) -> Result<HashMap<u32, Functions>, ObjcovError> {
        let mut slot_of = vec![None; object.sections.len()];
        for (slot, &section) in texts.iter().enumerate() {
            slot_of[section] = Some(slot);
        }
        let mut lists = vec![Vec::new(); texts.len()];
        for (index, symbol) in object.symbols.iter().enumerate() {
            let section = crate::relocation::section_of(symbol);
            let Some(slot) = section.and_then(|section| slot_of[section as usize]) else {
                continue;
            };
            let size = object.sections[texts[slot]].size;
            let end = symbol.value.checked_add(symbol.size).filter(|&end| end <= size);
            let end = end.ok_or(ObjcovError::Malformed("symbol reaches past its section"))?;
            if symbol.is_function() && symbol.value < size {
                lists[slot].push(Function { start: symbol.value, end, symbol: index });
            }
        }
        let lists = lists.into_iter().zip(texts);
        Ok(lists.map(|(list, &text)| (text as u32, Functions::new(object, list, text))).collect())
    }

    fn new(object: &Object<'_>, mut list: Vec<Function>, text: usize) -> Functions {
        let rank = |function: &Function| match object.symbols[function.symbol].binding() {
            elf::STB_GLOBAL => 0,
            elf::STB_WEAK => 1,
            _ => 2,
        };
        let is_empty = |function: &Function| function.end == function.start;
        list.sort_by_key(|f| (f.start, is_empty(f), rank(f), Reverse(f.end), f.symbol));
        list.dedup_by(|later, kept| {
            let is_alias = later.start == kept.start;
            if is_alias {
                kept.end = kept.end.max(later.end);
            }
            is_alias
        });
        // Assembly functions may have no size; they reach to the next function.
        let mut next = object.sections[text].size;
        for function in list.iter_mut().rev() {
            if function.end == function.start {
                function.end = next;
            }
            next = function.start;
        }
        Functions { list }
    }

    /// The function with the latest start whose range holds `offset`.
    pub(crate) fn owner(&self, offset: u64) -> Option<Function> {
        let upto = self.list.partition_point(|function| function.start <= offset);
        // Ranges nest rarely and shallowly; a short look back suffices.
        const MAX_NESTING: usize = 4;
        self.list[..upto]
            .iter()
            .rev()
            .take(MAX_NESTING)
            .find(|function| offset < function.end)
            .copied()
    }

    /// Whether a function starts at `offset`.
    pub(crate) fn starts_at(&self, offset: u64) -> bool {
        self.list.binary_search_by_key(&offset, |function| function.start).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(ranges: &[(u64, u64)], offset: u64, expect: Option<usize>) {
        let function = |(symbol, &(start, end))| Function { start, end, symbol };
        let list = ranges.iter().enumerate().map(function).collect();
        let owner = Functions { list }.owner(offset);
        assert_eq!(owner.map(|function| function.symbol), expect, "{ranges:?} {offset}");
    }

    #[test]
    fn offsets_belong_to_the_innermost_function() {
        check(&[(0, 10), (16, 20)], 9, Some(0));
        check(&[(0, 10), (16, 20)], 10, None); // Padding.
        check(&[(0, 10), (16, 20)], 16, Some(1));
        check(&[(0, 30), (16, 20)], 17, Some(1));
        check(&[(0, 30), (16, 20)], 25, Some(0));
        check(&[], 0, None);
    }
}
