//! `optsleuth reduce`: fewer passes and a smaller program, the same failure.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use optsleuth_case::workers::LlvmChoice;
use optsleuth_model::ReductionEnd;
use optsleuth_report::{reduce_json, reduce_text};
use optsleuth_triage::reduce::{Part, ReducePlan, Reducer, Reducing, reduce};

use super::{LimitFlags, TrustFlags, parse_duration, print, style};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Bar;

/// Make a case smaller: fewer passes, less program, the same failure
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  optsleuth reduce case/                       # passes, then the program
  optsleuth reduce case/ --only passes
  optsleuth reduce case/ --budget 2m --json
  optsleuth reduce case/ --again               # from the original, whatever was reached

Afterwards the case's folder describes the smaller case; the original case is in original/.
Every step is written as it is reached: after Ctrl-C, or even kill -9, the same command continues
from there. docs/reduce.md says how undefined behaviour is kept out.
Exit codes: 0 done, 3 the case is flaky, 6 it does not fail as it says, 130 Ctrl-C.")]
pub(crate) struct Reduce {
    /// A folder with a case.toml
    #[arg(value_name = "CASE")]
    case: PathBuf,
    /// Only this part of it
    #[arg(long, value_enum, value_name = "PART")]
    only: Option<Only>,
    /// End after this time, as in 60s or 2m, with the best so far
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = parse_duration)]
    budget: Duration,
    /// What to make the program smaller with
    #[arg(long, value_enum, value_name = "TOOL", default_value_t = ToolFlag::Auto)]
    tool: ToolFlag,
    /// Begin with the original
    #[arg(long)]
    again: bool,
    /// Use this installed LLVM instead of the case's own
    #[arg(long, value_name = "N")]
    llvm: Option<u32>,
    #[command(flatten)]
    trust: TrustFlags,
    #[command(flatten)]
    limits: LimitFlags,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Only {
    /// The pass sequence and its parameters
    Passes,
    /// The program
    Program,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ToolFlag {
    /// Whatever is best of what is installed
    Auto,
    /// Our own reduction
    BuiltIn,
    /// LLVM's own, for IR; then ours
    LlvmReduce,
    /// cvise or creduce, for C; after ours
    Cvise,
}

impl Reduce {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let bar = Bar::new();
        let report = reduce(&self.plan(), &bar);
        bar.finish();
        let report = report?;
        match self.json {
            true => print(&reduce_json(&report)),
            false => print(&reduce_text(&report, style())),
        }
        Ok(match report.reduction.end {
            ReductionEnd::Interrupted if !report.was_finished => Exit::Interrupted,
            ReductionEnd::Interrupted
            | ReductionEnd::Finished
            | ReductionEnd::Unfinished
            | ReductionEnd::Budget => Exit::Clean,
        })
    }

    fn plan(&self) -> ReducePlan {
        ReducePlan {
            folder: self.case.clone(),
            trust: self.trust.trust(),
            llvm: self.llvm.map(LlvmChoice::Version),
            limits: self.limits.limits(),
            again: self.again,
            how: Reducing {
                part: match self.only {
                    None => Part::Both,
                    Some(Only::Passes) => Part::Passes,
                    Some(Only::Program) => Part::Program,
                },
                tool: match self.tool {
                    ToolFlag::Auto => Reducer::Auto,
                    ToolFlag::BuiltIn => Reducer::BuiltIn,
                    ToolFlag::LlvmReduce => Reducer::LlvmReduce,
                    ToolFlag::Cvise => Reducer::Cvise,
                },
                budget: Some(self.budget),
                callback_binary: std::env::current_exe()
                    .unwrap_or_else(|_| PathBuf::from("optsleuth")),
            },
        }
    }
}
