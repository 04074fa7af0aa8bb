//! `cargo xtask bench`: speed, as ratios of things measured in turn in one run.
//!
//! A ratio of two medians measured side by side says the same on a busy
//! machine and on an idle one; a time does not. The raw times are kept.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Args;
use optsleuth_compiler::llvm::{Flavor, Install, Targets};
use optsleuth_compiler::spawn::Tool;
use optsleuth_compiler::workdir::Workdir;
use optsleuth_compiler::{clang, csmith};
use optsleuth_lab::{
    Bench as Workbench, LlvmChoice, Localized, Scene, ScenePlan, SearchPlan, Silent, Stop,
};
use optsleuth_model::{Execute, Limits, Outcome, Program, RunRequest};
use optsleuth_rank::Recipe;
use optsleuth_search::Method;
use serde::Serialize;

/// What rewriting and linking may take, in seconds.
const PROVISION_BAR: f64 = 15.0;
/// Runs an hour of the LocSeq paper's set-up, with gcov.
const LOCSEQ_PER_HOUR: f64 = 945.0;
const PASSES: &str = "default<O2>";

/// Measure speed as ratios, in one run, and keep the raw data
#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// Which LLVM
    #[arg(long, default_value_t = 19)]
    llvm: u32,
    /// How many rounds; each measures everything once or more
    #[arg(long, default_value_t = 30)]
    rounds: usize,
    /// The folder for the raw data
    #[arg(long, default_value = "target/bench")]
    out: PathBuf,
}

/// One thing that is measured.
#[derive(Serialize)]
struct Series {
    name: &'static str,
    ms: Vec<f64>,
}

/// What is compared with what.
#[derive(Serialize)]
struct Ratio {
    what: &'static str,
    ours: &'static str,
    theirs: &'static str,
    ours_ms: f64,
    theirs_ms: f64,
    ours_per_second: f64,
    /// Time of the other by time of ours.
    ratio: f64,
    /// What the ratio has to reach; `None` for one that is only reported.
    bar: Option<f64>,
    met: bool,
}

/// What coverage costs.
#[derive(Serialize)]
struct Cost {
    what: &'static str,
    plain_ms: f64,
    covered_ms: f64,
    covered_per_hour: f64,
    /// Time with coverage by time without.
    ratio: f64,
    /// What the ratio must not pass.
    bar: f64,
    met: bool,
}

/// LocSeq's loop: search, run, coverage, fitness, ranking.
#[derive(Serialize)]
struct Loop {
    case: &'static str,
    runs: usize,
    witnesses: usize,
    seconds: f64,
    workers: usize,
    per_second_and_core: f64,
    /// What the rate has to reach.
    bar: f64,
    /// The part of the time in which a worker had no request: search, fitness,
    /// spectrum, ranking, and waiting for the end of a batch.
    overhead: f64,
    /// What that must not pass.
    overhead_bar: f64,
    /// The part of the time in which a worker's child was not at work: the
    /// overhead, and what a request takes besides LLVM.
    outside_llvm: f64,
    met: bool,
}

#[derive(Serialize)]
struct Raw {
    version: u32,
    llvm: String,
    passes: &'static str,
    cores: usize,
    rounds: usize,
    big_program_lines: usize,
    series: Vec<Series>,
    ratios: Vec<Ratio>,
    costs: Vec<Cost>,
    locseq: Loop,
    /// Rewriting the archives and linking, when the covered worker was built.
    provision_seconds: f64,
}

impl Series {
    fn new(name: &'static str) -> Series {
        Series { name, ms: Vec::new() }
    }

    fn time(&mut self, work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
        let started = Instant::now();
        work()?;
        self.ms.push(started.elapsed().as_secs_f64() * 1e3);
        Ok(())
    }

