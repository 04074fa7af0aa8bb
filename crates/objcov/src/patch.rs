//! Small changes to one function's code that keep every length: an object that is wrong in one known place.
//!
//! Stands beside instrumentation, not in it: what is patched here can be instrumented afterwards, because
//! whatever is left of the old code still decodes and is still reachable as far as anybody can tell.
//!
//! **Invariant:** a patch touches no byte that the linker fills in, moves no stack pointer, and lies in one
//! function. Whether the result still does anything useful is not asked.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
    OpKind, Register,
};

use crate::elf::{Object, Rela, read};
use crate::error::ObjcovError;
use crate::functions::Functions;
use crate::relocation::section_of;

/// What a patch does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PatchKind {
    /// A conditional branch goes the other way.
    Invert,
    /// Control goes past the code up to this offset from the function's start.
    Skip {
        /// Where it goes on.
        end: u32,
    },
    /// An immediate operand is one larger.
    Increment,
    /// An immediate operand is one smaller.
    Decrement,
}

/// A change of some bytes of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    pub kind: PatchKind,
    /// Where it begins, from the function's start.
    pub offset: u32,
    /// The bytes that are there.
    pub before: Vec<u8>,
}

/// A function of an object, found by its symbol.
#[derive(Debug)]
pub struct FunctionCode<'a> {
    bytes: &'a [u8],
    /// Where the bytes lie in the object's file.
    at: usize,
    /// Where the function starts in its section.
    start: u64,
    /// Those of the section, in order.
    relas: Vec<Rela>,
}

/// `cmp esp, esp`: whatever comes next finds the two equal.
const EQUAL: [u8; 2] = [0x39, 0xe4];
/// `je`, with one byte for the distance.
const SHORT: u8 = 0x74;
/// `je`, with four bytes for the distance.
const LONG: [u8; 2] = [0x0f, 0x84];
const NOP: u8 = 0x90;

/// The longest field that a relocation fills in.
const MAX_FIELD: u64 = 8;

impl<'a> FunctionCode<'a> {
    /// Finds a function. Names that several functions of the object have are refused.
    ///
    /// # Errors
    /// If the object cannot be read, or has not exactly one such function.
    pub fn find(bytes: &'a [u8], symbol: &str) -> Result<FunctionCode<'a>, ObjcovError> {
        let object = read::parse(bytes)?;
        let none = || ObjcovError::NoFunction(symbol.to_owned());
        let mut found = object.symbols.iter().filter(|candidate| {
            candidate.is_function()
                && section_of(candidate).is_some_and(|section| object.is_text(section as usize))
                && object.symbol_name(candidate) == symbol.as_bytes()
        });
        let (one, None) = (found.next().ok_or_else(none)?, found.next()) else {
            return Err(none());
        };
        let section = section_of(one).ok_or_else(none)?;
        let functions = Functions::collect(&object, &[section as usize])?;
        let function = functions[&section]
            .owner(one.value)
            .filter(|function| function.start == one.value)
            .ok_or_else(none)?;
        Self::new(bytes, &object, section as usize, function.start..function.end).ok_or_else(none)
    }

    fn new(
        file: &[u8],
        object: &Object<'a>,
        section: usize,
        range: Range<u64>,
    ) -> Option<FunctionCode<'a>> {
        let std::borrow::Cow::Borrowed(data) = object.sections[section].data else {
            return None; // Never of an object that was just read.
        };
        let (from, end) = (usize::try_from(range.start).ok()?, usize::try_from(range.end).ok()?);
        let bytes = data.get(from..end)?;
        let at = (bytes.as_ptr() as usize).checked_sub(file.as_ptr() as usize)?;
        let mut relas = match object.rela_of[section] {
            Some(rela_section) => object.relas(rela_section).ok()?,
            None => Vec::new(),
        };
        relas.sort_by_key(|rela| rela.offset);
        Some(FunctionCode { bytes, at, start: range.start, relas })
    }

    /// The function's bytes, as they are before linking.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Where the function starts in its section.
    pub fn start(&self) -> u32 {
        self.start as u32 // Sections are smaller than 4 GiB.
    }

