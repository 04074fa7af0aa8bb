//! Baseline coverage: how often every pass, run on the baseline programs,
//! executes each block of an LLVM. Measured once for each LLVM, and kept.
//!
//! Every user tests code that runs all the time; an unnoticed bug is more likely
//! in code that rarely runs.
//!
//! **Invariant:** blocks are kept by the functions they belong to, so that what
//! was learnt of an LLVM holds for its worker with a fault or with more targets.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use fs_err as fs;
use optsleuth_case::folder::write_whole;
use optsleuth_case::workers::Workers;
use optsleuth_compiler::distribution;
use optsleuth_compiler::llvm::{Provisioned, cache_root};
use optsleuth_model::{CodeMap, Limits, Outcome, PassSequence, Progress, RunRequest, RunResult};
use optsleuth_search::TABLE_I;
use serde::{Deserialize, Serialize};

use super::programs;
use crate::TriageError;

/// Changes when the recipe does.
const RECIPE: &str = "2";
/// Without it first, most passes find nothing to do in unoptimized code.
const BEGINNING: &str = "sroa";
const DEFAULTS: [&str; 3] = ["default<O1>", "default<O2>", "default<O3>"];

/// In how many of `n_runs` baseline runs each block was executed.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct BaselineCoverage {
    n_runs: u32,
    /// By symbol and file: a count for each of the function's blocks.
    functions: BTreeMap<(String, String), Vec<u16>>,
}

impl BaselineCoverage {
    /// Of this worker: what is kept, or measured now.
    pub fn of(
        worker: &Provisioned,
        progress: &dyn Progress,
    ) -> Result<BaselineCoverage, TriageError> {
        let path = kept_at(&worker.key())?;
        if let Some(kept) = fs::read(&path).ok().and_then(|b| postcard::from_bytes(&b).ok()) {
            return Ok(kept);
        }
        let mut workers = Workers::start(worker.clone(), None, progress)?;
        let coverage = BaselineCoverage::measure(&mut workers, progress)?;
        // Nothing is lost but time where it cannot be kept.
        let kept = postcard::to_allocvec(&coverage)
            .map_err(std::io::Error::other)
            .and_then(|bytes| write_whole(&path, bytes));
        if let Err(error) = kept {
            tracing::warn!(%error, "the baseline coverage is not kept");
        }
        Ok(coverage)
    }

    fn measure(
        workers: &mut Workers,
        progress: &dyn Progress,
    ) -> Result<BaselineCoverage, TriageError> {
        let map = workers.provisioned.code_map()?;
        let programs = programs::programs(&workers.install)?;
        let pipelines = pipelines(workers)?;
        let mut counts = vec![0u16; map.n_blocks as usize];
        let mut n_runs = 0;
        progress.step("measuring the baseline coverage of this LLVM");
        for (index, program) in programs.iter().enumerate() {
            progress.count(index, programs.len());
            workers.pool.load(program, &[], Limits::STANDARD)?;
            let request = |passes: &PassSequence| RunRequest {
                coverage: true,
                ..RunRequest::new(Some(passes.clone()))
            };
            let requests: Vec<RunRequest> = pipelines.iter().map(request).collect();
            let results = workers.pool.run_all(&requests, &|_| ());
            for result in results {
                // A pass that fails here is no part of the baseline.
                let RunResult { outcome: Outcome::Ok(_), coverage: Some(coverage), .. } = result?
                else {
                    continue;
                };
                n_runs += 1;
                for block in coverage.blocks() {
                    counts[block.0 as usize] += 1;
                }
            }
        }
        Ok(BaselineCoverage { n_runs, functions: by_function(&map, &counts) })
    }

