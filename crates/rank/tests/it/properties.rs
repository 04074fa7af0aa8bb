//! What holds for every spectrum, checked on random ones through the public
//! interface. No hand-computed number is in here; those stand beside the code.

use std::num::NonZero;

use optsleuth_model::{BlockId, CodeFunction, CodeMap, Coverage, FileId, Origin};
use optsleuth_rank::{
    Aggregation, Counts, Formula, Ranker, Ranking, Recipe, Spectrum, Suspect, Weights, evidence,
};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

const N_BLOCKS: u32 = 400;

fn coverage() -> impl Strategy<Value = Coverage> {
    btree_set(0..N_BLOCKS, 0..150).prop_map(|blocks| Coverage::of(blocks.into_iter().map(BlockId)))
}

fn witnesses() -> impl Strategy<Value = Vec<(Coverage, f64)>> {
    vec((coverage(), 0.0..=1.0), 0..12)
}

fn recipe() -> impl Strategy<Value = Recipe> {
    let aggregation = prop_oneof![
        Just(Aggregation::Mean),
        Just(Aggregation::Max),
        Just(Aggregation::Sum),
        (1usize..9).prop_map(|k| Aggregation::TopK(NonZero::new(k).unwrap())),
    ];
    let weights = prop_oneof![Just(Weights::Equal), Just(Weights::Similarity)];
    (proptest::sample::select(&Formula::ALL[..]), aggregation, weights)
        .prop_map(|(formula, aggregation, weights)| Recipe { formula, aggregation, weights })
}

/// A count of runs, or a sum of weights.
fn count() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        (1u32..100_000).prop_map(f64::from),
        (1u64..1 << 40).prop_map(|units| units as f64 / (1u64 << 20) as f64),
        Just(1e12),
    ]
}

/// Functions of seven blocks, each eighth block padding, five files.
fn map() -> CodeMap {
    let function = |n: u32| CodeFunction {
        symbol: format!("_Z{n}"),
        name: format!("f{}()", n % 20),
        file: FileId(n % 5),
        blocks: vec![(n * 8, n * 8 + 7)],
        host: None,
        origin: Origin::default(),
    };
    CodeMap {
        files: (0..5).map(|n| format!("{n}.cpp")).collect(),
        functions: (0..N_BLOCKS / 8).map(function).collect(),
        n_blocks: N_BLOCKS,
        ..CodeMap::default()
    }
}

fn spectrum(failing: &[Coverage], witnesses: &[(Coverage, f64)]) -> Spectrum {
    let mut spectrum = Spectrum::new(failing);
    for (witness, similarity) in witnesses {
        spectrum.push_witness(witness, *similarity);
    }
    spectrum
}

fn worst_ranks<Id>(suspects: &[Suspect<Id>]) -> bool {
    let place = |suspect: &Suspect<Id>| {
        suspects.iter().filter(|other| other.score >= suspect.score).count()
    };
    suspects.iter().all(|suspect| suspect.rank == place(suspect) && suspect.score.is_finite())
        && suspects.windows(2).all(|pair| pair[0].score >= pair[1].score)
}

