//! The probe: one instruction, one byte of memory, one relocation.
//!
//! `mov byte ptr [rip+slot], 1` changes no register and no flag, so it may stand between any two
//! instructions. This file only knows its bytes and names; where probes go is decided in `leaders`.

use object::elf::{self, R_X86_64_PC32};

use crate::elf::{Object, Rela, Symbol};

/// The section, in objects and in the linked program, whose bytes are the blocks' marks.
///
/// A C identifier, so linkers define `__start___objcov` and `__stop___objcov`.
pub const PROBE_SECTION: &str = "__objcov";

/// What every probe symbol's name starts with; object and section number follow.
pub const PROBE_SYMBOL_PREFIX: &str = "__oc.";

/// Length of a probe instruction.
pub(crate) const PROBE_LEN: u32 = 7;

/// The displacement is filled in by the linker.
pub(crate) const PROBE: [u8; PROBE_LEN as usize] = [0xc6, 0x05, 0, 0, 0, 0, 1];

/// Where the relocated field starts within the probe.
const FIELD: u64 = 2;

/// The field is followed by the immediate, so the next instruction starts 5 bytes after it.
const FIELD_TO_END: i64 = 5;

/// Of linked code that begins with a probe at `address`: where its mark lies.
pub(crate) fn mark_of(code: &[u8], address: u64) -> Option<u64> {
    let code = code.get(..PROBE.len())?;
    let is_probe = code[..2] == PROBE[..2] && code[6] == PROBE[6];
    let field = is_probe.then(|| [2, 3, 4, 5].map(|place| code[place]))?;
    let distance = i64::from(i32::from_le_bytes(field));
    Some((address + u64::from(PROBE_LEN)).wrapping_add_signed(distance))
}

/// The name of the local symbol that covers the marks of one text section.
pub(crate) fn symbol_name(object_id: u32, section: u32) -> String {
    format!("{PROBE_SYMBOL_PREFIX}{object_id}.{section}")
}

/// The relocation of a probe at `at` for block `slot` of the marks named by `symbol`.
pub(crate) fn rela(at: u64, symbol: u32, slot: u32) -> Rela {
    Rela { offset: at + FIELD, kind: R_X86_64_PC32, symbol, addend: i64::from(slot) - FIELD_TO_END }
}

/// If `rela` makes an instruction at `at` a probe: its symbol and slot.
pub(crate) fn recognize<'o>(
    object: &'o Object<'_>,
    rela: &Rela,
    at: u64,
) -> Option<(&'o Symbol, u64)> {
    let symbol = object.symbols.get(rela.symbol as usize)?;
    let is_probe = rela.kind == R_X86_64_PC32
        && rela.offset == at + FIELD
        && symbol.kind() == elf::STT_OBJECT
        && object.symbol_name(symbol).starts_with(PROBE_SYMBOL_PREFIX.as_bytes());
    let slot = u64::try_from(rela.addend.checked_add(FIELD_TO_END)?).ok()?;
    is_probe.then_some((symbol, slot))
}
