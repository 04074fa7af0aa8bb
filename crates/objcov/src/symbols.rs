//! The new symbol table: moved values, and the probe symbols between locals and globals.
//!
//! ELF wants all local symbols first, so every global symbol's number grows by the number of probe
//! symbols; [`renumber`] says how.

use object::elf;

use crate::elf::{Object, Place, Symbol};
use crate::error::ObjcovError;
use crate::moved::Moved;
use crate::relocation::section_of;

/// A symbol to add: covers the marks of one text section.
#[derive(Debug)]
pub(crate) struct ProbeSymbol {
    pub(crate) name: String,
    /// The section of the marks.
    pub(crate) section: u32,
    pub(crate) n_blocks: u32,
}

/// The new number of old symbol `index` when `n_added` local symbols follow the `n_locals` old ones.
pub(crate) fn renumber(index: u32, n_locals: usize, n_added: usize) -> u32 {
    if (index as usize) < n_locals { index } else { index + n_added as u32 }
}

/// Moves the symbols that lie in moved sections.
pub(crate) fn move_values(object: &mut Object<'_>, moved: &Moved) -> Result<(), ObjcovError> {
    for symbol in &mut object.symbols {
        let Some(section) = section_of(symbol).filter(|section| moved.maps.contains_key(section))
        else {
            continue;
        };
        if symbol.is_section() {
            continue;
        }
        let end =
            symbol.value.checked_add(symbol.size).ok_or(ObjcovError::Malformed("symbol size"))?;
        let value = moved.start(section, symbol.value)?;
        if symbol.size != 0 {
            let end = moved.end(section, end)?;
            symbol.size = end.checked_sub(value).ok_or(ObjcovError::Malformed("symbol size"))?;
        }
        symbol.value = value;
    }
    Ok(())
}

/// Adds the probe symbols behind the local ones.
pub(crate) fn add_probes(object: &mut Object<'_>, probes: &[ProbeSymbol]) {
    let mut added = Vec::with_capacity(probes.len());
    for probe in probes {
        added.push(Symbol {
            name: object.add_name(object.strtab, probe.name.as_bytes()),
            info: elf::STB_LOCAL << 4 | elf::STT_OBJECT,
            other: 0,
            place: Place::Section(probe.section),
            value: 0,
            size: u64::from(probe.n_blocks),
        });
    }
    let at = object.n_locals;
    object.n_locals += added.len();
    object.symbols.splice(at..at, added);
}
