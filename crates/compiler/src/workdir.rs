//! Private directories below the system's temporary one.
//!
//! A directory goes when its value is dropped. After a `kill -9` nothing drops
//! anything: workers remove their own directory when they see their host gone,
//! and whatever else is left, the next start of any program removes.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Once;

const PREFIX: &str = "optsleuth-";
const LOCK: &str = ".lock";

/// A directory that no other process uses, removed with its value.
#[derive(Debug)]
pub struct Workdir {
    folder: tempfile::TempDir,
    // Held as long as the directory is in use: process numbers alone say
    // nothing in another process namespace.
    _lock: File,
}

impl Workdir {
    /// Makes a directory. The first call also removes what killed processes left.
    pub fn new() -> io::Result<Workdir> {
        static CLEANED: Once = Once::new();
        CLEANED.call_once(|| remove_orphans(&std::env::temp_dir()));
        // Always of the same length: the path becomes a part of IR, and LLVM, which
        // orders some of its work by addresses, would notice another one.
        let prefix = format!("{PREFIX}{:010}-", std::process::id());
        let folder = tempfile::Builder::new().prefix(&prefix).tempdir()?;
        let lock = File::create(folder.path().join(LOCK))?;
        lock.lock()?;
        Ok(Workdir { folder, _lock: lock })
    }

    /// Exists until the value is dropped.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The path of a file in it, which need not exist.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }
}

/// Removes the directories whose makers are dead and whose lock is free. One
/// that cannot be removed belongs to another user.
fn remove_orphans(temporary: &Path) {
    let Ok(entries) = std::fs::read_dir(temporary) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let maker = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX))
            .and_then(|rest| rest.split_once('-'))
            .and_then(|(pid, _)| pid.parse::<u32>().ok());
        let is_dead = |pid: u32| !Path::new(&format!("/proc/{pid}")).exists();
        let is_held =
            || File::open(entry.path().join(LOCK)).is_ok_and(|lock| lock.try_lock().is_err());
        if maker.is_some_and(is_dead) && !is_held() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_the_same_length_whatever_the_process_number() {
        let folder = Workdir::new().unwrap();
        let name = folder.path().file_name().unwrap().to_str().unwrap();
        let number = name.strip_prefix(PREFIX).unwrap().split_once('-').unwrap().0;
        assert_eq!((number.len(), number.parse()), (10, Ok(std::process::id())), "{name}");
    }

    #[test]
    fn only_what_the_dead_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir(&path).unwrap();
            std::fs::write(path.join("file"), "x").unwrap();
            path
        };
        // Process numbers end below this one.
        let orphan = make("optsleuth-4194305-abc");
        let ours = make(&format!("optsleuth-{}-abc", std::process::id()));
        let foreign = make("optsleuth-notes");
        // Alive, but in another process namespace.
        let held = make("optsleuth-4194306-abc");
        let lock = File::create(held.join(LOCK)).unwrap();
        lock.lock().unwrap();
        remove_orphans(folder.path());
        assert!(!orphan.exists());
        assert!(ours.exists() && foreign.exists() && held.exists());
    }
}
