//! Coverages -> in how many failing and passing runs each block was executed.
//!
//! Only blocks that a failing run executed can be to blame; they are the
//! universe. Of a witness nothing else is kept, as one bit per block of it, and
//! the counts are brought up to date when a witness comes. So thousands of
//! witnesses fit into memory, and a ranking does not look at them.
//!
//! **Invariant:** after every call the counts are those of the rows. They are
//! whole numbers, so the order of the witnesses does not matter.

use std::fmt;
use std::str::FromStr;

use optsleuth_model::{BlockId, Coverage};

use crate::RankError;
use crate::formula::{Counts, WEIGHT_UNIT};

/// How much a witness counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Weights {
    /// All the same.
    #[default]
    Equal,
    /// As its similarity to the failing run, from 0 to 1.
    Similarity,
}

/// What failing and passing runs executed of the failing runs' blocks.
#[derive(Clone, Debug)]
pub struct Spectrum {
    universe: Vec<BlockId>, // Invariant: strictly ascending.
    pieces: Vec<Piece>,
    n_failing: usize,
    tallies: Vec<Tally>,
    similarities: Vec<f64>,
    total_weight: u64,
    /// One row after the other, each `row_words` long.
    rows: Vec<u64>,
    row_words: usize,
}

/// Where a word of a coverage goes in a row.
#[derive(Clone, Copy, Debug)]
struct Piece {
    word: usize,
    /// Its bits that belong to the universe.
    mask: u64,
    /// The place in the universe of the first of them.
    first: usize,
}

/// What one run executed of a spectrum's universe: 2.5 KB for 20,000 blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row(Vec<u64>);

/// Runs that executed a block.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    failing: u32,
    passing: u32,
    /// Of the passing ones, in [`WEIGHT_UNIT`]s.
    weight: u64,
}

impl Spectrum {
    /// From what the failing runs executed, with no witness yet.
    pub fn new(failing: &[Coverage]) -> Spectrum {
        let union = failing.iter().fold(Coverage::default(), |all, one| all.union(one));
        let universe: Vec<BlockId> = union.blocks().collect();
        let mut first = 0;
        let mut pieces = Vec::new();
        for (word, &mask) in union.words().iter().enumerate().filter(|(_, mask)| **mask != 0) {
            pieces.push(Piece { word, mask, first });
            first += mask.count_ones() as usize;
        }
        let tally = |&block: &BlockId| Tally {
            failing: failing.iter().filter(|coverage| coverage.contains(block)).count() as u32,
            ..Tally::default()
        };
        Spectrum {
            tallies: universe.iter().map(tally).collect(),
            row_words: universe.len().div_ceil(64),
            universe,
            pieces,
            n_failing: failing.len(),
            similarities: Vec::new(),
            total_weight: 0,
            rows: Vec::new(),
        }
    }

    /// What a run executed of the universe.
    pub fn project(&self, coverage: &Coverage) -> Row {
        let mut row = vec![0; self.row_words];
        for piece in &self.pieces {
            let Some(&word) = coverage.words().get(piece.word) else { break };
            let bits = compress(word, piece.mask);
            if bits != 0 {
                put(&mut row, piece.first, bits);
            }
        }
        Row(row)
    }

    /// Adds a passing run; see [`Spectrum::push_row`].
    pub fn push_witness(&mut self, coverage: &Coverage, similarity: f64) {
        self.push_row(self.project(coverage), similarity);
    }

    /// Adds a passing run by what it executed of the universe. Its similarity
    /// is clamped to 0..=1; one that is not a number counts as 0.
    ///
    /// # Panics
    ///
    /// If the row is another spectrum's.
    pub fn push_row(&mut self, Row(row): Row, similarity: f64) {
        assert_eq!(row.len(), self.row_words, "a row of another spectrum");
        let similarity = if similarity.is_nan() { 0.0 } else { similarity.clamp(0.0, 1.0) };
        let weight = (similarity / WEIGHT_UNIT).round() as u64;
        self.similarities.push(similarity);
        self.total_weight += weight;
        for (tallies, word) in self.tallies.chunks_mut(64).zip(&row) {
            for (shift, tally) in tallies.iter_mut().enumerate() {
                let hit = word >> shift & 1;
                tally.passing += hit as u32;
                tally.weight += hit * weight;
            }
        }
        self.rows.extend(row);
    }

    /// The blocks that a failing run executed, in order. Wherever a block is
    /// meant by its index, it is its place here.
    pub fn universe(&self) -> &[BlockId] {
        &self.universe
    }

    /// How many failing runs there are.
    pub fn n_failing(&self) -> usize {
        self.n_failing
    }

    pub fn n_witnesses(&self) -> usize {
        self.similarities.len()
    }

    /// The similarity of a witness, clamped to 0..=1. Witnesses are numbered
    /// in the order in which they came.
    pub fn similarity(&self, witness: usize) -> f64 {
        self.similarities[witness]
    }

    /// Whether a witness executed a block, given by its index.
    pub fn covers(&self, witness: usize, index: usize) -> bool {
        self.row(witness)[index / 64] >> (index % 64) & 1 == 1
    }

    /// What a witness executed of the universe: the bit `index % 64` of the
    /// word `index / 64` is the block with that index.
    pub fn row(&self, witness: usize) -> &[u64] {
        &self.rows[witness * self.row_words..][..self.row_words]
    }

    /// The same, for another spectrum with this universe.
    pub fn row_of(&self, witness: usize) -> Row {
        Row(self.row(witness).to_vec())
    }

