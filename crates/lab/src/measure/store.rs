//! The raw data of a bench on disk: one file per case, method and seed.
//!
//! **Invariant:** a file appears whole or not at all, so whatever ends a bench,
//! what is there can be trusted and need not be measured again.

use std::io;
use std::path::{Path, PathBuf};

use optsleuth_model::{Budget, MEASUREMENT_VERSION, Measurement};

use crate::case_folder::write_whole;

/// Why raw data cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file cannot be read or written.
    #[error("cannot read or write `{}`", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Not what this program writes.
    #[error("`{}` is not a measurement that can be read here: {why}", .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// A measurement of another text of the case, or with other limits.
    #[error("`{}` was measured before the case or the limits changed", .0.display())]
    OtherSetup(PathBuf),
    /// A measurement with another budget: it cannot stand in one table with
    /// new ones.
    #[error("`{}` was measured with another budget: {theirs} instead of {ours}", .path.display())]
    OtherBudget {
        /// The file.
        path: PathBuf,
        /// What it was measured with.
        theirs: String,
        /// What is asked for.
        ours: String,
    },
}

/// A folder of raw data.
#[derive(Clone, Debug)]
pub(super) struct Store {
    folder: PathBuf,
    budget: Budget,
}

impl Store {
    /// For searches with this budget.
    pub(super) fn new(folder: PathBuf, budget: Budget) -> Store {
        Store { folder, budget }
    }

    fn path(&self, case: &str, method: &str, seed: u64) -> PathBuf {
        self.folder.join("raw").join(case).join(format!("{method}-{seed}.json"))
    }

    /// What was measured already.
    pub(super) fn read(
        &self,
        case: &str,
        method: &str,
        seed: u64,
        setup: &str,
    ) -> Result<Option<Measurement>, StoreError> {
        let path = self.path(case, method, seed);
        let text = match std::fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(|source| StoreError::Io { path: path.clone(), source })?,
        };
        let foreign = |why: String| StoreError::Foreign { path: path.clone(), why };
        let found: Measurement =
            serde_json::from_slice(&text).map_err(|error| foreign(error.to_string()))?;
        if found.version != MEASUREMENT_VERSION {
            return Err(foreign(format!("it is of version {}", found.version)));
        }
        if found.budget != self.budget {
            let (theirs, ours) = (in_words(found.budget), in_words(self.budget));
            return Err(StoreError::OtherBudget { path, theirs, ours });
        }
        if found.setup != setup {
            return Err(StoreError::OtherSetup(path));
        }
        Ok(Some(found))
    }

    /// Keeps a measurement.
    pub(super) fn write(&self, found: &Measurement) -> Result<(), StoreError> {
        let path = self.path(&found.case, &found.method, found.seed);
        let io = |source| StoreError::Io { path: path.clone(), source };
        let json = serde_json::to_string(found).map_err(|error| io(error.into()))?;
        write_whole(&path, &(json + "\n")).map_err(io)
    }
}

/// What the measurements in a folder were given; `None` if there are none.
pub fn measured_budget(folder: &Path) -> Option<Budget> {
    let entries = |path: &Path| {
        let mut paths: Vec<PathBuf> =
            std::fs::read_dir(path).ok()?.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        Some(paths)
    };
    let files = entries(&folder.join("raw"))?.into_iter().filter_map(|case| entries(&case));
    files.flatten().find_map(|file| {
        let found: Measurement = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
        Some(found.budget)
    })
}

fn in_words(budget: Budget) -> String {
    let runs = budget.runs.map(|runs| format!("{runs} runs"));
    let seconds = budget.seconds.map(|seconds| format!("{seconds} s"));
    let both: Vec<String> = runs.into_iter().chain(seconds).collect();
    if both.is_empty() { "no limit".to_owned() } else { both.join(" and ") }
}

/// The folders of cases in these folders, by name; a folder that is a case
/// stands for itself.
pub(super) fn case_folders(folders: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let is_case = |path: &Path| path.join(optsleuth_model::CASE_FILE).is_file();
    let mut cases = Vec::new();
    for folder in folders {
        if is_case(folder) {
            cases.push(folder.clone());
            continue;
        }
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            // What begins with a dot is on its way to become something else.
            let is_hidden =
                path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
            if !is_hidden && is_case(&path) {
                cases.push(path);
            }
        }
    }
    for case in &mut cases {
        *case = case.canonicalize()?;
    }
    cases.sort();
    cases.dedup();
    Ok(cases)
}
