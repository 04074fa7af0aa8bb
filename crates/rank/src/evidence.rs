//! Ranking + spectrum -> why each suspect is one. Made once, when a search has
//! ended: this is the one place that goes through the witnesses' rows.
//!
//! **Invariant:** nothing here changes a rank or a score.

use std::collections::HashMap;
use std::hash::Hash;

use optsleuth_model::{FileId, FunctionId};

use crate::ranking::{Entity, Ranker, Ranking, Suspect};
use crate::spectrum::Spectrum;

/// Why something is a suspect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evidence<Id> {
    pub id: Id,
    /// How many of its blocks a failing run executed.
    pub blocks: usize,
    /// How many of those no witness executed.
    pub unwitnessed: usize,
    /// How many witnesses executed any of those.
    pub witnesses: usize,
    /// The most similar witness that did not execute all of those, by its
    /// number in the spectrum; of equally similar ones the earliest.
    pub nearest: Option<usize>,
}

/// The evidence for every suspect of a ranking, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankingEvidence {
    /// For its files.
    pub files: Vec<Evidence<FileId>>,
    /// For its functions.
    pub functions: Vec<Evidence<FunctionId>>,
}

/// Collects the evidence for a ranking, or for the top that is left of it: a
/// shorter one costs less.
///
/// # Panics
///
/// If the ranking or the spectrum is not this ranker's.
pub fn evidence(ranker: &Ranker, spectrum: &Spectrum, ranking: &Ranking) -> RankingEvidence {
    ranker.check(spectrum);
    RankingEvidence {
        files: collect(&ranker.files, spectrum, &ranking.files),
        functions: collect(&ranker.functions, spectrum, &ranking.functions),
    }
}

/// What the rows say about one suspect. Small, because all of them are gone
/// through for every row.
struct Tally {
    masks: (u32, u32),
    witnesses: u32,
    nearest: Option<u32>,
}

fn collect<Id: Copy + Eq + Hash>(
    entities: &[Entity<Id>],
    spectrum: &Spectrum,
    suspects: &[Suspect<Id>],
) -> Vec<Evidence<Id>> {
    let blocks: HashMap<Id, &[u32]> =
        entities.iter().map(|entity| (entity.id, entity.blocks.as_slice())).collect();
    let mut masks = Vec::new();
    let mut tallies = Vec::new();
    for suspect in suspects {
        let first = masks.len() as u32;
        masks.extend(in_words(blocks[&suspect.id]));
        tallies.push(Tally { masks: (first, masks.len() as u32), witnesses: 0, nearest: None });
    }
    for witness in nearest_first(spectrum) {
        let row = spectrum.row(witness);
        for tally in &mut tallies {
            let (mut any, mut lacking) = (0, 0);
            for &(word, mask) in &masks[tally.masks.0 as usize..tally.masks.1 as usize] {
                any |= row[word] & mask;
                lacking |= !row[word] & mask;
            }
            tally.witnesses += u32::from(any != 0);
            if lacking != 0 && tally.nearest.is_none() {
                tally.nearest = Some(witness as u32);
            }
        }
    }
    let is_unwitnessed = |&&block: &&u32| spectrum.witnesses_of(block as usize) == 0;
    let evidence = |(suspect, tally): (&Suspect<Id>, Tally)| Evidence {
        id: suspect.id,
        blocks: blocks[&suspect.id].len(),
        unwitnessed: blocks[&suspect.id].iter().filter(is_unwitnessed).count(),
        witnesses: tally.witnesses as usize,
        nearest: tally.nearest.map(|witness| witness as usize),
    };
    suspects.iter().zip(tallies).map(evidence).collect()
}

/// The witnesses, the most similar first; of equally similar ones the earlier.
fn nearest_first(spectrum: &Spectrum) -> Vec<usize> {
    let mut witnesses: Vec<usize> = (0..spectrum.n_witnesses()).collect();
    witnesses.sort_by(|&a, &b| spectrum.similarity(b).total_cmp(&spectrum.similarity(a)));
    witnesses
}

