//! Spectrum + code map -> ranking: files and functions, most suspect first.
//!
//! A [`Ranker`] knows whose blocks are whose; it is made once for a spectrum
//! and asked after every batch of witnesses.
//!
//! **Invariant:** the order is total and stated. Higher scores come first;
//! files that tie stand in the order of their paths, functions in the order of
//! their names, then of their paths. No witness is looked at, only counts.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use optsleuth_model::{BlockId, CodeMap, FileId, FunctionId, HEADERS};

use crate::aggregate::Aggregation;
use crate::formula::Formula;
use crate::spectrum::{Spectrum, Weights};

/// How a spectrum becomes a ranking. The default is the LocSeq paper's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Recipe {
    /// From counts to a block's score.
    pub formula: Formula,
    /// From blocks' scores to an entity's.
    pub aggregation: Aggregation,
    /// How much each witness counts.
    pub weights: Weights,
}

/// So many blocks count for an entity where the highest do.
const HIGHEST: usize = 5;

impl Recipe {
    /// Every formula with every aggregation and both weights; the default first.
    pub fn all() -> Vec<Recipe> {
        let highest = std::num::NonZero::new(HIGHEST).map(Aggregation::TopK);
        let aggregations = [Aggregation::Mean, Aggregation::Max, Aggregation::Sum];
        let mut recipes = Vec::new();
        for weights in [Weights::Equal, Weights::Similarity] {
            for aggregation in aggregations.into_iter().chain(highest) {
                for formula in Formula::ALL {
                    recipes.push(Recipe { formula, aggregation, weights });
                }
            }
        }
        recipes
    }
}

/// Everything that a failing run executed a block of, most suspect first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranking {
    /// Files. [`HEADERS`] is none of them: it is no file to open.
    pub files: Vec<Suspect<FileId>>,
    /// Functions, those from headers among them.
    pub functions: Vec<Suspect<FunctionId>>,
}

/// One place in a ranking.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Suspect<Id> {
    pub id: Id,
    /// How many suspects have this score or a higher one: those that tie share
    /// the last place of them all, as the papers count.
    pub rank: usize,
    /// The higher, the more suspect.
    pub score: f64,
}

/// The suspects that are left, with the ranks that they have among themselves.
pub fn among<Id: Copy>(
    suspects: Vec<Suspect<Id>>,
    is_meant: impl Fn(Id) -> bool,
) -> Vec<Suspect<Id>> {
    let left = suspects.into_iter().filter(|suspect| is_meant(suspect.id));
    in_order(left.map(|suspect| (suspect.id, suspect.score)))
}

/// Whose blocks are whose, in one universe.
#[derive(Clone, Debug)]
pub struct Ranker {
    universe: Vec<BlockId>,
    pub(crate) files: Vec<Entity<FileId>>,
    pub(crate) functions: Vec<Entity<FunctionId>>,
}

/// A file or function and the indices of its blocks in the universe.
#[derive(Clone, Debug)]
pub(crate) struct Entity<Id> {
    pub(crate) id: Id,
    pub(crate) blocks: Vec<u32>, // Invariant: not empty, strictly ascending.
}

impl Ranker {
    /// For the spectra with this universe. Blocks of no function are padding
    /// and have no owner.
    pub fn new(map: &CodeMap, universe: &[BlockId]) -> Ranker {
        let owners = map.owners();
        let mut files = BTreeMap::<FileId, Vec<u32>>::new();
        let mut functions = BTreeMap::<FunctionId, Vec<u32>>::new();
        for (index, &BlockId(block)) in (0u32..).zip(universe) {
            let Some(&Some(function)) = owners.get(block as usize) else { continue };
            functions.entry(map.host(function)).or_default().push(index);
            files.entry(map.function(function).file).or_default().push(index);
        }
        files.retain(|&file, _| map.file(file) != HEADERS);
        let by_name = |id: FunctionId| {
            let function = map.function(id);
            (function.name.as_str(), map.file(function.file))
        };
        Ranker {
            universe: universe.to_vec(),
            files: entities(files, |&a, &b| map.file(a).cmp(map.file(b))),
            functions: entities(functions, |&a, &b| by_name(a).cmp(&by_name(b))),
        }
    }

