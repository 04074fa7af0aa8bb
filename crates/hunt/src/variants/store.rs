//! What only a campaign of variants keeps: base programs, and generations of
//! variants with their tests.
//!
//! A base program with all that came of it is written in one transaction; one
//! that was cut short is there, too, until it is tested anew and replaced.

use std::collections::BTreeSet;
use std::path::Path;

use optsleuth_model::{Coverage, StrategyCount, VariantError};
use rusqlite::params;

use super::base_program::{GenerationResult, TestedProgram};
use crate::HuntError;
use crate::campaign::{CampaignKind, Deviation, Format, Store, add_deviations, put_coverage};

pub(super) const FORMAT: Format = Format {
    kind: CampaignKind::Variants,
    tables: "
CREATE TABLE base_program(number INTEGER PRIMARY KEY, name TEXT NOT NULL,
  usable INTEGER NOT NULL, finished INTEGER NOT NULL) STRICT;
-- Generation 0 is the base program itself. One letter for each test, in the order of
-- compilers and levels; `error` is what speaks against the variant.
CREATE TABLE variant(
  base INTEGER NOT NULL, generation INTEGER NOT NULL, strategy TEXT, snippets INTEGER NOT NULL,
  outcomes TEXT NOT NULL, error TEXT, PRIMARY KEY(base, generation)) STRICT;
",
};

type Result<T> = std::result::Result<T, HuntError>;

impl Store {
    /// The numbers of all base programs that nothing is left to do with.
    pub(super) fn finished(&self) -> Result<BTreeSet<u64>> {
        let query = "SELECT number FROM base_program WHERE finished = 1";
        Ok(self.rows(query, [], |row| row.get(0))?.into_iter().collect())
    }

    /// Keeps what came of a base program, and what of the compiler was executed
    /// until now, if that has grown.
    pub(super) fn add(
        &self,
        tested: &TestedProgram,
        deviations: &[Deviation],
        coverage: Option<&Coverage>,
    ) -> Result<()> {
        let TestedProgram { number, name, expected, .. } = tested;
        self.transact(|transaction| {
            transaction.execute("DELETE FROM variant WHERE base = ?1", [number])?;
            transaction.execute("DELETE FROM rejected WHERE unit = ?1", [number])?;
            // What was settled before a hunt was cut short stays so.
            let open = "DELETE FROM deviation
                WHERE unit = ?1 AND finding IS NULL AND dismissed IS NULL";
            transaction.execute(open, [number])?;
            transaction.execute(
                "INSERT OR REPLACE INTO base_program VALUES(?1, ?2, ?3, 0)",
                params![number, name, expected.is_some()],
            )?;
            for (reason, count) in &tested.rejected {
                let new = "INSERT INTO rejected VALUES(?1, ?2, ?3)";
                transaction.execute(new, params![number, reason, count])?;
            }
            for generation in &tested.generations {
                let (outcomes, error) = match &generation.result {
                    GenerationResult::Nothing => ("", None),
                    GenerationResult::Error(why) => ("", Some(why)),
                    GenerationResult::Tested(letters, _) => (letters.as_str(), None),
                };
                let strategy = generation.strategy.map(|strategy| strategy.name());
                let (generation, snippets) = (generation.number, generation.n_snippets);
                transaction.execute(
                    "INSERT INTO variant VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
                    params![number, generation, strategy, snippets, outcomes, error],
                )?;
            }
            add_deviations(transaction, deviations)?;
            put_coverage(transaction, coverage)
        })
    }

    /// Nothing more is to be done with a base program.
    pub(super) fn finish(&self, number: u64) -> Result<()> {
        self.execute("UPDATE base_program SET finished = 1 WHERE number = ?1", [number])
    }

    /// How many tests were made.
    pub(super) fn n_variant_tests(&self) -> Result<u64> {
        self.number("SELECT coalesce(sum(length(outcomes)), 0) FROM variant", [])
    }

    /// How many tests base programs had that need not be looked at again.
    pub(super) fn n_settled_tests(&self) -> Result<u64> {
        let query = "SELECT coalesce(sum(length(outcomes)), 0) FROM variant
            JOIN base_program ON number = base WHERE finished = 1";
        self.number(query, [])
    }

