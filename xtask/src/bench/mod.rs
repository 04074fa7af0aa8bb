//! `cargo xtask bench`: speed, as ratios of things measured in turn in one run.
//!
//! A ratio of two medians measured side by side depends less on what else the
//! machine does than a time, but it does: what was measured on a busy machine
//! says so. The raw times are kept, and the table and the plots are made of
//! them: measure -> raw -> figures -> page.

mod figures;
mod hunting;
mod machine;
mod mutants;
mod page;
mod plots;
mod raw;
mod referee;
mod variants;

use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Args;
use optsleuth_case::workers::{LlvmChoice, Workers};
use optsleuth_compiler::llvm::{self, Flavor, Install, Targets};
use optsleuth_compiler::spawn::Tool;
use optsleuth_compiler::workdir::Workdir;
use optsleuth_compiler::{clang, csmith};
use optsleuth_model::{Execute, Limits, Outcome, Program, RunRequest, Silent, Trust};
use optsleuth_rank::Recipe;
use optsleuth_search::Method;
use optsleuth_triage::localize::{CoveredFailure, FailurePlan, Localized, SearchPlan, Stop};

use figures::figures;
use raw::{Locseq, Provision, Raw, Samples, Search};

const PASSES: &str = "default<O2>";
/// Raw data, table and plots, from the root of the repository.
const FOLDER: &str = "docs/benchmarks";

/// Measure speed as ratios, in one run, and keep the raw data
#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// Which LLVM
    #[arg(long, default_value_t = 19)]
    llvm: u32,
    /// How many rounds; each measures everything once or more
    #[arg(long, default_value_t = 30)]
    rounds: usize,
    /// How many searches of LocSeq's loop
    #[arg(long, default_value_t = 5)]
    searches: usize,
    /// Measure the referee alone, and keep nothing
    #[arg(long)]
    referee: bool,
    /// The folder for the raw data, the table and the plots
    #[arg(long, default_value = FOLDER)]
    out: PathBuf,
}

/// Make the table and the plots of the newest raw data anew
#[derive(Debug, Args)]
pub(crate) struct Plots {
    /// The folder with the raw data
    #[arg(long, default_value = FOLDER)]
    folder: PathBuf,
}

impl Plots {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let (path, raw) = raw::newest(&self.folder)?;
        for (name, text) in render(&raw, &file_name(&path)) {
            fs::write(self.folder.join(name), text)?;
        }
        Ok(())
    }
}