    /// For each block of a worker the share of baseline runs that execute it. A
    /// function with another number of blocks has been changed: each of its
    /// blocks then counts as often as they do on average.
    pub fn shares(&self, map: &CodeMap) -> Vec<f64> {
        let mut shares = vec![0.0; map.n_blocks as usize];
        let whole = f64::from(self.n_runs.max(1));
        for function in &map.functions {
            let key = (function.symbol.clone(), map.file(function.file).to_owned());
            let Some(counts) = self.functions.get(&key) else { continue };
            let sum: f64 = counts.iter().map(|&count| f64::from(count)).sum();
            let average = sum / counts.len().max(1) as f64;
            let fits = function.block_ids().count() == counts.len();
            for (place, block) in function.block_ids().enumerate() {
                let count = if fits { f64::from(counts[place]) } else { average };
                shares[block.0 as usize] = count / whole;
            }
        }
        shares
    }
}

/// Functions that were executed at all.
fn by_function(map: &CodeMap, counts: &[u16]) -> BTreeMap<(String, String), Vec<u16>> {
    let mut functions = BTreeMap::new();
    for function in &map.functions {
        let own: Vec<u16> = function.block_ids().map(|block| counts[block.0 as usize]).collect();
        if own.iter().any(|&count| count > 0) {
            functions.insert((function.symbol.clone(), map.file(function.file).to_owned()), own);
        }
    }
    functions
}

/// Every pass of the default pipelines and of the LocSeq paper's Table I alone,
/// and the default pipelines.
fn pipelines(workers: &Workers) -> Result<Vec<PassSequence>, TriageError> {
    let mut texts: BTreeSet<String> = BTreeSet::new();
    let mut add = |sequence: PassSequence| {
        for element in sequence.optimizations() {
            texts.insert(element.to_string());
        }
    };
    TABLE_I.iter().filter_map(|name| workers.passes(name).ok()).for_each(&mut add);
    for name in DEFAULTS {
        let printed = distribution::print_pipeline(&workers.install, &workers.passes(name)?).ok();
        if let Some(expanded) = printed.and_then(|text| workers.passes(&text).ok()) {
            add(expanded);
        }
    }
    let alone = texts.iter().map(|text| format!("{BEGINNING},{text}"));
    let all = alone.chain(DEFAULTS.map(str::to_owned));
    // What a pass prints is not always what it reads.
    Ok(all.filter_map(|text| workers.passes(&text).ok()).collect())
}

fn kept_at(worker: &str) -> Result<PathBuf, TriageError> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(RECIPE.as_bytes());
    for (name, text) in programs::SOURCES {
        hasher.update(name.as_bytes()).update(text.as_bytes());
    }
    let recipe = &hasher.finalize().to_hex()[..16];
    Ok(cache_root()?.join("coverage").join(format!("{worker}-{recipe}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use optsleuth_model::{CodeFunction, FileId, Origin};

    fn map(blocks: &[(&str, (u32, u32))]) -> CodeMap {
        let function = |&(name, range): &(&str, (u32, u32))| CodeFunction {
            symbol: name.to_owned(),
            name: name.to_owned(),
            file: FileId(0),
            blocks: vec![range],
            host: None,
            origin: Origin::default(),
        };
        CodeMap {
            files: vec!["a.cpp".to_owned()],
            functions: blocks.iter().map(function).collect(),
            n_blocks: 10,
            ..CodeMap::default()
        }
    }

    #[test]
    fn shares_follow_functions_to_other_block_numbers() {
        let learnt = map(&[("f", (0, 2)), ("g", (2, 4)), ("h", (4, 5))]);
        let counts = [4, 2, 0, 8, 0, 0, 0, 0, 0, 0];
        let coverage = BaselineCoverage { n_runs: 8, functions: by_function(&learnt, &counts) };
        // `g` has one block more, `h` was never executed.
        let other = map(&[("g", (0, 3)), ("f", (5, 7)), ("h", (8, 9))]);
        let shares = coverage.shares(&other);
        assert_eq!(shares, [0.5, 0.5, 0.5, 0.0, 0.0, 0.5, 0.25, 0.0, 0.0, 0.0]);
    }
}
