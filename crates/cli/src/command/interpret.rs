//! `optsleuth interpret`: is a program's behaviour defined?

use clap::Args;
use optsleuth_case::interpret::{InterpretPlan, interpret};
use optsleuth_model::{Interpret as Question, ProgramEnd, Ruling};
use optsleuth_report::{interpret_json, interpret_text};

use super::{LimitFlags, LlvmFlags, ProgramFlags, print, style};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Bar;

/// How many instructions a trace shows, if no number is given.
const TRACE_LINES: &str = "200";

/// Execute a program by LLVM's language reference and say whether its behaviour is defined
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  optsleuth interpret prog.c
  optsleuth interpret prog.ll --function f --args 2147483647 null
  optsleuth interpret prog.c --llvm 19 --passes 'default<O2>' --trace

The program is a .c, .ll or .bc file. An argument is a number, null, poison or undef.
Exit codes: 0 defined, 3 undefined, 5 no verdict; see docs/exit-codes.md and docs/referee.md.")]
pub(crate) struct Interpret {
    #[command(flatten)]
    program: ProgramFlags,
    #[command(flatten)]
    llvm: LlvmFlags,
    /// Call this function instead of main
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// Its arguments
    #[arg(long, value_name = "VALUE", num_args = 1.., allow_hyphen_values = true, requires = "function")]
    args: Vec<String>,
    /// Run these passes first
    #[arg(long, value_name = "PASSES", allow_hyphen_values = true)]
    passes: Option<String>,
    /// Instructions that may be executed
    #[arg(long, value_name = "N", default_value_t = 1_000_000_000)]
    steps: u64,
    /// Show the last instructions with their values, 200 if no number is given
    #[arg(long, value_name = "LINES", num_args = 0..=1, default_missing_value = TRACE_LINES)]
    trace: Option<u32>,
    #[command(flatten)]
    limits: LimitFlags,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Interpret {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let bar = Bar::new();
        let report = interpret(&self.plan(), &bar)?;
        bar.finish();
        match self.json {
            true => print(&interpret_json(&report)),
            false => print(&interpret_text(&report, style())),
        }
        Ok(match &report.interpretation.ruling {
            Ruling::Defined { end: ProgramEnd::Exited(_), .. } => Exit::Clean,
            Ruling::Defined { .. } | Ruling::NoVerdict { .. } => Exit::ProgramStopped,
            Ruling::Undefined { .. } => Exit::Unstable,
        })
    }

    fn plan(&self) -> InterpretPlan {
        let main = Question::main();
        InterpretPlan {
            llvm: self.llvm.choice(),
            targets: self.program.targets(),
            program: self.program.path.clone(),
            c_flags: self.program.c_flags(),
            options: self.program.options.clone(),
            passes: self.passes.clone(),
            interpret: Question {
                arguments: self.function.is_some().then(|| self.args.clone()),
                function: self.function.clone().unwrap_or(main.function),
                steps: self.steps,
                trace_lines: self.trace.unwrap_or(0),
                ..Question::main()
            },
            limits: self.limits.limits(),
        }
    }
}
