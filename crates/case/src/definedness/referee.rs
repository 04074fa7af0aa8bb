//! The referee's word on a program: is the behaviour of its unoptimized IR defined
//! by LLVM's language reference?
//!
//! Asked of wrong code before a compiler is accused of it (`worker/referee/`).
//!
//! **Invariant:** workers have the same program loaded before and after. Only
//! `Undefined` is an objection: a referee that cannot say says nothing.

use std::path::Path;

use optsleuth_compiler::clang;
use optsleuth_compiler::llvm::Worker;
use optsleuth_model::{
    Interpret, Interpretation, Language, Limits, Program, Ruling, RunRequest, Step,
};

use super::{Objection, ObjectionKind};
use crate::CaseError;
use crate::workers::Workers;

/// So many instructions are interpreted: seconds of the referee, and milliseconds
/// of machine code.
const STEPS: u64 = 50_000_000;

/// What the referee says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefereeWord {
    /// It was not asked.
    Unasked,
    /// It found nothing undefined.
    Defined,
    Undefined(Objection),
    /// It cannot say, and why.
    NoVerdict(String),
}

/// Asks about the program that workers have loaded, which was made of `source`.
pub fn ask_referee(
    workers: &mut Workers,
    program: &Program,
    source: &Path,
    c_flags: &[String],
    options: &[String],
    limits: Limits,
) -> Result<RefereeWord, CaseError> {
    let Some(mut said) = interpreted(workers.pool.first(), limits)? else {
        return Ok(RefereeWord::NoVerdict("it reached a limit".to_owned()));
    };
    let is_undefined = matches!(said.ruling, Ruling::Undefined { .. });
    if is_undefined && Language::of_path(source) == Some(Language::C) {
        // The same once more, with lines to name.
        let with_lines = [c_flags, &["-gline-tables-only".to_owned()]].concat();
        let lined = clang::read_program(&workers.install, source, &with_lines)?;
        let worker = workers.pool.first();
        worker.load(&lined, options, limits)?;
        let again = interpreted(worker, limits);
        worker.load(program, options, limits)?;
        said =
            again?.filter(|again| matches!(again.ruling, Ruling::Undefined { .. })).unwrap_or(said);
    }
    Ok(match said.ruling {
        Ruling::Defined { .. } => RefereeWord::Defined,
        Ruling::NoVerdict { end } => RefereeWord::NoVerdict(end.what),
        Ruling::Undefined { end, history } => {
            let what = in_words(&end, &history);
            RefereeWord::Undefined(Objection::new(ObjectionKind::Undefined, what))
        }
    })
}

/// `None` if a limit ended it.
fn interpreted(worker: &mut Worker, limits: Limits) -> Result<Option<Interpretation>, CaseError> {
    let interpret = Some(Interpret { steps: STEPS, ..Interpret::main() });
    let request = RunRequest { interpret, limits, ..RunRequest::new(None) };
    Ok(worker.run(&request)?.interpretation)
}

/// Where it began, in a line: `ov.c:3:29: signed overflow: 2147483647 + 1`.
fn in_words(end: &Step, history: &[Step]) -> String {
    // Values that were only passed on have no words of their own.
    let cause = history.iter().rfind(|step| !step.what.is_empty()).unwrap_or(end);
    let place = match &cause.place {
        None => String::new(),
        Some(place) => match &place.source {
            Some(source) => {
                let file = Path::new(&source.file).file_name().unwrap_or_default();
                format!("{}:{}:{}: ", file.to_string_lossy(), source.line, source.column)
            }
            None => format!("`{}` in @{}: ", place.instruction.trim(), place.function),
        },
    };
    format!("{place}{}", cause.what)
}

#[cfg(test)]
mod tests {
    use optsleuth_model::{IrPlace, SourcePlace};

    use super::*;

    #[test]
    fn what_began_it_is_named_with_its_line_or_its_instruction() {
        let place = |source: Option<(&str, u32, u32)>| IrPlace {
            instruction: "  %4 = add nsw i32 %3, 1".to_owned(),
            function: "check".to_owned(),
            source: source.map(|(file, line, column)| SourcePlace {
                file: file.to_owned(),
                line,
                column,
            }),
        };
        let step = |what: &str, source| Step { what: what.to_owned(), place: Some(place(source)) };
        let end = step("branch on poison", Some(("/a/ov.c", 9, 1)));
        let passed_on = step("", Some(("/a/ov.c", 8, 1)));
        let cause = step("signed overflow", Some(("/a/ov.c", 3, 29)));
        assert_eq!(in_words(&end, &[]), "ov.c:9:1: branch on poison");
        assert_eq!(in_words(&end, &[passed_on, cause]), "ov.c:3:29: signed overflow");
        let bare = step("division by zero", None);
        assert_eq!(in_words(&bare, &[]), "`%4 = add nsw i32 %3, 1` in @check: division by zero");
    }
}
