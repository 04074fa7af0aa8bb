//! The result of `optsleuth bisect`: for a terminal and as JSON.

use std::fmt::Write as _;

use optsleuth_model::{
    BisectedInvocation, Bisection, BisectionEnd, BisectionVerdict, GccAccess, GccBisection,
    SINGLE_PASS_FILE, SinglePassForm, Transformation, UnitChange,
};

use crate::authors::as_text;
use crate::first_wrong::{not_known, step_aside, two_steps, wrong_value};
use crate::names::cut;
use crate::{Style, to_json, words};

/// So many invocations are named in a line of their own.
const MAX_NAMED: usize = 3;
/// So many lines of a change are shown, and so many around each.
const MAX_LINES: usize = 40;
const CONTEXT: usize = 1;
/// How much of a line is shown.
const WIDTH: usize = 160;

/// The whole result as a JSON document: what is kept in the case's folder.
pub fn bisect_json(found: &Bisection) -> String {
    to_json(found)
}

/// What was found, for a person.
pub fn bisect_text(found: &Bisection, style: Style) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}: {}", style.heading(&found.case), cut(&found.what, WIDTH));
    match &found.verdict {
        BisectionVerdict::Guilty { invocation, needs_also } => {
            row(&mut out, &style.bad("guilty"), &named(found, &[*invocation]));
            row(&mut out, "needs also", &named(found, needs_also));
        }
        BisectionVerdict::SeveralCulprits { invocations, needs_also, more } => {
            row(&mut out, &style.bad("not one single culprit"), &[several(*more).to_owned()]);
            row(&mut out, &style.bad("guilty"), &named(found, invocations));
            row(&mut out, "needs also", &named(found, needs_also));
        }
        other => row(&mut out, &style.bad("guilty"), &[no_pass_guilty(found, other)]),
    }
    row(&mut out, &style.bad("first wrong step"), two_steps(found).as_slice());
    row(&mut out, "first wrong step", step_aside(found).as_slice());
    if let Some(first) = found.first_wrong() {
        let by =
            first.value.place_after.as_ref().map(|place| {
                format!("by `{}` in @{}", cut(&place.instruction, WIDTH), place.function)
            });
        let lines: Vec<String> = [wrong_value(&first.value)].into_iter().chain(by).collect();
        row(&mut out, &style.bad("first wrong value"), &lines);
    }
    let unknown = not_known(found).map(|why| format!("not known: {}", cut(why, WIDTH)));
    row(&mut out, "first wrong step", unknown.as_slice());
    if let Some(broken) = &found.broken_earlier {
        let message = cut(&broken.message, WIDTH);
        let invocation = named(found, &[broken.invocation]).concat();
        let said = format!("by {invocation} ({}): {message}", broken.verifier);
        row(&mut out, &style.bad("broken earlier"), &[said]);
    }
    row(&mut out, "certain after", found.certain_after.map(|last| certain(found, last)).as_slice());
    if !found.needed.is_empty() {
        let numbers: Vec<String> =
            found.needed.iter().take(20).map(|number| format!("#{number}")).collect();
        let dots = if found.needed.len() > 20 { ", ..." } else { "" };
        row(&mut out, "passes without", &[format!("any one of {}{dots}", numbers.join(", "))]);
    }
    if let Some(gcc) = &found.gcc {
        row(&mut out, "in", files(gcc).as_slice());
        row(&mut out, "single transformation", &transformations(gcc));
        row(&mut out, "note", by_options(gcc).as_slice());
    }
    changed(&mut out, found, style);
    if found.gcc.is_none() {
        single_pass(&mut out, found, style);
    }
    if let Some(why) = cut_short(found.ended) {
        row(&mut out, &style.notable("cut short"), &[why.to_owned()]);
    }
    let (runs, n) = (words::counted(found.runs, "run", "runs"), found.invocations.len());
    let line = format!(
        "  {} {} · {} · {runs} in {:.1} s",
        found.compiler(),
        found.llvm,
        words::counted(n, "invocation", "invocations"),
        found.seconds
    );
    let _ = writeln!(out, "{}", style.quiet(&line));
    out
}

/// Why a bisection is not complete.
pub(crate) fn cut_short(ended: BisectionEnd) -> Option<&'static str> {
    match ended {
        BisectionEnd::Complete => None,
        BisectionEnd::OutOfTime => Some("the time was up; what is not said is not known"),
        BisectionEnd::Interrupted => Some("it was interrupted; what is not said is not known"),
    }
}

/// What it means that there is more than one culprit.
pub(crate) fn several(more: bool) -> &'static str {
    match more {
        false => "without the first of these, the next makes the same failure",
        true => "without the first of these, others make the same failure, and there are more",
    }
}

