//! Unwind tables as a whole, and exception tables: the same call sites, landing pads and types.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Both;
use super::frames::{Pointer, Pointers, check_frames, field};
use super::refs::Labels;
use crate::elf::Rela;
use crate::unwind::lsda::{self, Lsda};

/// Compares all unwind tables of the objects.
pub(super) fn check(both: &Both<'_>, labels: &mut Labels<'_>) -> Result<(), String> {
    let mut pointers = Pointers::new();
    for section in 1..both.old.sections.len() {
        if both.is_unwind_table(section) {
            check_frames(both, labels, section, &mut pointers)
                .map_err(|what| format!("unwind table: {what}"))?;
        }
    }
    for section in (1..both.old.sections.len()).filter(|&section| both.is_exception_table(section))
    {
        let own = pointers.remove(&(section as u32)).unwrap_or_default();
        check_handlers(both, labels, section, &own)
            .map_err(|what| format!("exception table: {what}"))?;
    }
    if !pointers.is_empty() {
        return Err("exception table in an unknown section".into());
    }
    Ok(())
}

/// Compares the exception tables of one section.
fn check_handlers(
    both: &Both<'_>,
    labels: &mut Labels<'_>,
    section: usize,
    pointers: &BTreeMap<u64, Pointer>,
) -> Result<(), String> {
    let (old_data, new_data) = (&both.old.sections[section].data, &both.new.sections[section].data);
    let (old_relas, new_relas) = (&both.old_relas[section], &both.new_relas[section]);
    if old_relas.len() != new_relas.len() {
        return Err("relocations are missing".into());
    }
    if pointers.is_empty() {
        // Tables without an owner: they stayed as they were.
        let is_same =
            |(old, new): (&Rela, &Rela)| old.offset == new.offset && old.addend == new.addend;
        let is_kept = old_data == new_data && old_relas.iter().zip(new_relas).all(is_same);
        return if is_kept { Ok(()) } else { Err("unused table differs".into()) };
    }
    let mut ends = BTreeMap::new();
    let old_ends = pointers.keys().skip(1).copied().chain([old_data.len() as u64]);
    let new_ends = pointers.values().skip(1).map(|p| p.new_start).chain([new_data.len() as u64]);
    for (((&old_start, pointer), old_end), new_end) in pointers.iter().zip(old_ends).zip(new_ends) {
        let parse = |data: &[u8], start: u64, end: u64| {
            lsda::parse(data, start as usize..end as usize).map_err(|skip| skip.to_string())
        };
        ends.insert(old_end, new_end);
        let old = parse(old_data, old_start, old_end)?;
        let new = parse(new_data, pointer.new_start, new_end)?;
        let is_same = old.encodings(old_data) == new.encodings(new_data)
            && old.types_after_tail(old_data) == new.types_after_tail(new_data)
            && old_data[old.tail..old.span.end] == new_data[new.tail..new.span.end]
            && old.sites.len() == new.sites.len()
            && old.pad_base.is_some() == new.pad_base.is_some();
        if !is_same {
            return Err(format!("table at {old_start:#x} differs"));
        }
        check_tail_relas(both, labels, section, &old, &new)?;
        let base = match (old.pad_base, new.pad_base) {
            (Some(old), Some(new)) => {
                field(both, labels, section, (old, new))?.ok_or("landing pad base")?
            }
            _ => pointer.function,
        };
        check_sites(labels, pointer.function, base, &old, &new)?;
    }
    for (number, symbol) in both.old.symbols.iter().enumerate() {
        if !symbol.is_in(section) {
            continue;
        }
        let new = both.new_symbol(number);
        if symbol.is_section() && (symbol.value, symbol.size) == (new.value, new.size) {
            continue;
        }
        let new_end = ends.get(&symbol.value.wrapping_add(symbol.size)).copied();
        let is_start = match symbol.value {
            0 => new.value == 0,
            value => pointers.get(&value).is_some_and(|pointer| pointer.new_start == new.value),
        };
        let is_end = match symbol.size {
            0 => new.size == 0,
            _ => new_end == Some(new.value.wrapping_add(new.size)),
        };
        if !is_start || !is_end {
            return Err(format!("symbol {number} differs"));
        }
    }
    Ok(())
}

fn check_tail_relas(
    both: &Both<'_>,
    labels: &mut Labels<'_>,
    section: usize,
    old: &Lsda,
    new: &Lsda,
) -> Result<(), String> {
    let range = |relas: &[Rela], span: Range<usize>| {
        let upto = |end: usize| relas.partition_point(|rela| rela.offset < end as u64);
        upto(span.start)..upto(span.end)
    };
    let old_relas =
        &both.old_relas[section][range(&both.old_relas[section], old.tail..old.span.end)];
    let new_relas =
        &both.new_relas[section][range(&both.new_relas[section], new.tail..new.span.end)];
    if old_relas.len() != new_relas.len() {
        return Err("type references are missing".into());
    }
    for (old_rela, new_rela) in old_relas.iter().zip(new_relas) {
        if old_rela.offset - old.tail as u64 != new_rela.offset - new.tail as u64 {
            return Err("type references moved".into());
        }
        labels.check_rela(old_rela, new_rela, 0)?;
    }
    Ok(())
}

fn check_sites(
    labels: &mut Labels<'_>,
    (section, old_start, new_start): (u32, u64, u64),
    (pad_section, old_base, new_base): (u32, u64, u64),
    old: &Lsda,
    new: &Lsda,
) -> Result<(), String> {
    for (old, new) in old.sites.iter().zip(&new.sites) {
        let (old_at, new_at) =
            (old_start.wrapping_add(old.start), new_start.wrapping_add(new.start));
        let ends = labels.end(section, old_at.wrapping_add(old.length)).ok_or("call site")?;
        let is_same = old.action == new.action
            && (old.pad == 0) == (new.pad == 0)
            && (old.length == 0) == (new.length == 0)
            && labels.is_copy(section, old_at, new_at)
            && (old.length == 0 || ends.contains(&new_at.wrapping_add(new.length)));
        if !is_same {
            return Err(format!("call site at {old_at:#x} differs"));
        }
        if old.pad != 0 {
            labels.meet(
                pad_section,
                old_base.wrapping_add(old.pad),
                new_base.wrapping_add(new.pad),
            )?;
        }
    }
    Ok(())
}
