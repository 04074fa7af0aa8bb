//! A case of gcc -> the invocations of passes that its failure comes from: the same
//! inquiry as for LLVM, on the distribution's own compiler.
//!
//! ```text
//! access: plug-in or options ──► trials: compilations with some skipped ──► inquiry
//!                 required: what cannot be skipped ┘                          │
//!                              counters: the single transformation ◄──────────┘
//! ```
//! **Invariant:** what is found does not depend on the number of workers. A gcc that
//! fails in another way because a pass was skipped neither fails nor passes.

mod access;
mod counters;
mod pass_files;
mod required;
mod trials;

use std::time::Instant;

use optsleuth_case::driver::FailingDriverCase;
use optsleuth_model::{
    BISECTION_VERSION, BisectedInvocation, Bisection, BisectionEnd, BisectionVerdict, CaseKind,
    FirstWrongStep, GccBisection, IndexSet, Progress, SinglePassForm, UnitChange,
};

use super::inquiry::{Findings, inquire};
use super::trials::{Halt, number_in};
use crate::TriageError;
use access::Access;
use pass_files::files_of;
use trials::GccTrials;

/// Bisects a case of gcc that was seen to fail.
pub fn bisect_gcc(
    failing: &mut FailingDriverCase,
    deadline: Instant,
    progress: &dyn Progress,
) -> Result<Bisection, TriageError> {
    let begun = Instant::now();
    let FailingDriverCase { loaded, reproduction } = failing;
    let (access, by) = Access::find(&loaded.tested)?;
    let version = loaded.tested.driver.verbose_version()?;
    let uses = loaded.driver_use()?;
    let (case, llvm) = (loaded.case.case.id.clone(), loaded.tested.driver.version.clone());
    let (kind, major) = (loaded.case.case.kind, loaded.tested.driver.major);
    let mut trials = GccTrials::open(loaded, reproduction, access, deadline, progress)?;
    let mut findings = Findings::default();
    let inquired = trials.learn_required().and_then(|()| {
        let log = trials.log.clone();
        inquire(&log, &mut trials, &mut findings)
    });
    let mut ended = end_of(inquired)?;
    let verdict = match findings.needs_nothing {
        true => without_optional(&mut trials)?,
        false => findings.verdict().unwrap_or(BisectionVerdict::Unfinished),
    };
    let mut invocations: Vec<BisectedInvocation> = trials.log.iter().map(Into::into).collect();
    for (invocation, changed) in invocations.iter_mut().zip(&findings.changed) {
        invocation.changed = *changed;
    }
    let mut found = Bisection {
        version: BISECTION_VERSION,
        case,
        llvm,
        kind: kind.name().to_owned(),
        what: reproduction.what.clone(),
        passes: format!("-{}", uses.level.name()),
        commands: uses.commands,
        invocations,
        certain_after: findings.certain_after,
        masked: findings.masked,
        needed: findings.needed,
        minimal: findings.minimal,
        verdict,
        first_wrong: FirstWrongStep::NotAsked,
        broken_earlier: None,
        change: None,
        single_pass: SinglePassForm::Missing { why: "gcc runs no pass by itself".to_owned() },
        gcc: None,
        ended,
        runs: 0,
        seconds: 0.0,
    };
    let mut transformations = Vec::new();
    if let Some(guilty) = found.guilty().filter(|_| ended != BisectionEnd::Interrupted) {
        found.change = change(&mut trials, guilty)?;
        if ended == BisectionEnd::Complete && kind != CaseKind::Hang {
            progress.step("looking for the single transformation");
            ended = end_of(counters::find(&mut trials, &mut transformations))?;
        }
    }
    let files = found.culprit().map(|culprit| files_of(&culprit.pass, major)).unwrap_or_default();
    found.gcc = Some(GccBisection { by, version, files, transformations });
    found.ended = ended;
    found.runs = trials.n_runs;
    found.seconds = begun.elapsed().as_secs_f64();
    Ok(found)
}

fn end_of(result: Result<(), Halt>) -> Result<BisectionEnd, TriageError> {
    match result {
        Ok(()) => Ok(BisectionEnd::Complete),
        Err(Halt::OutOfTime) => Ok(BisectionEnd::OutOfTime),
        Err(Halt::Interrupted) => Ok(BisectionEnd::Interrupted),
        Err(Halt::Failed(error)) => Err(error),
    }
}

/// Who is to blame where nothing that can be skipped is.
fn without_optional(trials: &mut GccTrials<'_>) -> Result<BisectionVerdict, TriageError> {
    if trials.log.is_empty() {
        return Ok(BisectionVerdict::BeforeAnyPass);
    }
    let run = trials.run_one(&IndexSet::from(0))?;
    let invocation = run.failed_in().and_then(|number| number_in(&trials.log, &run.log, number));
    Ok(BisectionVerdict::RequiredPass { invocation })
}

/// What an invocation did to its function, in the failing run.
fn change(trials: &mut GccTrials<'_>, number: u32) -> Result<Option<UnitChange>, TriageError> {
    let (before, after) = trials.printed(number)?;
    Ok(before.map(|before| UnitChange { before, after, authors: None }))
}
