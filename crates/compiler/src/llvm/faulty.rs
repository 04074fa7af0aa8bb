//! A worker whose LLVM is wrong in one known function.
//!
//! The fault is made in the object, before linking: a copy of one archive with
//! one changed member takes the place of the original, and everything else is
//! linked as always. So the faulty worker differs from the real one in that
//! function alone.
//!
//! **Invariant:** nothing of this is kept. A faulty worker lies in a private
//! directory that goes with its last [`Provisioned`]; whatever a killed process
//! leaves, the next one removes, as everything in such directories.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fs_err as fs;
use optsleuth_model::{CODE_DIGITS, Change, CodeFunction, CodeMap, CodeObject, Fault, FaultObject};
use optsleuth_objcov::{
    ArchiveError, FunctionCode, NamedMember, Patch, PatchError, PatchKind, members, replace_member,
};

use super::install::Install;
use super::provision::{
    Flavor, ProvisionError, Provisioned, Recipe, Step, Targets, build_covered, is_archive,
    link_plain, plain_entry, recipe,
};
use crate::workdir::Workdir;

/// Why a fault cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum FaultyError {
    /// This LLVM has no such archive, member or function.
    #[error("there is no {0}")]
    Missing(String),
    /// It has, but not this code.
    #[error("the function {symbol} of {object} has other code than the fault was made for")]
    OtherBuild {
        /// Its mangled name.
        symbol: String,
        /// Archive and member that hold it.
        object: FaultObject,
    },
    /// An archive cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// An archive makes no sense.
    #[error("cannot read `{}`", .path.display())]
    Archive {
        /// LLVM's own, not the copy with the fault.
        path: PathBuf,
        /// What is wrong with its format.
        source: ArchiveError,
    },
}

/// Builds faulty workers of one LLVM.
#[derive(Debug)]
pub struct FaultyBuilder {
    install: Install,
    targets: Targets,
    recipe: Recipe,
    /// The cache's entry with the worker's own objects.
    plain: PathBuf,
}

impl FaultyBuilder {
    /// Makes sure that there is a real worker, whose objects are used again.
    pub fn new(
        install: &Install,
        targets: Targets,
        progress: &mut (dyn FnMut(Step) + Send),
    ) -> Result<FaultyBuilder, ProvisionError> {
        let recipe = recipe(install, targets)?;
        let plain = plain_entry(install, &recipe, targets, progress)?;
        Ok(FaultyBuilder { install: install.clone(), targets, recipe, plain })
    }

    /// A worker with this fault. Whether it works at all shows when it is
    /// started.
    pub fn build(
        &self,
        fault: &Fault,
        flavor: Flavor,
        progress: &mut (dyn FnMut(Step) + Send),
    ) -> Result<Provisioned, ProvisionError> {
        let faulty = |source| ProvisionError::Faulty {
            version: self.install.version.clone(),
            source: Box::new(source),
        };
        let folder = Workdir::new()?;
        let archive = self.archive(&fault.object).map_err(faulty)?;
        let broken = folder.file(&fault.object.archive);
        let bytes = broken_archive(&archive, fault).map_err(faulty)?;
        fs::write(&broken, bytes).map_err(|error| faulty(error.into()))?;
        let original = archive.display().to_string();
        let replaced = |library: &String| match *library == original {
            true => broken.display().to_string(),
            false => library.clone(),
        };
        let mut recipe = self.recipe.clone();
        recipe.libraries = self.recipe.libraries.iter().map(replaced).collect();
        match flavor {
            Flavor::Plain => {
                progress(Step::Linking);
                link_plain(&self.install, &recipe, &self.plain, folder.path())?;
            }
            Flavor::Covered => {
                build_covered(&self.install, &recipe, &self.plain, folder.path(), progress)?;
            }
        }
        let _ = fs::remove_file(&broken); // Only takes up room.
        Ok(Provisioned::temporary(&self.install, Arc::new(folder), self.targets, flavor))
    }

    /// The archive that a fault names.
    fn archive(&self, object: &FaultObject) -> Result<PathBuf, FaultyError> {
        let libraries = self.recipe.libraries.iter().filter(|library| is_archive(library));
        libraries
            .map(PathBuf::from)
            .find(|path| path.file_name().is_some_and(|name| *name == *object.archive))
            .ok_or_else(|| FaultyError::Missing(format!("archive {}", object.archive)))
    }
}

/// What a thin archive names lies beside it.
fn beside(archive: &Path) -> impl Fn(&str) -> Option<Vec<u8>> + Sync {
    let folder = archive.parent().unwrap_or(Path::new(".")).to_owned();
    move |name| fs::read(folder.join(name)).ok()
}

fn members_of<'a>(archive: &Path, bytes: &'a [u8]) -> Result<Vec<NamedMember<'a>>, FaultyError> {
    members(bytes, &beside(archive))
        .map_err(|source| FaultyError::Archive { path: archive.to_owned(), source })
}

/// The archive with the fault in it.
fn broken_archive(archive: &Path, fault: &Fault) -> Result<Vec<u8>, FaultyError> {
    let bytes = fs::read(archive)?;
    let members = members_of(archive, &bytes)?;
    let same_name =
        members.iter().enumerate().filter(|(_, (name, _))| *name == fault.object.member);
    let (position, (_, object)) = { same_name }
        .nth(fault.object.nth.saturating_sub(1) as usize)
        .ok_or_else(|| FaultyError::Missing(format!("object {}", fault.object)))?;
    let broken = broken_object(object, fault)?;
    replace_member(&bytes, position, broken, &beside(archive))
        .map_err(|source| FaultyError::Archive { path: archive.to_owned(), source })
}

fn broken_object(object: &[u8], fault: &Fault) -> Result<Vec<u8>, FaultyError> {
    let other_build =
        || FaultyError::OtherBuild { symbol: fault.symbol.clone(), object: fault.object.clone() };
    let function = FunctionCode::find(object, &fault.symbol).map_err(|error| match error {
        PatchError::NoFunction(_) => {
            FaultyError::Missing(format!("function {} in {}", fault.symbol, fault.object))
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
) -> Result<BTreeMap<usize, Vec<Fault>>, FaultyError> {
    let CodeObject { archive, member, position } = &map.objects[function.origin.object as usize];
    let path = Path::new(archive);
    let bytes = fs::read(path)?;
    let members = members_of(path, &bytes)?;
    let missing = || FaultyError::Missing(format!("object {archive}({member})"));
    let (name, object) = members.get(*position as usize).ok_or_else(missing)?;
    let same_name = members[..*position as usize].iter().filter(|(other, _)| other == name);
    let object_name = FaultObject {
        archive: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        member: name.clone(),
        nth: same_name.count() as u32 + 1,
    };
    let code = match FunctionCode::find(object, &function.symbol) {
        // Two static functions of one name: neither can be told in a line.
        Err(PatchError::NoFunction(_)) => return Ok(BTreeMap::new()),
        Err(error) => {
            let source = ArchiveError::Malformed(error.to_string());
            return Err(FaultyError::Archive { path: path.to_owned(), source });
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
