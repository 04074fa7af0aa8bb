//! The result of `optsleuth triage`: fifteen lines for a terminal, JSON, and the
//! text of an issue.

use std::fmt::Write as _;

use optsleuth_model::{
    BisectedInvocation, Bisection, BisectionVerdict, Definedness, Evidence, FailedAssertion,
    FunctionSuspect, Localization, Reduction, SINGLE_PASS, SinglePassForm, Triage, codegen_stage,
};
use serde::Serialize;

use crate::authors::as_text;
use crate::bisect::{by_options, files, no_pass_guilty, several, transformations};
use crate::first_wrong::{not_known, two_steps, wrong_value};
use crate::lines::{self, asserted};
use crate::markdown::{code, fenced, inline};
use crate::names::{cut, short_name};
use crate::{JSON_VERSION, Style, to_json, words};

/// Who is to blame where LLVM is not.
const FRONT_END: &str = "no pass: clang's front end fails, before LLVM gets any IR";
/// How much of a line is shown.
const WIDTH: usize = 150;
/// How many suspects an issue names.
const TOP: usize = 5;
/// How many lines of a module or a change an issue shows.
const MAX_LINES: usize = 150;

/// Lines around a change.
const CONTEXT: usize = 3;
/// How many functions of a stack.
const MAX_FRAMES: usize = 15;

/// The names of the two reports, in the case's folder.
#[derive(Clone, Copy, Debug)]
pub struct Reports<'a> {
    /// For an issue tracker.
    pub markdown: &'a str,
    /// For a browser.
    pub page: &'a str,
}

/// What was found, for a person: fifteen lines at most.
pub fn triage_text(triage: &Triage, reports: Reports<'_>, style: Style) -> String {
    let mut out = String::new();
    let case = &triage.case.case;
    let (head, what) = (style.heading(&case.id), cut(&triage.check.what, WIDTH));
    let (kind, compiler) = (case.kind.name(), triage.check.compiler());
    let _ = writeln!(out, "{head}: {kind} on {compiler}: {what}");
    if let Some(line) = triage.check.definedness.summary().first() {
        row(&mut out, "defined", Some(&cut(line, WIDTH)));
    }
    row(&mut out, "reduced", reduced(triage).as_deref());
    let front_end = triage.in_front_end.then_some(FRONT_END);
    row(&mut out, "guilty", front_end);
    if let Some(bisection) = &triage.bisection {
        row(&mut out, "guilty", Some(&in_codegen(triage).unwrap_or_else(|| guilty(bisection))));
        let value = bisection.first_wrong().map(|first| cut(&wrong_value(&first.value), WIDTH));
        row(&mut out, "wrong", value.as_deref());
        let broken = bisection.broken_earlier.as_ref().map(|broken| {
            let name = bisection.invocation(broken.invocation).map(ToString::to_string);
            format!("by {} ({})", name.unwrap_or_default(), broken.verifier)
        });
        row(&mut out, "broken", broken.as_deref());
        if let Some(gcc) = &bisection.gcc {
            row(&mut out, "in", files(gcc).as_deref());
            row(&mut out, "single", transformations(gcc).first().map(String::as_str));
            row(&mut out, "note", by_options(gcc).as_deref());
        }
    }
    let passes = match &triage.single {
        None if triage.case.case.pipeline.is_codegen() => "no pass",
        Some(single) if single.n_passes > 1 => "passes",
        Some(single) if single.n_passes == 0 => "no pass",
        _ => "one pass",
    };
    row(&mut out, passes, one_pass(triage).as_deref());
    if let Some(found) = &triage.localization {
        let files = found.files.iter().take(3).map(|suspect| suspect.path.as_str());
        row(&mut out, "files", Some(&files.collect::<Vec<_>>().join(", ")));
        let functions: Vec<String> = found.functions.iter().take(3).map(named).collect();
        row(&mut out, "suspects", Some(&functions.join(", ")));
        row(&mut out, "line", found.lines.first().map(lines::in_a_row).as_deref());
        let asserted = lines::failed_assertion(found).map(|failed| cut(&asserted(failed), WIDTH));
        row(&mut out, "asserts", asserted.as_deref());
        let accessed = lines::memory_error(found).map(|error| cut(&lines::accessed(error), WIDTH));
        row(&mut out, "memory", accessed.as_deref());
    }
    let confirmed = triage.check.confirmation.as_ref().map(|theirs| match theirs.agrees {
        true => format!("by the distribution's own tools: {}", theirs.theirs),
        false => format!("NOT by the distribution's own tools: {}", theirs.theirs),
    });
    row(&mut out, "confirmed", confirmed.as_deref());
    for note in triage.notes.iter().take(2) {
        row(&mut out, "note", Some(&cut(note, WIDTH)));
    }
    if triage.interrupted {
        row(&mut out, "cut short", Some("it was interrupted; what is not said is not known"));
    }
    let total: f64 = triage.seconds.iter().map(|(_, seconds)| seconds).sum();
    let took = triage.seconds.iter().map(|(name, seconds)| format!("{name} {seconds:.0} s"));
    let took = format!("{total:.0} s ({})", took.collect::<Vec<_>>().join(", "));
    row(&mut out, "took", Some(&took));
    row(&mut out, "report", Some(&format!("{}, {}", reports.markdown, reports.page)));
    out
}

