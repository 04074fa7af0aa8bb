//! Which functions of LLVM a covered worker traps to learn who writes IR, and what
//! the frames of their stacks are.
//!
//! **Invariant:** nothing is trapped that is not in [`TRAPPED`], and only where a
//! function begins. What a version of LLVM does not have, or has inlined
//! everywhere, is left out.

use std::collections::HashMap;

use optsleuth_model::AuthorKind::{Changed, Created, Erased, Moved, Replaced};
use optsleuth_model::{AuthorFrame, AuthorKind, CodeMap};
use optsleuth_objcov::Program;

use super::symbols::{Symbols, demangle};

/// Functions whose first argument is the value in question. All overloads count.
#[rustfmt::skip]
const TRAPPED: &[(&str, AuthorKind)] = &[
    ("llvm::Instruction::Instruction", Created),
    // The second argument is the new value.
    ("llvm::Value::doRAUW", Replaced),
    // An instruction that is erased with its block is only destroyed.
    ("llvm::Instruction::eraseFromParent", Erased),
    ("llvm::Instruction::removeFromParent", Erased),
    ("llvm::Instruction::~Instruction", Erased),
    ("llvm::Instruction::moveBefore", Moved),
    ("llvm::Instruction::moveBeforePreserving", Moved),
    ("llvm::Instruction::moveBeforeImpl", Moved),
    ("llvm::Instruction::moveAfter", Moved),
    ("llvm::Instruction::moveAfterPreserving", Moved),
    // Flags.
    ("llvm::Instruction::setHasNoUnsignedWrap", Changed),
    ("llvm::Instruction::setHasNoSignedWrap", Changed),
    ("llvm::Instruction::setIsExact", Changed),
    ("llvm::Instruction::setNonNeg", Changed),
    ("llvm::Instruction::setFast", Changed),
    ("llvm::Instruction::setHasAllowReassoc", Changed),
    ("llvm::Instruction::setHasNoNaNs", Changed),
    ("llvm::Instruction::setHasNoInfs", Changed),
    ("llvm::Instruction::setHasNoSignedZeros", Changed),
    ("llvm::Instruction::setFastMathFlags", Changed),
    ("llvm::Instruction::copyFastMathFlags", Changed),
    ("llvm::Instruction::copyIRFlags", Changed),
    ("llvm::Instruction::andIRFlags", Changed),
    ("llvm::Instruction::dropPoisonGeneratingFlags", Changed),
    ("llvm::GetElementPtrInst::setIsInBounds", Changed),
    ("llvm::GetElementPtrInst::setNoWrapFlags", Changed),
    // Metadata and attributes.
    ("llvm::Instruction::setMetadata", Changed),
    ("llvm::Instruction::copyMetadata", Changed),
    ("llvm::Instruction::dropUnknownNonDebugMetadata", Changed),
    ("llvm::Instruction::dropPoisonGeneratingMetadata", Changed),
    ("llvm::Instruction::dropPoisonGeneratingReturnAttributes", Changed),
    ("llvm::Instruction::dropUBImplyingAttrsAndMetadata", Changed),
    ("llvm::Instruction::dropUBImplyingAttrsAndUnknownMetadata", Changed),
    ("llvm::Instruction::dropUndefImplyingAttrsAndUnknownMetadata", Changed),
    ("llvm::CallBase::addFnAttr", Changed),
    ("llvm::CallBase::addRetAttr", Changed),
    ("llvm::CallBase::addParamAttr", Changed),
    ("llvm::CallBase::addRangeRetAttr", Changed),
    ("llvm::CallBase::removeFnAttr", Changed),
    ("llvm::CallBase::removeRetAttr", Changed),
    ("llvm::CallBase::removeParamAttr", Changed),
    ("llvm::CallBase::setDoesNotThrow", Changed),
    ("llvm::CallBase::setDoesNotAccessMemory", Changed),
    // Operands.
    ("llvm::User::replaceUsesOfWith", Changed),
    ("llvm::User::setOperand", Changed),
    ("llvm::CallBase::setOperand", Changed),
    ("llvm::CallBase::setArgOperand", Changed),
    ("llvm::CallBase::setCalledFunction", Changed),
    ("llvm::CallBase::setCalledOperand", Changed),
    ("llvm::BinaryOperator::swapOperands", Changed),
    ("llvm::CmpInst::swapOperands", Changed),
    ("llvm::ICmpInst::swapOperands", Changed),
    ("llvm::PHINode::addIncoming", Changed),
    ("llvm::PHINode::removeIncomingValue", Changed),
    ("llvm::PHINode::removeIncomingValueIf", Changed),
    ("llvm::Instruction::setSuccessor", Changed),
    ("llvm::Instruction::replaceSuccessorWith", Changed),
    ("llvm::BranchInst::swapSuccessors", Changed),
    ("llvm::SwitchInst::addCase", Changed),
    ("llvm::SwitchInst::removeCase", Changed),
];

