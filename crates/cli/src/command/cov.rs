//! `optsleuth cov`: which parts of the compiler a run executed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use fs_err as fs;
use optsleuth_case::CaseError;
use optsleuth_case::cov::{CovPlan, cov};
use optsleuth_compiler::llvm::block_lines;
use optsleuth_model::{CovReport, CovRun, Limits, Progress as _};
use optsleuth_report::{cov_json, cov_text, diff_json, diff_text, lcov};

use super::{LlvmFlags, ProgramFlags, parse_range, print, style};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Bar;

/// Say which files and functions of the compiler a run executes
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  optsleuth cov prog.c --llvm 19 --passes 'default<O2>'
  optsleuth cov prog.c --llvm 19 --passes 'default<O2>' --window 12      # that invocation alone
  optsleuth cov prog.c --llvm 19 --diff 'sroa' 'sroa,gvn'                # what gvn adds
  optsleuth cov crash.ll --passes slp-vectorizer --json | jq '.files[:5]'

Coverage counts basic blocks of LLVM between the start and the end of the pipeline. It is complete
up to the last instruction, whether the run crashes, hangs or ends.")]
pub(crate) struct Cov {
    #[command(flatten)]
    program: ProgramFlags,
    #[command(flatten)]
    llvm: LlvmFlags,
    /// The passes, as `opt -passes=` takes them; a flat list is nested as needed
    #[arg(
        long,
        value_name = "PASSES",
        allow_hyphen_values = true,
        required_unless_present = "diff"
    )]
    passes: Option<String>,
    /// Compare two runs of the program, with these passes
    #[arg(long, num_args = 2, value_names = ["A", "B"], allow_hyphen_values = true, conflicts_with_all = ["passes", "window"])]
    diff: Option<Vec<String>>,
    /// Cover only these pass invocations: 7, 3..9 or 12.. (`run --invocations` lists them)
    #[arg(long, value_name = "K", value_parser = parse_range)]
    window: Option<(u32, u32)>,
    /// CPU seconds for LLVM
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = super::parse_seconds)]
    timeout: f64,
    /// How many files and functions to print
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Write line coverage in lcov's format; for an LLVM of your own, built with -g
    #[arg(long, value_name = "FILE", conflicts_with = "diff")]
    lcov: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Cov {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let bar = Bar::new();
        let report = cov(&self.plan(), &bar)?;
        if let (Some(path), Some(run)) = (&self.lcov, report.runs.first()) {
            bar.step("reading debug information");
            write_lcov(&report, run, path)?;
        }
        bar.finish();
        let text = match (&report.runs[..], self.json) {
            ([a, b], true) => diff_json(&report, a, b),
            ([a, b], false) => diff_text(&report, a, b, self.top, style()),
            ([run, ..], true) => cov_json(&report, run),
            ([run, ..], false) => cov_text(&report, run, self.top, style()),
            ([], _) => String::new(),
        };
        print(&text);
        let exits = report.runs.iter().map(|run| Exit::of_outcome(&run.outcome));
        Ok(exits.into_iter().find(|exit| *exit != Exit::Clean).unwrap_or(Exit::Clean))
    }

    fn plan(&self) -> CovPlan {
        let passes = self.diff.clone().or_else(|| self.passes.clone().map(|one| vec![one]));
        CovPlan {
            llvm: self.llvm.choice(),
            targets: self.program.targets(),
            program: self.program.path.clone(),
            c_flags: self.program.c_flags(),
            options: self.program.options.clone(),
            passes: passes.unwrap_or_default(),
            window: self.window,
            limits: Limits { compile: Duration::from_secs_f64(self.timeout), ..Limits::STANDARD },
        }
    }
}

fn write_lcov(report: &CovReport, run: &CovRun, path: &Path) -> Result<(), Failure> {
    let coverage = run.window.as_ref().map_or(&run.coverage, |(coverage, _)| coverage);
    let lines = block_lines(&report.map, coverage)?;
    if lines.lines.is_empty() {
        return Err(CaseError::NoLines.into());
    }
    Ok(fs::write(path, lcov(&lines, coverage))?)
}