    /// How many variants were tested.
    pub(super) fn n_variants(&self) -> Result<u64> {
        let query = "SELECT count(*) FROM variant WHERE generation > 0 AND outcomes != ''";
        self.number(query, [])
    }

    /// How many base programs were tested, as far as it came.
    pub(super) fn n_base_programs(&self) -> Result<u64> {
        self.number("SELECT count(*) FROM base_program WHERE usable = 1", [])
    }

    /// All letters of each generation.
    pub(super) fn letters(&self) -> Result<Vec<String>> {
        self.rows("SELECT outcomes FROM variant WHERE outcomes != ''", [], |row| row.get(0))
    }

    /// What each strategy made, by name.
    pub(super) fn strategies(&self) -> Result<Vec<StrategyCount>> {
        let query = "SELECT strategy, sum(outcomes != ''), sum(snippets * (outcomes != '')),
            sum(outcomes = '' AND error IS NULL), sum(error IS NOT NULL)
            FROM variant WHERE strategy IS NOT NULL GROUP BY strategy ORDER BY strategy";
        self.rows(query, [], |row| {
            let (strategy, variants, snippets) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let (nothing, errors) = (row.get(3)?, row.get(4)?);
            Ok(StrategyCount { strategy, variants, snippets, nothing, errors })
        })
    }

    /// The first number after those of all base programs.
    pub(super) fn next_number(&self) -> Result<u64> {
        self.number("SELECT coalesce(max(number) + 1, 0) FROM base_program", [])
    }

    /// Takes over the base programs of another campaign, under later numbers, and
    /// what was dismissed. Its findings are for the caller.
    pub(super) fn take_base_programs(&self, other: &Path, before: u64) -> Result<()> {
        let taken = [
            "INSERT INTO base_program SELECT number + ?1, name, usable, finished
             FROM other.base_program",
            "INSERT INTO variant SELECT base + ?1, generation, strategy, snippets, outcomes, error
             FROM other.variant",
            "INSERT INTO rejected SELECT unit + ?1, reason, count FROM other.rejected",
            "INSERT INTO deviation SELECT unit + ?1, program, position, test, seconds, compiler,
             kind, pass, signature, finding, dismissed
             FROM other.deviation WHERE dismissed IS NOT NULL",
        ];
        self.with_attached(other, |transaction| {
            taken.iter().try_for_each(|sql| transaction.execute(sql, [before]).map(drop))
        })
    }