fn row(out: &mut String, word: &str, line: Option<&str>) {
    if let Some(line) = line.filter(|line| !line.is_empty()) {
        let _ = writeln!(out, "  {word:<9}  {}", line.trim_end());
    }
}

fn named(suspect: &FunctionSuspect) -> String {
    cut(&short_name(&suspect.name), 60)
}

/// What was left out, in a line.
fn reduced(triage: &Triage) -> Option<String> {
    let Reduction { sequence, program, .. } = triage.reduction.as_ref()?;
    if triage.check.driver.is_some() {
        let (before, after) =
            (words::count(program.before.lines), words::count(program.after.lines));
        return Some(format!("{before} to {after} lines"));
    }
    let [before, after] = [&program.before, &program.after].map(|size| size.instructions);
    let instructions = format!("{} to {} instructions", words::count(before), words::count(after));
    if triage.case.case.pipeline.is_codegen() {
        return Some(instructions);
    }
    let [before, after] = [sequence.n_before, sequence.n_after].map(words::count);
    Some(format!("{before} to {after} passes, {instructions}"))
}

/// Who is to blame, in a line.
fn guilty(bisection: &Bisection) -> String {
    use optsleuth_model::BisectionVerdict::{Guilty, SeveralCulprits};
    if let Some(both) = two_steps(bisection) {
        return both;
    }
    let name = |number: &u32| bisection.invocation(*number).map(ToString::to_string);
    match &bisection.verdict {
        Guilty { invocation, needs_also } => {
            let also: Vec<String> = needs_also.iter().take(3).filter_map(name).collect();
            let also = match needs_also.len() {
                0 => String::new(),
                n if n > 3 => format!("; needs also {} and {} more", also.join(", "), n - 3),
                _ => format!("; needs also {}", also.join(", ")),
            };
            format!("{}{also}", name(invocation).unwrap_or_default())
        }
        SeveralCulprits { invocations, more, .. } => {
            let names: Vec<String> = invocations.iter().take(3).filter_map(name).collect();
            format!("not one single culprit: {} ({})", names.join(", "), several(*more))
        }
        other => no_pass_guilty(bisection, other),
    }
}

/// The bisection of machine passes, where the failure is in code generation.
fn of_machine(triage: &Triage) -> Option<&Bisection> {
    let single = triage.single.as_ref().filter(|single| single.case.case.pipeline.is_codegen());
    let own = triage.bisection.as_ref().filter(|_| triage.case.case.pipeline.is_codegen());
    single.and_then(|single| single.bisection.as_ref()).or(own)
}

/// Which machine pass fails, and in which stage, where one does.
fn in_codegen(triage: &Triage) -> Option<String> {
    let found = of_machine(triage)?;
    let Some(culprit) = found.culprit() else {
        return Some("code generation, in passes that LLVM always runs".to_owned());
    };
    let stage = codegen_stage(&found.invocations, culprit.index)?;
    let also = match &found.verdict {
        BisectionVerdict::Guilty { needs_also, .. } => needs_also.as_slice(),
        _ => &[],
    };
    let also = also.iter().filter_map(|number| found.invocation(*number));
    let also: Vec<String> = also.take(3).map(|also| also.pass.clone()).collect();
    let also = match also.is_empty() {
        true => String::new(),
        false => format!("; needs also {}", also.join(", ")),
    };
    Some(format!("code generation: {culprit} ({stage}){also}"))
}