    fn median(&self) -> f64 {
        let mut sorted = self.ms.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

fn cost(what: &'static str, plain: &Series, covered: &Series, bar: f64) -> Cost {
    let (plain_ms, covered_ms) = (plain.median(), covered.median());
    let ratio = covered_ms / plain_ms;
    Cost {
        what,
        plain_ms,
        covered_ms,
        covered_per_hour: 3.6e6 / covered_ms,
        ratio,
        bar,
        met: ratio <= bar,
    }
}

fn ratio(what: &'static str, ours: &Series, theirs: &Series, bar: Option<f64>) -> Ratio {
    let (ours_ms, theirs_ms) = (ours.median(), theirs.median());
    Ratio {
        what,
        ours: ours.name,
        theirs: theirs.name,
        ours_ms,
        theirs_ms,
        ours_per_second: 1e3 / ours_ms,
        ratio: theirs_ms / ours_ms,
        bar,
        met: bar.is_none_or(|bar| theirs_ms / ours_ms >= bar),
    }
}

impl Bench {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let locseq = locseq_loop()?;
        let choice = LlvmChoice::Version(self.llvm);
        let set_up =
            |flavor| Workbench::set_up(&choice, Targets::Native, flavor, NonZero::new(1), &Silent);
        let mut bench = set_up(Flavor::Plain)?;
        let mut covered = set_up(Flavor::Covered)?;
        let folder = Workdir::new()?;
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/sum.c");
        let small = clang::read_program(&bench.install, &source, &[])?;
        let (big, big_program_lines) = big_program(&bench.install, &folder)?;
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
        let mut covered_small = Series::new("covered worker, small program");
        let mut covered_big = Series::new("covered worker, big program");
        let mut worker_small = Series::new("worker, small program");
        let mut spawn_small = Series::new("opt process, small program");
        let mut worker_execute = Series::new("worker, compile and execute");
        let mut spawn_execute = Series::new("clang -O2 process and program");
        let mut worker_big = Series::new("worker, big program");
        let mut spawn_big = Series::new("opt process, big program");
        for round in 0..self.rounds {
            bench.pool.load(&small, &[], Limits::STANDARD)?;
            covered.pool.load(&small, &[], Limits::STANDARD)?;
            for _ in 0..10 {
                worker_small.time(|| ok(&mut bench, &request))?;
                covered_small.time(|| ok(&mut covered, &with_coverage))?;
                worker_execute.time(|| ok(&mut bench, &execute))?;
            }
            for _ in 0..2 {
                spawn_small.time(|| Ok(opt_small.check().map(|_| ())?))?;
                spawn_execute.time(|| {
                    compile.check()?;
                    Tool::new(&executable).check()?;
                    Ok(())
                })?;
            }
            if round % 3 == 0 {
                bench.pool.load(&big, &[], Limits::STANDARD)?;
                covered.pool.load(&big, &[], Limits::STANDARD)?;
                for _ in 0..3 {
                    worker_big.time(|| ok(&mut bench, &request))?;
                    covered_big.time(|| ok(&mut covered, &with_coverage))?;
                }
                spawn_big.time(|| Ok(opt_big.check().map(|_| ())?))?;
            }
        }
        let ratios = vec![
            ratio("runs of passes, 15-line program", &worker_small, &spawn_small, Some(5.0)),
            ratio(
                "compile and execute, 15-line program",
                &worker_execute,
                &spawn_execute,
                Some(5.0),
            ),
            ratio("runs of passes, csmith program", &worker_big, &spawn_big, None),
        ];
        let costs = vec![
            cost("15-line program", &worker_small, &covered_small, 1.4),
            cost("csmith program", &worker_big, &covered_big, 1.25),
        ];
        let llvm = bench.install.version.clone();
        let summary = covered.provisioned.summary()?;
        let provision_seconds = summary.rewrite_seconds + summary.link_seconds;
        let raw = Raw {
            costs,
            locseq,
            provision_seconds,
            version: 1,
            llvm,
            passes: PASSES,
            cores: std::thread::available_parallelism().map_or(1, NonZero::get),
            rounds: self.rounds,
            big_program_lines,
            series: vec![
                worker_small,
                covered_small,
                spawn_small,
                worker_execute,
                spawn_execute,
                worker_big,
                covered_big,
                spawn_big,
            ],
            ratios,
        };
        print_table(&raw);
        std::fs::create_dir_all(&self.out)?;
        let file = self.out.join("worker-speed.json");
        std::fs::write(&file, serde_json::to_vec_pretty(&raw)?)?;
        println!("\nraw data: {}", file.display());
        let ratios = raw.ratios.iter().filter(|r| !r.met).map(|r| r.what);
        let costs = raw.costs.iter().filter(|cost| !cost.met).map(|cost| cost.what);
        let slow = (raw.provision_seconds > PROVISION_BAR).then_some("instrumenting");
        let slow_loop = (!raw.locseq.met).then_some("LocSeq's loop");
        let missed: Vec<&str> = ratios.chain(costs).chain(slow).chain(slow_loop).collect();
        anyhow::ensure!(missed.is_empty(), "below the bar: {}", missed.join(", "));
        Ok(())
    }
}

/// How fast LocSeq evaluates sequences for a 15-line program, on all cores: the
/// median of five searches.
fn locseq_loop() -> anyhow::Result<Loop> {
    const CASE: &str = "testdata/cases/crash";
    let plan = ScenePlan {
        folder: Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(CASE),
        llvm: None,
        limits: Limits::STANDARD,
        candidate_time: Duration::from_secs(1),
        n_workers: None,
    };
    let mut scene = Scene::open(&plan, &Silent)?;
    let search = SearchPlan {
        method: Method::Locseq,
        seed: 1,
        stop: Stop { runs: Some(2000), ..Stop::default() },
        recipe: Recipe::default(),
    };
    let mut rounds =
        (0..5).map(|_| scene.localize(&search, &Silent)).collect::<Result<Vec<Localized>, _>>()?;
    rounds.sort_by_key(|round| round.wall);
    let Localized { localization, wall, occupied, worked, n_workers } = rounds.swap_remove(2);
    let worker_time = wall.as_secs_f64() * n_workers as f64;
    let per_second_and_core = localization.runs as f64 / worker_time;
    let overhead = 1.0 - occupied.as_secs_f64() / worker_time;
    let outside_llvm = 1.0 - worked.as_secs_f64() / worker_time;
    let (bar, overhead_bar) = (100.0, 0.2);
    Ok(Loop {
        case: CASE,
        runs: localization.runs,
        witnesses: localization.witnesses,
        seconds: wall.as_secs_f64(),
        workers: n_workers,
        per_second_and_core,
        bar,
        overhead,
        overhead_bar,
        outside_llvm,
        met: per_second_and_core >= bar && overhead <= overhead_bar,
    })
}

fn ok(bench: &mut Workbench, request: &RunRequest) -> anyhow::Result<()> {
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

fn print_table(raw: &Raw) {
    println!(
        "LLVM {}, -passes='{}', one worker, {} rounds, medians; the csmith program has {} lines\n",
        raw.llvm, raw.passes, raw.rounds, raw.big_program_lines
    );
    println!("| what | worker | process | runs/s and core | ratio | bar |");
    println!("|---|---|---|---|---|---|");
    for r in &raw.ratios {
        println!(
            "| {} | {:.2} ms | {:.2} ms | {:.0} | {:.1} | {} |",
            r.what,
            r.ours_ms,
            r.theirs_ms,
            r.ours_per_second,
            r.ratio,
            r.bar.map_or("none".to_owned(), |bar| format!("{bar:.0}"))
        );
    }
    println!(
        "\n| coverage of | plain | covered | runs/hour and core | by LocSeq's {LOCSEQ_PER_HOUR} | ratio | at most |"
    );
    println!("|---|---|---|---|---|---|---|");
    for c in &raw.costs {
        println!(
            "| {} | {:.2} ms | {:.2} ms | {:.0} | {:.0} | {:.2} | {:.2} |",
            c.what,
            c.plain_ms,
            c.covered_ms,
            c.covered_per_hour,
            c.covered_per_hour / LOCSEQ_PER_HOUR,
            c.ratio,
            c.bar
        );
    }
    let l = &raw.locseq;
    println!(
        "\n| LocSeq's loop on | runs | witnesses | sequences/s and core | at least | overhead | at most | outside LLVM |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    println!(
        "| {} | {} | {} | {:.0} | {:.0} | {:.1} % | {:.0} % | {:.1} % |",
        l.case,
        l.runs,
        l.witnesses,
        l.per_second_and_core,
        l.bar,
        l.overhead * 100.0,
        l.overhead_bar * 100.0,
        l.outside_llvm * 100.0
    );
    println!("\nrewriting the archives and linking took {:.1} s", raw.provision_seconds);
}