    /// The object with a patch applied.
    ///
    /// # Errors
    /// If the code is not what the patch was made for.
    pub fn apply(&self, object: &[u8], patch: &Patch) -> Result<Vec<u8>, ObjcovError> {
        let after = self.replacement(patch).ok_or(ObjcovError::OtherCode)?;
        let at = self.at + patch.offset as usize;
        let mut patched = object.to_vec();
        patched
            .get_mut(at..at + after.len())
            .ok_or(ObjcovError::OtherCode)?
            .copy_from_slice(&after);
        Ok(patched)
    }

    /// What the patch puts in the place of its bytes; `None` if they are not there, or it makes no sense
    /// for them.
    fn replacement(&self, patch: &Patch) -> Option<Vec<u8>> {
        let from = patch.offset as usize;
        let range = from..from.checked_add(patch.before.len())?;
        if self.bytes.get(range.clone())? != patch.before {
            return None;
        }
        let mut after = patch.before.clone();
        let changed = match patch.kind {
            PatchKind::Invert => {
                let opcode = condition(&after)?;
                after[opcode] ^= 1;
                opcode..opcode + 1
            }
            PatchKind::Skip { end } => {
                if end as usize > self.bytes.len() {
                    return None;
                }
                let jump = jump(end.checked_sub(patch.offset)?, after.len())?;
                after.fill(NOP);
                after[..jump.len()].copy_from_slice(&jump);
                0..after.len()
            }
            PatchKind::Increment => step(&mut after, 1)?,
            PatchKind::Decrement => step(&mut after, -1)?,
        };
        let is_free = !self.is_relocated(from + changed.start..from + changed.end);
        is_free.then_some(after)
    }

    /// Whether the linker fills in one of these bytes of the function.
    fn is_relocated(&self, range: Range<usize>) -> bool {
        let (from, end) = (self.start + range.start as u64, self.start + range.end as u64);
        let first = self.relas.partition_point(|rela| rela.offset + MAX_FIELD <= from);
        self.relas[first..].first().is_some_and(|rela| rela.offset < end)
    }

    /// Every patch that this function allows, block by block. `blocks` are the starts of its blocks in the
    /// section, in any order.
    ///
    /// # Errors
    /// If the function does not decode from block to block.
    pub fn patches(&self, blocks: &[u32]) -> Result<BTreeMap<u32, Vec<Patch>>, ObjcovError> {
        let size = self.bytes.len() as u32;
        let starts: BTreeSet<u32> = blocks
            .iter()
            .filter_map(|block| block.checked_sub(self.start()))
            .filter(|start| *start < size)
            .collect();
        let ends = starts.iter().skip(1).copied().chain([size]);
        let decoded = starts
            .iter()
            .zip(ends)
            .map(|(&start, end)| Ok((start, self.block(start..end)?)))
            .collect::<Result<BTreeMap<u32, Block>, ObjcovError>>()?;
        let mut found = BTreeMap::new();
        for (&start, block) in &decoded {
            let leads_to_table = |at: &u32| decoded.get(at).is_some_and(Block::jumps_indirectly);
            // A wrong index into a jump table leads anywhere, and elsewhere in every build.
            let is_dangerous =
                block.jumps_indirectly() || block.successors().iter().any(leads_to_table);
            if !is_dangerous {
                found.insert(self.start() + start, self.patches_of(start, block));
            }
        }
        Ok(found)
    }

    fn block(&self, range: Range<u32>) -> Result<Block, ObjcovError> {
        let code = &self.bytes[range.start as usize..range.end as usize];
        let mut decoder = Decoder::with_ip(64, code, u64::from(range.start), DecoderOptions::NONE);
        let mut block = Block { range, insns: Vec::new() };
        while decoder.can_decode() {
            let insn = decoder.decode();
            if insn.is_invalid() {
                return Err(ObjcovError::Undecodable);
            }
            block.insns.push(insn);
            // What follows is padding.
            if !matches!(
                flow(&insn),
                FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall
            ) {
                break;
            }
        }
        Ok(block)
    }

