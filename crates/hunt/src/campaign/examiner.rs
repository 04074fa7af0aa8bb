//! A deviation -> a finding with a case's folder, a duplicate, or neither.
//!
//! ```text
//! deviation ──► fails again? ──► less of what triggers it ──► known key? ──► case
//!    finding ◄── moved to cases/ ◄── smaller program ◄── known key? ◄── guilty pass ◄┘ checked
//! ```
//! Duplicates are recognized as early as they can be, because every later step
//! takes longer.
//!
//! **Invariant:** a finding was seen to fail five times as a case, on a program
//! whose behaviour is defined as far as can be told. What does not get that far is
//! counted, with the reason.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use optsleuth_model::{Case, CaseKind, Finding, Progress, Trigger};

use super::case::{
    confirm_or_discard, copy_folder, guilty, move_folder, name_case, reduce_program, remove, size,
};
use super::dedup::DedupKey;
use super::plan::HuntPlan;
use super::store::{Deviation, Fate, Store, TestId};
use crate::HuntError;

/// The folder for cases, in the campaign's.
const CASES: &str = "cases";
/// Where a case is until it is a finding's.
const EXAMINED: &str = "examined";
/// Where cases lie that only our own workers show.
const UNCONFIRMED: &str = "unconfirmed";

/// What makes a compiler fail, and how to take away what is not needed for it:
/// passes of a sequence, snippets of a variant.
pub(crate) trait Reproducer {
    /// Runs it again, and takes away what the failure does not need.
    fn minimize(&mut self, progress: &dyn Progress) -> Result<Minimized, HuntError>;

    /// What takes more runs, asked once it is no duplicate: why it is no bug, or
    /// more about it.
    fn vet(&mut self, _: &mut Minimal, _: &dyn Progress) -> Result<Option<String>, HuntError> {
        Ok(None)
    }
}

/// What came of taking away.
#[derive(Debug)]
pub(crate) enum Minimized {
    Minimal(Box<Minimal>),
    /// It shows this finding.
    Duplicate(u64),
    /// It is nothing that could be reported, and why.
    Dismissed(String),
}

/// A failure with as little as it takes.
#[derive(Debug)]
pub(crate) struct Minimal {
    /// As far as the run says it.
    pub(crate) key: DedupKey,
    /// The end of the case's name: a pass, a compiler and a level.
    pub(crate) name: String,
    /// The program's text.
    pub(crate) text: Vec<u8>,
    /// The cases it may be, the most useful first.
    pub(crate) cases: Vec<Case>,
    /// The levels at which the program fails in the same way.
    pub(crate) levels: Vec<String>,
    /// Whether every run takes all of its time. What needs many is left to triage
    /// then.
    pub(crate) is_slow: bool,
    pub(crate) trigger: Trigger,
}

/// Makes findings of deviations.
#[derive(Debug)]
pub(crate) struct Examiner {
    /// The campaign's folder.
    folder: PathBuf,
    /// How long programs of findings are made smaller.
    reduce: Option<Duration>,
    /// See [`HuntPlan::callback_binary`].
    callback_binary: PathBuf,
    /// All keys, with their findings.
    keys: BTreeMap<String, u64>,
}

/// What came of a deviation.
#[derive(Debug)]
pub(crate) enum Examined {
    /// A finding that is known, of this kind.
    Duplicate(u64, CaseKind),
    /// Nothing that could be reported, and why.
    Dismissed(String),
    /// Something new, and its key.
    New(String, Box<Finding>),
    /// There is no more time.
    Interrupted,
}

impl Examiner {
    pub(crate) fn new<Recipe>(
        plan: &HuntPlan<Recipe>,
        store: &Store,
    ) -> Result<Examiner, HuntError> {
        let findings = store.findings()?.into_iter();
        Ok(Examiner {
            folder: plan.folder.clone(),
            reduce: plan.reduce,
            callback_binary: plan.callback_binary.clone(),
            keys: findings.map(|(key, finding)| (key, finding.number)).collect(),
        })
    }

