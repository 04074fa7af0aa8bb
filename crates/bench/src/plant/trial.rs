//! One fault tried out: link, run what reaches it, and if it shows, the
//! shortest sequence on which it does.

use std::collections::BTreeSet;

use optsleuth_case::loaded::failing_request;
use optsleuth_case::oracle::{Oracle, is_limit, same_behaviour};
use optsleuth_case::workers::Workers;
use optsleuth_compiler::llvm::{FaultyBuilder, Flavor, Pool};
use optsleuth_model::{
    CaseKind, Fault, Limits, Outcome, PassSequence, Pipeline, Progress, RunRequest,
};
use optsleuth_triage::reduce::{Candidate, Judge, Patience, Question, fewer_passes};

use super::baseline::{Pair, SHORT, telling_request};
use super::pipelines::{is_long, length};
use super::programs::PlantProgram;
use crate::BenchError;

/// Every hang costs all of its time; so many are enough to know.
const ENOUGH_HANGS: usize = 2;

/// What there is to try faults with.
pub(super) struct FaultTrials<'a> {
    pub(super) builder: &'a FaultyBuilder,
    pub(super) unmodified: &'a mut Workers,
    pub(super) programs: &'a [PlantProgram],
    pub(super) pipelines: &'a [PassSequence],
}

/// What came of a fault.
#[derive(Debug)]
pub(super) enum Shown {
    /// Every run is as it was.
    NoEffect,
    /// The compiler does not even start, or takes no program.
    TooMuch,
    /// It fails, but in no way that makes a case, or not every time.
    Unstable,
    /// A case.
    Fails(Box<Failure>),
}

/// How a fault shows.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) kind: CaseKind,
    pub(super) program: usize,
    pub(super) passes: PassSequence,
    /// In a line.
    pub(super) what: String,
}

/// A run that went wrong.
struct Wrong {
    kind: CaseKind,
    program: usize,
    pipeline: usize,
}

impl FaultTrials<'_> {
    /// Tries a fault with the pairs that reach it.
    pub(super) fn try_fault(
        &mut self,
        fault: &Fault,
        pairs: &[&Pair],
        progress: &dyn Progress,
    ) -> Result<Shown, BenchError> {
        let provisioned = self.builder.build(fault, Flavor::Plain, &mut |_| ())?;
        let Ok(mut pool) = Pool::start(&provisioned) else { return Ok(Shown::TooMuch) };
        let mut failing_programs = BTreeSet::new();
        let mut wrong = Vec::new();
        let programs: BTreeSet<usize> = pairs.iter().map(|pair| pair.program).collect();
        for program in programs {
            let own: Vec<&&Pair> = pairs.iter().filter(|pair| pair.program == program).collect();
            if pool.load(&self.programs[program].program, &[], SHORT).is_err() {
                return Ok(Shown::TooMuch);
            }
            let requests: Vec<RunRequest> =
                own.iter().map(|pair| telling_request(&self.pipelines[pair.pipeline])).collect();
            let results = pool.run_all(&requests, &|_| ());
            for (pair, result) in own.iter().zip(results) {
                let Ok(result) = result else { return Ok(Shown::Unstable) };
                match failure_of(&result.outcome, &self.programs[program]) {
                    Seen::Right => {}
                    Seen::Odd => _ = failing_programs.insert(program),
                    Seen::Wrong(kind) => {
                        failing_programs.insert(program);
                        wrong.push(Wrong { kind, program, pipeline: pair.pipeline });
                    }
                }
            }
            if progress.stop_requested() {
                return Ok(Shown::Unstable); // Cut short: the caller forgets it.
            }
            let n_hangs = wrong.iter().filter(|one| one.kind == CaseKind::Hang).count();
            if n_hangs >= ENOUGH_HANGS {
                break;
            }
        }
        // No more than half of them: others do not reach the block.
        if failing_programs.is_empty() {
            return Ok(Shown::NoEffect);
        }
        wrong.sort_by_key(|one| {
            let passes = &self.pipelines[one.pipeline];
            let size = self.programs[one.program].program.ir.len();
            let is_hang = one.kind == CaseKind::Hang;
            (is_long(passes), is_hang, size, length(passes), one.pipeline)
        });
        match wrong.first() {
            Some(first) => self.reduce(&mut pool, first, progress),
            None => Ok(Shown::Unstable),
        }
    }

    /// Leaves passes out as long as it fails in the same way, and the
    /// unmodified compiler does not.
    fn reduce(
        &mut self,
        pool: &mut Pool,
        wrong: &Wrong,
        progress: &dyn Progress,
    ) -> Result<Shown, BenchError> {
        let program = &self.programs[wrong.program];
        if pool.load(&program.program, &[], SHORT).is_err() {
            return Ok(Shown::Unstable);
        }
        self.unmodified.pool.load(&program.program, &[], SHORT)?;
        let passes = self.pipelines[wrong.pipeline].clone();
        let request = RunRequest {
            limits: Limits { compile: SHORT.compile, ..Limits::STANDARD },
            ..failing_request(wrong.kind, &Pipeline::Passes(passes.to_string()), passes.clone())
        };
        let Ok(first) = pool.first().run(&request) else { return Ok(Shown::Unstable) };
        let expected = (wrong.kind == CaseKind::WrongCode).then(|| program.expected.clone());
        let oracle = Oracle::new(wrong.kind, expected).like(&first.outcome);
        let question = Question::new(request.clone(), &[], oracle.clone(), &first.outcome);
        let patience = Patience { deadline: None, progress };
        let registry = &self.unmodified.registry;
        let mut judge = Judge::new((pool, Some(&mut self.unmodified.pool)), question, patience);
        if !judge.fails(Candidate::Passes(passes.clone()))? {
            return Ok(Shown::Unstable);
        }
        let nested = |flat: PassSequence| flat.resolve(registry).ok();
        let passes = fewer_passes(&mut judge, &passes, &nested)?;
        let request = RunRequest { passes: Some(passes.clone()), ..request };
        let Ok(last) = pool.first().run(&request) else { return Ok(Shown::Unstable) };
        let what = oracle.describe(&last.outcome);
        let (kind, program) = (wrong.kind, wrong.program);
        Ok(Shown::Fails(Box::new(Failure { kind, program, passes, what })))
    }
}

/// What a run of the faulty compiler means.
enum Seen {
    Right,
    /// A failure that makes a case.
    Wrong(CaseKind),
    /// Another one.
    Odd,
}

fn failure_of(outcome: &Outcome, program: &PlantProgram) -> Seen {
    match outcome {
        Outcome::Ok(Some(execution)) if same_behaviour(execution, &program.expected) => Seen::Right,
        // A program that does not end may also be slow.
        Outcome::Ok(Some(execution)) if is_limit(execution.end) => Seen::Odd,
        Outcome::Ok(Some(_)) => Seen::Wrong(CaseKind::WrongCode),
        Outcome::Crash(_) => Seen::Wrong(CaseKind::Crash),
        Outcome::InvalidIr { .. } => Seen::Wrong(CaseKind::InvalidIr),
        Outcome::Timeout { .. } => Seen::Wrong(CaseKind::Hang),
        Outcome::Ok(None) | Outcome::OutOfMemory { .. } | Outcome::CodegenFailure { .. } => {
            Seen::Odd
        }
    }
}
