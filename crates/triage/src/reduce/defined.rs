//! Is what a changed program does defined? IR of any origin -> an unoptimized
//! behaviour that several independent executions agree on.
//!
//! A reducer that only asks "does it still differ?" ends at programs that read
//! memory they never wrote: every compilation of those may differ, and none is
//! wrong. So unused memory gets different contents, the code generator lays
//! memory out in different ways, and where the original program keeps what IR
//! demands of it (no forbidden overflow, no shift that is too wide), its
//! descendants have to, too.
//!
//! **Invariant:** nothing here says that a behaviour is defined; only that none
//! of these found it not to be. docs/reduce.md lists what they cannot see.

use optsleuth_case::oracle::{Oracle, same_behaviour};
use optsleuth_model::{CodegenLevel, Edit, Emit, Execute, Execution, Outcome, RunRequest};

use super::judge::{Lane, Manner, Question, Tally};
use crate::TriageError;

/// What unused memory holds.
const FILLS: [u8; 3] = [0x00, 0xa5, 0x5a];

/// What the unoptimized program does; `None` where it does not end by itself,
/// or not as the case's own program does.
pub(super) fn reference(
    question: &Question,
    lane: &mut Lane<'_>,
    edit: Option<&Edit>,
    tally: &Tally,
) -> Result<Option<Execution>, TriageError> {
    let request = RunRequest { fill: Some(FILLS[0]), ..unoptimized(question, edit) };
    let Some(execution) = execution(lane, &request, tally)? else { return Ok(None) };
    let known = question.oracle.expected().map(Manner::of);
    Ok(known.is_none_or(|known| known == Manner::of(&execution)).then_some(execution))
}

/// Whether other executions of the unoptimized program do the same, and the
/// optimized one is wrong whatever unused memory holds.
pub(super) fn is_defined(
    question: &Question,
    lane: &mut Lane<'_>,
    edit: Option<&Edit>,
    oracle: &Oracle,
    tally: &Tally,
) -> Result<bool, TriageError> {
    let Some(expected) = oracle.expected() else { return Ok(false) };
    let ways =
        [(CodegenLevel::O0, FILLS[1]), (CodegenLevel::O2, FILLS[2]), (CodegenLevel::O2, FILLS[0])];
    for (codegen, fill) in ways {
        let request = RunRequest { codegen, fill: Some(fill), ..unoptimized(question, edit) };
        if !does(lane, &request, expected, tally)? {
            return Ok(false);
        }
    }
    if question.guarded && !keeps_promises(question, lane, edit, expected, tally)? {
        return Ok(false);
    }
    for fill in FILLS {
        let request = RunRequest {
            edit: edit.cloned(),
            fill: Some(fill),
            emit: Emit::Nothing,
            ..question.request.clone()
        };
        let result = tally.run(lane.worker, &request)?;
        if !result.is_some_and(|result| question.is_failure(oracle, &result.outcome)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether the program does the same when it is stopped where IR is undefined.
pub(super) fn keeps_promises(
    question: &Question,
    lane: &mut Lane<'_>,
    edit: Option<&Edit>,
    expected: &Execution,
    tally: &Tally,
) -> Result<bool, TriageError> {
    let request = RunRequest { guarded: true, ..unoptimized(question, edit) };
    does(lane, &request, expected, tally)
}

/// The same for programs that were linked and started as processes: slow, and
/// so only for what is kept.
pub(super) fn as_processes_too(
    question: &Question,
    lane: &mut Lane<'_>,
    oracle: &Oracle,
    tally: &Tally,
) -> Result<bool, TriageError> {
    let Some(expected) = oracle.expected() else { return Ok(false) };
    for codegen in [CodegenLevel::O0, CodegenLevel::O2] {
        let execute = Execute::AsProcess;
        let request = RunRequest { codegen, execute, ..unoptimized(question, None) };
        if !does(lane, &request, expected, tally)? {
            return Ok(false);
        }
    }
    let request =
        RunRequest { execute: Execute::AsProcess, emit: Emit::Nothing, ..question.request.clone() };
    let result = tally.run(lane.worker, &request)?;
    Ok(result.is_some_and(|result| question.is_failure(oracle, &result.outcome)))
}

fn unoptimized(question: &Question, edit: Option<&Edit>) -> RunRequest {
    RunRequest {
        edit: edit.cloned(),
        execute: Execute::InChild,
        limits: question.request.limits,
        ..RunRequest::new(None)
    }
}

fn does(
    lane: &mut Lane<'_>,
    request: &RunRequest,
    expected: &Execution,
    tally: &Tally,
) -> Result<bool, TriageError> {
    let execution = execution(lane, request, tally)?;
    Ok(execution.is_some_and(|execution| same_behaviour(&execution, expected)))
}

/// What a program did that ended by itself.
fn execution(
    lane: &mut Lane<'_>,
    request: &RunRequest,
    tally: &Tally,
) -> Result<Option<Execution>, TriageError> {
    let result = tally.run(lane.reference(), request)?;
    Ok(match result.map(|result| result.outcome) {
        Some(Outcome::Ok(Some(execution))) if Manner::of(&execution) != Manner::Limit => {
            Some(execution)
        }
        _ => None,
    })
}
