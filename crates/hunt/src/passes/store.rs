//! A campaign of programs and sequences on disk: `campaign.db` in its folder,
//! beside the cases.
//!
//! What a batch of tests showed is written in one transaction, so a hunt that
//! is killed loses the tests in flight and nothing else.
//!
//! **Invariant:** nothing here decides anything; a store says what was done.

mod course;

use std::collections::BTreeSet;
use std::ops::Deref;
use std::path::Path;

use optsleuth_model::{CAMPAIGN_VERSION, CaseKind, Coverage, Finding, HuntSettings};
use rusqlite::{OptionalExtension, params};

use crate::HuntError;
use crate::campaign::database::{CampaignKind, DATABASE, Database, Format};

const FORMAT: Format =
    Format { kind: CampaignKind::Sequences, version: CAMPAIGN_VERSION, tables: TABLES };

const TABLES: &str = "
CREATE TABLE round(number INTEGER PRIMARY KEY, finished INTEGER NOT NULL DEFAULT 0) STRICT;
-- One letter for each test of a program, in the order of the sequences.
CREATE TABLE program(
  round INTEGER NOT NULL, place INTEGER NOT NULL, name TEXT NOT NULL,
  outcomes TEXT NOT NULL DEFAULT '', finished INTEGER NOT NULL DEFAULT 0,
  outvoted INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY(round, place)) STRICT;
-- Tests that deviate; `finding` and `dismissed` stay empty until one of them is known.
CREATE TABLE deviation(
  round INTEGER NOT NULL, place INTEGER NOT NULL, sequence INTEGER NOT NULL,
  test INTEGER NOT NULL, seconds REAL NOT NULL, kind TEXT NOT NULL, mark TEXT NOT NULL,
  finding INTEGER, dismissed TEXT, PRIMARY KEY(round, place, sequence)) STRICT;
CREATE INDEX deviation_finding ON deviation(finding);
CREATE INDEX deviation_mark ON deviation(mark);
CREATE TABLE finding(number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, data TEXT NOT NULL) STRICT;
-- What is known of a mark: its finding.
CREATE TABLE known(mark TEXT PRIMARY KEY, finding INTEGER NOT NULL) STRICT;
CREATE TABLE exclusion(data TEXT PRIMARY KEY) STRICT;
CREATE TABLE growth(seconds REAL NOT NULL, tests INTEGER NOT NULL, findings INTEGER NOT NULL, blocks INTEGER NOT NULL) STRICT;
CREATE TABLE rejected(reason TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT;
-- What reached new parts of the compiler: the number of a program, a sequence.
CREATE TABLE kept(round INTEGER NOT NULL, place INTEGER NOT NULL, sequence INTEGER NOT NULL,
  program INTEGER NOT NULL, passes TEXT NOT NULL, PRIMARY KEY(round, place, sequence)) STRICT;
CREATE TABLE coverage(id INTEGER PRIMARY KEY CHECK(id = 0), bits BLOB NOT NULL) STRICT;
";

/// A test that went wrong, or seems so.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Deviation {
    /// The sequence's number in its round.
    pub(super) sequence: usize,
    /// The test's number in the campaign.
    pub(super) test: u64,
    pub(super) seconds: f64,
    pub(super) kind: CaseKind,
    /// What tells it from others of its kind, before anything is reduced.
    pub(super) mark: String,
}

/// What became of a deviation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It shows this finding.
    Finding(u64),
    /// It is none, for this reason.
    Dismissed(String),
}

/// One test's place: round, program, sequence.
pub(super) type Place = (u64, usize, usize);

/// What a batch of tests showed.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    /// A letter for each.
    pub(super) outcomes: String,
    pub(super) deviations: Vec<Deviation>,
    /// Sequences that reached something new: their numbers and texts.
    pub(super) kept: Vec<(usize, String)>,
}

/// A campaign of programs and sequences.
#[derive(Debug)]
pub(super) struct Store(Database);

impl Deref for Store {
    type Target = Database;

    fn deref(&self) -> &Database {
        &self.0
    }
}

type Result<T> = std::result::Result<T, HuntError>;

impl Store {
    /// Begins a campaign in a folder that has none.
    pub(super) fn create(folder: &Path, llvm: &str, settings: &HuntSettings) -> Result<Store> {
        let store = Store(Database::create(folder, &FORMAT)?);
        store.put("llvm", llvm)?;
        store.put("settings", settings)?;
        Ok(store)
    }

