//! A campaign on disk: `campaign.db` in its folder, beside the cases. What both
//! kinds of hunts keep: settings, deviations and what became of them, findings,
//! coverage and how it went on.
//!
//! What only one kind has, it keeps in tables of its own (`passes/store.rs`,
//! `variants/store.rs`).
//!
//! **Invariant:** nothing here decides anything; a store says what was done.

use std::ops::Deref;
use std::path::{Component, Path};

use optsleuth_case::CaseError;
use optsleuth_model::{CAMPAIGN_VERSION, Campaign, CaseKind, Coverage, Finding, Growth, Hunt};
use rusqlite::{Connection, Row, params};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::database::{Database, Format};
use super::dedup::is_telling;
use super::test_result::{Mark, counted};
use crate::HuntError;

const TABLES: &str = "
-- Tests that deviate; `finding` and `dismissed` stay empty until one of them is known.
CREATE TABLE deviation(
  unit INTEGER NOT NULL, program INTEGER NOT NULL, position INTEGER NOT NULL,
  test INTEGER NOT NULL, seconds REAL NOT NULL, compiler TEXT NOT NULL, kind TEXT NOT NULL,
  pass TEXT, signature TEXT NOT NULL,
  finding INTEGER, dismissed TEXT, PRIMARY KEY(unit, program, position)) STRICT;
CREATE INDEX deviation_finding ON deviation(finding);
CREATE INDEX deviation_signature ON deviation(signature);
CREATE TABLE finding(number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, data TEXT NOT NULL) STRICT;
-- What is known of a telling mark: its finding.
CREATE TABLE known(compiler TEXT NOT NULL, mark TEXT NOT NULL, finding INTEGER NOT NULL,
  PRIMARY KEY(compiler, mark)) STRICT;
CREATE TABLE growth(seconds REAL NOT NULL, tests INTEGER NOT NULL, findings INTEGER NOT NULL, blocks INTEGER NOT NULL) STRICT;
CREATE TABLE rejected(unit INTEGER NOT NULL, reason TEXT NOT NULL, count INTEGER NOT NULL,
  PRIMARY KEY(unit, reason)) STRICT;
CREATE TABLE coverage(id INTEGER PRIMARY KEY CHECK(id = 0), bits BLOB NOT NULL) STRICT;
";

/// Names of values.
const BEGINNING: &str = "beginning";
const SETTINGS: &str = "settings";
const SECONDS: &str = "seconds";

/// A test of a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TestId {
    /// What is begun, finished and made again as a whole: the number of a round,
    /// or of a base program.
    pub(crate) unit: u64,
    /// The program's place in its round, or the generation of a variant.
    pub(crate) program: u64,
    /// The number of the sequence in the round, or of compiler and level.
    pub(crate) position: u64,
}

/// A test that went wrong, or seems so.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Deviation {
    pub(crate) id: TestId,
    /// The test's number in the campaign.
    pub(crate) test: u64,
    /// When it was made.
    pub(crate) seconds: f64,
    /// `llvm-19`, `gcc-12`.
    pub(crate) compiler: String,
    pub(crate) mark: Mark,
}

/// What became of a deviation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It shows this finding.
    Finding(u64),
    /// It is none, for this reason.
    Dismissed(String),
}

/// What is known of any campaign when it begins.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Beginning {
    pub(crate) seed: u64,
    /// Where programs come from, in words.
    pub(crate) source: String,
    pub(crate) workers: u64,
    pub(crate) n_blocks: u64,
    pub(crate) notes: Vec<String>,
}

/// What only a kind's own tables know of any campaign.
#[derive(Clone, Debug)]
pub(crate) struct Counts {
    pub(crate) tests: u64,
    pub(crate) programs: u64,
    /// The letters of all tests, in no order.
    pub(crate) letters: String,
}

/// A campaign.
#[derive(Debug)]
pub(crate) struct Store(Database);

impl Deref for Store {
    type Target = Database;

    fn deref(&self) -> &Database {
        &self.0
    }
}

type Result<T> = std::result::Result<T, HuntError>;

