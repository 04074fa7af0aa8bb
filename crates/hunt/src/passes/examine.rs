//! A deviation -> a finding with a case's folder, a duplicate, or neither.
//!
//! ```text
//! deviation ──► again? ──► fewer passes ──► known? ──► defined? ──► levels
//!     finding ◄── guilty invocation ◄── smaller program ◄── checked, confirmed
//! ```
//! The sequence comes first because it is quick, and because its last pass
//! tells most duplicates (the CTOS paper, Section 4.2).
//!
//! **Invariant:** a finding was seen to fail five times, with the
//! distribution's own tools, and on a program whose behaviour nothing shows to
//! be undefined. What does not get that far is counted, with the reason.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fs_err as fs;
use optsleuth_case::CaseError;
use optsleuth_case::check::{CheckPlan, check};
use optsleuth_case::loaded::failing_request;
use optsleuth_case::oracle::{Oracle, Verdict, is_limit};
use optsleuth_case::workers::{LlvmChoice, Workers};
use optsleuth_case::write::write_case;
use optsleuth_model::{
    Case, CaseKind, CheckReport, CheckStatus, CompilerSpec, Element, Execution, Finding, Limits,
    Outcome, PassSequence, Pipeline, Program, ProgramSize, Progress, RunRequest, Signature,
};
use optsleuth_triage::TriageError;
use optsleuth_triage::bisect::{BisectPlan, bisect};
use optsleuth_triage::reduce::{
    Judge, Part, Patience, Question, ReducePlan, Reducer, Reducing, fewer_passes, reduce,
};

use super::TEST_LIMITS;
use super::choice::{leaf_name, names};
use super::sequences::sequence;
use super::store::{Deviation, Fate};
use crate::HuntError;

/// The folder for cases, in the campaign's.
pub(super) const CASES: &str = "cases";
/// Where cases lie that only our own workers show.
const UNCONFIRMED: &str = "unconfirmed";
/// A hang's candidates get this much CPU time.
const HANG: Duration = Duration::from_secs(1);
/// How long the passes of one deviation are reduced, at most.
const PATIENCE: Duration = Duration::from_secs(60);

/// After so many, others of the same program that go wrong in just the same way
/// are taken for the same bug.
const ENOUGH_ALIKE: u64 = 4;
/// So many sequences of a finding of wrong code are tried on other programs.
const ENOUGH_SHOWN: usize = 8;

/// The program of a deviation, loaded in all workers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject<'a> {
    pub(super) name: &'a str,
    /// The name of its file in a case.
    pub(super) input: &'a str,
    /// That file.
    pub(super) text: &'a [u8],
    pub(super) program: &'a Program,
    pub(super) expected: &'a Execution,
}

/// What all examinations of a hunt have in common.
#[derive(Debug)]
pub(super) struct Office {
    pub(super) llvm: LlvmChoice,
    /// The campaign's folder.
    pub(super) folder: PathBuf,
    /// What the default pipelines run.
    pub(super) default_passes: BTreeSet<String>,
    /// How long programs of findings are made smaller.
    pub(super) reduce: Option<Duration>,
    /// See [`ReducePlan::asker`].
    pub(super) asker: PathBuf,
    /// Findings of wrong code, and short sequences that show them. Only a run
    /// tells whether another program goes wrong by one of these, too.
    pub(super) wrong_code: Vec<(u64, PassSequence)>,
    /// Whether the loaded program does, as far as that was tried.
    pub(super) goes_wrong: Vec<Option<bool>>,
    /// All keys, with their findings.
    pub(super) keys: Vec<(String, u64)>,
}

/// What came of a deviation.
#[derive(Debug)]
pub(super) enum Examined {
    /// A finding that is known, of this kind; for wrong code also the passes
    /// that show it, if they are new.
    Duplicate(u64, CaseKind, Option<PassSequence>),
    /// Nothing that could be reported, and why.
    Dismissed(String),
    /// Something new, and its key.
    New(String, Box<Finding>),
    /// Somebody has no more time.
    Interrupted,
}

/// A failure with few passes.
struct Reduced {
    passes: PassSequence,
    oracle: Oracle,
    outcome: Outcome,
}

