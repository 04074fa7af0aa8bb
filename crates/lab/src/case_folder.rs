//! A case's folder on disk: `case.toml`, its input, and what jobs leave there.
//!
//! **Invariant:** a file appears whole or not at all.

use std::io;
use std::path::{Path, PathBuf};

use optsleuth_model::{
    BISECTION_VERSION, Bisection, CASE_FILE, Case, CaseError, CompilerSpec, LOCALIZATION_VERSION,
    Localization, REDUCTION_VERSION, Reduction, SINGLE_PASS_FILE, SinglePassForm,
};

use crate::setup::LlvmChoice;

/// Why a folder is not a case.
#[derive(Debug, thiserror::Error)]
pub enum CaseFolderError {
    /// It has no `case.toml`.
    #[error("`{}` is not a case: it has no {CASE_FILE}", .0.display())]
    NoCase(PathBuf),
    /// `case.toml` cannot be read.
    #[error("cannot read `{}`", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// `case.toml` is wrong.
    #[error("{}:{}: {}", .path.display(), .source.line, .source)]
    Wrong {
        /// The file.
        path: PathBuf,
        /// Where and what.
        source: CaseError,
    },
    /// The input is not there.
    #[error("the case's input `{}` does not exist", .0.display())]
    NoInput(PathBuf),
    /// A kept result is of another version.
    #[error("`{}` is not a {} that can be read here: {why}", .path.display(), .kind.noun())]
    Stale {
        /// What it should be.
        kind: KeptKind,
        /// The file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// Nothing was found out yet.
    #[error("nothing was localized or bisected in `{}` yet", .0.display())]
    NotLocalized(PathBuf),
    /// A case of a compiler that is a command and nothing else.
    #[error("the case is about {0} as its users call it, and nothing can be seen inside of that")]
    Driver(String),
}

/// What jobs keep in a case's folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptKind {
    /// `localize/<method>.json`.
    Localization,
    /// `bisect.json`.
    Bisection,
    /// `reduce.json`.
    Reduction,
}

impl KeptKind {
    /// What it is called.
    fn noun(self) -> &'static str {
        match self {
            KeptKind::Localization => "localization",
            KeptKind::Bisection => "bisection",
            KeptKind::Reduction => "reduction",
        }
    }

    /// The command that makes it.
    pub fn command(self) -> &'static str {
        match self {
            KeptKind::Localization => "optsleuth localize",
            KeptKind::Bisection => "optsleuth bisect",
            KeptKind::Reduction => "optsleuth reduce",
        }
    }
}

/// The result of a reduction, in a case's folder.
const REDUCTION: &str = "reduce.json";
/// The folder for localizations, in a case's folder.
const LOCALIZE: &str = "localize";
/// The file for a bisection, in a case's folder.
const BISECT: &str = "bisect.json";

/// A case and where it lies.
#[derive(Clone, Debug)]
pub struct CaseFolder {
    /// The folder.
    pub folder: PathBuf,
    /// What `case.toml` says.
    pub case: Case,
}

