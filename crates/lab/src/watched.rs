//! A C program under one of clang's sanitizers: does it still do the same?
//!
//! **Invariant:** a sanitizer that could not be made to watch has seen nothing,
//! which is told apart from having seen nothing wrong.

use std::path::Path;

use optsleuth_compiler::llvm::{Install, Worker};
use optsleuth_compiler::sanitize::{self, Sanitizer};
use optsleuth_model::{Execution, Limits};

use crate::oracle::same_behaviour;
use crate::setup::LabError;

/// What a program does when it is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watched {
    /// The same as ever.
    Right,
    /// Something else.
    Wrong,
    /// It cannot be made or started: there is no such sanitizer here.
    Unavailable,
}

/// Sanitizers keep shadows of the whole address space; little of it is used.
const SHADOWS: u64 = 1 << 60;

/// Compiles a C file with this clang and `flags`, and executes it behind the
/// worker's fence; `expected` is what it does by itself.
pub(crate) fn watch(
    sanitizer: Sanitizer,
    clang: &Install,
    path: &Path,
    flags: &[String],
    worker: &mut Worker,
    expected: &Execution,
) -> Result<Watched, LabError> {
    let program = path.with_extension("watched");
    if !sanitize::compile(clang, path, flags, sanitizer, &program)? {
        return Ok(Watched::Unavailable);
    }
    let limits = Limits { memory: SHADOWS, ..Limits::STANDARD };
    let execution = worker.execute(&program, limits)?;
    let said = String::from_utf8_lossy(&execution.stderr);
    tracing::debug!(sanitizer = sanitizer.name(), end = ?execution.end, "{said}");
    // A library that does not come up behind the fence has seen nothing.
    let has_spoken = sanitizer == Sanitizer::Undefined || said.contains("Sanitizer: ");
    Ok(match same_behaviour(&execution, expected) {
        true => Watched::Right,
        false if has_spoken => Watched::Wrong,
        false => Watched::Unavailable,
    })
}