impl Office {
    /// Looks into a deviation. `alike` says what became of the last one of the
    /// same program with the same wrong behaviour, and how many there were.
    pub(super) fn examine(
        &mut self,
        workers: &mut Workers,
        subject: Subject<'_>,
        (deviation, alike): (&Deviation, Option<(u64, Fate)>),
        drawn: &[Element],
        progress: &dyn Progress,
    ) -> Result<Examined, HuntError> {
        let Some(passes) = sequence(drawn) else {
            return Ok(dismissed("there is nothing to run"));
        };
        let mut kind = deviation.kind;
        if kind == CaseKind::WrongCode
            && let Some(known) = self.known_wrong_code(workers, subject, drawn)?
        {
            return Ok(Examined::Duplicate(known, kind, None));
        }
        if let Some((count, fate)) = alike
            && count >= ENOUGH_ALIKE
        {
            return Ok(match fate {
                Fate::Finding(number) => Examined::Duplicate(number, kind, None),
                Fate::Dismissed(why) => Examined::Dismissed(why),
            });
        }
        let Some(reduced) = fewest_passes(workers, subject, kind, &passes, progress)? else {
            let why = match kind {
                CaseKind::Hang => "LLVM is slow, but comes to an end",
                _ => "it fails once, and not again",
            };
            return Ok(dismissed(why));
        };
        if progress.stop_requested() {
            return Ok(Examined::Interrupted);
        }
        let reduced = match broken_before(workers, subject, kind, &reduced, progress)? {
            Some(cause) => {
                kind = CaseKind::InvalidIr;
                cause
            }
            None => reduced,
        };
        if progress.stop_requested() {
            return Ok(Examined::Interrupted);
        }
        let pass = blamed_pass(&reduced);
        let signature = signature(&reduced.outcome);
        let key = format!("{} | {pass} | {signature}", kind.name());
        if let Some((_, number)) = self.keys.iter().find(|(known, _)| *known == key) {
            let number = *number;
            let shown = self.wrong_code.iter().filter(|(other, _)| *other == number).count();
            let is_wrong_code = kind == CaseKind::WrongCode && shown < ENOUGH_SHOWN;
            let passes = is_wrong_code.then_some(reduced.passes);
            self.wrong_code.extend(passes.clone().map(|passes| (number, passes)));
            return Ok(Examined::Duplicate(number, kind, passes));
        }
        if kind == CaseKind::WrongCode && !is_defined(workers, &reduced, progress)? {
            return Ok(dismissed("the program's behaviour is not defined"));
        }
        let levels = levels(workers, kind, &reduced)?;
        let number = self.keys.len() as u64 + 1;
        let id = format!("{number:03}-{}-{pass}", kind.name());
        let folder = self.folder.join(CASES).join(&id);
        let case = self.case(workers, &id, subject, kind, &reduced);
        write_case(&folder, &case, subject.text, true)?;
        let unconfirmed = format!("{}-{pass}-{}", kind.name(), short_hash(&key));
        if let Some(why) = self.doubt(&folder, &unconfirmed, progress)? {
            return Ok(dismissed(&why));
        }
        let is_endless = reduced.outcome.execution().is_some_and(|found| is_limit(found.end));
        let is_slow = is_endless || matches!(kind, CaseKind::Hang | CaseKind::Memory);
        let instructions = self.shrink(&folder, subject, is_slow, progress)?;
        // Where every run takes all of its time, that is left to triage.
        let guilty = if is_slow { None } else { guilty(&folder, progress)? };
        if progress.stop_requested() {
            return Ok(Examined::Interrupted);
        }
        self.keys.push((key.clone(), number));
        if kind == CaseKind::WrongCode {
            self.wrong_code.push((number, reduced.passes.clone()));
        }
        let own = names(&reduced.passes);
        let finding = Finding {
            number,
            case: format!("{CASES}/{id}"),
            kind,
            pass,
            signature,
            what: reduced.oracle.describe(&reduced.outcome),
            passes: reduced.passes.to_string(),
            n_passes: drawn.len(),
            program: subject.name.to_owned(),
            test: deviation.test,
            seconds: deviation.seconds,
            duplicates: 0,
            levels,
            default_passes_only: own.iter().all(|name| self.default_passes.contains(name)),
            confirmed: true,
            guilty,
            instructions,
        };
        Ok(Examined::New(key, Box::new(finding)))
    }

