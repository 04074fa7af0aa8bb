//! `optsleuth man`: the texts of `--help` as manual pages.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory};
use fs_err as fs;

use crate::Arguments;
use crate::exit::Exit;
use crate::failure::Failure;

/// Write a manual page for every command into a folder
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  optsleuth man ~/.local/share/man/man1 && man optsleuth-triage

`make install` does this.")]
pub(crate) struct Man {
    /// Made if it is not there
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl Man {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        write_pages(&self.folder)?;
        Ok(Exit::Clean)
    }
}

pub(super) fn write_pages(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    clap_mangen::generate_to(Arguments::command(), folder)
}
