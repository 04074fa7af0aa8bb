//! Every relocation that points into a section whose contents move, with the exact spot it means.
//!
//! The list serves twice: its targets start blocks, and its addends are recomputed after layout.
//! **Invariant:** a relocation into moving contents is either in the list or the object is refused.

use std::collections::{BTreeMap, HashMap};

use crate::elf::{Object, Rela};
use crate::error::ObjcovError;
use crate::functions::Functions;
use crate::relocation::{self, Reference};
use crate::survey::Survey;
use crate::tables::{self, Bases};
use crate::text::Text;
use crate::unwind::Unwind;

/// What is known about an object before anything moves.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) survey: Survey,
    /// Per section, its relocations sorted by offset; empty for dropped sections.
    pub(crate) relas: Vec<Vec<Rela>>,
    pub(crate) texts: BTreeMap<u32, Text>,
    pub(crate) functions: HashMap<u32, Functions>,
    pub(crate) unwind: Unwind,
}

impl Facts {
    /// Whether the contents of `section` get new offsets.
    pub(crate) fn moves(&self, section: u32) -> bool {
        self.texts.contains_key(&section) || self.unwind.handlers.contains_key(&section)
    }
}

/// Reads all relocations, sorted, per section they apply to.
pub(crate) fn sorted_relas(
    object: &Object<'_>,
    dropped: &[bool],
) -> Result<Vec<Vec<Rela>>, ObjcovError> {
    let is_dropped = |rela: &Rela| {
        relocation::section_of(&object.symbols[rela.symbol as usize])
            .is_some_and(|section| dropped[section as usize])
    };
    let mut all = vec![Vec::new(); object.sections.len()];
    for (index, relas) in all.iter_mut().enumerate() {
        let Some(rela_section) = object.rela_of[index].filter(|_| !dropped[index]) else {
            continue;
        };
        *relas = object.relas(rela_section)?;
        relas.sort_by_key(|rela| rela.offset); // Stable: relocations at one offset keep their order.
        if relas.iter().any(is_dropped) {
            return Err(ObjcovError::Unsupported("reference to debug information"));
        }
        if relas.last().is_some_and(|rela| rela.offset >= object.sections[index].size) {
            return Err(ObjcovError::Malformed("relocation past its section"));
        }
    }
    Ok(all)
}

/// Lists the references of the whole object.
pub(crate) fn collect(object: &Object<'_>, facts: &Facts) -> Result<Vec<Reference>, ObjcovError> {
    let mut bases = Bases::default();
    for &section in &facts.survey.texts {
        if let Some(text) = facts.texts.get(&(section as u32)) {
            bases.add(object, text, &facts.relas[section]);
        }
    }
    let mut references = Vec::new();
    for (index, relas) in facts.relas.iter().enumerate() {
        let from = index as u32;
        let runs = if facts.texts.contains_key(&from) { vec![] } else { tables::runs(relas) };
        for (rela_idx, rela) in relas.iter().enumerate() {
            let symbol = &object.symbols[rela.symbol as usize];
            if !relocation::section_of(symbol).is_some_and(|section| facts.moves(section)) {
                continue;
            }
            let bias = match facts.texts.get(&from) {
                Some(text) => text.relas[rela_idx].bias,
                None if relocation::is_absolute(rela.kind) => 0,
                None if facts.survey.frames.contains(&index)
                    || facts.unwind.handlers.contains_key(&from) =>
                {
                    0
                }
                // A call or jump in code that stays where it is.
                None if object.is_text(index) => 4,
                None => tables::bias(object, &facts.functions, &bases, from, rela, runs[rela_idx])?,
            };
            references.push(relocation::reference(object, from, rela_idx as u32, rela, bias)?);
        }
    }
    Ok(references)
}
