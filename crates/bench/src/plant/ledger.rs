//! `seed.json`: what was tried so far, so that a second call goes on.

use std::path::Path;

use fs_err as fs;
use optsleuth_case::folder::write_whole;
use optsleuth_model::{Funnel, PlantedCase};
use serde::{Deserialize, Serialize};

use crate::BenchError;

/// The file's name in the folder with the cases.
pub(super) const LEDGER: &str = "seed.json";
const VERSION: u32 = 1;

/// Everything that a second call has to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ledger {
    version: u32,
    pub(super) llvm: String,
    pub(super) seed: u64,
    /// A hash of the programs.
    pub(super) programs: String,
    /// How many candidates are behind us, tried or not.
    pub(super) position: usize,
    pub(super) funnel: Funnel,
    pub(super) cases: Vec<PlantedCase>,
}

impl Ledger {
    /// The folder's ledger, or a new one. One of another planting is refused.
    pub(super) fn open(
        folder: &Path,
        llvm: &str,
        seed: u64,
        programs: &str,
        candidates: usize,
    ) -> Result<Ledger, BenchError> {
        let path = folder.join(LEDGER);
        let other = |why: String| BenchError::OtherArguments { folder: folder.to_owned(), why };
        let fresh = Ledger {
            version: VERSION,
            llvm: llvm.to_owned(),
            seed,
            programs: programs.to_owned(),
            position: 0,
            funnel: Funnel { candidates, ..Funnel::default() },
            cases: Vec::new(),
        };
        let text = match fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(fresh),
            other => other?,
        };
        let found: Ledger = serde_json::from_slice(&text)
            .map_err(|error| other(format!("its {LEDGER} cannot be read: {error}")))?;
        let differences = [
            ("LLVM", found.llvm.clone(), fresh.llvm.clone()),
            ("the seed", found.seed.to_string(), fresh.seed.to_string()),
            ("the programs", found.programs.clone(), fresh.programs.clone()),
            ("the candidates", found.funnel.candidates.to_string(), candidates.to_string()),
            ("its version", found.version.to_string(), VERSION.to_string()),
        ];
        match differences.into_iter().find(|(_, theirs, ours)| theirs != ours) {
            Some((what, theirs, ours)) => {
                Err(other(format!("{what}: `{theirs}` there, `{ours}` now")))
            }
            None => Ok(found),
        }
    }

    pub(super) fn save(&self, folder: &Path) -> Result<(), BenchError> {
        let path = folder.join(LEDGER);
        let json = serde_json::to_string_pretty(self).map_err(std::io::Error::from)?;
        Ok(write_whole(&path, json + "\n")?)
    }
}