impl CaseFolder {
    /// Reads a case's folder, or the `case.toml` in it.
    pub fn open(path: &Path) -> Result<CaseFolder, CaseFolderError> {
        let is_file = path.file_name().is_some_and(|name| name == CASE_FILE);
        let folder = match (is_file, path.parent()) {
            (true, Some(folder)) => folder.to_owned(),
            _ => path.to_owned(),
        };
        let file = folder.join(CASE_FILE);
        let text = std::fs::read_to_string(&file).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                CaseFolderError::NoCase(folder.clone())
            }
            _ => CaseFolderError::Unreadable { path: file.clone(), source },
        })?;
        let case = Case::parse(&text)
            .map_err(|source| CaseFolderError::Wrong { path: file.clone(), source })?;
        let opened = CaseFolder { folder, case };
        if !opened.input().is_file() {
            return Err(CaseFolderError::NoInput(opened.input()));
        }
        Ok(opened)
    }

    /// The program's path.
    pub fn input(&self) -> PathBuf {
        self.folder.join(&self.case.input)
    }

    /// The LLVM the case is about.
    pub fn llvm(&self) -> Result<LlvmChoice, CaseFolderError> {
        match &self.case.compiler {
            // Checked to be a number when the case was read.
            CompilerSpec::Llvm(number) => {
                Ok(LlvmChoice::Version(number.parse().unwrap_or_default()))
            }
            CompilerSpec::LlvmConfig(path) => Ok(LlvmChoice::Config(PathBuf::from(path))),
            CompilerSpec::Clang(by) => Err(CaseFolderError::Driver(format!("clang {by}"))),
            CompilerSpec::Gcc(by) => Err(CaseFolderError::Driver(format!("gcc {by}"))),
        }
    }

    /// Where the result of a reduction is kept.
    pub fn reduction_path(&self) -> PathBuf {
        self.folder.join(REDUCTION)
    }

    /// How far the case was reduced; `None` if that was never tried.
    pub fn reduction(&self) -> Result<Option<Reduction>, CaseFolderError> {
        let path = self.reduction_path();
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(CaseFolderError::Unreadable { path, source }),
        };
        let kind = KeptKind::Reduction;
        let stale = |path, why| CaseFolderError::Stale { kind, path, why };
        match serde_json::from_slice::<Reduction>(&text) {
            Ok(read) if read.version == REDUCTION_VERSION => Ok(Some(read)),
            Ok(read) => Err(stale(path, format!("it is of version {}", read.version))),
            Err(error) => Err(stale(path, error.to_string())),
        }
    }

    /// Where the result of a localization is kept.
    pub fn localization(&self, method: &str) -> PathBuf {
        self.folder.join(LOCALIZE).join(format!("{method}.json"))
    }

    /// What was localized so far, by the methods' names.
    pub fn localizations(&self) -> Result<Vec<Localization>, CaseFolderError> {
        let folder = self.folder.join(LOCALIZE);
        let unreadable = |path: &Path| {
            let path = path.to_owned();
            move |source| CaseFolderError::Unreadable { path, source }
        };
        let entries = match std::fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(unreadable(&folder))?,
        };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        let read = |path: &PathBuf| {
            let text = std::fs::read(path).map_err(unreadable(path))?;
            let kind = KeptKind::Localization;
            let stale = |why: String| CaseFolderError::Stale { kind, path: path.clone(), why };
            let read: Localization =
                serde_json::from_slice(&text).map_err(|error| stale(error.to_string()))?;
            match read.version {
                LOCALIZATION_VERSION => Ok(read),
                other => Err(stale(format!("it is of version {other}"))),
            }
        };
        let mut all = paths.iter().map(read).collect::<Result<Vec<Localization>, _>>()?;
        all.sort_by(|a, b| a.method.cmp(&b.method));
        Ok(all)
    }

    /// What was bisected, if it was.
    pub fn bisection(&self) -> Result<Option<Bisection>, CaseFolderError> {
        let path = self.folder.join(BISECT);
        let text = match std::fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other
                .map_err(|source| CaseFolderError::Unreadable { path: path.clone(), source })?,
        };
        let kind = KeptKind::Bisection;
        let stale = |why: String| CaseFolderError::Stale { kind, path: path.clone(), why };
        let read: Bisection =
            serde_json::from_slice(&text).map_err(|error| stale(error.to_string()))?;
        match read.version {
            BISECTION_VERSION => Ok(Some(read)),
            other => Err(stale(format!("it is of version {other}"))),
        }
    }
}

/// Removes what was found about a case that is about to become another one:
/// its bisection, and what this method localized.
pub(crate) fn forget(case: &CaseFolder, method: &str) -> io::Result<()> {
    let bisection = [BISECT, SINGLE_PASS_FILE].map(|name| case.folder.join(name));
    for path in bisection.into_iter().chain([case.localization(method)]) {
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Keeps the result of a bisection with its case, and its single-pass form
/// beside it. One that an earlier bisection left goes.
pub fn save_bisection(case: &Path, found: &Bisection, json: &str) -> io::Result<()> {
    let case = CaseFolder::open(case).map_err(io::Error::other)?;
    let module = case.folder.join(SINGLE_PASS_FILE);
    match &found.single_pass {
        SinglePassForm::Found(form) => write_whole(&module, &form.ir)?,
        SinglePassForm::Missing { .. } => match std::fs::remove_file(&module) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        },
    }
    write_whole(&case.folder.join(BISECT), json)
}

/// Keeps the result of a localization with its case.
pub fn save_localization(case: &Path, method: &str, json: &str) -> io::Result<()> {
    let case = CaseFolder::open(case).map_err(io::Error::other)?;
    write_whole(&case.localization(method), json)
}

/// Writes a file that appears whole; folders on the way are made.
pub fn write_whole(path: &Path, text: impl AsRef<[u8]>) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder)?;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let written = std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, path));
    if written.is_err() {
        // What is left of the attempt, if anything.
        let _ = std::fs::remove_file(&beside);
    }
    written
}
