//! `optsleuth localize`: which code of the compiler is to blame.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use optsleuth_case::folder::{open_case, save_localization};
use optsleuth_case::workers::LlvmChoice;
use optsleuth_compiler::driver::Driver;
use optsleuth_model::{CaseFolder, Localization, StopReason};
use optsleuth_rank::{Aggregation, Formula, Recipe, Weights};
use optsleuth_report::{localize_json, localize_markdown, localize_text};
use optsleuth_search::{Method, ProgramMethod};
use optsleuth_triage::bisect::gcc_of;
use optsleuth_triage::covered_gcc::{GccFailure, GccFailurePlan};
use optsleuth_triage::culprit::{CulpritInput, CulpritPlan, find_culprit, find_culprit_of_gcc};
use optsleuth_triage::localize::{CoveredFailure, FailurePlan, SearchPlan, Stop};
use optsleuth_triage::options::{OptionsPlan, localize_by_options};
use optsleuth_triage::plain::localize_gcc_plainly;
use optsleuth_triage::technique::Technique;
use optsleuth_triage::witness::{
    GccPrograms, LlvmPrograms, WitnessPlan, localize_by_programs, localize_gcc_by_programs,
};
use optsleuth_triage::zoom::{ZoomedRanking, find_culprit_zoomed};

use super::zoom::ZoomFlags;
use super::{LimitFlags, TrustFlags, parse_duration, parse_seconds, print, style};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Bar;

/// Rank the compiler's files and functions by suspicion
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  optsleuth localize case/                                 # all kinds of clues, ten seconds
  optsleuth localize case/ --zoom auto                     # inlined functions and lines, too
  optsleuth localize case/ --budget 2m --seed 7
  optsleuth localize case/ --runs 1000 --json              # the same bytes every time
  optsleuth localize case/ --until-stable 200 --format markdown
  optsleuth localize case/ --method locseq --formula dstar --aggregation sum
  optsleuth localize case/ --method recbi --pool programs/ # for a case in C
  optsleuth localize gcc-case/ --method options            # gcc's own code (docs/gcc.md)

The culprit method compares the failing run with runs that pass, and inverts conditions of the
compiler to see which of them make the failure vanish (docs/culprit.md). The others
look for witnesses: locseq and its kin for pass sequences that pass (docs/localize.md); diwi, recbi
and their kin, for cases in C, for slightly changed programs that pass; dev and csmith take other
programs (docs/witness-programs.md). A case of gcc has culprit, diwi, recbi and their kin, and
options, which switches optimizations and passes off, one and two at a time; by-size, pass-name and
top-frame are there to measure the others by. --formula, --aggregation and --weights are theirs alone.
Ctrl-C ends the search and prints the ranking so far.
The result is kept in the case's folder, under localize/, for `optsleuth report`.
Exit codes: 0 done, 3 the case is flaky, 6 it does not fail as it says, 7 no witness found.")]
pub(crate) struct Localize {
    /// A folder with a case.toml
    #[arg(value_name = "CASE")]
    case: PathBuf,
    /// culprit, or a paper's way to look for witnesses: locseq, locseq-r, locseq-wc, locseq-rwc;
    /// in C also diwi, diwi-random, recbi, recbi-mh, recbi-random, recbi-filter, dev, csmith;
    /// of gcc also options, by-size, pass-name, top-frame, and no locseq
    #[arg(long, value_name = "METHOD", default_value_t = Technique::Culprit)]
    method: Technique,
    /// Where the random numbers start
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// End after this many runs; the result then depends on nothing but the seed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    runs: Option<u64>,
    /// End after this time, as in 60s or 2m; 10s by default
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    budget: Option<Duration>,
    /// End when the top ten stayed the same for this many witnesses (100 if no number is given),
    /// after ten minutes at the latest
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "100", value_parser = clap::value_parser!(u64).range(1..))]
    until_stable: Option<u64>,
    /// ochiai, tarantula, jaccard, ochiai2, kulczynski2, op2, dstar or sbi
    #[arg(long, value_name = "FORMULA", default_value_t = Formula::default())]
    formula: Formula,
    /// From blocks to functions and files: mean, max, sum or top-K, as in top-5
    #[arg(long, value_name = "HOW", default_value_t = Aggregation::default())]
    aggregation: Aggregation,
    /// What a witness counts: equal, or by its similarity
    #[arg(long, value_name = "HOW", default_value_t = Weights::default())]
    weights: Weights,
    /// C programs to take conditions, calls and statements from, and the witnesses of dev
    #[arg(long, value_name = "FOLDER")]
    pool: Option<PathBuf>,
    /// Put a statement of another program into every witness (diwi and recbi)
    #[arg(long)]
    blend: bool,
    /// Also take witnesses that are suspected to hide the bug
    #[arg(long)]
    keep_fakes: bool,
    /// Use this installed LLVM instead of the case's own
    #[arg(long, value_name = "N")]
    llvm: Option<u32>,
    #[command(flatten)]
    zoom: ZoomFlags,
    #[command(flatten)]
    trust: TrustFlags,
    #[command(flatten)]
    limits: LimitFlags,
    /// CPU seconds for all runs but the failing one
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = parse_seconds)]
    candidate_timeout: f64,
    /// How many files and functions to print
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Text for people, or Markdown for an issue tracker
    #[arg(long, value_enum, default_value_t = Format::Text, conflicts_with = "json")]
    format: Format,
    /// Leave nothing in the case's folder
    #[arg(long)]
    no_save: bool,
    /// Print JSON: everything that was found
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// For a terminal
    Text,
    /// For an issue tracker
    Markdown,
}