    /// Another program is loaded.
    pub(super) fn begin_program(&mut self) {
        self.goes_wrong.clear();
    }

    /// A finding of wrong code whose few passes, alone, make this program go
    /// wrong, too.
    fn known_wrong_code(
        &mut self,
        workers: &mut Workers,
        subject: Subject<'_>,
        drawn: &[Element],
    ) -> Result<Option<u64>, HuntError> {
        let oracle = Oracle::new(CaseKind::WrongCode, Some(subject.expected.clone()));
        self.goes_wrong.resize(self.wrong_code.len(), None);
        for ((number, passes), known) in self.wrong_code.iter().zip(&mut self.goes_wrong) {
            if !is_subsequence(&passes.optimizations(), drawn) {
                continue;
            }
            let goes_wrong = match known {
                Some(goes_wrong) => *goes_wrong,
                None => {
                    let request = request(CaseKind::WrongCode, passes);
                    let outcome = workers.pool.first().run(&request)?.outcome;
                    let verdict = oracle.clone().like(&outcome).judge(&outcome);
                    *known.insert(verdict == Verdict::Fails)
                }
            };
            if goes_wrong {
                return Ok(Some(*number));
            }
        }
        Ok(None)
    }

    fn case(
        &self,
        workers: &Workers,
        id: &str,
        subject: Subject<'_>,
        kind: CaseKind,
        reduced: &Reduced,
    ) -> Case {
        let what = reduced.oracle.describe(&reduced.outcome);
        let compiler = match &self.llvm {
            LlvmChoice::Config(path) => CompilerSpec::LlvmConfig(path.display().to_string()),
            LlvmChoice::Version(_) | LlvmChoice::Newest => {
                CompilerSpec::Llvm(workers.install.major.to_string())
            }
        };
        Case {
            id: id.to_owned(),
            title: Some(what.clone()),
            source: Some(format!("found by `optsleuth hunt` on program {}", subject.name)),
            compiler,
            fault: None,
            input: subject.input.to_owned(),
            pipeline: Pipeline::Passes(reduced.passes.to_string()),
            flags: Vec::new(),
            cflags: Vec::new(),
            kind,
            signature: None,
            expected: reduced
                .oracle
                .expected_output()
                .filter(|_| kind == CaseKind::WrongCode)
                .map(|text| text.trim().to_owned()),
            observed: Some(what),
            fails_in: vec![workers.install.version.clone()],
            fixed_in: None,
            truth: None,
        }
    }

    /// Why a case cannot be reported; its folder is gone then. Where it fails
    /// every time, and the distribution's tools do not fail, it is kept apart,
    /// under this name.
    fn doubt(
        &self,
        folder: &Path,
        name: &str,
        progress: &dyn Progress,
    ) -> Result<Option<String>, HuntError> {
        let plan = CheckPlan {
            folder: folder.to_owned(),
            llvm: Some(self.llvm.clone()),
            limits: Limits::STANDARD,
            confirm: true,
            repeat_hangs_within: Some(HANG),
        };
        let why = match check(&plan, progress) {
            Ok(CheckReport { status: CheckStatus::Reproduces, confirmation, .. }) => {
                match confirmation {
                    Some(theirs) if theirs.agrees => return Ok(None),
                    _ => {
                        let apart = self.folder.join(UNCONFIRMED);
                        move_folder(folder, &apart.join(name))?;
                        return Ok(Some("the distribution's own tools do not fail".to_owned()));
                    }
                }
            }
            Ok(CheckReport { status, .. }) => match status {
                CheckStatus::Unstable => "the program's behaviour is not defined",
                CheckStatus::Flaky => "it does not fail every time",
                _ => "it does not fail outside of the hunt",
            },
            Err(CaseError::NoReference { .. }) => "it does not fail outside of the hunt",
            Err(error) => return Err(error.into()),
        };
        fs::remove_dir_all(folder)?;
        Ok(Some(why.to_owned()))
    }

