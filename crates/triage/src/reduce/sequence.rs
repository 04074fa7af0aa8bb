//! Fewer passes, with fewer parameters, that fail in the same way.
//!
//! Passes are left out by delta debugging, each inside the adaptors it stands
//! in; then adaptors that are not needed go, and then parameters.

use optsleuth_case::workers::Workers;
use optsleuth_compiler::distribution;
use optsleuth_model::PassSequence;

use super::judge::Judge;
use super::question::Candidate;
use crate::TriageError;

/// What a sequence with whole pipelines in it (`default<O2>`) is made of, as
/// this LLVM's `opt` prints it. `None` where there are none, or where it cannot
/// be told.
pub fn expanded(workers: &Workers, passes: &PassSequence) -> Option<PassSequence> {
    const PIPELINES: [&str; 5] =
        ["default<", "thinlto-pre-link<", "thinlto<", "lto-pre-link<", "lto<"];
    let whole = passes.flat()?;
    let is_pipeline = |name: &str| PIPELINES.iter().any(|start| name.starts_with(start));
    if !whole.elements().iter().any(|element| is_pipeline(&element.name)) {
        return None;
    }
    let printed = distribution::print_pipeline(&workers.install, passes).ok()?;
    let expanded = workers.passes(&printed).ok()?;
    // `opt` puts its own verifier around, and a writer behind.
    let leaves = expanded.flat()?;
    let is_work =
        |place: &usize| leaves.elements().get(*place).is_some_and(|leaf| leaf.name != "verify");
    expanded.keeping(&(0..expanded.n_passes()).filter(is_work).collect::<Vec<_>>())
}

/// The fewest of these passes that fail as they do together. `nested` puts
/// passes that stand alone into the adaptors they need.
pub fn fewer_passes(
    judge: &mut Judge<'_>,
    passes: &PassSequence,
    nested: &dyn Fn(PassSequence) -> Option<PassSequence>,
) -> Result<PassSequence, TriageError> {
    let kept = judge.minimize(passes.n_passes(), "passes", &|kept| {
        passes.keeping(kept).map(Candidate::Passes)
    })?;
    let mut passes = passes.keeping(&kept).unwrap_or_else(|| passes.clone());
    let flat = passes.flat().and_then(nested).filter(|flat| *flat != passes);
    if let Some(flat) = flat
        && judge.fails(Candidate::Passes(flat.clone()))?
    {
        passes = flat;
    }
    fewer_parameters(judge, passes)
}

fn fewer_parameters(
    judge: &mut Judge<'_>,
    mut passes: PassSequence,
) -> Result<PassSequence, TriageError> {
    'again: loop {
        for simpler in passes.with_fewer_parameters() {
            if judge.patience.is_over() {
                return Ok(passes);
            }
            judge.patience.progress.step(&format!("parameters of passes: {simpler}"));
            if judge.fails(Candidate::Passes(simpler.clone()))? {
                passes = simpler;
                continue 'again;
            }
        }
        return Ok(passes);
    }
}
