//! `optsleuth bench`: how good localization methods are, on cases whose culprits
//! are known.

mod hunt;
mod plant;
mod variants;

use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use optsleuth_bench::measure::{BenchPlan, Contender, measured_budget, outlook};
use optsleuth_case::folder::write_whole;
use optsleuth_model::Measurement;
use optsleuth_report::{
    BenchReport, bench_csv, bench_html, bench_json, bench_markdown, bench_pictures, bench_text,
    outlook_json, outlook_text,
};
use optsleuth_triage::localize::Stop;

use super::{LimitFlags, TrustFlags, parse_duration, parse_seconds, print, style};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Bar;

/// Measure localization methods on cases with known culprits, or make such cases
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:
  optsleuth bench corpus/                                   # every method, 3 seeds, 10 s each
  optsleuth bench corpus/ --list                            # what would run, and how long
  optsleuth bench corpus/ --methods locseq,pass-name --seeds 1 -o results/
  optsleuth bench corpus/ --runs 500 --json                 # the same table every time
  optsleuth bench corpus/ -o results/ --redraw              # tables of what is there
  optsleuth bench plant --llvm 19 --count 50 -o faults/     # make cases
  optsleuth bench hunt --llvm 14 -o ways/                   # compare ways to hunt
  optsleuth bench variants --count 50 -o variants/          # are variants equivalent?