/// The command that fails, or why there is none.
fn one_pass(triage: &Triage) -> Option<String> {
    if let Some(single) = &triage.single {
        let command = single.check.commands().first().cloned();
        let said = command.unwrap_or_else(|| single.check.passes.clone());
        return Some(format!("in {SINGLE_PASS}/: {said}"));
    }
    let bisection = triage.bisection.as_ref().filter(|bisection| bisection.gcc.is_none())?;
    if triage.case.case.pipeline.is_codegen() {
        return triage.check.commands().first().cloned();
    }
    match &bisection.single_pass {
        SinglePassForm::Found(_) => None, // Said in a note.
        SinglePassForm::Missing { why } => Some(format!("none: {why}")),
    }
}

#[derive(Serialize)]
struct TriageJson<'a> {
    version: u32,
    case: &'a str,
    folder: String,
    llvm: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    compiler: Option<&'a str>,
    kind: &'a str,
    what: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    definedness: Option<&'a Definedness>,
    passes: &'a str,
    reduction: Option<&'a Reduction>,
    guilty: Option<String>,
    in_front_end: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    machine_pass: Option<MachinePassJson<'a>>,
    single_pass: Option<SingleJson<'a>>,
    confirmed: Option<bool>,
    commands: &'a [String],
    files: Vec<&'a str>,
    functions: Vec<&'a str>,
    lines: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    assertion: Option<&'a FailedAssertion>,
    notes: &'a [String],
    interrupted: bool,
    seconds: f64,
    report: [&'a str; 2],
}

#[derive(Serialize)]
struct MachinePassJson<'a> {
    /// As llc names it.
    name: &'a str,
    unit: &'a str,
    stage: &'a str,
}

#[derive(Serialize)]
struct SingleJson<'a> {
    folder: String,
    passes: &'a str,
    n_passes: usize,
    what: &'a str,
    commands: &'a [String],
}

/// The summary as a JSON document; each step's own is in the case's folder.
pub fn triage_json(triage: &Triage, reports: Reports<'_>) -> String {
    let Triage { case, check, bisection, localization, .. } = triage;
    let files = localization.iter().flat_map(|found| &found.files).take(TOP);
    let functions = localization.iter().flat_map(|found| &found.functions).take(TOP);
    let lines = localization.iter().flat_map(|found| &found.lines).take(TOP);
    let json = TriageJson {
        version: JSON_VERSION,
        case: &case.case.id,
        folder: case.folder.display().to_string(),
        llvm: &check.llvm,
        compiler: check.driver.as_ref().map(|driver| driver.compiler.as_str()),
        kind: case.case.kind.name(),
        what: &check.what,
        definedness: (!check.definedness.asked.is_empty()).then_some(&check.definedness),
        passes: &check.passes,
        reduction: triage.reduction.as_ref(),
        guilty: bisection.as_ref().and_then(Bisection::culprit).map(ToString::to_string),
        in_front_end: triage.in_front_end,
        machine_pass: of_machine(triage).and_then(|found| {
            let BisectedInvocation { index, pass, unit, .. } = found.culprit()?;
            let stage = codegen_stage(&found.invocations, *index)?;
            Some(MachinePassJson { name: pass, unit, stage })
        }),
        single_pass: triage.single.as_ref().map(|single| SingleJson {
            folder: single.case.folder.display().to_string(),
            passes: &single.check.passes,
            n_passes: single.n_passes,
            what: &single.check.what,
            commands: single.check.commands(),
        }),
        confirmed: check.confirmation.as_ref().map(|theirs| theirs.agrees),
        commands: check.commands(),
        files: files.map(|suspect| suspect.path.as_str()).collect(),
        functions: functions.map(|suspect| suspect.name.as_str()).collect(),
        lines: lines.map(|suspect| suspect.place.to_string()).collect(),
        assertion: localization.as_ref().and_then(lines::failed_assertion),
        notes: &triage.notes,
        interrupted: triage.interrupted,
        seconds: triage.seconds.iter().map(|(_, seconds)| seconds).sum(),
        report: [reports.markdown, reports.page],
    };
    to_json(&json)
}

