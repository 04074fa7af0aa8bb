//! First look at an object: which sections to instrument, which to drop, when to stop at once.
//!
//! Goes by names, types and flags only; contents are read by later stages.

use object::elf;

use crate::elf::Object;
use crate::error::ObjcovError;
use crate::probe::PROBE_SECTION;

/// What becomes of the sections.
#[derive(Debug)]
pub(crate) struct Survey {
    /// Executable sections with functions, in order.
    pub(crate) texts: Vec<usize>,
    /// Unwind tables.
    pub(crate) frames: Vec<usize>,
    /// Per section: describes code addresses and is not needed to link or run.
    pub(crate) dropped: Vec<bool>,
}

/// Descriptions of code that would be wrong after moving it. Debuggers and profilers read them
/// from the original object instead.
const DROPPED: &[&str] = &[
    ".debug_",
    ".zdebug_",
    ".gdb_index",
    ".stack_sizes",
    ".llvm_addrsig",
    ".llvm_bb_addr_map",
    ".llvm.call-graph-profile",
    ".pseudo_probe",
];

/// Intermediate code that link-time optimization would use instead of the machine code.
const INTERMEDIATE: &[&str] = &[".gnu.lto_", ".llvm.lto", ".llvmbc"];

/// Tables of places in code that are to be overwritten at run time.
const PATCHED: &[&str] = &[
    "__patchable_function_entries",
    "__mcount_loc",
    "__jump_table",
    "xray_instr_map",
    ".note.GNU-split-stack",
];

/// Fragments that the linker concatenates into one function.
const FRAGMENTS: &[&[u8]] = &[b".init", b".fini"];

/// Sorts the sections of `object`.
pub(crate) fn survey(object: &Object<'_>) -> Result<Survey, ObjcovError> {
    let mut survey =
        Survey { texts: vec![], frames: vec![], dropped: vec![false; object.sections.len()] };
    for index in 1..object.sections.len() {
        if object.sections[index].kind == elf::SHT_NULL {
            continue;
        }
        let name = object.section_name(index);
        let starts_with =
            |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix.as_bytes()));
        if starts_with(INTERMEDIATE) {
            return Err(ObjcovError::LinkTimeCode);
        }
        if starts_with(PATCHED) {
            return Err(ObjcovError::Unsupported("code patched at run time"));
        }
        if name == PROBE_SECTION.as_bytes() {
            return Err(ObjcovError::Unsupported("already instrumented"));
        }
        if name == b".eh_frame" && object.sections[index].kind != elf::SHT_RELA {
            survey.frames.push(index);
        }
        // What is loaded at run time may be needed there; only this table is known not to be.
        let is_loaded = object.sections[index].flags & u64::from(elf::SHF_ALLOC) != 0;
        survey.dropped[index] = starts_with(DROPPED) && !is_loaded || starts_with(&[".sframe"]);
    }
    for index in 1..object.sections.len() {
        let section = &object.sections[index];
        if section.kind == elf::SHT_RELA && survey.dropped[section.info as usize] {
            survey.dropped[index] = true;
        }
    }
    let mut has_function = vec![false; object.sections.len()];
    for symbol in object.symbols.iter().filter(|symbol| symbol.is_function()) {
        if let Some(section) = crate::relocation::section_of(symbol) {
            has_function[section as usize] |= symbol.value < object.sections[section as usize].size;
        }
    }
    survey.texts = (1..object.sections.len())
        .filter(|&index| has_function[index] && object.is_text(index))
        .filter(|&index| !FRAGMENTS.contains(&object.section_name(index)))
        .collect();
    if survey.texts.is_empty() {
        return Err(ObjcovError::NoCode);
    }
    Ok(survey)
}
