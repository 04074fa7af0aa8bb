//! Rows that have every two values at every two positions: covering arrays of
//! strength two.
//!
//! The CTOS paper compares with sequences that the ACTS tool makes for 200
//! positions and 114 passes: 34,473 rows. Here there are 27,516 for the same,
//! and no row is stored.
//!
//! One block of rows covers up to `q+1` positions, where `q` is the least prime
//! power that is no less than the number of values: K. A. Bush, Orthogonal
//! Arrays of Index Unity, The Annals of Mathematical Statistics 23(3), 1952. A
//! row is a line `a + b·x` over the field with `q` elements. Position `x` has
//! the line's value there, the last one its slope `b`. Two positions fix the
//! line: every pair of values is there once. Elements that are no values stand
//! for any value; lines without slope at such an element have only one position
//! with a value, and are left out.
//!
//! More positions are written as two digits or more. Each digit has a block of
//! its own, in which it decides the column. Two positions differ in a digit, and
//! its block has all pairs for them. In every block but the first, equal values
//! need no row: two positions with the same first digit are equal throughout
//! the first block, and have every value there.
//!
//! **Invariant:** rows are computed, not stored; the same sizes give the same
//! rows.

mod field;

use field::Field;

/// A value; here, the index of a pass.
pub type Value = u16;

/// A covering array of strength two.
#[derive(Clone, Debug)]
pub struct Pairwise {
    n_positions: usize,
    n_values: usize,
    blocks: Vec<Block>,
}

/// Rows that cover all pairs of positions that differ in one digit.
#[derive(Clone, Debug)]
struct Block {
    lines: Lines,
    n_rows: usize,
    /// A position's digit is what is left of it by `divisor`, in `n_columns`.
    divisor: usize,
    n_columns: usize,
    /// Whether rows of equal values are needed.
    is_first: bool,
}

/// Where the values of a row come from.
#[derive(Clone, Debug)]
enum Lines {
    /// One column: each value once.
    Single,
    /// Two columns: every two values.
    Product,
    /// As many columns as the field has elements, and one more in the first
    /// block.
    Field(Field),
}

impl Pairwise {
    /// For so many positions and values.
    ///
    /// # Panics
    /// If there are more than 32,768 values.
    pub fn new(n_positions: usize, n_values: usize) -> Pairwise {
        assert!(n_values <= 1 << 15, "more than 32,768 values");
        let mut pairwise = Pairwise { n_positions, n_values, blocks: Vec::new() };
        if n_positions == 0 || n_values == 0 {
            return pairwise;
        }
        if n_values == 1 {
            pairwise.blocks.push(Block::new(1, 1, 1));
            return pairwise;
        }
        let mut divisor = 1;
        while pairwise.blocks.is_empty() || divisor < n_positions {
            let left = n_positions.div_ceil(divisor);
            let block = Block::new(left, divisor, n_values);
            divisor *= block.n_columns;
            pairwise.blocks.push(block);
        }
        pairwise
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.blocks.iter().map(|block| block.n_rows).sum()
    }

    /// Whether there are none, because there are no positions or no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A row: a value for each position.
    ///
    /// # Panics
    /// If there are not so many rows.
    pub fn row(&self, index: usize) -> Vec<Value> {
        let mut index = index;
        for block in &self.blocks {
            if index < block.n_rows {
                let positions = 0..self.n_positions;
                return positions.map(|p| block.value(index, p, self.n_values)).collect();
            }
            index -= block.n_rows;
        }
        panic!("there are only {} rows", self.len());
    }

    /// Every row, in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = Vec<Value>> {
        (0..self.len()).map(|index| self.row(index))
    }
}

impl Block {
    /// For as many columns as are left to tell apart, or as can be.
    fn new(left: usize, divisor: usize, n_values: usize) -> Block {
        let is_first = divisor == 1;
        let v = n_values;
        let (lines, n_columns, n_rows) = match left {
            1 => (Lines::Single, 1, v),
            2 => (Lines::Product, 2, if is_first { v * v } else { v * v - v }),
            _ => {
                let field = Field::of_at_least(n_values.max(2));
                let q = field.len();
                let sloped = q * (q - 1);
                match is_first {
                    true => (Lines::Field(field), q + 1, v + sloped),
                    false => (Lines::Field(field), q, sloped),
                }
            }
        };
        Block { lines, n_rows, divisor, n_columns: n_columns.min(left.max(1)), is_first }
    }

