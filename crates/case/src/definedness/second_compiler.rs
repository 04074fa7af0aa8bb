//! What gcc makes of a C program without optimization.

use std::path::Path;

use optsleuth_compiler::driver::{Driver, Family};
use optsleuth_compiler::llvm::Worker;
use optsleuth_model::{Answer, Checker, Objection, ObjectionKind, OptLevel, Outcome, Said};

use super::Asked;
use crate::CaseError;
use crate::oracle::{behaviour, is_limit, same_behaviour};
use crate::portable::portable;
use crate::tried::{Tried, try_level};

pub(super) fn say(asked: &Asked<'_>, worker: &mut Worker) -> Result<Answer, CaseError> {
    let who = Checker::SecondCompiler;
    // A clang that is called gcc is refused: one opinion twice is one.
    let Ok(gcc) = Driver::find(Family::Gcc.name()) else {
        return Ok(Answer { who, by: None, said: Said::NotHere });
    };
    let by = format!("gcc {}", gcc.version);
    let mut flags = portable(asked.c_flags);
    let folder = asked.source.parent().unwrap_or(Path::new("."));
    flags.push(format!("-I{}", folder.display()));
    let tried = try_level(&gcc, asked.source, OptLevel::O0, &flags, worker, asked.limits)?;
    let said = match tried {
        Tried::Ran(Outcome::Ok(Some(execution))) if is_limit(execution.end) => {
            Said::NoVerdict(format!("its program {}", behaviour(&execution)))
        }
        Tried::Ran(Outcome::Ok(Some(execution))) => {
            match same_behaviour(&execution, asked.expected) {
                true => Said::NothingFound,
                false => {
                    let (theirs, ours) = (behaviour(&execution), behaviour(asked.expected));
                    let what =
                        format!("without optimization, {by}'s program {theirs}; clang's {ours}");
                    Said::Objects(Objection::new(ObjectionKind::Disagreement, what))
                }
            }
        }
        Tried::Ran(_) => Said::NoVerdict("it fails on the program".to_owned()),
        Tried::Refused(_) => Said::NoVerdict("it does not take the program".to_owned()),
    };
    Ok(Answer { who, by: Some(by), said })
}
