//! The referee's word on a program: is the behaviour of its unoptimized IR defined
//! by LLVM's language reference?
//!
//! Asked of wrong code before a compiler is accused of it (`worker/referee/`).
//!
//! **Invariant:** workers have the same program loaded before and after. Only
//! `Undefined` is an objection: a referee that cannot say says nothing.

use std::path::Path;

use optsleuth_compiler::llvm::{Install, Worker};
use optsleuth_compiler::{CompilerError, clang};
use optsleuth_model::{
    Execution, Interpret, Interpretation, Limits, Objection, ObjectionKind, Ruling, RunRequest,
    Said, Step, is_source,
};

use super::Asked;
use crate::CaseError;

/// So many instructions are interpreted: seconds of the referee, and milliseconds
/// of machine code.
const STEPS: u64 = 50_000_000;

pub(super) fn say(
    asked: &Asked<'_>,
    install: &Install,
    worker: &mut Worker,
) -> Result<Said, CaseError> {
    let lined = |worker: &mut Worker, options: &[String]| {
        let with_lines = [asked.c_flags, &["-gline-tables-only".to_owned()]].concat();
        let lined = clang::read_program(install, asked.source, &with_lines)?;
        worker.load(&lined, options, asked.limits)?;
        interpreted(worker, asked.limits)
    };
    let said = match asked.loaded {
        None => match lined(worker, &[]) {
            Err(CaseError::Compiler(CompilerError::NoClang(_))) => return Ok(Said::NotHere),
            Err(CaseError::Compiler(CompilerError::DoesNotCompile { .. })) => {
                return Ok(Said::NoVerdict("clang does not compile the program".to_owned()));
            }
            other => other?,
        },
        Some((program, options)) => {
            let said = interpreted(worker, asked.limits)?;
            let is_lined = is_source(asked.source);
            match said {
                Some(said) if is_lined && is_undefined(&said) => {
                    // The same once more, with lines to name.
                    let again = lined(worker, options);
                    worker.load(program, options, asked.limits)?;
                    again?.filter(is_undefined).or(Some(said))
                }
                said => said,
            }
        }
    };
    let Some(said) = said else {
        return Ok(Said::NoVerdict("it reached a limit".to_owned()));
    };
    Ok(match &said.ruling {
        Ruling::Defined { .. } if same_end(&said, asked.expected) => Said::NothingFound,
        Ruling::Defined { .. } => {
            Said::NoVerdict("it comes to another result than the machine".to_owned())
        }
        Ruling::NoVerdict { end } => Said::NoVerdict(end.what.clone()),
        Ruling::Undefined { end, history } => {
            let what = in_words(end, history);
            Said::Objects(Objection::new(ObjectionKind::Undefined, what))
        }
    })
}

fn is_undefined(said: &Interpretation) -> bool {
    matches!(said.ruling, Ruling::Undefined { .. })
}

/// Whether the referee saw a defined program do this.
pub(super) fn same_end(said: &Interpretation, expected: &Execution) -> bool {
    match &said.ruling {
        Ruling::Defined { end, .. } => *end == expected.end && said.stdout == expected.stdout,
        Ruling::Undefined { .. } | Ruling::NoVerdict { .. } => false,
    }
}

/// `None` if a limit ended it.
fn interpreted(worker: &mut Worker, limits: Limits) -> Result<Option<Interpretation>, CaseError> {
    let interpret = Some(Interpret { steps: STEPS, ..Interpret::main() });
    let request = RunRequest { interpret, limits, ..RunRequest::new(None) };
    Ok(worker.run(&request)?.interpretation)
}

/// Where it began, in a line: `ov.c:3:29: signed overflow: 2147483647 + 1`.
pub(super) fn in_words(end: &Step, history: &[Step]) -> String {
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
    format!("{place}{}{}", cause.what, range_of(cause))
}

/// Of an overflow in C: the type that has no room for the result.
fn range_of(cause: &Step) -> String {
    let Some(place) = &cause.place else { return String::new() };
    if !cause.what.starts_with("signed overflow: ") || place.source.is_none() {
        return String::new();
    }
    let types = [(" i8 ", "signed char"), (" i16 ", "short"), (" i32 ", "int"), (" i64 ", "long")];
    match types.into_iter().find(|(ir, _)| place.instruction.contains(ir)) {
        Some((_, c)) => format!(" cannot be represented in {c}"),
        None => String::new(),
    }
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
        let overflow = step("signed overflow: 2147483647 + 1", Some(("ov.c", 3, 40)));
        assert_eq!(
            in_words(&overflow, &[]),
            "ov.c:3:40: signed overflow: 2147483647 + 1 cannot be represented in int"
        );
    }
}
