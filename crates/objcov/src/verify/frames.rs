//! Frame descriptions, before and after: the same rows, at the copies of the same places.

use std::collections::BTreeMap;

use super::Both;
use super::refs::Labels;
use crate::elf::{Object, Rela};
use crate::relocation::section_of;
use crate::unwind::frames::{self, Body, Fde, Op, Record};
use crate::unwind::rela_at;

/// An exception table pointer, before and after, and the function it is for.
pub(super) struct Pointer {
    pub(super) new_start: u64,
    pub(super) function: (u32, u64, u64),
}

/// Exception tables met, by section and old offset.
pub(super) type Pointers = BTreeMap<u32, BTreeMap<u64, Pointer>>;

/// Compares unwind table `section`; exception tables met go to `pointers`.
pub(super) fn check_frames(
    both: &Both<'_>,
    labels: &mut Labels<'_>,
    section: usize,
    pointers: &mut Pointers,
) -> Result<(), String> {
    let (old_data, new_data) = (&both.old.sections[section].data, &both.new.sections[section].data);
    let old_records = frames::parse(old_data).map_err(|skip| skip.to_string())?;
    let new_records = frames::parse(new_data).map_err(|skip| skip.to_string())?;
    let (old_relas, new_relas) = (&both.old_relas[section], &both.new_relas[section]);
    if old_records.len() != new_records.len() || old_relas.len() != new_relas.len() {
        return Err("records are missing".into());
    }
    for (old_record, new_record) in old_records.iter().zip(&new_records) {
        match (&old_record.body, &new_record.body) {
            (Body::End, Body::End) => {}
            (Body::Cie(old), Body::Cie(new)) => {
                if old_data[old_record.span.clone()] != new_data[new_record.span.clone()] {
                    return Err("common part differs".into());
                }
                if let (Some(old), Some(new)) = (old.personality, new.personality) {
                    field(both, labels, section, (old, new))?;
                }
            }
            (Body::Fde(old), Body::Fde(new)) => {
                let is_same_shape = old.cie == new.cie
                    && old.begin - old_record.span.start == new.begin - new_record.span.start
                    && old.lsda.is_some() == new.lsda.is_some();
                if !is_same_shape {
                    return Err("frame description differs".into());
                }
                let code = field(both, labels, section, (old.begin, new.begin))?;
                let code = code.ok_or("code pointer is not relocated")?;
                if fixed_part(old_data, old_record, old) != fixed_part(new_data, new_record, new) {
                    return Err("frame description differs".into());
                }
                check_rows(labels, code, (old_data, old), (new_data, new))?;
                if let (Some(old_at), Some(new_at)) = (old.lsda, new.lsda) {
                    note_handler(both, section, (old_at, new_at), code, pointers)?;
                }
            }
            _ => return Err("kinds of records differ".into()),
        }
    }
    check_unused(old_relas, &old_records)
}

/// The bytes between the record's head and its program, without the code's length.
fn fixed_part(data: &[u8], record: &Record, fde: &Fde) -> Vec<u8> {
    let range = fde.begin + fde.pointer_size;
    [&data[record.span.start + 8..range], &data[range + fde.pointer_size..fde.program]].concat()
}

/// All relocations were looked at: they stand in fields.
fn check_unused(relas: &[Rela], records: &[Record]) -> Result<(), String> {
    let mut fields = Vec::new();
    for record in records {
        match &record.body {
            Body::Cie(cie) => fields.extend(cie.personality),
            Body::Fde(fde) => fields.extend([Some(fde.begin), fde.lsda].into_iter().flatten()),
            Body::End => {}
        }
    }
    let is_known = |rela: &Rela| fields.binary_search(&(rela.offset as usize)).is_ok();
    if relas.iter().all(is_known) { Ok(()) } else { Err("relocation outside the fields".into()) }
}

