//! `optsleuth ask`: what an external reducer starts for every candidate.
//! Hidden: it makes sense only while `optsleuth reduce` runs.

use std::path::PathBuf;

use clap::Args;
use optsleuth_triage::reduce::ask;

use crate::exit::Exit;

/// Ask a running reduction whether a file is still interesting
#[derive(Debug, Args)]
pub(crate) struct Ask {
    /// Where it listens
    socket: PathBuf,
    /// The candidate
    file: PathBuf,
}

impl Ask {
    /// 0 for yes. Everything else is no, to a reducer: also a reduction that
    /// has ended meanwhile.
    pub(super) fn run(self) -> Exit {
        match ask(&self.socket, &self.file) {
            Ok(true) => Exit::Clean,
            Ok(false) | Err(_) => Exit::Usage,
        }
    }
}
