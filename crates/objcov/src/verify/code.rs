//! Original and rewritten code, instruction by instruction.
//!
//! Both sections are decoded afresh, probes and padding are set aside, and what remains must be the
//! same instructions. Distances and relocations are only collected here; `refs` judges them.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};

use crate::elf::{Object, Rela};
use crate::probe::{self, PROBE};
use crate::relocation;

/// "No instruction starts here."
const NONE: u32 = u32::MAX;

/// An instruction of the original and its copy.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub(super) old: u32,
    pub(super) new: u32,
    /// One past the last byte of the copy.
    pub(super) new_end: u32,
    pub(super) is_gate: bool,
    /// Control may continue behind it or elsewhere.
    pub(super) is_branch: bool,
}

/// A probe found in the rewritten code.
#[derive(Debug, Clone, Copy)]
pub(super) struct Probe {
    pub(super) at: u32,
    /// Number of the pair it stands in front of.
    pub(super) before: u32,
}

/// A distance encoded in an instruction: the spots meant before and after.
#[derive(Debug, Clone, Copy)]
pub(super) struct Distance {
    pub(super) old_target: u64,
    pub(super) new_target: u64,
}

/// A relocation of the original and its copy, by their numbers in the sorted lists.
#[derive(Debug, Clone, Copy)]
pub(super) struct RelaPair {
    pub(super) old: usize,
    pub(super) new: usize,
    /// From the relocated field to the end of the instruction for fields that count from there.
    pub(super) bias: i64,
    pub(super) is_lea: bool,
}

/// A section's code, compared.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) pairs: Vec<Pair>,
    pub(super) probes: Vec<Probe>,
    pub(super) distances: Vec<Distance>,
    pub(super) relas: Vec<RelaPair>,
    pub(super) old_size: u32,
    pub(super) new_size: u32,
    by_offset: Vec<u32>,
}

impl Code {
    /// The pair whose original starts at `old`.
    pub(super) fn pair_at(&self, old: u64) -> Option<usize> {
        let number = *self.by_offset.get(usize::try_from(old).ok()?)?;
        (number != NONE).then_some(number as usize)
    }
}

/// One side of the comparison.
pub(super) struct Side<'a> {
    pub(super) object: &'a Object<'a>,
    pub(super) data: &'a [u8],
    /// Sorted by offset.
    pub(super) relas: &'a [Rela],
}

/// A decoding position with the relocations from there on.
struct Walk<'a> {
    side: &'a Side<'a>,
    decoder: Decoder<'a>,
    insn: Instruction,
    next_rela: usize,
    /// The relocations of the current instruction.
    own: std::ops::Range<usize>,
}

impl<'a> Walk<'a> {
    fn new(side: &'a Side<'a>) -> Self {
        let decoder = Decoder::with_ip(64, side.data, 0, DecoderOptions::NONE);
        Walk { side, decoder, insn: Instruction::default(), next_rela: 0, own: 0..0 }
    }

    /// Decodes the next instruction; false at the end.
    fn step(&mut self) -> Result<bool, String> {
        if !self.decoder.can_decode() {
            return if self.next_rela == self.side.relas.len() {
                Ok(false)
            } else {
                Err("stray relocation".into())
            };
        }
        self.decoder.decode_out(&mut self.insn);
        if self.insn.is_invalid() {
            return Err(format!("undecodable at {:#x}", self.insn.ip()));
        }
        let start = self.next_rela;
        while self
            .side
            .relas
            .get(self.next_rela)
            .is_some_and(|rela| rela.offset < self.insn.next_ip())
        {
            self.next_rela += 1;
        }
        self.own = start..self.next_rela;
        Ok(true)
    }

    fn bytes(&self) -> &'a [u8] {
        &self.side.data[self.insn.ip() as usize..self.insn.next_ip() as usize]
    }

    fn relas(&self) -> &'a [Rela] {
        &self.side.relas[self.own.clone()]
    }

    /// The slot, if the current instruction is a probe on the marks named `marks`.
    fn probe_slot(&self, marks: &[u8]) -> Option<u64> {
        let [rela] = self.relas() else { return None };
        if self.bytes() != PROBE {
            return None;
        }
        let (symbol, slot) = probe::recognize(self.side.object, rela, self.insn.ip())?;
        (self.side.object.symbol_name(symbol) == marks).then_some(slot)
    }
}

