//! What only a campaign of pass sequences keeps: rounds with their programs and
//! tests, sequences that reached new parts of the compiler, and exclusions.
//!
//! What a batch of tests showed is written in one transaction, so a hunt that
//! is killed loses the tests in flight and nothing else.

use std::collections::BTreeSet;
use std::path::Path;

use optsleuth_model::{Coverage, Exclusion, PassSequence};
use rusqlite::params;

use crate::HuntError;
use crate::campaign::{
    CampaignKind, Counts, Deviation, Format, Store, add_deviations, put_coverage,
};

pub(super) const FORMAT: Format = Format {
    kind: CampaignKind::Passes,
    tables: "
CREATE TABLE round(number INTEGER PRIMARY KEY, finished INTEGER NOT NULL DEFAULT 0) STRICT;
-- One letter for each test of a program, in the order of the sequences.
CREATE TABLE program(
  round INTEGER NOT NULL, place INTEGER NOT NULL, name TEXT NOT NULL,
  outcomes TEXT NOT NULL DEFAULT '', finished INTEGER NOT NULL DEFAULT 0,
  outvoted INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY(round, place)) STRICT;
-- Short sequences by which programs go wrong, and the findings they show.
CREATE TABLE wrong_code(passes TEXT PRIMARY KEY, finding INTEGER NOT NULL) STRICT;
CREATE TABLE exclusion(data TEXT PRIMARY KEY) STRICT;
-- What reached new parts of the compiler: the number of a program, a sequence.
CREATE TABLE kept(round INTEGER NOT NULL, place INTEGER NOT NULL, sequence INTEGER NOT NULL,
  program INTEGER NOT NULL, passes TEXT NOT NULL, PRIMARY KEY(round, place, sequence)) STRICT;
",
};

const TESTING_SECONDS: &str = "testing-seconds";

/// What a batch of tests showed.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    /// A letter for each.
    pub(super) outcomes: String,
    pub(super) deviations: Vec<Deviation>,
    /// Sequences that reached something new: their numbers and texts.
    pub(super) kept: Vec<(usize, String)>,
}

type Result<T> = std::result::Result<T, HuntError>;

impl Store {
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

    /// The numbers of all rounds that were begun.
    pub(super) fn rounds(&self) -> Result<Vec<u64>> {
        self.rows("SELECT number FROM round ORDER BY number", [], |row| row.get(0))
    }

    /// A round begins, or goes on, with these programs.
    pub(super) fn begin_round(&self, round: u64, programs: &[String]) -> Result<()> {
        self.transact(|transaction| {
            transaction.execute("INSERT OR IGNORE INTO round(number) VALUES(?1)", [round])?;
            for (place, name) in programs.iter().enumerate() {
                let new = "INSERT OR IGNORE INTO program(round, place, name) VALUES(?1, ?2, ?3)";
                transaction.execute(new, params![round, place, name])?;
            }
            Ok(())
        })
    }

    /// A round is over.
    pub(super) fn finish_round(&self, round: u64) -> Result<()> {
        self.execute("UPDATE round SET finished = 1 WHERE number = ?1", [round])
    }

    /// The letters of a program's tests.
    pub(super) fn letters_of(&self, round: u64, place: u64) -> Result<String> {
        let query = "SELECT outcomes FROM program WHERE round = ?1 AND place = ?2";
        Ok(self.one(query, [round, place])?.unwrap_or_default())
    }

    /// Whether nothing is left to do with a program.
    pub(super) fn is_finished(&self, round: u64, place: u64) -> Result<bool> {
        let query = "SELECT finished FROM program WHERE round = ?1 AND place = ?2";
        Ok(self.one(query, [round, place])?.unwrap_or_default())
    }

    /// Keeps what a batch of tests of one program showed, and what of the
    /// compiler was executed until now, if that has grown.
    pub(super) fn add_batch(
        &self,
        round: u64,
        place: u64,
        program: u64,
        batch: &Batch,
        coverage: Option<&Coverage>,
    ) -> Result<()> {
        self.transact(|transaction| {
            put_coverage(transaction, coverage)?;
            transaction.execute(
                "UPDATE program SET outcomes = outcomes || ?3 WHERE round = ?1 AND place = ?2",
                params![round, place, batch.outcomes],
            )?;
            add_deviations(transaction, &batch.deviations)?;
            for (sequence, passes) in &batch.kept {
                let keep = "INSERT OR IGNORE INTO kept VALUES(?1, ?2, ?3, ?4, ?5)";
                transaction.execute(keep, params![round, place, sequence, program, passes])?;
            }
            Ok(())
        })
    }

