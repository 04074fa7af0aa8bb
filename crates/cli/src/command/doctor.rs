//! `optsleuth doctor`: what is here, what is missing.

use clap::Args;
use optsleuth_compiler::doctor;
use optsleuth_report::{doctor_json, doctor_text};

use super::{print, style};
use crate::exit::Exit;

/// Say which compilers are here, what is missing, and how to install it
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  optsleuth doctor\n  optsleuth doctor --json | jq '.llvms[].version'"
)]
pub(crate) struct Doctor {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Doctor {
    pub(super) fn run(self) -> Exit {
        let findings = doctor::examine();
        match self.json {
            true => print(&doctor_json(&findings)),
            false => print(&doctor_text(&findings, style())),
        }
        if findings.is_healthy() { Exit::Clean } else { Exit::Missing }
    }
}
