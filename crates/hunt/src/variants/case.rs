//! A failing program -> a case's folder, seen to fail, and what can be told of it:
//! the guilty pass, a smaller program.
//!
//! **Invariant:** a folder that is handed back holds a case that fails as it
//! says; nothing half written is ever under a finding's name.

use std::path::Path;
use std::time::Duration;

use fs_err as fs;
use optsleuth_case::CaseError;
use optsleuth_case::check::{CheckPlan, check};
use optsleuth_case::folder::open_case;
use optsleuth_case::write::write_case;
use optsleuth_compiler::driver::{Driver, Family};
use optsleuth_model::{
    Case, CaseKind, CheckReport, CheckStatus, CompilerSpec, Limits, Pipeline, Progress,
};
use optsleuth_triage::TriageError;
use optsleuth_triage::bisect::{BisectPlan, bisect};
use optsleuth_triage::reduce::{Part, ReducePlan, Reducer, Reducing, reduce};

use super::findings::Subject;
use super::seed::Deviation;
use super::testers::{Tester, Way, front_end_flags};
use crate::HuntError;

/// Where cases lie that the distribution's tools do not show.
const UNCONFIRMED: &str = "unconfirmed";
/// All repetitions of a hang but the first get this much CPU time.
const HANG: Duration = Duration::from_secs(2);
/// The program of a case.
const INPUT: &str = "program.c";

/// A case that fails as it says.
pub(super) struct Checked {
    pub(super) what: String,
    pub(super) confirmed: bool,
    pub(super) is_llvm: bool,
}

/// Writes a case that fails as it says. `Err` inside is why there is none;
/// its folder is gone then.
pub(super) fn checked_case(
    campaign: &Path,
    folder: &Path,
    tester: &Tester,
    subject: &Subject<'_>,
    text: &str,
    progress: &dyn Progress,
) -> Result<Result<Checked, String>, HuntError> {
    let mut why = "it does not fail outside of the hunt".to_owned();
    for case in cases(tester, subject) {
        remove(folder)?;
        write_case(folder, &case, text.as_bytes(), true)?;
        let is_llvm = matches!(case.compiler, CompilerSpec::Llvm(_) | CompilerSpec::LlvmConfig(_));
        let plan = CheckPlan {
            folder: folder.to_owned(),
            llvm: None,
            limits: Limits::STANDARD,
            confirm: is_llvm && case.fault.is_none(),
            repeat_hangs_within: Some(HANG),
        };
        let report = match check(&plan, progress) {
            Ok(report) => report,
            Err(error @ (CaseError::Io(_) | CaseError::Tool(_))) => return Err(error.into()),
            // Nobody has its archives, or it cannot be run in that way.
            Err(error) => {
                tracing::warn!(%error, "a case cannot be checked");
                why = format!("its case cannot be checked: {error}");
                continue;
            }
        };
        let CheckReport { status, what, confirmation, .. } = report;
        match status {
            CheckStatus::Reproduces => {}
            CheckStatus::Unstable => {
                why = "the program's behaviour is not defined".to_owned();
                continue;
            }
            CheckStatus::Flaky => {
                why = "it does not fail every time".to_owned();
                continue;
            }
            CheckStatus::Passes | CheckStatus::FailsOtherwise | CheckStatus::FailsUnmodified => {
                continue;
            }
        }
        let theirs = confirmation.as_ref().is_none_or(|theirs| theirs.agrees);
        if !theirs {
            why = "the distribution's own tools do not fail".to_owned();
            // What a driver shows, a case of the driver shows, too.
            if matches!(tester.way, Way::Driver(_)) {
                continue;
            }
            move_folder(folder, &campaign.join(UNCONFIRMED).join(short_hash(text)))?;
            return Ok(Err(why));
        }
        // A driver is nobody's tool but the distribution's.
        let confirmed = confirmation.is_some() || !is_llvm;
        return Ok(Ok(Checked { what, confirmed, is_llvm }));
    }
    remove(folder)?;
    Ok(Err(why))
}

/// Makes the case's program smaller.
pub(super) fn shrink(
    folder: &Path,
    budget: Duration,
    asker: &Path,
    progress: &dyn Progress,
) -> Result<(), HuntError> {
    let plan = ReducePlan {
        folder: folder.to_owned(),
        llvm: None,
        limits: Limits::STANDARD,
        again: false,
        how: Reducing {
            part: Part::Program,
            tool: Reducer::BuiltIn,
            budget: Some(budget),
            asker: asker.to_owned(),
        },
    };
    match reduce(&plan, progress) {
        Ok(_) => Ok(()),
        Err(error @ TriageError::Case(CaseError::Io(_))) => Err(error.into()),
        // It was seen to fail a moment ago; a smaller one is not to be had.
        Err(error) => {
            tracing::warn!(%error, "a finding's program could not be made smaller");
            Ok(())
        }
    }
}