Each case is measured on a core of its own. The output folder keeps one file per case, method and
seed; the same command continues an interrupted bench. Tables, plots and a page are made of these
files: bench.html, bench.md, bench.csv, bench.json, plots/*.svg.
Exit codes: 0 done, 6 a case does not fail as it says or could not be measured, 130 interrupted."
)]
pub(crate) struct Bench {
    #[command(subcommand)]
    command: Option<BenchCommand>,
    /// Folders of cases, or cases
    #[arg(value_name = "CASES", required = true)]
    cases: Vec<PathBuf>,
    /// What to measure: culprit, locseq, locseq-r, locseq-wc, locseq-rwc, options, by-size,
    /// pass-name, top-frame; all of these if not given; on cases of gcc options, and no locseq; on cases in C also diwi,
    /// diwi-random, recbi, recbi-mh, recbi-random, recbi-filter, dev, csmith; with LLVM's source also
    /// zoom (culprit on the most suspect files, compiled anew) and triage (everything, under one
    /// budget)
    #[arg(long, value_name = "METHODS", value_delimiter = ',')]
    methods: Vec<Contender>,
    /// C programs to take conditions, calls and statements from, and the witnesses of dev
    #[arg(long, value_name = "FOLDER")]
    pool: Option<PathBuf>,
    /// With how many seeds: 1, 2, and so on
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// How long each search looks for witnesses, as in 10s; that if nothing else is said
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    budget: Option<Duration>,
    /// End each search after this many runs; the table then depends on nothing but the seeds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    runs: Option<u64>,
    /// How many cases at the same time; one for each core if not given
    #[arg(long, value_name = "N")]
    jobs: Option<NonZero<usize>>,
    /// Where results are kept
    #[arg(short, long, value_name = "FOLDER", default_value = "bench-results")]
    output: PathBuf,
    #[command(flatten)]
    trust: TrustFlags,
    #[command(flatten)]
    limits: LimitFlags,
    /// CPU seconds for all runs but the failing ones
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = parse_seconds)]
    candidate_timeout: f64,
    /// Measure nothing; make tables and plots of what is there
    #[arg(long, conflicts_with = "list")]
    redraw: bool,
    /// Only say what would run and how long it would take
    #[arg(long)]
    list: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum BenchCommand {
    #[command(alias = "emi")]
    Variants(variants::Variants),
    Hunt(Box<hunt::Hunt>),
    #[command(alias = "seed")]
    Plant(plant::Plant),
}

impl Bench {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        match self.command {
            Some(BenchCommand::Variants(variants)) => variants.run(),
            Some(BenchCommand::Hunt(hunt)) => hunt.run(),
            Some(BenchCommand::Plant(plant)) => plant.run(),
            None => self.measure(),
        }
    }

    fn measure(self) -> Result<Exit, Failure> {
        let plan = self.plan();
        if self.list {
            let outlook = outlook(&plan)?;
            print(&if self.json { outlook_json(&outlook) } else { outlook_text(&outlook) });
            return Ok(Exit::Clean);
        }
        let bar = Bar::new();
        let found = optsleuth_bench::measure::bench(&plan, &bar)?;
        bar.finish();
        let methods: Vec<String> = plan.methods().iter().map(ToString::to_string).collect();
        let report = BenchReport {
            title: &title(&self.cases),
            methods: &methods,
            measurements: &found.measurements,
            unmeasured: &found.unmeasured,
            budget: plan.budget(),
            seeds: &plan.seeds,
            searching: searching(&found.measurements),
        };
        self.keep(&report)?;
        match self.json {
            true => print(&bench_json(&report)),
            false => print(&bench_text(&report, style())),
        }
        if found.interrupted {
            eprintln!("interrupted: start it again to measure what is missing");
            return Ok(Exit::Interrupted);
        }
        Ok(if found.unmeasured.is_empty() { Exit::Clean } else { Exit::NotReproduced })
    }

    /// Writes everything that is made of the raw data.
    fn keep(&self, report: &BenchReport<'_>) -> Result<(), Failure> {
        let mut files = vec![
            ("bench.json".to_owned(), bench_json(report)),
            ("bench.csv".to_owned(), bench_csv(report)),
            ("bench.md".to_owned(), bench_markdown(report)),
            ("bench.html".to_owned(), bench_html(report)),
        ];
        let pictures = bench_pictures(report).into_iter();
        files.extend(pictures.map(|picture| (format!("plots/{}", picture.name), picture.svg)));
        for (name, text) in files {
            let path = self.output.join(name);
            let _doing = || format!("write `{}`", path.display());
            write_whole(&path, &text)?;
        }
        Ok(())
    }

    fn plan(&self) -> BenchPlan {
        let runs = self.runs.map(|runs| usize::try_from(runs).unwrap_or(usize::MAX));
        let (runs, budget) = match (self.budget, runs) {
            (None, None) => match measured_budget(&self.output).filter(|_| self.redraw) {
                Some(given) => (given.runs, given.seconds.map(Duration::from_secs_f64)),
                None => (None, Some(DEFAULT_BUDGET)),
            },
            (budget, runs) => (runs, budget),
        };
        let methods = match self.methods.is_empty() {
            true => Contender::usual().collect(),
            false => self.methods.clone(),
        };
        BenchPlan {
            cases: self.cases.clone(),
            methods,
            seeds: (1..=self.seeds).collect(),
            stop: Stop { runs, budget, stable: None },
            lanes: self.jobs,
            out: self.output.clone(),
            pool: self.pool.clone(),
            only_what_is_there: self.redraw,
            trust: self.trust.trust(),
            limits: self.limits.limits(),
            candidate_time: Duration::from_secs_f64(self.candidate_timeout),
        }
    }
}

/// What is measured, by the names of the folders.
fn title(cases: &[PathBuf]) -> String {
    let name = |path: &PathBuf| {
        let whole = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        whole.file_name().unwrap_or_default().to_string_lossy().into_owned()
    };
    cases.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// How long all searches took together; `None` where time has no say.
fn searching(measurements: &[Measurement]) -> Option<Duration> {
    let seconds: Vec<f64> = measurements.iter().filter_map(|found| found.seconds).collect();
    (!seconds.is_empty()).then(|| Duration::from_secs_f64(seconds.iter().sum()))
}

const DEFAULT_BUDGET: Duration = Duration::from_secs(10);