    /// Makes the case's program smaller, and says how many instructions it has.
    fn shrink(
        &self,
        folder: &Path,
        subject: Subject<'_>,
        is_slow: bool,
        progress: &dyn Progress,
    ) -> Result<usize, HuntError> {
        let whole = ProgramSize::of(&[], &String::from_utf8_lossy(&subject.program.ir));
        let Some(budget) = self.reduce.filter(|_| !is_slow) else { return Ok(whole.instructions) };
        let plan = ReducePlan {
            folder: folder.to_owned(),
            llvm: Some(self.llvm.clone()),
            limits: Limits::STANDARD,
            again: false,
            how: Reducing {
                part: Part::Program,
                tool: Reducer::BuiltIn,
                budget: Some(budget),
                asker: self.asker.clone(),
            },
        };
        match reduce(&plan, progress) {
            Ok(report) => Ok(report.reduction.program.after.instructions),
            Err(error @ TriageError::Case(CaseError::Io(_))) => Err(error.into()),
            // It was seen to fail a moment ago; a smaller one is not to be had.
            Err(error) => {
                tracing::warn!(%error, "a finding's program could not be made smaller");
                Ok(whole.instructions)
            }
        }
    }
}

fn dismissed(why: &str) -> Examined {
    Examined::Dismissed(why.to_owned())
}

/// The run that shows a failure of this kind, and no more than that.
fn request(kind: CaseKind, passes: &PassSequence) -> RunRequest {
    let pipeline = Pipeline::Passes(passes.to_string());
    // The unoptimized program ended in a fraction of this.
    let execute = TEST_LIMITS.execute;
    RunRequest {
        limits: Limits { execute, ..Limits::STANDARD },
        // What a later pass mends was broken all the same.
        verify_each: kind == CaseKind::InvalidIr,
        ..failing_request(kind, &pipeline, passes.clone())
    }
}

/// The failure again, with as few passes as it takes; `None` if it does not
/// come again.
fn fewest_passes(
    workers: &mut Workers,
    subject: Subject<'_>,
    kind: CaseKind,
    passes: &PassSequence,
    progress: &dyn Progress,
) -> Result<Option<Reduced>, HuntError> {
    let request = request(kind, passes);
    let first = workers.pool.first().run(&request)?.outcome;
    let expected = (kind == CaseKind::WrongCode).then(|| subject.expected.clone());
    let oracle = Oracle::new(kind, expected).just_like(&first);
    if oracle.judge(&first) != Verdict::Fails {
        return Ok(None);
    }
    let mut question = Question::new(request.clone(), &[], oracle.clone(), &first);
    question.hang_within(HANG);
    if let Outcome::Ok(Some(execution)) = &first
        && is_limit(execution.end)
    {
        question.request.limits.execute = HANG;
    }
    let deadline = Some(Instant::now() + PATIENCE);
    let registry = workers.registry.clone();
    let nested = |flat: PassSequence| flat.resolve(&registry).ok();
    let patience = Patience { deadline, progress };
    let mut judge = Judge::new((&mut workers.pool, None), question, patience);
    let left = fewer_passes(&mut judge, passes, &nested)?;
    let request = RunRequest { passes: Some(left.clone()), ..request };
    let outcome = workers.pool.first().run(&request)?.outcome;
    // Less time than the hang itself got may have made it one.
    let (passes, outcome) = match oracle.judge(&outcome) {
        Verdict::Fails => (left, outcome),
        Verdict::Passes | Verdict::Other => (passes.clone(), first),
    };
    Ok(Some(Reduced { passes, oracle, outcome }))
}

/// A crash, or wrong code, may come of IR that an earlier pass broke: that is
/// the bug then.
fn broken_before(
    workers: &mut Workers,
    subject: Subject<'_>,
    kind: CaseKind,
    reduced: &Reduced,
    progress: &dyn Progress,
) -> Result<Option<Reduced>, HuntError> {
    if !matches!(kind, CaseKind::Crash | CaseKind::WrongCode | CaseKind::Codegen) {
        return Ok(None);
    }
    fewest_passes(workers, subject, CaseKind::InvalidIr, &reduced.passes, progress)
}

