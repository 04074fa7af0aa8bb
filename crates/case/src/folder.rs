//! A case's folder on disk: `case.toml`, its input, and what jobs leave there.
//!
//! **Invariant:** a file appears whole or not at all, and what cannot be written
//! is an error, never an empty file.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use fs_err as fs;
use optsleuth_compiler::CompilerError;
use optsleuth_compiler::surroundings::Surroundings;
use optsleuth_model::{
    BISECTION_VERSION, Bisection, CASE_FILE, Case, CaseFolder, CompilerSpec, DEFINEDNESS_VERSION,
    Definedness, KeptKind, LOCALIZATION_VERSION, Localization, REDUCTION_VERSION, Reduction,
    SINGLE_PASS_FILE, SinglePassForm, Trust,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::CaseError;
use crate::trust::demands;
use crate::workers::LlvmChoice;

/// The result of a reduction, in a case's folder.
const REDUCTION: &str = "reduce.json";
/// The folder for localizations, in a case's folder.
const LOCALIZE: &str = "localize";
/// The file for a bisection, in a case's folder.
const BISECT: &str = "bisect.json";
/// The file that says who was asked whether the program is defined.
const DEFINEDNESS: &str = "definedness.json";

/// Reads a case's folder, or the `case.toml` in it. Refuses what is more than data,
/// unless it is trusted, and a folder that leads out of itself.
pub fn open_case(path: &Path, trust: Trust) -> Result<CaseFolder, CaseError> {
    let is_file = path.file_name().is_some_and(|name| name == CASE_FILE);
    let folder = match (is_file, path.parent()) {
        (true, Some(folder)) => folder.to_owned(),
        _ => path.to_owned(),
    };
    let path = folder.join(CASE_FILE);
    if path.symlink_metadata().is_ok() {
        stays_inside(&folder)?;
    }
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                return Err(CaseError::NoCase(folder));
            }
            _ => return Err(CaseError::Unreadable(error)),
        },
    };
    let case = match Case::parse(&text) {
        Ok(case) => case,
        Err(source) => return Err(CaseError::CaseText { path, source: Box::new(source) }),
    };
    let what = demands(&case);
    if trust == Trust::Data && !what.is_empty() {
        return Err(CaseError::Untrusted { path, what });
    }
    let opened = CaseFolder { folder, case, trust };
    surroundings(&opened)?;
    match opened.input().is_file() {
        true => Ok(opened),
        false => Err(CaseError::NoInput(opened.input())),
    }
}

/// What the programs of a case get when they are executed.
pub fn surroundings(case: &CaseFolder) -> Result<Surroundings, CompilerError> {
    Surroundings::find(&case.case.execution, &case.folder, case.trust == Trust::Author)
}

/// Whether all links in the folder of a case or a campaign end in it. Jobs read and
/// write files there by their names; this is why none of them has to look where a
/// name leads.
pub fn stays_inside(folder: &Path) -> Result<(), CaseError> {
    let root = fs::canonicalize(folder).map_err(CaseError::Unreadable)?;
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        let Some(entries) = if_there(fs::read_dir(&folder))? else { continue };
        for entry in entries {
            let path = entry.map_err(CaseError::Unreadable)?.path();
            let Some(found) = if_there(fs::symlink_metadata(&path))? else { continue };
            let kind = found.file_type();
            let what = if kind.is_symlink() {
                let is_inside = path.canonicalize().is_ok_and(|end| end.starts_with(&root));
                (!is_inside).then_some("a link that leads out of its folder, or nowhere")
            } else if kind.is_dir() {
                folders.push(path.clone());
                None
            } else {
                (!kind.is_file()).then_some("neither a file nor a folder")
            };
            if let Some(what) = what {
                return Err(CaseError::LeadsOut { path, what });
            }
        }
    }
    Ok(())
}

/// What went while we looked is none of our business.
fn if_there<T>(found: io::Result<T>) -> Result<Option<T>, CaseError> {
    match found {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some).map_err(CaseError::Unreadable),
    }
}

/// The LLVM a case is about.
pub fn llvm_of(case: &Case) -> Result<LlvmChoice, CaseError> {
    match &case.compiler {
        // Checked to be a number when the case was read.
        CompilerSpec::Llvm(number) => Ok(LlvmChoice::Version(number.parse().unwrap_or_default())),
        CompilerSpec::LlvmConfig(path) => Ok(LlvmChoice::Config(PathBuf::from(path))),
        CompilerSpec::Clang(by) => Err(CaseError::DriverCase(format!("clang {by}"))),
        CompilerSpec::Gcc(by) => Err(CaseError::DriverCase(format!("gcc {by}"))),
    }
}

/// How far the case was reduced; `None` if that was never tried.
pub fn kept_reduction(case: &CaseFolder) -> Result<Option<Reduction>, CaseError> {
    let path = case.folder.join(REDUCTION);
    read_kept(&path, KeptKind::Reduction, |kept: &Reduction| (kept.version, REDUCTION_VERSION))
}

