//! Is what a program does defined? [`ask`] is the one place that decides: a list of
//! checkers and a program in, who was asked and what each said out.
//!
//! ```text
//! C ──► sanitizers, a second compiler ─┐
//! IR ─► referee, other unused memory ──┴─► Definedness
//! ```
//! Cases are asked about before they accuse a compiler. Candidates of a reduction
//! and programs of a hunt are many: those use the same parts with less to say
//! (`executions.rs`, `promises.rs`, the quick form of `sanitizers.rs`).
//!
//! **Invariant:** nothing here says that a behaviour is defined; only that none
//! of these found it not to be.

mod alias_rules;
mod executions;
mod promises;
mod referee;
mod sanitizers;
mod second_compiler;
mod ways;

use std::path::Path;

use optsleuth_compiler::llvm::{Install, Worker};
use optsleuth_model::{
    Answer, Checker, Definedness, Execution, Limits, Objection, Program, Progress, RunRequest, Said,
};

use crate::CaseError;
pub use executions::{References, UnderTest, agreed, differs, disagreement, executed, references};
pub use promises::{Kept, Promises};
pub use sanitizers::Sanitizers;
pub use ways::{
    AS_PROCESS, BY_CODEGEN, BY_CODEGEN_AS_PROCESS, BY_CODEGEN_REFILLED, FILLS, GUARDED, PLAIN,
    REFILLED, Way,
};

/// Who is asked about a case in IR.
pub const OF_IR: &[Checker] = &[Checker::Referee, Checker::OtherMemory];
/// Who is asked about a case of LLVM in C: those who name places first.
pub const OF_C: &[Checker] = &[
    Checker::Referee,
    Checker::UndefinedSanitizer,
    Checker::AddressSanitizer,
    Checker::MemorySanitizer,
    Checker::TypeSanitizer,
    Checker::OtherMemory,
    Checker::SecondCompiler,
    Checker::AliasRules,
];
/// Who is asked about a case of clang's driver, whose second compiler is its
/// reference.
pub const OF_CLANG: &[Checker] = &[
    Checker::Referee,
    Checker::UndefinedSanitizer,
    Checker::AddressSanitizer,
    Checker::MemorySanitizer,
    Checker::TypeSanitizer,
];
/// The same for gcc, which never sees LLVM's IR.
pub const OF_GCC: &[Checker] = &[
    Checker::UndefinedSanitizer,
    Checker::AddressSanitizer,
    Checker::MemorySanitizer,
    Checker::TypeSanitizer,
];

/// The program that everybody is asked about.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// C or IR.
    pub source: &'a Path,
    /// What clang needs to compile it.
    pub c_flags: &'a [String],
    /// What the worker has loaded of it, and under which options. Without that, the
    /// referee gets what clang makes of it.
    pub loaded: Option<(&'a Program, &'a [String])>,
    /// What it does by itself.
    pub expected: &'a Execution,
    /// How it fails, where clang's front end tells LLVM about types in memory.
    pub failing: Option<FailingRun<'a>>,
    pub limits: Limits,
}

/// The run that shows wrong code.
#[derive(Clone, Copy, Debug)]
pub struct FailingRun<'a> {
    /// What clang gets.
    pub clang_flags: &'a [String],
    /// What LLVM gets.
    pub options: &'a [String],
    pub request: &'a RunRequest,
}

/// Asks those of the list, in its order, up to the first that objects. The worker
/// has the same program loaded before and after, if it had one.
pub fn ask(
    list: &[Checker],
    asked: &Asked<'_>,
    install: &Install,
    worker: &mut Worker,
    progress: &dyn Progress,
) -> Result<Definedness, CaseError> {
    progress.step("asking whether the program is defined");
    let mut all = Definedness::default();
    for &who in list {
        if all.asked.iter().any(|answer| answer.who == who) {
            continue; // Somebody answered for both.
        }
        let alone = |said| vec![Answer { who, by: None, said }];
        let answers = match who {
            Checker::Referee => alone(referee::say(asked, install, worker)?),
            Checker::UndefinedSanitizer
            | Checker::AddressSanitizer
            | Checker::MemorySanitizer
            | Checker::TypeSanitizer => sanitizers::say(who, list, asked, install, worker)?,
            Checker::SecondCompiler => vec![second_compiler::say(asked, worker)?],
            Checker::OtherMemory => alone(in_other_memory(asked, worker)?),
            Checker::AliasRules => {
                let said = alias_rules::say(asked, &all, install, worker)?;
                said.map(alone).unwrap_or_default()
            }
            // The project asked them; there is no program to ask them about here.
            Checker::ProjectSanitizers => Vec::new(),
        };
        all.asked.extend(answers);
        if all.objection().is_some() {
            break;
        }
    }
    Ok(all)
}

/// What the loaded program does where unused memory holds something else.
fn in_other_memory(asked: &Asked<'_>, worker: &mut Worker) -> Result<Said, CaseError> {
    for way in [REFILLED, BY_CODEGEN_REFILLED] {
        let outcome = worker.run(&way.request(None, asked.limits))?.outcome;
        if let Err(Objection { kind, what }) = executed(&way, outcome, Some(asked.expected)) {
            return Ok(Said::Objects(Objection { kind, what: format!("the program: {what}") }));
        }
    }
    Ok(Said::NothingFound)
}

#[cfg(test)]
mod tests;
