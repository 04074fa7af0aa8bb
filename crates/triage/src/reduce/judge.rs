//! Does this candidate still fail as the case does? Candidates in, on all
//! workers at once -> the first that does.
//!
//! A candidate has other passes, an edited program, or another program
//! altogether. For wrong code, a changed program's own unoptimized behaviour is
//! what it is measured by, and has to be defined: see [`super::defined`].
//!
//! **Invariant:** what the harness could not run does not count as failing.

use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use optsleuth_case::CaseError;
use optsleuth_case::oracle::{Oracle, Verdict};
use optsleuth_compiler::llvm::{Pool, RunError, Worker};
use optsleuth_compiler::spawn::ToolError;
use optsleuth_model::{
    CaseKind, Edit, Execution, Limits, Outcome, PassSequence, Program, ProgramEnd, Progress,
    RunRequest, RunResult,
};
use optsleuth_search::Minimizer;

use super::c::Source;
use super::defined;
use crate::TriageError;

/// Every hang costs all of its time; after so many of them nothing more is
/// tried.
const MOST_HANGS: usize = 60;
/// So many runs that the harness could not make are too many.
const MOST_TROUBLES: usize = 20;

/// When to end, with what there is.
#[derive(Clone, Copy)]
pub struct Patience<'a> {
    /// `None`: whenever nothing more can be done.
    pub deadline: Option<Instant>,
    /// Who waits, and may have enough.
    pub progress: &'a dyn Progress,
}

impl Patience<'_> {
    /// Half of what is left of it, for the first of two.
    pub fn half(self) -> Self {
        let now = Instant::now();
        let deadline = self.deadline.map(|end| now + end.saturating_duration_since(now) / 2);
        Patience { deadline, ..self }
    }

    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        self.progress.stop_requested() || self.deadline.is_some_and(|end| Instant::now() >= end)
    }
}

/// What counts as the same failure.
#[derive(Clone, Debug)]
pub struct Question {
    /// The failing run.
    pub request: RunRequest,
    /// What the failing run itself may use; candidates may get less.
    full_limits: Limits,
    /// LLVM options that every program is loaded under.
    pub options: Vec<String>,
    /// Knows the failure.
    pub oracle: Oracle,
    /// How a wrong program ends.
    manner: Option<Manner>,
    /// Whether the program keeps what IR demands of it, so that its descendants
    /// can be held to it.
    pub guarded: bool,
    /// How candidates in C are read.
    pub(super) source: Option<Source>,
}

/// In which way a program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    Exits,
    Signal,
    Limit,
}

impl Manner {
    pub(super) fn of(execution: &Execution) -> Manner {
        match execution.end {
            ProgramEnd::Exited(_) => Manner::Exits,
            ProgramEnd::Signaled(_) => Manner::Signal,
            ProgramEnd::Timeout | ProgramEnd::OutOfMemory | ProgramEnd::OutputLimit => {
                Manner::Limit
            }
        }
    }
}

/// One thing to try.
#[derive(Clone, Debug)]
pub enum Candidate {
    /// Other passes.
    Passes(PassSequence),
    /// The loaded program, edited.
    Edited(Edit),
    /// The text of another module, to be loaded.
    Ir(String),
    /// The text of a C program, to be compiled and loaded.
    Source(String),
}

/// A worker, and beside it one without the fault where the case has one. Both
/// have the same program loaded.
pub struct Lane<'a> {
    pub(super) worker: &'a mut Worker,
    unmodified: Option<&'a mut Worker>,
}

/// The workers, and what is asked of them.
pub struct Judge<'a> {
    pub(super) lanes: Vec<Lane<'a>>,
    pub question: Question,
    pub patience: Patience<'a>,
    pub(super) tally: Tally,
}

/// What was done so far.
#[derive(Debug, Default)]
pub(super) struct Tally {
    runs: AtomicUsize,
    hangs: AtomicUsize,
    troubles: AtomicUsize,
}

impl Question {
    /// What fails as `first` does, which is the outcome of `request`.
    pub fn new(
        request: RunRequest,
        options: &[String],
        oracle: Oracle,
        first: &Outcome,
    ) -> Question {
        let manner = match (oracle.kind(), first) {
            (CaseKind::WrongCode, Outcome::Ok(Some(execution))) => Some(Manner::of(execution)),
            _ => None,
        };
        let oracle = oracle.like(first);
        let (full_limits, options) = (request.limits, options.to_vec());
        Question { request, full_limits, options, oracle, manner, guarded: false, source: None }
    }