    /// Ranks by what is counted so far.
    ///
    /// # Panics
    ///
    /// If the spectrum has another universe than the ranker was made for.
    pub fn rank(&self, spectrum: &Spectrum, recipe: &Recipe) -> Ranking {
        self.check(spectrum);
        let score = |index| recipe.formula.score(spectrum.counts(index, recipe.weights));
        let scores: Vec<f64> = (0..self.universe.len()).map(score).collect();
        Ranking {
            files: suspects(&self.files, &scores, recipe.aggregation),
            functions: suspects(&self.functions, &scores, recipe.aggregation),
        }
    }

    /// Indices mean something in one universe only.
    pub(crate) fn check(&self, spectrum: &Spectrum) {
        assert!(spectrum.universe() == self.universe, "a ranker for another universe");
    }
}

/// The entities in the order in which ties break; what even ties there, by number.
fn entities<Id: Copy>(
    blocks: BTreeMap<Id, Vec<u32>>,
    compare: impl Fn(&Id, &Id) -> Ordering,
) -> Vec<Entity<Id>> {
    let mut entities: Vec<Entity<Id>> =
        blocks.into_iter().map(|(id, blocks)| Entity { id, blocks }).collect();
    entities.sort_by(|a, b| compare(&a.id, &b.id));
    entities
}

fn suspects<Id: Copy>(
    entities: &[Entity<Id>],
    scores: &[f64],
    aggregation: Aggregation,
) -> Vec<Suspect<Id>> {
    let mut own = Vec::new();
    in_order(entities.iter().map(|entity| {
        own.clear();
        own.extend(entity.blocks.iter().map(|&index| scores[index as usize]));
        (entity.id, aggregation.combine(&own))
    }))
}

