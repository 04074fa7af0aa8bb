//! The subcommands, one file each, and the flags they share.

mod ask;
mod bench;
mod bisect;
mod build;
mod campaign;
mod case;
mod completions;
mod cov;
mod doctor;
mod execution;
mod hunt;
mod import;
mod interpret;
mod localize;
mod man;
mod mutate;
mod passes;
mod provision;
mod reduce;
mod report;
mod run;
mod triage;
mod zoom;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use optsleuth_case::workers::LlvmChoice;
use optsleuth_compiler::llvm::Targets;
use optsleuth_model::{Limits, OptLevel, Trust};
use optsleuth_report::Style;

use crate::exit::Exit;
use crate::failure::Failure;

/// Everything `optsleuth` can be told to do, in the order of the manual.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Doctor(doctor::Doctor),
    Provision(provision::Provision),
    Passes(passes::Passes),
    Run(Box<run::Run>),
    Cov(Box<cov::Cov>),
    Interpret(Box<interpret::Interpret>),
    Case(case::Case),
    Hunt(Box<hunt::Hunt>),
    Campaign(campaign::Campaign),
    Build(build::Build),
    Triage(Box<triage::Triage>),
    Bisect(bisect::Bisect),
    Reduce(Box<reduce::Reduce>),
    Localize(Box<localize::Localize>),
    Report(report::Report),
    Mutate(mutate::Mutate),
    Bench(Box<bench::Bench>),
    Completions(completions::Completions),
    Man(man::Man),
    #[command(hide = true)]
    Ask(ask::Ask),
    #[command(hide = true)]
    Recorded(build::Recorded),
    #[command(hide = true)]
    Judge(build::Judge),
}

impl Command {
    pub(crate) fn run(self, verbose: bool) -> Result<Exit, Failure> {
        match self {
            Command::Doctor(doctor) => doctor.run(verbose),
            Command::Provision(provision) => provision.run(),
            Command::Passes(passes) => passes.run(),
            Command::Run(run) => run.run(),
            Command::Cov(cov) => cov.run(),
            Command::Interpret(interpret) => interpret.run(),
            Command::Case(case) => case.run(),
            Command::Hunt(hunt) => hunt.run(),
            Command::Campaign(campaign) => campaign.run(),
            Command::Build(build) => build.run(),
            Command::Triage(triage) => triage.run(),
            Command::Bisect(bisect) => bisect.run(),
            Command::Reduce(reduce) => reduce.run(),
            Command::Localize(localize) => localize.run(),
            Command::Report(report) => report.run(),
            Command::Mutate(mutate) => mutate.run(),
            Command::Bench(bench) => bench.run(),
            Command::Completions(completions) => completions.run(),
            Command::Man(man) => man.run(),
            Command::Ask(ask) => Ok(ask.run()),
            Command::Recorded(recorded) => recorded.run(),
            Command::Judge(judge) => judge.run(),
        }
    }
}

/// Which LLVM.
#[derive(Debug, Args)]
pub(crate) struct LlvmFlags {
    /// The installed LLVM to use, by its number; the newest if not given
    #[arg(long, value_name = "N", conflicts_with = "llvm_config")]
    llvm: Option<u32>,
    /// An LLVM of your own, by its llvm-config program
    #[arg(long, value_name = "PATH")]
    llvm_config: Option<PathBuf>,
}

impl LlvmFlags {
    fn is_given(&self) -> bool {
        self.llvm.is_some() || self.llvm_config.is_some()
    }

    fn choice(&self) -> LlvmChoice {
        match (&self.llvm_config, self.llvm) {
            (Some(path), _) => LlvmChoice::Config(path.clone()),
            (None, Some(major)) => LlvmChoice::Version(major),
            (None, None) => LlvmChoice::Newest,
        }
    }
}

/// Which program, and how to read it.
#[derive(Debug, Args)]
pub(crate) struct ProgramFlags {
    /// A .c, .cpp, .ll or .bc file
    #[arg(value_name = "PROGRAM")]
    path: PathBuf,
    /// An LLVM option, as `opt` takes it; may be given several times
    #[arg(long = "option", value_name = "OPT", allow_hyphen_values = true)]
    options: Vec<String>,
    /// Link the code generators of other targets, too
    #[arg(long, value_enum, default_value_t = TargetSet::Native)]
    targets: TargetSet,
    /// A folder with headers, for C
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<String>,
    /// A macro, for C
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    define: Vec<String>,
    /// Any other flag for clang
    #[arg(long = "cflag", value_name = "FLAG", allow_hyphen_values = true)]
    more: Vec<String>,
}

