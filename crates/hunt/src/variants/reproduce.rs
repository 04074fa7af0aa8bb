//! A variant on which a compiler fails -> the snippets that it takes.
//!
//! Which snippets are needed is found out before anything else is taken away
//! (Section 5.4 of the Hermes paper): what is left is the base program and a few
//! lines.
//!
//! **Invariant:** what is handed on is equivalent to its base program, by all who
//! judge variants.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use optsleuth_compiler::driver::{Driver, Family};
use optsleuth_model::{
    Case, CaseKind, CompilerSpec, Conditions, Execution, OptLevel, Pipeline, Progress, Trigger,
    VariantTrigger,
};
use optsleuth_mutate::emi::{SnippetKind, snippets, unmarked, without};
use optsleuth_search::Minimizer;

use super::base_program::{FailedTest, Generation};
use super::compilers::{Compilers, Lane, TestedCompiler, Way};
use super::trial::Source;
use super::valid::{Judges, Verdict};
use crate::HuntError;
use crate::campaign::{DedupKey, Minimal, Minimized, Reproducer, TestResult};

/// So many candidates are tried to take snippets out of one variant. A number,
/// because what is found must not depend on how fast a machine is.
const CANDIDATES: usize = 200;
/// Where nearly every candidate runs until it is stopped, that takes too long.
const PATIENCE: Duration = Duration::from_secs(300);
/// The program of a case.
const INPUT: &str = "program.c";

/// A variant, and the test that fails on it.
pub(super) struct VariantReproducer<'a, 'l> {
    pub(super) compilers: &'a Compilers,
    pub(super) judges: &'a Judges,
    pub(super) lane: &'a mut Lane<'l>,
    /// The base program's name.
    pub(super) program: &'a str,
    pub(super) expected: &'a Execution,
    pub(super) generation: &'a Generation,
    pub(super) failed: &'a FailedTest,
    /// All levels at which it fails so.
    pub(super) levels: Vec<OptLevel>,
}

impl Reproducer for VariantReproducer<'_, '_> {
    fn minimize(&mut self, progress: &dyn Progress) -> Result<Minimized, HuntError> {
        let dismissed = |why: &str| Ok(Minimized::Dismissed(why.to_owned()));
        let source = Source::new(unmarked(&self.generation.text))?;
        match self.test(&source)? {
            TestResult::Trouble => return dismissed("the harness could not run it again"),
            result if !result.is_like(&self.failed.mark) => {
                return dismissed("it fails once, and not again");
            }
            _ => {}
        }
        match self.fewest_snippets(progress)? {
            Ok(text) => Ok(Minimized::Minimal(Box::new(self.minimal(&text)))),
            Err(why) => dismissed(&why),
        }
    }
}

impl VariantReproducer<'_, '_> {
    fn compiler(&self) -> &TestedCompiler {
        &self.compilers.all[self.failed.compiler]
    }

    fn kind(&self) -> CaseKind {
        self.failed.mark.kind
    }

    /// What the test shows of a program.
    fn test(&mut self, source: &Source) -> Result<TestResult, HuntError> {
        let FailedTest { compiler, level, .. } = *self.failed;
        Ok(self.compilers.test(compiler, level, source, self.expected, self.lane)?.0)
    }

    /// What all judges say of a text with markers.
    fn judged(&mut self, marked: &str) -> Result<Verdict, HuntError> {
        let source = Source::new(unmarked(marked))?;
        self.judges.judge(&source, self.expected, self.lane.fence)
    }

    /// The variant without what the failure does not need, with markers; `Err`
    /// inside is why nothing can be said of it. Where every run takes all of its
    /// time, it stays as it is.
    fn fewest_snippets(
        &mut self,
        progress: &dyn Progress,
    ) -> Result<Result<String, String>, HuntError> {
        let text = &self.generation.text;
        let ids: Vec<u32> = snippets(text).iter().map(|snippet| snippet.id).collect();
        let left = |kept: &[usize]| -> String {
            let kept: BTreeSet<usize> = kept.iter().copied().collect();
            let gone = ids.iter().enumerate().filter(|(place, _)| !kept.contains(place));
            without(text, &gone.map(|(_, id)| *id).collect())
        };
        let deadline = Instant::now() + PATIENCE;
        let mut minimizer = Minimizer::new(ids.len());
        let mut n_candidates = 0;
        while !minimizer.is_done()
            && !is_slow(self.kind())
            && n_candidates < CANDIDATES
            && Instant::now() < deadline
            && !progress.stop_requested()
        {
            let mut answers = Vec::new();
            for kept in minimizer.ask(1) {
                let source = Source::new(unmarked(&left(&kept)))?;
                let verdict = self.judges.by_clang(&source, self.expected, self.lane.fence)?;
                let fails = may_accuse(&verdict, self.kind())
                    && self.test(&source)?.is_like(&self.failed.mark);
                answers.push(fails);
                n_candidates += 1;
            }
            minimizer.tell(&answers);
        }
        let mut minimal = left(minimizer.kept());
        let mut verdict = self.judged(&minimal)?;
        if let Verdict::Different(why) = &verdict {
            tracing::warn!(why, "snippets cannot be taken out of a variant");
            minimal.clone_from(text);
            verdict = self.judged(&minimal)?;
        }
        let may_accuse = may_accuse(&verdict, self.kind());
        match verdict {
            Verdict::Different(why) | Verdict::Undecided(why) if !may_accuse => Ok(Err(why)),
            Verdict::Equivalent
            | Verdict::Different(_)
            | Verdict::Undecided(_)
            | Verdict::Outvoted(_) => Ok(Ok(minimal)),
        }
    }