    /// A hang's candidates get less time than the hang itself got.
    pub fn hang_within(&mut self, time: Duration) {
        if self.oracle.kind() == CaseKind::Hang {
            self.request.limits.compile = self.request.limits.compile.min(time);
        }
    }

    /// The same question with all the time of the failing run.
    fn unhurried(&self) -> Question {
        let request = RunRequest { limits: self.full_limits, ..self.request.clone() };
        Question { request, ..self.clone() }
    }

    /// Whether a run fails as the case does, by what this oracle knows.
    pub(super) fn is_failure(&self, oracle: &Oracle, outcome: &Outcome) -> bool {
        let same_manner = match (self.manner, outcome) {
            (Some(manner), Outcome::Ok(Some(execution))) => Manner::of(execution) == manner,
            (Some(_), _) => false,
            (None, _) => true,
        };
        same_manner && oracle.judge(outcome) == Verdict::Fails
    }
}

impl Lane<'_> {
    /// The worker that says what a program should do: a compiler with a fault
    /// is not asked, because its code generator may have it, too.
    pub(super) fn reference(&mut self) -> &mut Worker {
        match &mut self.unmodified {
            Some(worker) => worker,
            None => self.worker,
        }
    }

    /// Loads another program; `false` if that cannot be had.
    pub(super) fn takes(
        &mut self,
        program: &Program,
        question: &Question,
        tally: &Tally,
    ) -> Result<bool, TriageError> {
        Ok(tally.answer(self.load(program, question))?.is_some())
    }

    fn load(&mut self, program: &Program, question: &Question) -> Result<(), RunError> {
        let limits = Limits::STANDARD;
        self.worker.load(program, &question.options, limits)?;
        match &mut self.unmodified {
            Some(worker) => worker.load(program, &question.options, limits),
            None => Ok(()),
        }
    }
}

impl Tally {
    /// The result of a run; `None` if there is none because of the candidate.
    pub(super) fn run(
        &self,
        worker: &mut Worker,
        request: &RunRequest,
    ) -> Result<Option<RunResult>, TriageError> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        self.answer(worker.run(request))
    }

    fn answer<T>(&self, result: Result<T, RunError>) -> Result<Option<T>, TriageError> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(
                RunError::BadEdit(_)
                | RunError::BadPipeline(_)
                | RunError::BadModule { .. }
                | RunError::ForeignTarget { .. }
                | RunError::DoesNotCompile(_)
                | RunError::DoesNotLink(_)
                | RunError::TooLarge { .. },
            ) => Ok(None),
            Err(error @ (RunError::Lost { .. } | RunError::Trouble(_))) => self.trouble(&error),
            Err(
                error @ (RunError::BadOptions(_)
                | RunError::NoShape(_)
                | RunError::NoSandbox
                | RunError::NotInstrumented
                | RunError::NoClang(_)
                | RunError::Protocol(_)
                | RunError::Registry(_)
                | RunError::Io { .. }),
            ) => Err(error.into()),
        }
    }

    /// The same for what a driver makes of a candidate.
    pub(super) fn tried<T>(
        &self,
        run: impl FnOnce() -> Result<T, TriageError>,
    ) -> Result<Option<T>, TriageError> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        match run() {
            Ok(value) => Ok(Some(value)),
            Err(TriageError::Case(CaseError::Run(error))) => self.answer(Err(error)),
            Err(TriageError::Case(CaseError::Tool(error @ ToolError::Failed { .. }))) => {
                self.trouble(&error)
            }
            Err(error) => Err(error),
        }
    }

    /// A candidate that could not be run: it does not count, unless there are
    /// too many.
    fn trouble<T>(&self, error: &dyn Error) -> Result<Option<T>, TriageError> {
        tracing::warn!(%error, "a candidate could not be run");
        match self.troubles.fetch_add(1, Ordering::Relaxed) {
            n if n >= MOST_TROUBLES => Err(TriageError::Troubled(n)),
            _ => Ok(None),
        }
    }

    fn has_hung_enough(&self) -> bool {
        self.hangs.load(Ordering::Relaxed) >= MOST_HANGS
    }
}

