//! Pass sequences to seed faults with.

use optsleuth_model::{Element, PassSequence};
use optsleuth_search::TABLE_I;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::setup::{Bench, LabError};

/// How many sequences are drawn.
const N_RANDOM: usize = 8;
/// How many passes each has, after its beginning.
const LENGTH: std::ops::RangeInclusive<usize> = 8..=20;

/// Without one of these first, most passes find nothing to do.
const BEGINNINGS: [&[&str]; 4] = [
    &["sroa"],
    &["mem2reg"],
    &["sroa", INSTCOMBINE, "simplifycfg"],
    &["sroa", "inline", "loop-rotate"],
];

/// The form that does not end with an error where it would need a second
/// iteration; see `localize`.
const INSTCOMBINE: &str = "instcombine<no-verify-fixpoint>";

/// The default pipelines, tried last.
const DEFAULTS: [&str; 3] = ["default<O1>", "default<O2>", "default<O3>"];

/// Random sequences of the LocSeq paper's passes, then the default pipelines.
pub(super) fn pipelines(bench: &Bench, seed: u64) -> Result<Vec<PassSequence>, LabError> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let spelled = |name: &'static str| match bench.registry.takes_parameter(
        "instcombine",
        "no-verify-fixpoint",
    ) {
        true if name == "instcombine" => INSTCOMBINE,
        false if name == INSTCOMBINE => "instcombine",
        _ => name,
    };
    let mut texts = Vec::new();
    for index in 0..N_RANDOM {
        let beginning = BEGINNINGS[index % BEGINNINGS.len()].iter().copied();
        let length = rng.random_range(LENGTH);
        let drawn = (0..length).filter_map(|_| TABLE_I.choose(&mut rng).copied());
        let names: Vec<&str> = beginning.chain(drawn.collect::<Vec<_>>()).map(spelled).collect();
        texts.push(names.join(","));
    }
    texts.extend(DEFAULTS.map(str::to_owned));
    texts.iter().map(|text| bench.passes(text)).collect()
}

/// How long a sequence is, for a person who reads it or a search that varies
/// it: a default pipeline is the longest.
pub(super) fn length(sequence: &PassSequence) -> usize {
    let weight = |element: &Element| match element.to_string().contains("default<") {
        true => 1000,
        false => 1,
    };
    sequence.optimizations().iter().map(weight).sum()
}
