//! The first observable at which two interpretations of a program differ: what it
//! writes, how it ends, or that it is undefined. Pure.
//!
//! **Invariant:** the program was right before the step, so everything that it does
//! before the difference is the same on both sides.

use optsleuth_model::{
    Interpretation, IrPlace, OutputByte, OutputStream, ProgramEnd, Ruling, Step, WrongValue,
    signal_name,
};

/// How much of what a program writes is shown.
const SHOWN: usize = 80;

/// The program before a step and after it.
pub(super) struct Pair {
    pub(super) before: Interpretation,
    pub(super) after: Interpretation,
}

/// The first byte of the output in which the two differ.
pub(super) fn first_difference(pair: &Pair) -> Option<OutputByte> {
    let Pair { before, after } = pair;
    // What was stopped might have written the rest.
    let is_whole = matches!(after.ruling, Ruling::Defined { .. });
    let differs = |stream: OutputStream, a: &[u8], b: &[u8]| {
        let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        let at_end = same == b.len() && (same == a.len() || !is_whole);
        (!at_end).then_some(OutputByte { stream, byte: same as u64 })
    };
    differs(OutputStream::Out, &before.stdout, &after.stdout)
        .or_else(|| differs(OutputStream::Err, &before.stderr, &after.stderr))
}

/// What differs where the output does not.
pub(super) fn of_ends(pair: &Pair, is_endless: bool) -> WrongValue {
    let Pair { before, after } = pair;
    let (said_before, place_before) = end_of(before);
    let (said_after, place_after) = match &after.ruling {
        Ruling::NoVerdict { end } if is_endless => {
            (format!("it does not end within {} steps", after.n_steps), end.place.clone())
        }
        _ => end_of(after),
    };
    let observable = match &after.ruling {
        Ruling::Undefined { .. } => "the program's behaviour",
        Ruling::Defined { end: ProgramEnd::Exited(_), .. } => "the exit status",
        Ruling::Defined { .. } | Ruling::NoVerdict { .. } => "the program's end",
    };
    WrongValue {
        observable: observable.to_owned(),
        before: said_before,
        after: said_after,
        place_before: place_before.filter(|_| matches!(after.ruling, Ruling::Defined { .. })),
        place_after,
    }
}

/// How an interpretation ended, and where.
fn end_of(said: &Interpretation) -> (String, Option<IrPlace>) {
    match &said.ruling {
        Ruling::Defined { end, place, .. } => {
            let text = match end {
                ProgramEnd::Exited(status) => status.to_string(),
                ProgramEnd::Signaled(signal) => signal_name(*signal),
                other => format!("{other:?}"),
            };
            (text, place.clone())
        }
        Ruling::Undefined { end, history } => {
            let cause = history.iter().rfind(|step| !step.what.is_empty());
            let text = match cause {
                Some(cause) => format!("undefined: {}, from {}", end.what, cause.what),
                None => format!("undefined: {}", end.what),
            };
            (text, cause.and_then(|cause| cause.place.clone()).or_else(|| end.place.clone()))
        }
        Ruling::NoVerdict { end } => (end.what.clone(), end.place.clone()),
    }
}

/// What differs where the output does, of runs that observed it.
pub(super) fn of_output(pair: &Pair) -> WrongValue {
    let (before, after) = (&pair.before.observed[..], &pair.after.observed[..]);
    let callee = |steps: &[Step]| steps.first().and_then(|call| called(call.place.as_ref()?));
    let same_call = before.len() == after.len() && callee(before) == callee(after);
    let differs = |(a, b): (&Step, &Step)| a.what != b.what;
    let argument = before.iter().zip(after).skip(1).position(differs).filter(|_| same_call);
    let name = callee(after).or_else(|| callee(before)).unwrap_or_else(|| "the program".to_owned());
    let (observable, place) = match argument {
        Some(argument) => (format!("argument {} of {name}", argument + 1), argument + 1),
        None => (format!("what {name} writes"), 0),
    };
    let said = |steps: &[Step], whole: &Interpretation| match steps.get(place) {
        Some(step) if place > 0 => step.what.clone(),
        Some(step) => format!("{:?}", cut(&step.what)),
        None => end_of(whole).0,
    };
    let instruction = |steps: &[Step]| {
        let value = steps.get(place).and_then(|step| step.place.clone());
        value.or_else(|| steps.first()?.place.clone())
    };
    WrongValue {
        observable,
        before: said(before, &pair.before),
        after: said(after, &pair.after),
        place_before: instruction(before),
        place_after: instruction(after),
    }
}

