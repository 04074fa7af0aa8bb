//! Pass sequences with which faults are tried.

use optsleuth_case::workers::Workers;
use optsleuth_compiler::distribution;
use optsleuth_model::{Element, Limits, PassSequence, Program, RunRequest};
use optsleuth_search::TABLE_I;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::BenchError;

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

/// What no drawn sequence has as many passes as.
const LONG: usize = 40;

/// Random sequences of the LocSeq paper's passes, then the default pipelines,
/// pass by pass where this LLVM can print them: a failure can then be reduced to
/// a few passes.
pub(super) fn pipelines(workers: &mut Workers, seed: u64) -> Result<Vec<PassSequence>, BenchError> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let is_lenient = workers.registry.takes_parameter("instcombine", "no-verify-fixpoint");
    let spelled = |name: &'static str| match name {
        "instcombine" if is_lenient => INSTCOMBINE,
        INSTCOMBINE if !is_lenient => "instcombine",
        _ => name,
    };
    let mut pipelines = Vec::new();
    for index in 0..N_RANDOM {
        let beginning = BEGINNINGS[index % BEGINNINGS.len()].iter().copied();
        let length = rng.random_range(LENGTH);
        let drawn = (0..length).filter_map(|_| TABLE_I.choose(&mut rng).copied());
        let names: Vec<&str> = beginning.chain(drawn.collect::<Vec<_>>()).map(spelled).collect();
        pipelines.push(workers.passes(&names.join(","))?);
    }
    let empty = Program { name: "empty.ll".to_owned(), ir: Vec::new() };
    workers.pool.load(&empty, &[], Limits::STANDARD)?;
    for name in DEFAULTS {
        let whole = workers.passes(name)?;
        let printed = distribution::print_pipeline(&workers.install, &whole).ok();
        let expanded = printed.and_then(|text| workers.passes(&text).ok());
        // What a pass prints is not always what it reads.
        let is_read = |passes: &PassSequence| {
            let request = RunRequest::new(Some(passes.clone()));
            workers.pool.first().run(&request).is_ok()
        };
        pipelines.push(expanded.filter(is_read).unwrap_or(whole));
    }
    Ok(pipelines)
}

/// How many passes there are; a default pipeline has many, even where it is
/// one word.
pub(super) fn length(sequence: &PassSequence) -> usize {
    let weight = |element: &Element| match element.to_string().contains("default<") {
        true => LONG,
        false => 1,
    };
    sequence.optimizations().iter().map(weight).sum()
}

/// Whether it is a default pipeline.
pub(super) fn is_long(sequence: &PassSequence) -> bool {
    length(sequence) >= LONG
}