/// Compares the relocations at a field; returns the spot both mean, as (section, old, new).
pub(super) fn field(
    both: &Both<'_>,
    labels: &mut Labels<'_>,
    section: usize,
    (old_at, new_at): (usize, usize),
) -> Result<Option<(u32, u64, u64)>, String> {
    let (old_relas, new_relas) = (&both.old_relas[section], &both.new_relas[section]);
    match (rela_at(old_relas, old_at), rela_at(new_relas, new_at)) {
        (None, None) => Ok(None),
        (Some(old), Some(new)) => {
            let (old, new) = (&old_relas[old], &new_relas[new]);
            // Code pointers are no block starts by themselves; functions have symbols anyway.
            labels.check_rela(old, new, 0)?;
            let symbol =
                |object: &Object<'_>, rela: &Rela| object.symbols[rela.symbol as usize].value;
            let old_spot = symbol(both.old, old).wrapping_add_signed(old.addend);
            let new_spot = symbol(both.new, new).wrapping_add_signed(new.addend);
            Ok(section_of(&both.old.symbols[old.symbol as usize])
                .map(|section| (section, old_spot, new_spot)))
        }
        _ => Err("relocation of a field is missing".into()),
    }
}

/// Compares the range and the rows of two frame descriptions.
fn check_rows(
    labels: &Labels<'_>,
    (section, old_start, new_start): (u32, u64, u64),
    (old_data, old): (&[u8], &Fde),
    (new_data, new): (&[u8], &Fde),
) -> Result<(), String> {
    let ends = labels.end(section, old_start.wrapping_add(old.range)).ok_or("range")?;
    let new_end = new_start.wrapping_add(new.range);
    if old.range != new.range && !ends.contains(&new_end) || (old.range == 0) != (new.range == 0) {
        return Err(format!("range at {old_start:#x} differs"));
    }
    let (old_rows, new_rows) = (rows(old_data, old), rows(new_data, new));
    if new.ops.contains(&Op::Advance(0)) || old_rows.len() != new_rows.len() {
        return Err(format!("rows at {old_start:#x} differ"));
    }
    for ((old_at, old_op), (new_at, new_op)) in old_rows.into_iter().zip(new_rows) {
        let (old_at, new_at) = (old_start.wrapping_add(old_at), new_start.wrapping_add(new_at));
        let is_placed = labels.is_copy(section, old_at, new_at)
            || old_at == old_start.wrapping_add(old.range) && new_at == new_end;
        if !is_placed || old_op != new_op {
            return Err(format!("row at {old_at:#x} differs"));
        }
    }
    Ok(())
}

/// The operations of a frame program and the distances from its start they hold from.
fn rows<'d>(data: &'d [u8], fde: &Fde) -> Vec<(u64, &'d [u8])> {
    let mut at = 0;
    let mut rows = Vec::new();
    for op in &fde.ops {
        match op {
            Op::Advance(delta) => at += u64::from(*delta),
            Op::Fixed(bytes) if data[bytes.clone()] == [0] => {}
            Op::Fixed(bytes) => rows.push((at, &data[bytes.clone()])),
        }
    }
    rows.push((at, &[])); // An advance that nothing follows counts too.
    rows
}

/// Notes the exception table of `function`, if it has one.
fn note_handler(
    both: &Both<'_>,
    section: usize,
    (old_at, new_at): (usize, usize),
    function: (u32, u64, u64),
    pointers: &mut Pointers,
) -> Result<(), String> {
    let (old_relas, new_relas) = (&both.old_relas[section], &both.new_relas[section]);
    let (old, new) = match (rela_at(old_relas, old_at), rela_at(new_relas, new_at)) {
        (None, None) => return Ok(()),
        (Some(old), Some(new)) => (&old_relas[old], &new_relas[new]),
        _ => return Err("exception table pointer is missing".into()),
    };
    if old.kind != new.kind || both.old_number(new.symbol) != Some(old.symbol) {
        return Err("exception table pointer differs".into());
    }
    let (old_symbol, new_symbol) =
        (&both.old.symbols[old.symbol as usize], &both.new.symbols[new.symbol as usize]);
    let table = section_of(old_symbol).ok_or("exception table pointer leads nowhere")?;
    let old_start = old_symbol.value.wrapping_add_signed(old.addend);
    let new_start = new_symbol.value.wrapping_add_signed(new.addend);
    pointers.entry(table).or_default().insert(old_start, Pointer { new_start, function });
    Ok(())
}