impl Store {
    /// Begins a campaign in a folder that has none.
    pub(crate) fn create(
        folder: &Path,
        format: &Format,
        beginning: &Beginning,
        settings: &impl Serialize,
    ) -> Result<Store> {
        let store = Store(Database::create(folder, format, TABLES)?);
        store.put(BEGINNING, beginning)?;
        store.put(SETTINGS, settings)?;
        Ok(store)
    }

    /// Goes on with a campaign.
    pub(crate) fn open(folder: &Path, format: &Format) -> Result<Store> {
        Ok(Store(Database::open(folder, format)?))
    }

    /// Looks at a campaign, also while a hunt goes on.
    pub(crate) fn read(folder: &Path, format: &Format) -> Result<Store> {
        Ok(Store(Database::read(folder, format)?))
    }

    /// What the campaign was begun with.
    pub(crate) fn settings<Settings: DeserializeOwned>(&self) -> Result<Settings> {
        self.get(SETTINGS)?.ok_or_else(|| self.damaged("it has no settings"))
    }

    /// What is known of any campaign when it begins.
    pub(crate) fn beginning(&self) -> Result<Beginning> {
        self.get(BEGINNING)?.ok_or_else(|| self.damaged("it does not say how it began"))
    }

    /// How long all sessions took until now.
    pub(crate) fn seconds(&self) -> Result<f64> {
        Ok(self.get(SECONDS)?.unwrap_or_default())
    }

    /// The campaign as a result.
    pub(crate) fn campaign(&self, counts: Counts, hunt: Hunt) -> Result<Campaign> {
        let Beginning { seed, source, workers, n_blocks, notes } = self.beginning()?;
        Ok(Campaign {
            version: CAMPAIGN_VERSION,
            tests: counts.tests,
            findings: self.findings()?.into_iter().map(|(_, finding)| finding).collect(),
            seed,
            source,
            programs: counts.programs,
            outcomes: counted(counts.letters.chars()),
            rejected: self.rejected()?,
            dismissed: self.dismissed()?,
            growth: self.growth()?,
            n_blocks,
            seconds: self.seconds()?,
            workers,
            notes,
            hunt,
        })
    }

    /// The deviations of a program about which nothing is known yet.
    pub(crate) fn open_deviations(&self, unit: u64, program: u64) -> Result<Vec<Deviation>> {
        self.deviations(unit, program, "finding IS NULL AND dismissed IS NULL")
    }

    /// All deviations of a program.
    pub(crate) fn all_deviations(&self, unit: u64, program: u64) -> Result<Vec<Deviation>> {
        self.deviations(unit, program, "true")
    }

