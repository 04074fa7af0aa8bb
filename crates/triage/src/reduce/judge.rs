//! Does this candidate still fail as the case does? Candidates in, on all
//! workers at once -> the first that does.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use optsleuth_case::definedness::{Kept, Promises};
use optsleuth_case::oracle::Oracle;
use optsleuth_compiler::llvm::Pool;
use optsleuth_model::{CaseKind, Program, Progress, RunRequest};
use optsleuth_search::Minimizer;

use super::lane::{Lane, Tally};
use super::question::{Candidate, Question};
use super::sight::{fails_as_process, is_right_unmodified, keeps_promises, look_at_program};
use super::source::Source;
use crate::TriageError;

/// The referee's steps for the program that is to be reduced: a second, or less.
const STEPS: u64 = 20_000_000;

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

/// The workers, and what is asked of them.
pub struct Judge<'a> {
    pub(super) lanes: Vec<Lane<'a>>,
    pub question: Question,
    /// How candidates in C are read.
    pub(super) source: Option<Source>,
    pub patience: Patience<'a>,
    pub(super) tally: Tally,
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
        Judge { lanes, question, source: None, patience, tally: Tally::default() }
    }

    /// How many runs were made.
    pub fn n_runs(&self) -> usize {
        self.tally.n_runs()
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
            && !fails_as_process(&self.question, lane, &oracle, &self.tally)?
        {
            return Ok(false);
        }
        self.question.oracle = oracle;
        Ok(true)
    }

    /// The same for the text of a C program. It is loaded then, unless a
    /// driver compiles it.
    pub fn accepts_source(&mut self, text: &str) -> Result<bool, TriageError> {
        let Some(lane) = self.lanes.first_mut() else { return Ok(false) };
        let Some(source) = &self.source else { return Ok(false) };
        if source.is_of_driver() {
            let sight = source.look_at(&self.question.unhurried(), text, lane, &self.tally)?;
            let Some(oracle) = sight else { return Ok(false) };
            self.question.oracle = oracle;
            return Ok(true);
        }
        let is_accepted = source.look_at(&self.question, text, lane, &self.tally)?.is_some();
        Ok(is_accepted && self.accepts_loaded()?)
    }

    /// Finds out what a C program is clean of, for its descendants.
    pub(super) fn hold_to_source(&mut self, text: &str) -> Result<(), TriageError> {
        let (Some(lane), Some(source)) = (self.lanes.first_mut(), &mut self.source) else {
            return Ok(());
        };
        source.hold_to(text, lane, &self.question, &self.tally)
    }

    /// Finds out whether the loaded program keeps what IR demands of it, for its
    /// descendants.
    pub fn find_promises(&mut self) -> Result<(), TriageError> {
        let Some(lane) = self.lanes.first_mut() else { return Ok(()) };
        let Some(expected) = self.question.oracle.expected().cloned() else { return Ok(()) };
        let asked = (Promises { steps: STEPS }, &expected);
        let kept = keeps_promises(&self.question, lane, None, asked, &self.tally)?;
        self.question.promises = kept.map(Kept::for_descendants);
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
        let (question, source, tally) = (&self.question, self.source.as_ref(), &self.tally);
        let work = |lane: &mut Lane<'_>| loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= candidates.len().min(first.load(Ordering::Relaxed)) {
                return;
            }
            let Some(candidate) = &candidates[index] else { continue };
            let answer = look_at(question, source, lane, candidate, tally);
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
    source: Option<&Source>,
    lane: &mut Lane<'_>,
    candidate: &Candidate,
    tally: &Tally,
) -> Result<bool, TriageError> {
    if tally.has_hung_enough() {
        return Ok(false);
    }
    let fails = oracle_of(question, source, lane, candidate, tally)?.is_some();
    if fails && question.oracle.kind() == CaseKind::Hang {
        tally.add_hang();
    }
    Ok(fails)
}

/// The oracle for a candidate, if that fails as the case does.
pub(super) fn oracle_of(
    question: &Question,
    source: Option<&Source>,
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
        Candidate::Source(text) => match source {
            Some(source) => source.look_at(question, text, lane, tally),
            None => Ok(None),
        },
    }
}