/// The text of an issue: what a developer of that compiler asks for first, in that
/// order.
pub fn triage_markdown(triage: &Triage) -> String {
    let mut out = String::new();
    let case = &triage.case.case;
    let smallest = triage.single.as_ref().map_or(&triage.check, |single| &single.check);
    let _ = writeln!(out, "# {}\n", inline(&headline(triage)));
    let _ = writeln!(out, "{}, {}.\n", triage.check.compiler(), words::kind(case.kind));
    let _ = writeln!(out, "{}\n", inline(&smallest.what));
    if let Some(failed) = triage.localization.as_ref().and_then(lines::failed_assertion) {
        let _ = writeln!(out, "**{}**\n", inline(&asserted(failed)));
    }
    definedness(&mut out, &triage.check.definedness);
    match smallest.commands() {
        [] => {
            let _ = writeln!(out, "Passes: {}\n", code(&smallest.passes));
        }
        commands => {
            let _ = writeln!(out, "```\n{}\n```\n", commands.join("\n"));
        }
    }
    for (way, does) in smallest.references.iter().take(1) {
        let _ = writeln!(out, "Expected: the program {} ({way}).\n", inline(does));
    }
    if let Some(program) = &triage.program {
        let _ = writeln!(out, "`{}`:\n", case.input);
        fenced(&mut out, "c", &first_lines(program));
    }
    if let Some(single) = &triage.single {
        let _ = writeln!(out, "`{}`:\n", single.case.case.input);
        fenced(&mut out, "llvm", &first_lines(&single.module));
    }
    if triage.in_front_end {
        let _ = writeln!(out, "## Where it fails\n\n{}.\n", words::capitalized(FRONT_END));
    }
    if let Some(bisection) = &triage.bisection {
        let smallest = triage.single.as_ref().and_then(|single| single.bisection.as_ref());
        match in_codegen(triage).zip(of_machine(triage)) {
            Some((said, found)) => blame_codegen(&mut out, &said, found),
            None => blame(&mut out, bisection, smallest.unwrap_or(bisection)),
        }
    }
    if !smallest.frames.is_empty() {
        let frames: Vec<String> =
            smallest.frames.iter().take(MAX_FRAMES).map(|frame| short_name(frame)).collect();
        let _ = writeln!(out, "## Stack\n");
        fenced(&mut out, "", &frames.join("\n"));
    }
    if let Some(found) = &triage.localization {
        suspects(&mut out, found);
    }
    if let Some(gcc) = triage.bisection.as_ref().and_then(|found| found.gcc.as_ref()) {
        let _ = writeln!(out, "## `gcc -v`\n");
        fenced(&mut out, "", &gcc.version);
    }
    origin(&mut out, triage);
    out
}

/// Who was asked whether the program is defined; before anything else, because it
/// decides whether there is a bug at all.
fn definedness(out: &mut String, said: &Definedness) {
    for (number, line) in said.summary().iter().enumerate() {
        let line = inline(line);
        let _ = match number == 0 && !said.has_verdict() {
            true => writeln!(out, "**{line}.**\n"),
            false => writeln!(out, "- {line}."),
        };
    }
    if !said.asked.is_empty() {
        out.push('\n');
    }
}

fn headline(triage: &Triage) -> String {
    let kind = words::kind(triage.case.case.kind);
    let pass = triage.bisection.as_ref().and_then(Bisection::culprit);
    match of_machine(triage).and_then(Bisection::culprit).or(pass) {
        Some(invocation) => format!("[{}] {kind}", invocation.pass),
        None => format!("{kind} in {}", triage.case.case.id),
    }
}

fn first_lines(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().take(MAX_LINES).collect();
    if text.lines().count() > MAX_LINES {
        lines.push("; (cut here; the whole module is in the case's folder)");
    }
    lines.join("\n")
}

/// Which part of the code generator fails.
fn blame_codegen(out: &mut String, said: &str, found: &Bisection) {
    let _ = writeln!(out, "## Guilty pass of the code generator\n");
    let n_invocations = words::count(found.invocations.len());
    let _ =
        writeln!(out, "{}, of {n_invocations} invocations.\n", words::capitalized(&inline(said)));
    let Some(culprit) = found.culprit() else { return };
    let name = &culprit.pass;
    if !name.contains(' ') {
        let _ = writeln!(
            out,
            "llc knows the pass by its name: `-stop-before={name}` prints the \
             machine code that it gets.\n"
        );
    }
}

