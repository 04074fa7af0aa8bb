//! Where basic blocks start, and which instructions get a probe.
//!
//! A block starts where control can arrive other than from the instruction before it: symbols, branch
//! and table targets, address-taken labels, landing pads; and after a conditional branch.
//! Code that nothing can reach and that is not padding is taken for data: the object is refused.

use std::collections::BTreeMap;

use crate::elf::Object;
use crate::error::ObjcovError;
use crate::functions::Functions;
use crate::references::Facts;
use crate::relocation::{Reference, section_of};
use crate::text::{Flow, Form, Role, Text};

/// The blocks of one text section.
#[derive(Debug, Clone)]
pub(crate) struct Blocks {
    /// Per instruction: starts a block.
    pub(crate) leaders: Vec<bool>,
    /// Per instruction: gets a probe. Leaders outside all functions get none.
    pub(crate) probed: Vec<bool>,
    /// Per instruction: something jumps, calls or falls there, not just mentions it.
    reached: Vec<bool>,
    /// Instructions with symbols, and the alignment their addresses have and must keep.
    pub(crate) aligned: Vec<(u32, u32)>,
}

/// What a label is known for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mention {
    /// Control comes here.
    Reached,
    /// Its address is taken, or it has a name: may be data.
    Named,
}

/// Alignment of symbols beyond a page is not kept.
const MAX_ALIGN: u64 = 4096;

/// Finds the blocks of every text section.
pub(crate) fn find(
    object: &Object<'_>,
    facts: &Facts,
    references: &[Reference],
) -> Result<BTreeMap<u32, Blocks>, ObjcovError> {
    let mut blocks = BTreeMap::new();
    for (&section, text) in &facts.texts {
        let n_insns = text.insns.len();
        let none = vec![false; n_insns];
        let mut own =
            Blocks { leaders: none.clone(), probed: none.clone(), reached: none, aligned: vec![] };
        for fixup in &text.fixups {
            let mention = match fixup.form {
                Form::Operand(_) => Mention::Named,
                Form::Jmp | Form::Jcc | Form::Short | Form::Long => Mention::Reached,
            };
            mark(&mut own, text, u64::from(fixup.target), mention)?;
        }
        for (index, insn) in text.insns.iter().enumerate() {
            if insn.flow == Flow::Branch && index + 1 < n_insns {
                own.leaders[index + 1] = true;
                own.reached[index + 1] = true;
            }
        }
        blocks.insert(section, own);
    }
    let mut mark_in = |section: u32, offset: u64, mention: Mention| match (
        blocks.get_mut(&section),
        facts.texts.get(&section),
    ) {
        (Some(own), Some(text)) => mark(own, text, offset, mention),
        _ => Ok(()),
    };
    for reference in references {
        // Words in data that point into code are jump tables; in code, mentions need not be jumps.
        let taker =
            facts.texts.get(&reference.from).map(|text| &text.relas[reference.rela_idx as usize]);
        let is_taken = taker.is_some_and(|place| place.takes_address);
        let mention = if is_taken { Mention::Named } else { Mention::Reached };
        mark_in(reference.section, reference.target, mention)?;
    }
    for pad in
        facts.unwind.handlers.values().flat_map(|handlers| handlers.values()).flat_map(|h| h.pads())
    {
        mark_in(pad.section, pad.offset, Mention::Reached)?;
    }
    mark_symbols(object, facts, &mut blocks)?;
    for (section, own) in &mut blocks {
        let (text, functions) = (&facts.texts[section], &facts.functions[section]);
        check_label_arithmetic(text, functions, references)?;
        check(text, own)?;
        for (index, insn) in text.insns.iter().enumerate() {
            own.probed[index] =
                own.leaders[index] && functions.owner(u64::from(insn.off)).is_some();
        }
    }
    Ok(blocks)
}

fn mark(
    blocks: &mut Blocks,
    text: &Text,
    offset: u64,
    mention: Mention,
) -> Result<(), ObjcovError> {
    let insn = text.insn_at(offset)?;
    // The end of the section is a legal target: compilers let impossible cases point there.
    if insn < text.insns.len() {
        blocks.leaders[insn] = true;
        blocks.reached[insn] |= mention == Mention::Reached;
    }
    Ok(())
}