    /// Goes on with a campaign.
    pub(super) fn open(folder: &Path) -> Result<Store> {
        Ok(Store(Database::open(folder, &FORMAT)?))
    }

    /// Looks at a campaign, also while somebody hunts.
    pub(super) fn read(folder: &Path) -> Result<Store> {
        Ok(Store(Database::read(folder, &FORMAT)?))
    }

    /// What the campaign was begun with.
    pub(super) fn settings(&self) -> Result<HuntSettings> {
        self.get("settings")?.ok_or_else(|| self.damaged("it has no settings"))
    }

    /// The LLVM it is about.
    pub(super) fn llvm(&self) -> Result<String> {
        self.get("llvm")?.ok_or_else(|| self.damaged("it names no LLVM"))
    }

    /// The first round that is not finished, of those that are this shard's.
    pub(super) fn next_round(&self, (shard, of): (u64, u64)) -> Result<u64> {
        let finished = "SELECT number FROM round WHERE finished = 1";
        let finished: BTreeSet<u64> =
            self.rows(finished, [], |row| row.get(0))?.into_iter().collect();
        let mut number = shard - 1;
        while finished.contains(&number) {
            number += of;
        }
        Ok(number)
    }

    /// How many rounds were begun.
    pub(super) fn n_rounds(&self) -> Result<u64> {
        self.number("SELECT count(*) FROM round", [])
    }

    /// The numbers of all rounds.
    pub(super) fn rounds(&self) -> Result<Vec<u64>> {
        self.rows("SELECT number FROM round ORDER BY number", [], |row| row.get(0))
    }

    /// A round begins, or goes on, with these programs.
    pub(super) fn begin_round(&self, round: u64, programs: &[String]) -> Result<()> {
        let begin = || -> rusqlite::Result<()> {
            let transaction = self.db.unchecked_transaction()?;
            transaction.execute("INSERT OR IGNORE INTO round(number) VALUES(?1)", [round])?;
            for (place, name) in programs.iter().enumerate() {
                let new = "INSERT OR IGNORE INTO program(round, place, name) VALUES(?1, ?2, ?3)";
                transaction.execute(new, params![round, place, name])?;
            }
            transaction.commit()
        };
        begin().map_err(|error| self.failure(error))
    }

    /// A round is over.
    pub(super) fn finish_round(&self, round: u64) -> Result<()> {
        self.execute("UPDATE round SET finished = 1 WHERE number = ?1", [round])
    }

    /// How many tests of a program were made, and whether all came to an end.
    pub(super) fn progress_of(&self, round: u64, place: usize) -> Result<(usize, bool)> {
        let query =
            "SELECT length(outcomes), finished FROM program WHERE round = ?1 AND place = ?2";
        let found =
            self.db.query_row(query, params![round, place], |row| Ok((row.get(0)?, row.get(1)?)));
        found.optional().map(Option::unwrap_or_default).map_err(|error| self.failure(error))
    }

    /// The letters of a program's tests.
    pub(super) fn letters_of(&self, round: u64, place: usize) -> Result<String> {
        let query = "SELECT outcomes FROM program WHERE round = ?1 AND place = ?2";
        let found = self.db.query_row(query, params![round, place], |row| row.get(0));
        found.map_err(|error| self.failure(error))
    }

    /// Keeps what a batch of tests of one program showed, and what of the
    /// compiler was executed until now, if that has grown.
    pub(super) fn add_batch(
        &self,
        round: u64,
        place: usize,
        program: u64,
        batch: &Batch,
        coverage: Option<&Coverage>,
    ) -> Result<()> {
        let add = || -> rusqlite::Result<()> {
            let transaction = self.db.unchecked_transaction()?;
            if let Some(coverage) = coverage {
                let cover = "INSERT OR REPLACE INTO coverage VALUES(0, ?1)";
                transaction.execute(cover, [coverage.to_bytes()])?;
            }
            transaction.execute(
                "UPDATE program SET outcomes = outcomes || ?3 WHERE round = ?1 AND place = ?2",
                params![round, place, batch.outcomes],
            )?;
            for Deviation { sequence, test, seconds, kind, mark } in &batch.deviations {
                transaction.execute(
                    "INSERT OR IGNORE INTO deviation(round, place, sequence, test, seconds, kind, mark)
                     VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                    params![round, place, sequence, test, seconds, kind.name(), mark],
                )?;
            }
            for (sequence, passes) in &batch.kept {
                let keep = "INSERT OR IGNORE INTO kept VALUES(?1, ?2, ?3, ?4, ?5)";
                transaction.execute(keep, params![round, place, sequence, program, passes])?;
            }
            transaction.commit()
        };
        add().map_err(|error| self.failure(error))
    }

