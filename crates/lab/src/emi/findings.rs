//! Deviating tests -> a finding with a case's folder, a duplicate, or neither.
//!
//! ```text
//! deviation ──► known? ──► again? ──► fewest snippets ──► still equivalent?
//!      finding ◄── smaller ◄── known? ◄── guilty pass ◄── case, checked
//! ```
//! Which snippets are needed is found out before anything else is taken away
//! (Section 5.4 of the paper): what is left is the seed and a few lines.
//!
//! **Invariant:** a finding was seen to fail five times as a case, on a program
//! that is equivalent to its seed by all who judge variants. What does not get
//! that far is counted, with the reason.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use optsleuth_compiler::driver::Family;
use optsleuth_model::{
    Case, CaseKind, CompilerSpec, EmiFinding, Execution, Limits, OptLevel, Pipeline,
};
use optsleuth_mutate::emi::{SnippetKind, snippets, unmarked, without};
use optsleuth_search::Minimizer;

use super::seed::{Deviation, Generation};
use super::testers::{Hand, Tester, Testers, Way, front_end_flags};
use super::trial::Source;
use super::valid::Judges;
use crate::Progress;
use crate::bisect::{BisectPlan, bisect};
use crate::case_folder::CaseFolder;
use crate::check::{CheckPlan, CheckReport, CheckStatus, check};
use crate::import::write_case;
use crate::reduce::{Part, ReducePlan, Reducer, reduce};
use crate::setup::LabError;

/// The folder for cases, in the campaign's.
const CASES: &str = "cases";
/// Where a case is while nobody knows what it is.
const EXAMINED: &str = "examined";
/// Where cases lie that the distribution's tools do not show.
const UNCONFIRMED: &str = "unconfirmed";
/// How long the snippets of one deviation are minimized, at most.
const PATIENCE: Duration = Duration::from_secs(60);
/// All repetitions of a hang but the first get this much CPU time.
const HANG: Duration = Duration::from_secs(2);

/// The program of a case.
const INPUT: &str = "program.c";

/// Deviations of one seed and compiler that are alike.
pub(super) struct Subject<'a> {
    /// The seed's name.
    pub(super) program: &'a str,
    pub(super) expected: &'a Execution,
    /// The first generation that deviates so.
    pub(super) generation: &'a Generation,
    /// Its first test that does.
    pub(super) deviation: &'a Deviation,
    /// All levels at which it does.
    pub(super) levels: Vec<OptLevel>,
    /// The number of that test in the campaign, and when it was known.
    pub(super) test: u64,
    pub(super) seconds: f64,
}

/// What all examinations of a hunt have in common.
pub(super) struct Office<'a> {
    pub(super) testers: &'a Testers,
    pub(super) judges: &'a Judges,
    /// The campaign's folder.
    pub(super) folder: PathBuf,
    /// How long programs of findings are made smaller.
    pub(super) reduce: Option<Duration>,
    /// See [`ReducePlan::asker`].
    pub(super) asker: PathBuf,
    /// All keys, with their findings.
    pub(super) keys: Vec<(String, u64)>,
}

/// What came of deviations.
#[derive(Debug)]
pub(super) enum Examined {
    /// A finding that is known.
    Duplicate(u64),
    /// Nothing that could be reported, and why.
    Dismissed(String),
    /// Something new, and its key.
    New(String, Box<EmiFinding>),
    /// Somebody has no more time.
    Interrupted,
}

/// A failing program with as few snippets as it takes.
struct Minimal {
    /// With markers.
    text: String,
    kinds: BTreeSet<&'static str>,
    n_needed: u64,
    n_snippets: u64,
}

/// A case that fails as it says.
struct Checked {
    what: String,
    confirmed: bool,
    is_llvm: bool,
}

