//! The program with probes and records: what [`Profile`]s are made with.
//!
//! **Invariant:** an instrumented program does what the program does; standard
//! output and the way it ends are the same.

use std::collections::BTreeMap;

use rand::Rng;
use rand::seq::IndexedRandom as _;

use crate::MutateError;
use crate::emi::cells::Cells;
use crate::emi::environment::Cell;
use crate::emi::points::Points;
use crate::emi::profile::Profile;
use crate::emi::recorder;
use crate::program::Program;

/// A program that tells what it does on standard error.
#[derive(Clone, Debug)]
pub struct Instrumented {
    /// C.
    pub text: String,
    /// By its number, the statement that a record stands before and what is
    /// recorded.
    records: Vec<(usize, Cell)>,
}

impl Instrumented {
    /// How many points have records.
    pub fn n_points(&self) -> usize {
        let mut points: Vec<usize> = self.records.iter().map(|(point, _)| *point).collect();
        points.dedup();
        points.len()
    }

    /// How many cells are recorded, at all points together.
    pub fn n_records(&self) -> usize {
        self.records.len()
    }

    /// Reads what a run wrote to standard error.
    pub fn profile(&self, stderr: &[u8]) -> Result<Profile, MutateError> {
        Profile::read(stderr, &self.records)
    }
}

impl Program {
    /// Probes before every statement; records of values at points chosen with
    /// this probability, at one at least where there are any.
    pub fn instrument(&self, probability: f64, rng: &mut impl Rng) -> Instrumented {
        let points = Points::of(self).all();
        let mut chosen: Vec<usize> =
            points.iter().copied().filter(|_| rng.random_bool(probability)).collect();
        if chosen.is_empty() {
            chosen.extend(points.choose(rng));
        }
        let cells = Cells::of(self);
        let name = self.unused_name();
        let mut records = Vec::new();
        let mut calls: BTreeMap<usize, String> = BTreeMap::new();
        for point in chosen {
            for cell in cells.at(point, rng) {
                let call = recorder::record(&name, records.len(), &cell.text);
                calls.entry(point).or_default().push_str(&call);
                records.push((point, cell));
            }
        }
        let text = self.with_probes(|number| {
            let records = calls.get(&number).map_or("", String::as_str);
            recorder::probe(&name, number) + records
        });
        let helper = recorder::helper(&name, self.statements.len(), records.len());
        Instrumented { text: format!("{helper}\n{text}"), records }
    }
}
