//! The index: which block of which function each mark of an instrumented object belongs to.
//!
//! Offsets are those of the original object, so that its debug information still explains them.

use std::collections::BTreeMap;

use object::elf;

use crate::elf::Object;
use crate::functions::Functions;
use crate::probe;

/// One function of an instrumented object and its blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionIndex {
    /// The function's symbol, mangled as in the object. Invalid UTF-8 is replaced.
    pub symbol: String,
    /// The number of the text section in the original object.
    pub section: u32,
    /// The local symbol in the instrumented object, and after linking in the program, whose bytes are the
    /// marks of this section. If the linker discarded the section, the program has no such symbol.
    pub probe_symbol: String,
    /// How other objects may define the same function.
    pub linkage: Linkage,
    /// The function's first byte in the original section.
    pub start: u32,
    /// One past the function's last byte in the original section.
    pub end: u32,
    /// The blocks in ascending order of their offset.
    pub blocks: Vec<Block>,
}

/// Whether a function may have copies in other objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Linkage {
    /// Static: seen by this object only.
    Local,
    /// Defined once in the program.
    Global,
    /// Weak: another definition may win.
    Weak,
    /// In a COMDAT group, as code from headers is: the linker keeps one of many copies.
    Comdat,
}

/// A basic block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Its first instruction in the original section.
    pub offset: u32,
    /// Its mark: the distance from the probe symbol.
    pub slot: u32,
}

/// The functions of text section `section` with the probed blocks at `offsets`, in slot order.
pub(crate) fn functions(
    object: &Object<'_>,
    section: u32,
    functions: &Functions,
    offsets: &[u32],
    object_id: u32,
    is_comdat: bool,
) -> Vec<FunctionIndex> {
    let mut found: BTreeMap<u64, FunctionIndex> = BTreeMap::new();
    for (slot, &offset) in offsets.iter().enumerate() {
        let Some(function) = functions.owner(u64::from(offset)) else {
            continue;
        };
        let entry = found.entry(function.start).or_insert_with(|| {
            let symbol = &object.symbols[function.symbol];
            let linkage = match symbol.binding() {
                _ if is_comdat => Linkage::Comdat,
                elf::STB_LOCAL => Linkage::Local,
                elf::STB_WEAK => Linkage::Weak,
                _ => Linkage::Global,
            };
            FunctionIndex {
                symbol: String::from_utf8_lossy(object.symbol_name(symbol)).into_owned(),
                section,
                probe_symbol: probe::symbol_name(object_id, section),
                linkage,
                start: function.start as u32,
                end: function.end as u32,
                blocks: vec![],
            }
        });
        entry.blocks.push(Block { offset, slot: slot as u32 });
    }
    found.into_values().collect()
}
