//! `.gcc_except_table` -> call-site tables, and back with moved locations.
//!
//! The table of one function: a header, call sites (location -> landing pad, action), then actions,
//! type references and filters, which do not depend on locations and are copied.
//! Where one function's table ends is not recorded; it reaches to the start of the next one.

use std::ops::Range;

use super::frames;
use crate::bytes::{Reader, push_uleb, push_wide_uleb};
use crate::error::ObjcovError;

/// "Not present" as a pointer encoding.
const OMITTED: u8 = 0xff;

/// One function's exception table.
#[derive(Debug, Clone)]
pub(crate) struct Lsda {
    /// The bytes up to the next function's table.
    pub(crate) span: Range<usize>,
    /// Where the pointer to the landing pads' base is; without one the base is the function's start.
    pub(crate) pad_base: Option<usize>,
    /// Where the type table's encoding byte is, which starts the fields that change.
    encoding: usize,
    /// Whether a type table exists, and how far its end is from behind that number.
    type_offset: Option<u64>,
    site_encoding: u8,
    pub(crate) sites: Vec<Site>,
    /// Where actions, types and filters start.
    pub(crate) tail: usize,
}

/// A stretch of code and where exceptions raised in it continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Site {
    /// Distance from the function's start.
    pub(crate) start: u64,
    pub(crate) length: u64,
    /// Distance from the landing pads' base; 0 is "none".
    pub(crate) pad: u64,
    pub(crate) action: u64,
}

/// Reads the table in `data[span]`.
pub(crate) fn parse(data: &[u8], span: Range<usize>) -> Result<Lsda, ObjcovError> {
    let table = data.get(..span.end).ok_or(ObjcovError::ExceptionTable("position"))?;
    parse_table(table, span).ok_or(ObjcovError::ExceptionTable("format"))
}

fn parse_table(table: &[u8], span: Range<usize>) -> Option<Lsda> {
    let mut reader = Reader::new(table, span.start);
    let pad_base = match reader.u8()? {
        OMITTED => None,
        encoding => {
            let at = reader.pos();
            reader.skip(frames::pointer_size(encoding)?)?;
            Some(at)
        }
    };
    let encoding = reader.pos();
    let type_offset = match reader.u8()? {
        OMITTED => None,
        _ => Some(reader.uleb()?),
    };
    let type_end = type_offset.map(|offset| reader.pos() as u64 + offset);
    let site_encoding = reader.u8()?;
    let length = usize::try_from(reader.uleb()?).ok()?;
    let tail = reader.pos().checked_add(length).filter(|&tail| tail <= table.len())?;
    let is_inside = type_end.is_none_or(|end| end >= tail as u64 && end <= table.len() as u64);
    if !is_inside {
        return None;
    }
    let mut reader = Reader::new(&table[..tail], reader.pos());
    let mut sites = Vec::new();
    while !reader.at_end() {
        let mut number = || match site_encoding {
            0x01 => reader.uleb(),
            0x03 => reader.u32().map(u64::from),
            _ => None,
        };
        let (start, length, pad) = (number()?, number()?, number()?);
        sites.push(Site { start, length, pad, action: reader.uleb()? });
    }
    Some(Lsda { span, pad_base, encoding, type_offset, site_encoding, sites, tail })
}

