//! How similar a run is to the failing one: formulas (3), (4) and (5).
//!
//! Coverages come in, the fitness of a witness goes out. With `a` the run and `b`
//! the failing one, `Cov` their blocks and `Cov_f` their files (Table II):
//! - (2) is plain Jaccard over blocks, [`Coverage::jaccard`]. A run that covers
//!   many other files would look different by it however similar the rest is.
//! - (4) therefore counts of `a` only `Cov'_a`, the blocks in files that both cover.
//! - (5) compares the files, and (3) rewards few differences: `(4) / (1 - (5))`.
//!
//! For the same files (3) divides by zero. The paper takes (4) then, at most 1,
//! which is less than nearly every other value of (3) and would punish the best
//! case. Here the formula goes on instead: with `n` files in `b`, the least
//! difference but none is one more file, `1 / (n + 1)`, and none counts as
//! `1 / (n + 2)`. So among runs with the same (4) the one with the same files is
//! the fittest.
//!
//! `Cov'_a` needs no look at `Cov_fa`: a block of `a` in a file of `b` is a block
//! in a file of both. One mask with all blocks of the files of `b` is enough.
//!
//! **Invariant:** code from headers is a file like any other, and blocks of no
//! function count nowhere. Whether the run is a witness is not decided here.

use optsleuth_model::{BlockId, CodeFunction, CodeMap, Coverage};

/// The failing run, prepared for comparisons.
#[derive(Clone, Debug)]
pub struct Reference {
    files: Vec<bool>, // Whether the failing run covers them.
    n_files: usize,
    /// What each word of a coverage holds: the places of its pieces.
    words: Vec<(u32, u32)>,
    pieces: Vec<Piece>,
    blocks: Coverage,
    n_blocks: usize,
    /// All blocks of the files that the failing run covers.
    mask: Coverage,
}

/// How similar a run is to the failing one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Similarity {
    /// Formula (4): over the blocks in files that both cover, from 0 to 1.
    pub statements: f64,
    /// Formula (5): over the covered files, from 0 to 1.
    pub files: f64,
    /// Formula (3): what a search maximizes.
    pub fitness: f64,
}

/// The blocks in one word of a coverage that belong to one file.
#[derive(Clone, Copy, Debug)]
struct Piece {
    mask: u64,
    file: u32,
}

impl Reference {
    /// Prepares the failing run's coverage.
    pub fn new(failing: &Coverage, map: &CodeMap) -> Reference {
        let (words, pieces) = pieces(map);
        let mut files = vec![false; map.files.len()];
        for_each_piece(&words, &pieces, failing, |file| files[file as usize] = true);
        let is_in_failing = |function: &&CodeFunction| files[function.file.0 as usize];
        let functions = map.functions.iter().filter(is_in_failing);
        let mask = Coverage::of(functions.flat_map(CodeFunction::block_ids));
        let blocks = failing.intersection(&mask);
        Reference {
            n_files: files.iter().filter(|is_in| **is_in).count(),
            n_blocks: blocks.count(),
            files,
            words,
            pieces,
            blocks,
            mask,
        }
    }

    /// Compares a run with the failing one.
    pub fn compare(&self, run: &Coverage) -> Similarity {
        let n_both = self.blocks.intersection_count(run);
        let n_either = self.mask.intersection_count(run) + self.n_blocks - n_both;
        let statements = ratio(n_both, n_either);

        let mut is_covered = vec![false; self.files.len()];
        for_each_piece(&self.words, &self.pieces, run, |file| is_covered[file as usize] = true);
        let (mut n_both, mut n_either) = (0, self.n_files);
        for (is_covered, is_in_failing) in is_covered.iter().zip(&self.files) {
            match is_in_failing {
                true => n_both += usize::from(*is_covered),
                false => n_either += usize::from(*is_covered),
            }
        }
        let difference = match n_either - n_both {
            0 => 1.0 / (n_either + 2) as f64,
            n_different => n_different as f64 / n_either as f64,
        };
        Similarity { statements, files: ratio(n_both, n_either), fitness: statements / difference }
    }
}

