//! `seed.json`: what was tried so far, so that a second call goes on.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::case_folder::write_whole;
use crate::setup::LabError;

/// The file's name in the folder with the cases.
pub(super) const LEDGER: &str = "seed.json";
const VERSION: u32 = 1;

/// What became of the candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Funnel {
    /// Blocks that some but not most programs reach.
    pub candidates: usize,
    /// Those that were tried.
    pub tried: usize,
    /// Of these: the block has nothing that could be changed safely.
    pub unchangeable: usize,
    /// Every run was as without the fault.
    pub no_effect: usize,
    /// The compiler did not start, or took no program.
    pub too_much: usize,
    /// It did not fail every time, or in no way that makes a case.
    pub unstable: usize,
    /// Became a case.
    pub kept: usize,
}

/// One case that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeededCase {
    /// The case's folder and id.
    pub id: String,
    /// The part of LLVM.
    pub component: String,
    /// The source file.
    pub file: String,
    /// The function.
    pub function: String,
    /// What was done to it.
    pub change: String,
    /// How it fails.
    pub kind: String,
    /// How many passes it takes.
    pub passes: usize,
}

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
    pub(super) cases: Vec<SeededCase>,
}

impl Ledger {
    /// The folder's ledger, or a new one. One of another seeding is refused.
    pub(super) fn open(
        folder: &Path,
        llvm: &str,
        seed: u64,
        programs: &str,
        candidates: usize,
    ) -> Result<Ledger, LabError> {
        let path = folder.join(LEDGER);
        let other = |why: String| LabError::OtherArguments { folder: folder.to_owned(), why };
        let fresh = Ledger {
            version: VERSION,
            llvm: llvm.to_owned(),
            seed,
            programs: programs.to_owned(),
            position: 0,
            funnel: Funnel { candidates, ..Funnel::default() },
            cases: Vec::new(),
        };
        let text = match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(fresh),
            other => other.map_err(|source| LabError::Io {
                doing: format!("read `{}`", path.display()),
                source,
            })?,
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

    pub(super) fn save(&self, folder: &Path) -> Result<(), LabError> {
        let path = folder.join(LEDGER);
        let json = serde_json::to_string_pretty(self).unwrap_or_else(|error| {
            unreachable!("numbers and strings: {error}");
        });
        write_whole(&path, &(json + "\n"))
            .map_err(|source| LabError::Io { doing: format!("write `{}`", path.display()), source })
    }
}
