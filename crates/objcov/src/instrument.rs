//! Object bytes -> instrumented object bytes and index: the stages in order.
//!
//! Read, look, decode, find blocks, lay out, rewrite, write, verify. Every stage is elsewhere; this file
//! only passes their results on.

use std::borrow::Cow;
use std::collections::BTreeMap;

use object::elf;

use crate::elf::{Object, Rela, Section, read, write};
use crate::emit::{self, Emitted};
use crate::error::ObjcovError;
use crate::functions::Functions;
use crate::index::{self, FunctionIndex};
use crate::layout;
use crate::leaders::{self, Blocks};
use crate::moved::Moved;
use crate::probe::{self, PROBE_SECTION};
use crate::references::{self, Facts};
use crate::relocation::Reference;
use crate::survey;
use crate::symbols::{self, ProbeSymbol};
use crate::text;
use crate::unwind::{self, rewrite};
use crate::verify;

/// What the caller decides about an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// A number unique among the objects of a program; part of the probe symbols' names.
    pub object_id: u32,
}

/// An object with probes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instrumented {
    /// The relocatable object.
    pub bytes: Vec<u8>,
    /// Its functions and blocks, by section and offset.
    pub functions: Vec<FunctionIndex>,
}

/// Instruments a relocatable x86-64 ELF object.
///
/// # Errors
/// A [`ObjcovError`] says why the object must be used as it is.
pub fn instrument_object(bytes: &[u8], options: &Options) -> Result<Instrumented, ObjcovError> {
    let object = read::parse(bytes)?;
    let facts = facts(&object)?;
    let references = references::collect(&object, &facts)?;
    let blocks = leaders::find(&object, &facts, &references)?;
    let (output, functions) = rewrite_object(&object, &facts, &references, &blocks, options)?;
    verify::verify(&object, &output, &functions).map_err(ObjcovError::VerifyFailed)?;
    Ok(Instrumented { bytes: output, functions })
}

/// Gathers what is known before anything moves.
pub(crate) fn facts(object: &Object<'_>) -> Result<Facts, ObjcovError> {
    let survey = survey::survey(object)?;
    let relas = references::sorted_relas(object, &survey.dropped)?;
    let mut texts = BTreeMap::new();
    for &section in &survey.texts {
        let text = text::decode(section as u32, &object.sections[section], &relas[section])?;
        texts.insert(section as u32, text);
    }
    let functions = Functions::collect(object, &survey.texts)?;
    let unwind = unwind::collect(object, &survey.frames, &relas)?;
    Ok(Facts { survey, relas, texts, functions, unwind })
}

fn rewrite_object(
    object: &Object<'_>,
    facts: &Facts,
    references: &[Reference],
    blocks: &BTreeMap<u32, Blocks>,
    options: &Options,
) -> Result<(Vec<u8>, Vec<FunctionIndex>), ObjcovError> {
    let mut moved = Moved::default();
    let mut layouts = BTreeMap::new();
    for (&section, text) in &facts.texts {
        let layout = layout::lay_out(text, &blocks[&section])?;
        moved.maps.insert(section, layout.offset_map(text, &blocks[&section]));
        layouts.insert(section, layout);
    }
    let mut out = object.clone();
    // Offsets in exception tables are needed for the addends, which the tables' relocations carry along.
    let mut relas = facts.relas.clone();
    let mut tables = rewrite::handlers(object, &facts.unwind, &relas, &mut moved)?;
    symbols::move_values(&mut out, &moved)?;
    for reference in references {
        let rela = &mut relas[reference.from as usize][reference.rela_idx as usize];
        rela.addend = new_addend(object, &out, reference, rela, &moved)?;
    }
    for table in &mut tables {
        for (rela, moved) in table.relas.iter_mut().zip(&relas[table.section]) {
            rela.addend = moved.addend;
        }
    }
    for table in &facts.unwind.tables {
        tables.push(rewrite::frames(object, table, &relas[table.section], &moved)?);
    }
    for table in tables {
        out.set_data(table.section, table.data);
        relas[table.section] = table.relas;
    }

    let mut functions = Vec::new();
    let group_of = object.groups();
    let mut additions = Additions::default();
    for (&section, text) in &facts.texts {
        let index = section as usize;
        // Probe symbols are numbered behind the old local ones; old numbers are shifted further below.
        let symbol = PROBE_BASE + additions.symbols.len() as u32;
        let data = &object.sections[index].data;
        let emitted =
            emit::emit(text, &blocks[&section], &layouts[&section], data, &relas[index], symbol)?;
        let Emitted { data, relas: new_relas, blocks } = emitted;
        let is_comdat = group_of[index]
            .and_then(|group| object.group(group))
            .is_some_and(|(flags, _)| flags & elf::GRP_COMDAT != 0);
        functions.extend(index::functions(
            object,
            section,
            &facts.functions[&section],
            &blocks,
            options.object_id,
            is_comdat,
        ));
        out.set_data(index, data);
        relas[index] = new_relas;
        if !blocks.is_empty() {
            additions.marks(&mut out, index, blocks.len() as u32, group_of[index], options);
        }
    }
    finish(&mut out, facts, relas, &group_of, additions);
    Ok((write::write(out), functions))
}

