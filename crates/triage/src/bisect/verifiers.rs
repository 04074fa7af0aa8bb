//! LLVM's own verifiers, before a crash: an earlier pass may have broken the
//! IR or an analysis that a later one trips over.
//!
//! **Invariant:** a verifier that an LLVM does not have is left out, and the
//! case's own program is loaded again afterwards.

use optsleuth_case::oracle::{Verdict, describe};
use optsleuth_compiler::CompilerError;
use optsleuth_model::{BrokenEarlier, Outcome, RunRequest};

use super::trials::{Trials, invocation_of};
use crate::TriageError;

/// The IR's own verifier, after every pass.
const VERIFY_EACH: &str = "verify-each";
/// Options that make LLVM look at its analyses. Without assertions, some of
/// them do nothing.
const OPTIONS: [&str; 6] = [
    "-verify-dom-info",
    "-verify-loop-info",
    "-verify-memoryssa",
    "-verify-scev",
    "-verify-cfg-preserved",
    "-verify-analysis-invalidation",
];

/// The earliest invocation before `guilty` after which a verifier complains;
/// of several verifiers, the first.
pub(super) fn broken_earlier(
    trials: &mut Trials<'_>,
    guilty: u32,
) -> Result<Option<BrokenEarlier>, TriageError> {
    let verified = RunRequest { verify_each: true, ..trials.template.clone() };
    let result = trials.run_one(&verified)?;
    let mut earliest = complaint(trials, VERIFY_EACH, &result.outcome, guilty);
    for option in OPTIONS {
        let program = trials.loaded.program.clone();
        match trials.loaded.load(&program, &[option.to_owned()]) {
            Err(CompilerError::BadOptions(_)) => continue,
            other => other?,
        }
        let result = trials.run_one(&trials.template.clone())?;
        let limit = earliest.as_ref().map_or(guilty, |found| found.invocation);
        let found = complaint(trials, option.trim_start_matches('-'), &result.outcome, limit);
        earliest = found.or(earliest);
    }
    trials.restore()?;
    Ok(earliest)
}

/// What a verifier says, if it says something about an invocation before
/// `limit`.
fn complaint(
    trials: &Trials<'_>,
    verifier: &str,
    outcome: &Outcome,
    limit: u32,
) -> Option<BrokenEarlier> {
    let invocation = invocation_of(outcome)?.index;
    let message = match outcome {
        Outcome::InvalidIr { message, .. } => message.clone(),
        Outcome::Crash(crash) if trials.oracle.judge(outcome) != Verdict::Fails => {
            crash.message.clone().unwrap_or_else(|| describe(outcome))
        }
        Outcome::Ok(_)
        | Outcome::Crash(_)
        | Outcome::Timeout { .. }
        | Outcome::OutOfMemory { .. }
        | Outcome::CodegenFailure { .. } => return None,
    };
    let message = message.lines().next().unwrap_or_default().to_owned();
    (invocation < limit).then(|| BrokenEarlier {
        verifier: verifier.to_owned(),
        invocation,
        message,
    })
}
