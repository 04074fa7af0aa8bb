//! A private directory for one worker and the programs it executes.
//!
//! It goes when this value is dropped. A worker removes it as well when its
//! host disappears, so a `kill -9` of the host leaves nothing behind.

use std::io;
use std::path::{Path, PathBuf};

/// A directory of our own below the system's temporary one.
#[derive(Debug)]
pub struct Workdir(tempfile::TempDir);

impl Workdir {
    /// Makes one.
    pub fn new() -> io::Result<Workdir> {
        Ok(Workdir(tempfile::Builder::new().prefix("optsleuth-").tempdir()?))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }
}
