//! A pass sequence that makes LLVM fail -> as few passes as it takes.
//!
//! The sequence is reduced before the program because that is quick, and because
//! its last pass tells most duplicates (the CTOS paper, Section 4.2).
//!
//! **Invariant:** the program is loaded in all workers, and stays so.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use optsleuth_case::oracle::{Oracle, Verdict, is_limit};
use optsleuth_case::refinement::{Refined, Refinement};
use optsleuth_case::workers::{LlvmChoice, Workers};
use optsleuth_model::{
    Case, CaseKind, CompilerSpec, Conditions, Element, Execution, Limits, Outcome, PassSequence,
    PassTrigger, Pipeline, ProgramSize, Progress, RunRequest, Trigger,
};
use optsleuth_triage::reduce::{Judge, Patience, Question, fewer_passes};

use super::choice::{leaf_name, names};
use super::request::request;
use super::sequences::sequence;
use super::wrong_code::KnownWrongCode;
use crate::HuntError;
use crate::campaign::{DedupKey, Deviation, Fate, Minimal, Minimized, Reproducer, TestResult};
use crate::programs::TestProgram;

/// A hang's candidates get this much CPU time.
const HANG: Duration = Duration::from_secs(1);
/// How long the passes of one deviation are reduced, at most.
const PATIENCE: Duration = Duration::from_secs(60);

/// After so many, others of the same program that go wrong in just the same way
/// are taken for the same bug.
const ENOUGH_ALIKE: usize = 4;

/// What is the same for all sequences of a hunt.
#[derive(Debug)]
pub(super) struct Common {
    pub(super) llvm: LlvmChoice,
    /// What the default pipelines run.
    pub(super) default_passes: BTreeSet<String>,
}

/// A program and a sequence by which LLVM fails on it.
pub(super) struct SequenceReproducer<'a> {
    pub(super) common: &'a Common,
    pub(super) workers: &'a mut Workers,
    pub(super) wrong_code: &'a mut KnownWrongCode,
    pub(super) program: &'a TestProgram,
    pub(super) deviation: &'a Deviation,
    /// What became of others of the same program with the same wrong behaviour.
    pub(super) alike: Vec<Fate>,
    pub(super) drawn: &'a [Element],
    /// What is left of the sequence, once it was reduced.
    pub(super) reduced: Option<Reduced>,
}

/// A failure with few passes.
pub(super) struct Reduced {
    pub(super) passes: PassSequence,
    oracle: Oracle,
    outcome: Outcome,
}

impl Reproducer for SequenceReproducer<'_> {
    fn minimize(&mut self, progress: &dyn Progress) -> Result<Minimized, HuntError> {
        let dismissed = |why: &str| Ok(Minimized::Dismissed(why.to_owned()));
        let Some(passes) = sequence(self.drawn) else {
            return dismissed("there is nothing to run");
        };
        let (program, workers) = (self.program, &mut *self.workers);
        let mut kind = self.deviation.mark.kind;
        if kind == CaseKind::WrongCode
            && let Some(known) = self.wrong_code.shown_by(workers, program, self.drawn)?
        {
            return Ok(Minimized::Duplicate(known));
        }
        if self.alike.len() >= ENOUGH_ALIKE
            && let Some(fate) = self.alike.last()
        {
            return Ok(match fate {
                Fate::Finding(number) => Minimized::Duplicate(*number),
                Fate::Dismissed(why) => Minimized::Dismissed(why.clone()),
            });
        }
        let Some(reduced) = fewest_passes(workers, program, kind, &passes, progress)? else {
            return dismissed(match kind {
                CaseKind::Hang => "LLVM is slow, but ends",
                _ => "it fails once, and not again",
            });
        };
        let reduced = match broken_before(workers, program, kind, &reduced, progress)? {
            Some(cause) => {
                kind = CaseKind::InvalidIr;
                cause
            }
            None => reduced,
        };
        let cause = match kind {
            CaseKind::WrongCode => first_wrong_pass(self.workers, &reduced.passes)?,
            _ => None,
        };
        let minimal = self.minimal(kind, &reduced, cause);
        self.reduced = Some(reduced);
        Ok(Minimized::Minimal(Box::new(minimal)))
    }

    /// Whether the program's behaviour is defined, and at which levels it fails.
    fn vet(
        &mut self,
        minimal: &mut Minimal,
        progress: &dyn Progress,
    ) -> Result<Option<String>, HuntError> {
        let Some(reduced) = &self.reduced else { return Ok(None) };
        if minimal.key.kind == CaseKind::WrongCode && !is_defined(self.workers, reduced, progress)?
        {
            return Ok(Some("the program's behaviour is not defined".to_owned()));
        }
        minimal.levels = levels(self.workers, minimal.key.kind, reduced)?;
        Ok(None)
    }
}

