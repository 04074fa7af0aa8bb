//! What a run of an instrumented program showed.
//!
//! **Invariant:** a profile is of a run that came to its end; a cell is in an
//! environment with every value it had at that point, or not at all.

use std::collections::{BTreeMap, BTreeSet};

use crate::MutateError;
use crate::emi::environment::{Cell, Environment};
use crate::emi::recorder;

/// Which statements were reached, and what cells held before some of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    reached: BTreeSet<usize>,
    points: BTreeMap<usize, Environment>,
}

impl Profile {
    /// Reads what a run wrote to standard error; `records` are the points and
    /// cells of its records.
    pub(super) fn read(stderr: &[u8], records: &[(usize, Cell)]) -> Result<Profile, MutateError> {
        let text = String::from_utf8_lossy(stderr);
        // The program may have written something like it; the last one is ours.
        let (_, told) = text.rsplit_once(recorder::BEGIN).ok_or(MutateError::IncompleteProfile)?;
        let (told, _) = told.split_once(recorder::END).ok_or(MutateError::IncompleteProfile)?;
        let mut profile = Profile::default();
        let mut seen: BTreeMap<usize, Vec<(Cell, Vec<i128>)>> = BTreeMap::new();
        for line in told.lines() {
            if let Some(number) = line.strip_prefix('@') {
                profile.reached.extend(usize::from_str_radix(number, 16));
            } else if let Some(rest) = line.strip_prefix('=') {
                let mut words = rest.split(' ');
                let number = words.next().and_then(|word| usize::from_str_radix(word, 16).ok());
                let Some((point, cell)) = number.and_then(|number| records.get(number)) else {
                    return Err(MutateError::IncompleteProfile);
                };
                let values = words.filter_map(|word| u64::from_str_radix(word, 16).ok());
                let values = values.map(|bits| value(cell, bits)).collect();
                seen.entry(*point).or_default().push((cell.clone(), values));
            }
        }
        profile.points =
            seen.into_iter().map(|(point, cells)| (point, Environment::new(cells))).collect();
        Ok(profile)
    }

    /// What two runs agree on: the same program, by different compilers. Where
    /// C leaves the order to them, a variable may hold one thing or another at a
    /// point while the program's result is the same (C11 6.5.2.2); no snippet
    /// may depend on that.
    #[must_use]
    pub fn agreed(&self, other: &Profile) -> Profile {
        let reached = self.reached.union(&other.reached).copied().collect();
        let in_both = self.points.iter().filter_map(|(&point, here)| {
            let there = other.points.get(&point)?;
            let same = here.cells().iter().filter(|(cell, values)| {
                there.get(&cell.text).is_some_and(|others| others == values.as_slice())
            });
            let same = Environment::new(same.cloned());
            (!same.is_empty()).then_some((point, same))
        });
        Profile { reached, points: in_both.collect() }
    }

    /// Whether a statement was reached, by its number.
    pub fn is_reached(&self, statement: usize) -> bool {
        self.reached.contains(&statement)
    }

    /// The statements that were reached.
    pub fn reached(&self) -> &BTreeSet<usize> {
        &self.reached
    }

    /// What is known before statements, by their numbers.
    pub fn points(&self) -> &BTreeMap<usize, Environment> {
        &self.points
    }
}

/// The value that was converted to 64 bits.
fn value(cell: &Cell, bits: u64) -> i128 {
    match cell.ty.is_signed {
        true => i128::from(bits.cast_signed()),
        false => i128::from(bits),
    }
}
