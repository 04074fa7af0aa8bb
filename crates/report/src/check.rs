//! The result of `optsleuth case check`: one case, or many.

use std::fmt::Write as _;

use optsleuth_model::{CheckReport, CheckStatus, Definedness};
use serde::Serialize;

use crate::{JSON_VERSION, Style, to_json};

/// One case that was to be checked: its name, and the report or an error's text.
#[derive(Debug)]
pub struct CheckEntry {
    /// The folder, as it was given.
    pub folder: String,
    pub result: Result<CheckReport, String>,
}

#[derive(Serialize)]
struct ChecksJson<'a> {
    version: u32,
    reproduced: usize,
    cases: Vec<CheckJson<'a>>,
}

#[derive(Serialize)]
struct CheckJson<'a> {
    folder: &'a str,
    status: &'static str,
    what: &'a str,
    #[serde(flatten)]
    details: Option<DetailsJson<'a>>,
}

#[derive(Serialize)]
struct DetailsJson<'a> {
    id: &'a str,
    kind: &'static str,
    #[serde(flatten)]
    compiler: CompilerJson<'a>,
    repetitions: usize,
    failing: usize,
    references: Vec<ReferenceJson<'a>>,
    /// Of wrong code alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    definedness: Option<&'a Definedness>,
    note: Option<&'a str>,
    confirmed: Option<bool>,
    distribution: Option<&'a str>,
    commands: &'a [String],
    /// Of a case with a fault alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    unmodified: Option<UnmodifiedJson<'a>>,
}

/// What was run: LLVM's passes, or a compiler as its users call it.
#[derive(Serialize)]
#[serde(untagged)]
enum CompilerJson<'a> {
    Passes { llvm: &'a str, passes: &'a str },
    Driver { compiler: &'a str, level: &'static str },
}

#[derive(Serialize)]
struct UnmodifiedJson<'a> {
    passes: bool,
    what: &'a str,
}

#[derive(Serialize)]
struct ReferenceJson<'a> {
    way: &'a str,
    behaviour: &'a str,
}

fn details(report: &CheckReport) -> DetailsJson<'_> {
    let confirmation = report.confirmation.as_ref();
    let references = report.references.iter();
    DetailsJson {
        id: &report.case.case.id,
        kind: report.case.case.kind.name(),
        compiler: match &report.driver {
            None => CompilerJson::Passes { llvm: &report.llvm, passes: &report.passes },
            Some(driver) => {
                CompilerJson::Driver { compiler: &driver.compiler, level: driver.level.name() }
            }
        },
        repetitions: report.n_repetitions,
        failing: report.n_failing,
        references: references.map(|(way, behaviour)| ReferenceJson { way, behaviour }).collect(),
        definedness: (!report.definedness.asked.is_empty()).then_some(&report.definedness),
        note: report.note.as_deref(),
        confirmed: confirmation.map(|confirmation| confirmation.agrees),
        distribution: confirmation.map(|confirmation| confirmation.theirs.as_str()),
        commands: commands(report),
        unmodified: report
            .unmodified
            .as_ref()
            .map(|run| UnmodifiedJson { passes: run.passes, what: &run.what }),
    }
}

/// What shows the failure, for the case's folder; none where it was not asked for.
fn commands(report: &CheckReport) -> &[String] {
    match (&report.driver, &report.confirmation) {
        (Some(driver), _) => &driver.commands,
        (None, Some(confirmation)) => &confirmation.commands,
        (None, None) => &[],
    }
}

/// All cases as a JSON document.
pub fn check_json(entries: &[CheckEntry]) -> String {
    let cases = entries.iter().map(|entry| match &entry.result {
        Ok(report) => CheckJson {
            folder: &entry.folder,
            status: report.status.name(),
            what: &report.what,
            details: Some(details(report)),
        },
        Err(error) => {
            CheckJson { folder: &entry.folder, status: "error", what: error, details: None }
        }
    });
    let json = ChecksJson {
        version: JSON_VERSION,
        reproduced: n_reproduced(entries),
        cases: cases.collect(),
    };
    to_json(&json)
}

fn n_reproduced(entries: &[CheckEntry]) -> usize {
    let reproduces = |entry: &&CheckEntry| {
        entry.result.as_ref().is_ok_and(|report| {
            report.status == CheckStatus::Reproduces
                && report.confirmation.as_ref().is_none_or(|confirmation| confirmation.agrees)
        })
    };
    entries.iter().filter(reproduces).count()
}

/// One case for a person.
pub fn check_text(entry: &CheckEntry, style: Style) -> String {
    let mut out = String::new();
    match &entry.result {
        Ok(report) => one(&mut out, report, style),
        Err(error) => {
            let _ = writeln!(out, "{}: {}: {error}", entry.folder, style.bad("error"));
        }
    }
    out
}

fn one(out: &mut String, report: &CheckReport, style: Style) {
    let status = match report.status {
        CheckStatus::Reproduces => style.good("reproduces"),
        CheckStatus::Passes => style.bad("does not fail"),
        CheckStatus::FailsOtherwise => style.bad("fails, but not as it says"),
        CheckStatus::Flaky => style.bad("flaky"),
        CheckStatus::Unstable => style.bad("not a valid case"),
        CheckStatus::FailsUnmodified => style.bad("fails, but not because of its fault"),
    };
    let case = &report.case.case;
    let _ = writeln!(out, "{}: {status} ({})", style.heading(&case.id), case.kind.name());
    let _ = writeln!(out, "  {}", report.what);
    if report.status == CheckStatus::Reproduces {
        let (failing, all) = (report.n_failing, report.n_repetitions);
        let _ = writeln!(out, "  {failing} of {all} repetitions fail the same way");
    }
    for (way, behaviour) in &report.references {
        let line = format!("  reference: {way}: the program {behaviour}");
        let _ = writeln!(out, "{}", style.quiet(&line));
    }
    for line in report.definedness.summary() {
        let line = match report.definedness.has_verdict() {
            true => style.quiet(&line),
            false => style.notable(&line),
        };
        let _ = writeln!(out, "  {line}");
    }
    if let Some(note) = &report.note {
        let _ = writeln!(out, "  {}: {note}", style.notable("note"));
    }
    if let Some(confirmation) = &report.confirmation {
        let verdict = match confirmation.agrees {
            true => style.good("confirmed"),
            false => style.bad("not confirmed"),
        };
        let theirs = &confirmation.theirs;
        let _ = writeln!(out, "  {verdict} by the distribution's tools: {theirs}");
    }
    let commands = commands(report);
    if !commands.is_empty() {
        let _ = writeln!(out, "  in the case's folder:");
    }
    for command in commands {
        let _ = writeln!(out, "    $ {command}");
    }
    if let Some(unmodified) = report.unmodified.as_ref().filter(|run| run.passes) {
        let verdict = style.good("passes");
        let _ = writeln!(out, "  without the fault it {verdict}: {}", unmodified.what);
    }
    if let Some(fault) = &report.case.case.fault {
        let _ = writeln!(out, "{}", style.quiet(&format!("  fault: {fault}")));
    }
    let line = match &report.driver {
        None => format!("  LLVM {} · -passes='{}'", report.llvm, report.passes),
        Some(driver) => format!("  {} · -{}", driver.compiler, driver.level.name()),
    };
    let _ = writeln!(out, "{}", style.quiet(&line));
}

/// How many cases reproduce and are not denied by the distribution's tools, for
/// a person who gave many.
pub fn check_summary(entries: &[CheckEntry]) -> String {
    format!("{} of {} cases reproduce", n_reproduced(entries), entries.len())
}