impl Lsda {
    /// Appends the table with `sites` in place of its own; returns where its tail starts in `out`.
    ///
    /// The tail keeps its alignment to 4, so that type references stay aligned.
    pub(crate) fn write(
        &self,
        data: &[u8],
        sites: &[Site],
        out: &mut Vec<u8>,
    ) -> Result<usize, ObjcovError> {
        out.extend_from_slice(&data[self.span.start..self.encoding]);
        out.push(data[self.encoding]);
        let mut table = Vec::new();
        for site in sites {
            for number in [site.start, site.length, site.pad] {
                if self.site_encoding == 0x01 {
                    push_uleb(&mut table, number);
                } else {
                    let number = u32::try_from(number).map_err(|_| ObjcovError::TooLarge)?;
                    table.extend_from_slice(&number.to_le_bytes());
                }
            }
            push_uleb(&mut table, site.action);
        }
        // Both numbers get fixed widths: the first counts over the second, and the second's width
        // is the play that aligns the tail.
        const TYPE_WIDTH: usize = 4;
        let type_width = if self.type_offset.is_some() { TYPE_WIDTH } else { 0 };
        let fixed = out.len() + type_width + 1 + table.len();
        let length_width = (4..8).find(|width| (fixed + width) % 4 == self.tail % 4).unwrap_or(4);
        let tail = fixed + length_width;
        if tail > 1 << 28 {
            return Err(ObjcovError::TooLarge);
        }
        if let Some(offset) = self.type_offset {
            // The distance from the tail's start to the end of the types does not change.
            let end = self.type_origin(data)? + offset;
            let rest = end
                .checked_sub(self.tail as u64)
                .ok_or(ObjcovError::ExceptionTable("type table"))?;
            let offset = rest + (tail - (out.len() + TYPE_WIDTH)) as u64;
            if offset >= 1 << 28 {
                return Err(ObjcovError::TooLarge);
            }
            push_wide_uleb(out, offset, TYPE_WIDTH);
        }
        out.push(self.site_encoding);
        push_wide_uleb(out, table.len() as u64, length_width);
        out.extend_from_slice(&table);
        let tail = out.len();
        out.extend_from_slice(&data[self.tail..self.span.end]);
        Ok(tail)
    }

    /// The place the distance to the type table counts from.
    fn type_origin(&self, data: &[u8]) -> Result<u64, ObjcovError> {
        let mut reader = Reader::new(data, self.encoding + 1);
        reader.uleb().ok_or(ObjcovError::ExceptionTable("type table"))?;
        Ok(reader.pos() as u64)
    }

    /// Where the end of the type table is, counted from the tail; equal in equal tables.
    pub(crate) fn types_after_tail(&self, data: &[u8]) -> Option<u64> {
        (self.type_origin(data).ok()? + self.type_offset?).checked_sub(self.tail as u64)
    }

    /// What the header says apart from lengths.
    pub(crate) fn encodings(&self, data: &[u8]) -> [u8; 3] {
        [data[self.span.start], data[self.encoding], self.site_encoding]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No pad base, types end 17 bytes after the number, two sites, one action, one type.
    const TABLE: [u8; 20] =
        [0xff, 0x9b, 17, 0x01, 8, 4, 5, 0, 0, 9, 2, 30, 1, 1, 0, 0, 0xaa, 0xbb, 0xcc, 0xdd];

    #[test]
    fn sites_are_read() {
        let lsda = parse(&TABLE, 0..20).expect("table");
        assert_eq!(
            lsda.sites,
            [
                Site { start: 4, length: 5, pad: 0, action: 0 },
                Site { start: 9, length: 2, pad: 30, action: 1 },
            ]
        );
        assert_eq!(lsda.tail, 13);
    }

    #[test]
    fn moved_sites_keep_tail_bytes_alignment_and_type_distance() {
        let lsda = parse(&TABLE, 0..20).expect("table");
        for shift in [0, 3, 200, 100_000] {
            let sites = lsda
                .sites
                .iter()
                .map(|s| Site { start: s.start + shift, ..*s })
                .collect::<Vec<_>>();
            let mut out = Vec::new();
            let tail = lsda.write(&TABLE, &sites, &mut out).expect("rewritten");
            let again = parse(&out, 0..out.len()).expect("reparsed");
            assert_eq!((&again.sites, again.tail), (&sites, tail));
            assert_eq!(tail % 4, lsda.tail % 4);
            assert_eq!(out[tail..], TABLE[13..]);
            assert_eq!(again.types_after_tail(&out), lsda.types_after_tail(&TABLE));
        }
    }

    #[test]
    fn lengths_beyond_the_table_are_refused() {
        for (at, value) in [(4, 100), (2, 100), (2, 1), (3, 0x0b)] {
            let mut table = TABLE;
            table[at] = value;
            assert!(parse(&table, 0..20).is_err(), "byte {at} = {value}");
        }
    }
}