    /// Looks into a deviation of a program.
    pub(crate) fn examine(
        &mut self,
        deviation: &Deviation,
        program: &str,
        reproducer: &mut dyn Reproducer,
        progress: &dyn Progress,
    ) -> Result<Examined, HuntError> {
        let mut minimal = match reproducer.minimize(progress)? {
            Minimized::Minimal(minimal) => *minimal,
            Minimized::Duplicate(number) => {
                return Ok(Examined::Duplicate(number, deviation.mark.kind));
            }
            Minimized::Dismissed(why) => return Ok(Examined::Dismissed(why)),
        };
        if progress.stop_requested() {
            return Ok(Examined::Interrupted);
        }
        let mut key = minimal.key.clone();
        if key.is_complete()
            && let Some(number) = self.keys.get(&key.to_string())
        {
            return Ok(Examined::Duplicate(*number, key.kind));
        }
        if let Some(why) = reproducer.vet(&mut minimal, progress)? {
            return Ok(Examined::Dismissed(why));
        }
        let folder = self.folder.join(EXAMINED);
        let apart = format!("{}-{}-{}", key.kind.name(), minimal.name, short_hash(&key));
        let apart = self.folder.join(UNCONFIRMED).join(apart);
        let (cases, text) = (&minimal.cases, &minimal.text);
        let confirmed = match confirm_or_discard(&folder, &apart, cases, text, progress)? {
            Ok(confirmed) => confirmed,
            Err(why) => return Ok(Examined::Dismissed(why)),
        };
        let can_bisect = confirmed.has_passes && !minimal.is_slow;
        let mut found = None;
        if !key.is_complete() {
            found = if can_bisect { guilty(&folder, progress)? } else { None };
            if progress.stop_requested() {
                return Ok(Examined::Interrupted);
            }
            key.pass = found.as_ref().map(|(pass, _)| pass.clone());
            if let Some(number) = self.keys.get(&key.to_string()) {
                remove(&folder)?;
                return Ok(Examined::Duplicate(*number, key.kind));
            }
        }
        let number = self.keys.len() as u64 + 1;
        let id = format!("{number:03}-{}-{}", key.kind.name(), minimal.name);
        name_case(&folder, &id, &confirmed.what)?;
        self.reduce(&folder, &mut minimal, progress)?;
        // On the program as it is in the end, unless it was needed before.
        if found.is_none() && can_bisect && key.is_complete() {
            found = guilty(&folder, progress)?;
        }
        if progress.stop_requested() {
            return Ok(Examined::Interrupted);
        }
        let case = case_folder(&id);
        move_folder(&folder, &self.folder.join(&case))?;
        self.keys.insert(key.to_string(), number);
        let finding = Finding {
            number,
            case,
            kind: key.kind,
            signature: key.distinction().to_owned(),
            what: confirmed.what,
            levels: minimal.levels,
            program: program.to_owned(),
            test: deviation.test,
            seconds: deviation.seconds,
            duplicates: 0,
            confirmed: confirmed.by_others,
            guilty: found.map(|(_, guilty)| guilty),
            trigger: minimal.trigger,
            pass: key.pass.clone(),
        };
        Ok(Examined::New(key.to_string(), Box::new(finding)))
    }

    /// Makes the case's program smaller, and says how large it is then.
    fn reduce(
        &self,
        folder: &Path,
        minimal: &mut Minimal,
        progress: &dyn Progress,
    ) -> Result<(), HuntError> {
        let reduced = match self.reduce.filter(|_| !minimal.is_slow) {
            Some(budget) => reduce_program(folder, budget, &self.callback_binary, progress)?,
            None => None,
        };
        match (&mut minimal.trigger, reduced) {
            (Trigger::Passes(trigger), Some(report)) => {
                trigger.instructions = report.reduction.program.after.instructions;
            }
            (Trigger::Passes(_), None) => {}
            (Trigger::Variant(trigger), _) => trigger.bytes = size(folder)?,
        }
        Ok(())
    }
}

impl Examined {
    /// Keeps what came of a deviation, for all tests that are taken for the same;
    /// `None` if it came to no end.
    pub(crate) fn keep(
        &self,
        store: &Store,
        ids: &[TestId],
        deviation: &Deviation,
    ) -> Result<Option<Fate>, HuntError> {
        let (fate, kind, new) = match self {
            Examined::Interrupted => return Ok(None),
            Examined::Duplicate(number, kind) => (Fate::Finding(*number), Some(*kind), None),
            Examined::Dismissed(why) => (Fate::Dismissed(why.clone()), None, None),
            Examined::New(key, finding) => {
                let new = Some((key.as_str(), &**finding));
                (Fate::Finding(finding.number), Some(finding.kind), new)
            }
        };
        // A mark shows a finding only if that is of the same kind.
        let shown_by = (kind == Some(deviation.mark.kind)).then_some(deviation);
        store.settle(ids, &fate, shown_by, new)?;
        Ok(Some(fate))
    }
}

/// Copies the case of a finding into another campaign, under a number there, and
/// says where it is then.
pub(crate) fn copy_case(
    finding: &Finding,
    (from, to): (&Path, &Path),
    number: u64,
) -> Result<String, HuntError> {
    let name = finding.case.rsplit('/').next().unwrap_or_default();
    let what = name.split_once('-').map_or(name, |(_, rest)| rest);
    let case = case_folder(&format!("{number:03}-{what}"));
    copy_folder(&from.join(&finding.case), &to.join(&case))?;
    Ok(case)
}

/// In the campaign's folder.
fn case_folder(id: &str) -> String {
    format!("{CASES}/{id}")
}

/// A few digits that tell keys apart.
fn short_hash(key: &DedupKey) -> String {
    blake3::hash(key.to_string().as_bytes()).to_hex()[..8].to_owned()
}
