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
use crate::probe::{PROBE, PROBE_LEN};

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
    let Ok(file) = object::File::parse(program) else { return Vec::new() };
    let is_start = |name: Result<&str, _>| name == Ok(START_SYMBOL);
    let marks = file.symbols().find(|symbol| is_start(symbol.name()));
    let Some(marks) = marks.map(|symbol| symbol.address()) else { return Vec::new() };
    let mut found = Vec::new();
    for section in file.sections().filter(|section| section.kind() == object::SectionKind::Text) {
        let Ok(code) = section.data() else { continue };
        for (at, _) in code.windows(PROBE.len()).enumerate().filter(|(_, bytes)| is_probe(bytes)) {
            let address = section.address() + at as u64;
            let field = [2, 3, 4, 5].map(|place| code[at + place]);
            let distance = i64::from(i32::from_le_bytes(field));
            let next = address + u64::from(PROBE_LEN);
            let mark = next.wrapping_add_signed(distance);
            let block = mark.checked_sub(marks).and_then(|block| u32::try_from(block).ok());
            let Some(block) = block.filter(|block| is_wanted(*block)) else { continue };
            let rest = &code[at + PROBE.len()..];
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

fn is_probe(bytes: &[u8]) -> bool {
    bytes[..2] == PROBE[..2] && bytes[6] == PROBE[6]
}

/// The conditional instructions up to the block's end, which is a jump, a
/// return or the next probe.
fn of_block(code: &[u8], address: u64) -> impl Iterator<Item = (u64, u8)> {
    let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    let mut instruction = Instruction::default();
    let mut found = Vec::new();
    for _ in 0..LONGEST {
        let start = decoder.position();
        if !decoder.can_decode() || code[start..].len() >= PROBE.len() && is_probe(&code[start..]) {
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