/// Compares the code of one section. Probes must refer to the symbol `marks`, slot after slot.
pub(super) fn compare(old: &Side<'_>, new: &Side<'_>, marks: &[u8]) -> Result<Code, String> {
    let mut code = Code {
        pairs: Vec::with_capacity(old.data.len() / 4),
        probes: vec![],
        distances: vec![],
        relas: Vec::with_capacity(old.relas.len()),
        old_size: old.data.len() as u32,
        new_size: new.data.len() as u32,
        by_offset: vec![NONE; old.data.len()],
    };
    let (mut left, mut right) = (Walk::new(old), Walk::new(new));
    while left.step()? {
        loop {
            if !right.step()? {
                return Err(format!("nothing matches the instruction at {:#x}", left.insn.ip()));
            }
            if !is_extra(&mut code, &right, marks)? {
                if matches(&mut code, &left, &right) {
                    break;
                }
                if right.insn.mnemonic() != Mnemonic::Nop || !right.own.is_empty() {
                    return Err(format!("{:#x} became {:#x}", left.insn.ip(), right.insn.ip()));
                }
            }
        }
        let flow = left.insn.flow_control();
        code.by_offset[left.insn.ip() as usize] = code.pairs.len() as u32;
        code.pairs.push(Pair {
            old: left.insn.ip() as u32,
            new: right.insn.ip() as u32,
            new_end: right.insn.next_ip() as u32,
            is_gate: left.insn.mnemonic() == Mnemonic::Endbr64,
            is_branch: flow == FlowControl::ConditionalBranch
                || left.insn.mnemonic() == Mnemonic::Xbegin,
        });
    }
    while right.step()? {
        if !is_extra(&mut code, &right, marks)? {
            return Err(format!("surplus code at {:#x}", right.insn.ip()));
        }
    }
    Ok(code)
}

/// Notes a probe; other instructions are none of its business.
fn is_extra(code: &mut Code, right: &Walk<'_>, marks: &[u8]) -> Result<bool, String> {
    let Some(slot) = right.probe_slot(marks) else {
        return Ok(false);
    };
    if slot != code.probes.len() as u64 {
        return Err(format!("probe {slot} out of order"));
    }
    code.probes.push(Probe { at: right.insn.ip() as u32, before: code.pairs.len() as u32 });
    Ok(true)
}

/// Whether `right` is the copy of `left`; if so, notes what is to be judged later.
fn matches(code: &mut Code, left: &Walk<'_>, right: &Walk<'_>) -> bool {
    let (a, b) = (&left.insn, &right.insn);
    let (old_relas, new_relas) = (left.relas(), right.relas());
    let is_same_rela =
        |old: &Rela, new: &Rela| old.kind == new.kind && old.offset - a.ip() == new.offset - b.ip();
    if old_relas.len() != new_relas.len()
        || !old_relas.iter().zip(new_relas).all(|(old, new)| is_same_rela(old, new))
    {
        return false;
    }
    let is_near = |insn: &Instruction| insn.op0_kind() == OpKind::NearBranch64;
    let distance = if !old_relas.is_empty() {
        if left.bytes() != right.bytes() {
            return false;
        }
        None
    } else if is_near(a) {
        let prefixes = |bytes: &[u8]| {
            bytes.iter().take_while(|byte| matches!(byte, 0x2e | 0x3e | 0xf2)).count()
        };
        let (n_left, n_right) = (prefixes(left.bytes()), prefixes(right.bytes()));
        if !is_near(b)
            || a.mnemonic() != b.mnemonic()
            || left.bytes()[..n_left] != right.bytes()[..n_right]
        {
            return false;
        }
        Some(Distance { old_target: a.near_branch_target(), new_target: b.near_branch_target() })
    } else if a.is_ip_rel_memory_operand() {
        let at = left.decoder.get_constant_offsets(a).displacement_offset();
        let around = |bytes: &[u8]| (bytes[..at].to_vec(), bytes[at + 4..].to_vec());
        let is_same = a.len() == b.len() && around(left.bytes()) == around(right.bytes());
        if !is_same || a.memory_base() != Register::RIP || a.mnemonic() != Mnemonic::Lea {
            return false;
        }
        Some(Distance {
            old_target: a.ip_rel_memory_address(),
            new_target: b.ip_rel_memory_address(),
        })
    } else {
        if left.bytes() != right.bytes() {
            return false;
        }
        None
    };
    code.distances.extend(distance);
    for (old, new) in left.own.clone().zip(right.own.clone()) {
        // One instruction may hold both: an address as immediate, and a distance as operand.
        let rela = &left.side.relas[old];
        let to_end = (a.next_ip() - rela.offset) as i64;
        let bias = if relocation::is_absolute(rela.kind) { 0 } else { to_end };
        let is_lea = !matches!(
            a.flow_control(),
            FlowControl::Call | FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
        );
        code.relas.push(RelaPair { old, new, bias, is_lea });
    }
    true
}
