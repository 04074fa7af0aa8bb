//! A C program under one of clang's sanitizers: does it still do the same?
//!
//! **Invariant:** a sanitizer that could not be made to watch has seen nothing,
//! which is told apart from having seen nothing wrong.

use std::path::Path;

use optsleuth_compiler::llvm::{self, Install, Worker};
use optsleuth_compiler::sanitize::{self, Sanitizer};
use optsleuth_model::{Execution, Limits, ProgramEnd};

use crate::CaseError;
use crate::oracle::same_behaviour;

/// What a program does when it is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watched {
    /// The same as ever.
    Right,
    /// Something else, and the sanitizer says why.
    Wrong,
    /// Something else, and nobody says why: the sanitizer may not have come up
    /// behind the fence, or it took too long.
    Silent(ProgramEnd),
    /// It cannot be made: there is no such sanitizer here.
    Unavailable,
}

/// Sanitizers keep shadows of the whole address space; little of it is used.
const SHADOWS: u64 = 1 << 60;

/// What a trap of the undefined-behaviour sanitizer raises.
const SIGILL: i32 = 4;

/// Compiles a C file with this clang and `flags`, and executes it behind the
/// worker's fence; `expected` is what it does by itself.
pub fn watch(
    sanitizer: Sanitizer,
    clang: &Install,
    path: &Path,
    flags: &[String],
    worker: &mut Worker,
    expected: &Execution,
) -> Result<Watched, CaseError> {
    let program = path.with_extension("watched");
    if !sanitize::compile(clang, path, flags, sanitizer, &program)? {
        return Ok(Watched::Unavailable);
    }
    let limits = Limits { memory: SHADOWS, ..Limits::STANDARD };
    let execution = worker.execute(&program, limits)?;
    let said = String::from_utf8_lossy(&execution.stderr);
    tracing::debug!(sanitizer = sanitizer.name(), end = ?execution.end, "{said}");
    // A library that does not come up behind the fence has seen nothing.
    let has_spoken = match sanitizer {
        Sanitizer::Undefined => true,
        Sanitizer::Address | Sanitizer::Memory => said.contains("Sanitizer: "),
        Sanitizer::UndefinedAndAddress => {
            said.contains("Sanitizer: ") || execution.end == ProgramEnd::Signaled(SIGILL)
        }
    };
    Ok(match same_behaviour(&execution, expected) {
        true => Watched::Right,
        false if has_spoken => Watched::Wrong,
        false => Watched::Silent(execution.end),
    })
}

/// The sanitizers that can watch this program, and whose clang has each; or the
/// one under which it does something else. What is watched is the program, so
/// any LLVM's clang will do; `own` is the first to be tried.
pub fn watchers(
    own: &Install,
    path: &Path,
    flags: &[String],
    worker: &mut Worker,
    expected: &Execution,
) -> Result<Result<Vec<(Sanitizer, Install)>, Sanitizer>, CaseError> {
    let others = llvm::discover().into_iter().rev().filter_map(|(_, found)| found.ok());
    let mut clangs: Vec<Install> = std::iter::once(own.clone()).chain(others).collect();
    clangs.retain(|clang| clang.tool("clang").is_some());
    let mut found = Vec::new();
    for sanitizer in Sanitizer::ALL {
        for clang in &clangs {
            match watch(sanitizer, clang, path, flags, worker, expected)? {
                Watched::Right => found.push((sanitizer, clang.clone())),
                Watched::Silent(_) | Watched::Unavailable => continue,
                Watched::Wrong => return Ok(Err(sanitizer)),
            }
            break;
        }
    }
    Ok(Ok(found))
}

/// Those that nobody here has.
pub fn missing(found: &[(Sanitizer, Install)]) -> Vec<Sanitizer> {
    let has = |sought: &Sanitizer| found.iter().any(|(known, _)| known == sought);
    Sanitizer::ALL.into_iter().filter(|sought| !has(sought)).collect()
}