    fn minimal(&self, text: &str) -> Minimal {
        let (compiler, level) = (self.compiler(), self.failed.level.name());
        let mark = &self.failed.mark;
        let needed = snippets(text);
        let kinds: BTreeSet<&str> =
            needed.iter().map(|snippet| SnippetKind::name(snippet.kind)).collect();
        let kinds: Vec<String> = kinds.into_iter().map(str::to_owned).collect();
        let levels: Vec<String> = self.levels.iter().map(|one| one.name().to_owned()).collect();
        let trigger = VariantTrigger {
            compiler: compiler.name.clone(),
            level: level.to_owned(),
            strategy: self.generation.strategy.map(|strategy| strategy.name().to_owned()),
            generation: self.generation.number,
            snippets: kinds.clone(),
            n_needed: needed.len() as u64,
            n_snippets: snippets(&self.generation.text).len() as u64,
            bytes: text.len() as u64,
        };
        let shows = match is_slow(mark.kind) {
            // Which snippets it needs was not found out.
            true => levels.join(" "),
            false => format!("{} by {}", levels.join(" "), or_base_program(&kinds)),
        };
        Minimal {
            key: DedupKey::of(&compiler.name, mark, shows),
            name: format!("{}-{level}", file_name(&compiler.name)),
            text: unmarked(text).into_bytes(),
            cases: self.cases(),
            levels,
            is_slow: is_slow(mark.kind),
            trigger: Trigger::Variant(trigger),
        }
    }

    /// The cases that a failure may be, the most useful first: what shows inside
    /// LLVM can be bisected and localized.
    fn cases(&self) -> Vec<Case> {
        let FailedTest { level, mark, .. } = self.failed;
        let compiler = self.compiler();
        let inside = |major: u32| CompilerSpec::Llvm(major.to_string());
        let (specs, fault) = match &compiler.way {
            Way::Inside(llvm) => {
                // What clang's front end does shows in its driver alone.
                let driver = Driver::find(&format!("{}-{}", Family::Clang, llvm.install.major));
                let driver = driver.ok().filter(|_| llvm.fault.is_none());
                let own = driver.map(|driver| driver.spec());
                let specs = std::iter::once(inside(llvm.install.major)).chain(own).collect();
                (specs, llvm.fault.clone())
            }
            Way::Driver(driver) => {
                let own = driver.spec();
                let is_path = driver.name.contains('/');
                match driver.family {
                    Family::Clang if !is_path => (vec![inside(driver.major), own], None),
                    Family::Clang | Family::Gcc => (vec![own], None),
                }
            }
        };
        // Another crash of a driver is another bug.
        let is_drivers_crash =
            mark.kind == CaseKind::Crash && matches!(compiler.way, Way::Driver(_));
        let signature = is_drivers_crash.then(|| mark.signature.clone());
        let made_by = match self.generation.strategy {
            Some(strategy) => format!("a variant that {} made", strategy.name()),
            None => "the program itself".to_owned(),
        };
        let source = format!("found by `optsleuth hunt variants` on {}, {made_by}", self.program);
        let expected = String::from_utf8_lossy(&self.expected.stdout).trim().to_owned();
        let case = |spec: CompilerSpec| Case {
            id: "examined".to_owned(),
            title: None,
            source: Some(source.clone()),
            compiler: spec,
            fault: fault.clone(),
            input: INPUT.to_owned(),
            pipeline: Pipeline::Level(*level),
            front_end: None,
            flags: Vec::new(),
            cflags: Vec::new(),
            kind: mark.kind,
            signature: signature.clone(),
            expected: (mark.kind == CaseKind::WrongCode).then(|| expected.clone()),
            observed: None,
            fails_in: vec![compiler.version.clone()],
            fixed_in: None,
            execution: Conditions::default(),
            truth: None,
        };
        specs.into_iter().map(case).collect()
    }
}

/// Whether a program of which judges say so may accuse a compiler of this. Where
/// they do not know, what it does is not certain; that a compiler falls over it
/// is.
fn may_accuse(verdict: &Verdict, kind: CaseKind) -> bool {
    match verdict {
        Verdict::Equivalent | Verdict::Outvoted(_) => true,
        Verdict::Different(_) => false,
        Verdict::Undecided(_) => kind != CaseKind::WrongCode,
    }
}

/// Whether every run takes all of its time.
fn is_slow(kind: CaseKind) -> bool {
    match kind {
        CaseKind::Hang | CaseKind::Memory => true,
        CaseKind::Crash | CaseKind::InvalidIr | CaseKind::Codegen | CaseKind::WrongCode => false,
    }
}

/// The kinds of snippets in words.
fn or_base_program(kinds: &[String]) -> String {
    if kinds.is_empty() { "the program itself".to_owned() } else { kinds.join(" ") }
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
    fn what_may_accuse_depends_on_the_kind() {
        let open = Verdict::Undecided("gcc crashes".to_owned());
        assert!(may_accuse(&open, CaseKind::Crash) && !may_accuse(&open, CaseKind::WrongCode));
        assert!(!may_accuse(&Verdict::Different("prints 4".to_owned()), CaseKind::Crash));
        assert_eq!(or_base_program(&[]), "the program itself");
        let kinds = ["false-block", "true-guard"].map(str::to_owned);
        assert_eq!(or_base_program(&kinds), "false-block true-guard");
    }
}
