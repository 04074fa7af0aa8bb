//! Zoom: some source files of LLVM, compiled anew without inlining and with
//! lines, in the place of the archives' own objects.
//!
//! ```text
//! files ─► source tree ─► objects ─► copies of archives ─► worker
//! ```
//! What was inlined has a symbol of its own in such a worker, every block has a
//! line, and assertions can be switched on.
//!
//! **Invariant:** everything else of the worker is as the distribution built it.
//! A file that cannot be compiled or has no member is left out, with the reason.

mod objects;
mod sources;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use fs_err as fs;
use optsleuth_model::{CodeMap, CodeObject, Fault, FaultObject};

use super::covered::ZoomedMember;
use super::fault::{member_position, with_members};
use super::install::Install;
use super::provision::{
    Recipe, Step, build_covered, cache_root, finish, in_cache, link_plain, plain_entry, recipe,
};
use super::provisioned::{Flavor, Provisioned, Targets};
use super::source_tree::source_file;
use crate::CompilerError;
use objects::ObjectCompiler;
pub use sources::{SourceChoice, SourceTree};

/// Changes when the recipe does in a way that no hashed input shows.
const RECIPE: &str = "3";

/// What the files are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Coverage of functions and lines.
    Lines,
    /// Checking LLVM's assertions.
    Assertions,
    /// Both at once.
    AssertionLines,
    /// Checking its memory accesses, with the address sanitizer.
    Addresses,
}

impl Variant {
    const ALL: [Variant; 4] =
        [Variant::Lines, Variant::Assertions, Variant::AssertionLines, Variant::Addresses];

    fn asserts(self) -> bool {
        matches!(self, Variant::Assertions | Variant::AssertionLines)
    }

    /// In the names of the cache's entries.
    fn name(self) -> &'static str {
        match self {
            Variant::Lines => "lines",
            Variant::Assertions => "assertions",
            Variant::AssertionLines => "assertion-lines",
            Variant::Addresses => "addresses",
        }
    }
}

/// Why a file is not zoomed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// The source tree does not have it.
    NoSource,
    /// No archive has an object of it.
    NoMember,
    DoesNotCompile,
    /// The time was over.
    Late,
}

impl LeftOut {
    pub fn why(self) -> &'static str {
        match self {
            LeftOut::NoSource => "the source does not have it",
            LeftOut::NoMember => "no archive has its object",
            LeftOut::DoesNotCompile => "it does not compile against the installed headers",
            LeftOut::Late => "there was no time to compile it",
        }
    }
}

/// A worker with zoomed files.
#[derive(Debug)]
pub struct Zoomed {
    /// `None` where no file is left.
    pub provisioned: Option<Provisioned>,
    /// What is zoomed, in the order in which it was asked for.
    pub files: Vec<String>,
    pub left_out: Vec<(String, LeftOut)>,
}

/// What to zoom into.
#[derive(Clone, Copy, Debug)]
pub struct ZoomPlan<'a> {
    pub tree: &'a SourceTree,
    /// As in `llvm/lib/Transforms/Scalar/GVN.cpp`.
    pub files: &'a [String],
    pub variant: Variant,
    /// When no more files are to be begun.
    pub deadline: Option<Instant>,
    /// A fault in one of the new objects. Its file has to be one of the files.
    pub fault: Option<&'a Fault>,
}

/// Compiles files and links a worker with them. `map` is the code map of the
/// covered worker of the same LLVM.
pub fn zoom(
    install: &Install,
    targets: Targets,
    map: &CodeMap,
    plan: &ZoomPlan<'_>,
    progress: &mut (dyn FnMut(Step) + Send),
) -> Result<Zoomed, CompilerError> {
    let recipe = recipe(install, targets)?;
    let plain = plain_entry(install, &recipe, targets, progress)?;
    let compiler = ObjectCompiler::new(install, plan.tree, plan.variant)?;
    let (mut members, mut left_out) = (Vec::new(), Vec::new());
    for (file, object) in compiler.compile(plan.tree, plan.files, plan.deadline, progress)? {
        match (object, member_of(map, &file)) {
            (Ok(object), Some(member)) => {
                let is_broken = |fault: &&Fault| {
                    file_of(&fault.object) == file && plan.variant == Variant::Lines
                };
                let object = match plan.fault.filter(is_broken) {
                    Some(fault) => compiler.broken(&object, fault)?,
                    None => object,
                };
                members.push(Member { file, object, replaces: member.clone() });
            }
            (Ok(_), None) => left_out.push((file, LeftOut::NoMember)),
            (Err(why), _) => left_out.push((file, why)),
        }
    }
    if members.is_empty() {
        return Ok(Zoomed { provisioned: None, files: Vec::new(), left_out });
    }
    let key = key(&recipe, &members, plan.variant);
    let flavor = match plan.variant {
        Variant::Lines | Variant::AssertionLines => Flavor::Covered,
        Variant::Assertions | Variant::Addresses => Flavor::Plain,
    };
    forget_old()?;
    let worker_in = |folder: &Path| {
        let mut worker = Provisioned::new(install, folder, targets, flavor);
        worker.with_shadows = plan.variant == Variant::Addresses;
        worker.asserts = plan.variant.asserts() && !install.assertions;
        worker
    };
    let entry = in_cache(&key, progress, |folder, progress| {
        let copies = folder.join("archives");
        fs::create_dir(&copies)?;
        let (own, zoomed) = with_copies(&recipe, &members, plan.tree, &copies)?;
        let own = match plan.variant {
            Variant::Lines => own,
            Variant::Addresses => own.linked_with("-fsanitize=address"),
            // What prints for debugging is not in release archives.
            Variant::Assertions | Variant::AssertionLines => {
                own.linked_with("-Wl,--unresolved-symbols=ignore-all")
            }
        };
        match flavor {
            Flavor::Covered => build_covered(install, &own, &plain, &zoomed, folder, progress)?,
            Flavor::Plain => {
                progress(Step::Linking);
                link_plain(install, &own, &plain, folder)?;
            }
        }
        fs::remove_dir_all(&copies)?;
        finish(&worker_in(folder), folder, progress)
    })?;
    let provisioned = Some(worker_in(&entry));
    let files = members.into_iter().map(|member| member.file).collect();
    Ok(Zoomed { provisioned, files, left_out })
}