proptest! {
    #[test]
    fn every_score_is_finite(ef in count(), nf in count(), ep in count(), np in count()) {
        for formula in Formula::ALL {
            let score = formula.score(Counts { ef, nf, ep, np });
            prop_assert!(score.is_finite(), "{formula}: {score}");
        }
    }

    #[test]
    fn rows_and_counts_are_those_of_sets(
        failing in vec(coverage(), 0..4),
        witnesses in witnesses(),
    ) {
        let spectrum = spectrum(&failing, &witnesses);
        let union = failing.iter().fold(Coverage::default(), |all, one| all.union(one));
        prop_assert_eq!(spectrum.universe(), union.blocks().collect::<Vec<_>>());
        for (index, &block) in spectrum.universe().iter().enumerate() {
            for (witness, (coverage, _)) in witnesses.iter().enumerate() {
                prop_assert_eq!(spectrum.covers(witness, index), coverage.contains(block));
            }
            let counts = spectrum.counts(index, Weights::Equal);
            let ep = witnesses.iter().filter(|(coverage, _)| coverage.contains(block)).count();
            let ef = failing.iter().filter(|coverage| coverage.contains(block)).count();
            prop_assert_eq!(counts.ep, ep as f64);
            prop_assert_eq!(counts.ef, ef as f64);
            prop_assert_eq!(counts.ef + counts.nf, failing.len() as f64);
            prop_assert_eq!(counts.ep + counts.np, witnesses.len() as f64);

            let weighted = spectrum.counts(index, Weights::Similarity);
            let covers = |(coverage, _): &&(Coverage, f64)| coverage.contains(block);
            let ep: f64 = witnesses.iter().filter(covers).map(|(_, similarity)| similarity).sum();
            prop_assert!((weighted.ep - ep).abs() < 1e-5);
            prop_assert!(weighted.np >= 0.0);
        }
        for (witness, (coverage, _)) in witnesses.iter().enumerate() {
            let bits: u32 = spectrum.row(witness).iter().map(|word| word.count_ones()).sum();
            prop_assert_eq!(bits as usize, coverage.intersection_count(&union));
        }
    }

    #[test]
    fn a_witness_never_raises_the_ochiai_score_of_what_it_covers(
        failing in vec(coverage(), 1..4),
        witnesses in witnesses(),
        last in coverage(),
        similarity in 0.0..=1.0,
        weights in prop_oneof![Just(Weights::Equal), Just(Weights::Similarity)],
    ) {
        let before = spectrum(&failing, &witnesses);
        let mut after = before.clone();
        after.push_witness(&last, similarity);
        for (index, &block) in before.universe().iter().enumerate() {
            let score = |spectrum: &Spectrum| Formula::Ochiai.score(spectrum.counts(index, weights));
            if last.contains(block) {
                prop_assert!(score(&after) <= score(&before));
            } else {
                prop_assert_eq!(score(&after), score(&before));
            }
        }
    }

    #[test]
    fn ranks_count_those_with_this_score_or_a_higher_one(
        failing in vec(coverage(), 0..3),
        witnesses in witnesses(),
        recipe in recipe(),
    ) {
        let spectrum = spectrum(&failing, &witnesses);
        let map = map();
        let Ranking { files, functions } =
            Ranker::new(&map, spectrum.universe()).rank(&spectrum, &recipe);
        prop_assert!(worst_ranks(&files) && worst_ranks(&functions));
        let union = failing.iter().fold(Coverage::default(), |all, one| all.union(one));
        prop_assert_eq!(files.len(), map.per_file(&union).len());
        prop_assert_eq!(functions.len(), map.per_function(&union).len());
        for pair in functions.windows(2).filter(|pair| pair[0].score == pair[1].score) {
            let key = |suspect: &Suspect<_>| {
                let function = map.function(suspect.id);
                (function.name.clone(), map.file(function.file).to_owned(), suspect.id)
            };
            prop_assert!(key(&pair[0]) < key(&pair[1]));
        }
    }

    #[test]
    fn the_order_of_witnesses_changes_no_bit(
        failing in vec(coverage(), 1..3),
        witnesses in witnesses(),
        recipe in recipe(),
    ) {
        let forward = spectrum(&failing, &witnesses);
        let reversed: Vec<_> = witnesses.iter().rev().cloned().collect();
        let backward = spectrum(&failing, &reversed);
        let ranker = Ranker::new(&map(), forward.universe());
        prop_assert_eq!(ranker.rank(&forward, &recipe), ranker.rank(&backward, &recipe));
    }

    #[test]
    fn evidence_is_what_the_coverages_say(
        failing in coverage(),
        witnesses in witnesses(),
    ) {
        let spectrum = spectrum(std::slice::from_ref(&failing), &witnesses);
        let map = map();
        let ranker = Ranker::new(&map, spectrum.universe());
        let ranking = ranker.rank(&spectrum, &Recipe::default());
        let found = evidence(&ranker, &spectrum, &ranking);
        for (suspect, evidence) in ranking.functions.iter().zip(&found.functions) {
            prop_assert_eq!(suspect.id, evidence.id);
            let own = Coverage::of(map.function(suspect.id).block_ids()).intersection(&failing);
            let covered = |(coverage, _): &(Coverage, f64)| coverage.intersection_count(&own);
            prop_assert_eq!(evidence.blocks, own.count());
            prop_assert_eq!(evidence.witnesses, witnesses.iter().filter(|w| covered(w) > 0).count());
            let unwitnessed = witnesses.iter().fold(own.clone(), |left, (coverage, _)| left.difference(coverage));
            prop_assert_eq!(evidence.unwitnessed, unwitnessed.count());
            let lacking = witnesses.iter().enumerate().filter(|(_, w)| covered(w) < own.count());
            let nearest = lacking.rev().max_by(|(_, (_, a)), (_, (_, b))| a.total_cmp(b));
            prop_assert_eq!(evidence.nearest, nearest.map(|(witness, _)| witness));
        }
    }
}
