//! Small changes to the failing program -> witnesses: mutants that pass.
//!
//! One instruction, operand, constant, flag or attribute at a time, made in the
//! worker's child. Sequences that pass do not exist for every bug; mutants that
//! pass nearly always do, and they go the failing program's way for longest.
//!
//! **Invariant:** a mutant of a program that computes something wrong is judged
//! by itself: what it does unoptimized is what it should do.

use optsleuth_case::loaded::LoadedCase;
use optsleuth_case::oracle::{Oracle, Verdict};
use optsleuth_compiler::CompilerError;
use optsleuth_compiler::llvm::Pool;
use optsleuth_model::{
    CaseKind, CodegenLevel, Coverage, Edit, EditKind, IndexSet, RunRequest, RunResult,
};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::TriageError;

/// All single edits of the loaded program, in random order.
pub(super) fn edits(
    loaded: &mut LoadedCase,
    rng: &mut ChaCha8Rng,
) -> Result<Vec<Edit>, TriageError> {
    let mut edits = Vec::new();
    for &kind in EditKind::VARYING {
        let edit = Some(Edit { kind, items: IndexSet::none() });
        let counted = RunRequest { edit, limits: loaded.request.limits, ..RunRequest::new(None) };
        let n_items = loaded.workers.pool.first().run(&counted)?.n_items;
        edits.extend((0..n_items).map(|item| Edit::one(kind, item)));
    }
    edits.shuffle(rng);
    Ok(edits)
}

/// A mutant's run, and what it means.
#[derive(Debug)]
pub(super) enum Mutant {
    Passes(Coverage),
    Fails,
    /// It is no program, fails otherwise, or its behaviour is not defined.
    Neither,
}

/// Runs mutants on all workers until `go_on` says no. The answers are
/// those of the first edits.
pub(super) fn run(
    pool: &mut Pool,
    kind: CaseKind,
    oracle: &Oracle,
    template: &RunRequest,
    edits: &[Edit],
    go_on: &(dyn Fn() -> bool + Sync),
) -> Vec<Mutant> {
    let with = |edit: &Edit| RunRequest { edit: Some(edit.clone()), ..template.clone() };
    if kind != CaseKind::WrongCode {
        let requests: Vec<RunRequest> = edits.iter().map(with).collect();
        let results = pool.run_while(&requests, go_on, &|result, _| result);
        return results.into_iter().map(|result| judged(result, oracle)).collect();
    }
    // Where nothing but code is generated, that is what optimizes.
    let codegen = match template.passes {
        Some(_) => template.codegen,
        None => CodegenLevel::O0,
    };
    let unoptimized = |edit: &Edit| RunRequest {
        passes: None,
        codegen,
        machine_passes: false,
        coverage: false,
        ..with(edit)
    };
    let requests: Vec<RunRequest> =
        edits.iter().flat_map(|edit| [unoptimized(edit), with(edit)]).collect();
    let mut results = pool.run_while(&requests, go_on, &|result, _| result).into_iter();
    let mut mutants = Vec::new();
    while let (Some(reference), Some(optimized)) = (results.next(), results.next()) {
        mutants.push(by_itself(oracle, reference, optimized));
    }
    mutants
}

fn judged(result: Result<RunResult, CompilerError>, oracle: &Oracle) -> Mutant {
    let Ok(RunResult { outcome, coverage: Some(coverage), .. }) = result else {
        return Mutant::Neither;
    };
    match oracle.judge(&outcome) {
        Verdict::Passes => Mutant::Passes(coverage),
        Verdict::Fails => Mutant::Fails,
        Verdict::Other => Mutant::Neither,
    }
}

fn by_itself(
    oracle: &Oracle,
    reference: Result<RunResult, CompilerError>,
    optimized: Result<RunResult, CompilerError>,
) -> Mutant {
    let (Ok(reference), Ok(optimized)) = (reference, optimized) else { return Mutant::Neither };
    let verdict = oracle.compare(&reference.outcome, &optimized.outcome);
    match (verdict, optimized.coverage) {
        (Verdict::Passes, Some(coverage)) => Mutant::Passes(coverage),
        (Verdict::Fails, _) => Mutant::Fails,
        (Verdict::Passes, None) | (Verdict::Other, _) => Mutant::Neither,
    }
}
