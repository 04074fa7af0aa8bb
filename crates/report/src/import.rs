//! The result of `optsleuth case import`: a table of cases, and what became of
//! every other test.

use std::fmt::Write as _;

use optsleuth_model::{Attempt, ImportReport, ImportedTest, Seen, TestStatus, UsableLlvms};
use serde::Serialize;

use crate::{JSON_VERSION, Style, to_json};

/// One file that was to be imported: its name, and the report or an error's text.
#[derive(Debug)]
pub struct ImportEntry {
    /// The file, as it was given.
    pub file: String,
    pub result: Result<ImportReport, String>,
}

impl ImportEntry {
    /// How many cases were made of it.
    pub fn n_written(&self) -> usize {
        let written = |report: &ImportReport| {
            report.tests.iter().filter(|test| test.written.is_some()).count()
        };
        self.result.as_ref().map_or(0, written)
    }
}

#[derive(Serialize)]
struct ImportsJson<'a> {
    version: u32,
    llvms: &'a [u32],
    left_out: Vec<LeftOutJson<'a>>,
    imported: usize,
    files: Vec<FileJson<'a>>,
}

#[derive(Serialize)]
struct LeftOutJson<'a> {
    llvm: u32,
    why: &'a str,
}

#[derive(Serialize)]
struct FileJson<'a> {
    file: &'a str,
    error: Option<&'a str>,
    id: Option<&'a str>,
    bug_type: Option<&'static str>,
    tests: Vec<TestJson<'a>>,
}

#[derive(Serialize)]
struct TestJson<'a> {
    file: &'a str,
    name: &'a str,
    command: &'a str,
    status: &'static str,
    why: Option<String>,
    attempts: Vec<AttemptJson<'a>>,
    case: Option<CaseJson<'a>>,
}

#[derive(Serialize)]
struct AttemptJson<'a> {
    llvm: u32,
    status: &'static str,
    kind: Option<&'static str>,
    what: &'a str,
}

#[derive(Serialize)]
struct CaseJson<'a> {
    id: &'a str,
    folder: String,
    kind: &'static str,
    passes: String,
    flags: &'a [String],
    fails_in: &'a [String],
}

/// All files as a JSON document.
pub fn import_json(entries: &[ImportEntry], llvms: &UsableLlvms) -> String {
    let left_out = llvms.left_out.iter().map(|(llvm, why)| LeftOutJson { llvm: *llvm, why });
    let json = ImportsJson {
        version: JSON_VERSION,
        llvms: &llvms.numbers,
        left_out: left_out.collect(),
        imported: entries.iter().map(ImportEntry::n_written).sum(),
        files: entries.iter().map(file).collect(),
    };
    to_json(&json)
}

fn file(entry: &ImportEntry) -> FileJson<'_> {
    let report = entry.result.as_ref().ok();
    FileJson {
        file: &entry.file,
        error: entry.result.as_ref().err().map(String::as_str),
        id: report.map(|report| report.id.as_str()),
        bug_type: report.map(|report| report.bug_type.name()),
        tests: report.map_or(Vec::new(), |report| report.tests.iter().map(test).collect()),
    }
}

fn test(test: &ImportedTest) -> TestJson<'_> {
    TestJson {
        file: &test.file,
        name: &test.name,
        command: &test.command,
        status: test.status.name(),
        why: why(&test.status),
        attempts: test.attempts.iter().map(attempt).collect(),
        case: test.written.as_ref().map(|written| CaseJson {
            id: &written.case.id,
            folder: written.folder.display().to_string(),
            kind: written.case.kind.name(),
            passes: written.case.pipeline.in_words(),
            flags: &written.case.flags,
            fails_in: &written.case.fails_in,
        }),
    }
}

fn attempt(attempt: &Attempt) -> AttemptJson<'_> {
    AttemptJson {
        llvm: attempt.llvm,
        status: attempt.seen.name(),
        kind: attempt.seen.kind().map(|kind| kind.name()),
        what: &attempt.what,
    }
}

/// Why a test is no case of itself.
fn why(status: &TestStatus) -> Option<String> {
    match status {
        TestStatus::Reproduces => None,
        TestStatus::ReproducesNowhere => Some("fails on none of the LLVMs tried".to_owned()),
        TestStatus::NotExecutable => {
            Some("not executable here: wrong code shows in `main`, and there is none".to_owned())
        }
        TestStatus::NotExpressible(error) => Some(format!("no case can say the command: {error}")),
        TestStatus::Repeated => Some("the same as a test before it".to_owned()),
    }
}

