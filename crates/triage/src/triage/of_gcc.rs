//! The triage of a failure of gcc: confirmed, reduced, bisected, ranked.
//!
//! ```text
//! program ──► case ──► smaller program ──► guilty pass and function ──► report
//! ```
//! gcc's own files are ranked where a gcc with probes was provisioned.
//!
//! **Invariant:** a folder is made only of something that was seen to fail, and of a
//! program whose behaviour is defined where that decides.

use std::path::{Path, PathBuf};
use std::time::Instant;

use fs_err as fs;
use optsleuth_case::CaseError;
use optsleuth_case::driver::{FailingDriverCase, LoadedDriverCase};
use optsleuth_case::folder::{
    forget, open_case, save_bisection, save_definedness, save_localization, surroundings,
};
use optsleuth_case::write::{is_free, write_case_with};
use optsleuth_compiler::driver::{Compiled, Driver, Family};
use optsleuth_compiler::workdir::Workdir;
use optsleuth_model::{
    Bisection, Case, CaseFolder, CaseKind, CheckStatus, Conditions, Limits, Localization, OptLevel,
    Pipeline, Progress, Reduction, Triage, Trust,
};

use super::budget::{Budget, Step};
use super::open::{includes_of_user, written_with};
use super::{Steps, TriagePlan};
use crate::TriageError;
use crate::bisect::bisect_gcc;
use crate::covered_gcc::{CoveredGcc, covered_cc1};
use crate::culprit::{CULPRIT, CulpritPlan, find_culprit_of_gcc};
use crate::localize::Stop;
use crate::reduce::{Part, Reducing, reduce_driver, restore_original};

/// A program that is said to make a gcc fail.
#[derive(Clone, Debug)]
pub struct GccSuspicion {
    /// A `.c` file.
    pub program: PathBuf,
    /// As in `gcc-12`.
    pub gcc: String,
    pub level: OptLevel,
    /// Its other flags.
    pub flags: Vec<String>,
    /// What the program gets when it is executed; its paths are the user's.
    pub conditions: Conditions,
    /// Whether a script that judges the program runs without a fence.
    pub trust: Trust,
    /// Where the case's folder is to be.
    pub folder: PathBuf,
    /// A case that is there may go.
    pub force: bool,
}

/// Triages a case of gcc that is in its folder.
pub(super) fn triage_case(
    plan: &TriagePlan,
    case: CaseFolder,
    driver: Driver,
    progress: &dyn Progress,
) -> Result<Triage, TriageError> {
    let begun = Instant::now();
    let mut loaded = LoadedDriverCase::set_up(case, driver, plan.limits, progress)?;
    loaded.repeat_hangs_within(plan.candidate_time);
    let failing = FailingDriverCase::see(loaded, progress)?;
    triage_failing(plan, failing, begun, progress)
}

/// Makes a case of a program, and triages it.
pub(super) fn triage_program(
    plan: &TriagePlan,
    suspicion: &GccSuspicion,
    progress: &dyn Progress,
) -> Result<Triage, TriageError> {
    let begun = Instant::now();
    let mut failing = open(suspicion, plan.limits, progress)?;
    failing.loaded.repeat_hangs_within(plan.candidate_time);
    triage_failing(plan, failing, begun, progress)
}

fn triage_failing(
    plan: &TriagePlan,
    mut failing: FailingDriverCase,
    begun: Instant,
    progress: &dyn Progress,
) -> Result<Triage, TriageError> {
    // A part of something larger cannot be made smaller without breaking that.
    let is_part = failing.loaded.case.case.execution.unlinked;
    let budget = Budget::begin(plan.budget, false, !is_part);
    let mut steps =
        Steps { plan, progress, budget, asserting: None, notes: Vec::new(), seconds: Vec::new() };
    steps.took("check", begun);
    let CaseFolder { folder, trust, .. } = failing.loaded.case.clone();
    forget(&failing.loaded.case, CULPRIT)?;
    let reduction = match is_part {
        true => None,
        false => {
            let reduced = steps.attempt("reduce", |steps| {
                let how = Reducing {
                    part: Part::Program,
                    tool: plan.reducer,
                    budget: Some(steps.budget.of(Step::Reduce)),
                    callback_binary: plan.callback_binary.clone(),
                };
                Ok(reduce_driver(&mut failing.loaded, &how, progress)?.reduction)
            });
            steps.timed("check", |steps| reopen(steps, &mut failing, &folder, trust))?;
            reduced
        }
    };
    save_definedness(&failing.loaded.case, &failing.reproduction.definedness)?;
    // Of clang's driver, only the front end comes here.
    if failing.loaded.tested.driver.family == Family::Clang {
        return concluded(steps, &failing, &folder, reduction, None, None);
    }
    let bisection = steps.attempt("bisect", |steps| {
        let deadline = steps.budget.end() - steps.budget.of(Step::Rank);
        let found = bisect_gcc(&mut failing, deadline, progress)?;
        save_bisection(&failing.loaded.case, &found)?;
        Ok(found)
    });
    let localization = steps.attempt("rank", |steps| {
        let cc1 = covered_cc1(&failing.loaded.tested.driver)?;
        let gcc = CoveredGcc::see(&mut failing, cc1, bisection.as_ref(), progress)?;
        let stop = Stop { budget: Some(steps.budget.of(Step::Rank)), ..Stop::default() };
        let how = CulpritPlan { seed: plan.seed, stop };
        let found = find_culprit_of_gcc(&mut failing, &gcc, &how, progress)?;
        save_localization(&failing.loaded.case, &found)?;
        Ok(found)
    });
    concluded(steps, &failing, &folder, reduction, bisection, localization)
}