/// Added to probe symbol numbers until the final numbering is known. No object has this many symbols:
/// the symbol table alone would pass the size limit.
const PROBE_BASE: u32 = 1 << 30;

/// The addend that makes `rela` mean the same spot as before.
fn new_addend(
    old: &Object<'_>,
    new: &Object<'_>,
    reference: &Reference,
    rela: &Rela,
    moved: &Moved,
) -> Result<i64, ObjcovError> {
    let symbol = rela.symbol as usize;
    let old_distance = reference.target.wrapping_sub(old.symbols[symbol].value);
    let new_target = moved.start(reference.section, reference.target)?;
    let new_distance = new_target.wrapping_sub(new.symbols[symbol].value);
    Ok(rela.addend.wrapping_add(new_distance.wrapping_sub(old_distance) as i64))
}

/// What is appended to an object.
#[derive(Debug, Default)]
struct Additions {
    symbols: Vec<ProbeSymbol>,
    /// Sections that join a group, by group.
    members: BTreeMap<usize, Vec<u32>>,
    marks_name: Option<u32>,
}

impl Additions {
    /// Adds the section and symbol of the marks of text section `text`.
    fn marks(
        &mut self,
        out: &mut Object<'_>,
        text: usize,
        n_blocks: u32,
        group: Option<usize>,
        options: &Options,
    ) {
        let table = out.shstrtab;
        let name_offset =
            *self.marks_name.get_or_insert_with(|| out.add_name(table, PROBE_SECTION.as_bytes()));
        let flags = u64::from(elf::SHF_ALLOC | elf::SHF_WRITE);
        let section = self.section(
            out,
            group,
            Section {
                name_offset,
                kind: elf::SHT_NOBITS,
                flags,
                addr: 0,
                size: u64::from(n_blocks),
                link: 0,
                info: 0,
                align: 1,
                entsize: 0,
                data: Cow::Borrowed(&[]),
            },
        );
        let name = probe::symbol_name(options.object_id, text as u32);
        self.symbols.push(ProbeSymbol { name, section, n_blocks });
        if out.rela_of[text].is_none() {
            let name = [b".rela", out.section_name(text)].concat();
            let name_offset = out.add_name(table, &name);
            let link = out.symtab as u32;
            let rela = self.section(
                out,
                group,
                Section {
                    name_offset,
                    kind: elf::SHT_RELA,
                    flags: u64::from(elf::SHF_INFO_LINK),
                    addr: 0,
                    size: 0,
                    link,
                    info: text as u32,
                    align: 8,
                    entsize: 24,
                    data: Cow::Borrowed(&[]),
                },
            );
            out.rela_of[text] = Some(rela as usize);
        }
    }

    fn section<'a>(
        &mut self,
        out: &mut Object<'a>,
        group: Option<usize>,
        mut section: Section<'a>,
    ) -> u32 {
        let index = out.sections.len() as u32;
        if let Some(group) = group {
            section.flags |= u64::from(elf::SHF_GROUP);
            self.members.entry(group).or_default().push(index);
        }
        out.sections.push(section);
        out.rela_of.push(None);
        index
    }
}

/// Gives everything its final number: symbols, group members, relocations.
fn finish(
    out: &mut Object<'_>,
    facts: &Facts,
    mut relas: Vec<Vec<Rela>>,
    group_of: &[Option<usize>],
    additions: Additions,
) {
    let n_locals = out.n_locals;
    let n_added = additions.symbols.len();
    let dropped = &facts.survey.dropped;
    for (index, is_dropped) in dropped.iter().enumerate() {
        if *is_dropped {
            let blank = Section { data: Cow::Borrowed(&[]), ..out.sections[0].clone() };
            out.sections[index] = blank;
        }
    }
    for (index, relas) in relas.iter_mut().enumerate() {
        let Some(rela_section) = out.rela_of[index].filter(|_| !dropped[index]) else {
            continue;
        };
        for rela in relas.iter_mut() {
            rela.symbol = match rela.symbol.checked_sub(PROBE_BASE) {
                Some(probe) => n_locals as u32 + probe,
                None => symbols::renumber(rela.symbol, n_locals, n_added),
            };
        }
        out.set_relas(rela_section, relas);
    }
    for index in 0..group_of.len() {
        if out.sections[index].kind != elf::SHT_GROUP {
            continue;
        }
        let info = symbols::renumber(out.sections[index].info, n_locals, n_added);
        out.sections[index].info = info;
        if let Some((flags, mut members)) = out.group(index) {
            members.retain(|&member| !dropped.get(member as usize).copied().unwrap_or(false));
            members.extend(additions.members.get(&index).into_iter().flatten());
            // A group of debug information only: linkers reject groups without members.
            if members.is_empty() {
                out.sections[index] = out.sections[0].clone();
                continue;
            }
            let words = [flags].into_iter().chain(members);
            out.set_data(index, words.flat_map(u32::to_le_bytes).collect());
        }
    }
    symbols::add_probes(out, &additions.symbols);
}