/// Who is to blame, and what it does to the smallest program there is.
fn blame(out: &mut String, bisection: &Bisection, smallest: &Bisection) {
    let _ = writeln!(out, "## Guilty pass invocation\n");
    let _ = writeln!(
        out,
        "{}, of {} invocations.\n",
        inline(&guilty(bisection)),
        words::count(bisection.invocations.len())
    );
    if let Some(first) = smallest.first_wrong().or(bisection.first_wrong()) {
        let _ = writeln!(out, "First wrong value: {}", inline(&wrong_value(&first.value)));
        if let Some(place) = &first.value.place_after {
            let _ = writeln!(out, "\nIt is computed by, in `{}`:\n", place.function);
            fenced(out, "llvm", &place.instruction);
        }
        out.push('\n');
    }
    if let Some(why) = not_known(bisection) {
        let _ = writeln!(out, "The first wrong step is not known: {}.\n", inline(why));
    }
    if let Some(broken) = &bisection.broken_earlier {
        let name = bisection.invocation(broken.invocation).map(ToString::to_string);
        let (name, said) = (inline(&name.unwrap_or_default()), inline(&broken.message));
        let _ = writeln!(out, "`-{}` complains after {name}: {said}\n", broken.verifier);
    }
    if let Some(gcc) = &bisection.gcc {
        if let Some(files) = files(gcc) {
            let _ = writeln!(out, "The pass is in {files}.\n");
        }
        for line in transformations(gcc) {
            let _ = writeln!(out, "Single transformation: {line}.\n");
        }
        if let Some(why) = by_options(gcc) {
            let _ = writeln!(out, "{}.\n", words::capitalized(&why));
        }
    }
    if let Some(change) = &smallest.change {
        let changed = as_text(change, CONTEXT, str::to_owned);
        if changed.iter().any(|line| !line.starts_with(' ')) {
            let _ = writeln!(out, "What it changes:\n");
            fenced(out, "diff", &first_lines(&changed.join("\n")));
        }
    }
}

fn suspects(out: &mut String, found: &Localization) {
    let _ = writeln!(out, "## Suspects\n");
    let _ = writeln!(
        out,
        "Code of {}, most suspect first ({}, seed {}, {} runs). Cures: blocks in which one \
         condition, decided the other way, makes the failure vanish.\n",
        if found.of_gcc { "gcc" } else { "LLVM" },
        inline(&found.method),
        found.seed,
        words::count(found.runs)
    );
    let _ = writeln!(out, "| rank | function | file | cures |\n|---:|---|---|---:|");
    for suspect in found.functions.iter().take(TOP) {
        let FunctionSuspect { rank, name, path, evidence, .. } = suspect;
        let (name, path) = (code(&short_name(name)), code(path));
        let _ = writeln!(out, "| {rank} | {name} | {path} | {} |", cures(evidence));
    }
    let _ = writeln!(out, "\n| rank | file | cures |\n|---:|---|---:|");
    for suspect in found.files.iter().take(TOP) {
        let _ = writeln!(
            out,
            "| {} | {} | {} |",
            suspect.rank,
            code(&suspect.path),
            cures(&suspect.evidence)
        );
    }
    out.push('\n');
    lines::markdown(out, found);
}

fn cures(evidence: &Evidence) -> String {
    evidence.cures.map_or("-".to_owned(), |cures| format!("{} of {}", cures.blocks, cures.tried))
}

/// Where it comes from, and what of this is not certain.
fn origin(out: &mut String, triage: &Triage) {
    let _ = writeln!(out, "## How this was found\n");
    if let Some(reduced) = reduced(triage) {
        let _ = writeln!(out, "- Reduced from {reduced}.");
    }
    match &triage.check.confirmation {
        Some(theirs) if theirs.agrees => {
            let _ = writeln!(out, "- Confirmed with the distribution's own tools.");
        }
        Some(theirs) => {
            let said = inline(&theirs.theirs);
            let _ = writeln!(out, "- The distribution's own tools do not agree: {said}.");
        }
        // The distribution's own compiler is what was looked at.
        None if triage.check.driver.is_some() => {}
        None => {
            let _ = writeln!(out, "- Not confirmed with the distribution's own tools.");
        }
    }
    for note in &triage.notes {
        let _ = writeln!(out, "- {}", inline(note));
    }
    let _ = writeln!(out, "- OptSleuth {}.", env!("CARGO_PKG_VERSION"));
}
