//! A campaign of variants on disk: `campaign.db` in its folder, beside the cases.
//!
//! A seed with all that came of it is written in one transaction; one that was
//! cut short is there, too, until it is tested anew and replaced.
//!
//! **Invariant:** nothing here decides anything; a store says what was done.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::path::Path;

use optsleuth_model::{
    Coverage, EMI_CAMPAIGN_VERSION, EmiError, EmiFinding, EmiGrowth, StrategyCount,
};
use rusqlite::params;

use super::seed::{Fate, Tested};
use crate::HuntError;
use crate::campaign::database::{CampaignKind, Database, Format};

const TABLES: &str = "
CREATE TABLE seed(number INTEGER PRIMARY KEY, name TEXT NOT NULL, usable INTEGER NOT NULL,
  finished INTEGER NOT NULL) STRICT;
-- Generation 0 is the seed itself. One letter for each test, in the order of
-- compilers and levels; `error` is what speaks against the variant.
CREATE TABLE variant(
  seed INTEGER NOT NULL, generation INTEGER NOT NULL, strategy TEXT, snippets INTEGER NOT NULL,
  outcomes TEXT NOT NULL, error TEXT, PRIMARY KEY(seed, generation)) STRICT;
CREATE TABLE rejected(seed INTEGER NOT NULL, reason TEXT NOT NULL, count INTEGER NOT NULL,
  PRIMARY KEY(seed, reason)) STRICT;
-- What became of deviating tests. They are named by seed, generation, compiler and level.
CREATE TABLE deviation(
  seed INTEGER NOT NULL, generation INTEGER NOT NULL, test INTEGER NOT NULL,
  finding INTEGER, dismissed TEXT, PRIMARY KEY(seed, generation, test)) STRICT;
CREATE INDEX deviation_finding ON deviation(finding);
CREATE TABLE finding(number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, data TEXT NOT NULL) STRICT;
CREATE TABLE growth(seconds REAL NOT NULL, variants INTEGER NOT NULL, tests INTEGER NOT NULL,
  findings INTEGER NOT NULL, blocks INTEGER NOT NULL) STRICT;
CREATE TABLE coverage(id INTEGER PRIMARY KEY CHECK(id = 0), bits BLOB NOT NULL) STRICT;
";

const FORMAT: Format =
    Format { kind: CampaignKind::Emi, version: EMI_CAMPAIGN_VERSION, tables: TABLES };

/// A campaign of variants.
#[derive(Debug)]
pub struct Store(Database);

impl Deref for Store {
    type Target = Database;

    fn deref(&self) -> &Database {
        &self.0
    }
}

/// What became of deviating tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// They show this finding.
    Finding(u64),
    /// They are none, for this reason.
    Dismissed(String),
}

/// A test's place: seed, generation, number among the generation's tests.
pub type Place = (u64, u64, usize);

type Result<T> = std::result::Result<T, HuntError>;

impl Store {
    /// Begins a campaign in a folder that has none.
    pub fn create(folder: &Path) -> Result<Store> {
        Ok(Store(Database::create(folder, &FORMAT)?))
    }

    /// Goes on with a campaign.
    pub fn open(folder: &Path) -> Result<Store> {
        Ok(Store(Database::open(folder, &FORMAT)?))
    }

    /// Looks at a campaign, also while somebody hunts.
    pub fn read(folder: &Path) -> Result<Store> {
        Ok(Store(Database::read(folder, &FORMAT)?))
    }

    /// The numbers of all seeds that nothing is left to do with.
    pub fn finished(&self) -> Result<BTreeSet<u64>> {
        let query = "SELECT number FROM seed WHERE finished = 1";
        Ok(self.rows(query, [], |row| row.get(0))?.into_iter().collect())
    }

