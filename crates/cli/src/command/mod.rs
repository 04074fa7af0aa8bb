//! The subcommands, one file each, and the flags they share.

mod doctor;
mod passes;
mod run;

use std::io::IsTerminal;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use optsleuth_lab::{LabError, LlvmChoice};
use optsleuth_report::Style;

use crate::exit::Exit;

/// Everything `optsleuth` can be told to do, in the order of the manual.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Doctor(doctor::Doctor),
    Passes(passes::Passes),
    Run(Box<run::Run>),
}

impl Command {
    pub(crate) fn run(self) -> Result<Exit, LabError> {
        match self {
            Command::Doctor(doctor) => Ok(doctor.run()),
            Command::Passes(passes) => passes.run(),
            Command::Run(run) => run.run(),
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
    fn choice(&self) -> LlvmChoice {
        match (&self.llvm_config, self.llvm) {
            (Some(path), _) => LlvmChoice::Config(path.clone()),
            (None, Some(major)) => LlvmChoice::Version(major),
            (None, None) => LlvmChoice::Newest,
        }
    }
}

/// Colours for a terminal, unless somebody does not want them.
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
    let _ = out.write_all(text.as_bytes());
    if !text.ends_with('\n') {
        let _ = out.write_all(b"\n");
    }
    let _ = out.flush();
}