/// The cases that a failure may be, the most useful first: what shows inside
/// LLVM can be bisected and localized.
fn cases(tester: &Tester, subject: &Subject<'_>) -> Vec<Case> {
    let Deviation { level, kind, mark, .. } = subject.deviation;
    let inside = |major: u32| (CompilerSpec::Llvm(major.to_string()), front_end_flags(*level));
    let (specs, fault) = match &tester.way {
        Way::Inside(llvm) => {
            // What clang's front end does shows in its driver alone.
            let driver = Driver::find(&format!("{}-{}", Family::Clang, llvm.install.major)).ok();
            let driver = driver.filter(|_| llvm.fault.is_none());
            let own = driver.map(|driver| (driver.spec(), Vec::new()));
            (std::iter::once(inside(llvm.install.major)).chain(own).collect(), llvm.fault.clone())
        }
        Way::Driver(driver) => {
            let own = (driver.spec(), Vec::new());
            let is_path = driver.name.contains('/');
            match driver.family {
                Family::Clang if !is_path => (vec![inside(driver.major), own], None),
                Family::Clang | Family::Gcc => (vec![own], None),
            }
        }
    };
    // Another crash is another bug. Of a worker, the mark may say where it was.
    let signature = match tester.way {
        Way::Driver(_) if *kind == CaseKind::Crash => {
            mark.split_once(": ").map(|(_, signature)| signature.to_owned())
        }
        Way::Driver(_) | Way::Inside(_) => None,
    };
    let strategy = match subject.generation.strategy {
        Some(strategy) => format!("a variant that {} made", strategy.name()),
        None => "the seed itself".to_owned(),
    };
    let expected = String::from_utf8_lossy(&subject.expected.stdout).trim().to_owned();
    let case = |(compiler, cflags): (CompilerSpec, Vec<String>)| Case {
        id: "examined".to_owned(),
        title: None,
        source: Some(format!("found by `optsleuth hunt --emi` on {}, {strategy}", subject.program)),
        compiler,
        fault: fault.clone(),
        input: INPUT.to_owned(),
        pipeline: Pipeline::Level(*level),
        flags: Vec::new(),
        cflags,
        kind: *kind,
        signature: signature.clone(),
        expected: (*kind == CaseKind::WrongCode).then(|| expected.clone()),
        observed: None,
        fails_in: vec![tester.version.clone()],
        fixed_in: None,
        truth: None,
    };
    specs.into_iter().map(case).collect()
}

/// The guilty pass, and its invocation in words.
pub(super) fn guilty(
    folder: &Path,
    progress: &dyn Progress,
) -> Result<Option<(String, String)>, HuntError> {
    let plan = BisectPlan {
        folder: folder.to_owned(),
        llvm: None,
        limits: Limits::STANDARD,
        candidate_time: HANG,
    };
    match bisect(&plan, progress) {
        Ok(bisection) => Ok(bisection
            .culprit()
            .map(|found| (found.pass.clone(), format!("{} on {}", found.pass, found.unit)))),
        Err(error @ TriageError::Case(CaseError::Io(_))) => Err(error.into()),
        Err(error) => {
            tracing::warn!(%error, "a finding could not be bisected");
            Ok(None)
        }
    }
}

/// Gives a case the name that its folder will have, and says what was seen.
pub(super) fn name_case(folder: &Path, id: &str, what: &str) -> Result<(), HuntError> {
    let opened = open_case(folder)?;
    let text = fs::read(opened.input())?;
    let said = Some(what.to_owned());
    let case = Case { id: id.to_owned(), title: said.clone(), observed: said, ..opened.case };
    write_case(folder, &case, &text, true)?;
    Ok(())
}

fn short_hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..8].to_owned()
}

/// How large a case's program is.
pub(super) fn size(folder: &Path) -> Result<u64, HuntError> {
    let input = open_case(folder)?.input();
    let data = fs::metadata(&input)?;
    Ok(data.len())
}

pub(super) fn remove(folder: &Path) -> Result<(), HuntError> {
    match fs::remove_dir_all(folder) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(source.into()),
        _ => Ok(()),
    }
}

pub(super) fn move_folder(from: &Path, to: &Path) -> Result<(), HuntError> {
    remove(to)?;
    let parent = to.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(parent)?;
    Ok(fs::rename(from, to)?)
}
