//! A linked program with probes -> its blocks, and which instruction of which
//! block an address is.
//!
//! Instrumentation moves code but keeps the instructions of a block in their
//! order. So the n-th instruction behind a probe is the n-th of that block in the
//! original object, whose debug information knows its line.
//!
//! **Invariant:** only what lies between a block's probe and its end is looked
//! at. Bytes that merely look like a probe lead at most to a block that is none.

use iced_x86::{Decoder, DecoderOptions, FlowControl};
use object::{Object, ObjectSection, ObjectSymbol, SectionIndex, SectionKind};

use crate::boundary::{START_SYMBOL, STOP_SYMBOL};
use crate::probe::{PROBE, PROBE_LEN, mark_of};

/// No block has more instructions that are looked at.
const LONGEST: usize = 400;
/// Nor more bytes.
const FARTHEST: usize = 8192;

/// An instruction of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstructionPlace {
    pub block: u32,
    /// From 0.
    pub nth: u32,
}

/// A linked program, as far as its probes tell.
pub struct Program<'a> {
    /// Code and where it lies.
    texts: Vec<(&'a [u8], u64)>,
    marks: std::ops::Range<u64>,
}

impl<'a> Program<'a> {
    /// `None` for bytes that are no program with probes.
    pub fn read(program: &'a [u8]) -> Option<Program<'a>> {
        let file = object::File::parse(program).ok()?;
        let address = |name: &str| {
            let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name))?;
            Some(symbol.address())
        };
        let marks = address(START_SYMBOL)?..address(STOP_SYMBOL)?;
        let texts = file.sections().filter(|section| section.kind() == SectionKind::Text);
        let texts = texts.filter_map(|text| Some((text.data().ok()?, text.address())));
        Some(Program { texts: texts.collect(), marks })
    }

    /// Every block, with the code from behind its probe on, and its address.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = (u32, &'a [u8], u64)> + '_ {
        self.texts.iter().flat_map(move |&(code, start)| {
            (0..code.len()).filter_map(move |at| self.behind(code, start, at))
        })
    }

    /// The block of the probe at this place of a text.
    fn behind(&self, code: &'a [u8], start: u64, at: usize) -> Option<(u32, &'a [u8], u64)> {
        let address = start + at as u64;
        let mark = mark_of(code.get(at..)?, address).filter(|mark| self.marks.contains(mark))?;
        let block = (mark - self.marks.start) as u32;
        Some((block, &code[at + PROBE.len()..], address + u64::from(PROBE_LEN)))
    }

    /// The block that begins at an address, with its probe.
    pub fn block_at(&self, address: u64) -> Option<u32> {
        let (code, start) = self.text_of(address)?;
        Some(self.behind(code, start, (address - start) as usize)?.0)
    }

    fn text_of(&self, address: u64) -> Option<(&'a [u8], u64)> {
        let inside =
            |(code, start): &&(&[u8], u64)| (*start..*start + code.len() as u64).contains(&address);
        self.texts.iter().find(inside).copied()
    }

    /// The instruction that a byte of the program's code belongs to.
    pub fn place(&self, address: u64) -> Option<InstructionPlace> {
        let (code, start) = self.text_of(address)?;
        let here = (address - start) as usize;
        let first = here.saturating_sub(FARTHEST);
        (first..=here).rev().find_map(|at| {
            let (block, code, next) = self.behind(code, start, at)?;
            let is_it = |found: &Decoded<'_>| {
                (found.address..found.address + found.bytes.len() as u64).contains(&address)
            };
            let nth = instructions(code, next).position(|found| is_it(&found))?;
            Some(InstructionPlace { block, nth: nth as u32 })
        })
    }
}

/// Where the n-th instruction from an offset on begins, in a section of a
/// relocatable object.
pub fn nth_instruction(object: &[u8], section: u32, offset: u32, nth: u32) -> Option<u32> {
    let file = object::File::parse(object).ok()?;
    let code = file.section_by_index(SectionIndex(section as usize)).ok()?.data().ok()?;
    let rest = code.get(offset as usize..)?;
    let found = instructions(rest, u64::from(offset)).nth(nth as usize)?;
    u32::try_from(found.address).ok()
}

/// An instruction, where it lies.
pub(crate) struct Decoded<'a> {
    pub(crate) address: u64,
    pub(crate) bytes: &'a [u8],
}

/// The instructions up to the block's end, which is a jump, a return or the
/// next probe.
pub(crate) fn instructions(code: &[u8], address: u64) -> impl Iterator<Item = Decoded<'_>> {
    let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    let mut is_over = false;
    let next = move || {
        let start = decoder.position();
        let is_next = mark_of(&code[start..], 0).is_some();
        if is_over || is_next || !decoder.can_decode() {
            return None;
        }
        let instruction = decoder.decode();
        if instruction.is_invalid() {
            return None;
        }
        is_over = !matches!(
            instruction.flow_control(),
            FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall
        );
        let bytes = &code[start..start + instruction.len()];
        Some(Decoded { address: instruction.ip(), bytes })
    };
    std::iter::from_fn(next).take(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_ends_with_its_jump() {
        // setne al; test al, al; je +2; je +0
        let code = [0x0f, 0x95, 0xc0, 0x84, 0xc0, 0x74, 0x02, 0x74, 0x00];
        let found: Vec<u64> = instructions(&code, 0x1000).map(|found| found.address).collect();
        assert_eq!(found, [0x1000, 0x1003, 0x1005]);
    }

    #[test]
    fn the_next_probe_ends_a_block() {
        let code = [&[0x0f, 0x95, 0xc0][..], &PROBE, &[0x74, 0x02]].concat();
        assert_eq!(instructions(&code, 0).count(), 1);
    }

    #[test]
    fn an_address_leads_to_its_block_and_instruction() {
        // Two blocks: ret; setne al, je. The marks lie at 0x2000.
        let probe = |at: u64, mark: u64| {
            let distance = (mark as i64 - (at + u64::from(PROBE_LEN)) as i64) as i32;
            let mut bytes = PROBE;
            bytes[2..6].copy_from_slice(&distance.to_le_bytes());
            bytes
        };
        let second = [&probe(0x1008, 0x2001)[..], &[0x0f, 0x95, 0xc0, 0x74, 0x02]].concat();
        let code = [&probe(0x1000, 0x2000)[..], &[0xc3], &second].concat();
        let program = Program { texts: vec![(&code, 0x1000)], marks: 0x2000..0x2002 };
        let check = |address: u64, expected: Option<(u32, u32)>| {
            let found = program.place(address).map(|place| (place.block, place.nth));
            assert_eq!(found, expected, "{address:#x}");
        };
        check(0x1007, Some((0, 0)));
        check(0x1010, Some((1, 0))); // The middle of an instruction.
        check(0x1012, Some((1, 1)));
        assert_eq!([0x1000, 0x1008].map(|at| program.block_at(at)), [Some(0), Some(1)]);
        check(0x1003, None); // A probe is no instruction of a block.
        check(0x3000, None);
        let blocks: Vec<u32> = program.blocks().map(|(block, ..)| block).collect();
        assert_eq!(blocks, [0, 1]);
    }
}
