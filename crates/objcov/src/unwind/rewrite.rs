//! Unwind and exception tables for moved code.
//!
//! Exception tables come first, because frame descriptions point to them. Records keep their order;
//! their sizes change, so every pointer between records is recomputed.

use super::frames::{self, Body, Fde, Op};
use super::lsda::Site;
use super::{FrameTable, Handler, Spot, Unwind};
use crate::bytes::align_up;
use crate::elf::{Object, Rela};
use crate::error::ObjcovError;
use crate::moved::{Moved, OffsetMap};

/// New contents and relocations of a section.
#[derive(Debug)]
pub(crate) struct Rewritten {
    pub(crate) section: usize,
    pub(crate) data: Vec<u8>,
    pub(crate) relas: Vec<Rela>,
}

/// Rewrites all exception tables and adds their new offsets to `moved`.
pub(crate) fn handlers(
    object: &Object<'_>,
    unwind: &Unwind,
    relas: &[Vec<Rela>],
    moved: &mut Moved,
) -> Result<Vec<Rewritten>, ObjcovError> {
    let mut all = Vec::new();
    for (&section, handlers) in &unwind.handlers {
        let data = &object.sections[section as usize].data;
        let mut map = OffsetMap::new(data.len());
        let mut out = Vec::with_capacity(data.len() + data.len() / 4);
        let mut own = relas[section as usize].clone();
        // Bytes in front of the first table (there are none in practice) stay.
        let first = handlers.keys().next().map_or(0, |&first| first as usize);
        out.extend_from_slice(&data[..first]);
        map.set_start(0, 0);
        map.set_end(0, 0);
        for (&start, handler) in handlers {
            let new_start = out.len();
            let sites = sites(handler, moved)?;
            let tail = handler.lsda.write(data, &sites, &mut out)?;
            map.set_start(start as u32, new_start as u32);
            map.set_end(handler.lsda.span.end as u32, out.len() as u32);
            let span = &handler.lsda.span;
            let old_relas = &relas[section as usize];
            let first = old_relas.partition_point(|rela| rela.offset < span.start as u64);
            for (rela, old) in own[first..].iter_mut().zip(&old_relas[first..]) {
                let at = old.offset as usize;
                if at >= span.end {
                    break;
                }
                rela.offset = if at >= handler.lsda.tail {
                    (tail + (at - handler.lsda.tail)) as u64
                } else if Some(at) == handler.lsda.pad_base {
                    (new_start + (at - span.start)) as u64
                } else {
                    return Err(ObjcovError::ExceptionTable("unexpected relocation"));
                };
            }
        }
        map.set_start(data.len() as u32, out.len() as u32);
        moved.maps.insert(section, map);
        all.push(Rewritten { section: section as usize, data: out, relas: own });
    }
    Ok(all)
}

/// The call sites of `handler` for moved code.
fn sites(handler: &Handler, moved: &Moved) -> Result<Vec<Site>, ObjcovError> {
    let start =
        |spot: Spot, distance: u64| moved.start(spot.section, spot.offset.saturating_add(distance));
    let function = start(handler.function, 0)?;
    let pad_base = start(handler.pad_base, 0)?;
    let too_far = ObjcovError::ExceptionTable("call site before its function");
    let mut sites = Vec::with_capacity(handler.lsda.sites.len());
    for site in &handler.lsda.sites {
        let begin = start(handler.function, site.start)?;
        let length = if site.length == 0 {
            0
        } else {
            let end =
                handler.function.offset.saturating_add(site.start).saturating_add(site.length);
            moved
                .end(handler.function.section, end)?
                .checked_sub(begin)
                .ok_or_else(|| too_far.clone())?
        };
        let pad = match site.pad {
            0 => 0,
            pad => start(handler.pad_base, pad)?
                .checked_sub(pad_base)
                .ok_or_else(|| too_far.clone())?,
        };
        let start = begin.checked_sub(function).ok_or_else(|| too_far.clone())?;
        sites.push(Site { start, length, pad, action: site.action });
    }
    Ok(sites)
}

