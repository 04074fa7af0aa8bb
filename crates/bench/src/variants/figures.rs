//! What `optsleuth bench variants` adds up, and a file that has it after
//! every base program.
//!
//! **Invariant:** a base program is in the file whole or not at all, so whatever ends a
//! measurement, the next one with the same arguments goes on from there. Figures
//! of other arguments are never mixed with these.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;

use fs_err as fs;
use optsleuth_case::folder::write_whole;
use optsleuth_model::{Coverage, VariantBenchGain, VariantBenchStrategy, VariantError};
use optsleuth_mutate::emi::Strategy;
use serde::{Deserialize, Serialize};

use super::VariantBenchPlan;
use crate::BenchError;

/// The file, in the results' folder.
const FILE: &str = "figures.bin";

/// Figures of one base program, or of several.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Figures {
    /// The base programs' numbers, used or not.
    pub(super) done: BTreeSet<u64>,
    pub(super) n_programs: u64,
    pub(super) n_unsuited: u64,
    /// By strategy, as all that follows.
    pub(super) rows: Vec<VariantBenchStrategy>,
    pub(super) errors: Vec<(u64, VariantError)>,
    pub(super) by_programs: Coverage,
    /// By strategy and generation.
    pub(super) by_variants: Vec<Vec<Coverage>>,
}

impl Figures {
    pub(super) fn none(plan: &VariantBenchPlan) -> Figures {
        let row = |one: &Strategy| VariantBenchStrategy {
            strategy: one.name().to_owned(),
            ..VariantBenchStrategy::default()
        };
        let generations = || (0..plan.variants).map(|_| Coverage::default()).collect();
        Figures {
            rows: plan.strategies.iter().map(row).collect(),
            by_variants: plan.strategies.iter().map(|_| generations()).collect(),
            ..Figures::default()
        }
    }

    pub(super) fn add(&mut self, more: Figures) {
        self.done.extend(more.done);
        self.n_programs += more.n_programs;
        self.n_unsuited += more.n_unsuited;
        for (row, more) in self.rows.iter_mut().zip(&more.rows) {
            row.variants += more.variants;
            row.nothing += more.nothing;
            row.errors += more.errors;
            row.undecided += more.undecided;
            row.snippets += more.snippets;
            row.deriving += more.deriving;
            row.longest = row.longest.max(more.longest);
            row.judging += more.judging;
        }
        self.errors.extend(more.errors);
        self.by_programs = self.by_programs.union(&more.by_programs);
        for (own, more) in self.by_variants.iter_mut().zip(&more.by_variants) {
            for (own, more) in own.iter_mut().zip(more) {
                *own = own.union(more);
            }
        }
    }

    pub(super) fn gained(&self) -> Vec<VariantBenchGain> {
        let gain = |(row, by_generation): (&VariantBenchStrategy, &Vec<Coverage>)| {
            let mut all = self.by_programs.clone();
            let mut grown = |executed: &Coverage| {
                all = all.union(executed);
                all.count() as u64
            };
            let blocks = by_generation.iter().map(&mut grown).collect();
            VariantBenchGain { strategy: row.strategy.clone(), blocks }
        };
        self.rows.iter().zip(&self.by_variants).map(gain).collect()
    }

    /// What was measured before with the same arguments; nothing in a new folder.
    pub(super) fn read(
        folder: &Path,
        arguments: &str,
        plan: &VariantBenchPlan,
    ) -> Result<Figures, BenchError> {
        let path = folder.join(FILE);
        let other = |why: &str| BenchError::OtherArguments {
            folder: folder.to_owned(),
            why: format!("{FILE} {why}"),
        };
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Figures::none(plan)),
            Err(source) => {
                return Err(source.into());
            }
        };
        let (known, figures): (String, Figures) =
            postcard::from_bytes(&bytes).map_err(|_| other("cannot be read"))?;
        match known == arguments {
            true => Ok(figures),
            false => Err(other(&format!("is of {known}; now it would be {arguments}"))),
        }
    }

    pub(super) fn write(&self, folder: &Path, arguments: &str) -> Result<(), BenchError> {
        let path = folder.join(FILE);
        // What cannot be written must not replace what is there.
        let bytes = postcard::to_stdvec(&(arguments, self)).map_err(std::io::Error::other)?;
        Ok(write_whole(&path, bytes)?)
    }
}

#[cfg(test)]
mod tests {
    use optsleuth_model::BlockId;

    use super::*;
    use optsleuth_hunt::programs::{ProgramPlan, ProgramSource, SizeProfile, Swarm};

    fn executed(blocks: &[u32]) -> Coverage {
        Coverage::of(blocks.iter().copied().map(BlockId))
    }

    fn program(number: u64, own: &[u32], first: &[u32], second: &[u32]) -> Figures {
        let row = VariantBenchStrategy {
            strategy: "orion".to_owned(),
            deriving: 0.25,
            ..VariantBenchStrategy::default()
        };
        Figures {
            done: BTreeSet::from([number]),
            n_programs: 1,
            rows: vec![row],
            by_programs: executed(own),
            by_variants: vec![vec![executed(first), executed(second)]],
            ..Figures::default()
        }
    }

    #[test]
    fn gains_add_up_over_generations_and_programs() {
        let mut sums = program(0, &[1, 2], &[2, 3], &[3]);
        sums.add(program(1, &[2, 5], &[1], &[6, 7]));
        // Base programs have 1, 2, 5; first variants add 3, second ones 6 and 7.
        assert_eq!((sums.n_programs, sums.by_programs.count()), (2, 3));
        assert_eq!(sums.gained()[0].blocks, [4, 6]);
    }

    #[test]
    fn what_is_kept_goes_on_with_the_same_arguments_alone() {
        let folder = tempfile::tempdir().unwrap();
        let source = ProgramSource::Csmith(Swarm::Default);
        let plan = VariantBenchPlan {
            programs: ProgramPlan { source, size: SizeProfile::Small, min_bytes: None, seed: 1 },
            count: 2,
            variants: 2,
            strategies: vec![Strategy::Orion],
            seed: 1,
            coverage: None,
            folder: folder.path().to_owned(),
        };
        let read = |arguments| Figures::read(folder.path(), arguments, &plan);
        assert_eq!(read("seed 1").unwrap(), Figures::none(&plan));
        let kept = program(7, &[1, 2, 900], &[3], &[]);
        kept.write(folder.path(), "seed 1").unwrap();
        assert_eq!(read("seed 1").unwrap(), kept);
        let refused = read("seed 2").unwrap_err().to_string();
        assert!(refused.contains("is of seed 1; now it would be seed 2"), "{refused}");
        fs::write(folder.path().join(FILE), "damaged").unwrap();
        assert!(read("seed 1").unwrap_err().to_string().contains("cannot be read"));
    }
}