    fn deviations(&self, unit: u64, program: u64, which: &str) -> Result<Vec<Deviation>> {
        let query = format!(
            "SELECT position, test, seconds, compiler, kind, pass, signature FROM deviation
             WHERE unit = ?1 AND program = ?2 AND {which} ORDER BY position"
        );
        let read = |row: &Row<'_>| -> rusqlite::Result<(String, Deviation)> {
            let id = TestId { unit, program, position: row.get(0)? };
            // The kind is a text until it is known to be one.
            let (kind, pass, signature) = (CaseKind::Crash, row.get(5)?, row.get(6)?);
            let (test, seconds, compiler) = (row.get(1)?, row.get(2)?, row.get(3)?);
            let mark = Mark { kind, pass, signature };
            Ok((row.get(4)?, Deviation { id, test, seconds, compiler, mark }))
        };
        let rows = self.rows(&query, params![unit, program], read)?;
        let with_kind = |(kind, mut deviation): (String, Deviation)| {
            deviation.mark.kind =
                CaseKind::of_name(&kind).ok_or_else(|| self.damaged(format!("kind {kind}")))?;
            Ok(deviation)
        };
        rows.into_iter().map(with_kind).collect()
    }

    /// What became of a deviation, if that is known.
    pub(crate) fn fate(&self, id: TestId) -> Result<Option<Fate>> {
        let which = "unit = ?1 AND program = ?2 AND position = ?3";
        Ok(self.fates(which, params![id.unit, id.program, id.position])?.pop())
    }

    /// What became of those deviations of a program that have this mark, in the
    /// order of their tests.
    pub(crate) fn fates_alike(&self, deviation: &Deviation) -> Result<Vec<Fate>> {
        let Deviation { id, mark, .. } = deviation;
        let which = "unit = ?1 AND program = ?2 AND kind = ?3 AND pass IS ?4 AND signature = ?5";
        let params = params![id.unit, id.program, mark.kind.name(), mark.pass, mark.signature];
        self.fates(which, params)
    }

    fn fates(&self, which: &str, params: &[&dyn rusqlite::ToSql]) -> Result<Vec<Fate>> {
        let query = format!(
            "SELECT finding, dismissed FROM deviation WHERE {which}
             AND (finding IS NOT NULL OR dismissed IS NOT NULL) ORDER BY position"
        );
        self.rows(&query, params, |row| {
            let (finding, why): (Option<u64>, Option<String>) = (row.get(0)?, row.get(1)?);
            Ok(match finding {
                Some(number) => Fate::Finding(number),
                None => Fate::Dismissed(why.unwrap_or_default()),
            })
        })
    }

    /// How many deviations with this mark were dismissed, in the whole campaign.
    pub(crate) fn n_dismissed(&self, deviation: &Deviation) -> Result<u64> {
        let query = "SELECT count(*) FROM deviation WHERE dismissed IS NOT NULL
            AND compiler = ?1 AND kind = ?2 AND pass IS ?3 AND signature = ?4";
        let Deviation { compiler, mark: Mark { kind, pass, signature }, .. } = deviation;
        self.number(query, params![compiler, kind.name(), pass, signature])
    }

    /// The finding that a deviation shows by its mark alone.
    pub(crate) fn known(&self, deviation: &Deviation) -> Result<Option<u64>> {
        let Deviation { compiler, mark, .. } = deviation;
        if !is_telling(mark) {
            return Ok(None);
        }
        let query = "SELECT finding FROM known WHERE compiler = ?1 AND mark = ?2";
        self.one(query, params![compiler, mark.to_string()])
    }

    /// Says what became of deviations. `shown_by`, if its mark is telling, becomes
    /// known to show the finding; `finding` is a new one and its key.
    pub(crate) fn settle(
        &self,
        ids: &[TestId],
        fate: &Fate,
        shown_by: Option<&Deviation>,
        finding: Option<(&str, &Finding)>,
    ) -> Result<()> {
        let (number, why) = match fate {
            Fate::Finding(number) => (Some(*number), None),
            Fate::Dismissed(why) => (None, Some(why.as_str())),
        };
        let finding = match finding {
            Some((key, finding)) => Some((key, finding.number, self.text(finding)?)),
            None => None,
        };
        self.transact(|transaction| {
            if let Some((key, number, data)) = finding {
                let new = "INSERT INTO finding VALUES(?1, ?2, ?3)";
                transaction.execute(new, params![number, key, data])?;
            }
            if let (Some(Deviation { compiler, mark, .. }), Some(number)) = (shown_by, number)
                && is_telling(mark)
            {
                let known = "INSERT OR IGNORE INTO known VALUES(?1, ?2, ?3)";
                transaction.execute(known, params![compiler, mark.to_string(), number])?;
            }
            for TestId { unit, program, position } in ids {
                transaction.execute(
                    "UPDATE deviation SET finding = ?4, dismissed = ?5
                     WHERE unit = ?1 AND program = ?2 AND position = ?3",
                    params![unit, program, position, number, why],
                )?;
            }
            Ok(())
        })
    }

    /// All findings with their keys, as counted until now.
    pub(crate) fn findings(&self) -> Result<Vec<(String, Finding)>> {
        let query = "SELECT key, data, (SELECT count(*) FROM deviation WHERE finding = number)
            FROM finding ORDER BY number";
        let rows = self.rows(query, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let read = |(key, data, shown): (String, String, u64)| {
            let mut finding: Finding =
                serde_json::from_str(&data).map_err(|error| self.damaged(error))?;
            if !is_inside(&finding.case) {
                let path = self.folder.join(&finding.case);
                let what = "a finding's case outside of its campaign";
                return Err(CaseError::LeadsOut { path, what }.into());
            }
            // Merged campaigns bring duplicates of their own.
            finding.duplicates += shown.saturating_sub(1);
            Ok((key, finding))
        };
        rows.into_iter().map(read).collect()
    }

    /// How many findings there are.
    pub(crate) fn n_findings(&self) -> Result<u64> {
        self.number("SELECT count(*) FROM finding", [])
    }

    /// Adds a finding that was made elsewhere, or its duplicates to a known one.
    pub(crate) fn add_finding(&self, key: &str, finding: &Finding) -> Result<()> {
        let put = "INSERT OR REPLACE INTO finding VALUES(?1, ?2, ?3)";
        self.execute(put, params![finding.number, key, self.text(finding)?])
    }

    fn text(&self, value: &impl Serialize) -> Result<String> {
        serde_json::to_string(value).map_err(|error| self.damaged(error))
    }

    /// Why deviations are no findings, and how many.
    pub(crate) fn dismissed(&self) -> Result<Vec<(String, u64)>> {
        let query = "SELECT dismissed, count(*) FROM deviation WHERE dismissed IS NOT NULL
            GROUP BY dismissed ORDER BY count(*) DESC, dismissed";
        self.rows(query, [], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Counts programs of a round, or for a base program, that were not used.
    pub(crate) fn reject(&self, unit: u64, reason: &str, count: u64) -> Result<()> {
        let add = "INSERT INTO rejected VALUES(?1, ?2, ?3)
            ON CONFLICT(unit, reason) DO UPDATE SET count = count + excluded.count";
        self.execute(add, params![unit, reason, count])
    }

    /// Why programs were not used, and how many.
    pub(crate) fn rejected(&self) -> Result<Vec<(String, u64)>> {
        let query = "SELECT reason, sum(count) FROM rejected GROUP BY reason
            ORDER BY sum(count) DESC, reason";
        self.rows(query, [], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Keeps how far the hunt is.
    pub(crate) fn grow(&self, growth: &Growth) -> Result<()> {
        let Growth { seconds, tests, findings, blocks } = *growth;
        self.put(SECONDS, &seconds)?;
        let new = "INSERT INTO growth VALUES(?1, ?2, ?3, ?4)";
        self.execute(new, params![seconds, tests, findings, blocks])
    }

    /// How it went.
    pub(crate) fn growth(&self) -> Result<Vec<Growth>> {
        let query = "SELECT seconds, tests, findings, blocks FROM growth ORDER BY seconds, tests";
        self.rows(query, [], |row| {
            let (seconds, tests) = (row.get(0)?, row.get(1)?);
            Ok(Growth { seconds, tests, findings: row.get(2)?, blocks: row.get(3)? })
        })
    }

    /// What of the compiler was executed.
    pub(crate) fn coverage(&self) -> Result<Coverage> {
        match self.one::<Vec<u8>>("SELECT bits FROM coverage", [])? {
            Some(bits) => Coverage::from_bytes(&bits).map_err(|error| self.damaged(error)),
            None => Ok(Coverage::default()),
        }
    }
}

/// Whether a place is one in the campaign's folder. It is followed when a campaign
/// is shown and when parts are merged, whoever made it.
fn is_inside(place: &str) -> bool {
    let is_name = |part| matches!(part, Component::Normal(_));
    !place.is_empty() && Path::new(place).components().all(is_name)
}

/// Keeps deviations about which nothing is known yet; what is known of others
/// stays.
pub(crate) fn add_deviations(db: &Connection, all: &[Deviation]) -> rusqlite::Result<()> {
    let new =
        "INSERT OR IGNORE INTO deviation VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, NULL, NULL)";
    for Deviation { id, test, seconds, compiler, mark } in all {
        let Mark { kind, pass, signature } = mark;
        let (unit, program, position) = (id.unit, id.program, id.position);
        let (test, kind) = (*test, kind.name());
        db.execute(
            new,
            params![unit, program, position, test, seconds, compiler, kind, pass, signature],
        )?;
    }
    Ok(())
}

/// Keeps what of the compiler was executed until now, if that has grown.
pub(crate) fn put_coverage(db: &Connection, coverage: Option<&Coverage>) -> rusqlite::Result<()> {
    if let Some(coverage) = coverage {
        let put = "INSERT OR REPLACE INTO coverage VALUES(0, ?1)";
        db.execute(put, [coverage.to_bytes()])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
