//! `.eh_frame` -> records: the part of the format that depends on code addresses.
//!
//! Only finds the fields and the location-dependent operations; `unwind` rewrites them.
//! **Invariant:** a record this file does not fully understand is a refusal, never skipped over.

use std::ops::Range;

use crate::bytes::{Reader, u32_at};
use crate::error::ObjcovError;

/// One record of the table.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    /// The whole record, length word included.
    pub(crate) span: Range<usize>,
    pub(crate) body: Body,
}

#[derive(Debug, Clone)]
pub(crate) enum Body {
    Cie(Cie),
    Fde(Fde),
    /// The zero word that ends the table.
    End,
}

/// What frame descriptions share.
#[derive(Debug, Clone)]
pub(crate) struct Cie {
    /// Size of code pointers.
    pointer_size: usize,
    /// Size of exception table pointers, if descriptions carry them.
    lsda_size: Option<usize>,
    has_augmentation: bool,
    /// Where the personality pointer is, if there is one.
    pub(crate) personality: Option<usize>,
}

/// The description of one stretch of code.
#[derive(Debug, Clone)]
pub(crate) struct Fde {
    /// Number of the CIE's record.
    pub(crate) cie: usize,
    /// Where the code pointer and the length that follows it are.
    pub(crate) begin: usize,
    pub(crate) pointer_size: usize,
    /// The length of the described code.
    pub(crate) range: u64,
    /// Where the exception table pointer is.
    pub(crate) lsda: Option<usize>,
    pub(crate) ops: Vec<Op>,
    /// Where the operations start.
    pub(crate) program: usize,
}

/// One operation of a frame program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Op {
    /// Later operations hold from this many bytes further on.
    Advance(u32),
    /// Anything that does not depend on the location, as bytes of the table.
    Fixed(Range<usize>),
}

/// Splits the table into records.
pub(crate) fn parse(data: &[u8]) -> Result<Vec<Record>, ObjcovError> {
    let mut records: Vec<Record> = Vec::new();
    // Record numbers of the CIEs, by their offset in the table.
    let mut cies = std::collections::HashMap::new();
    let mut at = 0;
    while at < data.len() {
        let length = u32_at(data, at).ok_or(ObjcovError::Unwind("truncated record"))?;
        if length == 0 {
            records.push(Record { span: at..at + 4, body: Body::End });
            at += 4;
            continue;
        }
        let end = at
            .checked_add(4 + length as usize)
            .filter(|&end| end <= data.len() && length < 0xffff_fff0)
            .ok_or(ObjcovError::Unwind("record length"))?;
        let id = u32_at(data, at + 4).ok_or(ObjcovError::Unwind("truncated record"))?;
        let record = &data[..end];
        let body = if id == 0 {
            cies.insert(at, records.len());
            Body::Cie(cie(record, at + 8)?)
        } else {
            let cie = (at + 4).checked_sub(id as usize).and_then(|cie| cies.get(&cie).copied());
            let cie_idx = cie.ok_or(ObjcovError::Unwind("record without its common part"))?;
            let Body::Cie(cie) = &records[cie_idx].body else {
                return Err(ObjcovError::Unwind("record without its common part"));
            };
            Body::Fde(
                fde(record, at + 8, cie_idx, cie)
                    .ok_or(ObjcovError::Unwind("frame description"))?,
            )
        };
        records.push(Record { span: at..end, body });
        at = end;
    }
    Ok(records)
}

/// Bytes of a pointer encoded as `encoding`, if it is absolute or relative to its own place.
pub(crate) fn pointer_size(encoding: u8) -> Option<usize> {
    // The top bit only says that the pointer is indirect.
    if !matches!(encoding & 0x70, 0x00 | 0x10) {
        return None;
    }
    match encoding & 0x0f {
        0x00 | 0x04 | 0x0c => Some(8),
        0x03 | 0x0b => Some(4),
        _ => None,
    }
}

fn cie(record: &[u8], at: usize) -> Result<Cie, ObjcovError> {
    parse_cie(record, at).ok_or(ObjcovError::Unwind("common frame information"))
}

fn parse_cie(record: &[u8], at: usize) -> Option<Cie> {
    let mut reader = Reader::new(record, at);
    let version = reader.u8()?;
    let mut letters = Vec::new();
    loop {
        match reader.u8()? {
            0 => break,
            letter => letters.push(letter),
        }
    }
    if reader.uleb()? != 1 {
        return None; // Advances would be scaled.
    }
    reader.skip_leb()?;
    match version {
        1 => reader.u8().map(drop)?,
        3 => reader.skip_leb()?,
        _ => return None,
    }
    let mut cie = Cie {
        pointer_size: 8,
        lsda_size: None,
        has_augmentation: !letters.is_empty(),
        personality: None,
    };
    if let Some((&first, rest)) = letters.split_first() {
        if first != b'z' {
            return None;
        }
        reader.uleb()?;
        for letter in rest {
            match letter {
                b'R' => cie.pointer_size = pointer_size(reader.u8()?)?,
                b'L' => cie.lsda_size = Some(pointer_size(reader.u8()?)?),
                b'P' => {
                    let size = pointer_size(reader.u8()?)?;
                    cie.personality = Some(reader.pos());
                    reader.skip(size)?;
                }
                b'S' => {} // Signal frame.
                _ => return None,
            }
        }
    }
    Some(cie)
}