/// The file that an object is made of.
pub fn file_of(object: &FaultObject) -> String {
    source_file(&object.archive, &object.member)
}

/// The object of a zoomed fault, compiled and broken, and what it replaces.
pub(super) fn broken_member(
    install: &Install,
    fault: &Fault,
    archive: &Path,
    progress: &mut (dyn FnMut(Step) + Send),
) -> Result<ZoomedMember, CompilerError> {
    let tree = SourceTree::find(install, &SourceChoice::Package, progress)?;
    let compiler = ObjectCompiler::new(install, &tree, Variant::Lines)?;
    let files = [file_of(&fault.object)];
    let compiled = compiler.compile(&tree, &files, None, progress)?;
    let missing = || CompilerError::NoSuchCode(format!("source of {}", fault.object));
    let object = compiled.into_iter().next().and_then(|(_, object)| object.ok());
    let object = compiler.broken(&object.ok_or_else(missing)?, fault)?;
    let position = member_position(archive, &fault.object)? as u32;
    let (archive, source) = (archive.display().to_string(), tree.folder());
    Ok(ZoomedMember { archive, position, object, source })
}

/// So many workers of zooms are kept, and in any case those of the last hour,
/// which others may be using: each has 80 MB, and every set of files has its own.
const KEPT: usize = 24;
const IN_USE: Duration = Duration::from_secs(3600);

/// Removes workers of zooms that are older.
fn forget_old() -> Result<(), CompilerError> {
    let root = cache_root()?.join("workers");
    let mut zoomed: Vec<(SystemTime, PathBuf)> = Vec::new();
    for entry in std::fs::read_dir(&root).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_zoomed = Variant::ALL.iter().any(|one| name.contains(&format!("-{}-", one.name())));
        if is_zoomed && entry.path().is_dir() {
            let made = entry.metadata().and_then(|data| data.modified());
            zoomed.push((made.unwrap_or(SystemTime::UNIX_EPOCH), entry.path()));
        }
    }
    zoomed.sort_by(|(a, _), (b, _)| b.cmp(a));
    let is_old = |made: &SystemTime| made.elapsed().is_ok_and(|age| age > IN_USE);
    for (_, folder) in zoomed.iter().skip(KEPT).filter(|(made, _)| is_old(made)) {
        let _ = fs::remove_dir_all(folder); // Only takes up room.
    }
    Ok(())
}

/// A file with its new object, and the one that it replaces.
struct Member {
    file: String,
    object: PathBuf,
    replaces: CodeObject,
}

fn member_of<'m>(map: &'m CodeMap, file: &str) -> Option<&'m CodeObject> {
    map.objects.iter().find(|object| source_file(&object.archive, &object.member) == file)
}

fn key(recipe: &Recipe, members: &[Member], variant: Variant) -> String {
    let mut hash = blake3::Hasher::new();
    hash.update(RECIPE.as_bytes());
    let mut objects: Vec<&PathBuf> = members.iter().map(|member| &member.object).collect();
    objects.sort_unstable();
    for object in objects {
        hash.update(object.as_os_str().as_encoded_bytes());
        hash.update(b"\n");
    }
    format!("{}-{}-{}", recipe.key, variant.name(), &hash.finalize().to_hex()[..16])
}

/// The recipe with copies of archives that have the new members.
fn with_copies(
    recipe: &Recipe,
    members: &[Member],
    tree: &SourceTree,
    folder: &Path,
) -> Result<(Recipe, Vec<ZoomedMember>), CompilerError> {
    let mut by_archive: BTreeMap<String, Vec<ZoomedMember>> = BTreeMap::new();
    for Member { object, replaces, .. } in members {
        let member = ZoomedMember {
            archive: replaces.archive.clone(),
            position: replaces.position,
            object: object.clone(),
            source: tree.folder(),
        };
        by_archive.entry(replaces.archive.clone()).or_default().push(member);
    }
    let mut own = recipe.clone();
    for (archive, members) in &by_archive {
        let path = Path::new(archive);
        let copy = folder.join(path.file_name().unwrap_or_default());
        fs::write(&copy, with_members(path, members)?)?;
        for library in own.libraries.iter_mut().filter(|library| *library == archive) {
            *library = copy.display().to_string();
        }
    }
    Ok((own, by_archive.into_values().flatten().collect()))
}