impl Office<'_> {
    /// Looks into deviations that are alike.
    pub(super) fn examine(
        &mut self,
        subject: &Subject<'_>,
        hand: &mut Hand<'_>,
        progress: &dyn Progress,
    ) -> Result<Examined, LabError> {
        let Deviation { tester, level, kind, mark } = subject.deviation;
        let tester = &self.testers.all[*tester];
        let crash_key = format!("{} | {mark}", tester.name);
        if tells(*kind)
            && let Some(number) = self.known(&crash_key)
        {
            return Ok(Examined::Duplicate(number));
        }
        if !self.fails(&unmarked(&subject.generation.text), subject, hand)? {
            return Ok(dismissed("it fails once, and not again"));
        }
        let minimal = self.fewest_snippets(subject, hand, progress)?;
        if progress.stop_requested() {
            return Ok(Examined::Interrupted);
        }
        let text = unmarked(&minimal.text);
        let folder = self.folder.join(EXAMINED);
        let checked = match self.checked_case(&folder, tester, subject, &text, progress)? {
            Ok(checked) => checked,
            Err(why) => return Ok(dismissed(&why)),
        };
        let is_slow = is_slow(*kind);
        let guilty = match checked.is_llvm && !is_slow {
            true => guilty(&folder, progress)?,
            false => None,
        };
        if progress.stop_requested() {
            return Ok(Examined::Interrupted);
        }
        let levels: Vec<&str> = subject.levels.iter().map(|level| level.name()).collect();
        let kinds: Vec<&str> = minimal.kinds.iter().copied().collect();
        let signature = match (tells(*kind), &guilty) {
            (true, _) => mark.split_once(": ").map_or(mark.as_str(), |(_, rest)| rest).to_owned(),
            (false, Some((pass, _))) => pass.clone(),
            (false, None) => format!("{} by {}", levels.join(" "), or_seed(&kinds)),
        };
        let key = match tells(*kind) {
            true => crash_key,
            false => format!("{} | {}: {signature}", tester.name, kind.name()),
        };
        if let Some(number) = self.known(&key) {
            remove(&folder)?;
            return Ok(Examined::Duplicate(number));
        }
        let number = self.keys.len() as u64 + 1;
        let id =
            format!("{number:03}-{}-{}-{}", kind.name(), file_name(&tester.name), level.name());
        name_case(&folder, &id, &checked.what)?;
        self.shrink(&folder, is_slow, progress)?;
        if progress.stop_requested() {
            return Ok(Examined::Interrupted);
        }
        let case = format!("{CASES}/{id}");
        move_folder(&folder, &self.folder.join(&case))?;
        self.keys.push((key.clone(), number));
        let finding = EmiFinding {
            number,
            bytes: size(&self.folder.join(&case).join(INPUT)),
            case,
            compiler: tester.name.clone(),
            kind: *kind,
            level: level.name().to_owned(),
            levels: levels.into_iter().map(str::to_owned).collect(),
            signature,
            what: checked.what,
            strategy: subject.generation.strategy.map(|strategy| strategy.name().to_owned()),
            generation: subject.generation.number,
            snippets: kinds.into_iter().map(str::to_owned).collect(),
            n_needed: minimal.n_needed,
            n_snippets: minimal.n_snippets,
            program: subject.program.to_owned(),
            test: subject.test,
            seconds: subject.seconds,
            duplicates: 0,
            confirmed: checked.confirmed,
            guilty: guilty.map(|(_, guilty)| guilty),
        };
        Ok(Examined::New(key, Box::new(finding)))
    }

    fn known(&self, key: &str) -> Option<u64> {
        self.keys.iter().find(|(known, _)| known == key).map(|(_, number)| *number)
    }

    /// Whether a text without markers fails as the first deviation does.
    fn fails(
        &self,
        text: &str,
        subject: &Subject<'_>,
        hand: &mut Hand<'_>,
    ) -> Result<bool, LabError> {
        let source = Source::new(text.to_owned())?;
        self.source_fails(&source, subject, hand)
    }

    fn source_fails(
        &self,
        source: &Source,
        subject: &Subject<'_>,
        hand: &mut Hand<'_>,
    ) -> Result<bool, LabError> {
        let Deviation { tester, level, kind, mark } = subject.deviation;
        let (seen, _) = self.testers.test(*tester, *level, source, subject.expected, hand)?;
        Ok(seen.is_like(*kind, mark))
    }

    /// The variant without what the failure does not need. Where every run takes
    /// all of its time, it stays as it is.
    fn fewest_snippets(
        &self,
        subject: &Subject<'_>,
        hand: &mut Hand<'_>,
        progress: &dyn Progress,
    ) -> Result<Minimal, LabError> {
        let text = &subject.generation.text;
        let all = snippets(text);
        let ids: Vec<u32> = all.iter().map(|snippet| snippet.id).collect();
        let left = |kept: &[usize]| -> String {
            let kept: BTreeSet<usize> = kept.iter().copied().collect();
            let gone = ids.iter().enumerate().filter(|(place, _)| !kept.contains(place));
            without(text, &gone.map(|(_, id)| *id).collect())
        };
        let deadline = Instant::now() + PATIENCE;
        let mut minimizer = Minimizer::new(ids.len());
        let is_slow = is_slow(subject.deviation.kind);
        while !minimizer.is_done()
            && !is_slow
            && Instant::now() < deadline
            && !progress.stop_requested()
        {
            let mut answers = Vec::new();
            for kept in minimizer.ask(1) {
                let source = Source::new(unmarked(&left(&kept)))?;
                let same = self.judges.by_clang(&source, subject.expected, hand.fence)?.is_ok();
                answers.push(same && self.source_fails(&source, subject, hand)?);
            }
            minimizer.tell(&answers);
        }
        let mut minimal = left(minimizer.kept());
        let source = Source::new(unmarked(&minimal))?;
        if let Err(why) = self.judges.judge(&source, subject.expected, hand.fence)? {
            // With all of its snippets it is equivalent, and fails.
            tracing::warn!(why, "snippets cannot be taken out of a variant");
            minimal.clone_from(text);
        }
        let needed = snippets(&minimal);
        Ok(Minimal {
            kinds: needed.iter().map(|snippet| SnippetKind::name(snippet.kind)).collect(),
            n_needed: needed.len() as u64,
            n_snippets: ids.len() as u64,
            text: minimal,
        })
    }

    /// Writes a case that fails as it says. `Err` inside is why there is none;
    /// its folder is gone then.
    fn checked_case(
        &self,
        folder: &Path,
        tester: &Tester,
        subject: &Subject<'_>,
        text: &str,
        progress: &dyn Progress,
    ) -> Result<Result<Checked, String>, LabError> {
        let mut why = "it does not fail outside of the hunt".to_owned();
        for case in cases(tester, subject) {
            remove(folder)?;
            write_case(folder, &case, text.as_bytes(), true)?;
            let is_llvm =
                matches!(case.compiler, CompilerSpec::Llvm(_) | CompilerSpec::LlvmConfig(_));
            let plan = CheckPlan {
                folder: folder.to_owned(),
                llvm: None,
                limits: Limits::STANDARD,
                confirm: is_llvm && case.fault.is_none(),
                repeat_hangs_within: Some(HANG),
            };
            let report = match check(&plan, progress) {
                Ok(report) => report,
                Err(error @ (LabError::Io { .. } | LabError::Tool(_))) => return Err(error),
                // Nobody has its archives, or it cannot be run in that way.
                Err(error) => {
                    tracing::debug!(%error, "a case cannot be checked");
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
                CheckStatus::Passes
                | CheckStatus::FailsOtherwise
                | CheckStatus::FailsUnmodified => continue,
            }
            let theirs = confirmation.as_ref().is_none_or(|theirs| theirs.agrees);
            if !theirs && matches!(tester.way, Way::Inside(_)) {
                let name = short_hash(text);
                move_folder(folder, &self.folder.join(UNCONFIRMED).join(name))?;
                return Ok(Err("the distribution's own tools do not fail".to_owned()));
            }
            // A driver is nobody's tool but the distribution's.
            let confirmed = confirmation.is_some() || !is_llvm;
            return Ok(Ok(Checked { what, confirmed, is_llvm }));
        }
        remove(folder)?;
        Ok(Err(why))
    }

    /// Makes the case's program smaller.
    fn shrink(
        &self,
        folder: &Path,
        is_slow: bool,
        progress: &dyn Progress,
    ) -> Result<(), LabError> {
        let Some(budget) = self.reduce.filter(|_| !is_slow) else { return Ok(()) };
        let plan = ReducePlan {
            folder: folder.to_owned(),
            llvm: None,
            limits: Limits::STANDARD,
            part: Part::Program,
            tool: Reducer::BuiltIn,
            budget: Some(budget),
            again: false,
            asker: self.asker.clone(),
        };
        match reduce(&plan, progress) {
            Ok(_) => Ok(()),
            Err(error @ LabError::Io { .. }) => Err(error),
            // It was seen to fail a moment ago; a smaller one is not to be had.
            Err(error) => {
                tracing::warn!(%error, "a finding's program could not be made smaller");
                Ok(())
            }
        }
    }
}