/// Rewrites one unwind table. The relocations' addends are left to the general rewriting.
pub(crate) fn frames(
    object: &Object<'_>,
    table: &FrameTable,
    relas: &[Rela],
    moved: &Moved,
) -> Result<Rewritten, ObjcovError> {
    let data = &object.sections[table.section].data;
    let mut out: Vec<u8> = Vec::with_capacity(data.len() + data.len() / 4);
    let mut new_starts = Vec::with_capacity(table.records.len());
    let mut relas = relas.to_vec();
    let mut next_rela = 0;
    for (record, code) in table.records.iter().zip(&table.code) {
        let (span, new_start) = (&record.span, out.len());
        new_starts.push(new_start);
        match (&record.body, code) {
            (Body::Fde(fde), Some(code)) => {
                // Everything up to the program keeps its place within the record.
                out.extend_from_slice(&data[span.start..fde.program]);
                let back = (new_start + 4).wrapping_sub(new_starts[fde.cie]) as u32;
                out[new_start + 4..new_start + 8].copy_from_slice(&back.to_le_bytes());
                let range = new_range(fde, *code, moved)?;
                let at = fde.begin + fde.pointer_size - span.start + new_start;
                match fde.pointer_size {
                    4 => out[at..at + 4].copy_from_slice(&(range as u32).to_le_bytes()),
                    _ => out[at..at + 8].copy_from_slice(&range.to_le_bytes()),
                }
                program(&mut out, data, fde, *code, moved)?;
                // Readers may rely on records being as aligned as the assembler made them.
                let align = if span.len() % 8 == 0 { 8 } else { 4 };
                let len = align_up((out.len() - new_start) as u64, align) as usize;
                out.resize(new_start + len, 0);
                out[new_start..new_start + 4].copy_from_slice(&(len as u32 - 4).to_le_bytes());
            }
            (Body::Cie(_) | Body::End | Body::Fde(_), _) => {
                out.extend_from_slice(&data[span.clone()])
            }
        }
        while let Some(rela) = relas.get_mut(next_rela).filter(|rela| rela.offset < span.end as u64)
        {
            rela.offset = rela.offset - span.start as u64 + new_start as u64;
            next_rela += 1;
        }
    }
    Ok(Rewritten { section: table.section, data: out, relas })
}

fn new_range(fde: &Fde, code: Spot, moved: &Moved) -> Result<u64, ObjcovError> {
    if fde.range == 0 {
        return Ok(0);
    }
    let start = moved.start(code.section, code.offset)?;
    let end = moved.end(code.section, code.offset.saturating_add(fde.range))?;
    end.checked_sub(start).ok_or(ObjcovError::Unwind("range"))
}

/// Appends the frame program of `fde`, its advances recomputed; padding at its end is dropped.
fn program(
    out: &mut Vec<u8>,
    data: &[u8],
    fde: &Fde,
    code: Spot,
    moved: &Moved,
) -> Result<(), ObjcovError> {
    let is_nop = |op: &Op| matches!(op, Op::Fixed(bytes) if data[bytes.clone()] == [0]);
    let n_ops = fde.ops.iter().rposition(|op| !is_nop(op)).map_or(0, |last| last + 1);
    let mut old = code.offset;
    let mut new = moved.start(code.section, old)?;
    for op in &fde.ops[..n_ops] {
        match op {
            Op::Advance(delta) => {
                old = old.saturating_add(u64::from(*delta));
                let end = code.offset.saturating_add(fde.range);
                let to = if old == end {
                    moved.end(code.section, old)?
                } else {
                    moved.start(code.section, old)?
                };
                let delta = to.checked_sub(new).and_then(|delta| u32::try_from(delta).ok());
                frames::push_advance(out, delta.ok_or(ObjcovError::Unwind("location"))?);
                new = to;
            }
            Op::Fixed(bytes) => out.extend_from_slice(&data[bytes.clone()]),
        }
    }
    Ok(())
}
