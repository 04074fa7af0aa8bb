//! The raw data of a bench on disk: one file per case, method and seed.
//!
//! **Invariant:** a file appears whole or not at all, so whatever ends a bench,
//! what is there can be trusted and need not be measured again.

use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;
use optsleuth_case::folder::write_json;
use optsleuth_model::{Budget, MEASUREMENT_VERSION, Measurement};

use crate::BenchError;

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
    ) -> Result<Option<Measurement>, BenchError> {
        let path = self.path(case, method, seed);
        let text = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other?,
        };
        let foreign = |why: String| BenchError::ForeignMeasurement { path: path.clone(), why };
        let found: Measurement =
            serde_json::from_slice(&text).map_err(|error| foreign(error.to_string()))?;
        if found.version != MEASUREMENT_VERSION {
            return Err(foreign(format!("it is of version {}", found.version)));
        }
        if found.budget != self.budget {
            let (theirs, ours) = (in_words(found.budget), in_words(self.budget));
            return Err(BenchError::OtherBudget { path, theirs, ours });
        }
        if found.setup != setup {
            return Err(BenchError::OtherSetup(path));
        }
        Ok(Some(found))
    }

    /// Keeps a measurement.
    pub(super) fn write(&self, found: &Measurement) -> Result<(), BenchError> {
        let path = self.path(&found.case, &found.method, found.seed);
        Ok(write_json(&path, found)?)
    }
}

/// What the measurements in a folder were given; `None` if there are none.
pub fn measured_budget(folder: &Path) -> Option<Budget> {
    let entries = |path: &Path| {
        let mut paths: Vec<PathBuf> =
            fs::read_dir(path).ok()?.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        Some(paths)
    };
    let files = entries(&folder.join("raw"))?.into_iter().filter_map(|case| entries(&case));
    files.flatten().find_map(|file| {
        let found: Measurement = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
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
        for entry in fs::read_dir(folder)? {
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