/// Whether two deviations of this kind with the same mark are the same bug. The
/// verifier says the same of many passes' work, and the code generator of what
/// any of them may have broken.
pub(super) fn tells(kind: CaseKind) -> bool {
    match kind {
        CaseKind::Crash => true,
        CaseKind::WrongCode
        | CaseKind::Hang
        | CaseKind::Memory
        | CaseKind::InvalidIr
        | CaseKind::Codegen => false,
    }
}

/// Whether every run takes all of its time.
fn is_slow(kind: CaseKind) -> bool {
    match kind {
        CaseKind::Hang | CaseKind::Memory => true,
        CaseKind::Crash | CaseKind::InvalidIr | CaseKind::Codegen | CaseKind::WrongCode => false,
    }
}

fn dismissed(why: &str) -> Examined {
    Examined::Dismissed(why.to_owned())
}

/// The kinds of snippets in words.
fn or_seed(kinds: &[&str]) -> String {
    if kinds.is_empty() { "the seed itself".to_owned() } else { kinds.join(" ") }
}

/// The cases that a failure may be, the most useful first: what shows inside
/// LLVM can be bisected and localized.
fn cases(tester: &Tester, subject: &Subject<'_>) -> Vec<Case> {
    let Deviation { level, kind, .. } = subject.deviation;
    let inside = |major: u32| (CompilerSpec::Llvm(major.to_string()), front_end_flags(*level));
    let (specs, fault) = match &tester.way {
        Way::Inside(llvm) => (vec![inside(llvm.install.major)], llvm.fault.clone()),
        Way::Driver(driver) => {
            let own = (driver.spec(), Vec::new());
            let is_path = driver.name.contains('/');
            match driver.family {
                Family::Clang if !is_path => (vec![inside(driver.major), own], None),
                Family::Clang | Family::Gcc => (vec![own], None),
            }
        }
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
        signature: None,
        expected: (*kind == CaseKind::WrongCode).then(|| expected.clone()),
        observed: None,
        fails_in: vec![tester.version.clone()],
        fixed_in: None,
        truth: None,
    };
    specs.into_iter().map(case).collect()
}

