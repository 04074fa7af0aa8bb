//! `optsleuth bisect`: a case -> the invocations of passes that its failure
//! comes from.
//!
//! ```text
//! failing run ──► log of invocations ──► inquiry: which of them? ──► verdict
//!                                          │        ▲
//!                                          └ trials ┘  runs with some skipped
//! ```
//! `inquiry` decides, `trials` runs, `names` knows an invocation in another run
//! again, `verifiers` asks LLVM's own, `first_wrong` the referee, `authors` names
//! the code that made the change, and `single_pass` makes what can be reported.
//!
//! **Invariant:** what is found does not depend on the number of workers. Time
//! decides only whether it is found in full.

mod authors;
mod choices;
mod codegen_form;
mod first_wrong;
mod gcc;
mod inquiry;
mod ir_text;
mod names;
mod prefix;
mod single_pass;
mod trials;
mod verifiers;
mod wrong_value;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use optsleuth_case::driver::{FailingDriverCase, LoadedDriverCase};
use optsleuth_case::folder::{llvm_of, open_case};
use optsleuth_case::loaded::{FailingCase, LoadedCase, Reproduction, WorkerPlan};
use optsleuth_case::oracle::Verdict;
use optsleuth_case::workers::LlvmChoice;
use optsleuth_compiler::driver::{Driver, Family};
use optsleuth_compiler::llvm::Flavor;
use optsleuth_model::{
    BISECTION_VERSION, BisectedInvocation, Bisection, BisectionEnd, BisectionVerdict, Case,
    CaseKind, FirstWrongStep, IndexSet, Limits, Outcome, Progress, RunRequest, SinglePass,
    SinglePassForm, Stage, Trust, UnitChange,
};

use crate::TriageError;
use first_wrong::first_wrong;
pub use gcc::bisect_gcc;
use inquiry::{Findings, inquire};
pub(crate) use single_pass::single_pass;
use trials::{Halt, Trials, invocation_of, number_in};

/// What is to be bisected.
#[derive(Clone, Debug)]
pub struct BisectPlan {
    pub folder: PathBuf,
    pub trust: Trust,
    /// Another LLVM than the case's.
    pub llvm: Option<LlvmChoice>,
    /// For the failing run.
    pub limits: Limits,
    /// CPU time after which any other run counts as a hang, if the case does.
    pub candidate_time: Duration,
    /// Name the code of LLVM that made the culprit's change; that takes a worker
    /// with probes.
    pub authors: bool,
}

/// A bisection that takes longer ends with what it knows.
pub const BUDGET: Duration = Duration::from_secs(120);
/// What the referee gets at least, to name the first wrong step.
const REFEREE_TIME: Duration = Duration::from_secs(5);

/// Sees a case fail and bisects it.
pub fn bisect(plan: &BisectPlan, progress: &dyn Progress) -> Result<Bisection, TriageError> {
    let case = open_case(&plan.folder, plan.trust)?;
    if let Some(driver) = gcc_of(&case.case, plan.llvm.as_ref())? {
        let mut loaded = LoadedDriverCase::set_up(case, driver, plan.limits, progress)?;
        loaded.repeat_hangs_within(plan.candidate_time);
        let mut failing = FailingDriverCase::see(loaded, progress)?;
        return bisect_gcc(&mut failing, Instant::now() + BUDGET, progress);
    }
    let flavor = if plan.authors { Flavor::Covered } else { Flavor::Plain };
    let worker_plan = WorkerPlan { llvm: plan.llvm.as_ref(), flavor, n_workers: None };
    let mut loaded = LoadedCase::set_up(case, &worker_plan, plan.limits, progress)?;
    loaded.repeat_hangs_within(plan.candidate_time);
    let mut failing = FailingCase::see(loaded, progress)?;
    bisect_to_single_pass(&mut failing, Instant::now() + BUDGET, progress)
}

/// The gcc that a case is about; nothing for one of LLVM. A case of clang's driver has
/// no passes that can be skipped, and no driver can be taken for an LLVM.
pub fn gcc_of(case: &Case, llvm: Option<&LlvmChoice>) -> Result<Option<Driver>, TriageError> {
    let Some(driver) = Driver::of_case(&case.compiler) else { return Ok(None) };
    let driver = driver?;
    match driver.family {
        Family::Gcc if llvm.is_none() => Ok(Some(driver)),
        Family::Gcc | Family::Clang => match llvm_of(case) {
            Ok(_) => Ok(None),
            Err(error) => Err(error.into()),
        },
    }
}

