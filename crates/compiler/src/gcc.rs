//! gcc: a second opinion on what a C program does.
//!
//! Commands and compiled programs only; who executes them fences them in.

use std::path::{Path, PathBuf};

use crate::csmith;
use crate::spawn::{Tool, ToolEnd, ToolError, find_on_path};

/// An installed gcc.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gcc {
    path: PathBuf,
    /// The first line of what it says of itself.
    pub version: String,
}

impl Gcc {
    /// The one on `PATH` that answers; `None` where there is none.
    pub fn find() -> Option<Gcc> {
        let path = find_on_path("gcc")?;
        let said = Tool::new(&path).arg("--version").text().ok()?;
        let version = said.lines().next()?.to_owned();
        // Some systems call their clang gcc, and one opinion twice is one.
        (!said.contains("clang")).then_some(Gcc { path, version })
    }

    /// Makes an unoptimized program file of a C program; its complaint where
    /// that cannot be done.
    pub fn compile(
        &self,
        source: &Path,
        flags: &[String],
        program: &Path,
    ) -> Result<Result<(), String>, ToolError> {
        let output = Tool::new(&self.path)
            .args(["-O0", "-w"])
            .args(csmith::include_flags(&std::fs::read(source).unwrap_or_default()))
            .args(flags)
            .arg(source)
            .arg("-o")
            .arg(program)
            .args(["-lm", "-lpthread"])
            .output()?;
        Ok(match output.end {
            ToolEnd::Exited(0) => Ok(()),
            ToolEnd::Exited(_) | ToolEnd::Signaled(_) | ToolEnd::Timeout => {
                let said = String::from_utf8_lossy(&output.stderr);
                let line = said.lines().find(|line| line.contains("error")).unwrap_or_default();
                Err(line.to_owned())
            }
        })
    }
}