/// What is known now.
fn concluded(
    steps: Steps<'_>,
    failing: &FailingDriverCase,
    folder: &Path,
    reduction: Option<Reduction>,
    bisection: Option<Bisection>,
    localization: Option<Localization>,
) -> Result<Triage, TriageError> {
    let case = open_case(folder, failing.loaded.case.trust)?;
    Ok(Triage {
        check: failing.report()?,
        program: Some(String::from_utf8_lossy(&fs::read(case.input())?).into_owned()),
        case,
        reduction,
        bisection,
        single: None,
        localization,
        in_front_end: failing.loaded.tested.driver.family == Family::Clang,
        notes: steps.notes,
        interrupted: steps.progress.stop_requested(),
        seconds: steps.seconds,
    })
}

/// Goes on with the case as it is in its folder now; with the original, where that
/// does not fail.
fn reopen(
    steps: &mut Steps<'_>,
    failing: &mut FailingDriverCase,
    folder: &Path,
    trust: Trust,
) -> Result<(), TriageError> {
    match failing.reopen(open_case(folder, trust)?, steps.progress) {
        Err(CaseError::NotReproduced { what, .. }) => {
            steps.notes.push(format!("reduce: what was reduced does not fail always: {what}"));
            restore_original(&open_case(folder, trust)?)?;
            Ok(failing.reopen(open_case(folder, trust)?, steps.progress)?)
        }
        other => Ok(other?),
    }
}

/// Makes a case of a program that fails; it is written when it was seen to.
fn open(
    suspicion: &GccSuspicion,
    limits: Limits,
    progress: &dyn Progress,
) -> Result<FailingDriverCase, TriageError> {
    is_free(&suspicion.folder, suspicion.force)?;
    let driver = Driver::find(&suspicion.gcc)?;
    progress.step("looking for the failure");
    let (kind, observed) = observe(suspicion, &driver, limits)?;
    let text = fs::read(&suspicion.program)?;
    let includes = includes_of_user(&String::from_utf8_lossy(&text), &suspicion.flags);
    let name = suspicion.folder.file_name().unwrap_or_default().to_string_lossy();
    let input = suspicion.program.file_name().unwrap_or_default().to_string_lossy();
    let (execution, copies) = suspicion.conditions.for_case();
    let mut cflags = suspicion.flags.clone();
    let text = match kind {
        // Another compiler reads it, too, and takes other parts of the system's headers.
        CaseKind::WrongCode => {
            cflags.extend(beside(&suspicion.program).into_iter().filter(|_| includes).flatten());
            text
        }
        _ if includes => driver.preprocess(&suspicion.program, &suspicion.flags)?.into_bytes(),
        _ => text,
    };
    let mut case = Case {
        id: name.into_owned(),
        title: None,
        source: None,
        compiler: driver.spec(),
        fault: None,
        front_end: None,
        input: input.into_owned(),
        pipeline: Pipeline::Level(suspicion.level),
        flags: Vec::new(),
        cflags,
        kind,
        signature: None,
        expected: None,
        observed,
        fails_in: Vec::new(),
        fixed_in: None,
        execution,
        truth: None,
    };
    // Seen to fail elsewhere first.
    let beside = Workdir::new().map_err(CaseError::from)?;
    let place = beside.file("case");
    write_case_with(&place, &case, &text, &copies, false)?;
    let trust = written_with(suspicion.trust);
    let opened = open_case(&place, trust)?;
    let loaded = LoadedDriverCase::set_up(opened, driver, limits, progress)?;
    let mut failing = FailingDriverCase::see(loaded, progress).map_err(|error| match error {
        CaseError::NotReproduced { status, what } => TriageError::NoFailure { status, what },
        other => other.into(),
    })?;
    case.observed.get_or_insert(failing.reproduction.what.clone());
    write_case_with(&suspicion.folder, &case, &text, &copies, suspicion.force)?;
    let case = open_case(&suspicion.folder, trust)?;
    failing.loaded.fence.pool.surround(surroundings(&case)?);
    failing.loaded.case = case;
    Ok(failing)
}

/// Where the user's own headers are: they lie beside the program, and not in the case.
fn beside(program: &Path) -> Option<[String; 2]> {
    let program = std::path::absolute(program).ok()?;
    Some(["-iquote".to_owned(), program.parent()?.display().to_string()])
}

/// How gcc fails on a program; where it does not, the program has to be looked at.
fn observe(
    suspicion: &GccSuspicion,
    driver: &Driver,
    limits: Limits,
) -> Result<(CaseKind, Option<String>), TriageError> {
    let GccSuspicion { program, level, flags, conditions, .. } = suspicion;
    let flags = &[&flags[..], &conditions.link_words()].concat();
    let folder = Workdir::new().map_err(CaseError::from)?;
    let compile = |flags: &[String], name: &str| {
        driver.compile(program, *level, flags, &folder.file(name), limits)
    };
    let passes = |what: String| Err(TriageError::NoFailure { status: CheckStatus::Passes, what });
    match compile(flags, "program")? {
        Compiled::Crash(crash) => Ok((CaseKind::Crash, Some(crash.signature.to_string()))),
        Compiled::Hang => Ok((CaseKind::Hang, None)),
        Compiled::Memory => Ok((CaseKind::Memory, None)),
        Compiled::Program => Ok((CaseKind::WrongCode, None)),
        Compiled::Refused(why) => {
            let flags: Vec<String> = flags.iter().cloned().chain(["-S".to_owned()]).collect();
            match compile(&flags, "assembly")? {
                Compiled::Program => passes(
                    "gcc compiles it without complaint, and this is no program that can be executed"
                        .to_owned(),
                ),
                _ => passes(format!("gcc does not take the program: {why}")),
            }
        }
    }
}
