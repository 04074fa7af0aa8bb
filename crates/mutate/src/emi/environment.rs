//! What is known about a point of a program: integer objects, and every value
//! that each of them had there. Filled from a profile, asked by the synthesis.
//!
//! **Invariant:** no cell is there twice, values are sorted, at least one, and
//! such as the cell can hold; what cannot be described so is left out.

use crate::types::Integer;

/// An integer object that code at a point may read: a variable, a field, an
/// element. No two cells of an environment share memory, bit-fields aside, so
/// that a write to one changes no other: members of unions are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// As C writes it: `g_3.f1[2]`.
    pub text: String,
    /// Its declared type.
    pub ty: Integer,
    /// Of a bit-field.
    pub bit_width: Option<u32>,
    /// Whether C forbids to write to it.
    pub is_const: bool,
    /// Whether the compiler has to access it just as written.
    pub is_volatile: bool,
    /// The variable it is a part of; `None` if a snippet declares it.
    pub variable: Option<usize>,
}

/// Cells with all values they ever had at a point. The sets are independent of
/// each other: which values came together is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    cells: Vec<(Cell, Vec<i128>)>,
}

impl Environment {
    /// Of cells with their values, in any order; of two with the same text the
    /// last one counts.
    pub fn new(cells: impl IntoIterator<Item = (Cell, Vec<i128>)>) -> Environment {
        cells.into_iter().fold(Environment::default(), |environment, (cell, values)| {
            environment.with(cell, values)
        })
    }

    /// All cells, in the order in which they came.
    pub fn cells(&self) -> &[(Cell, Vec<i128>)] {
        &self.cells
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The values of a cell, by its text.
    pub fn get(&self, text: &str) -> Option<&[i128]> {
        let found = self.cells.iter().find(|(cell, _)| cell.text == text);
        found.map(|(_, values)| values.as_slice())
    }

    /// The same with one more cell, or with other values for one.
    #[must_use]
    pub fn with(mut self, cell: Cell, mut values: Vec<i128>) -> Environment {
        values.sort_unstable();
        values.dedup();
        let place = self.cells.iter().position(|(known, _)| known.text == cell.text);
        let fits = match (cell.ty.range(cell.bit_width), values.first(), values.last()) {
            (Some(range), Some(first), Some(last)) => range.contains(first) && range.contains(last),
            _ => false,
        };
        match (fits, place) {
            (true, Some(place)) => self.cells[place] = (cell, values),
            (true, None) => self.cells.push((cell, values)),
            (false, Some(place)) => drop(self.cells.remove(place)),
            (false, None) => {}
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Rank;

    fn cell(text: &str, rank: Rank, is_signed: bool, bit_width: Option<u32>) -> Cell {
        let ty = Integer { rank, is_signed };
        let text = text.to_owned();
        Cell { text, ty, bit_width, is_const: false, is_volatile: false, variable: Some(0) }
    }

    #[test]
    fn values_are_a_set_and_a_cell_is_there_once() {
        let a = cell("a", Rank::Int, true, None);
        let environment = Environment::new([(a.clone(), vec![3, -1, 3])]);
        assert_eq!(environment.get("a"), Some(&[-1, 3][..]));
        let environment = environment.with(a, vec![7]);
        assert_eq!(environment.get("a"), Some(&[7][..]));
        assert_eq!(environment.cells().len(), 1);
    }

    #[test]
    fn a_cell_that_cannot_be_described_is_left_out() {
        let check = |cell: Cell, values: Vec<i128>| {
            let known = Environment::new([(cell.clone(), vec![0])]);
            assert!(known.with(cell, values).is_empty());
        };
        check(cell("a", Rank::Int, true, None), vec![1 << 31]);
        check(cell("a", Rank::Char, false, None), vec![-1]);
        check(cell("a", Rank::Int, true, Some(3)), vec![0, 4]);
        check(cell("a", Rank::Bool, false, None), vec![2]);
        check(cell("a", Rank::Int, true, None), Vec::new());
        assert!(
            Environment::new([(cell("a", Rank::Int128, true, None), vec![0])]).is_empty(),
            "nothing here computes with 128 bits"
        );
    }
}