/// What was bisected, if it was.
pub fn kept_bisection(case: &CaseFolder) -> Result<Option<Bisection>, CaseError> {
    let path = case.folder.join(BISECT);
    read_kept(&path, KeptKind::Bisection, |kept: &Bisection| (kept.version, BISECTION_VERSION))
}

/// Who was asked whether the case's program is defined; `None` if that is not known.
pub fn kept_definedness(case: &CaseFolder) -> Result<Option<Definedness>, CaseError> {
    let path = case.folder.join(DEFINEDNESS);
    let versions = |kept: &Definedness| (kept.version, DEFINEDNESS_VERSION);
    read_kept(&path, KeptKind::Definedness, versions)
}

/// Keeps who was asked with the case; what was kept of another program goes.
pub fn save_definedness(case: &CaseFolder, said: &Definedness) -> io::Result<()> {
    let path = case.folder.join(DEFINEDNESS);
    match said.asked.is_empty() {
        true => remove(&path),
        false => write_json(&path, said),
    }
}

/// What was localized so far, by the methods' names.
pub fn kept_localizations(case: &CaseFolder) -> Result<Vec<Localization>, CaseError> {
    let entries = match fs::read_dir(case.folder.join(LOCALIZE)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(CaseError::Unreadable)?,
    };
    let mut all = Vec::new();
    for entry in entries.flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let versions = |kept: &Localization| (kept.version, LOCALIZATION_VERSION);
            all.extend(read_kept(&path, KeptKind::Localization, versions)?);
        }
    }
    all.sort_by(|a, b| a.method.cmp(&b.method));
    Ok(all)
}

/// A kept result; `None` if there is none. `versions` are its own and the one
/// that can be read here.
fn read_kept<T: DeserializeOwned>(
    path: &Path,
    kind: KeptKind,
    versions: impl FnOnce(&T) -> (u32, u32),
) -> Result<Option<T>, CaseError> {
    let text = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(CaseError::Unreadable)?,
    };
    let stale = |why: String| CaseError::Stale { kind, path: path.to_owned(), why };
    let kept: T = serde_json::from_slice(&text).map_err(|error| stale(error.to_string()))?;
    match versions(&kept) {
        (own, known) if own == known => Ok(Some(kept)),
        (own, _) => Err(stale(format!("it is of version {own}"))),
    }
}

/// Removes what was found about a case that is about to become another one:
/// its bisection, who was asked about its program, and what this method localized.
pub fn forget(case: &CaseFolder, method: &str) -> io::Result<()> {
    let kept = [BISECT, SINGLE_PASS_FILE, DEFINEDNESS].map(|name| case.folder.join(name));
    let localization = localization_path(case, method);
    kept.into_iter().chain([localization]).try_for_each(|path| remove(&path))
}

/// Removes the kept result of a reduction.
pub fn forget_reduction(case: &CaseFolder) -> io::Result<()> {
    remove(&case.folder.join(REDUCTION))
}

/// Keeps the result of a reduction with its case.
pub fn save_reduction(case: &CaseFolder, reduction: &Reduction) -> io::Result<()> {
    write_json(&case.folder.join(REDUCTION), reduction)
}

/// Keeps the result of a bisection with its case, and its single-pass form
/// beside it. One that an earlier bisection left goes.
pub fn save_bisection(case: &CaseFolder, found: &Bisection) -> io::Result<()> {
    let module = case.folder.join(SINGLE_PASS_FILE);
    match &found.single_pass {
        SinglePassForm::Found(form) => write_whole(&module, &form.ir)?,
        SinglePassForm::Missing { .. } => remove(&module)?,
    }
    write_json(&case.folder.join(BISECT), found)
}

/// Keeps the result of a localization with its case.
pub fn save_localization(case: &CaseFolder, found: &Localization) -> io::Result<()> {
    write_json(&localization_path(case, &found.method), found)
}

fn localization_path(case: &CaseFolder, method: &str) -> PathBuf {
    case.folder.join(LOCALIZE).join(format!("{method}.json"))
}

/// Removes a file that may not be there.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Writes data as JSON into a file that appears whole.
pub fn write_json(path: &Path, data: &impl Serialize) -> io::Result<()> {
    write_whole(path, serde_json::to_vec(data)?)
}

/// Writes a file that appears whole; folders on the way are made.
pub fn write_whole(path: &Path, text: impl AsRef<[u8]>) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder {
        fs::create_dir_all(folder)?;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    // Not through a link that somebody put there.
    remove(&beside)?;
    let new = fs::OpenOptions::new().write(true).create_new(true).open(&beside);
    let written = new
        .and_then(|mut file| file.write_all(text.as_ref()))
        .and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // What is left of the attempt, if anything.
        let _ = fs::remove_file(&beside);
    }
    written
}