impl<'a> Judge<'a> {
    /// A judge with these workers, all of which have the program loaded. A
    /// fault's case brings the compiler without it.
    pub fn new(
        pools: (&'a mut Pool, Option<&'a mut Pool>),
        question: Question,
        patience: Patience<'a>,
    ) -> Judge<'a> {
        let (pool, unmodified) = pools;
        let workers = pool.workers().iter_mut();
        let lanes = match unmodified {
            None => workers.map(|worker| Lane { worker, unmodified: None }).collect(),
            Some(unmodified) => workers
                .zip(unmodified.workers())
                .map(|(worker, unmodified)| Lane { worker, unmodified: Some(unmodified) })
                .collect(),
        };
        Judge { lanes, question, patience, tally: Tally::default() }
    }

    /// How many runs were made.
    pub fn n_runs(&self) -> usize {
        self.tally.runs.load(Ordering::Relaxed)
    }

    /// Loads a program into every worker.
    pub fn load(&mut self, program: &Program) -> Result<(), TriageError> {
        for lane in &mut self.lanes {
            lane.load(program, &self.question)?;
        }
        Ok(())
    }

    /// Whether the loaded program fails as the case does, in every way that it
    /// can be looked at. A new reference is taken over where it does.
    pub fn accepts_loaded(&mut self) -> Result<bool, TriageError> {
        let Some(lane) = self.lanes.first_mut() else { return Ok(false) };
        let unhurried = self.question.unhurried();
        let sight = look_at_program(&unhurried, lane, None, &self.tally)?;
        let Some(oracle) = sight else { return Ok(false) };
        if oracle.kind() == CaseKind::WrongCode
            && !defined::as_processes_too(&self.question, lane, &oracle, &self.tally)?
        {
            return Ok(false);
        }
        self.question.oracle = oracle;
        Ok(true)
    }

    /// The same for the text of a C program. It is loaded then, unless nobody but
    /// a driver compiles it.
    pub fn accepts_source(&mut self, text: &str) -> Result<bool, TriageError> {
        let Some(lane) = self.lanes.first_mut() else { return Ok(false) };
        let Some(source) = &self.question.source else { return Ok(false) };
        if source.is_of_driver() {
            let sight = source.look_at(&self.question.unhurried(), text, lane, &self.tally)?;
            let Some(oracle) = sight else { return Ok(false) };
            self.question.oracle = oracle;
            return Ok(true);
        }
        let is_accepted = source.look_at(&self.question, text, lane, &self.tally)?.is_some();
        Ok(is_accepted && self.accepts_loaded()?)
    }

    /// Finds out what a C program keeps to, for its descendants.
    pub(super) fn watch_source(&mut self, text: &str) -> Result<(), TriageError> {
        let (Some(lane), Some(source)) = (self.lanes.first_mut(), &mut self.question.source) else {
            return Ok(());
        };
        source.watch(text, lane, &self.question.oracle)
    }

    /// Finds out whether the loaded program keeps what IR demands of it.
    pub fn find_guard(&mut self) -> Result<(), TriageError> {
        let Some(lane) = self.lanes.first_mut() else { return Ok(()) };
        let Some(expected) = self.question.oracle.expected().cloned() else { return Ok(()) };
        self.question.guarded =
            defined::keeps_promises(&self.question, lane, None, &expected, &self.tally)?;
        Ok(())
    }

    /// Whether this candidate fails.
    pub fn fails(&mut self, candidate: Candidate) -> Result<bool, TriageError> {
        Ok(self.first_failing(&[Some(candidate)])?.contains(&true))
    }

    /// Whether each fails, up to the first that does; those after it may be
    /// missing. `None` is no candidate, and does not.
    fn first_failing(
        &mut self,
        candidates: &[Option<Candidate>],
    ) -> Result<Vec<bool>, TriageError> {
        let next = AtomicUsize::new(0);
        let first = AtomicUsize::new(candidates.len());
        let answers: Mutex<Vec<Result<bool, TriageError>>> =
            Mutex::new(candidates.iter().map(|_| Ok(false)).collect());
        let (question, tally) = (&self.question, &self.tally);
        let work = |lane: &mut Lane<'_>| loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= candidates.len().min(first.load(Ordering::Relaxed)) {
                return;
            }
            let Some(candidate) = &candidates[index] else { continue };
            let answer = look_at(question, lane, candidate, tally);
            if matches!(answer, Ok(true)) {
                first.fetch_min(index, Ordering::Relaxed);
            }
            answers.lock().unwrap_or_else(PoisonError::into_inner)[index] = answer;
        };
        thread::scope(|scope| {
            for lane in &mut self.lanes {
                scope.spawn(|| work(lane));
            }
        });
        let answers = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
        answers.into_iter().take(first.into_inner() + 1).collect()
    }

    /// Of `count` things that fail together, those that have to stay.
    /// `candidate` is made of what is kept. All are left out at once first.
    pub fn minimize(
        &mut self,
        count: usize,
        what: &str,
        candidate: &dyn Fn(&[usize]) -> Option<Candidate>,
    ) -> Result<Vec<usize>, TriageError> {
        if count > 1
            && let Some(none) = candidate(&[])
            && self.fails(none)?
        {
            return Ok(Vec::new());
        }
        let mut minimizer = Minimizer::new(count);
        while !minimizer.is_done() && !self.patience.is_over() && !self.tally.has_hung_enough() {
            self.patience.progress.step(&format!(
                "{what}: {} of {count} left, {} at a time",
                minimizer.kept().len(),
                minimizer.stretch(),
            ));
            let asked = minimizer.ask(self.lanes.len());
            let candidates: Vec<_> = asked.iter().map(|kept| candidate(kept)).collect();
            minimizer.tell(&self.first_failing(&candidates)?);
        }
        Ok(minimizer.kept().to_vec())
    }
}