    /// How many witnesses executed a block, given by its index.
    pub fn witnesses_of(&self, index: usize) -> usize {
        self.tallies[index].passing as usize
    }

    /// The counts of a block, given by its index.
    pub fn counts(&self, index: usize, weights: Weights) -> Counts {
        let Tally { failing, passing, weight } = self.tallies[index];
        let (ep, total) = match weights {
            Weights::Equal => (f64::from(passing), self.n_witnesses() as f64),
            Weights::Similarity => {
                (weight as f64 * WEIGHT_UNIT, self.total_weight as f64 * WEIGHT_UNIT)
            }
        };
        let ef = f64::from(failing);
        Counts { ef, nf: self.n_failing as f64 - ef, ep, np: total - ep }
    }
}

/// The bits of a word where the mask has ones, moved together at the low end.
fn compress(word: u64, mask: u64) -> u64 {
    let mut rest = word & mask;
    if rest == mask {
        return u64::MAX >> mask.count_zeros();
    }
    let mut bits = 0;
    while rest != 0 {
        let lowest = rest & rest.wrapping_neg();
        bits |= 1 << (mask & (lowest - 1)).count_ones();
        rest ^= lowest;
    }
    bits
}

/// Puts bits into a row, the lowest at `first`.
fn put(row: &mut [u64], first: usize, bits: u64) {
    let (word, shift) = (first / 64, first % 64);
    row[word] |= bits << shift;
    let beyond = if shift == 0 { 0 } else { bits >> (64 - shift) };
    if beyond != 0 {
        row[word + 1] |= beyond;
    }
}

impl Weights {
    /// What they are called on a command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Weights::Equal => "equal",
            Weights::Similarity => "similarity",
        }
    }
}

impl fmt::Display for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Weights {
    type Err = RankError;

    fn from_str(text: &str) -> Result<Weights, RankError> {
        let found = [Weights::Equal, Weights::Similarity].into_iter().find(|w| w.name() == text);
        found.ok_or_else(|| RankError::UnknownWeights(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::coverage;

    fn counts(spectrum: &Spectrum, weights: Weights) -> Vec<(f64, f64, f64, f64)> {
        let all = (0..spectrum.universe().len()).map(|index| spectrum.counts(index, weights));
        all.map(|Counts { ef, nf, ep, np }| (ef, nf, ep, np)).collect()
    }

    #[test]
    fn only_blocks_of_the_failing_run_are_counted() {
        let mut spectrum = Spectrum::new(&[coverage([3, 70, 500])]);
        spectrum.push_witness(&coverage([2, 3, 71, 9000]), 1.0);
        spectrum.push_witness(&coverage([3, 500]), 1.0);
        spectrum.push_witness(&coverage([]), 1.0);
        assert_eq!(spectrum.universe(), [3, 70, 500].map(BlockId));
        let expected = [(1.0, 0.0, 2.0, 1.0), (1.0, 0.0, 0.0, 3.0), (1.0, 0.0, 1.0, 2.0)];
        assert_eq!(counts(&spectrum, Weights::Equal), expected);
        assert_eq!(spectrum.row(0), [0b001]);
        assert_eq!(spectrum.row(1), [0b101]);
    }

    #[test]
    fn several_failing_runs_make_one_universe() {
        let mut spectrum = Spectrum::new(&[coverage([1, 2]), coverage([2, 3]), coverage([2])]);
        spectrum.push_witness(&coverage([2, 3]), 1.0);
        assert_eq!(spectrum.n_failing(), 3);
        let expected = [(1.0, 2.0, 0.0, 1.0), (3.0, 0.0, 1.0, 0.0), (1.0, 2.0, 1.0, 0.0)];
        assert_eq!(counts(&spectrum, Weights::Equal), expected);
    }

    #[test]
    fn witnesses_can_count_as_their_similarity() {
        let mut spectrum = Spectrum::new(&[coverage([1, 2])]);
        spectrum.push_witness(&coverage([1]), 0.5);
        spectrum.push_witness(&coverage([1, 2]), 0.25);
        spectrum.push_witness(&coverage([2]), 7.0);
        spectrum.push_witness(&coverage([1, 2]), f64::NAN);
        spectrum.push_witness(&coverage([1, 2]), -1.0);
        let expected = [(1.0, 0.0, 0.75, 1.0), (1.0, 0.0, 1.25, 0.5)];
        assert_eq!(counts(&spectrum, Weights::Similarity), expected);
        let expected = [(1.0, 0.0, 4.0, 1.0), (1.0, 0.0, 4.0, 1.0)];
        assert_eq!(counts(&spectrum, Weights::Equal), expected);
        assert_eq!([2, 3, 4].map(|witness| spectrum.similarity(witness)), [1.0, 0.0, 0.0]);
    }

    #[test]
    fn without_failing_runs_there_is_nothing_to_count() {
        let mut spectrum = Spectrum::new(&[]);
        spectrum.push_witness(&coverage([1, 2]), 1.0);
        assert_eq!((spectrum.universe().len(), spectrum.n_witnesses()), (0, 1));
        assert_eq!(spectrum.row(0), []);
    }

    #[test]
    fn names_lead_back_to_weights() {
        for weights in [Weights::Equal, Weights::Similarity] {
            assert_eq!(weights.to_string().parse(), Ok(weights));
        }
        let error = "even".parse::<Weights>().unwrap_err().to_string();
        assert_eq!(error, "unknown weights `even`; the weights are equal, similarity");
    }
}
