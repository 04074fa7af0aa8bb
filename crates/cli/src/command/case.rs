//! `optsleuth case`: cases, by themselves.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use optsleuth_case::check::{CheckPlan, check};
use optsleuth_case::workers::LlvmChoice;
use optsleuth_model::{CheckReport, CheckStatus, in_words};
use optsleuth_report::{CheckEntry, check_json, check_summary, check_text};

use super::import::Import;
use super::{LimitFlags, TrustFlags, print, style};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Bar;
use crate::remedy;

/// Work with case folders
#[derive(Debug, Args)]
pub(crate) struct Case {
    #[command(subcommand)]
    command: CaseCommand,
}

#[derive(Debug, Subcommand)]
enum CaseCommand {
    Check(Check),
    Import(Import),
}

/// Say whether cases fail as they say, every time and with the distribution's own tools
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  optsleuth case check case/
  optsleuth case check corpus/*/ --json
  optsleuth case check case/ --llvm 22          # does it fail there, too?

A case is a folder with case.toml and its input; docs/case-format.md describes it.
Exit codes: 0 all reproduce, 3 flaky or not confirmed, 6 one does not fail as it says.")]
struct Check {
    /// Folders with a case.toml
    #[arg(value_name = "CASE", required = true)]
    cases: Vec<PathBuf>,
    /// Try it on this installed LLVM instead of the case's own
    #[arg(long, value_name = "N")]
    llvm: Option<u32>,
    /// Leave the distribution's tools out
    #[arg(long)]
    no_confirm: bool,
    #[command(flatten)]
    trust: TrustFlags,
    #[command(flatten)]
    limits: LimitFlags,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Case {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        match self.command {
            CaseCommand::Check(check) => check.run(),
            CaseCommand::Import(import) => import.run(),
        }
    }
}

impl Check {
    fn run(self) -> Result<Exit, Failure> {
        let mut exit = Exit::Clean;
        let mut entries = Vec::new();
        for folder in &self.cases {
            let bar = Bar::new();
            let result = check(&self.plan(folder), &bar);
            bar.finish();
            let (entry, one) = match result.map_err(Failure::from) {
                Ok(report) => {
                    let one = exit_of(&report);
                    (Ok(report), one)
                }
                // One of many is no reason to leave the others out.
                Err(error) if self.cases.len() > 1 => {
                    let help = remedy::remedy(&error).map(|help| format!("\nhelp: {help}"));
                    let text = in_words(&error) + &help.unwrap_or_default();
                    (Err(text), remedy::exit(&error))
                }
                Err(error) => return Err(error),
            };
            exit = worse(exit, one);
            let entry = CheckEntry { folder: folder.display().to_string(), result: entry };
            if !self.json {
                print(&check_text(&entry, style()));
            }
            entries.push(entry);
        }
        match self.json {
            true => print(&check_json(&entries)),
            false if entries.len() > 1 => print(&check_summary(&entries)),
            false => {}
        }
        Ok(exit)
    }

    fn plan(&self, folder: &std::path::Path) -> CheckPlan {
        CheckPlan {
            folder: folder.to_owned(),
            trust: self.trust.trust(),
            llvm: self.llvm.map(LlvmChoice::Version),
            limits: self.limits.limits(),
            confirm: !self.no_confirm,
            repeat_hangs_within: None,
        }
    }
}

fn exit_of(report: &CheckReport) -> Exit {
    match report.status {
        CheckStatus::Reproduces => match &report.confirmation {
            Some(confirmation) if !confirmation.agrees => Exit::Unstable,
            _ => Exit::Clean,
        },
        CheckStatus::Passes | CheckStatus::FailsOtherwise | CheckStatus::FailsUnmodified => {
            Exit::NotReproduced
        }
        CheckStatus::Flaky | CheckStatus::Unstable => Exit::Unstable,
    }
}

/// Of two ends, the one to tell: an error before a case that does not hold.
fn worse(a: Exit, b: Exit) -> Exit {
    let weight = |exit| match exit {
        Exit::Clean => 0,
        Exit::NotReproduced => 1,
        Exit::Unstable => 2,
        _ => 3,
    };
    if weight(b) > weight(a) { b } else { a }
}