    /// Base program and generation of variants that were not equivalent.
    pub(super) fn wrong_variants(&self) -> Result<Vec<(u64, u64)>> {
        let query = "SELECT base, generation FROM variant WHERE error IS NOT NULL";
        self.rows(query, [], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Variants that were not equivalent to their base programs.
    pub(super) fn errors(&self) -> Result<Vec<VariantError>> {
        let query = "SELECT strategy, error, name, base, generation FROM variant
            JOIN base_program ON number = base WHERE error IS NOT NULL
            ORDER BY base, generation";
        self.rows(query, [], |row| {
            let (base, generation) = (row.get(3)?, row.get(4)?);
            let (strategy, what, program) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let file = error_file(base, generation);
            Ok(VariantError { strategy, what, program, generation, file })
        })
    }
}

/// Where the text of a variant is kept that is not equivalent to its base program.
pub fn error_file(base: u64, generation: u64) -> String {
    format!("errors/{base:06}-{generation:02}.c")
}

/// Where the text of a variant is kept that one compiler alone gets wrong at -O0.
pub(super) fn outvoted_file(base: u64, generation: u64) -> String {
    format!("outvoted/{base:06}-{generation:02}.c")
}

#[cfg(test)]
mod tests {
    use optsleuth_model::{CaseKind, Execution, ProgramEnd, VariantSettings};
    use optsleuth_mutate::emi::Strategy;

    use super::*;
    use crate::campaign::{Beginning, Fate, Mark, TestId};
    use crate::variants::base_program::Generation;

    fn new_store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let settings = VariantSettings {
            strategies: vec!["hermes".to_owned()],
            compilers: vec![("gcc-12".to_owned(), "12.2.0".to_owned())],
            levels: vec!["O2".to_owned()],
            variants: 3,
            judges: Vec::new(),
            fault: None,
        };
        let beginning = Beginning {
            seed: 1,
            source: "csmith".to_owned(),
            workers: 2,
            n_blocks: 0,
            notes: Vec::new(),
        };
        let store = Store::create(folder.path(), &FORMAT, &beginning, &settings).unwrap();
        (folder, store)
    }

    fn generation(number: u64, result: GenerationResult) -> Generation {
        let strategy = (number > 0).then_some(Strategy::Hermes);
        Generation { number, strategy, n_snippets: 3, outvoted: None, result, text: String::new() }
    }

    fn tested(number: u64, generations: Vec<Generation>) -> TestedProgram {
        let end = ProgramEnd::Exited(0);
        let expected = Some(Execution { end, stdout: Vec::new(), stderr: Vec::new() });
        let rejected = [("undefined".to_owned(), 2)].into();
        let name = format!("csmith-{number:06}");
        TestedProgram {
            number,
            name,
            rejected,
            expected,
            generations,
            coverage: None,
            is_whole: true,
        }
    }

    fn crash(position: u64) -> Deviation {
        let mark = Mark { kind: CaseKind::Crash, pass: None, signature: "x".to_owned() };
        let id = TestId { unit: 0, program: 0, position };
        Deviation { id, test: 3, seconds: 1.0, compiler: "gcc-12".to_owned(), mark }
    }

    #[test]
    fn a_base_program_that_is_tested_anew_replaces_what_was_there() {
        let (_folder, store) = new_store();
        let half = vec![generation(0, GenerationResult::Tested(".CC".into(), Vec::new()))];
        store.add(&tested(0, half), &[crash(1), crash(2)], None).unwrap();
        assert_eq!((store.n_variant_tests().unwrap(), store.finished().unwrap().len()), (3, 0));
        assert_eq!(store.n_settled_tests().unwrap(), 0);
        let fate = Fate::Dismissed("it fails once, and not again".to_owned());
        store.settle(&[crash(1).id], &fate, None, None).unwrap();
        let whole = vec![
            generation(0, GenerationResult::Tested("..C".into(), Vec::new())),
            generation(1, GenerationResult::Tested("...".into(), Vec::new())),
            generation(2, GenerationResult::Error("by gcc it prints nothing".into())),
            generation(3, GenerationResult::Nothing),
        ];
        store.add(&tested(0, whole), &[], None).unwrap();
        store.finish(0).unwrap();
        // What was settled stays, what was open goes.
        assert_eq!(store.fate(crash(1).id).unwrap(), Some(fate));
        assert_eq!(store.all_deviations(0, 0).unwrap(), [crash(1)]);
        assert_eq!(store.finished().unwrap(), BTreeSet::from([0]));
        assert_eq!((store.n_variant_tests().unwrap(), store.n_variants().unwrap()), (6, 1));
        assert_eq!(store.n_settled_tests().unwrap(), 6);
        assert_eq!(store.rejected().unwrap(), [("undefined".to_owned(), 2)]);
        let made = store.strategies().unwrap();
        let counts = (made[0].variants, made[0].snippets, made[0].nothing, made[0].errors);
        assert_eq!((made.len(), counts), (1, (1, 3, 1, 1)));
        let error = &store.errors().unwrap()[0];
        assert_eq!((error.generation, error.file.as_str()), (2, "errors/000000-02.c"));
    }

    #[test]
    fn a_campaign_of_another_kind_is_told() {
        let (folder, store) = new_store();
        drop(store);
        assert_eq!(CampaignKind::of(folder.path()).unwrap(), CampaignKind::Variants);
        let error = crate::passes::campaign(folder.path()).unwrap_err().to_string();
        assert!(error.contains("was made by `optsleuth hunt variants`"), "{error}");
    }
}