    fn patches_of(&self, start: u32, block: &Block) -> Vec<Patch> {
        let mut kinds: Vec<(PatchKind, Range<u32>)> = Vec::new();
        let is_guard = block.insns.iter().any(|insn| insn.segment_prefix() == Register::FS);
        if let Some(last) = block.insns.last()
            && last.is_jcc_short_or_near()
            && !is_guard
        {
            kinds.push((PatchKind::Invert, place(last)));
        }
        if start != 0
            && let Some((end, replaced)) = block.skippable()
            && (end as usize) < self.bytes.len()
        {
            kinds.push((PatchKind::Skip { end }, replaced));
        }
        for insn in block.insns.iter().filter(|insn| has_adjustable_constant(insn)) {
            kinds.push((PatchKind::Increment, place(insn)));
            kinds.push((PatchKind::Decrement, place(insn)));
        }
        let patches = kinds.into_iter().map(|(kind, place)| Patch {
            kind,
            offset: place.start,
            before: self.bytes[place.start as usize..place.end as usize].to_vec(),
        });
        patches.filter(|patch| self.replacement(patch).is_some()).collect()
    }
}

/// A block's instructions up to the one that leaves it, at offsets from the function's start.
#[derive(Debug)]
struct Block {
    range: Range<u32>,
    insns: Vec<Instruction>,
}

impl Block {
    fn last_flow(&self) -> FlowControl {
        self.insns.last().map_or(FlowControl::Next, flow)
    }

    fn jumps_indirectly(&self) -> bool {
        self.last_flow() == FlowControl::IndirectBranch
    }

    /// Where control may go within the function.
    fn successors(&self) -> Vec<u32> {
        let target = self.insns.last().map(Instruction::near_branch_target);
        let target = target.and_then(|target| u32::try_from(target).ok());
        match self.last_flow() {
            FlowControl::UnconditionalBranch => target.into_iter().collect(),
            FlowControl::ConditionalBranch => target.into_iter().chain([self.range.end]).collect(),
            FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall => {
                vec![self.range.end]
            }
            _ => Vec::new(),
        }
    }

    /// Where the block's work ends, and the bytes at its start to be replaced with a jump there. Only of a
    /// block that goes on in one way: a condition that was not computed would be chance.
    fn skippable(&self) -> Option<(u32, Range<u32>)> {
        let (last, before) = self.insns.split_last()?;
        let (work, end) = match flow(last) {
            FlowControl::UnconditionalBranch => (before, last.ip() as u32),
            FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall => {
                (&self.insns[..], self.range.end)
            }
            _ => return None,
        };
        let is_padding = |insn: &Instruction| insn.mnemonic() == Mnemonic::Nop;
        if work.iter().all(is_padding) || work.iter().any(moves_stack) {
            return None;
        }
        let start = self.range.start;
        let length = end - start;
        // Whole instructions, so that what is left of the block still decodes.
        let needed = [4, 8].into_iter().find(|&needed| jump(length, needed).is_some())?;
        let replaced_end = work
            .iter()
            .map(|insn| insn.next_ip() as u32)
            .find(|end| end - start >= needed as u32)?;
        Some((end, start..replaced_end))
    }
}

fn flow(insn: &Instruction) -> FlowControl {
    insn.flow_control()
}

fn place(insn: &Instruction) -> Range<u32> {
    insn.ip() as u32..insn.next_ip() as u32
}

fn decode(bytes: &[u8]) -> Option<(Instruction, iced_x86::ConstantOffsets)> {
    let mut decoder = Decoder::with_ip(64, bytes, 0, DecoderOptions::NONE);
    let insn = decoder.decode();
    let is_one = !insn.is_invalid() && insn.len() == bytes.len();
    is_one.then(|| (insn, decoder.get_constant_offsets(&insn)))
}

