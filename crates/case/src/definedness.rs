//! Is what a program does defined?
//!
//! **Invariant:** nothing here says that a behaviour is defined; only that none
//! of these found it not to be.

use std::time::Duration;

use optsleuth_compiler::llvm::Pool;
use optsleuth_model::{CodegenLevel, Execute, Execution, Limits, Outcome, RunRequest};

use crate::CaseError;
use crate::oracle::{behaviour, describe, is_limit, same_behaviour};

/// Executions and how they came about.
pub type References = Vec<(&'static str, Execution)>;

/// The unoptimized program of a pool, by ways that have little in common: what
/// they agree on does not depend on how the program is compiled, nor on what
/// unused memory happens to hold: it is filled where it can be. Also says how long
/// the slowest took.
pub fn references(pool: &mut Pool, limits: Limits) -> Result<(References, Duration), CaseError> {
    const WAYS: [(&str, CodegenLevel, Execute, Option<u8>); 4] = [
        ("unoptimized", CodegenLevel::O0, Execute::InChild, Some(0x00)),
        ("unoptimized, as a process", CodegenLevel::O0, Execute::AsProcess, None),
        ("optimized by the code generator alone", CodegenLevel::O2, Execute::InChild, Some(0x5a)),
        ("the same, as a process", CodegenLevel::O2, Execute::AsProcess, None),
    ];
    let requests = WAYS.map(|(_, codegen, execute, fill)| RunRequest {
        codegen,
        execute,
        fill,
        limits,
        ..RunRequest::new(None)
    });
    let results = pool.run_all(&requests, &|_| ());
    let (mut references, mut slowest) = (Vec::new(), Duration::ZERO);
    for ((way, ..), result) in WAYS.into_iter().zip(results) {
        let result = result?;
        slowest = slowest.max(result.wall);
        match result.outcome {
            Outcome::Ok(Some(execution)) if !is_limit(execution.end) => {
                references.push((way, execution));
            }
            other => return Err(CaseError::NoReference { way, what: describe(&other) }),
        }
    }
    Ok((references, slowest))
}

/// Two references that differ, in words.
pub fn disagreement(references: &[(&'static str, Execution)]) -> Option<String> {
    let (first, rest) = references.split_first()?;
    let (way, other) = rest.iter().find(|(_, other)| !same_behaviour(&first.1, other))?;
    Some(format!(
        "without any pass, the program {} when {}, but {} when {way}: its behaviour is not defined",
        behaviour(&first.1),
        first.0,
        behaviour(other),
    ))
}
