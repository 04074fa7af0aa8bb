//! `optsleuth run`: one program under one pass sequence.

use std::num::NonZero;
use std::path::PathBuf;

use clap::Args;
use fs_err as fs;
use optsleuth_case::run::{RunPlan, run};
use optsleuth_model::{CodegenLevel, Execute, IndexSet, Limits, Pipeline, RunReport, is_source};
use optsleuth_report::{run_json, run_text};

use super::execution::ExecutionFlags;
use super::{Level, LimitFlags, LlvmFlags, ProgramFlags, TrustFlags, parse_range, print, style};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Bar;

/// Run a program through a pass sequence and say what happened
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  optsleuth run prog.c --llvm 19 --passes 'default<O2>'
  optsleuth run prog.c --llvm 19 --passes sroa,instcombine,licm --execute --confirm
  optsleuth run prog.c --llvm 19 --level O2 --execute        # what clang -O2 does
  optsleuth run prog.cpp --level O2 --execute --args '-n 3' --stdin input.txt
  optsleuth run crash.ll --passes slp-vectorizer --option=-slp-threshold=-99999
  optsleuth run prog.c --passes '-sroa -early-cse-memssa -loop-unswitch'   # legacy names
  optsleuth run prog.c --passes 'default<O3>' --runs 100 --json

The program is a .c, .cpp, .ll or .bc file. Exit codes: docs/exit-codes.md.")]
pub(crate) struct Run {
    #[command(flatten)]
    program: ProgramFlags,
    #[command(flatten)]
    llvm: LlvmFlags,
    /// The passes, as `opt -passes=` takes them; a flat list is nested as needed
    #[arg(
        long,
        value_name = "PASSES",
        allow_hyphen_values = true,
        required_unless_present = "level"
    )]
    passes: Option<String>,
    /// An optimization level instead, as clang has it: front end, passes and code generator
    #[arg(long, value_enum, value_name = "LEVEL", conflicts_with_all = ["passes", "codegen_level"])]
    level: Option<Level>,
    /// Verify the IR after every pass, not only at the end
    #[arg(long)]
    verify_each: bool,
    /// Leave these pass invocations out: 7, 3..9 or 12.. (see --invocations)
    #[arg(long, value_name = "RANGES", value_delimiter = ',', value_parser = parse_range)]
    skip: Vec<(u32, u32)>,
    /// List all pass invocations
    #[arg(long)]
    invocations: bool,
    /// Generate code and execute the program
    #[arg(long)]
    execute: bool,
    /// Execute it as a linked program in a process of its own; slower
    #[arg(long, requires = "execute")]
    as_process: bool,
    /// How hard the code generator works
    #[arg(long, value_name = "0-3", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=3))]
    codegen_level: u8,
    #[command(flatten)]
    execution: ExecutionFlags,
    #[command(flatten)]
    trust: TrustFlags,
    #[command(flatten)]
    limits: LimitFlags,
    /// KiB that the program may write to each of its streams
    #[arg(long, value_name = "KIB", default_value_t = 16384, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    output: u64,
    /// Run it this many times, on all cores, and say whether the runs differ
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    runs: u64,
    /// Workers at a time; one for each core if not given
    #[arg(long, value_name = "N")]
    workers: Option<NonZero<usize>>,
    /// Repeat it with the distribution's own tools and say whether they agree
    #[arg(long, conflicts_with = "skip")]
    confirm: bool,
    /// Write the optimized module to this file
    #[arg(long, short, value_name = "FILE")]
    output_module: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Run {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let bar = Bar::new();
        let report = run(&self.plan(), &bar)?;
        bar.finish();
        match self.json {
            true => print(&run_json(&report)),
            false => print(&run_text(&report, style())),
        }
        // After the finding is told, and only where there is a module.
        if let Some(path) = self.output_module.filter(|_| !report.result.emitted.is_empty()) {
            fs::write(&path, &report.result.emitted)?;
        }
        Ok(exit_of(&report))
    }

    fn plan(&self) -> RunPlan {
        let (mut c_flags, mut options) = (self.program.c_flags(), self.program.options.clone());
        let (mut passes, mut codegen) =
            (self.passes.clone().unwrap_or_default(), of_number(self.codegen_level));
        if let Some(level) = self.level {
            let pipeline = Pipeline::Level(level.into());
            (passes, codegen) = (pipeline.passes(), pipeline.codegen());
            if is_source(&self.program.path) {
                let front_end = pipeline.front_end();
                options = front_end.llvm_options(&c_flags, &options);
                c_flags = front_end.clang_flags(&c_flags);
            }
        }
        RunPlan {
            llvm: self.llvm.choice(),
            targets: self.program.targets(),
            program: self.program.path.clone(),
            c_flags,
            passes,
            options,
            skips: IndexSet::of_ranges(self.skip.iter().copied()),
            verify_each: self.verify_each,
            execute: match (self.execute, self.as_process) {
                (false, _) => Execute::No,
                (true, false) => Execute::InChild,
                (true, true) => Execute::AsProcess,
            },
            codegen,
            conditions: self.execution.conditions(),
            trust: self.trust.trust(),
            limits: Limits { output: self.output << 10, ..self.limits.limits() },
            runs: NonZero::new(self.runs as usize).unwrap_or(NonZero::<usize>::MIN),
            n_workers: self.workers,
            confirm: self.confirm,
            list_invocations: self.invocations,
        }
    }
}

fn of_number(codegen_level: u8) -> CodegenLevel {
    match codegen_level {
        0 => CodegenLevel::O0,
        1 => CodegenLevel::O1,
        2 => CodegenLevel::O2,
        _ => CodegenLevel::O3,
    }
}

/// The exit code for a result.
fn exit_of(report: &RunReport) -> Exit {
    let disagrees = report.confirmation.as_ref().is_some_and(|confirmation| !confirmation.agrees);
    let differs = report.repetition.as_ref().is_some_and(|repetition| repetition.n_different > 0);
    if disagrees || differs {
        return Exit::Unstable;
    }
    Exit::of_outcome(&report.result.outcome)
}
