//! `optsleuth passes`: the pass registry of an LLVM.

use clap::Args;
use optsleuth_case::workers::passes;
use optsleuth_report::{passes_json, passes_text};

use super::{LlvmFlags, print, style};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Bar;

/// List the passes of an LLVM, with their levels and parameters
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  optsleuth passes --llvm 19\n  optsleuth passes --llvm 19 --json | jq -r '.passes[] | select(.level==\"loop\").name'"
)]
pub(crate) struct Passes {
    #[command(flatten)]
    llvm: LlvmFlags,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Passes {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let bar = Bar::new();
        let (install, registry) = passes(&self.llvm.choice(), &bar)?;
        bar.finish();
        match self.json {
            true => print(&passes_json(&install.version, &registry)),
            false => print(&passes_text(&install.version, &registry, style())),
        }
        Ok(Exit::Clean)
    }
}
