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

use crate::places::{Program, instructions};

/// A conditional instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Decision {
    pub block: u32,
    /// Which instruction of its block it is, from 0.
    pub nth: u32,
    /// Where the byte with its condition lies.
    pub address: u64,
    /// That byte, with the condition inverted.
    pub inverted: u8,
}

/// The decisions of all wanted blocks, by block and address. Nothing for bytes
/// that are no such program.
pub fn decisions(program: &[u8], is_wanted: impl Fn(u32) -> bool) -> Vec<Decision> {
    let Some(program) = Program::read(program) else { return Vec::new() };
    let mut found = Vec::new();
    for (block, code, address) in program.blocks().filter(|(block, ..)| is_wanted(*block)) {
        for (nth, instruction) in instructions(code, address).enumerate() {
            if let Some(place) = condition(instruction.bytes) {
                found.push(Decision {
                    block,
                    nth: nth as u32,
                    address: instruction.address + place as u64,
                    inverted: instruction.bytes[place] ^ 1,
                });
            }
        }
    }
    found.sort_unstable();
    found
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
    fn what_is_no_program_has_no_decisions() {
        assert!(decisions(b"nothing", |_| true).is_empty());
    }
}
