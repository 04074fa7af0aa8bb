//! `optsleuth doctor`: what is here, what is missing.

use clap::Args;
use optsleuth_compiler::doctor;
use optsleuth_report::{doctor_json, doctor_text};

use super::{print, style};
use crate::exit::Exit;
use crate::failure::Failure;

/// Say which compilers are here, what is missing, and how to install it
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  optsleuth doctor\n  optsleuth doctor --llvm 19 --verbose\n  optsleuth doctor --json | jq '.llvms[].version'"
)]
pub(crate) struct Doctor {
    /// Look at this LLVM only
    #[arg(long, value_name = "N")]
    llvm: Option<u32>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Doctor {
    pub(super) fn run(self, verbose: bool) -> Result<Exit, Failure> {
        let findings = doctor::examine(self.llvm);
        let healthy = findings.is_healthy();
        match self.json {
            true => print(&doctor_json(&findings)),
            false => print(&doctor_text(&findings, verbose, style())),
        }
        Ok(if healthy { Exit::Clean } else { Exit::Missing })
    }
}
