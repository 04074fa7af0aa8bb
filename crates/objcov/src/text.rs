//! Executable section -> instructions: the linear decode everything else builds on.
//!
//! Records the boundaries, the control flow, the relocations per instruction, and the *fixups*:
//! distances the assembler resolved itself and that change when code moves.
//! Decides nothing about blocks; never looks at other sections.

use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register,
};

use crate::elf::{Rela, Section};
use crate::error::ObjcovError;
use crate::relocation::{self, Field};

/// Sections above this size are refused; offsets then fit 32 bits even after growth.
const MAX_TEXT: usize = 1 << 26;

/// "No instruction starts here."
const NONE: u32 = u32::MAX;

/// Where control goes after an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// Only to the next instruction (calls return).
    Next,
    /// To the next instruction or to a target.
    Branch,
    /// To a target known from the instruction or its relocation.
    Jump,
    /// To an address in a register or in memory.
    Indirect,
    /// Nowhere within the section.
    Stop,
}

/// What the later stages ask of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Plain,
    /// Does nothing if executed by accident: padding.
    Inert,
    /// Must stay the first instruction at its label (`endbr64`).
    Gate,
    /// Must directly follow its predecessor.
    Pinned,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Insn {
    pub(crate) off: u32,
    pub(crate) len: u8,
    pub(crate) flow: Flow,
    pub(crate) role: Role,
}

/// How a distance resolved by the assembler is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `jmp`: has a short and a long form.
    Jmp,
    /// Conditional jump: has a short and a long form.
    Jcc,
    /// `loop` and `jrcxz`: short only.
    Short,
    /// Four bytes at the end of the instruction: `call`, `xbegin`.
    Long,
    /// A rip-relative operand: four bytes at this offset within the instruction.
    Operand(u8),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Fixup {
    pub(crate) insn: u32,
    pub(crate) target: u32,
    pub(crate) form: Form,
    /// Prefix bytes in front of the opcode, which are kept.
    pub(crate) n_prefixes: u8,
}

/// A relocation and the instruction it belongs to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextRela {
    pub(crate) insn: u32,
    /// What must be added to the addend to get the distance from the symbol to the target.
    pub(crate) bias: i64,
    /// Whether the instruction computes an address instead of jumping there or reading from it.
    pub(crate) takes_address: bool,
}

/// A decoded executable section.
#[derive(Debug)]
pub(crate) struct Text {
    pub(crate) section: u32,
    pub(crate) size: u32,
    pub(crate) insns: Vec<Insn>,
    pub(crate) fixups: Vec<Fixup>,
    /// One entry per relocation, in the order of the sorted list given to [`decode`].
    pub(crate) relas: Vec<TextRela>,
    starts: Vec<u32>,
}

impl Text {
    /// The instruction that starts at `offset`; the section's end counts as one past the last.
    pub(crate) fn insn_at(&self, offset: u64) -> Result<usize, ObjcovError> {
        usize::try_from(offset)
            .ok()
            .and_then(|offset| self.starts.get(offset))
            .filter(|&&insn| insn != NONE)
            .map(|&insn| insn as usize)
            .ok_or(ObjcovError::MidInstruction { section: self.section, offset })
    }
}

/// Decodes section number `index`. `relas` are its relocations, sorted by offset.
pub(crate) fn decode(
    index: u32,
    section: &Section<'_>,
    relas: &[Rela],
) -> Result<Text, ObjcovError> {
    let data = &section.data[..];
    if data.len() > MAX_TEXT {
        return Err(ObjcovError::TooLarge);
    }
    let mut text = Text {
        section: index,
        size: data.len() as u32,
        insns: Vec::with_capacity(data.len() / 4),
        fixups: Vec::new(),
        relas: Vec::with_capacity(relas.len()),
        starts: vec![NONE; data.len() + 1],
    };
    let mut decoder = Decoder::with_ip(64, data, 0, DecoderOptions::NONE);
    let mut instruction = Instruction::default();
    let mut is_pinned = false;
    while decoder.can_decode() {
        decoder.decode_out(&mut instruction);
        let off = instruction.ip() as u32;
        if instruction.is_invalid() {
            return Err(ObjcovError::BadInstruction { section: index, offset: u64::from(off) });
        }
        let insn_idx = text.insns.len() as u32;
        text.starts[off as usize] = insn_idx;
        let first = text.relas.len();
        let end = instruction.next_ip();
        let own = relas[first..].iter().take_while(|rela| rela.offset < end).count();
        let own = &relas[first..first + own];
        let role = role(&instruction, is_pinned);
        if is_pinned
            && !matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall)
        {
            return Err(ObjcovError::TlsSequence { section: index, offset: u64::from(off) });
        }
        is_pinned = false;
        let mut has_relative = false;
        for rela in own {
            let field = place(&decoder, &instruction, rela).ok_or(ObjcovError::Relocation {
                section: index,
                offset: rela.offset,
                kind: rela.kind,
            })?;
            let is_relative = matches!(field, Field::Relative | Field::RelativePair);
            has_relative |= is_relative;
            is_pinned |= field == Field::RelativePair;
            text.relas.push(TextRela {
                insn: insn_idx,
                bias: if is_relative { (end - rela.offset) as i64 } else { 0 },
                takes_address: takes_address(&instruction),
            });
        }
        if !has_relative && let Some(fixup) = fixup(&decoder, &instruction, data, index)? {
            text.fixups.push(Fixup { insn: insn_idx, ..fixup });
        }
        text.insns.push(Insn { off, len: instruction.len() as u8, flow: flow(&instruction), role });
    }
    if is_pinned || text.relas.len() != relas.len() {
        return Err(ObjcovError::Malformed("relocation past the code"));
    }
    text.starts[data.len()] = text.insns.len() as u32;
    Ok(text)
}

