//! Does wrong code need C's rule that an object is accessed by its own type?
//!
//! clang's front end tells LLVM about it at every level but `O0`. The program is
//! compiled once more as it fails, with `-fno-strict-aliasing`. If that cures it,
//! the program most likely breaks the rule; LLVM may also use it wrongly. Only the
//! type sanitizer sees the one apart from the other, so its word counts.
//!
//! **Invariant:** the worker has the same program loaded before and after.

use optsleuth_compiler::llvm::{Install, Worker};
use optsleuth_compiler::{CompilerError, clang};
use optsleuth_model::{Checker, Definedness, Objection, ObjectionKind, Outcome, Said};

use super::{Asked, FailingRun};
use crate::CaseError;
use crate::oracle::same_behaviour;

const WITHOUT: &str = "-fno-strict-aliasing";

/// `None` where the rule plays no part: LLVM never hears of it.
pub(super) fn say(
    asked: &Asked<'_>,
    others: &Definedness,
    install: &Install,
    worker: &mut Worker,
) -> Result<Option<Said>, CaseError> {
    let Some(FailingRun { clang_flags, options, request }) = asked.failing else { return Ok(None) };
    if clang_flags.iter().any(|flag| flag == WITHOUT) {
        return Ok(None);
    }
    let flags = [clang_flags, &[WITHOUT.to_owned()]].concat();
    let program = match clang::read_program(install, asked.source, &flags) {
        Err(CompilerError::DoesNotCompile { .. }) => {
            return Ok(Some(Said::NoVerdict("clang does not compile the program so".to_owned())));
        }
        other => other?,
    };
    worker.load(&program, options, asked.limits)?;
    let outcome = worker.run(request).map(|result| result.outcome);
    if let Some((loaded, options)) = asked.loaded {
        worker.load(loaded, options, asked.limits)?;
    }
    let cured = matches!(outcome?, Outcome::Ok(Some(execution)) if same_behaviour(&execution, asked.expected));
    if !cured {
        return Ok(Some(Said::NothingFound));
    }
    let by_types = |answer: &&optsleuth_model::Answer| answer.who == Checker::TypeSanitizer;
    Ok(Some(match others.asked.iter().find(by_types).map(|answer| &answer.said) {
        Some(Said::NothingFound) => Said::NoVerdict(
            "it cures the program, though the type sanitizer finds nothing wrong with it: LLVM may \
             use the types of objects wrongly"
                .to_owned(),
        ),
        _ => Said::Objects(Objection::new(
            ObjectionKind::ProbablyUndefined,
            format!(
                "compiled with {WITHOUT}, the optimized program does what it should: it seems to \
                 access an object by another type than its own"
            ),
        )),
    }))
}
