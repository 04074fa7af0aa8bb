//! Layout -> bytes and relocations of a text section.
//!
//! Instructions are copied byte for byte, except for the distances listed as fixups.

use crate::elf::Rela;
use crate::error::ObjcovError;
use crate::layout::{self, Layout};
use crate::leaders::Blocks;
use crate::probe::{self, PROBE};
use crate::text::{Fixup, Form, Text};

/// A rewritten text section.
#[derive(Debug)]
pub(crate) struct Emitted {
    pub(crate) data: Vec<u8>,
    /// Sorted by offset; the probes' relocations refer to symbol `probe_symbol`.
    pub(crate) relas: Vec<Rela>,
    /// Old offsets of the probed blocks; the position is the slot.
    pub(crate) blocks: Vec<u32>,
}

/// Padding that takes no time if it is executed after all, by length.
const NOPS: [&[u8]; 8] = [
    &[0x90],
    &[0x66, 0x90],
    &[0x0f, 0x1f, 0x00],
    &[0x0f, 0x1f, 0x40, 0x00],
    &[0x0f, 0x1f, 0x44, 0x00, 0x00],
    &[0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00],
    &[0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00],
    &[0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
];

/// Writes the section as laid out. `old` and `old_relas` are its original contents.
pub(crate) fn emit(
    text: &Text,
    blocks: &Blocks,
    layout: &Layout,
    old: &[u8],
    old_relas: &[Rela],
    probe_symbol: u32,
) -> Result<Emitted, ObjcovError> {
    let mut out = Emitted {
        data: Vec::with_capacity(layout.size as usize),
        relas: Vec::with_capacity(old_relas.len() + blocks.probed.len() / 4),
        blocks: Vec::new(),
    };
    let mut fixups = text.fixups.iter().enumerate().peekable();
    let mut relas = old_relas.iter().peekable();
    for (index, insn) in text.insns.iter().enumerate() {
        pad(&mut out.data, layout.labels[index] as usize);
        let is_behind = layout::is_probe_behind(insn.role);
        if blocks.probed[index] && !is_behind {
            out.probe(insn.off, probe_symbol);
        }
        let end = insn.off + u32::from(insn.len);
        while let Some(rela) = relas.next_if(|rela| rela.offset < u64::from(end)) {
            let offset = rela.offset - u64::from(insn.off) + u64::from(layout.bodies[index]);
            out.relas.push(Rela { offset, ..*rela });
        }
        let bytes = &old[insn.off as usize..end as usize];
        match fixups.next_if(|(_, fixup)| fixup.insn as usize == index) {
            Some((number, fixup)) => {
                let distance = layout.distance(text, number);
                encode(&mut out.data, bytes, fixup, layout.is_long[number], distance).ok_or(
                    ObjcovError::BranchRange { section: text.section, offset: u64::from(insn.off) },
                )?;
            }
            None => out.data.extend_from_slice(bytes),
        }
        if blocks.probed[index] && is_behind {
            out.probe(insn.off, probe_symbol);
        }
    }
    Ok(out)
}

impl Emitted {
    fn probe(&mut self, block: u32, symbol: u32) {
        let slot = self.blocks.len() as u32;
        self.relas.push(probe::rela(self.data.len() as u64, symbol, slot));
        self.data.extend_from_slice(&PROBE);
        self.blocks.push(block);
    }
}

fn pad(out: &mut Vec<u8>, upto: usize) {
    while out.len() < upto {
        let gap = (upto - out.len()).min(NOPS.len());
        out.extend_from_slice(NOPS[gap - 1]);
    }
}

/// Appends the instruction `bytes` with a new distance.
fn encode(
    out: &mut Vec<u8>,
    bytes: &[u8],
    fixup: &Fixup,
    is_long: bool,
    distance: i64,
) -> Option<()> {
    let (prefixes, opcode) = bytes.split_at(usize::from(fixup.n_prefixes));
    match (fixup.form, is_long) {
        (Form::Jmp, false) => {
            out.extend_from_slice(prefixes);
            out.push(0xeb);
            out.push(i8::try_from(distance).ok()? as u8);
        }
        (Form::Jmp, true) => {
            out.extend_from_slice(prefixes);
            out.push(0xe9);
            out.extend_from_slice(&i32::try_from(distance).ok()?.to_le_bytes());
        }
        (Form::Jcc, _) => {
            let condition = if opcode[0] == 0x0f { opcode[1] } else { opcode[0] } & 0xf;
            out.extend_from_slice(prefixes);
            if is_long {
                out.extend_from_slice(&[0x0f, 0x80 | condition]);
                out.extend_from_slice(&i32::try_from(distance).ok()?.to_le_bytes());
            } else {
                out.push(0x70 | condition);
                out.push(i8::try_from(distance).ok()? as u8);
            }
        }
        (Form::Short, _) => {
            out.extend_from_slice(&bytes[..bytes.len() - 1]);
            out.push(i8::try_from(distance).ok()? as u8);
        }
        (Form::Long, _) => {
            out.extend_from_slice(&bytes[..bytes.len() - 4]);
            out.extend_from_slice(&i32::try_from(distance).ok()?.to_le_bytes());
        }
        (Form::Operand(at), _) => {
            let at = usize::from(at);
            out.extend_from_slice(&bytes[..at]);
            out.extend_from_slice(&i32::try_from(distance).ok()?.to_le_bytes());
            out.extend_from_slice(&bytes[at + 4..]);
        }
    }
    Some(())
}