/// Who is to blame where no invocation of a pass is.
pub(crate) fn no_pass_guilty(found: &Bisection, verdict: &BisectionVerdict) -> String {
    match verdict {
        BisectionVerdict::RequiredPass { invocation: Some(number) } => {
            let name = found.invocation(*number).map(ToString::to_string).unwrap_or_default();
            let compiler = found.compiler();
            format!("{name}, which {compiler} always runs: nothing that can be skipped is needed")
        }
        BisectionVerdict::RequiredPass { invocation: None } => {
            let compiler = found.compiler();
            format!("a pass that {compiler} always runs: nothing that can be skipped is needed")
        }
        BisectionVerdict::InCodegen => match found.certain_after {
            None => "no pass: it fails in code generation, on the program as it is".to_owned(),
            Some(_) => "no pass: it fails in code generation, on what the passes make".to_owned(),
        },
        BisectionVerdict::BeforeAnyPass if found.gcc.is_some() => {
            "no pass: gcc fails before its first, in the front end or the gimplifier".to_owned()
        }
        BisectionVerdict::BeforeAnyPass => {
            "no pass: reading, verifying or printing the program fails before any runs".to_owned()
        }
        BisectionVerdict::Unfinished
        | BisectionVerdict::Guilty { .. }
        | BisectionVerdict::SeveralCulprits { .. } => "not known yet".to_owned(),
    }
}

/// Where the failure became certain, and whether something hides it.
pub(crate) fn certain(found: &Bisection, last: u32) -> String {
    let name = found.invocation(last).map(ToString::to_string).unwrap_or_default();
    match found.masked {
        false => name,
        true => format!("{name}; before that, others hide it for a while"),
    }
}

/// The files of a gcc that the culprit's pass is in.
pub(crate) fn files(gcc: &GccBisection) -> Option<String> {
    (!gcc.files.is_empty()).then(|| gcc.files.join(", "))
}

/// The single transformations of a gcc that decide, a line for each.
pub(crate) fn transformations(gcc: &GccBisection) -> Vec<String> {
    let one = |found: &Transformation| {
        let (counter, number) = (&found.counter, found.number);
        format!(
            "number {number} of `{counter}`: it fails with {}, not with one fewer",
            found.option
        )
    };
    gcc.transformations.iter().map(one).collect()
}

/// That whole passes were skipped, and why.
pub(crate) fn by_options(gcc: &GccBisection) -> Option<String> {
    match &gcc.by {
        GccAccess::Plugin => None,
        GccAccess::Options { missing } => Some(format!(
            "passes were skipped by gcc's own options, on all functions; one function at a time \
             needs {missing}"
        )),
    }
}

/// What the culprit changed: of LLVM, where it is known who in it did it.
fn changed(out: &mut String, found: &Bisection, style: Style) {
    let is_told = |change: &&UnitChange| change.authors.is_some() || found.gcc.is_some();
    let (Some(change), Some(culprit)) = (found.change.as_ref().filter(is_told), found.culprit())
    else {
        return;
    };
    if found.gcc.is_some() && change.after.is_none() {
        return;
    }
    let lines = as_text(change, CONTEXT, |authors| style.quiet(authors));
    if !lines.is_empty() {
        row(out, "changed", &[format!("by {culprit}")]);
    }
    for line in lines.iter().take(MAX_LINES) {
        let _ = writeln!(out, "    {line}");
    }
    if lines.len() > MAX_LINES {
        let more = words::counted(lines.len() - MAX_LINES, "more line", "more lines");
        let _ = writeln!(out, "    ... and {more}");
    }
}

fn single_pass(out: &mut String, found: &Bisection, style: Style) {
    match &found.single_pass {
        SinglePassForm::Found(form) => {
            let name = if form.n_passes == 1 { "single pass" } else { "few passes" };
            let line = format!("{} on {SINGLE_PASS_FILE}", form.passes);
            row(out, &style.good(name), &[line]);
            if !form.commands.is_empty() {
                let _ = writeln!(out, "    $ {}", form.commands.join(" && "));
            }
        }
        SinglePassForm::Missing { why } => row(out, "no single pass", std::slice::from_ref(why)),
    }
}

fn named(found: &Bisection, numbers: &[u32]) -> Vec<String> {
    let name = |number: &u32| found.invocation(*number).map(BisectedInvocation::to_string);
    let mut names: Vec<String> = numbers.iter().filter_map(name).take(MAX_NAMED).collect();
    if numbers.len() > MAX_NAMED {
        names.push(format!("and {} more", words::count(numbers.len() - MAX_NAMED)));
    }
    names
}

/// A word, and what there is to say under it; nothing without that.
fn row(out: &mut String, word: &str, lines: &[String]) {
    for (i, line) in lines.iter().enumerate() {
        let _ = match i {
            0 => writeln!(out, "  {word}: {line}"),
            _ => writeln!(out, "    {line}"),
        };
    }
}
