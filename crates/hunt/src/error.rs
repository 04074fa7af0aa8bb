//! Why a hunt cannot begin, or cannot go on.

use std::path::PathBuf;

use optsleuth_case::{CaseError, case_errors_through, errors_through};
use optsleuth_mutate::MutateError;
use optsleuth_triage::TriageError;

/// The database of a campaign, in its folder.
pub(crate) const DATABASE: &str = "campaign.db";

/// Why a hunt cannot begin, or cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum HuntError {
    /// Something is wrong with a case, a compiler or the machine.
    #[error(transparent)]
    Case(CaseError),
    /// A finding cannot be reduced or bisected, or its tools are missing.
    #[error(transparent)]
    Triage(TriageError),
    /// There is no campaign.
    #[error("`{}` is not a campaign: it has no {DATABASE}", .0.display())]
    NoCampaign(PathBuf),
    /// There is a campaign already.
    #[error("there is a campaign in `{}` already", .0.display())]
    CampaignExists(PathBuf),
    /// Another process hunts there.
    #[error("another hunt is running in `{}`", .0.display())]
    InUse(PathBuf),
    /// A campaign of another version of OptSleuth.
    #[error("`{}` was made by another version of optsleuth: format {found}, and this one has {known}", .folder.display())]
    OtherVersion {
        folder: PathBuf,
        /// The number of its format.
        found: i64,
        /// The one that can be read.
        known: i64,
    },
    /// A campaign that hunts with something else.
    #[error("the campaign in `{}` was made by `optsleuth hunt {theirs}`, not by `optsleuth hunt {ours}`", .folder.display())]
    OtherKind { folder: PathBuf, theirs: &'static str, ours: &'static str },
    /// A campaign that was begun with other settings.
    #[error("the campaign in `{}` was begun with another {what}: {theirs}, not {ours}", .folder.display())]
    OtherSettings {
        folder: PathBuf,
        /// Which setting.
        what: &'static str,
        theirs: String,
        ours: String,
    },
    /// The same part of a campaign twice.
    #[error("`{}` and `{}` both have {what}", .first.display(), .second.display())]
    Overlap { first: PathBuf, second: PathBuf, what: String },
    /// The disk is full.
    #[error("the disk with `{}` is full; everything until then is kept", .0.display())]
    DiskFull(PathBuf),
    /// SQLite fails.
    #[error("the campaign's database in `{}` fails", .folder.display())]
    Database { folder: PathBuf, source: rusqlite::Error },
    /// The database holds what no version of OptSleuth writes.
    #[error("the campaign's database in `{}` is damaged: {what}", .folder.display())]
    Damaged { folder: PathBuf, what: String },
    /// A word that names no size of programs.
    #[error("`{0}` is neither small nor paper")]
    UnknownSize(String),
    /// A word that names no way to choose csmith's probabilities.
    #[error("`{0}` is none of default, on-off and graded")]
    UnknownSwarm(String),
    /// No pass that a sequence could have.
    #[error("no pass is left for sequences to be made of")]
    NothingToDraw,
    /// A file that lists no pass.
    #[error("`{}` lists no pass", .0.display())]
    NoPasses(PathBuf),
    /// A folder without programs.
    #[error("there is no program in `{}`: nothing in it ends in .c, .ll or .bc", .0.display())]
    EmptyFolder(PathBuf),
    /// A case of a compiler that was not broken on purpose.
    #[error("the case in `{}` has no fault", .0.display())]
    NoFault(PathBuf),
    /// A fault that cannot be read.
    #[error("the campaign's fault cannot be read: {0}")]
    BadFault(String),
    /// A fault that no compiler under test has.
    #[error("the fault is one of LLVM {0}, and llvm-{0} is not among the compilers")]
    FaultNotTested(u32),
}

impl From<TriageError> for HuntError {
    fn from(error: TriageError) -> HuntError {
        match error {
            TriageError::Case(error) => HuntError::Case(error),
            error => HuntError::Triage(error),
        }
    }
}

impl From<CaseError> for HuntError {
    fn from(error: CaseError) -> HuntError {
        HuntError::Case(error)
    }
}

case_errors_through!(HuntError::Case);

errors_through!(HuntError::Triage, MutateError);