/// Entities with their scores, in the order in which ties break -> suspects.
pub(crate) fn in_order<Id: Copy>(scored: impl Iterator<Item = (Id, f64)>) -> Vec<Suspect<Id>> {
    let mut suspects: Vec<Suspect<Id>> =
        scored.map(|(id, score)| Suspect { id, rank: 0, score }).collect();
    // A stable sort: among equals the order of the entities stays.
    suspects.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut end = 0;
    for tied in suspects.chunk_by_mut(|a, b| a.score.total_cmp(&b.score).is_eq()) {
        end += tied.len();
        for suspect in tied {
            suspect.rank = end;
        }
    }
    suspects
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{coverage, map};

    #[test]
    fn what_is_left_is_ranked_among_itself() {
        let suspect = |id, rank, score| Suspect { id, rank, score };
        let all = vec![suspect('a', 1, 9.0), suspect('b', 3, 5.0), suspect('c', 3, 5.0)];
        assert_eq!(among(all.clone(), |id| id != 'b'), [all[0], suspect('c', 2, 5.0)]);
    }

    /// A recipe, failing runs and witnesses -> `rank name score`, files first.
    fn check(recipe: &str, failing: &[&[u32]], witnesses: &[&[u32]], expected: &[&str]) {
        let map = map();
        let failing: Vec<_> =
            failing.iter().map(|blocks| coverage(blocks.iter().copied())).collect();
        let mut spectrum = Spectrum::new(&failing);
        let ranker = Ranker::new(&map, spectrum.universe());
        for (n, witness) in witnesses.iter().enumerate() {
            spectrum.push_witness(&coverage(witness.iter().copied()), 1.0 / (n + 1) as f64);
        }
        let mut words = recipe.split(' ');
        let recipe = Recipe {
            formula: words.next().unwrap().parse().unwrap(),
            aggregation: words.next().unwrap().parse().unwrap(),
            weights: words.next().unwrap().parse().unwrap(),
        };
        let Ranking { files, functions } = ranker.rank(&spectrum, &recipe);
        let line = |rank, name: &str, score| format!("{rank} {name} {score:.3}");
        let files = files.iter().map(|s| line(s.rank, map.file(s.id), s.score));
        let functions = functions.iter().map(|s| line(s.rank, &map.function(s.id).name, s.score));
        assert_eq!(files.chain(functions).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_block_no_witness_covers_ranks_first() {
        // Scores by ep: f 1, 1/√2; g 1/√2, 1/√3; h 1/√3.
        check(
            "ochiai mean equal",
            &[&[0, 1, 3, 4, 6]],
            &[&[1, 3, 4, 6], &[4, 6, 9]],
            &[
                "1 a.cpp 0.761", // (1 + 0.7071 + 0.5774) / 3
                "2 b.cpp 0.642", // (0.7071 + 0.5774) / 2
                "1 f() 0.854",   // (1 + 0.7071) / 2
                "2 g(int) 0.642",
                "3 h() 0.577",
            ],
        );
    }

    #[test]
    fn those_that_tie_share_the_worst_rank() {
        // A block without witness has 1; with one, 1 / (1 + 1/1) = 1/2.
        check(
            "tarantula mean equal",
            &[&[0, 1, 3, 4, 6, 7, 10, 11]],
            &[&[4, 6, 7, 11]],
            &[
                "2 a.cpp 0.750", // (1 + 1 + 1/2 + 1/2) / 4
                "2 b.cpp 0.750", // (1 + 1/2) / 2
                "1 f() 1.000",
                "3 g(int) 0.750", // The header's: `(headers)` sorts before `b.cpp`.
                "3 g(int) 0.750",
                "4 h() 0.500",
            ],
        );
    }

    #[test]
    fn without_witnesses_all_tie() {
        check(
            "ochiai mean equal",
            &[&[0, 3, 6]],
            &[],
            &["2 a.cpp 1.000", "2 b.cpp 1.000", "3 f() 1.000", "3 g(int) 1.000", "3 h() 1.000"],
        );
    }

    #[test]
    fn headers_are_no_file_and_padding_is_nobodys() {
        check("ochiai mean equal", &[&[5, 10, 11, 4000]], &[&[10]], &["1 g(int) 0.854"]);
        check("ochiai mean equal", &[&[5]], &[&[5]], &[]);
        check("ochiai mean equal", &[], &[&[1]], &[]);
    }

    #[test]
    fn several_failing_runs_are_weighed_against_each_other() {
        check(
            "ochiai sum equal",
            &[&[0, 3], &[0, 6]],
            &[&[0, 3]],
            &[
                "1 a.cpp 1.524", // 0: 2/√(2·3) = 0.8165; 6: 1/√(2·1) = 0.7071
                "2 b.cpp 0.500", // 3: 1/√(2·2)
                "1 f() 0.816",
                "2 h() 0.707",
                "3 g(int) 0.500",
            ],
        );
    }

    #[test]
    fn a_distant_witness_weighs_less() {
        // The first has similarity 1, the second 1/2.
        check(
            "sbi max similarity",
            &[&[0, 3]],
            &[&[0], &[3]],
            &["1 b.cpp 0.667", "2 a.cpp 0.500", "1 g(int) 0.667", "2 f() 0.500"],
        );
    }

    #[test]
    fn every_recipe_is_tried_once_and_the_papers_first() {
        let recipes = Recipe::all();
        assert_eq!(recipes.first(), Some(&Recipe::default()));
        let distinct: std::collections::HashSet<&Recipe> = recipes.iter().collect();
        assert_eq!(distinct.len(), 8 * 4 * 2);
        assert_eq!(recipes.len(), distinct.len());
    }

    #[test]
    #[should_panic(expected = "a ranker for another universe")]
    fn a_ranker_refuses_another_universe() {
        let ranker = Ranker::new(&map(), &[BlockId(1)]);
        ranker.rank(&Spectrum::new(&[coverage([2])]), &Recipe::default());
    }
}
