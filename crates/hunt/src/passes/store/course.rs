//! How a campaign went: counts, exclusions, growth and coverage. What became of
//! single tests is beside this.

use optsleuth_model::{Coverage, Exclusion, Growth};
use rusqlite::{OptionalExtension, params};

use super::{Result, Store};

impl Store {
    /// How many tests were made.
    pub(in crate::passes) fn n_tests(&self) -> Result<u64> {
        self.number("SELECT coalesce(sum(length(outcomes)), 0) FROM program", [])
    }

    /// How many programs were tested.
    pub(in crate::passes) fn n_programs(&self) -> Result<u64> {
        self.number("SELECT count(*) FROM program WHERE outcomes != ''", [])
    }

    /// All letters of all tests, in no order.
    pub(in crate::passes) fn outcomes(&self) -> Result<String> {
        let texts: Vec<String> = self.rows("SELECT outcomes FROM program", [], |row| row.get(0))?;
        Ok(texts.concat())
    }

    /// Why deviations are no findings, and how many.
    pub(in crate::passes) fn dismissed(&self) -> Result<Vec<(String, u64)>> {
        let query = "SELECT dismissed, count(*) FROM deviation WHERE dismissed IS NOT NULL
            GROUP BY dismissed ORDER BY count(*) DESC, dismissed";
        self.rows(query, [], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Keeps an exclusion.
    pub(in crate::passes) fn exclude(&self, exclusion: &Exclusion) -> Result<()> {
        let data = serde_json::to_string(exclusion).map_err(|error| self.damaged(error))?;
        self.execute("INSERT OR IGNORE INTO exclusion VALUES(?1)", [data])
    }

    /// All exclusions, in the order in which they came.
    pub(in crate::passes) fn exclusions(&self) -> Result<Vec<Exclusion>> {
        let query = "SELECT data FROM exclusion ORDER BY rowid";
        let rows: Vec<String> = self.rows(query, [], |row| row.get(0))?;
        rows.iter()
            .map(|data| serde_json::from_str(data).map_err(|error| self.damaged(error)))
            .collect()
    }

    /// Keeps how far the hunt is.
    pub(in crate::passes) fn grow(&self, growth: &Growth) -> Result<()> {
        let Growth { seconds, tests, findings, blocks } = *growth;
        self.execute(
            "INSERT INTO growth VALUES(?1, ?2, ?3, ?4)",
            params![seconds, tests, findings, blocks],
        )
    }

    /// How it went.
    pub(in crate::passes) fn growth(&self) -> Result<Vec<Growth>> {
        let query = "SELECT seconds, tests, findings, blocks FROM growth ORDER BY seconds, tests";
        self.rows(query, [], |row| {
            Ok(Growth {
                seconds: row.get(0)?,
                tests: row.get(1)?,
                findings: row.get(2)?,
                blocks: row.get(3)?,
            })
        })
    }

    /// Counts programs that were not used.
    pub(in crate::passes) fn reject(&self, reason: &str, count: u64) -> Result<()> {
        let add = "INSERT INTO rejected VALUES(?1, ?2)
            ON CONFLICT(reason) DO UPDATE SET count = count + excluded.count";
        self.execute(add, params![reason, count])
    }

    /// Why programs were not used, and how many.
    pub(in crate::passes) fn rejected(&self) -> Result<Vec<(String, u64)>> {
        let query = "SELECT reason, count FROM rejected ORDER BY count DESC, reason";
        self.rows(query, [], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// What reached something new before a round: numbers of programs and texts
    /// of sequences.
    pub(in crate::passes) fn kept_before(&self, round: u64) -> Result<Vec<(u64, String)>> {
        let query = "SELECT program, passes FROM kept WHERE round < ?1
            ORDER BY round, place, sequence";
        self.rows(query, [round], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// What of the compiler was executed.
    pub(in crate::passes) fn coverage(&self) -> Result<Coverage> {
        let bits: Option<Vec<u8>> = self
            .db
            .query_row("SELECT bits FROM coverage", [], |row| row.get(0))
            .optional()
            .map_err(|error| self.failure(error))?;
        match bits {
            Some(bits) => Coverage::from_bytes(&bits).map_err(|error| self.damaged(error)),
            None => Ok(Coverage::default()),
        }
    }

    /// Keeps it.
    pub(in crate::passes) fn cover(&self, coverage: &Coverage) -> Result<()> {
        let bits = coverage.to_bytes();
        self.execute("INSERT OR REPLACE INTO coverage VALUES(0, ?1)", [bits])
    }
}
