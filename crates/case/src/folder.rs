//! A case's folder on disk: `case.toml`, its input, and what jobs leave there.
//!
//! **Invariant:** a file appears whole or not at all, and what cannot be written
//! is an error, never an empty file.

use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;
use optsleuth_model::{
    BISECTION_VERSION, Bisection, CASE_FILE, Case, CaseFolder, CompilerSpec, KeptKind,
    LOCALIZATION_VERSION, Localization, REDUCTION_VERSION, Reduction, SINGLE_PASS_FILE,
    SinglePassForm,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::CaseError;
use crate::workers::LlvmChoice;

/// The result of a reduction, in a case's folder.
const REDUCTION: &str = "reduce.json";
/// The folder for localizations, in a case's folder.
const LOCALIZE: &str = "localize";
/// The file for a bisection, in a case's folder.
const BISECT: &str = "bisect.json";

/// Reads a case's folder, or the `case.toml` in it.
pub fn open_case(path: &Path) -> Result<CaseFolder, CaseError> {
    let is_file = path.file_name().is_some_and(|name| name == CASE_FILE);
    let folder = match (is_file, path.parent()) {
        (true, Some(folder)) => folder.to_owned(),
        _ => path.to_owned(),
    };
    let path = folder.join(CASE_FILE);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                return Err(CaseError::NoCase(folder));
            }
            _ => return Err(CaseError::Unreadable(error)),
        },
    };
    let case = Case::parse(&text).map_err(|source| CaseError::CaseText { path, source })?;
    let opened = CaseFolder { folder, case };
    match opened.input().is_file() {
        true => Ok(opened),
        false => Err(CaseError::NoInput(opened.input())),
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
/// its bisection, and what this method localized.
pub fn forget(case: &CaseFolder, method: &str) -> io::Result<()> {
    let bisection = [BISECT, SINGLE_PASS_FILE].map(|name| case.folder.join(name));
    let localization = localization_path(case, method);
    bisection.into_iter().chain([localization]).try_for_each(|path| remove(&path))
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
    let written = fs::write(&beside, text).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // What is left of the attempt, if anything.
        let _ = fs::remove_file(&beside);
    }
    written
}