    /// Nothing more is to be done with a program.
    pub(super) fn finish_program(&self, round: u64, place: u64) -> Result<()> {
        let finish = "UPDATE program SET finished = 1 WHERE round = ?1 AND place = ?2";
        self.execute(finish, [round, place])
    }

    /// Most sequences agree on another behaviour than the unoptimized program's.
    pub(super) fn mark_outvoted(&self, round: u64, place: u64) -> Result<()> {
        let mark = "UPDATE program SET outvoted = 1 WHERE round = ?1 AND place = ?2";
        self.execute(mark, [round, place])
    }

    /// How many programs were outvoted.
    pub(super) fn n_outvoted(&self) -> Result<u64> {
        self.number("SELECT count(*) FROM program WHERE outvoted = 1", [])
    }

    /// How many tests were made.
    pub(super) fn n_round_tests(&self) -> Result<u64> {
        self.number("SELECT coalesce(sum(length(outcomes)), 0) FROM program", [])
    }

    /// Tests, programs that were tested, and letters.
    pub(super) fn round_counts(&self) -> Result<Counts> {
        let query = "SELECT outcomes FROM program WHERE outcomes != ''";
        let letters: Vec<String> = self.rows(query, [], |row| row.get(0))?;
        let programs = letters.len() as u64;
        Ok(Counts { tests: self.n_round_tests()?, programs, letters: letters.concat() })
    }

    /// A sequence shows a finding of wrong code.
    pub(super) fn add_wrong_code(&self, number: u64, passes: &PassSequence) -> Result<()> {
        let add = "INSERT OR IGNORE INTO wrong_code VALUES(?1, ?2)";
        self.execute(add, params![passes.to_string(), number])
    }

    /// All of these, in the order in which they became known.
    pub(super) fn wrong_code(&self) -> Result<Vec<(u64, PassSequence)>> {
        let query = "SELECT finding, passes FROM wrong_code ORDER BY rowid";
        let rows: Vec<(u64, String)> =
            self.rows(query, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let read = |(number, passes): (u64, String)| Some((number, passes.parse().ok()?));
        Ok(rows.into_iter().filter_map(read).collect())
    }

    /// Keeps an exclusion.
    pub(super) fn exclude(&self, exclusion: &Exclusion) -> Result<()> {
        let data = serde_json::to_string(exclusion).map_err(|error| self.damaged(error))?;
        self.execute("INSERT OR IGNORE INTO exclusion VALUES(?1)", [data])
    }

    /// All exclusions, in the order in which they came.
    pub(super) fn exclusions(&self) -> Result<Vec<Exclusion>> {
        let query = "SELECT data FROM exclusion ORDER BY rowid";
        let rows: Vec<String> = self.rows(query, [], |row| row.get(0))?;
        rows.iter()
            .map(|data| serde_json::from_str(data).map_err(|error| self.damaged(error)))
            .collect()
    }

    /// What reached something new before a round: numbers of programs and texts
    /// of sequences.
    pub(super) fn kept_before(&self, round: u64) -> Result<Vec<(u64, String)>> {
        let query = "SELECT program, passes FROM kept WHERE round < ?1
            ORDER BY round, place, sequence";
        self.rows(query, [round], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// How much of the time the tests took.
    pub(super) fn testing_seconds(&self) -> Result<f64> {
        Ok(self.get(TESTING_SECONDS)?.unwrap_or_default())
    }

    /// Keeps that.
    pub(super) fn put_testing_seconds(&self, seconds: f64) -> Result<()> {
        self.put(TESTING_SECONDS, &seconds)
    }

    /// Takes over the rounds of another campaign: programs, outcomes and what
    /// was dismissed. Its findings are for the caller.
    pub(super) fn take_rounds(&self, other: &Path) -> Result<()> {
        self.with_attached(other, |transaction| {
            transaction.execute_batch(
                "INSERT INTO round SELECT * FROM other.round;
                 INSERT INTO program SELECT * FROM other.program;
                 INSERT INTO kept SELECT * FROM other.kept;
                 INSERT INTO rejected SELECT * FROM other.rejected;
                 INSERT INTO deviation SELECT * FROM other.deviation WHERE dismissed IS NOT NULL;
                 INSERT OR IGNORE INTO exclusion SELECT * FROM other.exclusion;",
            )
        })
    }
}

#[cfg(test)]
mod tests;