/// The guilty pass, and its invocation in words.
fn guilty(folder: &Path, progress: &dyn Progress) -> Result<Option<(String, String)>, LabError> {
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
        Err(error @ LabError::Io { .. }) => Err(error),
        Err(error) => {
            tracing::warn!(%error, "a finding could not be bisected");
            Ok(None)
        }
    }
}

/// Gives a case the name that its folder will have, and says what was seen.
fn name_case(folder: &Path, id: &str, what: &str) -> Result<(), LabError> {
    let opened = CaseFolder::open(folder)?;
    let text = std::fs::read(opened.input()).map_err(|source| LabError::Io {
        doing: format!("read `{}`", opened.input().display()),
        source,
    })?;
    let said = Some(what.to_owned());
    let case = Case { id: id.to_owned(), title: said.clone(), observed: said, ..opened.case };
    write_case(folder, &case, &text, true)?;
    Ok(())
}

/// A compiler's name as a part of a file's.
fn file_name(compiler: &str) -> String {
    let name = compiler.rsplit('/').next().unwrap_or(compiler);
    let keeps = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    name.chars().map(|c| if keeps(c) { c } else { '_' }).collect()
}

fn short_hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..8].to_owned()
}

fn size(file: &Path) -> u64 {
    std::fs::metadata(file).map(|data| data.len()).unwrap_or_default()
}

fn remove(folder: &Path) -> Result<(), LabError> {
    match std::fs::remove_dir_all(folder) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(LabError::Io { doing: format!("remove `{}`", folder.display()), source })
        }
        _ => Ok(()),
    }
}

fn move_folder(from: &Path, to: &Path) -> Result<(), LabError> {
    remove(to)?;
    let parent = to.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent)
        .and_then(|()| std::fs::rename(from, to))
        .map_err(|source| LabError::Io { doing: format!("write `{}`", to.display()), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compilers_path_makes_no_folder() {
        assert_eq!(file_name("gcc-12"), "gcc-12");
        assert_eq!(file_name("/opt/my compilers/gcc 13"), "gcc_13");
        assert_eq!(file_name("../broken.sh"), "broken.sh");
    }

    #[test]
    fn only_what_has_a_signature_is_known_before_it_is_looked_into() {
        assert!(tells(CaseKind::Crash));
        assert!(!tells(CaseKind::WrongCode) && !tells(CaseKind::Codegen));
        assert_eq!(or_seed(&[]), "the seed itself");
        assert_eq!(or_seed(&["false-block", "true-guard"]), "false-block true-guard");
    }
}
