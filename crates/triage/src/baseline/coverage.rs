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
use optsleuth_model::{
    CodeMap, HEADERS, Limits, Outcome, PassSequence, Progress, RunRequest, RunResult,
};
use optsleuth_search::TABLE_I;
use serde::{Deserialize, Serialize};

use super::programs;
use crate::TriageError;

/// Changes when the recipe does.
const RECIPE: &str = "3";
/// Without it first, most passes find nothing to do in unoptimized code.
const BEGINNING: &str = "sroa";
const DEFAULTS: [&str; 3] = ["default<O1>", "default<O2>", "default<O3>"];

/// In how many of `n_runs` baseline runs each block was executed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct BaselineCoverage {
    n_runs: u32,
    /// By symbol and file: a count for each of the function's blocks.
    functions: BTreeMap<(String, String), Vec<u16>>,
    /// Which files each pipeline executes something of, on any program.
    reached: BTreeMap<String, BTreeSet<String>>,
}

/// Which pipelines are of interest.
type IsMeant<'a> = &'a dyn Fn(&PassSequence) -> bool;

impl BaselineCoverage {
    /// Of this worker: what is kept, or measured now.
    pub fn of(
        worker: &Provisioned,
        progress: &dyn Progress,
    ) -> Result<BaselineCoverage, TriageError> {
        BaselineCoverage::kept_or_measured(worker, progress, |workers| {
            BaselineCoverage::measure(workers, &|_| true, progress)
        })
    }

    /// The same for a worker with zoomed files, from that of the worker without:
    /// only pipelines that reach these files are run again.
    pub fn of_zoomed(
        &self,
        worker: &Provisioned,
        progress: &dyn Progress,
    ) -> Result<BaselineCoverage, TriageError> {
        BaselineCoverage::kept_or_measured(worker, progress, |workers| {
            let files = workers.provisioned.code_map()?.zoomed_files();
            let is_meant = |passes: &PassSequence| {
                let reached = self.reached.get(&passes.to_string());
                reached.is_none_or(|reached| reached.iter().any(|file| files.contains(file)))
            };
            let anew = BaselineCoverage::measure(workers, &is_meant, progress)?;
            Ok(self.with_files(anew, &files))
        })
    }

    /// This one, with the functions of some files, and of all that it does not know,
    /// from another one.
    fn with_files(&self, anew: BaselineCoverage, files: &BTreeSet<String>) -> BaselineCoverage {
        let mut merged = self.clone();
        merged.functions.retain(|(_, file), _| !files.contains(file));
        let symbols: BTreeSet<&String> = self.functions.keys().map(|(symbol, _)| symbol).collect();
        for ((symbol, file), counts) in anew.functions {
            if files.contains(&file) || !symbols.contains(&symbol) {
                merged.functions.insert((symbol, file), counts);
            }
        }
        merged
    }

    fn kept_or_measured(
        worker: &Provisioned,
        progress: &dyn Progress,
        measure: impl FnOnce(&mut Workers) -> Result<BaselineCoverage, TriageError>,
    ) -> Result<BaselineCoverage, TriageError> {
        let path = kept_at(&worker.key())?;
        if let Some(kept) = fs::read(&path).ok().and_then(|b| postcard::from_bytes(&b).ok()) {
            return Ok(kept);
        }
        let mut workers = Workers::start(worker.clone(), None, progress)?;
        let coverage = measure(&mut workers)?;
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
        is_meant: IsMeant<'_>,
        progress: &dyn Progress,
    ) -> Result<BaselineCoverage, TriageError> {
        let map = workers.provisioned.code_map()?;
        let programs = programs::programs(&workers.install)?;
        let mut pipelines = pipelines(workers)?;
        pipelines.retain(is_meant);
        let mut reached: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
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
            for (passes, result) in pipelines.iter().zip(results) {
                // A pass that fails here is no part of the baseline.
                let RunResult { outcome: Outcome::Ok(_), coverage: Some(coverage), .. } = result?
                else {
                    continue;
                };
                n_runs += 1;
                let files = map.per_file(&coverage).into_iter();
                let files = files.map(|(file, _)| map.file(file).to_owned());
                reached.entry(passes.to_string()).or_default().extend(files);
                for block in coverage.blocks() {
                    counts[block.0 as usize] += 1;
                }
            }
        }
        Ok(BaselineCoverage { n_runs, functions: by_function(&map, &counts), reached })
    }

    /// For each block of a worker the share of baseline runs that execute it. A
    /// function with another number of blocks has been changed: each of its
    /// blocks then counts as often as they do on average.
    pub fn shares(&self, map: &CodeMap) -> Vec<f64> {
        let mut shares = vec![0.0; map.n_blocks as usize];
        let whole = f64::from(self.n_runs.max(1));
        for function in &map.functions {
            // A header goes by its own name where it is known.
            let places = [map.file(function.file), HEADERS].into_iter();
            let mut keys = places.map(|file| (function.symbol.clone(), file.to_owned()));
            let Some(counts) = keys.find_map(|key| self.functions.get(&key)) else { continue };
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
        let functions = by_function(&learnt, &counts);
        let coverage = BaselineCoverage { n_runs: 8, functions, ..BaselineCoverage::default() };
        // `g` has one block more, `h` was never executed.
        let other = map(&[("g", (0, 3)), ("f", (5, 7)), ("h", (8, 9))]);
        let shares = coverage.shares(&other);
        assert_eq!(shares, [0.5, 0.5, 0.5, 0.0, 0.0, 0.5, 0.25, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn zoomed_files_and_unknown_functions_are_taken_from_the_new_measurement() {
        let coverage = |functions: &[(&str, &str, u16)]| BaselineCoverage {
            n_runs: 8,
            functions: (functions.iter())
                .map(|&(symbol, file, count)| ((symbol.into(), file.into()), vec![count]))
                .collect(),
            ..BaselineCoverage::default()
        };
        let plain = coverage(&[("f", "a.cpp", 1), ("gone", "a.cpp", 2), ("h", HEADERS, 3)]);
        let anew = [("f", "a.cpp", 4), ("inlined", "a.cpp", 5), ("h", "a.h", 6), ("new", "b.h", 7)];
        let merged = plain.with_files(coverage(&anew), &BTreeSet::from(["a.cpp".to_owned()]));
        let left =
            [("f", "a.cpp", 4), ("inlined", "a.cpp", 5), ("h", HEADERS, 3), ("new", "b.h", 7)];
        assert_eq!(merged.functions, coverage(&left).functions);
        assert_eq!(merged.n_runs, 8);
    }
}