    /// Keeps what came of a seed, but for what becomes of its deviations, and
    /// what of the compiler was executed until now, if that has grown.
    pub fn add(&self, tested: &Tested, coverage: Option<&Coverage>) -> Result<()> {
        let add = || -> rusqlite::Result<()> {
            let transaction = self.db.unchecked_transaction()?;
            let Tested { number, name, expected, .. } = tested;
            for table in ["variant", "rejected"] {
                let old = format!("DELETE FROM {table} WHERE seed = ?1");
                transaction.execute(&old, [number])?;
            }
            // Seeds with open deviations are not finished.
            transaction.execute(
                "INSERT OR REPLACE INTO seed VALUES(?1, ?2, ?3, 0)",
                params![number, name, expected.is_some()],
            )?;
            for (reason, count) in &tested.rejected {
                let new = "INSERT INTO rejected VALUES(?1, ?2, ?3)";
                transaction.execute(new, params![number, reason, count])?;
            }
            for generation in &tested.generations {
                let (outcomes, error) = match &generation.fate {
                    Fate::Nothing => ("", None),
                    Fate::Error(why) => ("", Some(why)),
                    Fate::Tested(letters, _) => (letters.as_str(), None),
                };
                transaction.execute(
                    "INSERT INTO variant VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
                    params![
                        number,
                        generation.number,
                        generation.strategy.map(|strategy| strategy.name()),
                        generation.n_snippets,
                        outcomes,
                        error
                    ],
                )?;
            }
            if let Some(coverage) = coverage {
                let cover = "INSERT OR REPLACE INTO coverage VALUES(0, ?1)";
                transaction.execute(cover, [coverage.to_bytes()])?;
            }
            transaction.commit()
        };
        add().map_err(|error| self.failure(error))
    }

    /// Nothing more is to be done with a seed.
    pub fn finish(&self, seed: u64) -> Result<()> {
        self.execute("UPDATE seed SET finished = 1 WHERE number = ?1", [seed])
    }

    /// Says what became of deviating tests; `finding`, if it is new, becomes
    /// known with it.
    pub fn settle(
        &self,
        places: &[Place],
        outcome: &Outcome,
        finding: Option<(&str, &EmiFinding)>,
    ) -> Result<()> {
        let (number, why) = match outcome {
            Outcome::Finding(number) => (Some(*number), None),
            Outcome::Dismissed(why) => (None, Some(why.as_str())),
        };
        let data = finding.map(|(_, finding)| serde_json::to_string(finding)).transpose();
        let data = data.map_err(|error| self.damaged(error))?;
        let settle = || -> rusqlite::Result<()> {
            let transaction = self.db.unchecked_transaction()?;
            if let (Some((key, finding)), Some(data)) = (finding, data) {
                let new = "INSERT INTO finding VALUES(?1, ?2, ?3)";
                transaction.execute(new, params![finding.number, key, data])?;
            }
            for (seed, generation, test) in places {
                let new = "INSERT OR REPLACE INTO deviation VALUES(?1, ?2, ?3, ?4, ?5)";
                transaction.execute(new, params![seed, generation, test, number, why])?;
            }
            transaction.commit()
        };
        settle().map_err(|error| self.failure(error))
    }

    /// What became of a test that deviated, if that is known.
    pub fn settled(&self, (seed, generation, test): Place) -> Result<Option<Outcome>> {
        let query = "SELECT finding, dismissed FROM deviation
            WHERE seed = ?1 AND generation = ?2 AND test = ?3";
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let rows: Vec<(Option<u64>, Option<String>)> =
            self.rows(query, params![seed, generation, test], read)?;
        Ok(rows.into_iter().next().map(|(finding, why)| match finding {
            Some(number) => Outcome::Finding(number),
            None => Outcome::Dismissed(why.unwrap_or_default()),
        }))
    }

