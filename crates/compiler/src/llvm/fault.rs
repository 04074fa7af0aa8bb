//! Faults in LLVM's archives: which ones a function allows, and the archive that
//! has one.
//!
//! **Invariant:** archives are read, never written.

use std::collections::BTreeMap;
use std::path::Path;

use fs_err as fs;
use optsleuth_model::{CODE_DIGITS, Change, CodeFunction, CodeMap, CodeObject, Fault, FaultObject};
use optsleuth_objcov::{
    FunctionCode, NamedMember, ObjcovError, Patch, PatchKind, members, replace_member,
};

use super::covered::ZoomedMember;
use crate::CompilerError;

/// What a thin archive names lies beside it.
fn beside(archive: &Path) -> impl Fn(&str) -> Option<Vec<u8>> + Sync {
    let folder = archive.parent().unwrap_or(Path::new(".")).to_owned();
    move |name| fs::read(folder.join(name)).ok()
}

fn members_of<'a>(archive: &Path, bytes: &'a [u8]) -> Result<Vec<NamedMember<'a>>, CompilerError> {
    members(bytes, &beside(archive)).map_err(|source| CompilerError::Archive {
        doing: "read",
        path: archive.to_owned(),
        source,
    })
}

/// The archive with the fault in it.
pub(super) fn broken_archive(archive: &Path, fault: &Fault) -> Result<Vec<u8>, CompilerError> {
    let bytes = fs::read(archive)?;
    let members = members_of(archive, &bytes)?;
    let position = position(&members, &fault.object)?;
    let broken = broken_object(&members[position].1, fault)?;
    replaced(archive, &bytes, position, broken)
}

/// An archive's bytes with another object in the place of one of its own.
fn replaced(
    archive: &Path,
    bytes: &[u8],
    position: usize,
    object: Vec<u8>,
) -> Result<Vec<u8>, CompilerError> {
    replace_member(bytes, position, object, &beside(archive)).map_err(|source| {
        CompilerError::Archive { doing: "read", path: archive.to_owned(), source }
    })
}

/// The archive with objects that were compiled anew.
pub(super) fn with_members(
    archive: &Path,
    members: &[ZoomedMember],
) -> Result<Vec<u8>, CompilerError> {
    members.iter().try_fold(fs::read(archive)?, |bytes, member| {
        let object = fs::read(&member.object)?;
        replaced(archive, &bytes, member.position as usize, object)
    })
}

/// Which member of its archive an object is.
pub(super) fn member_position(
    archive: &Path,
    object: &FaultObject,
) -> Result<usize, CompilerError> {
    let bytes = fs::read(archive)?;
    position(&members_of(archive, &bytes)?, object)
}

fn position(members: &[NamedMember<'_>], object: &FaultObject) -> Result<usize, CompilerError> {
    let mut same_name = members.iter().enumerate().filter(|(_, (name, _))| *name == object.member);
    let found = same_name.nth(object.nth.saturating_sub(1) as usize);
    let missing = || CompilerError::NoSuchCode(format!("object {object}"));
    found.map(|(position, _)| position).ok_or_else(missing)
}

pub(super) fn broken_object(object: &[u8], fault: &Fault) -> Result<Vec<u8>, CompilerError> {
    let other_build =
        || CompilerError::OtherBuild { symbol: fault.symbol.clone(), object: fault.object.clone() };
    let function = FunctionCode::find(object, &fault.symbol).map_err(|error| match error {
        ObjcovError::NoFunction(_) => {
            CompilerError::NoSuchCode(format!("function {} in {}", fault.symbol, fault.object))
        }
        _ => other_build(),
    })?;
    if code_hash(&function) != fault.code {
        return Err(other_build());
    }
    let kind = match fault.change {
        Change::Invert => PatchKind::Invert,
        Change::Skip { end } => PatchKind::Skip { end },
        Change::Increment => PatchKind::Increment,
        Change::Decrement => PatchKind::Decrement,
    };
    let patch = Patch { kind, offset: fault.offset, before: fault.was.clone() };
    function.apply(object, &patch).map_err(|_| other_build())
}

fn code_hash(function: &FunctionCode<'_>) -> String {
    blake3::hash(function.bytes()).to_hex()[..CODE_DIGITS].to_owned()
}

/// Every fault that a function allows, by the place of the block in
/// [`optsleuth_model::Origin::offsets`].
pub fn possible_faults(
    map: &CodeMap,
    function: &CodeFunction,
) -> Result<BTreeMap<usize, Vec<Fault>>, CompilerError> {
    let CodeObject { archive, member, position, zoomed } =
        &map.objects[function.origin.object as usize];
    let path = Path::new(archive);
    let bytes = fs::read(path)?;
    let members = members_of(path, &bytes)?;
    let missing = || CompilerError::NoSuchCode(format!("object {archive}({member})"));
    let (name, object) = members.get(*position as usize).ok_or_else(missing)?;
    let anew = zoomed.as_ref().map(fs::read).transpose()?;
    let object = anew.as_deref().unwrap_or(object);
    let same_name = members[..*position as usize].iter().filter(|(other, _)| other == name);
    let object_name = FaultObject {
        archive: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        member: name.clone(),
        nth: same_name.count() as u32 + 1,
        zoomed: zoomed.is_some(),
    };
    let code = match FunctionCode::find(object, &function.symbol) {
        // Two static functions of one name: neither can be told in a line.
        Err(ObjcovError::NoFunction(_)) => return Ok(BTreeMap::new()),
        Err(source) => {
            return Err(CompilerError::Archive { doing: "read", path: path.to_owned(), source });
        }
        Ok(code) if code.start() != function.origin.start => return Ok(BTreeMap::new()),
        Ok(code) => code,
    };
    // What does not decode allows nothing.
    let patches = code.patches(&function.origin.offsets).unwrap_or_default();
    let hash = code_hash(&code);
    let fault = |patch: Patch| Fault {
        change: match patch.kind {
            PatchKind::Invert => Change::Invert,
            PatchKind::Skip { end } => Change::Skip { end },
            PatchKind::Increment => Change::Increment,
            PatchKind::Decrement => Change::Decrement,
        },
        symbol: function.symbol.clone(),
        offset: patch.offset,
        object: object_name.clone(),
        was: patch.before,
        code: hash.clone(),
    };
    let place = |offset: u32| function.origin.offsets.iter().position(|&other| other == offset);
    Ok(patches
        .into_iter()
        .filter_map(|(offset, patches)| {
            Some((place(offset)?, patches.into_iter().map(fault).collect()))
        })
        .collect())
}