impl Localize {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let bar = Bar::new();
        let case = open_case(&self.case, self.trust.trust())?;
        let gcc = gcc_of(&case.case, None)?;
        self.method.require(gcc.is_some())?;
        if let Some(driver) = gcc {
            let found = self.of_gcc(&case, driver, &bar)?;
            bar.finish();
            return Ok(self.show(&case, &found));
        }
        let mut failure = CoveredFailure::open(&self.failure(), &bar)?;
        let found = match self.method {
            Technique::Culprit => {
                let plan = CulpritPlan { seed: self.seed, stop: self.stop() };
                let known = CulpritInput::find(&mut failure, &bar)?;
                let time = Duration::from_secs_f64(self.candidate_timeout);
                match self.zoom.plan(false, time) {
                    None => find_culprit(&mut failure, &known, &plan, &bar)?,
                    Some(zoom) => {
                        let plans = [&plan, &plan];
                        let ZoomedRanking { found, not_zoomed, .. } =
                            find_culprit_zoomed(&mut failure, &known, plans, &zoom, &bar)?;
                        if let Some(why) = not_zoomed {
                            bar.finish();
                            eprintln!("warning: the ranking is of the installed code: {why}");
                        }
                        found
                    }
                }
            }
            Technique::Programs(method) => {
                let mut programs = LlvmPrograms::read(&mut failure, &bar)?;
                let plan = self.programs(method);
                localize_by_programs(&mut failure, &mut programs, &plan, &bar)?.localization
            }
            Technique::Search(method) => failure.localize(&self.search(method), &bar)?.localization,
            Technique::Options | Technique::Plain(_) => {
                return Err(self.method.refused(false).into());
            }
        };
        bar.finish();
        Ok(self.show(failure.case(), &found))
    }

    /// Ranks the code of a gcc.
    fn of_gcc(
        &self,
        case: &CaseFolder,
        driver: Driver,
        bar: &Bar,
    ) -> Result<Localization, Failure> {
        let plan = GccFailurePlan {
            case: case.clone(),
            driver,
            limits: self.limits.limits(),
            candidate_time: Duration::from_secs_f64(self.candidate_timeout),
            n_workers: None,
        };
        let mut failure = GccFailure::open(plan, bar)?;
        let (seed, stop) = (self.seed, self.stop());
        Ok(match self.method {
            Technique::Culprit => {
                let plan = CulpritPlan { seed, stop };
                let GccFailure { failing, gcc, .. } = &mut failure;
                find_culprit_of_gcc(failing, gcc, &plan, bar)?
            }
            Technique::Options => {
                let plan = OptionsPlan { seed, stop, recipe: self.recipe() };
                localize_by_options(&mut failure, &plan, bar)?
            }
            Technique::Programs(method) => {
                let mut programs = GccPrograms::read(&mut failure, bar)?;
                let plan = self.programs(method);
                localize_gcc_by_programs(&mut failure, &mut programs, &plan, bar)?
            }
            Technique::Plain(plain) => localize_gcc_plainly(&failure, plain),
            Technique::Search(_) => return Err(self.method.refused(true).into()),
        })
    }

    /// Prints a result and keeps it.
    fn show(&self, case: &CaseFolder, found: &Localization) -> Exit {
        let json = localize_json(found);
        match (self.json, self.format) {
            (true, _) => print(&json),
            (false, Format::Text) => print(&localize_text(found, self.top, style())),
            (false, Format::Markdown) => print(&localize_markdown(found, self.top)),
        }
        // A folder that cannot be written is no reason to lose the result.
        if !self.no_save
            && let Err(error) = save_localization(case, found)
        {
            eprintln!("warning: the result is not kept in the case's folder: {error}");
        }
        match found.stopped {
            StopReason::Interrupted => Exit::Interrupted,
            StopReason::Runs | StopReason::Budget | StopReason::Stable | StopReason::Exhausted => {
                Exit::Clean
            }
        }
    }

    fn failure(&self) -> FailurePlan {
        FailurePlan {
            folder: self.case.clone(),
            trust: self.trust.trust(),
            llvm: self.llvm.map(LlvmChoice::Version),
            limits: self.limits.limits(),
            candidate_time: Duration::from_secs_f64(self.candidate_timeout),
            n_workers: None,
        }
    }

    fn stop(&self) -> Stop {
        let runs = self.runs.map(|runs| usize::try_from(runs).unwrap_or(usize::MAX));
        let stable = self.until_stable.map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        let budget = match (self.budget, runs, stable) {
            (None, None, None) => Some(DEFAULT_BUDGET),
            // Without a witness nothing ever becomes stable.
            (None, None, Some(_)) => Some(LONGEST),
            (budget, ..) => budget,
        };
        Stop { runs, budget, stable }
    }

    fn search(&self, method: Method) -> SearchPlan {
        SearchPlan { method, seed: self.seed, stop: self.stop(), recipe: self.recipe() }
    }

    fn programs(&self, method: ProgramMethod) -> WitnessPlan {
        WitnessPlan {
            method,
            seed: self.seed,
            stop: self.stop(),
            recipe: self.recipe(),
            pool: self.pool.clone(),
            blend: self.blend,
            guard: !self.keep_fakes,
        }
    }

    fn recipe(&self) -> Recipe {
        Recipe { formula: self.formula, aggregation: self.aggregation, weights: self.weights }
    }
}

const DEFAULT_BUDGET: Duration = Duration::from_secs(10);
const LONGEST: Duration = Duration::from_secs(600);
