//! Is what a program does defined? Executions that have little in common, the
//! referee and clang's sanitizers -> what the program does, or an objection.
//!
//! Cases are checked by it before they accuse a compiler, candidates of a
//! reduction before they are kept, and programs before a hunt uses them.
//!
//! **Invariant:** nothing here says that a behaviour is defined; only that none
//! of these found it not to be.

mod referee;
mod sanitizers;
mod ways;

use std::time::Duration;

use optsleuth_compiler::CompilerError;
use optsleuth_compiler::llvm::{Pool, Worker};
use optsleuth_compiler::sanitize::Sanitizer;
use optsleuth_model::{Execution, Limits, Outcome, ProgramEnd};

use crate::CaseError;
use crate::oracle::{behaviour, describe, is_limit, same_behaviour};
pub use referee::{RefereeWord, ask_referee};
pub use sanitizers::Sanitizers;
pub use ways::{
    AS_PROCESS, BY_CODEGEN, BY_CODEGEN_AS_PROCESS, BY_CODEGEN_REFILLED, FILLS, GUARDED, PLAIN,
    REFILLED, Way,
};

/// Why a program's behaviour cannot be taken for defined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objection {
    pub kind: ObjectionKind,
    /// In words, without a subject: `unoptimized, it does not end`.
    pub what: String,
}

/// The kinds of objections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectionKind {
    /// There is no program to execute.
    NoProgram,
    /// The program reaches a limit.
    DoesNotEnd,
    /// Two executions differ, and none is known to be right.
    Disagreement,
    /// The program does what its language leaves undefined.
    Undefined,
    /// A sanitizer took too long: it says nothing.
    Undecided,
}

impl Objection {
    /// Why no compiler is accused, in a sentence that a user can act on.
    pub fn acquits(&self) -> String {
        format!("{}; the program's behaviour is undefined, so no compiler is to blame", self.what)
    }

    pub fn new(kind: ObjectionKind, what: impl Into<String>) -> Objection {
        Objection { kind, what: what.into() }
    }
}

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
/// Whether they agree is for [`disagreement`] to say.
pub fn references(pool: &mut Pool, limits: Limits) -> Result<(References, Duration), CaseError> {
    const WAYS: [Way; 4] = [PLAIN, AS_PROCESS, BY_CODEGEN, BY_CODEGEN_AS_PROCESS];
    let results = pool.run_all(&WAYS.map(|way| way.request(None, limits)), &|_| ());
    let (mut references, mut slowest) = (Vec::new(), Duration::ZERO);
    for (way, result) in WAYS.into_iter().zip(results) {
        let result = result?;
        slowest = slowest.max(result.wall);
        let what = describe(&result.outcome);
        let execution = executed(&way, result.outcome, None)
            .map_err(|_| CaseError::NoReference { way: way.name, what })?;
        references.push((way.name, execution));
    }
    Ok((references, slowest))
}

/// Two references that differ, in words.
pub fn disagreement(references: &[(&'static str, Execution)]) -> Option<String> {
    let (first, rest) = references.split_first()?;
    let (way, other) = rest.iter().find(|(_, other)| !same_behaviour(&first.1, other))?;
    Some(format!(
        "without any pass, the program {} when {}, but {} when {way}: its behaviour is not defined",
        behaviour(&first.1),
        first.0,
        behaviour(other),
    ))
}

/// What a sanitizer has to object to a program.
pub fn stopped_by(sanitizer: Sanitizer) -> Objection {
    Objection::new(ObjectionKind::Undefined, format!("stopped by the {}", sanitizer.name()))
}