/// Bisects a case that was seen to fail, and looks for its single-pass form.
pub fn bisect_to_single_pass(
    failing: &mut FailingCase,
    deadline: Instant,
    progress: &dyn Progress,
) -> Result<Bisection, TriageError> {
    let begun = Instant::now();
    let mut found = bisect_failing(failing, deadline, progress)?;
    found.single_pass = match found.ended {
        BisectionEnd::Complete | BisectionEnd::OutOfTime
            if codegen_form::is_wanted(failing, &found) =>
        {
            codegen_form::codegen_form(failing, &found, deadline, progress)?
        }
        BisectionEnd::Interrupted => {
            SinglePassForm::Missing { why: "it was interrupted".to_owned() }
        }
        BisectionEnd::Complete | BisectionEnd::OutOfTime => {
            match single_pass(failing, &found, deadline, progress)? {
                Ok(form) => SinglePassForm::Found(form),
                Err(why) => SinglePassForm::Missing { why },
            }
        }
    };
    if let SinglePassForm::Found(SinglePass { codegen: Some(_), .. }) = &found.single_pass {
        // What the passes do is needed, perhaps, but not wrong.
        found.verdict = BisectionVerdict::InCodegen;
    }
    found.seconds = begun.elapsed().as_secs_f64();
    Ok(found)
}

/// Bisects a case that was seen to fail. The single-pass form is for whoever
/// wants it to make afterwards.
pub fn bisect_failing(
    failing: &mut FailingCase,
    deadline: Instant,
    progress: &dyn Progress,
) -> Result<Bisection, TriageError> {
    let begun = Instant::now();
    let FailingCase { loaded, reproduction } = failing;
    let mut trials = Trials::open(loaded, reproduction, deadline, progress)?;
    let mut findings = Findings::default();
    let log = trials.log.clone();
    let inquired = inquire(&log, &mut trials, &mut findings);
    let ended = match inquired {
        Ok(()) => BisectionEnd::Complete,
        Err(Halt::OutOfTime) => BisectionEnd::OutOfTime,
        Err(Halt::Interrupted) => BisectionEnd::Interrupted,
        Err(Halt::Failed(error)) => return Err(error),
    };
    let verdict = match (in_machine_pass(&trials, reproduction, &findings), findings.needs_nothing)
    {
        (Some(verdict), _) => verdict,
        (None, true) => without_optional(&mut trials, reproduction)?,
        (None, false) => findings.verdict().unwrap_or(BisectionVerdict::Unfinished),
    };
    let mut invocations: Vec<BisectedInvocation> = log.iter().map(Into::into).collect();
    for (invocation, changed) in invocations.iter_mut().zip(&findings.changed) {
        invocation.changed = *changed;
    }
    let mut found = Bisection {
        version: BISECTION_VERSION,
        case: trials.loaded.case.case.id.clone(),
        llvm: trials.loaded.workers.install.version.clone(),
        kind: trials.loaded.case.case.kind.name().to_owned(),
        what: reproduction.what.clone(),
        passes: trials.loaded.request.passes.as_ref().map(ToString::to_string).unwrap_or_default(),
        commands: trials.loaded.commands(),
        invocations,
        certain_after: findings.certain_after,
        masked: findings.masked,
        needed: findings.needed,
        minimal: findings.minimal,
        verdict,
        first_wrong: FirstWrongStep::NotAsked,
        broken_earlier: None,
        change: None,
        single_pass: SinglePassForm::Missing { why: "it was not asked for".to_owned() },
        gcc: None,
        ended,
        runs: 0,
        seconds: 0.0,
    };
    if ended != BisectionEnd::Interrupted
        && let Some(guilty) = found.guilty()
    {
        // The referee is quick where the program itself never ends.
        trials.extend_by(REFEREE_TIME);
        if ended == BisectionEnd::Complete
            && trials.loaded.case.case.kind == CaseKind::Crash
            && !trials.template.machine_passes
        {
            progress.step("asking LLVM's own verifiers");
            found.broken_earlier = verifiers::broken_earlier(&mut trials, guilty)?;
        }
        let is_machine = trials.template.machine_passes;
        if let Some(end) = failing_length(trials.loaded.case.case.kind, guilty, &found)
            && !is_machine
        {
            found.first_wrong = first_wrong(&mut trials, end, &found.minimal)?;
            // LLVM may well fail on a program that is right.
            if trials.loaded.case.case.kind != CaseKind::WrongCode && found.first_wrong().is_none()
            {
                found.first_wrong = FirstWrongStep::NotAsked;
            }
        }
        let culprit = found.culprit().map_or(guilty, |culprit| culprit.index);
        if !is_machine {
            found.change = change(&mut trials, culprit)?;
        }
    }
    found.runs = trials.n_runs;
    found.seconds = begun.elapsed().as_secs_f64();
    Ok(found)
}