/// All files for a person.
pub fn import_text(entries: &[ImportEntry], llvms: &UsableLlvms, style: Style) -> String {
    let mut out = String::new();
    table(&mut out, entries, style);
    for entry in entries {
        match &entry.result {
            Ok(report) => others(&mut out, report, style),
            Err(error) => {
                let _ = writeln!(out, "{}: {}: {error}", entry.file, style.bad("error"));
            }
        }
    }
    for (llvm, why) in &llvms.left_out {
        let _ = writeln!(out, "LLVM {llvm} was left out: {why}");
    }
    let n_written: usize = entries.iter().map(ImportEntry::n_written).sum();
    let n_with = entries.iter().filter(|entry| entry.n_written() > 0).count();
    let numbers: Vec<String> = llvms.numbers.iter().map(ToString::to_string).collect();
    let _ = writeln!(
        out,
        "{n_written} cases of {n_with} files imported, out of {} files; tried on LLVM {}",
        entries.len(),
        numbers.join(", ")
    );
    out
}

const HEADINGS: [&str; 5] = ["case", "kind", "fails in", "passes", "test"];

/// What was written.
fn table(out: &mut String, entries: &[ImportEntry], style: Style) {
    let reports = entries.iter().filter_map(|entry| entry.result.as_ref().ok());
    let rows: Vec<[String; 5]> =
        reports.flat_map(|report| report.tests.iter()).filter_map(row).collect();
    if rows.is_empty() {
        return;
    }
    let mut widths = HEADINGS.map(|heading| heading.chars().count());
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: &[String; 5]| {
        let padded: Vec<String> =
            cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        padded.join("  ").trim_end().to_owned()
    };
    let _ = writeln!(out, "{}", style.heading(&line(&HEADINGS.map(str::to_owned))));
    for row in &rows {
        let _ = writeln!(out, "{}", line(row));
    }
    out.push('\n');
}

fn row(test: &ImportedTest) -> Option<[String; 5]> {
    let written = test.written.as_ref()?;
    let case = &written.case;
    let fails_in = match case.fails_in.is_empty() {
        true => "nowhere".to_owned(),
        false => case.fails_in.join(", "),
    };
    let folder = written.folder.display().to_string();
    Some([folder, case.kind.name().to_owned(), fails_in, case.pipeline.passes(), name(test)])
}

/// A test's file, without its folders, and its name.
fn name(test: &ImportedTest) -> String {
    let file = test.file.rsplit('/').next().unwrap_or(&test.file);
    format!("{file}: {}", test.name)
}

/// The tests of a file that fail nowhere, with the reasons. Neighbours of which
/// the same is to be said share it.
fn others(out: &mut String, report: &ImportReport, style: Style) {
    let said = |test: &ImportedTest| {
        let attempts = test.attempts.iter().map(|a| (a.llvm, verb(a.seen), a.what.clone()));
        let attempts: Vec<_> = attempts.collect();
        (test.file.clone(), why(&test.status), test.written.is_some(), attempts)
    };
    for tests in report.tests.chunk_by(|a, b| said(a) == said(b)) {
        let (first, others) = (&tests[0], &tests[1..]);
        let Some(why) = why(&first.status) else { continue };
        let kept = if first.written.is_some() { "kept" } else { "not imported" };
        let mut names = name(first);
        for other in others {
            let _ = write!(names, ", {}", other.name);
        }
        let _ = writeln!(out, "{} {names}: {}: {why}", report.id, style.notable(kept));
        let same = |a: &Attempt, b: &Attempt| a.seen == b.seen && a.what == b.what;
        for attempts in first.attempts.chunk_by(same) {
            let llvms: Vec<String> = attempts.iter().map(|a| a.llvm.to_string()).collect();
            let Attempt { seen, what, .. } = &attempts[0];
            let line = format!("    LLVM {}: {}: {what}", llvms.join(", "), verb(*seen));
            let _ = writeln!(out, "{}", style.quiet(&line));
        }
    }
}

fn verb(seen: Seen) -> &'static str {
    match seen {
        Seen::Fails(kind) => kind.name(),
        Seen::Otherwise(status) => status.name(),
        Seen::CannotTry => "cannot be tried",
    }
}