/// Whether the loaded program goes wrong by these passes however it is looked
/// at, and keeps what IR demands of it without them.
fn is_defined(
    workers: &mut Workers,
    reduced: &Reduced,
    progress: &dyn Progress,
) -> Result<bool, HuntError> {
    let request = request(CaseKind::WrongCode, &reduced.passes);
    let question = Question::new(request, &[], reduced.oracle.clone(), &reduced.outcome);
    let patience = Patience { deadline: None, progress };
    let mut judge = Judge::new((&mut workers.pool, None), question, patience);
    judge.find_guard()?;
    Ok(judge.question.guarded && judge.accepts_loaded()?)
}

/// The optimization levels at which the program fails in the same way.
fn levels(
    workers: &mut Workers,
    kind: CaseKind,
    reduced: &Reduced,
) -> Result<Vec<String>, HuntError> {
    let mut failing = Vec::new();
    for level in ["O1", "O2", "O3"] {
        let passes = workers.passes(&format!("default<{level}>"))?;
        let result = workers.pool.first().run(&request(kind, &passes))?;
        if reduced.oracle.judge(&result.outcome) == Verdict::Fails {
            failing.push(level.to_owned());
        }
    }
    Ok(failing)
}

/// What tells a failure from others of its kind in its last pass.
fn signature(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Crash(crash) => crash.signature.to_string(),
        Outcome::InvalidIr { message, .. } | Outcome::CodegenFailure { message } => {
            Signature::of_text(message).to_string()
        }
        // Numbers of wrong programs differ from program to program.
        Outcome::Ok(_) | Outcome::Timeout { .. } | Outcome::OutOfMemory { .. } => String::new(),
    }
}

/// The guilty invocation.
fn guilty(folder: &Path, progress: &dyn Progress) -> Result<Option<String>, HuntError> {
    let plan = BisectPlan {
        folder: folder.to_owned(),
        llvm: None,
        limits: Limits::STANDARD,
        candidate_time: HANG,
    };
    match bisect(&plan, progress) {
        Ok(bisection) => {
            Ok(bisection.culprit().map(|found| format!("{} on {}", found.pass, found.unit)))
        }
        Err(error @ TriageError::Case(CaseError::Io(_))) => Err(error.into()),
        Err(error) => {
            tracing::warn!(%error, "a finding could not be bisected");
            Ok(None)
        }
    }
}

/// Whether the first list is what is left of the second without some of it,
/// parameters and adaptors aside.
fn is_subsequence(part: &[Element], whole: &[Element]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|element| rest.any(|other| leaf_name(other) == leaf_name(element)))
}

/// The pass that a failure is filed under: the one it happened in, where that
/// is one of the sequence; the last one otherwise. They differ because LLVM
/// takes a function through several passes before it comes to the next.
fn blamed_pass(reduced: &Reduced) -> String {
    let names = names(&reduced.passes);
    let plain = |name: &str| {
        let letters: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        letters.to_ascii_lowercase().trim_end_matches("pass").to_owned()
    };
    let happened_in = match &reduced.outcome {
        Outcome::Crash(crash) => crash.invocation.as_ref(),
        Outcome::InvalidIr { invocation, .. }
        | Outcome::Timeout { invocation }
        | Outcome::OutOfMemory { invocation } => invocation.as_ref(),
        Outcome::Ok(_) | Outcome::CodegenFailure { .. } => None,
    };
    let is_it = |name: &&String| {
        happened_in.is_some_and(|invocation| plain(&invocation.pass) == plain(name))
    };
    names.iter().rev().find(is_it).or(names.last()).cloned().unwrap_or_default()
}

/// A few digits that tell keys apart.
fn short_hash(key: &str) -> String {
    blake3::hash(key.as_bytes()).to_hex()[..8].to_owned()
}

fn move_folder(from: &Path, to: &Path) -> Result<(), HuntError> {
    let parent = to.parent().unwrap_or(Path::new("."));
    let move_it = || -> std::io::Result<()> {
        fs::create_dir_all(parent)?;
        if to.exists() {
            fs::remove_dir_all(to)?;
        }
        fs::rename(from, to)
    };
    Ok(move_it()?)
}