/// After how many invocations the program is known to be wrong, or LLVM to fail on
/// it, if the referee may know better.
fn failing_length(kind: CaseKind, guilty: u32, found: &Bisection) -> Option<u32> {
    let length = match kind {
        CaseKind::WrongCode => found.certain_after?.saturating_add(1),
        // What such an invocation fails on was made by those before it.
        CaseKind::Crash | CaseKind::InvalidIr => guilty,
        CaseKind::Hang | CaseKind::Memory | CaseKind::Codegen => return None,
    };
    (length > 0).then_some(length)
}

/// The machine pass in which LLVM fails, where machine passes are what is bisected:
/// most of them cannot be skipped, and the failure needs to be in none that can.
fn in_machine_pass(
    trials: &Trials<'_>,
    reproduction: &Reproduction,
    findings: &Findings,
) -> Option<BisectionVerdict> {
    let is_wrong = trials.loaded.case.case.kind == CaseKind::WrongCode;
    if !trials.template.machine_passes || is_wrong {
        return None;
    }
    // A code generator that refuses something says so in the last that it comes to.
    let said = invocation_of(&reproduction.first.outcome).or(trials.log.last())?;
    let invocation = said.index;
    let needs_also = findings.minimal.iter().copied().filter(|also| *also != invocation).collect();
    Some(BisectionVerdict::Guilty { invocation, needs_also })
}

/// Who is to blame where nothing that can be skipped is.
fn without_optional(
    trials: &mut Trials<'_>,
    reproduction: &Reproduction,
) -> Result<BisectionVerdict, TriageError> {
    let bare = RunRequest { passes: None, ..trials.template.clone() };
    let outcome = trials.run_one(&bare)?.outcome;
    if !bare.machine_passes && trials.oracle.judge(&outcome) == Verdict::Fails {
        return Ok(match is_generating(&outcome) {
            true => BisectionVerdict::InCodegen,
            false => BisectionVerdict::BeforeAnyPass,
        });
    }
    let required =
        RunRequest { skips: IndexSet::from(0), list_invocations: true, ..trials.template.clone() };
    let run = trials.run_one(&required)?;
    let place = invocation_of(&run.outcome).or(invocation_of(&reproduction.first.outcome));
    let number = place.and_then(|place| number_in(&trials.log, &run.invocations, place.index));
    Ok(BisectionVerdict::RequiredPass { invocation: number })
}

/// Whether a run without passes failed in making code, or with it.
fn is_generating(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Crash(crash) => crash.stage == Stage::Codegen,
        Outcome::CodegenFailure { .. } | Outcome::Ok(Some(_)) => true,
        // The module was read before, so what takes time is what comes after.
        Outcome::Timeout { .. } | Outcome::OutOfMemory { .. } => true,
        Outcome::Ok(None) | Outcome::InvalidIr { .. } => false,
    }
}

/// What an invocation did to the IR, in the failing run.
fn change(trials: &mut Trials<'_>, number: u32) -> Result<Option<UnitChange>, TriageError> {
    let Some(before) = trials.module_before(number, &IndexSet::none())? else { return Ok(None) };
    let after = trials.module_before(number + 1, &IndexSet::none())?;
    let place = usize::try_from(number).unwrap_or(usize::MAX);
    let unit = trials.log.get(place).map_or("module", |invocation| invocation.unit.as_str());
    let mut change = ir_text::unit_change(unit, &before, after.as_deref());
    if trials.loaded.workers.provisioned.flavor == Flavor::Covered {
        let found = trials.authorship(number, after.as_deref())?;
        change.authors = found.and_then(|found| authors::of_change(&change, &found));
    }
    Ok(Some(change))
}
