//! Private directories below the system's temporary one.
//!
//! A directory goes when its value is dropped. After a `kill -9` nothing drops
//! anything: workers remove their own directory when they see their host gone,
//! and the next process that makes such a directory removes whatever else is left.
//!
//! **Invariant:** no other user can look into a directory, and nothing that another
//! user put beside it is opened.

use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
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
        let own = Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix(&prefix).permissions(own).tempdir()?;
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

/// Removes the directories of this user whose makers are dead and whose lock is
/// free.
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
        if maker.is_some_and(is_dead) && is_own_directory(&entry.path()) && !is_held(&entry.path())
        {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

fn is_own_directory(path: &Path) -> bool {
    let user = rustix::process::geteuid().as_raw();
    path.symlink_metadata().is_ok_and(|found| found.is_dir() && found.uid() == user)
}

/// Whether a process holds the lock of a directory. Opening the lock never waits,
/// whatever it is: a pipe would, for somebody to write to it.
fn is_held(directory: &Path) -> bool {
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let lock = OpenOptions::new().read(true).custom_flags(flags).open(directory.join(LOCK));
    lock.is_ok_and(|lock| lock.try_lock().is_err())
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
    fn nobody_else_can_look_into_a_directory() {
        let folder = Workdir::new().unwrap();
        let mode = folder.path().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{mode:o}");
    }

    #[test]
    fn a_pipe_that_lies_where_a_lock_should_be_hangs_no_start() {
        let folder = tempfile::tempdir().unwrap();
        let orphan = folder.path().join("optsleuth-4194305-abc");
        std::fs::create_dir(&orphan).unwrap();
        let (pipe, mode) = (orphan.join(LOCK), rustix::fs::Mode::from_raw_mode(0o666));
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let (done, is_done) = std::sync::mpsc::channel();
        let place = folder.path().to_owned();
        std::thread::spawn(move || {
            remove_orphans(&place);
            let _ = done.send(());
        });
        let patience = std::time::Duration::from_secs(60);
        is_done.recv_timeout(patience).expect("the start waits for somebody to write to the pipe");
        assert!(!orphan.exists());
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
