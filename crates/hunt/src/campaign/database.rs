//! A campaign's database, whatever was hunted with: `campaign.db` in its folder,
//! opened, locked, and asked for values by their names.
//!
//! **Invariant:** one hunt at a time has a folder, and a campaign of one kind is
//! never taken for one of the other.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fs_err as fs;
use optsleuth_case::folder::stays_inside;
use optsleuth_model::CAMPAIGN_VERSION;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::HuntError;
use crate::error::DATABASE;

/// Who has this file locked has the folder.
const LOCK: &str = "campaign.lock";
/// A process that is just being started has all open files of the one that
/// starts it for a moment, a lock that was given up since among them.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);
/// Values by their names.
const META: &str = "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;";

/// What a campaign hunts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CampaignKind {
    /// Programs and pass sequences.
    Passes,
    /// Variants of programs.
    Variants,
}

impl CampaignKind {
    /// The kind of a folder's campaign.
    pub fn of(folder: &Path) -> Result<CampaignKind> {
        has_database(folder)?;
        Database::connect(folder, OpenFlags::SQLITE_OPEN_READ_WRITE, None)?.kind()
    }

    /// The numbers of kinds in databases.
    fn id(self) -> i64 {
        match self {
            CampaignKind::Passes => 0,
            CampaignKind::Variants => 1,
        }
    }

    /// The subcommand of `optsleuth hunt` that makes and resumes it.
    pub fn name(self) -> &'static str {
        match self {
            CampaignKind::Passes => "passes",
            CampaignKind::Variants => "variants",
        }
    }
}

/// A kind of campaign and the tables that only it has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    pub(crate) kind: CampaignKind,
    pub(crate) tables: &'static str,
}

/// A campaign that is open for writing, or for reading alone.
#[derive(Debug)]
pub(crate) struct Database {
    pub(crate) db: Connection,
    pub(crate) folder: PathBuf,
    _lock: Option<File>,
}

type Result<T> = std::result::Result<T, HuntError>;

impl Database {
    /// Begins a campaign in a folder that has none.
    pub(crate) fn create(folder: &Path, format: &Format, tables: &str) -> Result<Database> {
        fs::create_dir_all(folder)?;
        let lock = lock(folder)?;
        if folder.join(DATABASE).exists() {
            if !Database::is_stillborn(folder)? {
                return Err(HuntError::CampaignExists(folder.to_owned()));
            }
            fs::remove_file(folder.join(DATABASE))?;
        }
        let database = Database::connect(folder, OpenFlags::default(), Some(lock))?;
        let wal = database.db.pragma_update(None, "journal_mode", "WAL");
        wal.map_err(|error| database.failure(error))?;
        database.transact(|transaction| {
            for tables in [META, tables, format.tables] {
                transaction.execute_batch(tables)?;
            }
            transaction.pragma_update(None, "user_version", CAMPAIGN_VERSION)?;
            transaction.pragma_update(None, "application_id", format.kind.id())
        })?;
        Ok(database)
    }

    /// Whether a campaign ended before anything was in it.
    fn is_stillborn(folder: &Path) -> Result<bool> {
        let database = Database::connect(folder, OpenFlags::SQLITE_OPEN_READ_WRITE, None)?;
        let tables = "SELECT count(*) FROM sqlite_master WHERE name = 'meta'";
        let is_empty = database.number(tables, [])? == 0;
        Ok(is_empty || database.get::<serde_json::Value>("begun")?.is_none())
    }

    /// From now on it is a campaign, and its folder is taken.
    pub(crate) fn mark_begun(&self) -> Result<()> {
        self.put("begun", &true)
    }

    /// Goes on with a campaign.
    pub(crate) fn open(folder: &Path, format: &Format) -> Result<Database> {
        has_database(folder)?;
        let lock = lock(folder)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        Database::connect(folder, flags, Some(lock))?.checked(format)
    }

    /// Looks at a campaign, also while a hunt goes on.
    pub(crate) fn read(folder: &Path, format: &Format) -> Result<Database> {
        has_database(folder)?;
        Database::connect(folder, OpenFlags::SQLITE_OPEN_READ_WRITE, None)?.checked(format)
    }

    fn connect(folder: &Path, flags: OpenFlags, lock: Option<File>) -> Result<Database> {
        let failure = |source| HuntError::Database { folder: folder.to_owned(), source };
        let db = Connection::open_with_flags(folder.join(DATABASE), flags).map_err(failure)?;
        db.busy_timeout(Duration::from_secs(10)).map_err(failure)?;
        // A database of another user may have triggers and views of its own.
        db.pragma_update(None, "trusted_schema", false).map_err(failure)?;
        // In WAL mode a kill loses nothing with it, and a power cut at most the
        // last batches.
        db.pragma_update(None, "synchronous", "NORMAL").map_err(failure)?;
        Ok(Database { db, folder: folder.to_owned(), _lock: lock })
    }

