//! `optsleuth bench`: how good localization methods are, on cases whose culprits
//! are known.

use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use optsleuth_lab::{BenchPlan, Contender, LabError, Stop, bench, outlook};

use super::{LimitFlags, parse_duration, parse_seconds, print};
use crate::exit::Exit;
use crate::progress::Bar;

/// Measure localization methods on cases with known culprits
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  optsleuth bench corpus/                                   # every method, 3 seeds, 10 s each
  optsleuth bench corpus/ --list                            # what would run, and how long
  optsleuth bench corpus/ --methods locseq,pass-name --seeds 1 -o results/
  optsleuth bench corpus/ --runs 500 --json                 # the same table every time

Each case is measured on a core of its own. What was measured is kept in the output folder, one
file per case, method and seed; a bench that was interrupted goes on where it ended when it is
started again. Tables, plots and a page are made of what is there: bench.html, bench.md, bench.csv,
bench.json, plots/*.svg.
Exit codes: 0 done, 6 a case does not fail as it says or could not be measured, 130 interrupted.")]
pub(crate) struct Bench {
    /// Folders of cases, or cases
    #[arg(value_name = "CASES", required = true)]
    cases: Vec<PathBuf>,
    /// What to measure: locseq, locseq-r, locseq-wc, locseq-rwc, pass-name, top-frame; all if not given
    #[arg(long, value_name = "METHODS", value_delimiter = ',')]
    methods: Vec<Contender>,
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
    limits: LimitFlags,
    /// CPU seconds for all runs but the failing ones
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = parse_seconds)]
    candidate_timeout: f64,
    /// Only say what would run and how long it would take
    #[arg(long)]
    list: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Bench {
    pub(crate) fn run(self) -> Result<Exit, LabError> {
        let plan = self.plan();
        if self.list {
            print(&format!("{:?}", outlook(&plan)?));
            return Ok(Exit::Clean);
        }
        let bar = Bar::new();
        let found = bench(&plan, &bar)?;
        bar.finish();
        print(&format!("{} {:?}", found.measurements.len(), found.unmeasured));
        Ok(match (found.interrupted, found.unmeasured.is_empty()) {
            (true, _) => Exit::Interrupted,
            (false, false) => Exit::NotReproduced,
            (false, true) => Exit::Clean,
        })
    }

    fn plan(&self) -> BenchPlan {
        let runs = self.runs.map(|runs| usize::try_from(runs).unwrap_or(usize::MAX));
        let budget = match (self.budget, runs) {
            (None, None) => Some(DEFAULT_BUDGET),
            (budget, _) => budget,
        };
        let methods = match self.methods.is_empty() {
            true => Contender::all().collect(),
            false => self.methods.clone(),
        };
        BenchPlan {
            cases: self.cases.clone(),
            methods,
            seeds: (1..=self.seeds).collect(),
            stop: Stop { runs, budget, stable: None },
            lanes: self.jobs,
            out: self.output.clone(),
            limits: self.limits.limits(),
            candidate_time: Duration::from_secs_f64(self.candidate_timeout),
        }
    }
}

const DEFAULT_BUDGET: Duration = Duration::from_secs(10);