    /// Nothing more is to be done with a program.
    pub(super) fn finish_program(&self, round: u64, place: usize) -> Result<()> {
        let finish = "UPDATE program SET finished = 1 WHERE round = ?1 AND place = ?2";
        self.execute(finish, params![round, place])
    }

    /// Most sequences agree on another behaviour than the unoptimized program's.
    pub(super) fn mark_outvoted(&self, round: u64, place: usize) -> Result<()> {
        let mark = "UPDATE program SET outvoted = 1 WHERE round = ?1 AND place = ?2";
        self.execute(mark, params![round, place])
    }

    /// How many programs were outvoted.
    pub(super) fn n_outvoted(&self) -> Result<u64> {
        self.number("SELECT count(*) FROM program WHERE outvoted = 1", [])
    }

    /// The deviations of a program about which nothing is known yet.
    pub(super) fn open_deviations(&self, round: u64, place: usize) -> Result<Vec<Deviation>> {
        self.deviations(round, place, "finding IS NULL AND dismissed IS NULL")
    }

    /// All deviations of a program.
    pub(super) fn all_deviations(&self, round: u64, place: usize) -> Result<Vec<Deviation>> {
        self.deviations(round, place, "true")
    }

    fn deviations(&self, round: u64, place: usize, which: &str) -> Result<Vec<Deviation>> {
        let query = format!(
            "SELECT sequence, test, seconds, kind, mark FROM deviation
             WHERE round = ?1 AND place = ?2 AND {which} ORDER BY sequence"
        );
        let found = self.rows(&query, params![round, place], |row| {
            let kind: String = row.get(3)?;
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, kind, row.get(4)?))
        })?;
        let read = |(sequence, test, seconds, kind, mark): (usize, u64, f64, String, String)| {
            let kind = CaseKind::of_name(&kind).ok_or_else(|| self.damaged(&kind))?;
            Ok(Deviation { sequence, test, seconds, kind, mark })
        };
        found.into_iter().map(read).collect()
    }

    /// What became of the last deviation of a program with this mark, and how
    /// many of them something became of.
    pub(super) fn settled_alike(
        &self,
        round: u64,
        place: usize,
        mark: &str,
    ) -> Result<Option<(u64, Fate)>> {
        let query = "SELECT finding, dismissed FROM deviation
            WHERE round = ?1 AND place = ?2 AND mark = ?3
              AND (finding IS NOT NULL OR dismissed IS NOT NULL) ORDER BY sequence";
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let mut rows: Vec<(Option<u64>, Option<String>)> =
            self.rows(query, params![round, place, mark], read)?;
        let count = rows.len() as u64;
        Ok(rows.pop().map(|(finding, why)| (count, fate(finding, why))))
    }

    /// How many deviations with this mark were dismissed, in the whole campaign.
    pub(super) fn n_dismissed(&self, mark: &str) -> Result<u64> {
        let query = "SELECT count(*) FROM deviation WHERE mark = ?1 AND dismissed IS NOT NULL";
        self.number(query, [mark])
    }

    /// The finding that a mark is known to show.
    pub(super) fn known(&self, mark: &str) -> Result<Option<u64>> {
        let query = "SELECT finding FROM known WHERE mark = ?1";
        self.db
            .query_row(query, [mark], |row| row.get(0))
            .optional()
            .map_err(|error| self.failure(error))
    }

    /// What follows this beginning in marks of findings, with their numbers, in
    /// the order in which they became known.
    pub(super) fn known_with(&self, beginning: &str) -> Result<Vec<(String, u64)>> {
        let query = "SELECT substr(mark, length(?1) + 1), finding FROM known
            WHERE substr(mark, 1, length(?1)) = ?1 ORDER BY rowid";
        self.rows(query, [beginning], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Says what became of a deviation; `finding`, if it is new, and the mark
    /// that shows it become known with it.
    pub(super) fn settle(
        &self,
        (round, place, sequence): Place,
        fate: &Fate,
        mark: Option<&str>,
        finding: Option<(&str, &Finding)>,
    ) -> Result<()> {
        let (number, why) = match fate {
            Fate::Finding(number) => (Some(*number), None),
            Fate::Dismissed(why) => (None, Some(why.as_str())),
        };
        let settle = || -> rusqlite::Result<()> {
            let transaction = self.db.unchecked_transaction()?;
            if let Some((key, finding)) = finding {
                let data = serde_json::to_string(finding).unwrap_or_default();
                let new = "INSERT INTO finding VALUES(?1, ?2, ?3)";
                transaction.execute(new, params![finding.number, key, data])?;
            }
            if let (Some(mark), Some(number)) = (mark, number) {
                let known = "INSERT OR IGNORE INTO known VALUES(?1, ?2)";
                transaction.execute(known, params![mark, number])?;
            }
            transaction.execute(
                "UPDATE deviation SET finding = ?4, dismissed = ?5
                 WHERE round = ?1 AND place = ?2 AND sequence = ?3",
                params![round, place, sequence, number, why],
            )?;
            transaction.commit()
        };
        settle().map_err(|error| self.failure(error))
    }

    /// The number of the finding with this key.
    pub(super) fn finding_of_key(&self, key: &str) -> Result<Option<u64>> {
        let query = "SELECT number FROM finding WHERE key = ?1";
        self.db
            .query_row(query, [key], |row| row.get(0))
            .optional()
            .map_err(|error| self.failure(error))
    }

    /// All findings with their keys, as counted until now.
    pub(super) fn findings(&self) -> Result<Vec<(String, Finding)>> {
        let query = "SELECT key, data, (SELECT count(*) FROM deviation WHERE finding = number)
            FROM finding ORDER BY number";
        let rows = self.rows(query, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let read = |(key, data, shown): (String, String, u64)| {
            let mut finding: Finding =
                serde_json::from_str(&data).map_err(|error| self.damaged(error))?;
            // Merged campaigns bring duplicates of their own.
            finding.duplicates += shown.saturating_sub(1);
            Ok((key, finding))
        };
        rows.into_iter().map(read).collect()
    }

    /// How many findings there are.
    pub(super) fn n_findings(&self) -> Result<u64> {
        self.number("SELECT count(*) FROM finding", [])
    }

    /// Adds a finding that was made elsewhere, or its duplicates to a known one.
    pub(super) fn add_finding(&self, key: &str, finding: &Finding) -> Result<()> {
        let data = serde_json::to_string(finding).map_err(|error| self.damaged(error))?;
        let put = "INSERT OR REPLACE INTO finding VALUES(?1, ?2, ?3)";
        self.execute(put, params![finding.number, key, data])
    }

    /// Takes over the rounds of another campaign: programs, outcomes and what
    /// was dismissed. Its findings are for the caller.
    pub(super) fn take_rounds(&self, other: &Path) -> Result<()> {
        let path = other.join(DATABASE);
        let take = || -> rusqlite::Result<()> {
            self.db.execute("ATTACH DATABASE ?1 AS other", [path.to_string_lossy()])?;
            let transaction = self.db.unchecked_transaction()?;
            transaction.execute_batch(
                "INSERT INTO round SELECT * FROM other.round;
                 INSERT INTO program SELECT * FROM other.program;
                 INSERT INTO kept SELECT * FROM other.kept;
                 INSERT INTO deviation SELECT round, place, sequence, test, seconds, kind, mark,
                   NULL, dismissed FROM other.deviation WHERE dismissed IS NOT NULL;
                 INSERT OR IGNORE INTO exclusion SELECT * FROM other.exclusion;
                 INSERT INTO rejected SELECT * FROM other.rejected WHERE true
                   ON CONFLICT(reason) DO UPDATE SET count = count + excluded.count;",
            )?;
            transaction.commit()?;
            self.db.execute("DETACH DATABASE other", [])?;
            Ok(())
        };
        take().map_err(|error| self.failure(error))
    }
}

/// What two columns say.
fn fate(finding: Option<u64>, dismissed: Option<String>) -> Fate {
    match finding {
        Some(number) => Fate::Finding(number),
        None => Fate::Dismissed(dismissed.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests;
