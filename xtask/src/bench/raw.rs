//! What a benchmark measured, whole, and where: the file that tables and
//! plots are made of.
//!
//! **Invariant:** no name of a host and no path; every sample, nothing that
//! can be computed from them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use serde::{Deserialize, Serialize};

/// Goes up when a field changes its meaning.
pub(super) const VERSION: u32 = 2;

/// A benchmark's raw data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Raw {
    pub(super) version: u32,
    /// As in `2026-05-31`.
    pub(super) date: String,
    pub(super) machine: Machine,
    /// The LLVM of `ms`.
    pub(super) llvm: String,
    pub(super) passes: String,
    pub(super) rounds: usize,
    pub(super) big_program_lines: usize,
    pub(super) ms: Samples,
    pub(super) locseq: Locseq,
    pub(super) provision: Vec<Provision>,
    /// Of data from before there were hunts: none.
    #[serde(default)]
    pub(super) hunt: Option<Hunt>,
    /// Of data from before there were witness programs: none.
    #[serde(default)]
    pub(super) witness_programs: Vec<ProgramSearch>,
    /// Of data from before there were variants: none.
    #[serde(default, rename = "emi")]
    pub(super) variants: Option<Variants>,
    /// Of data from before there was a referee: none.
    #[serde(default)]
    pub(super) referee: Option<Referee>,
}

/// The referee's speed: milliseconds, one sample each.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Referee {
    pub(super) llvm: String,
    /// csmith's, of the program that is checked.
    pub(super) seed: u64,
    pub(super) lines: usize,
    /// Instructions of IR that it executes.
    pub(super) steps: u64,
    /// From C to the verdict.
    pub(super) check: Vec<f64>,
    /// The interpretation of the program once it is loaded.
    pub(super) interpreted: Vec<f64>,
    /// The same program compiled with sanitizers, and executed.
    pub(super) sanitizers: Vec<f64>,
    /// Instructions of a program that is loops alone.
    pub(super) long_steps: u64,
    pub(super) long_interpreted: Vec<f64>,
    /// Compiled without optimization and executed.
    pub(super) long_executed: Vec<f64>,
}

/// Variants of programs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Variants {
    pub(super) strategies: Vec<VariantStrategy>,
    pub(super) hunts: Vec<VariantHunts>,
}

/// Variants by one strategy; seconds of one core.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct VariantStrategy {
    pub(super) strategy: String,
    pub(super) variants: u64,
    /// Reading, profiling, synthesis.
    pub(super) deriving_seconds: f64,
    /// Seeing that they are equivalent.
    pub(super) judging_seconds: f64,
}

/// A hunt with variants, everything included.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct VariantHunts {
    pub(super) compilers: Vec<String>,
    /// Base programs and variants, each at five levels by each compiler.
    pub(super) programs: u64,
    pub(super) tests: u64,
    pub(super) cores: u64,
    pub(super) seconds: f64,
}

/// A search for witness programs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ProgramSearch {
    pub(super) case: String,
    pub(super) llvm: String,
    pub(super) method: String,
    /// Programs that pass, witnesses or not.
    pub(super) passing: usize,
    pub(super) search: Search,
}

/// Tests as a hunt makes them, on one core.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Hunt {
    pub(super) llvm: String,
    pub(super) programs: usize,
    /// Lines of IR, in the middle.
    pub(super) lines: usize,
    /// Passes of a sequence, in the middle.
    pub(super) passes: usize,
    /// Milliseconds of a test by a worker: passes, code, execution.
    pub(super) worker: Vec<f64>,
    /// The same by `opt`, `clang` and a process.
    pub(super) processes: Vec<f64>,
}

/// Where it was measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Machine {
    pub(super) cpu: String,
    pub(super) cores: usize,
    pub(super) memory_mib: u64,
    pub(super) kernel: String,
    pub(super) llvms: Vec<String>,
    /// Cores that were at work just before: what others take.
    pub(super) load: f64,
}

/// Milliseconds, one sample each. "Small" is a 15-line program, "big" one of
/// csmith's.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Samples {
    pub(super) worker_small: Vec<f64>,
    pub(super) covered_small: Vec<f64>,
    pub(super) opt_small: Vec<f64>,
    pub(super) worker_execute: Vec<f64>,
    pub(super) clang_execute: Vec<f64>,
    pub(super) worker_big: Vec<f64>,
    pub(super) covered_big: Vec<f64>,
    pub(super) opt_big: Vec<f64>,
}

/// Searches of LocSeq's loop on one case.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Locseq {
    pub(super) case: String,
    pub(super) llvm: String,
    pub(super) searches: Vec<Search>,
}

/// One search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Search {
    pub(super) runs: usize,
    pub(super) witnesses: usize,
    pub(super) workers: usize,
    pub(super) seconds: f64,
    /// Of all workers together: time with a request.
    pub(super) occupied_seconds: f64,
    /// Of all workers together: time in which a child was at work.
    pub(super) worked_seconds: f64,
}

/// What making a covered worker took, when it was made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Provision {
    pub(super) llvm: String,
    pub(super) rewrite_seconds: f64,
    pub(super) link_seconds: f64,
}

impl Machine {
    /// Whether others had much of the machine, in words.
    pub(super) fn busy(&self) -> Option<String> {
        let is_busy = self.load > self.cores as f64 / 2.0;
        is_busy.then(|| format!("{:.1} of {} cores at work", self.load, self.cores))
    }
}

impl Raw {
    /// Reads raw data.
    pub(super) fn parse(text: &str) -> anyhow::Result<Raw> {
        let raw: Raw = serde_json::from_str(text)?;
        ensure!(raw.version == VERSION, "version {} cannot be read here", raw.version);
        Ok(raw)
    }

    /// As a file: a line for each list.
    pub(super) fn to_json(&self) -> anyhow::Result<String> {
        let json = serde_json::to_string(self)?;
        Ok(json.replace("],\"", "],\n\"").replace("},", "},\n").replace(",\"ms\":", ",\n\"ms\":")
            + "\n")
    }
}

/// The newest raw data of a folder; names are dates.
pub(super) fn newest(folder: &Path) -> anyhow::Result<(PathBuf, Raw)> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("{}", folder.display()))? {
        paths.push(entry?.path());
    }
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    let path = paths.into_iter().max().context("no raw data: `cargo xtask bench` makes it")?;
    let raw =
        Raw::parse(&fs::read_to_string(&path)?).with_context(|| format!("{}", path.display()))?;
    Ok((path, raw))
}