/// Whether a candidate fails as the case does.
fn look_at(
    question: &Question,
    lane: &mut Lane<'_>,
    candidate: &Candidate,
    tally: &Tally,
) -> Result<bool, TriageError> {
    if tally.has_hung_enough() {
        return Ok(false);
    }
    let fails = oracle_of(question, lane, candidate, tally)?.is_some();
    let hung = fails && question.oracle.kind() == CaseKind::Hang;
    tally.hangs.fetch_add(usize::from(hung), Ordering::Relaxed);
    Ok(fails)
}

/// The oracle for a candidate, if that fails as the case does.
pub(super) fn oracle_of(
    question: &Question,
    lane: &mut Lane<'_>,
    candidate: &Candidate,
    tally: &Tally,
) -> Result<Option<Oracle>, TriageError> {
    match candidate {
        Candidate::Edited(edit) => look_at_program(question, lane, Some(edit), tally),
        Candidate::Passes(passes) => {
            let request = RunRequest { passes: Some(passes.clone()), ..question.request.clone() };
            let Some(result) = tally.run(lane.worker, &request)? else { return Ok(None) };
            let fails = question.is_failure(&question.oracle, &result.outcome)
                && is_right_unmodified(&question.oracle, lane, &request, tally)?;
            Ok(fails.then(|| question.oracle.clone()))
        }
        Candidate::Ir(text) => {
            let program = Program { name: "reduced.ll".to_owned(), ir: text.clone().into_bytes() };
            match lane.takes(&program, question, tally)? {
                true => look_at_program(question, lane, None, tally),
                false => Ok(None),
            }
        }
        Candidate::Source(text) => match &question.source {
            Some(source) => source.look_at(question, text, lane, tally),
            None => Ok(None),
        },
    }
}

/// The oracle for a changed program (the loaded one, or an edit of it), if that
/// fails as the case does.
pub(super) fn look_at_program(
    question: &Question,
    lane: &mut Lane<'_>,
    edit: Option<&Edit>,
    tally: &Tally,
) -> Result<Option<Oracle>, TriageError> {
    let request = RunRequest { edit: edit.cloned(), ..question.request.clone() };
    let Some(result) = tally.run(lane.worker, &request)? else { return Ok(None) };
    let mut oracle = question.oracle.clone();
    if oracle.kind() == CaseKind::WrongCode {
        // Without an end like the case's there is nothing to compare.
        let Outcome::Ok(Some(execution)) = &result.outcome else { return Ok(None) };
        if question.manner.is_some_and(|manner| manner != Manner::of(execution)) {
            return Ok(None);
        }
        let reference = defined::reference(question, lane, edit, tally)?;
        let Some(expected) = reference else { return Ok(None) };
        oracle = oracle.expecting(expected);
    }
    if !question.is_failure(&oracle, &result.outcome)
        || !is_right_unmodified(&oracle, lane, &request, tally)?
    {
        return Ok(None);
    }
    if oracle.kind() == CaseKind::WrongCode
        && !defined::is_defined(question, lane, edit, &oracle, tally)?
    {
        return Ok(None);
    }
    Ok(Some(oracle))
}

/// A case's fault is to blame only where the compiler without it does right.
fn is_right_unmodified(
    oracle: &Oracle,
    lane: &mut Lane<'_>,
    request: &RunRequest,
    tally: &Tally,
) -> Result<bool, TriageError> {
    let Some(worker) = &mut lane.unmodified else { return Ok(true) };
    let request = RunRequest { coverage: false, ..request.clone() };
    let result = tally.run(worker, &request)?;
    Ok(result.is_some_and(|result| oracle.judge(&result.outcome) == Verdict::Passes))
}