/// The traps of one worker, and the source files of its functions.
#[derive(Debug, Default)]
pub(crate) struct Traps {
    /// Where each function begins, by address.
    pub(crate) entries: Vec<(u64, AuthorKind)>,
    /// Source files by where a function begins: a place in `names`.
    files: HashMap<u64, u32>,
    names: Vec<String>,
}

impl Traps {
    pub(crate) fn find(symbols: &Symbols, program: &[u8], map: &CodeMap) -> Traps {
        let (addresses, symbol_names): (Vec<u64>, Vec<&str>) = symbols.all().unzip();
        let program = Program::read(program);
        let block_at = |&address: &u64| program.as_ref()?.block_at(address);
        let blocks: Vec<Option<u32>> = addresses.iter().map(block_at).collect();
        let owners = map.owners();
        let owner = |block: u32| owners.get(usize::try_from(block).ok()?).copied().flatten();
        let file = |block: &Option<u32>| Some(map.function(owner((*block)?)?).file.0);
        let files: HashMap<u64, u32> = addresses
            .iter()
            .zip(&blocks)
            .filter_map(|(&address, block)| Some((address, file(block)?)))
            .collect();
        let prefixes = TRAPPED
            .iter()
            .flat_map(|&(name, kind)| mangled(name).into_iter().map(move |prefix| (prefix, kind)));
        let prefixes: Vec<(String, AuthorKind)> = prefixes.collect();
        let kind_of = |symbol: &str| {
            // Parts that were cut out of a function have a dot in their names.
            let found = prefixes.iter().find(|(prefix, _)| symbol.starts_with(prefix.as_str()));
            found.filter(|_| !symbol.contains('.')).map(|(_, kind)| *kind)
        };
        let named = addresses.iter().zip(&symbol_names).zip(&blocks);
        let mut entries: Vec<(u64, AuthorKind)> = named
            .filter(|(_, block)| block.is_some())
            .filter_map(|((&address, symbol), _)| Some((address, kind_of(symbol)?)))
            .collect();
        entries.dedup_by_key(|(address, _)| *address); // Symbols come by address.
        Traps { entries, files, names: map.files.clone() }
    }

    /// What an address on a stack stands for.
    pub(crate) fn frame(&self, symbols: &Symbols, address: u64) -> AuthorFrame {
        // A return address may lie behind its function's last instruction.
        let Some((entry, name)) = symbols.containing(address.saturating_sub(1)) else {
            return AuthorFrame { address, function: String::new(), file: None };
        };
        let file = self.files.get(&entry).and_then(|file| self.names.get(*file as usize)).cloned();
        AuthorFrame { address, function: demangle(name), file }
    }
}

/// How the mangled names of a member function begin: up to its parameters.
fn mangled(name: &str) -> Vec<String> {
    let parts: Vec<&str> = name.split("::").collect();
    let (last, outer) = parts.split_last().map_or(("", &[][..]), |(last, outer)| (*last, outer));
    let scope: String = outer.iter().map(|part| format!("{}{part}", part.len())).collect();
    let endings = if outer.last() == Some(&last) {
        vec!["C1".to_owned(), "C2".to_owned()]
    } else if last.starts_with('~') {
        vec!["D1".to_owned(), "D2".to_owned()]
    } else {
        vec![format!("{}{last}", last.len())]
    };
    endings.into_iter().map(|ending| format!("_ZN{scope}{ending}E")).collect()
}

#[cfg(test)]
mod tests {
    use object::read::archive::ArchiveFile;

    use super::*;
    use crate::llvm::installed;

    #[test]
    fn names_are_mangled_as_compilers_do() {
        assert_eq!(mangled("llvm::Value::doRAUW"), ["_ZN4llvm5Value6doRAUWE"]);
        let both = ["_ZN4llvm11InstructionC1E", "_ZN4llvm11InstructionC2E"];
        assert_eq!(mangled("llvm::Instruction::Instruction"), both);
        assert_eq!(mangled("llvm::Instruction::~Instruction")[1], "_ZN4llvm11InstructionD2E");
    }

    /// What authorship cannot do without.
    const INDISPENSABLE: [&str; 5] = [
        "llvm::Instruction::Instruction",
        "llvm::Value::doRAUW",
        "llvm::Instruction::eraseFromParent",
        "llvm::Instruction::removeFromParent",
        "llvm::Instruction::~Instruction",
    ];

    #[test]
    fn every_llvm_has_what_has_to_be_trapped() {
        for install in installed() {
            let bytes = std::fs::read(install.lib.join("libLLVMCore.a")).unwrap();
            let archive = ArchiveFile::parse(&*bytes).unwrap();
            let symbols = archive.symbols().unwrap().unwrap();
            let names: Vec<&[u8]> = symbols.map(|symbol| symbol.unwrap().name()).collect();
            for wanted in INDISPENSABLE {
                assert!(TRAPPED.iter().any(|(name, _)| *name == wanted));
                let is_there = mangled(wanted)
                    .iter()
                    .any(|prefix| names.iter().any(|name| name.starts_with(prefix.as_bytes())));
                assert!(is_there, "LLVM {} lacks {wanted}", install.version);
            }
        }
    }
}
