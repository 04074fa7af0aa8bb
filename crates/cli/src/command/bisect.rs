//! `optsleuth bisect`: which invocations of passes a failure comes from.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use optsleuth_case::folder::{open_case, save_bisection};
use optsleuth_case::workers::LlvmChoice;
use optsleuth_model::BisectionEnd;
use optsleuth_report::{bisect_json, bisect_text};
use optsleuth_triage::bisect::{BisectPlan, bisect};

use super::{LimitFlags, TrustFlags, parse_seconds, print, style};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Bar;

/// Find the pass invocations that a failure comes from
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  optsleuth bisect case/
  optsleuth bisect case/ --json --no-save
  optsleuth bisect case/ --llvm 22
  optsleuth bisect case/ --authors                         # which functions of LLVM made the change?
  optsleuth bisect case/ --candidate-timeout 5             # a hang that takes its time

An invocation is one pass on one module, SCC, function or loop. It looks for the first one
after which the failure is certain, for those without which nothing fails, and for a minimal
set that still fails; docs/bisect.md says how. Ctrl-C ends it and prints what is known so far.
bisect.json and single-pass.ll are kept in the case's folder, for `optsleuth report` and for
a bug report.
Exit codes: 0 done, 3 the case is flaky, 6 it does not fail as it says, 130 interrupted.")]
pub(crate) struct Bisect {
    /// A folder with a case.toml
    #[arg(value_name = "CASE")]
    case: PathBuf,
    /// Use this installed LLVM instead of the case's own
    #[arg(long, value_name = "N")]
    llvm: Option<u32>,
    #[command(flatten)]
    trust: TrustFlags,
    #[command(flatten)]
    limits: LimitFlags,
    /// Of a hang: CPU seconds after which all runs but the first count as one
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = parse_seconds)]
    candidate_timeout: f64,
    /// Name the functions of LLVM that wrote, changed and erased what the culprit changed
    #[arg(long)]
    authors: bool,
    /// Leave nothing in the case's folder
    #[arg(long)]
    no_save: bool,
    /// Print JSON: everything that was found
    #[arg(long)]
    json: bool,
}

impl Bisect {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let bar = Bar::new();
        let found = bisect(&self.plan(), &bar)?;
        bar.finish();
        let json = bisect_json(&found);
        match self.json {
            true => print(&json),
            false => print(&bisect_text(&found, style())),
        }
        // A folder that cannot be written is no reason to lose the result.
        if !self.no_save
            && let Err(error) = save_bisection(&open_case(&self.case, self.trust.trust())?, &found)
        {
            eprintln!("warning: the result is not kept in the case's folder: {error}");
        }
        Ok(match found.ended {
            BisectionEnd::Interrupted => Exit::Interrupted,
            BisectionEnd::Complete | BisectionEnd::OutOfTime => Exit::Clean,
        })
    }

    fn plan(&self) -> BisectPlan {
        BisectPlan {
            folder: self.case.clone(),
            trust: self.trust.trust(),
            llvm: self.llvm.map(LlvmChoice::Version),
            limits: self.limits.limits(),
            candidate_time: Duration::from_secs_f64(self.candidate_timeout),
            authors: self.authors,
        }
    }
}
