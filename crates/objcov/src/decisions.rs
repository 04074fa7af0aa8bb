//! A linked program with probes -> the conditional instructions of its blocks,
//! and the byte that makes each of them decide the other way.
//!
//! Jumps, sets and moves with a condition have it in the low four bits of their
//! opcode's last byte, and the lowest of these inverts it (Intel SDM, volume 2,
//! appendix B.1.4.7). So one byte is enough, and no length changes.
//!
//! **Invariant:** only what lies between a block's probe and its end is looked
//! at. Bytes that merely look like a probe lead at most to a decision that is
//! none; whoever makes use of it sees what comes of it.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction};
use object::{Object, ObjectSection, ObjectSymbol};

use crate::boundary::START_SYMBOL;
use crate::probe::{PROBE, PROBE_LEN, mark_of};

/// A conditional instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Decision {
    pub block: u32,
    /// Where the byte with its condition lies.
    pub address: u64,
    /// That byte, with the condition inverted.
    pub inverted: u8,
}

/// No block has more instructions that are looked at.
const LONGEST: usize = 400;

/// The decisions of all wanted blocks, by block and address. Nothing for bytes
/// that are no such program.
pub fn decisions(program: &[u8], is_wanted: impl Fn(u32) -> bool) -> Vec<Decision> {
    let Some((file, marks)) = with_marks(program) else { return Vec::new() };
    let mut found = Vec::new();
    for section in file.sections().filter(|section| section.kind() == object::SectionKind::Text) {
        let Ok(code) = section.data() else { continue };
        for at in 0..code.len() {
            let address = section.address() + at as u64;
            let block = mark_of(&code[at..], address).and_then(|mark| block_of(mark, marks));
            let Some(block) = block.filter(|block| is_wanted(*block)) else { continue };
            let rest = &code[at + PROBE.len()..];
            let next = address + u64::from(PROBE_LEN);
            found.extend(of_block(rest, next).map(|(address, inverted)| Decision {
                block,
                address,
                inverted,
            }));
        }
    }
    found.sort_unstable();
    found
}

/// The block that begins at each of these addresses of a linked program with
/// probes, where one does.
pub fn blocks_at(program: &[u8], addresses: &[u64]) -> Vec<Option<u32>> {
    let Some((file, marks)) = with_marks(program) else { return vec![None; addresses.len()] };
    let text = file.sections().filter(|section| section.kind() == object::SectionKind::Text);
    let sections: Vec<(u64, &[u8])> =
        text.filter_map(|section| Some((section.address(), section.data().ok()?))).collect();
    let block_at = |&address: &u64| {
        let code = sections.iter().find_map(|(start, code)| {
            let at = usize::try_from(address.checked_sub(*start)?).ok()?;
            code.get(at..)
        })?;
        block_of(mark_of(code, address)?, marks)
    };
    addresses.iter().map(block_at).collect()
}

/// A linked program, and where its marks begin.
fn with_marks(program: &[u8]) -> Option<(object::File<'_>, u64)> {
    let file = object::File::parse(program).ok()?;
    let marks = file.symbols().find(|symbol| symbol.name() == Ok(START_SYMBOL))?.address();
    Some((file, marks))
}

fn block_of(mark: u64, marks: u64) -> Option<u32> {
    u32::try_from(mark.checked_sub(marks)?).ok()
}

/// The conditional instructions up to the block's end, which is a jump, a
/// return or the next probe.
fn of_block(code: &[u8], address: u64) -> impl Iterator<Item = (u64, u8)> {
    let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    let mut instruction = Instruction::default();
    let mut found = Vec::new();
    for _ in 0..LONGEST {
        let start = decoder.position();
        if !decoder.can_decode() || mark_of(&code[start..], 0).is_some() {
            break;
        }
        decoder.decode_out(&mut instruction);
        if instruction.is_invalid() {
            break;
        }
        let bytes = &code[start..start + instruction.len()];
        if let Some(place) = condition(bytes) {
            found.push((instruction.ip() + place as u64, bytes[place] ^ 1));
        }
        match instruction.flow_control() {
            FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall => {}
            _ => break,
        }
    }
    found.into_iter()
}

/// Where the byte with the condition is, if the instruction has one.
fn condition(instruction: &[u8]) -> Option<usize> {
    const PREFIXES: [u8; 3] = [0x66, 0x2e, 0x3e];
    const REX: std::ops::RangeInclusive<u8> = 0x40..=0x4f;
    const ESCAPE: u8 = 0x0f;
    let opcode =
        instruction.iter().position(|byte| !PREFIXES.contains(byte) && !REX.contains(byte))?;
    let second = *instruction.get(opcode + 1)?;
    match (instruction[opcode], second) {
        (0x70..=0x7f, _) => Some(opcode), // jcc, short
        (ESCAPE, 0x40..=0x4f | 0x80..=0x8f | 0x90..=0x9f) => Some(opcode + 1), // cmov, jcc, set
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_found_behind_prefixes() {
        assert_eq!(condition(&[0x74, 0x05]), Some(0)); // je
        assert_eq!(condition(&[0x0f, 0x85, 0, 0, 0, 0]), Some(1)); // jne
        assert_eq!(condition(&[0x41, 0x0f, 0x94, 0xc0]), Some(2)); // sete r8b
        assert_eq!(condition(&[0x48, 0x0f, 0x44, 0xc1]), Some(2)); // cmove rax, rcx
        assert_eq!(condition(&[0xe8, 0x74, 0, 0, 0]), None); // call
        assert_eq!(condition(&[0x0f, 0x1f, 0x40, 0]), None); // nop
        assert_eq!(condition(&[0xc3]), None); // ret
    }

    #[test]
    fn a_block_ends_with_its_jump() {
        // setne al; test al, al; je +2; je +0
        let code = [0x0f, 0x95, 0xc0, 0x84, 0xc0, 0x74, 0x02, 0x74, 0x00];
        assert_eq!(of_block(&code, 0x1000).collect::<Vec<_>>(), [(0x1001, 0x94), (0x1005, 0x75)]);
    }

    #[test]
    fn the_next_probe_ends_a_block() {
        let code = [&[0x0f, 0x95, 0xc0][..], &PROBE, &[0x74, 0x02]].concat();
        assert_eq!(of_block(&code, 0).count(), 1);
    }

    #[test]
    fn what_is_no_program_has_no_decisions() {
        assert!(decisions(b"nothing", |_| true).is_empty());
    }
}
