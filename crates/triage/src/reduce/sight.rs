//! Does a changed program still fail as the case does, and is what it does
//! defined? One lane, one program -> the oracle that knows its failure.
//!
//! A reducer that only asks "does it still differ?" ends at programs that read
//! memory they never wrote: every compilation of those may differ, and none is
//! wrong. So for wrong code, a changed program's own unoptimized behaviour is what
//! it is measured by, several ways of executing it have to agree (see
//! [`optsleuth_case::definedness`]), and where the original program keeps what IR
//! demands of it, its descendants have to, too.

use optsleuth_case::definedness::{
    AS_PROCESS, BY_CODEGEN, BY_CODEGEN_AS_PROCESS, BY_CODEGEN_REFILLED, FILLS, Kept, PLAIN,
    Promises, REFILLED, Way, executed,
};
use optsleuth_case::oracle::{Oracle, Verdict};
use optsleuth_model::{CaseKind, Edit, Emit, Execute, Execution, Outcome, RunRequest};

use super::lane::{Lane, Tally};
use super::question::{Manner, Question};
use crate::TriageError;

/// The oracle for a changed program (the loaded one, or an edit of it), if that
/// fails as the case does.
pub(super) fn look_at_program(
    question: &Question,
    lane: &mut Lane<'_>,
    edit: Option<&Edit>,
    tally: &Tally,
) -> Result<Option<Oracle>, TriageError> {
    let request = RunRequest { edit: edit.cloned(), ..question.request.clone() };
    let Some(result) = tally.run(lane.worker, &request)? else { return Ok(None) };
    let mut oracle = question.oracle.clone();
    if oracle.kind() == CaseKind::WrongCode {
        // Without an end like the case's there is nothing to compare.
        let Outcome::Ok(Some(execution)) = &result.outcome else { return Ok(None) };
        if question.manner.is_some_and(|manner| manner != Manner::of(execution)) {
            return Ok(None);
        }
        let reference = by_itself(question, lane, edit, &PLAIN, None, tally)?;
        let known = question.oracle.expected().map(Manner::of);
        let surroundings = lane.reference().surroundings();
        let Some(expected) = reference
            .filter(|found| known.is_none_or(|known| known == Manner::of(found)))
            .filter(|found| surroundings.objection(found).is_none())
        else {
            return Ok(None);
        };
        oracle = oracle.expecting(expected);
    }
    if !question.is_failure(&oracle, &result.outcome)
        || !is_right_unmodified(&oracle, lane, &request, tally)?
    {
        return Ok(None);
    }
    if oracle.kind() == CaseKind::WrongCode && !is_defined(question, lane, edit, &oracle, tally)? {
        return Ok(None);
    }
    Ok(Some(oracle))
}

/// A case's fault is to blame only where the compiler without it does right.
pub(super) fn is_right_unmodified(
    oracle: &Oracle,
    lane: &mut Lane<'_>,
    request: &RunRequest,
    tally: &Tally,
) -> Result<bool, TriageError> {
    let Some(worker) = &mut lane.unmodified else { return Ok(true) };
    let request = RunRequest { coverage: false, ..request.clone() };
    let result = tally.run(worker, &request)?;
    Ok(result.is_some_and(|result| oracle.judge(&result.outcome) == Verdict::Passes))
}

/// Whether other executions of the unoptimized program do the same, and the
/// optimized one is wrong whatever unused memory holds.
fn is_defined(
    question: &Question,
    lane: &mut Lane<'_>,
    edit: Option<&Edit>,
    oracle: &Oracle,
    tally: &Tally,
) -> Result<bool, TriageError> {
    let Some(expected) = oracle.expected() else { return Ok(false) };
    for way in [REFILLED, BY_CODEGEN, BY_CODEGEN_REFILLED] {
        if by_itself(question, lane, edit, &way, Some(expected), tally)?.is_none() {
            return Ok(false);
        }
    }
    for fill in FILLS {
        let (edit, fill) = (edit.cloned(), Some(fill));
        let request = RunRequest { edit, fill, emit: Emit::Nothing, ..question.request.clone() };
        let result = tally.run(lane.worker, &request)?;
        // What it does wrong may depend on what memory holds; that it is wrong may not.
        if !result.is_some_and(|result| oracle.judge(&result.outcome) == Verdict::Fails) {
            return Ok(false);
        }
    }
    // The referee is slower than the machine, and comes last.
    match question.promises {
        Some(promises) => {
            Ok(keeps_promises(question, lane, edit, (promises, expected), tally)?.is_some())
        }
        None => Ok(true),
    }
}

/// Whether a program that does what is expected keeps what IR demands of it, and
/// who says so.
pub(super) fn keeps_promises(
    question: &Question,
    lane: &mut Lane<'_>,
    edit: Option<&Edit>,
    (promises, expected): (Promises, &Execution),
    tally: &Tally,
) -> Result<Option<Kept>, TriageError> {
    let limits = question.request.limits;
    let kept = tally.tried(|| Ok(promises.kept(lane.reference(), edit, expected, limits)?))?;
    Ok(kept.and_then(Result::ok))
}

/// Whether the loaded program fails as well when it is linked and started as a
/// process: slow, and so only for what is kept.
pub(super) fn fails_as_process(
    question: &Question,
    lane: &mut Lane<'_>,
    oracle: &Oracle,
    tally: &Tally,
) -> Result<bool, TriageError> {
    let Some(expected) = oracle.expected() else { return Ok(false) };
    for way in [AS_PROCESS, BY_CODEGEN_AS_PROCESS] {
        if by_itself(question, lane, None, &way, Some(expected), tally)?.is_none() {
            return Ok(false);
        }
    }
    let request =
        RunRequest { execute: Execute::AsProcess, emit: Emit::Nothing, ..question.request.clone() };
    let result = tally.run(lane.worker, &request)?;
    Ok(result.is_some_and(|result| question.is_failure(oracle, &result.outcome)))
}

/// What the unoptimized program does in one way; `None` where it does not end by
/// itself, or does something else than expected.
fn by_itself(
    question: &Question,
    lane: &mut Lane<'_>,
    edit: Option<&Edit>,
    way: &Way,
    expected: Option<&Execution>,
    tally: &Tally,
) -> Result<Option<Execution>, TriageError> {
    let request = way.request(edit, question.request.limits);
    let result = tally.run(lane.reference(), &request)?;
    Ok(result.and_then(|result| executed(way, result.outcome, expected).ok()))
}