impl SequenceReproducer<'_> {
    /// `cause` is the pass to blame, where that is known.
    fn minimal(&self, kind: CaseKind, reduced: &Reduced, cause: Option<String>) -> Minimal {
        let Deviation { compiler, .. } = self.deviation;
        let Reduced { passes, outcome, .. } = reduced;
        let mut key = dedup_key(compiler, kind, passes, outcome, &self.program.expected);
        key.pass = cause.or(key.pass);
        let is_endless = reduced.outcome.execution().is_some_and(|found| is_limit(found.end));
        let ir = String::from_utf8_lossy(&self.program.program.ir);
        let own = names(&reduced.passes);
        let trigger = PassTrigger {
            passes: reduced.passes.to_string(),
            n_passes: self.drawn.len(),
            default_passes_only: own.iter().all(|name| self.common.default_passes.contains(name)),
            instructions: ProgramSize::of(&[], &ir).instructions,
        };
        Minimal {
            name: key.pass.clone().unwrap_or_default(),
            key,
            text: self.program.text().to_vec(),
            cases: vec![self.case(kind, reduced)],
            levels: Vec::new(),
            is_slow: is_endless || matches!(kind, CaseKind::Hang | CaseKind::Memory),
            trigger: Trigger::Passes(trigger),
        }
    }

    fn case(&self, kind: CaseKind, reduced: &Reduced) -> Case {
        let install = &self.workers.install;
        let compiler = match &self.common.llvm {
            LlvmChoice::Config(path) => CompilerSpec::LlvmConfig(path.display().to_string()),
            LlvmChoice::Version(_) | LlvmChoice::Newest => {
                CompilerSpec::Llvm(install.major.to_string())
            }
        };
        let name = &self.program.name;
        Case {
            id: "examined".to_owned(),
            title: None,
            source: Some(format!("found by `optsleuth hunt passes` on program {name}")),
            compiler,
            fault: None,
            input: self.program.file_name().to_owned(),
            pipeline: Pipeline::Passes(reduced.passes.to_string()),
            flags: Vec::new(),
            front_end: None,
            cflags: Vec::new(),
            kind,
            signature: None,
            expected: reduced
                .oracle
                .expected_output()
                .filter(|_| kind == CaseKind::WrongCode)
                .map(|text| text.trim().to_owned()),
            observed: None,
            fails_in: vec![install.version.clone()],
            fixed_in: None,
            execution: Conditions::default(),
            truth: None,
        }
    }
}

