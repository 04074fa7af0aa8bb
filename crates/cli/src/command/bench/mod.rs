//! `optsleuth bench`: how good localization is, on cases whose culprit is known.

mod seed;

use clap::{Args, Subcommand};
use optsleuth_lab::LabError;

use crate::exit::Exit;

/// Make cases whose culprit is known
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Bench {
    #[command(subcommand)]
    command: Option<BenchCommand>,
}

#[derive(Debug, Subcommand)]
enum BenchCommand {
    Seed(seed::Seed),
}

impl Bench {
    pub(super) fn run(self) -> Result<Exit, LabError> {
        match self.command {
            Some(BenchCommand::Seed(seed)) => seed.run(),
            None => Ok(Exit::Usage), // clap has shown the help.
        }
    }
}
