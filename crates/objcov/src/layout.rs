//! Text section + blocks -> new offsets: probes inserted, branches as short as they can be.
//!
//! All jumps start short and only ever grow, so the search ends; alignment gaps may shrink meanwhile,
//! which is why every round looks at every jump again.

use crate::bytes::align_up;
use crate::error::ObjcovError;
use crate::leaders::Blocks;
use crate::moved::OffsetMap;
use crate::probe::PROBE_LEN;
use crate::text::{Fixup, Form, Role, Text};

/// After this many rounds all remaining short jumps are widened, so hostile input cannot make it slow.
const MAX_ROUNDS: usize = 64;

/// The new places of one section's instructions.
#[derive(Debug)]
pub(crate) struct Layout {
    /// Per instruction: where references to it lead (its probe, if it has one).
    pub(crate) labels: Vec<u32>,
    /// Per instruction: where its own bytes are.
    pub(crate) bodies: Vec<u32>,
    /// Per fixup: uses the long form.
    pub(crate) is_long: Vec<bool>,
    pub(crate) size: u32,
}

/// Assigns new offsets.
pub(crate) fn lay_out(text: &Text, blocks: &Blocks) -> Result<Layout, ObjcovError> {
    let mut layout = Layout {
        labels: vec![0; text.insns.len()],
        bodies: vec![0; text.insns.len()],
        is_long: vec![false; text.fixups.len()],
        size: 0,
    };
    for round in 0.. {
        layout.place(text, blocks)?;
        let mut has_grown = false;
        for (index, fixup) in text.fixups.iter().enumerate() {
            if layout.is_long[index] || !can_grow(fixup.form) {
                continue;
            }
            if round >= MAX_ROUNDS || i8::try_from(layout.distance(text, index)).is_err() {
                layout.is_long[index] = true;
                has_grown = true;
            }
        }
        if !has_grown {
            break;
        }
    }
    let stuck = text.fixups.iter().enumerate().find(|(index, fixup)| {
        fixup.form == Form::Short && i8::try_from(layout.distance(text, *index)).is_err()
    });
    match stuck {
        Some((_, fixup)) => {
            let offset = u64::from(text.insns[fixup.insn as usize].off);
            Err(ObjcovError::BranchRange { section: text.section, offset })
        }
        None => Ok(layout),
    }
}

fn can_grow(form: Form) -> bool {
    match form {
        Form::Jmp | Form::Jcc => true,
        Form::Short | Form::Long | Form::Operand(_) => false,
    }
}

/// How long the instruction of `fixup` is in the chosen form.
pub(crate) fn fixed_len(text: &Text, fixup: &Fixup, is_long: bool) -> u32 {
    let n_prefixes = u32::from(fixup.n_prefixes);
    match (fixup.form, is_long) {
        (Form::Jmp | Form::Jcc, false) => n_prefixes + 2,
        (Form::Jmp, true) => n_prefixes + 5,
        (Form::Jcc, true) => n_prefixes + 6,
        (Form::Short | Form::Long | Form::Operand(_), _) => {
            u32::from(text.insns[fixup.insn as usize].len)
        }
    }
}

/// Whether the probe of an instruction with this role stands behind it.
pub(crate) fn is_probe_behind(role: Role) -> bool {
    match role {
        Role::Gate => true,
        Role::Plain | Role::Inert | Role::Pinned => false,
    }
}

impl Layout {
    /// Computes all offsets for the current forms.
    fn place(&mut self, text: &Text, blocks: &Blocks) -> Result<(), ObjcovError> {
        // Padding to alignments could multiply the size of hostile input.
        let limit = u64::from(text.size) * 32 + (1 << 16);
        let mut fixups = text.fixups.iter().zip(&self.is_long).peekable();
        let mut aligned = blocks.aligned.iter().peekable();
        let mut at = 0;
        for (index, insn) in text.insns.iter().enumerate() {
            while let Some((_, align)) = aligned.next_if(|(insn, _)| *insn as usize == index) {
                at = align_up(u64::from(at), u64::from(*align)) as u32;
            }
            let probe_len = if blocks.probed[index] { PROBE_LEN } else { 0 };
            let is_behind = is_probe_behind(insn.role);
            self.labels[index] = at;
            at += if is_behind { 0 } else { probe_len };
            self.bodies[index] = at;
            at += match fixups.next_if(|(fixup, _)| fixup.insn as usize == index) {
                Some((fixup, is_long)) => fixed_len(text, fixup, *is_long),
                None => u32::from(insn.len),
            };
            at += if is_behind { probe_len } else { 0 };
            if u64::from(at) > limit {
                return Err(ObjcovError::TooLarge);
            }
        }
        self.size = at;
        Ok(())
    }

    /// Where references to old offset `target` lead.
    fn label(&self, text: &Text, target: u32) -> u32 {
        // Targets were checked to be boundaries when blocks were found.
        let insn = text.insn_at(u64::from(target)).unwrap_or(self.labels.len());
        self.labels.get(insn).copied().unwrap_or(self.size)
    }

    /// The distance fixup number `index` must encode: from the end of its instruction to its label.
    pub(crate) fn distance(&self, text: &Text, index: usize) -> i64 {
        let fixup = &text.fixups[index];
        let end = self.bodies[fixup.insn as usize] + fixed_len(text, fixup, self.is_long[index]);
        i64::from(self.label(text, fixup.target)) - i64::from(end)
    }

    /// The map from old to new offsets.
    pub(crate) fn offset_map(&self, text: &Text, blocks: &Blocks) -> OffsetMap {
        let mut map = OffsetMap::new(text.size as usize);
        let mut fixups = text.fixups.iter().zip(&self.is_long).peekable();
        map.set_end(0, 0);
        for (index, insn) in text.insns.iter().enumerate() {
            let len = match fixups.next_if(|(fixup, _)| fixup.insn as usize == index) {
                Some((fixup, is_long)) => fixed_len(text, fixup, *is_long),
                None => u32::from(insn.len),
            };
            let behind =
                if blocks.probed[index] && is_probe_behind(insn.role) { PROBE_LEN } else { 0 };
            map.set_start(insn.off, self.labels[index]);
            map.set_end(insn.off + u32::from(insn.len), self.bodies[index] + len + behind);
        }
        map.set_start(text.size, self.size);
        map
    }
}

#[cfg(test)]
mod tests;