/// Ascending indices as words of a row and the bits in them.
fn in_words(blocks: &[u32]) -> impl Iterator<Item = (usize, u64)> + '_ {
    let bits = |chunk: &[u32]| chunk.iter().fold(0, |mask, block| mask | 1 << (block % 64));
    let chunks = blocks.chunk_by(|a, b| a / 64 == b / 64);
    chunks.map(move |chunk| (chunk[0] as usize / 64, bits(chunk)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{coverage, map, named};
    use crate::ranking::Recipe;
    use optsleuth_model::CodeMap;

    /// A failing run and witnesses with similarities -> for each suspect
    /// `name: blocks unwitnessed witnesses nearest`.
    fn check(map: &CodeMap, failing: &[u32], witnesses: &[(&[u32], f64)], expected: &[&str]) {
        let mut spectrum = Spectrum::new(&[coverage(failing.iter().copied())]);
        for (blocks, similarity) in witnesses {
            spectrum.push_witness(&coverage(blocks.iter().copied()), *similarity);
        }
        let ranker = Ranker::new(map, spectrum.universe());
        let ranking = ranker.rank(&spectrum, &Recipe::default());
        let evidence = evidence(&ranker, &spectrum, &ranking);
        let line = |name: &str, blocks, unwitnessed, witnesses, nearest: Option<usize>| {
            let nearest = nearest.map_or("-".to_owned(), |witness| witness.to_string());
            format!("{name}: {blocks} {unwitnessed} {witnesses} {nearest}")
        };
        let files = evidence
            .files
            .iter()
            .map(|e| line(map.file(e.id), e.blocks, e.unwitnessed, e.witnesses, e.nearest));
        let functions = evidence.functions.iter().map(|e| {
            line(&map.function(e.id).name, e.blocks, e.unwitnessed, e.witnesses, e.nearest)
        });
        assert_eq!(files.chain(functions).collect::<Vec<_>>(), expected);
        assert!(evidence.files.iter().zip(&ranking.files).all(|(e, s)| e.id == s.id));
        assert!(evidence.functions.iter().zip(&ranking.functions).all(|(e, s)| e.id == s.id));
    }

    #[test]
    fn the_nearest_witness_that_lacks_a_block_is_named() {
        check(
            &map(),
            &[0, 1, 3, 4, 6],
            &[(&[1, 3, 4, 6], 0.8), (&[3, 4, 6, 9], 0.9), (&[0, 1, 3], 0.5)],
            &[
                "a.cpp: 3 0 3 1",
                "b.cpp: 2 0 3 2",
                "f(): 2 0 2 1", // The second has none of its blocks.
                "h(): 1 0 2 2",
                "g(int): 2 0 3 2", // The first two have both its blocks.
            ],
        );
    }

    #[test]
    fn of_equally_near_witnesses_the_earlier_is_named() {
        let map = named(&[("f()", "a.cpp", &[(0, 3)])]);
        check(
            &map,
            &[0, 1, 2],
            &[(&[0, 1, 2], 0.9), (&[0], 0.5), (&[1], 0.5), (&[], 0.4)],
            &["a.cpp: 3 0 3 1", "f(): 3 0 3 1"],
        );
    }

    #[test]
    fn a_suspect_that_all_witnesses_cover_has_no_nearest() {
        let map = named(&[("f()", "a.cpp", &[(0, 200)])]);
        let failing: Vec<u32> = (10..190).collect();
        check(&map, &failing, &[(&failing, 1.0)], &["a.cpp: 180 0 1 -", "f(): 180 0 1 -"]);
        check(&map, &failing, &[], &["a.cpp: 180 180 0 -", "f(): 180 180 0 -"]);
        // One block short, in the last of three words.
        let short = &failing[..179];
        check(&map, &failing, &[(short, 1.0)], &["a.cpp: 180 1 1 0", "f(): 180 1 1 0"]);
    }

    #[test]
    fn a_shortened_ranking_gets_evidence_for_what_is_left() {
        let mut spectrum = Spectrum::new(&[coverage([0, 3, 6])]);
        spectrum.push_witness(&coverage([0, 3]), 1.0);
        let ranker = Ranker::new(&map(), spectrum.universe());
        let mut ranking = ranker.rank(&spectrum, &Recipe::default());
        ranking.files.clear();
        ranking.functions.truncate(1);
        let evidence = evidence(&ranker, &spectrum, &ranking);
        let h = FunctionId(2);
        let expected =
            Evidence { id: h, blocks: 1, unwitnessed: 1, witnesses: 0, nearest: Some(0) };
        assert_eq!((evidence.files.len(), evidence.functions), (0, vec![expected]));
    }
}