    fn checked(self, format: &Format) -> Result<Database> {
        let kind = self.kind()?;
        if kind != format.kind {
            let (folder, ours) = (self.folder.clone(), format.kind);
            return Err(HuntError::OtherKind { folder, theirs: kind.name(), ours: ours.name() });
        }
        let found = self.pragma("user_version")?;
        match found == CAMPAIGN_VERSION {
            true => Ok(self),
            false => {
                let (folder, known) = (self.folder.clone(), CAMPAIGN_VERSION);
                Err(HuntError::OtherVersion { folder, found, known })
            }
        }
    }

    fn kind(&self) -> Result<CampaignKind> {
        let id = self.pragma("application_id")?;
        let all = [CampaignKind::Passes, CampaignKind::Variants];
        let known = all.into_iter().find(|kind| kind.id() == id);
        known.ok_or_else(|| self.damaged(format!("it is of kind {id}")))
    }

    fn pragma(&self, name: &str) -> Result<i64> {
        let found = self.db.pragma_query_value(None, name, |row| row.get(0));
        found.map_err(|error| self.failure(error))
    }

    /// What an error of SQLite means.
    pub(crate) fn failure(&self, source: rusqlite::Error) -> HuntError {
        match source.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => HuntError::DiskFull(self.folder.clone()),
            _ => HuntError::Database { folder: self.folder.clone(), source },
        }
    }

    /// What is in it makes no sense.
    pub(crate) fn damaged(&self, what: impl std::fmt::Display) -> HuntError {
        HuntError::Damaged { folder: self.folder.clone(), what: what.to_string() }
    }

    /// Keeps a value under a name.
    pub(crate) fn put(&self, key: &str, value: &(impl Serialize + ?Sized)) -> Result<()> {
        let text = serde_json::to_string(value).map_err(|error| self.damaged(error))?;
        self.execute("INSERT OR REPLACE INTO meta VALUES(?1, ?2)", params![key, text])
    }

    /// The value of a name, where there is one.
    pub(crate) fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>> {
        let query = "SELECT value FROM meta WHERE key = ?1";
        let text: Option<String> = self.one(query, [key])?;
        text.map(|text| serde_json::from_str(&text).map_err(|error| self.damaged(error)))
            .transpose()
    }

    /// All of this, or nothing of it.
    pub(crate) fn transact(
        &self,
        change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()>,
    ) -> Result<()> {
        let all = || -> rusqlite::Result<()> {
            let transaction = self.db.unchecked_transaction()?;
            change(&transaction)?;
            transaction.commit()
        };
        all().map_err(|error| self.failure(error))
    }

    /// The same, with another campaign's database attached as `other`.
    pub(crate) fn with_attached(
        &self,
        other: &Path,
        change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()>,
    ) -> Result<()> {
        let path = other.join(DATABASE);
        self.execute("ATTACH DATABASE ?1 AS other", [path.to_string_lossy()])?;
        self.transact(change)?;
        self.execute("DETACH DATABASE other", [])
    }

    /// Runs a statement.
    pub(crate) fn execute(&self, statement: &str, params: impl rusqlite::Params) -> Result<()> {
        match self.db.execute(statement, params) {
            Ok(_) => Ok(()),
            Err(error) => Err(self.failure(error)),
        }
    }

    /// All rows of a query.
    pub(crate) fn rows<T>(
        &self,
        query: &str,
        params: impl rusqlite::Params,
        read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let rows = || -> rusqlite::Result<Vec<T>> {
            self.db.prepare_cached(query)?.query_map(params, read)?.collect()
        };
        rows().map_err(|error| self.failure(error))
    }

    /// The one value of a query, where there is one.
    pub(crate) fn one<T: rusqlite::types::FromSql>(
        &self,
        query: &str,
        params: impl rusqlite::Params,
    ) -> Result<Option<T>> {
        let found = self.db.query_row(query, params, |row| row.get(0)).optional();
        found.map_err(|error| self.failure(error))
    }

    /// A number.
    pub(crate) fn number(&self, query: &str, params: impl rusqlite::Params) -> Result<u64> {
        self.db.query_row(query, params, |row| row.get(0)).map_err(|error| self.failure(error))
    }
}

/// Whether there is a campaign, whoever made it: nothing in its folder leads out.
fn has_database(folder: &Path) -> Result<()> {
    match folder.join(DATABASE).is_file() {
        true => Ok(stays_inside(folder)?),
        false => Err(HuntError::NoCampaign(folder.to_owned())),
    }
}

/// Takes the folder for this process; the system gives it back when that ends.
fn lock(folder: &Path) -> Result<File> {
    let path = folder.join(LOCK);
    let file = File::options().create(true).append(true).open(&path)?;
    let patience = Instant::now() + LOCK_PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < patience => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(TryLockError::WouldBlock) => return Err(HuntError::InUse(folder.to_owned())),
            Err(TryLockError::Error(source)) => return Err(source.into()),
        }
    }
}