/// `printf`, of `%5 = call i32 (ptr, ...) @printf(ptr @.str, i32 %4)`. A call through
/// a pointer has no name.
fn called(place: &IrPlace) -> Option<String> {
    let is_end = |c: char| !(c.is_alphanumeric() || "_.$\"".contains(c));
    place.instruction.split('@').skip(1).find_map(|rest| {
        let (name, rest) = rest.split_at(rest.find(is_end)?);
        rest.starts_with('(').then(|| name.trim_matches('"').to_owned())
    })
}

fn cut(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(instruction: &str) -> Option<IrPlace> {
        let function = "main".to_owned();
        Some(IrPlace { instruction: instruction.to_owned(), function, source: None })
    }

    fn step(what: &str, instruction: &str) -> Step {
        let place = place(instruction).filter(|_| !instruction.is_empty());
        Step { what: what.to_owned(), place }
    }

    fn said(ruling: Ruling, stdout: &str, observed: Vec<Step>) -> Interpretation {
        Interpretation {
            ruling,
            stdout: stdout.as_bytes().to_vec(),
            stderr: Vec::new(),
            n_steps: 7,
            depends_on_layout: false,
            trace: String::new(),
            observed,
        }
    }

    fn exits(status: i32) -> Ruling {
        Ruling::Defined { end: ProgramEnd::Exited(status), value: None, place: place("ret i32 0") }
    }

    fn undefined() -> Ruling {
        let history = vec![step("", "phi"), step("signed overflow: 1 + 2", "%1 = add nsw i8 1, 2")];
        Ruling::Undefined { end: step("branch on poison", "br i1 %1"), history }
    }

    #[test]
    fn the_first_byte_that_differs_is_found() {
        let check = |a: &str, after: Interpretation, expected: Option<u64>| {
            let pair = Pair { before: said(exits(0), a, Vec::new()), after };
            assert_eq!(first_difference(&pair).map(|at| at.byte), expected);
        };
        check("15\n", said(exits(0), "39\n", Vec::new()), Some(0));
        check("15\n", said(exits(0), "1", Vec::new()), Some(1));
        check("1", said(exits(0), "15", Vec::new()), Some(1));
        check("15\n", said(exits(1), "15\n", Vec::new()), None);
        // An undefined program is stopped before it has written all.
        check("15\n", said(undefined(), "1", Vec::new()), None);
        check("15\n", said(undefined(), "2", Vec::new()), Some(0));
    }

    #[test]
    fn the_argument_that_differs_is_named_with_what_computes_it() {
        let call = "%2 = call i32 (ptr, ...) @printf(ptr @.str, i32 %1)";
        let observed = |value: &str, by: &str| {
            vec![step(&format!("{value}\n"), call), step("@.str", ""), step(value, by)]
        };
        let before = said(exits(0), "15\n", observed("15", "%1 = add i32 %a, %b"));
        let after = said(exits(0), "39\n", observed("39", "%1 = mul i32 %a, 3"));
        let found = of_output(&Pair { before, after });
        assert_eq!(found.observable, "argument 2 of printf");
        assert_eq!((&found.before[..], &found.after[..]), ("15", "39"));
        assert_eq!(found.place_after.unwrap().instruction, "%1 = mul i32 %a, 3");
    }

    #[test]
    fn a_call_that_is_another_one_is_compared_by_what_it_writes() {
        let printf = vec![step("a\n", "call i32 (ptr, ...) @printf(ptr @.str)"), step("@.str", "")];
        let puts = vec![step("b\n", "call i32 @puts(ptr @str)"), step("@str", "")];
        let pair =
            Pair { before: said(exits(0), "a\n", printf), after: said(exits(0), "b\n", puts) };
        let found = of_output(&pair);
        assert_eq!(found.observable, "what puts writes");
        assert_eq!((&found.before[..], &found.after[..]), ("\"a\\n\"", "\"b\\n\""));
        // A program that ends too soon writes nothing at all.
        let pair = Pair { after: said(exits(3), "", Vec::new()), ..pair };
        let found = of_output(&pair);
        assert_eq!(found.observable, "what printf writes");
        assert_eq!(found.after, "3");
    }

    #[test]
    fn an_undefined_program_is_named_by_where_its_poison_came_from() {
        let pair = Pair {
            before: said(exits(0), "1", Vec::new()),
            after: said(undefined(), "", Vec::new()),
        };
        let found = of_ends(&pair, false);
        assert_eq!(found.observable, "the program's behaviour");
        assert_eq!(found.after, "undefined: branch on poison, from signed overflow: 1 + 2");
        assert_eq!(found.place_after.unwrap().instruction, "%1 = add nsw i8 1, 2");
    }
}
