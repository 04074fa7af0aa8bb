//! A case and its program -> a folder that appears whole.
//!
//! **Invariant:** a folder that exists is replaced only where the caller allows it,
//! and only if it is a case. At every moment the old case or the new one is there,
//! whole: a kill loses neither.

use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;
use optsleuth_compiler::surroundings::copy_folder;
use optsleuth_model::{CASE_FILE, Case, Conditions};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::CaseError;

/// Whether a case may be written here.
pub fn is_free(folder: &Path, force: bool) -> Result<(), CaseError> {
    match folder.symlink_metadata() {
        Err(_) => Ok(()),
        Ok(_) if !force => Err(CaseError::Exists(folder.to_owned())),
        Ok(_) if folder.join(CASE_FILE).is_file() => Ok(()),
        Ok(_) => Err(CaseError::NotACase(folder.to_owned())),
    }
}

/// Writes a case's folder beside its place, and moves it there.
pub fn write_case(
    folder: &Path,
    case: &Case,
    program: &[u8],
    force: bool,
) -> Result<(), CaseError> {
    write_case_with(folder, case, program, &[], force)
}

/// The same with files and folders that are copied into it: from where, and what each
/// is there.
pub fn write_case_with(
    folder: &Path,
    case: &Case,
    program: &[u8],
    copies: &[(PathBuf, PathBuf)],
    force: bool,
) -> Result<(), CaseError> {
    is_free(folder, force)?;
    let beside = hidden(folder, "new");
    let written = fill(&beside, case, program)
        .and_then(|()| copy_all(copies, &beside))
        .and_then(|()| put(&beside, folder));
    if written.is_err() {
        // What is left of the attempt, if anything.
        let _ = fs::remove_dir_all(&beside);
    }
    written.map_err(CaseError::Io)
}

fn fill(folder: &Path, case: &Case, program: &[u8]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join(&case.input), program)?;
    fs::write(folder.join(CASE_FILE), case.to_toml())
}

/// Copies what a case's program is executed with from one folder to another.
pub fn copy_conditions(conditions: &Conditions, from: &Path, to: &Path) -> io::Result<()> {
    copy_all(&copies_of(conditions, from), to)
}

/// What a case's program is executed with, in its folder and in that of another case.
pub fn copies_of(conditions: &Conditions, folder: &Path) -> Vec<(PathBuf, PathBuf)> {
    let paths = conditions.paths().into_iter();
    paths.map(|(_, path)| (folder.join(path), path.to_owned())).collect()
}

fn copy_all(copies: &[(PathBuf, PathBuf)], folder: &Path) -> io::Result<()> {
    for (from, place) in copies {
        let to = folder.join(place);
        match from.is_dir() {
            true => copy_folder(from, &to)?,
            false => {
                fs::create_dir_all(to.parent().unwrap_or(folder))?;
                fs::copy(from, &to)?;
            }
        }
    }
    Ok(())
}

/// Moves a folder to a place, where another may be: they change places in one step,
/// and the other goes then.
fn put(new: &Path, place: &Path) -> io::Result<()> {
    if place.symlink_metadata().is_err() {
        return fs::rename(new, place);
    }
    match renameat_with(CWD, new, CWD, place, RenameFlags::EXCHANGE) {
        Ok(()) => fs::remove_dir_all(new),
        // A file system that cannot do this: the old one steps aside for a moment.
        Err(Errno::INVAL | Errno::NOSYS) => {
            let old = hidden(place, "old");
            fs::rename(place, &old)?;
            match fs::rename(new, place) {
                Ok(()) => fs::remove_dir_all(&old),
                Err(error) => fs::rename(&old, place).and(Err(error)),
            }
        }
        Err(error) => Err(error.into()),
    }
}

fn hidden(folder: &Path, what: &str) -> PathBuf {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    folder.with_file_name(format!(".{name}.{}.{what}", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASE: &str = "version = 1\nid = \"7\"\ncompiler = { llvm = \"19\" }\n\
                        input = \"repro.ll\"\npasses = \"dce\"\nkind = \"crash\"\n";

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_there_goes_only_when_that_was_said_and_it_is_a_case() {
        let root = tempfile::tempdir().unwrap();
        let case = Case::parse(CASE).unwrap();
        let place = root.path().join("cases/7");
        write_case(&place, &case, b"one", false).unwrap();
        assert_eq!(names(&place), ["case.toml", "repro.ll"]);
        assert!(matches!(write_case(&place, &case, b"two", false), Err(CaseError::Exists(_))));
        assert_eq!(fs::read_to_string(place.join("repro.ll")).unwrap(), "one");
        write_case(&place, &case, b"two", true).unwrap();
        assert_eq!(fs::read_to_string(place.join("repro.ll")).unwrap(), "two");
        fs::remove_file(place.join("case.toml")).unwrap();
        assert!(matches!(write_case(&place, &case, b"three", true), Err(CaseError::NotACase(_))));
        assert_eq!(names(&root.path().join("cases")), ["7"]);
    }

    #[test]
    fn a_case_that_is_replaced_is_there_at_every_moment() {
        let root = tempfile::tempdir().unwrap();
        let case = Case::parse(CASE).unwrap();
        let place = root.path().join("7");
        write_case(&place, &case, b"one", false).unwrap();
        let is_over = std::sync::atomic::AtomicBool::new(false);
        let n_missing = std::thread::scope(|scope| {
            let watcher = scope.spawn(|| {
                let mut n_missing = 0;
                while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                    n_missing += usize::from(!place.join("case.toml").exists());
                }
                n_missing
            });
            for _ in 0..500 {
                write_case(&place, &case, b"two", true).unwrap();
            }
            is_over.store(true, std::sync::atomic::Ordering::Relaxed);
            watcher.join().unwrap()
        });
        assert_eq!(n_missing, 0);
        assert_eq!(names(root.path()), ["7"]);
    }

    #[test]
    fn a_folder_that_cannot_be_written_leaves_nothing() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("cases");
        fs::write(&file, "not a folder").unwrap();
        let case = Case::parse(CASE).unwrap();
        let error = write_case(&file.join("7"), &case, b"one", false).unwrap_err();
        assert!(matches!(error, CaseError::Io(_)));
        assert_eq!(names(root.path()), ["cases"]);
    }
}
