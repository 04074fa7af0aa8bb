//! External reducers: where they are, and how they are started.
//!
//! **Invariant:** they work in a folder of ours, temporary files included.

use std::path::{Path, PathBuf};

use crate::llvm::Install;
use crate::spawn::{Tool, find_on_path};

/// A reducer that asks a program of ours whether a file is still interesting.
#[derive(Clone, Debug)]
pub struct Reducer {
    name: &'static str,
    program: PathBuf,
}

impl Reducer {
    /// For C: cvise, or creduce.
    pub fn of_c() -> Option<Reducer> {
        let find = |name| find_on_path(name).map(|program| Reducer { name, program });
        find("cvise").or_else(|| find("creduce"))
    }

    /// For IR: this LLVM's own.
    pub fn of_ir(install: &Install) -> Option<Reducer> {
        let name = "llvm-reduce";
        install.tool(name).map(|program| Reducer { name, program })
    }

    /// `cvise`, `creduce` or `llvm-reduce`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The command that reduces a file in this folder, `n_parallel` tries at a
    /// time.
    pub fn command(&self, folder: &Path, file: &str, test: &Path, n_parallel: usize) -> Tool {
        let tool = Tool::new(&self.program).directory(folder).env("TMPDIR", folder);
        match self.name {
            "llvm-reduce" => tool
                .arg(format!("--test={}", test.display()))
                .args(["-o", "llvm-reduce.ll"])
                .arg(file),
            _ => tool.args(["--n", &n_parallel.to_string()]).arg(test).arg(file),
        }
    }
}
