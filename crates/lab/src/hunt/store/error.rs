//! Why a campaign's folder cannot be used. What to do about it is said by the
//! command line.

use std::io;
use std::path::PathBuf;

use crate::database::DATABASE;

/// Why a campaign cannot be opened or written.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// There is none.
    #[error("`{}` is not a campaign: it has no {DATABASE}", .0.display())]
    NoCampaign(PathBuf),
    /// There is one already.
    #[error("there is a campaign in `{}` already", .0.display())]
    Exists(PathBuf),
    /// Somebody else hunts there.
    #[error("another hunt is at work in `{}`", .0.display())]
    InUse(PathBuf),
    /// Another version's.
    #[error("`{}` was made by another version of optsleuth: format {found}, and this one has {known}", .folder.display())]
    OtherVersion {
        /// The folder.
        folder: PathBuf,
        /// The format's number.
        found: i64,
        /// The one that can be read.
        known: i64,
    },
    /// Something else was hunted with.
    #[error("the campaign in `{}` is one of {theirs}, not of {ours}", .folder.display())]
    OtherKind {
        /// The folder.
        folder: PathBuf,
        /// What it hunts with.
        theirs: &'static str,
        /// What was expected.
        ours: &'static str,
    },
    /// It was begun with other settings.
    #[error("the campaign in `{}` was begun with another {what}: {theirs}, not {ours}", .folder.display())]
    OtherSettings {
        /// The folder.
        folder: PathBuf,
        /// Which setting.
        what: &'static str,
        /// What it has.
        theirs: String,
        /// What was asked for.
        ours: String,
    },
    /// The same part of a campaign twice.
    #[error("`{}` and `{}` both have round {round}", .first.display(), .second.display())]
    Overlap {
        /// A folder.
        first: PathBuf,
        /// Another one.
        second: PathBuf,
        /// A round that both did.
        round: u64,
    },
    /// The disk is full.
    #[error("the disk with `{}` is full; everything until then is kept", .0.display())]
    DiskFull(PathBuf),
    /// The database fails.
    #[error("the campaign's database in `{}` fails", .folder.display())]
    Database {
        /// The folder.
        folder: PathBuf,
        /// How.
        source: rusqlite::Error,
    },
    /// What is in it makes no sense.
    #[error("the campaign's database in `{}` is damaged: {what}", .folder.display())]
    Damaged {
        /// The folder.
        folder: PathBuf,
        /// Where.
        what: String,
    },
    /// The folder cannot be used.
    #[error("cannot {doing}")]
    Io {
        /// What was tried.
        doing: String,
        /// Why it failed.
        source: io::Error,
    },
}
