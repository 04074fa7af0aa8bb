//! Many vectors of one dimension, in one piece of memory.
//!
//! Each is padded with zeros to whole groups of eight, so that the loops over
//! them are loops over registers.
//!
//! **Invariant:** what is behind the dimension is zero, always.

use crate::kernel::Group;

/// Vectors of one dimension.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Vectors {
    dimension: usize,
    groups: Vec<Group>,
}

impl Vectors {
    /// `count` vectors of zeros.
    pub fn zeros(dimension: usize, count: usize) -> Vectors {
        Vectors { dimension, groups: vec![[0.0; 8]; count * width(dimension)] }
    }

    /// Of rows.
    ///
    /// # Panics
    /// If a row has another length than `dimension`.
    pub fn from_rows<R: AsRef<[f32]>>(
        dimension: usize,
        rows: impl IntoIterator<Item = R>,
    ) -> Vectors {
        let mut vectors = Vectors { dimension, groups: Vec::new() };
        for row in rows {
            vectors.push(row.as_ref());
        }
        vectors
    }

    /// Adds a vector behind all others.
    ///
    /// # Panics
    /// If it has another dimension.
    pub fn push(&mut self, row: &[f32]) {
        assert_eq!(row.len(), self.dimension, "a vector of another dimension");
        for part in row.chunks(8) {
            let mut group = [0.0; 8];
            group[..part.len()].copy_from_slice(part);
            self.groups.push(group);
        }
        if row.is_empty() {
            self.groups.push([0.0; 8]);
        }
    }

    /// How many numbers a vector has.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    pub fn len(&self) -> usize {
        self.groups.len() / self.width()
    }

    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// A vector.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn row(&self, index: usize) -> &[f32] {
        &self.padded(index).as_flattened()[..self.dimension]
    }

    /// Every vector, in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        (0..self.len()).map(|index| self.row(index))
    }

    /// Those at these indices, in this order.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn pick(&self, indices: &[usize]) -> Vectors {
        let groups = indices.iter().flat_map(|&index| self.padded(index)).copied().collect();
        Vectors { dimension: self.dimension, groups }
    }

    /// A vector with its padding.
    #[inline(always)]
    pub(crate) fn padded(&self, index: usize) -> &[Group] {
        let width = self.width();
        &self.groups[index * width..][..width]
    }

    /// All vectors with their padding.
    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// All vectors with their padding, which has to remain zero.
    pub(crate) fn groups_mut(&mut self) -> &mut [Group] {
        &mut self.groups
    }

    /// How many groups a vector has; at least one.
    #[inline(always)]
    pub(crate) fn width(&self) -> usize {
        width(self.dimension)
    }
}

fn width(dimension: usize) -> usize {
    dimension.div_ceil(8).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_pushed_is_there() {
        for dimension in [0, 1, 7, 8, 9, 100] {
            let rows: Vec<Vec<f32>> = (0..3).map(|i| vec![i as f32; dimension]).collect();
            let vectors = Vectors::from_rows(dimension, &rows);
            assert_eq!((vectors.len(), vectors.dimension()), (3, dimension));
            assert!(vectors.rows().eq(rows.iter().map(Vec::as_slice)));
            assert_eq!(vectors.pick(&[2, 0]).row(0), rows[2]);
            assert_eq!(Vectors::zeros(dimension, 5).len(), 5);
        }
        assert!(Vectors::default().is_empty());
    }
}