/// Tells the file of every piece that a coverage has blocks of. Most words of a
/// coverage are empty, and most others lie in one file.
fn for_each_piece(
    words: &[(u32, u32)],
    pieces: &[Piece],
    coverage: &Coverage,
    mut tell: impl FnMut(u32),
) {
    for (&word, &(from, end)) in coverage.words().iter().zip(words).filter(|(word, _)| **word != 0)
    {
        for piece in &pieces[from as usize..end as usize] {
            if word & piece.mask != 0 {
                tell(piece.file);
            }
        }
    }
}

/// All blocks, by the words of a coverage and by file.
fn pieces(map: &CodeMap) -> (Vec<(u32, u32)>, Vec<Piece>) {
    let n_words = (map.n_blocks as usize).div_ceil(64);
    let mut of_words: Vec<Vec<Piece>> = vec![Vec::new(); n_words];
    for function in &map.functions {
        for BlockId(block) in function.block_ids() {
            let (file, bit) = (function.file.0, 1 << (block % 64));
            let of_word = &mut of_words[block as usize / 64];
            match of_word.iter_mut().find(|piece| piece.file == file) {
                Some(piece) => piece.mask |= bit,
                None => of_word.push(Piece { mask: bit, file }),
            }
        }
    }
    let mut words = Vec::with_capacity(n_words);
    let mut pieces = Vec::new();
    for of_word in of_words {
        let from = pieces.len() as u32;
        pieces.extend(of_word);
        words.push((from, pieces.len() as u32));
    }
    (words, pieces)
}

