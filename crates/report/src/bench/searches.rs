//! What searches did, as a table: runs, witnesses, and where programs were tried,
//! what became of the others that pass.
//!
//! **Invariant:** nothing is computed but sums and shares; a share is over the
//! searches that could tell, and says how many passes that is.

use optsleuth_model::{Measurement, ProgramCounts};

use super::board::CaseSet;
use crate::table::{Cell, Column, Kind, Table};
use crate::words;

/// The sums of a method's searches.
#[derive(Default)]
struct Sums {
    searches: usize,
    in_vain: usize,
    runs: usize,
    witnesses: usize,
    programs: Option<Programs>,
}

#[derive(Default)]
struct Programs {
    invalid: usize,
    unneeded: usize,
    /// Suspected fakes, and all passes of searches that could tell.
    fakes: usize,
    told: usize,
}

impl Sums {
    fn add(&mut self, found: &Measurement) {
        self.searches += 1;
        self.in_vain += usize::from(found.witnesses == 0);
        self.runs += found.runs;
        self.witnesses += found.witnesses;
        let Some(ProgramCounts { invalid, unneeded, fakes }) = found.programs else { return };
        let programs = self.programs.get_or_insert_default();
        programs.invalid += invalid;
        programs.unneeded += unneeded;
        if let Some(fakes) = fakes {
            programs.fakes += fakes;
            programs.told += fakes + unneeded + found.witnesses;
        }
    }

    fn cells(&self, method: &str) -> Vec<Cell> {
        let mut cells = vec![Cell::words(method)];
        cells.extend([self.searches, self.in_vain, self.runs, self.witnesses].map(Cell::count));
        cells.extend(match &self.programs {
            None => [(); 3].map(|()| Cell::none()),
            Some(programs) => {
                let Programs { invalid, unneeded, .. } = *programs;
                [Cell::count(invalid), Cell::count(unneeded), programs.share_of_fakes()]
            }
        });
        cells
    }
}

impl Programs {
    fn share_of_fakes(&self) -> Cell {
        if self.told == 0 {
            return Cell::none();
        }
        let percent = 100.0 * self.fakes as f64 / self.told as f64;
        let (fakes, told) = (words::count(self.fakes), words::count(self.told));
        Cell::number(format!("{fakes} of {told} ({percent:.1} %)"), percent)
    }
}

/// One row per method: the sums over all of its searches.
pub(super) fn searches(set: &CaseSet<'_>) -> Table {
    let numbers = [
        ("Searches", "Cases times seeds"),
        ("In vain", "Searches without a witness: all suspects tie"),
        ("Runs", "Candidates that were run"),
        ("Witnesses", "Runs that pass, and count"),
        ("Invalid", "Programs that do not compile or link"),
        ("Unneeded", "Programs that pass and add nothing to the witnesses there are"),
        (
            "Suspected fakes",
            "Programs that pass although the compiler does with them what it does wrong, of all \
             that pass, in searches that can tell",
        ),
    ];
    let mut columns = vec![Column::words("Method")];
    columns.extend(numbers.map(|(name, hint)| Column::new(name, Kind::Number, hint)));
    let row = |method: &str| {
        let mut sums = Sums::default();
        set.measurements.iter().filter(|found| found.method == method).for_each(|it| sums.add(it));
        sums.cells(method)
    };
    let rows = set.scores.methods.iter().map(|score| row(&score.method)).collect();
    Table { columns, rows }
}

#[cfg(test)]
mod tests {
    use super::super::board::Board;
    use super::super::example::{measured, report};
    use super::*;

    fn with(seed: u64, witnesses: usize, programs: Option<ProgramCounts>) -> Measurement {
        Measurement { seed, witnesses, programs, ..measured("a", "diwi", &[Some(1)], &[]) }
    }

    #[test]
    fn fakes_are_a_share_of_the_passes_of_searches_that_can_tell() {
        let counts = |fakes| Some(ProgramCounts { invalid: 3, unneeded: 5, fakes });
        let measurements =
            [with(1, 10, counts(Some(1))), with(2, 0, counts(Some(0))), with(3, 7, counts(None))];
        let methods = ["diwi".to_owned()];
        let report = report(&methods, &measurements);
        let mut text = String::new();
        searches(Board::of(&report).all()).markdown(&mut text);
        let row = text.trim_end().lines().last().unwrap_or_default();
        assert_eq!(row, "| diwi | 3 | 1 | 3,000 | 17 | 9 | 15 | 1 of 21 (4.8 %) |");
    }

    #[test]
    fn methods_that_try_no_programs_have_no_figures_about_them() {
        let measurements = [with(1, 10, None)];
        let methods = ["diwi".to_owned()];
        let report = report(&methods, &measurements);
        let mut text = String::new();
        searches(Board::of(&report).all()).markdown(&mut text);
        let row = text.trim_end().lines().last().unwrap_or_default();
        assert_eq!(row, "| diwi | 1 | 0 | 1,000 | 10 | – | – | – |");
    }
}
