//! The cache of workers: an entry is a folder named by a hash of everything that
//! goes into it, built beside its place and renamed into place, under a lock: it
//! exists whole or not at all.
//!
//! **Invariant:** an entry is never changed after the rename. One whose bytes
//! do not match its manifest is thrown away and built anew.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use fs_err::{self as fs, File};
use serde::{Deserialize, Serialize};

use super::Step;
use crate::CompilerError;
use crate::llvm::install::Install;
use crate::llvm::provisioned::WORKER;

const MANIFEST: &str = "manifest.json";

/// Every file of an entry, and what it must look like.
#[derive(Serialize, Deserialize)]
struct Manifest {
    llvm: String,
    files: BTreeMap<String, FileStamp>,
}

#[derive(Serialize, Deserialize, PartialEq, Eq)]
struct FileStamp {
    bytes: u64,
    blake3: String,
}

/// The folder for everything that can be made again.
pub fn cache_root() -> Result<PathBuf, CompilerError> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let base = set("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| set("HOME").map(|home| PathBuf::from(home).join(".cache")))
        .ok_or(CompilerError::NoCache)?;
    Ok(base.join("optsleuth"))
}

/// The entry of this key, built by `build` if it is not there.
pub(in crate::llvm) fn in_cache(
    key: &str,
    progress: &mut (dyn FnMut(Step) + Send),
    build: impl FnOnce(&Path, &mut (dyn FnMut(Step) + Send)) -> Result<(), CompilerError>,
) -> Result<PathBuf, CompilerError> {
    built(key, progress, build).map_err(|error| match error {
        CompilerError::File(source) => CompilerError::Cache(source),
        other => other,
    })
}

fn built(
    key: &str,
    progress: &mut (dyn FnMut(Step) + Send),
    build: impl FnOnce(&Path, &mut (dyn FnMut(Step) + Send)) -> Result<(), CompilerError>,
) -> Result<PathBuf, CompilerError> {
    let root = cache_root()?.join("workers");
    fs::create_dir_all(&root)?;
    let entry = root.join(key);
    if is_whole(&entry) {
        return Ok(entry);
    }
    let lock = File::create(root.join(format!("{key}.lock")))?;
    if lock.try_lock().is_err() {
        progress(Step::Waiting);
        lock.lock()?;
    }
    if !is_whole(&entry) {
        // Under the lock, whatever lies here is what a killed build left.
        let building = root.join(format!("{key}.building"));
        for leftover in [&entry, &building] {
            if leftover.exists() {
                fs::remove_dir_all(leftover)?;
            }
        }
        fs::create_dir(&building)?;
        build(&building, progress)?;
        fs::rename(&building, &entry)?;
    }
    Ok(entry)
}

/// Writes down what every file of a folder must look like.
pub(super) fn seal(install: &Install, folder: &Path) -> io::Result<()> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        File::open(&path)?.sync_all()?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        files.insert(name, stamp_of(&path)?);
    }
    let manifest = Manifest { llvm: install.version.clone(), files };
    let mut file = File::create(folder.join(MANIFEST))?;
    file.write_all(&serde_json::to_vec_pretty(&manifest)?)?;
    file.sync_all()
}

fn stamp_of(file: &Path) -> io::Result<FileStamp> {
    let bytes = fs::read(file)?;
    Ok(FileStamp { bytes: bytes.len() as u64, blake3: blake3::hash(&bytes).to_hex().to_string() })
}

/// Whether an entry is there and every byte of it is as it was built.
pub(super) fn is_whole(entry: &Path) -> bool {
    let check = || -> Option<bool> {
        let manifest: Manifest =
            serde_json::from_slice(&fs::read(entry.join(MANIFEST)).ok()?).ok()?;
        let is_same = |(name, stamp): (&String, &FileStamp)| {
            stamp_of(&entry.join(name)).is_ok_and(|found| found == *stamp)
        };
        Some(manifest.files.contains_key(WORKER) && manifest.files.iter().all(is_same))
    };
    check().unwrap_or(false)
}
