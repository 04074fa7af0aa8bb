//! `optsleuth case import`: files of public data sets -> case folders.

use std::path::PathBuf;

use clap::Args;
use optsleuth_bench::import::{ImportPlan, import, usable_llvms};
use optsleuth_model::{UsableLlvms, in_words};
use optsleuth_report::{ImportEntry, import_json, import_text};

use super::{LimitFlags, print, style};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Bar;
use crate::remedy;

/// Make cases of the JSON files of llvm-autofix and llvm-apr-benchmark
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  optsleuth case import dataset/102187.json -o cases/
  optsleuth case import dataset/*.json -o cases/ --llvm 19 --llvm 16
  optsleuth case import dataset/*.json -o cases/ --keep-all --json

Every test of a file is run on the installed LLVMs. Those that fail become cases, about the newest
LLVM on which they fail; the others are listed with the reason. docs/case-format.md says more.
Exit codes: 0 something was imported, 1 a file is wrong or a case exists already, 6 nothing fails.")]
pub(super) struct Import {
    /// Files of the data set
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The folder for the cases; each gets a folder in it
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
    /// An installed LLVM to try, by its number; may be given several times; all if not given
    #[arg(long, value_name = "N")]
    llvm: Vec<u32>,
    /// Write tests that fail nowhere, or cannot be executed, as well
    #[arg(long)]
    keep_all: bool,
    /// Replace cases that are there already
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    limits: LimitFlags,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Import {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let bar = Bar::new();
        let llvms = match self.llvm.is_empty() {
            true => usable_llvms(&bar)?,
            false => UsableLlvms { numbers: self.llvm.clone(), left_out: Vec::new() },
        };
        let mut entries = Vec::new();
        let mut wrong = None;
        for file in &self.files {
            let result = match import(&self.plan(file, &llvms), &bar).map_err(Failure::from) {
                Ok(report) => Ok(report),
                // One of many is no reason to leave the others out.
                Err(error) if self.files.len() > 1 && remedy::exit(&error) == Exit::Usage => {
                    let help = remedy::remedy(&error).map(|help| format!("\nhelp: {help}"));
                    wrong = Some(Exit::Usage);
                    Err(in_words(&error) + &help.unwrap_or_default())
                }
                Err(error) => return Err(error),
            };
            entries.push(ImportEntry { file: file.display().to_string(), result });
        }
        bar.finish();
        print(&match self.json {
            true => import_json(&entries, &llvms),
            false => import_text(&entries, &llvms, style()),
        });
        let n_written: usize = entries.iter().map(ImportEntry::n_written).sum();
        Ok(wrong.unwrap_or(if n_written > 0 { Exit::Clean } else { Exit::NotReproduced }))
    }

    fn plan(&self, file: &std::path::Path, llvms: &UsableLlvms) -> ImportPlan {
        ImportPlan {
            file: file.to_owned(),
            out: self.out.clone(),
            llvms: llvms.numbers.clone(),
            limits: self.limits.limits(),
            keep_all: self.keep_all,
            force: self.force,
        }
    }
}
