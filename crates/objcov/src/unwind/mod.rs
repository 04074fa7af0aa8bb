//! Unwind and exception tables: found here, rewritten in [`rewrite`].
//!
//! [`collect`] ties each frame description to its code and each exception table to its function, so
//! that landing pads become blocks before anything moves.

pub(crate) mod frames;
pub(crate) mod lsda;
pub(crate) mod rewrite;

use std::collections::BTreeMap;

use crate::elf::{Object, Rela};
use crate::error::ObjcovError;
use crate::relocation;
use frames::{Body, Record};
use lsda::Lsda;

/// A place in a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spot {
    pub(crate) section: u32,
    pub(crate) offset: u64,
}

/// An `.eh_frame` section.
#[derive(Debug)]
pub(crate) struct FrameTable {
    pub(crate) section: usize,
    pub(crate) records: Vec<Record>,
    /// Per record: where the described code starts, for frame descriptions.
    pub(crate) code: Vec<Option<Spot>>,
}

/// An exception table and the code it belongs to.
#[derive(Debug)]
pub(crate) struct Handler {
    pub(crate) lsda: Lsda,
    pub(crate) function: Spot,
    /// What landing pads are counted from.
    pub(crate) pad_base: Spot,
}

/// All tables of an object.
#[derive(Debug, Default)]
pub(crate) struct Unwind {
    pub(crate) tables: Vec<FrameTable>,
    /// Handlers by the section and offset of their exception table.
    pub(crate) handlers: BTreeMap<u32, BTreeMap<u64, Handler>>,
}

/// Reads the unwind tables `frame_sections` and the exception tables they point to.
///
/// `relas` gives each section's relocations, sorted by offset.
pub(crate) fn collect(
    object: &Object<'_>,
    frame_sections: &[usize],
    relas: &[Vec<Rela>],
) -> Result<Unwind, ObjcovError> {
    let mut unwind = Unwind::default();
    let mut owners: BTreeMap<u32, BTreeMap<u64, Spot>> = BTreeMap::new();
    for &section in frame_sections {
        let records = frames::parse(&object.sections[section].data)?;
        let relas = &relas[section];
        let mut code = vec![None; records.len()];
        let mut n_used = 0;
        for (record, code) in records.iter().zip(&mut code) {
            match &record.body {
                Body::Cie(cie) => {
                    n_used += cie.personality.and_then(|at| rela_at(relas, at)).map_or(0, |_| 1);
                }
                Body::Fde(fde) => {
                    let begin = rela_at(relas, fde.begin)
                        .ok_or(ObjcovError::Unwind("code pointer is not relocated"))?;
                    let function = spot(object, section, relas, begin)?;
                    *code = Some(function);
                    n_used += 1;
                    if let Some(pointer) = fde.lsda.and_then(|at| rela_at(relas, at)) {
                        n_used += 1;
                        let table = spot(object, section, relas, pointer)?;
                        let previous =
                            owners.entry(table.section).or_default().insert(table.offset, function);
                        if previous.is_some() {
                            return Err(ObjcovError::ExceptionTable("shared by two functions"));
                        }
                    }
                }
                Body::End => {}
            }
        }
        if n_used != relas.len() {
            return Err(ObjcovError::Unwind("unexpected relocation"));
        }
        unwind.tables.push(FrameTable { section, records, code });
    }
    for (section, owners) in owners {
        let handlers = handlers(object, section, &owners, relas)?;
        unwind.handlers.insert(section, handlers);
    }
    Ok(unwind)
}

/// Reads every exception table of one section.
fn handlers(
    object: &Object<'_>,
    section: u32,
    owners: &BTreeMap<u64, Spot>,
    relas: &[Vec<Rela>],
) -> Result<BTreeMap<u64, Handler>, ObjcovError> {
    let is_known = object.section_name(section as usize).starts_with(b".gcc_except_table")
        && object.sections[section as usize].kind == object::elf::SHT_PROGBITS;
    if !is_known {
        return Err(ObjcovError::ExceptionTable("unknown kind"));
    }
    let data = &object.sections[section as usize].data;
    let ends = owners.keys().skip(1).copied().chain([data.len() as u64]);
    let mut handlers = BTreeMap::new();
    for ((&start, &function), end) in owners.iter().zip(ends) {
        let lsda = lsda::parse(data, start as usize..end as usize)?;
        let relas = &relas[section as usize];
        let pad_base = match lsda.pad_base {
            None => function,
            Some(at) => {
                let rela =
                    rela_at(relas, at).ok_or(ObjcovError::ExceptionTable("landing pad base"))?;
                spot(object, section as usize, relas, rela)?
            }
        };
        handlers.insert(start, Handler { lsda, function, pad_base });
    }
    Ok(handlers)
}

/// The number of the relocation at `offset`.
pub(crate) fn rela_at(relas: &[Rela], offset: usize) -> Option<usize> {
    let index = relas.partition_point(|rela| rela.offset < offset as u64);
    (relas.get(index)?.offset == offset as u64).then_some(index)
}

/// Where a pointer in an unwind table points. Such pointers count from their own place, or not at all.
fn spot(
    object: &Object<'_>,
    from: usize,
    relas: &[Rela],
    index: usize,
) -> Result<Spot, ObjcovError> {
    let reference = relocation::reference(object, from as u32, index as u32, &relas[index], 0)?;
    Ok(Spot { section: reference.section, offset: reference.target })
}

impl Handler {
    /// Where the landing pads are.
    pub(crate) fn pads(&self) -> impl Iterator<Item = Spot> + '_ {
        let base = self.pad_base;
        let pads = self.lsda.sites.iter().filter(|site| site.pad != 0);
        pads.map(move |site| Spot {
            section: base.section,
            offset: base.offset.saturating_add(site.pad),
        })
    }
}