/// Everything that is made of raw data: file names and their texts.
fn render(raw: &Raw, file: &str) -> Vec<(&'static str, String)> {
    let mut files = plots::plots(raw);
    files.push(("README.md", page::page(raw, file)));
    files
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

impl Bench {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        if self.referee {
            let found = referee::measure(self.llvm, self.rounds)?;
            print!("{}", page::table(&figures::referee(&found)));
            return Ok(());
        }
        let machine = machine::describe()?;
        let mut raw = Raw {
            version: raw::VERSION,
            date: machine::today()?,
            machine,
            llvm: String::new(),
            passes: PASSES.to_owned(),
            rounds: self.rounds,
            big_program_lines: 0,
            ms: Samples::default(),
            locseq: locseq_loop(self.searches)?,
            provision: provision()?,
            hunt: Some(hunting::measure(self.llvm)?),
            witness_programs: mutants::measure()?,
            variants: Some(variants::measure(self.llvm)?),
            referee: Some(referee::measure(self.llvm, self.rounds)?),
        };
        self.measure(&mut raw)?;
        fs::create_dir_all(&self.out)?;
        // A day's last run counts.
        let file = self.out.join(format!("{}.json", raw.date));
        fs::write(&file, raw.to_json()?)?;
        Plots { folder: self.out }.run()?;
        let figures = figures(&raw);
        print!("{}", page::table(&figures));
        println!("\nraw data: {}", file.display());
        let missed = |figure: &&figures::Figure| figure.bar.as_ref().is_some_and(|bar| !bar.is_met);
        let missed: Vec<&str> =
            figures.iter().filter(missed).map(|figure| figure.what.as_str()).collect();
        anyhow::ensure!(missed.is_empty(), "a bar is missed: {}", missed.join(", "));
        Ok(())
    }

    /// Workers and the processes they replace, in turn.
    fn measure(&self, raw: &mut Raw) -> anyhow::Result<()> {
        let choice = LlvmChoice::Version(self.llvm);
        let set_up =
            |flavor| Workers::set_up(&choice, Targets::Native, flavor, NonZero::new(1), &Silent);
        let mut bench = set_up(Flavor::Plain)?;
        let mut covered = set_up(Flavor::Covered)?;
        let folder = Workdir::new()?;
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/sum.c");
        let small = clang::read_program(&bench.install, &source, &[])?;
        let (big, big_program_lines) = big_program(&bench.install, &folder)?;
        raw.big_program_lines = big_program_lines;
        raw.llvm = bench.install.version.clone();
        let opt = |file: &Path| -> anyhow::Result<Tool> {
            let opt = bench.install.tool("opt").context("no opt")?;
            Ok(Tool::new(opt).arg(format!("-passes={PASSES}")).arg("-disable-output").arg(file))
        };
        // Bitcode: what `opt` reads fastest.
        let opt_small = opt(&bitcode(&bench.install, &small, &folder, "small")?)?;
        let opt_big = opt(&bitcode(&bench.install, &big, &folder, "big")?)?;
        let clang = bench.install.tool("clang").context("no clang")?;
        let executable = folder.file("sum");
        let compile = Tool::new(clang).arg("-O2").arg(&source).arg("-o").arg(&executable);

        let passes = bench.passes(PASSES)?;
        let request = RunRequest::new(Some(passes));
        let execute = RunRequest { execute: Execute::InChild, ..request.clone() };
        let with_coverage = RunRequest { coverage: true, ..request.clone() };
        let ms = &mut raw.ms;
        for round in 0..self.rounds {
            bench.pool.load(&small, &[], Limits::STANDARD)?;
            covered.pool.load(&small, &[], Limits::STANDARD)?;
            for _ in 0..10 {
                time(&mut ms.worker_small, || ok(&mut bench, &request))?;
                time(&mut ms.covered_small, || ok(&mut covered, &with_coverage))?;
                time(&mut ms.worker_execute, || ok(&mut bench, &execute))?;
            }
            for _ in 0..2 {
                time(&mut ms.opt_small, || Ok(opt_small.check().map(|_| ())?))?;
                time(&mut ms.clang_execute, || {
                    compile.check()?;
                    Tool::new(&executable).check()?;
                    Ok(())
                })?;
            }
            if round % 3 == 0 {
                bench.pool.load(&big, &[], Limits::STANDARD)?;
                covered.pool.load(&big, &[], Limits::STANDARD)?;
                for _ in 0..3 {
                    time(&mut ms.worker_big, || ok(&mut bench, &request))?;
                    time(&mut ms.covered_big, || ok(&mut covered, &with_coverage))?;
                }
                time(&mut ms.opt_big, || Ok(opt_big.check().map(|_| ())?))?;
            }
        }
        Ok(())
    }
}

/// Adds a sample: what this work takes, in milliseconds.
fn time(samples: &mut Vec<f64>, work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    let started = Instant::now();
    work()?;
    samples.push(rounded(started.elapsed().as_secs_f64() * 1e3));
    Ok(())
}

/// To four decimals: more is noise.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

/// One of our own cases, on all cores.
fn open_case(case: &str) -> anyhow::Result<CoveredFailure> {
    let plan = FailurePlan {
        folder: Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(case),
        trust: Trust::Data,
        llvm: None,
        limits: Limits::STANDARD,
        candidate_time: Duration::from_secs(1),
        n_workers: None,
    };
    Ok(CoveredFailure::open(&plan, &Silent)?)
}