/// Where a conditional branch has the byte whose lowest bit is its sense.
fn condition(bytes: &[u8]) -> Option<usize> {
    let (insn, _) = decode(bytes)?;
    let n_prefixes = bytes.iter().take_while(|byte| matches!(byte, 0x2e | 0x3e | 0xf2)).count();
    match bytes[n_prefixes..] {
        [0x70..=0x7f, _] if insn.is_jcc_short_or_near() => Some(n_prefixes),
        [0x0f, 0x80..=0x8f, ..] if insn.is_jcc_short_or_near() => Some(n_prefixes + 1),
        _ => None,
    }
}

/// A jump over `length` bytes that fits into `room`. It is a conditional one whose condition always holds:
/// code behind a plain jump would be reachable from nowhere, and be taken for data.
fn jump(length: u32, room: usize) -> Option<Vec<u8>> {
    let is_short = length.checked_sub(4).is_some_and(|distance| distance <= 127);
    let jump = match is_short {
        true => [&EQUAL[..], &[SHORT, (length - 4) as u8]].concat(),
        false => [&EQUAL[..], &LONG, &length.checked_sub(8)?.to_le_bytes()].concat(),
    };
    (jump.len() <= room).then_some(jump)
}

/// Adds to the immediate operand of an instruction and says which bytes it has.
fn step(bytes: &mut [u8], by: i64) -> Option<Range<usize>> {
    let (insn, offsets) = decode(bytes)?;
    if !has_adjustable_constant(&insn) || !offsets.has_immediate() {
        return None;
    }
    let (at, size) = (offsets.immediate_offset(), offsets.immediate_size());
    let field = bytes.get_mut(at..at + size)?;
    let mut wide = [0; 8];
    wide[..size].copy_from_slice(field);
    let shift = 64 - 8 * size as u32;
    let value = (i64::from_le_bytes(wide) << shift) >> shift;
    let limit = if by > 0 { i64::MAX >> shift } else { i64::MIN >> shift };
    // From 0 to -1 or back is to the other end of the range for whoever reads it as unsigned.
    let wraps = matches!((value, by), (-1, 1) | (0, -1));
    if value == limit || wraps {
        return None;
    }
    field.copy_from_slice(&value.wrapping_add(by).to_le_bytes()[..size]);
    Some(at..at + size)
}

/// An instruction that computes, compares or stores with a constant, and not with a frame register.
fn has_adjustable_constant(insn: &Instruction) -> bool {
    let is_known = matches!(
        insn.mnemonic(),
        Mnemonic::Cmp
            | Mnemonic::Add
            | Mnemonic::Sub
            | Mnemonic::Mov
            | Mnemonic::And
            | Mnemonic::Or
            | Mnemonic::Test
            | Mnemonic::Shl
            | Mnemonic::Shr
            | Mnemonic::Sar
            | Mnemonic::Imul
            | Mnemonic::Bt
    );
    let is_constant = |operand| {
        matches!(
            insn.op_kind(operand),
            OpKind::Immediate8
                | OpKind::Immediate16
                | OpKind::Immediate32
                | OpKind::Immediate64
                | OpKind::Immediate8to16
                | OpKind::Immediate8to32
                | OpKind::Immediate8to64
                | OpKind::Immediate32to64
        )
    };
    let is_frame = |operand| {
        let register = insn.op_register(operand).full_register();
        insn.op_kind(operand) == OpKind::Register
            && matches!(register, Register::RSP | Register::RBP)
    };
    is_known && (0..insn.op_count()).any(is_constant) && !(0..insn.op_count()).any(is_frame)
}

/// Whether an instruction leaves the stack pointer elsewhere. A call comes back with it as it was.
fn moves_stack(insn: &Instruction) -> bool {
    if matches!(flow(insn), FlowControl::Call | FlowControl::IndirectCall) {
        return false;
    }
    let mut factory = InstructionInfoFactory::new();
    let info = factory.info(insn);
    let writes = |access| !matches!(access, OpAccess::None | OpAccess::Read | OpAccess::CondRead);
    insn.stack_pointer_increment() != 0
        || info
            .used_registers()
            .iter()
            .any(|used| used.register().full_register() == Register::RSP && writes(used.access()))
}

#[cfg(test)]
mod tests;