fn mark_symbols(
    object: &Object<'_>,
    facts: &Facts,
    blocks: &mut BTreeMap<u32, Blocks>,
) -> Result<(), ObjcovError> {
    for symbol in object.symbols.iter().filter(|symbol| !symbol.is_section()) {
        let Some(section) = section_of(symbol) else {
            continue;
        };
        let (Some(own), Some(text)) = (blocks.get_mut(&section), facts.texts.get(&section)) else {
            continue;
        };
        if symbol.kind() == object::elf::STT_OBJECT {
            return Err(ObjcovError::DataInText { section, offset: symbol.value });
        }
        let mention = if symbol.is_function() { Mention::Reached } else { Mention::Named };
        mark(own, text, symbol.value, mention)?;
        text.insn_at(symbol.value.saturating_add(symbol.size))?;
        if symbol.value != 0 && symbol.value < u64::from(text.size) {
            let natural = 1 << symbol.value.trailing_zeros();
            let align = object.sections[section as usize].align.max(1).min(natural).min(MAX_ALIGN);
            own.aligned.push((text.insn_at(symbol.value)? as u32, align as u32));
        }
    }
    for own in blocks.values_mut() {
        own.aligned.sort_unstable();
        own.aligned.dedup();
    }
    Ok(())
}

/// Refuses unreached code behind a jump, and blocks that would split a pinned pair.
fn check(text: &Text, blocks: &Blocks) -> Result<(), ObjcovError> {
    let mut is_dead = true;
    for (index, insn) in text.insns.iter().enumerate() {
        let offset = u64::from(insn.off);
        is_dead &= !blocks.reached[index];
        if blocks.leaders[index] && insn.role == Role::Pinned {
            return Err(ObjcovError::TlsSequence { section: text.section, offset });
        }
        if is_dead && insn.role != Role::Inert {
            return Err(ObjcovError::DataInText { section: text.section, offset });
        }
        is_dead |= matches!(insn.flow, Flow::Jump | Flow::Indirect | Flow::Stop);
    }
    Ok(())
}

/// Refuses functions that take a label's address and jump indirectly.
///
/// Such code may add constants the assembler computed as label differences; they leave no relocation.
fn check_label_arithmetic(
    text: &Text,
    functions: &Functions,
    references: &[Reference],
) -> Result<(), ObjcovError> {
    let operands = text.fixups.iter().filter(|fixup| matches!(fixup.form, Form::Operand(_)));
    let mut taken = operands.map(|fixup| (fixup.insn, u64::from(fixup.target))).collect::<Vec<_>>();
    // The list is ordered by where references come from.
    let first = references.partition_point(|reference| reference.from < text.section);
    let own = references[first..].iter().take_while(|reference| reference.from == text.section);
    for reference in own.filter(|reference| reference.section == text.section) {
        let place = &text.relas[reference.rela_idx as usize];
        if place.takes_address {
            taken.push((place.insn, reference.target));
        }
    }
    // A call of the next instruction asks for its own address.
    let is_self = |insn: u32, target: u32| {
        text.insns.get(insn as usize + 1).is_some_and(|next| next.off == target)
    };
    let is_call = |insn: u32| text.insns[insn as usize].flow == Flow::Next;
    let mut calls =
        text.fixups.iter().filter(|fixup| fixup.form == Form::Long && is_call(fixup.insn));
    if let Some(call) = calls.find(|call| is_self(call.insn, call.target)) {
        let offset = u64::from(text.insns[call.insn as usize].off);
        return Err(ObjcovError::LabelArithmetic { section: text.section, offset });
    }
    // Number of indirect jumps in front of each instruction.
    let mut n_indirect = vec![0u32; text.insns.len() + 1];
    for (index, insn) in text.insns.iter().enumerate() {
        n_indirect[index + 1] = n_indirect[index] + u32::from(insn.flow == Flow::Indirect);
    }
    for (insn, target) in taken {
        if functions.starts_at(target) {
            continue;
        }
        let offset = u64::from(text.insns[insn as usize].off);
        let owner = functions.owner(offset);
        let (start, end) =
            owner.map_or((0, u64::from(text.size)), |function| (function.start, function.end));
        let upto =
            |end: u64| n_indirect[text.insns.partition_point(|insn| u64::from(insn.off) < end)];
        if upto(start) != upto(end) {
            return Err(ObjcovError::LabelArithmetic { section: text.section, offset });
        }
    }
    Ok(())
}

#[cfg(test)]
impl Blocks {
    /// Blocks at the instructions numbered `probed`, for tests of later stages.
    pub(crate) fn for_test(n_insns: usize, probed: &[usize], aligned: &[(u32, u32)]) -> Blocks {
        let leaders = (0..n_insns).map(|insn| probed.contains(&insn)).collect::<Vec<_>>();
        let aligned = aligned.to_vec();
        Blocks { probed: leaders.clone(), reached: leaders.clone(), leaders, aligned }
    }
}
