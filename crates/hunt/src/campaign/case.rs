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
use optsleuth_compiler::CompilerError;
use optsleuth_model::{
    Case, CheckReport, CheckStatus, CompilerSpec, Limits, Progress, ReduceReport, Trust,
};
use optsleuth_triage::TriageError;
use optsleuth_triage::bisect::{BisectPlan, bisect};
use optsleuth_triage::reduce::{Part, ReducePlan, Reducer, Reducing, reduce};

use super::dedup::pass_of;
use crate::HuntError;

/// All repetitions of a hang but the first get this much CPU time.
const HANG: Duration = Duration::from_secs(2);

/// A hunt wrote its cases itself. What it was told is trusted before it begins.
const OWN: Trust = Trust::Author;

/// A case that fails as it says.
pub(super) struct Confirmed {
    pub(super) what: String,
    /// Whether its compiler's passes can be left out: LLVM's and gcc's.
    pub(super) has_passes: bool,
    /// Whether tools that are not ours fail, too: those of the distribution, or
    /// the driver that the case is about.
    pub(super) by_others: bool,
}

/// Writes the first of some cases that fails as it says, and that the
/// distribution's tools show, too, where they can. `Err` inside is why there is
/// none; its folder is gone then. One that only our workers show is kept in
/// `unconfirmed`.
pub(super) fn confirm_or_discard(
    folder: &Path,
    unconfirmed: &Path,
    cases: &[Case],
    text: &[u8],
    progress: &dyn Progress,
) -> Result<Result<Confirmed, String>, HuntError> {
    let mut why = "it does not fail outside of the hunt".to_owned();
    let mut ours_alone = None;
    for case in cases {
        remove(folder)?;
        write_case(folder, case, text, true)?;
        let is_llvm = matches!(case.compiler, CompilerSpec::Llvm(_) | CompilerSpec::LlvmConfig(_));
        // No distribution has an LLVM that is broken on purpose.
        let confirm = is_llvm && case.fault.is_none();
        let plan = CheckPlan {
            folder: folder.to_owned(),
            trust: OWN,
            llvm: None,
            limits: Limits::STANDARD,
            confirm,
            repeat_hangs_within: Some(HANG),
        };
        let report = match check(&plan, progress) {
            Ok(report) => report,
            Err(
                error @ (CaseError::Io(_)
                | CaseError::Compiler(
                    CompilerError::ToolStart { .. } | CompilerError::ToolFailed { .. },
                )),
            ) => return Err(error.into()),
            Err(CaseError::NoReference { .. }) => continue,
            // Its archives are not installed, or it cannot be run in that way.
            Err(error) => {
                tracing::warn!(%error, "a case cannot be checked");
                why = format!("its case cannot be checked: {error}");
                continue;
            }
        };
        let CheckReport { status, what, confirmation, .. } = report;
        match status {
            CheckStatus::Reproduces if confirm && !confirmation.is_some_and(|it| it.agrees) => {
                why = "the distribution's own tools do not fail".to_owned();
                ours_alone = Some(case);
            }
            CheckStatus::Reproduces => {
                let by_others = confirm || !is_llvm;
                let is_gcc = matches!(case.compiler, CompilerSpec::Gcc(_));
                return Ok(Ok(Confirmed { what, has_passes: is_llvm || is_gcc, by_others }));
            }
            CheckStatus::Unstable => why = "the program's behaviour is not defined".to_owned(),
            CheckStatus::Flaky => why = "it does not fail every time".to_owned(),
            CheckStatus::Passes | CheckStatus::FailsOtherwise | CheckStatus::FailsUnmodified => {}
        }
    }
    remove(folder)?;
    if let Some(case) = ours_alone {
        remove(unconfirmed)?;
        write_case(unconfirmed, case, text, true)?;
    }
    Ok(Err(why))
}

/// Gives a case the name that its folder will have, and says what was seen.
pub(super) fn name_case(folder: &Path, id: &str, what: &str) -> Result<(), HuntError> {
    let opened = open_case(folder, OWN)?;
    let text = fs::read(opened.input())?;
    let case = Case { id: id.to_owned(), observed: Some(what.to_owned()), ..opened.case };
    write_case(folder, &case, &text, true)?;
    Ok(())
}

/// Makes the case's program smaller; `None` if that does not succeed.
pub(super) fn reduce_program(
    folder: &Path,
    budget: Duration,
    callback_binary: &Path,
    progress: &dyn Progress,
) -> Result<Option<ReduceReport>, HuntError> {
    let plan = ReducePlan {
        folder: folder.to_owned(),
        trust: OWN,
        llvm: None,
        limits: Limits::STANDARD,
        again: false,
        how: Reducing {
            part: Part::Program,
            tool: Reducer::BuiltIn,
            budget: Some(budget),
            callback_binary: callback_binary.to_owned(),
        },
    };
    unless_it_fails(reduce(&plan, progress), "a finding's program could not be made smaller")
}

/// The guilty pass as keys have it, and its invocation in words.
pub(super) fn guilty(
    folder: &Path,
    progress: &dyn Progress,
) -> Result<Option<(String, String)>, HuntError> {
    let plan = BisectPlan {
        folder: folder.to_owned(),
        trust: OWN,
        llvm: None,
        limits: Limits::STANDARD,
        candidate_time: HANG,
        authors: false,
    };
    let bisection = unless_it_fails(bisect(&plan, progress), "a finding could not be bisected")?;
    Ok(bisection.and_then(|bisection| {
        let found = bisection.culprit()?;
        Some((pass_of(&bisection, found), format!("{} on {}", found.pass, found.unit)))
    }))
}

/// The result of a step without which a finding is one all the same. Only a
/// folder that cannot be written ends the hunt.
fn unless_it_fails<T>(
    result: Result<T, TriageError>,
    what: &'static str,
) -> Result<Option<T>, HuntError> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error @ TriageError::Case(CaseError::Io(_))) => Err(error.into()),
        Err(error) => {
            tracing::warn!(%error, "{what}");
            Ok(None)
        }
    }
}

/// How large a case's program is.
pub(super) fn size(folder: &Path) -> Result<u64, HuntError> {
    Ok(fs::metadata(open_case(folder, OWN)?.input())?.len())
}

pub(super) fn remove(folder: &Path) -> Result<(), HuntError> {
    match fs::remove_dir_all(folder) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(source.into()),
        _ => Ok(()),
    }
}

pub(super) fn move_folder(from: &Path, to: &Path) -> Result<(), HuntError> {
    remove(to)?;
    fs::create_dir_all(to.parent().unwrap_or(Path::new(".")))?;
    Ok(fs::rename(from, to)?)
}

/// Copies files and folders; what is neither, such as a link, stays where it is.
pub(super) fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (place, kind) = (to.join(entry.file_name()), entry.file_type()?);
        if kind.is_dir() {
            copy_folder(&entry.path(), &place)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &place)?;
        }
    }
    Ok(())
}
