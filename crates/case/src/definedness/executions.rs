//! Executions of an unoptimized program, and whether they come to the same.

use std::path::Path;
use std::time::{Duration, Instant};

use optsleuth_compiler::CompilerError;
use optsleuth_compiler::llvm::{Pool, Worker};
use optsleuth_compiler::surroundings::NO_OBJECT;
use optsleuth_model::{
    Execution, Limits, Objection, ObjectionKind, Outcome, Program, ProgramEnd, RunResult,
};

use super::ways::{AS_PROCESS, AT_LEVEL, BY_CODEGEN, BY_CODEGEN_AS_PROCESS, PLAIN, Way};
use crate::CaseError;
use crate::oracle::{behaviour, describe, is_limit, same_behaviour};

/// What one execution says: what the program does, or what is wrong with that.
/// `expected` is what it does otherwise.
pub fn executed(
    way: &Way,
    outcome: Outcome,
    expected: Option<&Execution>,
) -> Result<Execution, Objection> {
    let name = way.name;
    let execution = match outcome {
        Outcome::Ok(Some(execution)) => execution,
        other => return Err(Objection::new(ObjectionKind::NoProgram, describe(&other))),
    };
    if is_limit(execution.end) {
        let what = format!("{name}, it {}", behaviour(&execution));
        return Err(Objection::new(ObjectionKind::DoesNotEnd, what));
    }
    match expected {
        Some(expected) if !same_behaviour(&execution, expected) => Err(match way.guarded {
            true => Objection::new(
                ObjectionKind::Undefined,
                format!("{name}, it {}", behaviour(&execution)),
            ),
            false => differs(name, &execution, expected),
        }),
        _ => Ok(execution),
    }
}

/// That a program does something else in one way than in another.
pub fn differs(way: &str, execution: &Execution, expected: &Execution) -> Objection {
    let what = format!("{way}, it {}; else it {}", behaviour(execution), behaviour(expected));
    Objection::new(ObjectionKind::Disagreement, what)
}

/// What the program that a worker has loaded does, as all of these ways agree.
pub fn agreed(
    worker: &mut Worker,
    ways: &[Way],
    limits: Limits,
) -> Result<Result<Execution, Objection>, CompilerError> {
    let mut expected: Option<Execution> = None;
    for way in ways {
        let outcome = worker.run(&way.request(None, limits))?.outcome;
        match executed(way, outcome, expected.as_ref()) {
            Ok(execution) => _ = expected.get_or_insert(execution),
            Err(objection) => return Ok(Err(objection)),
        }
    }
    let Some(expected) = expected else {
        return Ok(Err(Objection::new(ObjectionKind::NoProgram, "it was never executed")));
    };
    Ok(match expected.end {
        // Nothing but undefined behaviour ends so.
        ProgramEnd::Signaled(signal) if signal != SIGABRT => {
            let what = format!("it {}", behaviour(&expected));
            Err(Objection::new(ObjectionKind::Undefined, what))
        }
        _ => Ok(expected),
    })
}

const SIGABRT: i32 = 6;

/// Executions and how they came about.
pub type References = Vec<(&'static str, Execution)>;

/// The unoptimized program of a pool, by four ways, and how long the slowest took.
/// Whether they agree is for [`disagreement`] to say. One that does not end costs
/// all of its time, so the first is alone.
///
/// A part of something larger has one way alone, its own unoptimized build: without any
/// pass, code generated from IR of a level may lack functions that are always inlined.
pub fn references(pool: &mut Pool, limits: Limits) -> Result<(References, Duration), CaseError> {
    if pool.first().surroundings().leave_unlinked() {
        let begun = Instant::now();
        let execution = pool.first().execute(Path::new(NO_OBJECT), limits)?;
        return Ok((vec![(AS_BUILT, execution)], begun.elapsed()));
    }
    references_by(pool, &[AS_PROCESS, BY_CODEGEN, BY_CODEGEN_AS_PROCESS], limits)
}

fn references_by(
    pool: &mut Pool,
    others: &[Way],
    limits: Limits,
) -> Result<(References, Duration), CaseError> {
    let RunResult { outcome, wall: mut slowest, .. } =
        pool.first().run(&PLAIN.request(None, limits))?;
    let first = reference(&PLAIN, outcome)?;
    if let Some(objection) = pool.first().surroundings().objection(&first) {
        return Err(CaseError::Unexpected(objection));
    }
    let mut references = vec![(PLAIN.name, first)];
    let requests: Vec<_> = others.iter().map(|way| way.request(None, limits)).collect();
    let results = pool.run_all(&requests, &|_| ());
    for (way, result) in others.iter().zip(results) {
        let result = result?;
        slowest = slowest.max(result.wall);
        references.push((way.name, reference(way, result.outcome)?));
    }
    Ok((references, slowest))
}

/// The way of a part of something larger.
const AS_BUILT: &str = "unoptimized, as the project builds it";

/// The program that a pool has loaded, and what says what it should do.
#[derive(Clone, Copy, Debug)]
pub struct UnderTest<'a> {
    pub program: &'a Program,
    /// Where clang's front end made the program at a level: the same at `O0`.
    pub at_o0: Option<&'a Program>,
    /// What LLVM gets with either.
    pub options: &'a [String],
    /// The code generator is accused, so what it makes when it optimizes is no measure.
    pub accuses_codegen: bool,
}

impl UnderTest<'_> {
    /// What the program should do, as [`references`] has it. The pool has the same
    /// loaded before and after.
    pub fn references(
        &self,
        pool: &mut Pool,
        limits: Limits,
    ) -> Result<(References, Duration), CaseError> {
        if self.accuses_codegen {
            return references_by(pool, &[AS_PROCESS], limits);
        }
        let Some(at_o0) = self.at_o0 else { return references(pool, limits) };
        pool.load(at_o0, self.options, limits)?;
        let found = references(pool, limits);
        pool.load(self.program, self.options, limits)?;
        let (mut references, slowest) = found?;
        let result = pool.first().run(&AT_LEVEL.request(None, limits))?;
        references.push((AT_LEVEL.name, reference(&AT_LEVEL, result.outcome)?));
        Ok((references, slowest.max(result.wall)))
    }
}

/// What the program does in one way.
fn reference(way: &Way, outcome: Outcome) -> Result<Execution, CaseError> {
    let what = describe(&outcome);
    executed(way, outcome, None).map_err(|objection| {
        let ends = objection.kind != ObjectionKind::DoesNotEnd;
        CaseError::NoReference { way: way.name, what, ends }
    })
}

/// Two references that differ, in words.
pub fn disagreement(references: &[(&'static str, Execution)]) -> Option<String> {
    let (first, rest) = references.split_first()?;
    let (way, other) = rest.iter().find(|(_, other)| !same_behaviour(&first.1, other))?;
    // At another level, clang also defines other macros.
    let reason = match *way == AT_LEVEL.name {
        true => {
            "its behaviour is not defined, it asks for `__OPTIMIZE__`, or clang's front end is wrong"
        }
        false => "its behaviour is not defined",
    };
    Some(format!(
        "without any pass, the program {} when {}, but {} when {way}: {reason}",
        behaviour(&first.1),
        first.0,
        behaviour(other),
    ))
}