fn fde(record: &[u8], at: usize, cie_idx: usize, cie: &Cie) -> Option<Fde> {
    let mut reader = Reader::new(record, at);
    let begin = reader.pos();
    reader.skip(cie.pointer_size)?;
    let range = match cie.pointer_size {
        4 => u64::from(reader.u32()?),
        _ => u64::from(reader.u32()?) | u64::from(reader.u32()?) << 32,
    };
    let mut lsda = None;
    if cie.has_augmentation {
        let length = usize::try_from(reader.uleb()?).ok()?;
        let expected = cie.lsda_size.unwrap_or(0);
        if length != expected {
            return None;
        }
        lsda = cie.lsda_size.map(|_| reader.pos());
        reader.skip(length)?;
    }
    let program = reader.pos();
    let ops = ops(&mut reader)?;
    Some(Fde { cie: cie_idx, begin, pointer_size: cie.pointer_size, range, lsda, ops, program })
}

fn ops(reader: &mut Reader<'_>) -> Option<Vec<Op>> {
    let mut ops = Vec::new();
    while !reader.at_end() {
        let start = reader.pos();
        let code = reader.u8()?;
        match code {
            0x40..=0x7f => ops.push(Op::Advance(u32::from(code & 0x3f))),
            0x02 => ops.push(Op::Advance(u32::from(reader.u8()?))),
            0x03 => ops.push(Op::Advance(u32::from(reader.u16()?))),
            0x04 => ops.push(Op::Advance(reader.u32()?)),
            _ => {
                skip_operands(reader, code)?;
                ops.push(Op::Fixed(start..reader.pos()));
            }
        }
    }
    Some(ops)
}

/// Passes over the operands of operation `code`, which must not depend on the location.
fn skip_operands(reader: &mut Reader<'_>, code: u8) -> Option<()> {
    let (n_numbers, has_block) = match code {
        0x80..=0xbf => (1, false),                                    // offset
        0xc0..=0xff => (0, false),                                    // restore
        0x00 | 0x0a | 0x0b => (0, false), // nop, remember and restore state
        0x06 | 0x07 | 0x08 | 0x0d | 0x0e | 0x13 | 0x2e => (1, false), // one register or offset
        0x05 | 0x09 | 0x0c | 0x11 | 0x12 | 0x14 | 0x15 | 0x2f => (2, false),
        0x0f => (0, true),        // def_cfa_expression
        0x10 | 0x16 => (1, true), // expression, val_expression
        _ => return None,         // set_loc and unknown operations
    };
    for _ in 0..n_numbers {
        reader.skip_leb()?;
    }
    if has_block {
        let length = usize::try_from(reader.uleb()?).ok()?;
        reader.skip(length)?;
    }
    Some(())
}

/// Appends the shortest advance by `delta`.
pub(crate) fn push_advance(out: &mut Vec<u8>, delta: u32) {
    match delta {
        0 => {}
        1..=0x3f => out.push(0x40 | delta as u8),
        0x40..=0xff => out.extend_from_slice(&[0x02, delta as u8]),
        0x100..=0xffff => {
            out.push(0x03);
            out.extend_from_slice(&(delta as u16).to_le_bytes());
        }
        _ => {
            out.push(0x04);
            out.extend_from_slice(&delta.to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A CIE as gcc writes it: version 1, "zR", pc-relative 4-byte pointers.
    const CIE: [u8; 24] = [
        20, 0, 0, 0, 0, 0, 0, 0, 1, b'z', b'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0,
    ];

    #[track_caller]
    fn check(program: &[u8], expect: Option<&[Op]>) {
        let mut data = CIE.to_vec();
        data.extend_from_slice(&(13 + program.len() as u32).to_le_bytes());
        data.extend_from_slice(&[28, 0, 0, 0, 0, 0, 0, 0, 100, 0, 0, 0, 0]);
        data.extend_from_slice(program);
        match (parse(&data), expect) {
            (Ok(records), Some(ops)) => {
                let Body::Fde(fde) = &records[1].body else { panic!("no description") };
                assert_eq!((fde.begin, fde.range), (32, 100));
                assert_eq!(fde.ops, ops);
            }
            (Err(_), None) => {}
            (got, _) => panic!("unexpected {got:?}"),
        }
    }

    #[test]
    fn advances_of_every_size_are_found() {
        check(
            &[0x41, 0x02, 200, 0x03, 0, 1, 0x04, 0, 0, 1, 0],
            Some(&[Op::Advance(1), Op::Advance(200), Op::Advance(256), Op::Advance(65536)]),
        );
    }

    #[test]
    fn operands_that_look_like_advances_are_not() {
        check(&[0x0e, 0x41, 0x0f, 2, 0x42, 0x43], Some(&[Op::Fixed(41..43), Op::Fixed(43..47)]));
    }

    #[test]
    fn absolute_locations_and_unknown_operations_are_refused() {
        check(&[0x01, 0, 0, 0, 0], None);
        check(&[0x1c], None);
        check(&[0x0f, 9], None);
    }
}