/// How much a run may use.
#[derive(Debug, Args)]
pub(crate) struct LimitFlags {
    /// CPU seconds for LLVM, and again for the program
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = parse_seconds)]
    timeout: f64,
    /// MiB of memory for LLVM, and for the program
    #[arg(long, value_name = "MIB", default_value_t = 4096, value_parser = clap::value_parser!(u64).range(64..=1_048_576))]
    memory: u64,
}

impl LimitFlags {
    fn limits(&self) -> Limits {
        let time = Duration::from_secs_f64(self.timeout);
        Limits { compile: time, execute: time, memory: self.memory << 20, ..Limits::STANDARD }
    }
}

/// Whose word a case's paths and flags are.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct TrustFlags {
    /// Follow what it says even where that could run programs or reach files of its author's
    /// choice: compilers by their paths, C flags such as -fplugin and -I. SECURITY.md says more
    #[arg(long)]
    trust: bool,
}

impl TrustFlags {
    fn trust(self) -> Trust {
        if self.trust { Trust::Author } else { Trust::Data }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TargetSet {
    /// That of this machine
    Native,
    /// All that this LLVM was built with
    All,
}

/// An optimization level of clang.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[clap(rename_all = "verbatim")]
pub(crate) enum Level {
    O0,
    O1,
    O2,
    O3,
    Os,
    Oz,
}

impl From<Level> for OptLevel {
    fn from(level: Level) -> OptLevel {
        match level {
            Level::O0 => OptLevel::O0,
            Level::O1 => OptLevel::O1,
            Level::O2 => OptLevel::O2,
            Level::O3 => OptLevel::O3,
            Level::Os => OptLevel::Os,
            Level::Oz => OptLevel::Oz,
        }
    }
}

impl ProgramFlags {
    fn targets(&self) -> Targets {
        match self.targets {
            TargetSet::Native => Targets::Native,
            TargetSet::All => Targets::All,
        }
    }

    fn c_flags(&self) -> Vec<String> {
        let mut flags: Vec<String> = self.include.iter().map(|dir| format!("-I{dir}")).collect();
        flags.extend(self.define.iter().map(|name| format!("-D{name}")));
        flags.extend(self.more.iter().cloned());
        flags
    }
}

/// Colours on a terminal, unless the user switched them off.
fn style() -> Style {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    match std::io::stdout().is_terminal() && !refused {
        true => Style::Coloured,
        false => Style::Plain,
    }
}

/// Prints a result. A reader that went away early is not an error.
fn print(text: &str) {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    match write!(out, "{text}{newline}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            eprintln!("error: cannot write the result: {error}");
            std::process::exit(Exit::Internal as i32);
        }
        Ok(()) | Err(_) => {}
    }
}

/// Seconds with a fraction.
fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.01..=100_000.0).contains(&seconds) => Ok(seconds),
        _ => Err("give seconds from 0.01 to 100000".to_owned()),
    }
}

/// `60s`, `2m`, `1h`, `1.5s`; a bare number is seconds.
fn parse_duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.find(|c: char| c.is_ascii_alphabetic()) {
        Some(at) => text.split_at(at),
        None => (text, "s"),
    };
    let seconds = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("`{unit}` is not a unit of time: give 60s, 2m or 1h")),
    };
    match number.trim().parse::<f64>() {
        Ok(n) if (0.01..=10_000_000.0).contains(&(n * seconds)) => {
            Ok(Duration::from_secs_f64(n * seconds))
        }
        _ => Err("give a time such as 60s, 2m or 1h".to_owned()),
    }
}

/// `7` -> 7..8, `3..9`, `12..` -> to the end.
fn parse_range(text: &str) -> Result<(u32, u32), String> {
    let number = |text: &str| text.parse::<u32>().map_err(|_| format!("`{text}` is not a number"));
    let (from, end) = match text.split_once("..") {
        None => {
            let index = number(text)?;
            (index, index.saturating_add(1))
        }
        Some((from, "")) => (number(from)?, u32::MAX),
        Some((from, end)) => (number(from)?, number(end)?),
    };
    if from < end { Ok((from, end)) } else { Err(format!("`{text}` is an empty range")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(parse_duration("60s"), Ok(Duration::from_secs(60)));
        assert_eq!(parse_duration("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(parse_duration("1.5h"), Ok(Duration::from_secs(5400)));
        assert_eq!(parse_duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(parse_duration("3"), Ok(Duration::from_secs(3)));
        for wrong in ["", "s", "5 days", "-1s", "1e99h", "0s", "NaN"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn ranges_are_single_bounded_or_open() {
        assert_eq!(parse_range("7"), Ok((7, 8)));
        assert_eq!(parse_range("3..9"), Ok((3, 9)));
        assert_eq!(parse_range("12.."), Ok((12, u32::MAX)));
        assert!(parse_range("9..3").is_err());
        assert!(parse_range("x").is_err());
    }
}
