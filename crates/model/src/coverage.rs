//! Which basic blocks of the compiler a run executed: a set of block numbers.
//!
//! **Invariant:** all operations work on whole words; two coverages of the same
//! worker have the same length, and operations take the longer one's.

use serde::{Deserialize, Serialize};

use crate::ModelError;

/// A basic block of the compiler, numbered by its place in the worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BlockId(pub u32);

/// A set of blocks, one bit each; in files as [`Coverage::to_bytes`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Vec<u8>", try_from = "Vec<u8>")]
pub struct Coverage {
    words: Vec<u64>, // Invariant: the last word is not zero.
}

impl From<Coverage> for Vec<u8> {
    fn from(coverage: Coverage) -> Vec<u8> {
        coverage.to_bytes()
    }
}

impl TryFrom<Vec<u8>> for Coverage {
    type Error = ModelError;

    fn try_from(bytes: Vec<u8>) -> Result<Coverage, ModelError> {
        Coverage::from_bytes(&bytes)
    }
}

impl Coverage {
    /// From a bit map as the worker writes it: little-endian words.
    pub fn from_bits(bytes: &[u8]) -> Coverage {
        let (whole, rest) = bytes.as_chunks();
        let mut words: Vec<u64> = whole.iter().map(|word| u64::from_le_bytes(*word)).collect();
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            words.push(u64::from_le_bytes(last));
        }
        Coverage { words }.trimmed()
    }

    pub fn of(blocks: impl IntoIterator<Item = BlockId>) -> Coverage {
        let mut words = Vec::new();
        for BlockId(block) in blocks {
            let index = block as usize / 64;
            if index >= words.len() {
                words.resize(index + 1, 0);
            }
            words[index] |= 1 << (block % 64);
        }
        Coverage { words }
    }

    /// Whether a block is in it.
    pub fn contains(&self, BlockId(block): BlockId) -> bool {
        self.words.get(block as usize / 64).is_some_and(|word| word >> (block % 64) & 1 == 1)
    }

    /// How many blocks are in it.
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether no block is in it.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The set as it is kept: block `b` is bit `b % 64` of word `b / 64`. Words
    /// that are missing at the end are zero.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The blocks, in order. Jumps from set bit to set bit.
    pub fn blocks(&self) -> impl Iterator<Item = BlockId> + '_ {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                if rest == 0 {
                    return None;
                }
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                Some(BlockId(index as u32 * 64 + bit))
            })
        })
    }

    /// How many blocks of a half-open range are in it.
    pub fn count_range(&self, from: u32, end: u32) -> usize {
        let (first, last) = (from as usize / 64, (end as usize).div_ceil(64));
        let indices = first..last.min(self.words.len());
        indices.map(|i| (self.words[i] & mask(i, from, end)).count_ones() as usize).sum()
    }

    #[must_use]
    pub fn union(&self, other: &Coverage) -> Coverage {
        let (long, short) = match self.words.len() >= other.words.len() {
            true => (self, other),
            false => (other, self),
        };
        let mut words = long.words.clone();
        for (word, more) in words.iter_mut().zip(&short.words) {
            *word |= more;
        }
        Coverage { words }
    }

    #[must_use]
    pub fn intersection(&self, other: &Coverage) -> Coverage {
        let words = self.words.iter().zip(&other.words).map(|(a, b)| a & b).collect();
        Coverage { words }.trimmed()
    }

    /// Blocks in this one and not in the other.
    #[must_use]
    pub fn difference(&self, other: &Coverage) -> Coverage {
        let mut words = self.words.clone();
        for (word, less) in words.iter_mut().zip(&other.words) {
            *word &= !less;
        }
        Coverage { words }.trimmed()
    }

    /// How many blocks are in both, without making the set.
    pub fn intersection_count(&self, other: &Coverage) -> usize {
        self.words.iter().zip(&other.words).map(|(a, b)| (a & b).count_ones() as usize).sum()
    }

    /// Jaccard similarity: blocks in both by blocks in either; 1 for two empty
    /// sets. P. Jaccard, New Phytologist 11(2), 1912.
    pub fn jaccard(&self, other: &Coverage) -> f64 {
        let both = self.intersection_count(other);
        let either = self.count() + other.count() - both;
        if either == 0 { 1.0 } else { both as f64 / either as f64 }
    }

    /// A compact form for files: the distances between runs of blocks and the
    /// lengths of the runs, seven bits a byte.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut end = 0u32;
        let mut run: Option<(u32, u32)> = None;
        let write = |out: &mut Vec<u8>, (from, to): (u32, u32), end: &mut u32| {
            write_number(out, from - *end);
            write_number(out, to - from);
            *end = to;
        };
        for BlockId(block) in self.blocks() {
            run = match run {
                Some((from, to)) if to == block => Some((from, block + 1)),
                other => {
                    if let Some(run) = other {
                        write(&mut out, run, &mut end);
                    }
                    Some((block, block + 1))
                }
            };
        }
        if let Some(run) = run {
            write(&mut out, run, &mut end);
        }
        out
    }

    /// Reads [`Coverage::to_bytes`] back.
    pub fn from_bytes(bytes: &[u8]) -> Result<Coverage, ModelError> {
        // More than any compiler has; keeps a damaged file from eating memory.
        const MOST_BLOCKS: u32 = 1 << 24;
        let mut words = Vec::new();
        let mut at = 0;
        let mut end = 0u32;
        while at < bytes.len() {
            let start = at;
            let gap = read_number(bytes, &mut at).ok_or(ModelError::Coverage(start))?;
            let length = read_number(bytes, &mut at).ok_or(ModelError::Coverage(start))?;
            let from = end.checked_add(gap).ok_or(ModelError::Coverage(start))?;
            end = from.checked_add(length).ok_or(ModelError::Coverage(start))?;
            if length == 0 || end > MOST_BLOCKS {
                return Err(ModelError::Coverage(start));
            }
            words.resize((end as usize).div_ceil(64), 0u64);
            fill(&mut words, from, end);
        }
        Ok(Coverage { words })
    }

    fn trimmed(mut self) -> Coverage {
        let used = self.words.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1);
        self.words.truncate(used);
        self
    }
}

