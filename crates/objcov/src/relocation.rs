//! What each x86-64 relocation type means for code that moves.
//!
//! **Invariant:** a type that is not listed here is never moved; the object is left alone.

use object::elf::*;

use crate::elf::{Object, Place, Rela, Symbol};
use crate::error::ObjcovError;

/// How a relocation in an instruction relates to that instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    /// The value does not depend on where the instruction is.
    Absolute(u8),
    /// A 4-byte distance from the end of the instruction.
    Relative,
    /// A distance that starts a sequence of two instructions which the linker replaces as a whole.
    RelativePair,
    /// A mark without a field, at the start of the instruction.
    Mark,
}

/// The shape of a relocation of type `kind` in code, or `None` if such code cannot be moved.
pub(crate) fn field(kind: u32) -> Option<Field> {
    match kind {
        R_X86_64_64 | R_X86_64_TPOFF64 | R_X86_64_DTPOFF64 => Some(Field::Absolute(8)),
        R_X86_64_32 | R_X86_64_32S | R_X86_64_TPOFF32 | R_X86_64_DTPOFF32 | R_X86_64_SIZE32 => {
            Some(Field::Absolute(4))
        }
        R_X86_64_PC32
        | R_X86_64_PLT32
        | R_X86_64_GOTPCREL
        | R_X86_64_GOTPCRELX
        | R_X86_64_REX_GOTPCRELX
        | R_X86_64_GOTTPOFF
        | R_X86_64_GOTPC32_TLSDESC => Some(Field::Relative),
        R_X86_64_TLSGD | R_X86_64_TLSLD => Some(Field::RelativePair),
        R_X86_64_TLSDESC_CALL => Some(Field::Mark),
        _ => None,
    }
}

/// Whether the linker computes the symbol's own address (plus addend), not that of a GOT slot.
pub(crate) fn is_direct(kind: u32) -> bool {
    is_absolute(kind) || matches!(kind, R_X86_64_PC32 | R_X86_64_PC64 | R_X86_64_PLT32)
}

/// Whether the value is an address, not a distance.
pub(crate) fn is_absolute(kind: u32) -> bool {
    matches!(kind, R_X86_64_64 | R_X86_64_32 | R_X86_64_32S)
}

/// A relocation that points into a section whose contents move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reference {
    /// The section the relocation applies to.
    pub(crate) from: u32,
    /// Its number in that section's list of relocations.
    pub(crate) rela_idx: u32,
    /// The section pointed into, and where.
    pub(crate) section: u32,
    pub(crate) target: u64,
}

/// The section number of a symbol defined in one.
pub(crate) fn section_of(symbol: &Symbol) -> Option<u32> {
    match symbol.place {
        Place::Section(section) => Some(section),
        Place::Undefined | Place::Reserved(_) => None,
    }
}

/// Where `rela` points within its symbol's section. `bias` turns the addend into a distance from the symbol.
///
/// Refuses distances from symbols another object may define instead: there they would mean other code.
pub(crate) fn reference(
    object: &Object<'_>,
    from: u32,
    rela_idx: u32,
    rela: &Rela,
    bias: i64,
) -> Result<Reference, ObjcovError> {
    let refusal = ObjcovError::Relocation { section: from, offset: rela.offset, kind: rela.kind };
    let symbol = &object.symbols[rela.symbol as usize];
    let section = section_of(symbol).ok_or_else(|| refusal.clone())?;
    let distance = rela.addend.checked_add(bias).ok_or_else(|| refusal.clone())?;
    let is_exact = distance == 0 && !symbol.is_section();
    let is_own = symbol.is_local() && is_direct(rela.kind);
    if !is_exact && !is_own {
        return Err(refusal);
    }
    let target = symbol.value.checked_add_signed(distance).ok_or(refusal)?;
    Ok(Reference { from, rela_idx, section, target })
}