/// How fast LocSeq evaluates sequences for a 15-line program, on all cores.
fn locseq_loop(n_searches: usize) -> anyhow::Result<Locseq> {
    const CASE: &str = "testdata/cases/crash";
    let mut scene = open_case(CASE)?;
    let plan = SearchPlan {
        method: Method::Locseq,
        seed: 1,
        stop: Stop { runs: Some(2000), ..Stop::default() },
        recipe: Recipe::default(),
    };
    let mut llvm = String::new();
    let mut searches = Vec::new();
    for _ in 0..n_searches {
        let Localized { localization, wall, occupied, worked, n_workers } =
            scene.localize(&plan, &Silent)?;
        searches.push(Search {
            runs: localization.runs,
            witnesses: localization.witnesses,
            workers: n_workers,
            seconds: rounded(wall.as_secs_f64()),
            occupied_seconds: rounded(occupied.as_secs_f64()),
            worked_seconds: rounded(worked.as_secs_f64()),
        });
        llvm = localization.llvm;
    }
    Ok(Locseq { case: CASE.to_owned(), llvm, searches })
}

/// What making covered workers of the installed LLVMs took, or takes now.
fn provision() -> anyhow::Result<Vec<Provision>> {
    let mut all = Vec::new();
    for (major, _) in llvm::discover() {
        let choice = LlvmChoice::Version(major);
        let one = NonZero::new(1);
        let covered = Workers::set_up(&choice, Targets::Native, Flavor::Covered, one, &Silent)?;
        let summary = covered.provisioned.summary()?;
        all.push(Provision {
            llvm: covered.install.version.clone(),
            rewrite_seconds: rounded(summary.rewrite_seconds),
            link_seconds: rounded(summary.link_seconds),
        });
    }
    Ok(all)
}

fn ok(bench: &mut Workers, request: &RunRequest) -> anyhow::Result<()> {
    let result = bench.pool.first().run(request)?;
    anyhow::ensure!(matches!(result.outcome, Outcome::Ok(_)), "{:?}", result.outcome);
    Ok(())
}

/// The first csmith program of at least 2,500 lines that `opt` does not spend
/// seconds on.
fn big_program(install: &Install, folder: &Workdir) -> anyhow::Result<(Program, usize)> {
    let source = folder.file("big.c");
    for seed in 1..200 {
        csmith::generate(seed, &[], &source)?;
        let n_lines = std::fs::read_to_string(&source)?.lines().count();
        if (2500..3500).contains(&n_lines) {
            return Ok((clang::read_program(install, &source, &[])?, n_lines));
        }
    }
    anyhow::bail!("csmith makes no program of 2,500 to 3,500 lines")
}

fn bitcode(
    install: &Install,
    program: &Program,
    folder: &Workdir,
    name: &str,
) -> anyhow::Result<PathBuf> {
    let text = folder.file(&format!("{name}.ll"));
    let output = folder.file(&format!("{name}.bc"));
    std::fs::write(&text, &program.ir)?;
    let opt = install.tool("opt").context("no opt")?;
    Tool::new(opt).arg(&text).arg("-o").arg(&output).time(Duration::from_secs(60)).check()?;
    Ok(output)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages and pictures are made, never edited; the same data, the same bytes.
    #[test]
    fn what_is_checked_in_is_made_of_the_raw_data_beside_it() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(FOLDER);
        let (path, raw) = raw::newest(&folder).unwrap();
        for (name, text) in render(&raw, &file_name(&path)) {
            let there = fs::read_to_string(folder.join(name)).unwrap();
            assert!(there == text, "{name} is stale: run `cargo xtask plots`");
        }
        let again = Raw::parse(&raw.to_json().unwrap()).unwrap();
        assert_eq!(render(&again, "x"), render(&raw, "x"));
    }
}