    fn value(&self, row: usize, position: usize, n_values: usize) -> Value {
        let column = position / self.divisor % self.n_columns;
        let element = match &self.lines {
            Lines::Single => row,
            Lines::Product => {
                // Without equal values, the second skips the first.
                let n_seconds = if self.is_first { n_values } else { n_values - 1 };
                let (first, second) = (row / n_seconds, row % n_seconds);
                match column {
                    0 => first,
                    _ => second + usize::from(!self.is_first && second >= first),
                }
            }
            Lines::Field(field) => {
                let n_flat = if self.is_first { n_values } else { 0 };
                let (start, slope) = match row.checked_sub(n_flat) {
                    None => (row, 0),
                    Some(sloped) => (sloped % field.len(), 1 + sloped / field.len()),
                };
                if column == field.len() {
                    slope
                } else {
                    field.add(start, field.multiply(slope, column))
                }
            }
        };
        // What is no value may be any: it is spread over all of them.
        let any = || (row + position) % n_values;
        (if element < n_values { element } else { any() }) as Value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many pairs of values at pairs of positions no row has.
    fn n_missing(pairwise: &Pairwise) -> usize {
        let (n, v) = (pairwise.n_positions, pairwise.n_values);
        let mut missing = 0;
        let rows: Vec<Vec<Value>> = pairwise.rows().collect();
        for first in 0..n {
            for second in first + 1..n {
                let mut is_there = vec![false; v * v];
                for row in &rows {
                    is_there[usize::from(row[first]) * v + usize::from(row[second])] = true;
                }
                missing += is_there.iter().filter(|there| !**there).count();
            }
        }
        missing
    }

    #[test]
    fn every_pair_is_there() {
        for n_values in 1..=10 {
            for n_positions in [1, 2, 3, 4, 5, 8, 9, 11, 12, 13, 20, 40] {
                let pairwise = Pairwise::new(n_positions, n_values);
                assert_eq!(n_missing(&pairwise), 0, "{n_positions} positions, {n_values} values");
                let mut values = pairwise.rows().flatten();
                assert!(values.all(|value| usize::from(value) < n_values));
            }
        }
    }

    #[test]
    fn three_digits_are_enough_where_two_are_not() {
        let pairwise = Pairwise::new(150, 3);
        assert!(pairwise.blocks.len() > 2);
        assert_eq!(n_missing(&pairwise), 0);
    }

    #[test]
    fn the_sizes_of_the_paper_take_fewer_rows_than_there() {
        // 121 = 11²: 121² lines, less 7 without use; 114² pairs, less equals.
        let pairwise = Pairwise::new(200, 114);
        assert_eq!(pairwise.len(), 121 * 121 - 7 + 114 * 113);
        assert_eq!(pairwise.len(), 27_516);
        // Positions with the same digit and with others, near and far.
        let some = [0, 1, 60, 120, 121, 122, 123, 182, 199];
        let rows: Vec<Vec<Value>> = pairwise.rows().collect();
        for (index, &first) in some.iter().enumerate() {
            for &second in &some[index + 1..] {
                let mut is_there = vec![false; 114 * 114];
                for row in &rows {
                    is_there[usize::from(row[first]) * 114 + usize::from(row[second])] = true;
                }
                assert!(is_there.iter().all(|&there| there), "{first} and {second}");
            }
        }
    }

    #[test]
    fn a_prime_is_used_as_it_is() {
        let pairwise = Pairwise::new(60, 100);
        assert_eq!(pairwise.len(), 101 * 101 - 1);
        assert_eq!(n_missing(&Pairwise::new(14, 13)), 0);
    }

    #[test]
    fn of_nothing_there_is_nothing() {
        assert!(Pairwise::new(0, 5).is_empty());
        assert!(Pairwise::new(5, 0).is_empty());
        assert_eq!(Pairwise::new(5, 1).rows().collect::<Vec<_>>(), [[0; 5]]);
        assert_eq!(Pairwise::new(1, 4).len(), 4);
    }
}