fn flow(instruction: &Instruction) -> Flow {
    match instruction.flow_control() {
        FlowControl::Next
        | FlowControl::Call
        | FlowControl::IndirectCall
        | FlowControl::Interrupt => Flow::Next,
        FlowControl::UnconditionalBranch => Flow::Jump,
        FlowControl::IndirectBranch => Flow::Indirect,
        FlowControl::ConditionalBranch => Flow::Branch,
        FlowControl::XbeginXabortXend if is_near(instruction) => Flow::Branch,
        FlowControl::XbeginXabortXend => Flow::Next,
        FlowControl::Return | FlowControl::Exception => Flow::Stop,
    }
}

fn role(instruction: &Instruction, is_pinned: bool) -> Role {
    match instruction.mnemonic() {
        _ if is_pinned => Role::Pinned,
        Mnemonic::Nop | Mnemonic::Int3 | Mnemonic::Ud2 => Role::Inert,
        Mnemonic::Endbr64 => Role::Gate,
        _ => Role::Plain,
    }
}

fn takes_address(instruction: &Instruction) -> bool {
    !matches!(
        instruction.flow_control(),
        FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch | FlowControl::Call
    )
}

fn is_near(instruction: &Instruction) -> bool {
    matches!(
        instruction.op0_kind(),
        OpKind::NearBranch64 | OpKind::NearBranch32 | OpKind::NearBranch16
    )
}

/// The field `rela` fills in `instruction`, if it fills exactly one that its type allows.
fn place(decoder: &Decoder<'_>, instruction: &Instruction, rela: &Rela) -> Option<Field> {
    let field = relocation::field(rela.kind)?;
    let at = usize::try_from(rela.offset.checked_sub(instruction.ip())?).ok()?;
    let offsets = decoder.get_constant_offsets(instruction);
    let in_displacement = |size| {
        offsets.has_displacement()
            && offsets.displacement_offset() == at
            && offsets.displacement_size() == size
    };
    let in_immediate = |size| {
        offsets.has_immediate()
            && offsets.immediate_offset() == at
            && offsets.immediate_size() == size
    };
    let fits = match field {
        Field::Absolute(size) => {
            let is_free = !is_near(instruction) && instruction.memory_base() != Register::RIP;
            in_immediate(usize::from(size)) && !is_near(instruction)
                || in_displacement(usize::from(size)) && is_free
        }
        Field::Relative | Field::RelativePair => {
            let is_operand = instruction.memory_base() == Register::RIP && in_displacement(4);
            is_operand || is_near(instruction) && in_immediate(4)
        }
        Field::Mark => at == 0,
    };
    fits.then_some(field)
}

/// The distance in `instruction` that the assembler resolved, if there is one.
fn fixup(
    decoder: &Decoder<'_>,
    instruction: &Instruction,
    data: &[u8],
    section: u32,
) -> Result<Option<Fixup>, ObjcovError> {
    let offset = instruction.ip();
    let (target, form) = if is_near(instruction) {
        let form =
            branch_form(instruction).ok_or(ObjcovError::BadInstruction { section, offset })?;
        (instruction.near_branch_target(), form)
    } else if instruction.is_ip_rel_memory_operand() {
        // Anything but an address computation would read or write the code itself.
        if instruction.memory_base() != Register::RIP || instruction.mnemonic() != Mnemonic::Lea {
            return Err(ObjcovError::DataInText { section, offset });
        }
        let at = decoder.get_constant_offsets(instruction).displacement_offset();
        (instruction.ip_rel_memory_address(), Form::Operand(at as u8))
    } else {
        return Ok(None);
    };
    if target > data.len() as u64 {
        return Err(ObjcovError::MidInstruction { section, offset: target });
    }
    let bytes = &data[offset as usize..instruction.next_ip() as usize];
    let n_prefixes = bytes.iter().take_while(|byte| matches!(byte, 0x2e | 0x3e | 0xf2)).count();
    let has_known_opcode = match form {
        Form::Jmp => matches!(bytes[n_prefixes..], [0xeb, _] | [0xe9, _, _, _, _]),
        Form::Jcc => {
            matches!(bytes[n_prefixes..], [0x70..=0x7f, _] | [0x0f, 0x80..=0x8f, _, _, _, _])
        }
        Form::Short => matches!(bytes, [.., 0xe0..=0xe3, _]),
        Form::Long => matches!(bytes[n_prefixes..], [0xe8, _, _, _, _] | [0xc7, 0xf8, _, _, _, _]),
        Form::Operand(_) => true,
    };
    if !has_known_opcode {
        return Err(ObjcovError::BadInstruction { section, offset });
    }
    Ok(Some(Fixup { insn: 0, target: target as u32, form, n_prefixes: n_prefixes as u8 }))
}

fn branch_form(instruction: &Instruction) -> Option<Form> {
    match instruction.code() {
        Code::Jmp_rel8_64 | Code::Jmp_rel32_64 => Some(Form::Jmp),
        Code::Call_rel32_64 | Code::Xbegin_rel32 => Some(Form::Long),
        Code::Loop_rel8_64_RCX
        | Code::Loope_rel8_64_RCX
        | Code::Loopne_rel8_64_RCX
        | Code::Jrcxz_rel8_64
        | Code::Jecxz_rel8_64 => Some(Form::Short),
        _ if instruction.is_jcc_short_or_near() => Some(Form::Jcc),
        _ => None,
    }
}

#[cfg(test)]
pub(crate) mod tests;