/// The bits of word `index` that lie in a half-open range.
fn mask(index: usize, from: u32, end: u32) -> u64 {
    let base = index as u32 * 64;
    let low = if from > base { u64::MAX << (from - base) } else { u64::MAX };
    let high = if end < base + 64 { (1 << (end - base)) - 1 } else { u64::MAX };
    low & high
}

/// Sets the bits of a half-open range, a word at a time.
fn fill(words: &mut [u64], from: u32, end: u32) {
    for (index, word) in words.iter_mut().enumerate().skip(from as usize / 64) {
        *word |= mask(index, from, end);
    }
}

fn write_number(out: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn read_number(bytes: &[u8], at: &mut usize) -> Option<u32> {
    let mut number = 0u64;
    for shift in (0..35).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return u32::try_from(number).ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::btree_set;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn coverage(blocks: &BTreeSet<u32>) -> Coverage {
        Coverage::of(blocks.iter().map(|&block| BlockId(block)))
    }

    fn set(coverage: &Coverage) -> BTreeSet<u32> {
        coverage.blocks().map(|block| block.0).collect()
    }

    #[test]
    fn a_bit_map_is_read_as_it_is_written() {
        let mut bits = vec![0u8; 20];
        bits[0] = 0b101;
        bits[9] = 0x80;
        let coverage = Coverage::from_bits(&bits);
        assert_eq!(set(&coverage), BTreeSet::from([0, 2, 79]));
        assert!(coverage.contains(BlockId(79)) && !coverage.contains(BlockId(78)));
        assert!(!coverage.contains(BlockId(1_000_000)));
    }

    #[test]
    fn words_hold_the_blocks_as_bits() {
        let coverage = coverage(&BTreeSet::from([0, 63, 64, 130]));
        assert_eq!(coverage.words(), [1 << 63 | 1, 1, 1 << 2]);
        assert_eq!(coverage.intersection(&Coverage::of([BlockId(64)])).words(), [0, 1]);
        assert!(Coverage::default().words().is_empty());
    }

    #[test]
    fn similarity_of_nothing_with_nothing_is_one() {
        let empty = Coverage::default();
        let some = coverage(&BTreeSet::from([1, 2, 3]));
        assert!((empty.jaccard(&empty) - 1.0).abs() < f64::EPSILON);
        assert!(empty.jaccard(&some).abs() < f64::EPSILON);
        let other = coverage(&BTreeSet::from([2, 3, 4]));
        assert!((some.jaccard(&other) - 0.5).abs() < f64::EPSILON);
    }

    proptest! {
        #[test]
        fn operations_are_those_of_sets(
            a in btree_set(0u32..400, 0..80),
            b in btree_set(0u32..700, 0..80),
            from in 0u32..500,
            length in 0u32..300,
        ) {
            let (x, y) = (coverage(&a), coverage(&b));
            prop_assert_eq!(set(&x.union(&y)), a.union(&b).copied().collect::<BTreeSet<_>>());
            prop_assert_eq!(
                set(&x.intersection(&y)),
                a.intersection(&b).copied().collect::<BTreeSet<_>>()
            );
            prop_assert_eq!(
                set(&x.difference(&y)),
                a.difference(&b).copied().collect::<BTreeSet<_>>()
            );
            prop_assert_eq!(x.count(), a.len());
            prop_assert_eq!(x.intersection_count(&y), a.intersection(&b).count());
            prop_assert_eq!(
                x.count_range(from, from + length),
                a.range(from..from + length).count()
            );
            // Equal sets are equal values, however they came about.
            prop_assert_eq!(x.union(&y).difference(&y), x.difference(&y));
        }

        #[test]
        fn the_compact_form_comes_back(a in btree_set(0u32..100_000, 0..300)) {
            let x = coverage(&a);
            prop_assert_eq!(Coverage::from_bytes(&x.to_bytes()), Ok(x));
        }

        #[test]
        fn damaged_bytes_never_panic(bytes: Vec<u8>) {
            let _ = Coverage::from_bytes(&bytes);
        }
    }
}