/// The failure again, with as few passes as it takes; `None` if it does not
/// come again.
fn fewest_passes(
    workers: &mut Workers,
    program: &TestProgram,
    kind: CaseKind,
    passes: &PassSequence,
    progress: &dyn Progress,
) -> Result<Option<Reduced>, HuntError> {
    let request = request(kind, passes);
    let first = workers.pool.first().run(&request)?.outcome;
    let expected = (kind == CaseKind::WrongCode).then(|| program.expected.clone());
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

/// The first pass of a sequence after which the referee finds the loaded program
/// wrong. A later one may be the first to make it show.
fn first_wrong_pass(
    workers: &mut Workers,
    passes: &PassSequence,
) -> Result<Option<String>, HuntError> {
    let registry = workers.registry.clone();
    let worker = workers.pool.first();
    let Ok(refinement) = Refinement::of_loaded(worker, Limits::STANDARD)? else { return Ok(None) };
    let elements = passes.optimizations();
    for end in 1..=elements.len() {
        let beginning = sequence(&elements[..end]).and_then(|flat| flat.resolve(&registry).ok());
        let Some(beginning) = beginning else { return Ok(None) };
        let result = worker.run(&refinement.request(RunRequest::new(Some(beginning)), None))?;
        match refinement.judge(result.interpretation.as_ref()) {
            Refined::Right => {}
            Refined::Wrong => return Ok(Some(leaf_name(&elements[end - 1]).to_owned())),
            Refined::Unknown(_) => return Ok(None),
        }
    }
    Ok(None)
}

/// A crash, or wrong code, may come of IR that an earlier pass broke: that is
/// the bug then.
fn broken_before(
    workers: &mut Workers,
    program: &TestProgram,
    kind: CaseKind,
    reduced: &Reduced,
    progress: &dyn Progress,
) -> Result<Option<Reduced>, HuntError> {
    if !matches!(kind, CaseKind::Crash | CaseKind::WrongCode | CaseKind::Codegen) {
        return Ok(None);
    }
    fewest_passes(workers, program, CaseKind::InvalidIr, &reduced.passes, progress)
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
    judge.find_promises()?;
    Ok(judge.question.keeps_promises() && judge.accepts_loaded()?)
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

/// What tells a failure with few passes from others.
fn dedup_key(
    compiler: &str,
    kind: CaseKind,
    passes: &PassSequence,
    outcome: &Outcome,
    expected: &Execution,
) -> DedupKey {
    let pass = Some(blamed_pass(passes, outcome));
    match TestResult::of(outcome, expected) {
        TestResult::Wrong(mark) => {
            DedupKey { kind, pass, ..DedupKey::of(compiler, &mark, String::new()) }
        }
        _ => DedupKey {
            compiler: compiler.to_owned(),
            kind,
            pass,
            signature: String::new(),
            shows: String::new(),
        },
    }
}

/// The pass that a failure is filed under: the one it happened in, where that
/// is one of the sequence; the last one otherwise. They differ because LLVM
/// takes a function through several passes before it comes to the next.
fn blamed_pass(passes: &PassSequence, outcome: &Outcome) -> String {
    let names = names(passes);
    let plain = |name: &str| {
        let letters: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        letters.to_ascii_lowercase().trim_end_matches("pass").to_owned()
    };
    let happened_in = match outcome {
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

#[cfg(test)]
mod tests {
    use std::num::NonZero;
    use std::path::Path;

    use optsleuth_compiler::llvm::{Flavor, Targets};
    use optsleuth_model::{Silent, Stage};

    use super::*;
    use crate::campaign::example::{crash, in_gvn, prints};

    /// Whether both kinds of hunts give the same key for an outcome; a hunt with
    /// variants knows the pass by bisection, where its run does not say it.
    fn check(kind: CaseKind, outcome: &Outcome, expected: &str) {
        let passes: PassSequence = "function(gvn,sroa)".parse().unwrap();
        let passes = match kind {
            // The last pass is to blame where no run says so.
            CaseKind::WrongCode => "function(sroa,gvn)".parse().unwrap(),
            _ => passes,
        };
        let by_passes = dedup_key("llvm-19", kind, &passes, outcome, &prints("1"));
        let TestResult::Wrong(mark) = TestResult::of(outcome, &prints("1")) else {
            panic!("{outcome:?}")
        };
        let mut by_variants = DedupKey::of("llvm-19", &mark, "O2 by true-guard".to_owned());
        if !by_variants.is_complete() {
            by_variants.pass = Some("gvn".to_owned());
        }
        assert_eq!(by_passes.to_string(), expected);
        assert_eq!(by_variants.to_string(), expected);
    }

    #[test]
    fn wrong_code_is_filed_under_the_pass_that_makes_it() {
        let choice = LlvmChoice::Version(19);
        let mut workers =
            Workers::set_up(&choice, Targets::Native, Flavor::Plain, NonZero::new(1), &Silent)
                .unwrap();
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/first-wrong/forced.c");
        let options = ["-force-attribute=add:noreturn".to_owned()];
        workers.load(Path::new(file), &[], &options, Limits::STANDARD).unwrap();
        let mut check = |passes: &str, expected: Option<&str>| {
            let passes = workers.passes(passes).unwrap();
            assert_eq!(first_wrong_pass(&mut workers, &passes).unwrap().as_deref(), expected);
        };
        check("sroa,forceattrs,simplifycfg", Some("forceattrs"));
        check("forceattrs,sroa", Some("forceattrs"));
        // Nothing is wrong with these.
        check("sroa,simplifycfg", None);
    }

    #[test]
    fn both_kinds_of_hunts_give_the_same_key_for_the_same_failure() {
        check(CaseKind::Crash, &crash(Stage::Pipeline), "llvm-19 | crash | gvn | boom N");
        let invalid = Outcome::InvalidIr { invocation: in_gvn(), message: "PHI 7 is bad".into() };
        check(CaseKind::InvalidIr, &invalid, "llvm-19 | invalid-ir | gvn | PHI N is bad");
        let hang = Outcome::Timeout { invocation: in_gvn() };
        check(CaseKind::Hang, &hang, "llvm-19 | hang | gvn | ");
        let wrong = Outcome::Ok(Some(prints("2")));
        check(CaseKind::WrongCode, &wrong, "llvm-19 | wrong-code | gvn | ");
    }
}