/// The size of an intersection by the size of a union; 1 for two empty sets.
fn ratio(n_both: usize, n_either: usize) -> f64 {
    if n_either == 0 { 1.0 } else { n_both as f64 / n_either as f64 }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use optsleuth_model::{FileId, HEADERS, Origin};
    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;

    use super::*;

    /// Functions as files and ranges of blocks.
    fn code_map(n_files: u32, n_blocks: u32, functions: &[(u32, &[(u32, u32)])]) -> CodeMap {
        let function = |&(file, blocks): &(u32, &[(u32, u32)])| CodeFunction {
            symbol: String::new(),
            name: String::new(),
            file: FileId(file),
            blocks: blocks.to_vec(),
            host: None,
            origin: Origin::default(),
        };
        let mut files: Vec<String> = (1..n_files).map(|file| format!("{file}.cpp")).collect();
        files.insert(0, HEADERS.to_owned());
        let functions = functions.iter().map(function).collect();
        CodeMap { files, functions, n_blocks, ..CodeMap::default() }
    }

    /// File 0 has blocks 0-9 and 30-39, file 1 has 10-19, file 2 has 20-28,
    /// file 3 none; 29 is padding.
    fn small() -> CodeMap {
        code_map(
            4,
            40,
            &[(0, &[(0, 4)]), (0, &[(4, 10), (30, 40)]), (1, &[(10, 20)]), (2, &[(20, 29)])],
        )
    }

    fn coverage(blocks: &[u32]) -> Coverage {
        Coverage::of(blocks.iter().map(|&block| BlockId(block)))
    }

    fn check(run: &[u32], failing: &[u32], statements: f64, files: f64, fitness: f64) {
        let found = Reference::new(&coverage(failing), &small()).compare(&coverage(run));
        let expected = [statements, files, fitness];
        for (found, expected) in [found.statements, found.files, found.fitness].iter().zip(expected)
        {
            assert!((found - expected).abs() < 1e-12, "{found} and not {expected}");
        }
    }

    #[test]
    fn blocks_in_files_of_one_run_only_do_not_count_as_statements() {
        // In common 0, 1; files 0 and 1 against 0 and 2. `Cov'_a` is 0, 1, 30.
        let (run, failing) = (&[0, 1, 30, 20, 21], &[0, 1, 2, 10]);
        check(run, failing, 2.0 / 5.0, 1.0 / 3.0, (2.0 / 5.0) / (2.0 / 3.0));
        // By formula (2) the blocks of file 2 would count as well.
        let plain = coverage(run).jaccard(&coverage(failing));
        assert!((plain - 2.0 / 7.0).abs() < 1e-12);
    }

    #[test]
    fn the_same_files_are_better_than_any_other_files() {
        // Two files in the failing run: the difference counts as 1/4.
        check(&[0, 10], &[0, 10], 1.0, 1.0, 4.0);
        check(&[0, 11], &[0, 10], 1.0 / 3.0, 1.0, 4.0 / 3.0);
        // With all the same blocks, one more file, and one less.
        check(&[0, 10, 20], &[0, 10], 1.0, 2.0 / 3.0, 3.0);
        check(&[0], &[0, 10], 0.5, 0.5, 1.0);
    }

    #[test]
    fn nothing_in_common_has_no_fitness() {
        check(&[20, 21], &[0, 10], 0.0, 0.0, 0.0);
        check(&[1, 11], &[0, 10], 0.0, 1.0, 0.0);
    }

    #[test]
    fn empty_coverages_have_a_similarity_too() {
        check(&[], &[], 1.0, 1.0, 2.0);
        check(&[], &[0, 10], 0.0, 0.0, 0.0);
        // No file in common: `Cov'_a` and `Cov_b` are empty.
        check(&[0, 10], &[], 1.0, 0.0, 1.0);
    }

    #[test]
    fn padding_does_not_count() {
        check(&[0, 29], &[0, 10], 0.5, 0.5, 1.0);
        check(&[0, 10, 99], &[0, 10, 29], 1.0, 1.0, 4.0);
    }

    proptest! {
        #[test]
        fn the_fast_way_is_the_definition(
            lengths in vec((0u32..6, 1u32..90), 1..30),
            a in btree_set(0u32..1500, 0..200),
            b in btree_set(0u32..1500, 0..200),
        ) {
            // Every fifth function is left out: padding.
            let mut at = 0;
            let mut blocks = Vec::new();
            for &(file, length) in &lengths {
                blocks.push((file, [(at, at + length)]));
                at += length;
            }
            let kept = blocks.iter().enumerate().filter(|(index, _)| index % 5 != 4);
            let functions: Vec<(u32, &[(u32, u32)])> =
                kept.map(|(_, (file, range))| (*file, range.as_slice())).collect();
            let map = code_map(6, at, &functions);

            let owners = map.owners();
            let file = |&block: &u32| -> Option<u32> {
                let owner = owners.get(block as usize).copied().flatten()?;
                Some(map.function(owner).file.0)
            };
            let files = |set: &BTreeSet<u32>| set.iter().filter_map(file).collect::<BTreeSet<u32>>();
            let (files_a, files_b) = (files(&a), files(&b));
            let shared: BTreeSet<u32> = files_a.intersection(&files_b).copied().collect();
            let inside = |block: &&u32| file(block).is_some_and(|file| shared.contains(&file));
            let cov_a: BTreeSet<u32> = a.iter().filter(inside).copied().collect();
            let cov_b: BTreeSet<u32> = b.iter().filter(|block| file(block).is_some()).copied().collect();
            let jaccard = |a: &BTreeSet<u32>, b: &BTreeSet<u32>| {
                ratio(a.intersection(b).count(), a.union(b).count())
            };

            let coverage = |set: &BTreeSet<u32>| Coverage::of(set.iter().map(|&block| BlockId(block)));
            let found = Reference::new(&coverage(&b), &map).compare(&coverage(&a));
            prop_assert!((found.statements - jaccard(&cov_a, &cov_b)).abs() < 1e-12);
            prop_assert!((found.files - jaccard(&files_a, &files_b)).abs() < 1e-12);
            if files_a != files_b {
                let expected = found.statements / (1.0 - found.files);
                prop_assert!((found.fitness - expected).abs() < 1e-9);
            }
        }
    }
}