    /// All findings with their keys, as counted until now.
    pub fn findings(&self) -> Result<Vec<(String, EmiFinding)>> {
        let query = "SELECT key, data, (SELECT count(*) FROM deviation WHERE finding = number)
            FROM finding ORDER BY number";
        let rows = self.rows(query, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let read = |(key, data, shown): (String, String, u64)| {
            let mut finding: EmiFinding =
                serde_json::from_str(&data).map_err(|error| self.damaged(error))?;
            finding.duplicates = shown.saturating_sub(1);
            Ok((key, finding))
        };
        rows.into_iter().map(read).collect()
    }

    /// How many findings there are.
    pub fn n_findings(&self) -> Result<u64> {
        self.number("SELECT count(*) FROM finding", [])
    }

    /// How many tests were made.
    pub fn n_tests(&self) -> Result<u64> {
        self.number("SELECT coalesce(sum(length(outcomes)), 0) FROM variant", [])
    }

    /// How many tests seeds had that need not be looked at again.
    pub fn n_settled_tests(&self) -> Result<u64> {
        let query = "SELECT coalesce(sum(length(outcomes)), 0) FROM variant
            JOIN seed ON seed.number = variant.seed WHERE seed.finished = 1";
        self.number(query, [])
    }

    /// How many variants were tested.
    pub fn n_variants(&self) -> Result<u64> {
        let query = "SELECT count(*) FROM variant WHERE generation > 0 AND outcomes != ''";
        self.number(query, [])
    }

    /// How many seeds were tested, as far as it came.
    pub fn n_seeds(&self) -> Result<u64> {
        self.number("SELECT count(*) FROM seed WHERE usable = 1", [])
    }

    /// All letters of each generation.
    pub fn letters(&self) -> Result<Vec<String>> {
        self.rows("SELECT outcomes FROM variant WHERE outcomes != ''", [], |row| row.get(0))
    }

    /// What each strategy made, by name.
    pub fn strategies(&self) -> Result<Vec<StrategyCount>> {
        let query = "SELECT strategy, sum(outcomes != ''), sum(snippets * (outcomes != '')),
            sum(outcomes = '' AND error IS NULL), sum(error IS NOT NULL)
            FROM variant WHERE strategy IS NOT NULL GROUP BY strategy ORDER BY strategy";
        self.rows(query, [], |row| {
            Ok(StrategyCount {
                strategy: row.get(0)?,
                variants: row.get(1)?,
                snippets: row.get(2)?,
                nothing: row.get(3)?,
                errors: row.get(4)?,
            })
        })
    }

    /// Variants that were not equivalent to their seeds.
    pub fn errors(&self) -> Result<Vec<EmiError>> {
        let query = "SELECT strategy, error, name, seed, generation FROM variant
            JOIN seed ON seed.number = variant.seed WHERE error IS NOT NULL
            ORDER BY seed, generation";
        self.rows(query, [], |row| {
            let (seed, generation) = (row.get(3)?, row.get(4)?);
            Ok(EmiError {
                strategy: row.get(0)?,
                what: row.get(1)?,
                program: row.get(2)?,
                generation,
                file: error_file(seed, generation),
            })
        })
    }

    /// Why programs were no seeds, and how many.
    pub fn rejected(&self) -> Result<Vec<(String, u64)>> {
        let query = "SELECT reason, sum(count) FROM rejected GROUP BY reason
            ORDER BY sum(count) DESC, reason";
        self.rows(query, [], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Why deviations are no findings, and how many.
    pub fn dismissed(&self) -> Result<Vec<(String, u64)>> {
        let query = "SELECT dismissed, count(*) FROM deviation WHERE dismissed IS NOT NULL
            GROUP BY dismissed ORDER BY count(*) DESC, dismissed";
        self.rows(query, [], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Keeps how far the hunt is.
    pub fn grow(&self, growth: &EmiGrowth) -> Result<()> {
        let EmiGrowth { seconds, variants, tests, findings, blocks } = *growth;
        self.execute(
            "INSERT INTO growth VALUES(?1, ?2, ?3, ?4, ?5)",
            params![seconds, variants, tests, findings, blocks],
        )
    }

    /// How it went.
    pub fn growth(&self) -> Result<Vec<EmiGrowth>> {
        let query = "SELECT seconds, variants, tests, findings, blocks FROM growth
            ORDER BY seconds, tests";
        self.rows(query, [], |row| {
            Ok(EmiGrowth {
                seconds: row.get(0)?,
                variants: row.get(1)?,
                tests: row.get(2)?,
                findings: row.get(3)?,
                blocks: row.get(4)?,
            })
        })
    }

    /// What of the compiler was executed.
    pub fn coverage(&self) -> Result<Coverage> {
        match self.one::<Vec<u8>>("SELECT bits FROM coverage", [])? {
            Some(bits) => Coverage::from_bytes(&bits).map_err(|error| self.damaged(error)),
            None => Ok(Coverage::default()),
        }
    }
}

/// Where the text of a variant is kept that is not equivalent to its seed.
pub fn error_file(seed: u64, generation: u64) -> String {
    format!("errors/{seed:06}-{generation:02}.c")
}

#[cfg(test)]
mod tests {
    use optsleuth_model::{CaseKind, Execution, OptLevel, ProgramEnd};
    use optsleuth_mutate::emi::Strategy;

    use super::*;
    use crate::variants::seed::{Deviation, Generation};

    fn generation(number: u64, fate: Fate) -> Generation {
        let strategy = (number > 0).then_some(Strategy::Hermes);
        Generation { number, strategy, n_snippets: 3, fate, text: String::new() }
    }

    fn tested(number: u64, generations: Vec<Generation>) -> Tested {
        let end = ProgramEnd::Exited(0);
        let expected = Some(Execution { end, stdout: Vec::new(), stderr: Vec::new() });
        let rejected = [("undefined".to_owned(), 2)].into();
        let name = format!("csmith-{number:06}");
        Tested { number, name, rejected, expected, generations, coverage: None, is_whole: true }
    }

    fn finding(number: u64) -> EmiFinding {
        EmiFinding {
            number,
            case: format!("cases/{number:03}-crash-gcc-12"),
            compiler: "gcc-12".to_owned(),
            kind: CaseKind::Crash,
            level: "O2".to_owned(),
            levels: vec!["O2".to_owned()],
            signature: "boom".to_owned(),
            what: "it crashes".to_owned(),
            strategy: Some("hermes".to_owned()),
            generation: 1,
            snippets: vec!["true-guard".to_owned()],
            n_needed: 1,
            n_snippets: 3,
            program: "csmith-000000".to_owned(),
            test: 4,
            seconds: 1.0,
            duplicates: 0,
            confirmed: true,
            guilty: None,
            bytes: 100,
        }
    }

    #[test]
    fn a_seed_that_is_tested_anew_replaces_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path()).unwrap();
        let deviation =
            Deviation { tester: 0, level: OptLevel::O2, kind: CaseKind::Crash, mark: "x".into() };
        let half = vec![generation(0, Fate::Tested("..C".into(), vec![deviation]))];
        store.add(&tested(0, half), None).unwrap();
        assert_eq!((store.n_tests().unwrap(), store.finished().unwrap().len()), (3, 0));
        assert_eq!(store.n_settled_tests().unwrap(), 0);
        let whole = vec![
            generation(0, Fate::Tested("..C".into(), Vec::new())),
            generation(1, Fate::Tested("...".into(), Vec::new())),
            generation(2, Fate::Error("by gcc it prints nothing".into())),
            generation(3, Fate::Nothing),
        ];
        store.add(&tested(0, whole), None).unwrap();
        store.finish(0).unwrap();
        assert_eq!(store.finished().unwrap(), BTreeSet::from([0]));
        assert_eq!((store.n_tests().unwrap(), store.n_variants().unwrap()), (6, 1));
        assert_eq!(store.n_settled_tests().unwrap(), 6);
        assert_eq!(store.rejected().unwrap(), [("undefined".to_owned(), 2)]);
        let made = store.strategies().unwrap();
        let counts = (made[0].variants, made[0].snippets, made[0].nothing, made[0].errors);
        assert_eq!((made.len(), counts), (1, (1, 3, 1, 1)));
        let error = &store.errors().unwrap()[0];
        assert_eq!((error.generation, error.file.as_str()), (2, "errors/000000-02.c"));
    }

    #[test]
    fn findings_count_the_tests_that_show_them() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path()).unwrap();
        store.is_begun().unwrap();
        let first = Outcome::Finding(1);
        store.settle(&[(0, 1, 2), (0, 2, 2)], &first, Some(("key", &finding(1)))).unwrap();
        store.settle(&[(3, 1, 2)], &first, None).unwrap();
        store.settle(&[(4, 1, 0)], &Outcome::Dismissed("why".into()), None).unwrap();
        assert_eq!(store.settled((0, 2, 2)).unwrap(), Some(first));
        assert_eq!(store.settled((0, 3, 2)).unwrap(), None);
        assert_eq!(store.dismissed().unwrap(), [("why".to_owned(), 1)]);
        drop(store);
        let findings = Store::read(folder.path()).unwrap().findings().unwrap();
        assert_eq!(findings.len(), 1);
        assert_eq!((findings[0].0.as_str(), findings[0].1.duplicates), ("key", 2));
    }

    #[test]
    fn a_campaign_of_another_kind_is_told() {
        let folder = tempfile::tempdir().unwrap();
        drop(Store::create(folder.path()).unwrap());
        assert_eq!(CampaignKind::of(folder.path()).unwrap(), CampaignKind::Emi);
        let error = crate::passes::campaign(folder.path()).unwrap_err().to_string();
        assert!(error.contains("one of variants of programs"), "{error}");
    }
}
