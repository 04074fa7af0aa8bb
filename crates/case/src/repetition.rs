//! Several runs of the same -> one answer. Workers and drivers are judged alike.

use optsleuth_model::{Case, CaseKind, CheckStatus};

use crate::oracle::{Oracle, Verdict};

/// How often a failure has to show.
pub const REPETITIONS: usize = 5;

/// What all repetitions together show; `said` is each in words.
pub fn conclude(oracle: &Oracle, said: &[String], verdicts: &[Verdict]) -> (CheckStatus, String) {
    if let Some(other) = verdicts.iter().position(|verdict| *verdict != verdicts[0]) {
        let n_failing = verdicts.iter().filter(|verdict| **verdict == Verdict::Fails).count();
        let what = format!(
            "of {} repetitions {n_failing} fail as the case does; once: {}; another time: {}",
            verdicts.len(),
            said[0],
            said[other],
        );
        return (CheckStatus::Flaky, what);
    }
    let status = match verdicts[0] {
        Verdict::Fails => CheckStatus::Reproduces,
        Verdict::Passes => CheckStatus::Passes,
        Verdict::Other => CheckStatus::FailsOtherwise,
    };
    let varies = said.iter().any(|other| *other != said[0]);
    let what = match oracle.expected_output().filter(|_| varies) {
        // What changes from run to run is no part of a result.
        Some(expected) => {
            format!("the program does not print `{}`; what it prints varies", expected.trim())
        }
        None => said[0].clone(),
    };
    (status, what)
}

/// A case that expects another output than the unoptimized program's.
pub fn unexpected_output(case: &Case, oracle: &Oracle) -> Option<String> {
    let expected = case.expected.as_ref().filter(|_| case.kind == CaseKind::WrongCode)?;
    let printed = oracle.expected_output()?;
    (expected.trim() != printed.trim()).then(|| {
        format!("the case expects `{}`, the unoptimized program prints otherwise", expected.trim())
    })
}
