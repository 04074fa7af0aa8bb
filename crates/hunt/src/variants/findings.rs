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
use std::path::PathBuf;
use std::time::{Duration, Instant};

use optsleuth_model::{CaseKind, EmiFinding, Execution, OptLevel, Progress};
use optsleuth_mutate::emi::{SnippetKind, snippets, unmarked, without};
use optsleuth_search::Minimizer;

use super::case::{checked_case, guilty, move_folder, name_case, remove, shrink, size};
use super::seed::{Deviation, Generation};
use super::testers::{Hand, Testers};
use super::trial::{Seen, Source};
use super::valid::{Judges, Verdict};
use crate::HuntError;

/// The folder for cases, in the campaign's.
const CASES: &str = "cases";
/// Where a case is while nobody knows what it is.
const EXAMINED: &str = "examined";
/// So many candidates are tried to take snippets out of one variant. A number,
/// because what is found must not depend on how fast a machine is.
const CANDIDATES: usize = 200;
/// Where nearly every candidate runs until it is stopped, that takes too long.
const PATIENCE: Duration = Duration::from_secs(300);

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

impl Office<'_> {
    /// Looks into deviations that are alike.
    pub(super) fn examine(
        &mut self,
        subject: &Subject<'_>,
        hand: &mut Hand<'_>,
        progress: &dyn Progress,
    ) -> Result<Examined, HuntError> {
        let Deviation { tester, level, kind, mark } = subject.deviation;
        let tester = &self.testers.all[*tester];
        let crash_key = format!("{} | {mark}", tester.name);
        if tells(*kind)
            && let Some(number) = self.known(&crash_key)
        {
            return Ok(Examined::Duplicate(number));
        }
        let source = Source::new(unmarked(&subject.generation.text))?;
        match self.seen(&source, subject, hand)? {
            Seen::Trouble => return Ok(dismissed("it could not be run again")),
            seen if !seen.is_like(*kind, mark) => {
                return Ok(dismissed("it fails once, and not again"));
            }
            _ => {}
        }
        let minimal = match self.fewest_snippets(subject, hand, progress)? {
            Ok(minimal) => minimal,
            Err(why) => return Ok(dismissed(&why)),
        };
        if progress.stop_requested() {
            return Ok(Examined::Interrupted);
        }
        let text = unmarked(&minimal.text);
        let folder = self.folder.join(EXAMINED);
        let checked = match checked_case(&self.folder, &folder, tester, subject, &text, progress)? {
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
            // Nobody knows which snippets it needs.
            (false, None) if is_slow => levels.join(" "),
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
        if let Some(budget) = self.reduce.filter(|_| !is_slow) {
            shrink(&folder, budget, &self.asker, progress)?;
        }
        if progress.stop_requested() {
            return Ok(Examined::Interrupted);
        }
        let case = format!("{CASES}/{id}");
        move_folder(&folder, &self.folder.join(&case))?;
        self.keys.push((key.clone(), number));
        let finding = EmiFinding {
            number,
            bytes: size(&self.folder.join(&case))?,
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

    /// Whether a program fails as the first deviation does.
    fn fails(
        &self,
        source: &Source,
        subject: &Subject<'_>,
        hand: &mut Hand<'_>,
    ) -> Result<bool, HuntError> {
        let Deviation { kind, mark, .. } = subject.deviation;
        Ok(self.seen(source, subject, hand)?.is_like(*kind, mark))
    }

    /// What its test shows of a program.
    fn seen(
        &self,
        source: &Source,
        subject: &Subject<'_>,
        hand: &mut Hand<'_>,
    ) -> Result<Seen, HuntError> {
        let Deviation { tester, level, .. } = subject.deviation;
        Ok(self.testers.test(*tester, *level, source, subject.expected, hand)?.0)
    }

    /// What all judges say of a text with markers.
    fn judged(
        &self,
        marked: &str,
        subject: &Subject<'_>,
        hand: &mut Hand<'_>,
    ) -> Result<Verdict, HuntError> {
        let source = Source::new(unmarked(marked))?;
        self.judges.judge(&source, subject.expected, hand.fence)
    }

    /// The variant without what the failure does not need; `Err` inside is why
    /// nothing can be said of it. Where every run takes all of its time, it stays
    /// as it is.
    fn fewest_snippets(
        &self,
        subject: &Subject<'_>,
        hand: &mut Hand<'_>,
        progress: &dyn Progress,
    ) -> Result<Result<Minimal, String>, HuntError> {
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
        let mut n_candidates = 0;
        while !minimizer.is_done()
            && !is_slow
            && n_candidates < CANDIDATES
            && Instant::now() < deadline
            && !progress.stop_requested()
        {
            let mut answers = Vec::new();
            for kept in minimizer.ask(1) {
                let source = Source::new(unmarked(&left(&kept)))?;
                let verdict = self.judges.by_clang(&source, subject.expected, hand.fence)?;
                let may_accuse = may_accuse(&verdict, subject.deviation.kind);
                answers.push(may_accuse && self.fails(&source, subject, hand)?);
                n_candidates += 1;
            }
            minimizer.tell(&answers);
        }
        let mut minimal = left(minimizer.kept());
        let mut verdict = self.judged(&minimal, subject, hand)?;
        if let Verdict::Different(why) = &verdict {
            tracing::warn!(why, "snippets cannot be taken out of a variant");
            minimal.clone_from(text);
            verdict = self.judged(&minimal, subject, hand)?;
        }
        match &verdict {
            Verdict::Different(why) | Verdict::Undecided(why)
                if !may_accuse(&verdict, subject.deviation.kind) =>
            {
                return Ok(Err(why.clone()));
            }
            Verdict::Equivalent | Verdict::Different(_) | Verdict::Undecided(_) => {}
        }
        let needed = snippets(&minimal);
        Ok(Ok(Minimal {
            kinds: needed.iter().map(|snippet| SnippetKind::name(snippet.kind)).collect(),
            n_needed: needed.len() as u64,
            n_snippets: ids.len() as u64,
            text: minimal,
        }))
    }
}

/// Whether a program of which judges say so may accuse a compiler of this. Where
/// they do not know, what it does is not certain; that a compiler falls over it
/// is.
fn may_accuse(verdict: &Verdict, kind: CaseKind) -> bool {
    match verdict {
        Verdict::Equivalent => true,
        Verdict::Different(_) => false,
        Verdict::Undecided(_) => kind != CaseKind::WrongCode,
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

/// A compiler's name as a part of a file's.
fn file_name(compiler: &str) -> String {
    let name = compiler.rsplit('/').next().unwrap_or(compiler);
    let keeps = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    name.chars().map(|c| if keeps(c) { c } else { '_' }).collect()
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
    fn what_is_known_beforehand_and_what_may_accuse_depends_on_the_kind() {
        assert!(tells(CaseKind::Crash));
        assert!(!tells(CaseKind::WrongCode) && !tells(CaseKind::Codegen));
        let open = Verdict::Undecided("gcc crashes".to_owned());
        assert!(may_accuse(&open, CaseKind::Crash) && !may_accuse(&open, CaseKind::WrongCode));
        assert!(!may_accuse(&Verdict::Different("prints 4".to_owned()), CaseKind::Crash));
        assert_eq!(or_seed(&[]), "the seed itself");
        assert_eq!(or_seed(&["false-block", "true-guard"]), "false-block true-guard");
    }
}
