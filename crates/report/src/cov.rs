//! The result of `optsleuth cov`: one run by file and function, or two compared.

use std::cmp::Reverse;
use std::fmt::Write as _;

use optsleuth_model::{CodeMap, CovReport, CovRun, Coverage};
use serde::Serialize;

use crate::names::cut;
use crate::{JSON_VERSION, Style, to_json};

/// Of a C++ name, what a terminal can show.
const WIDTH: usize = 90;

#[derive(Serialize)]
struct CovJson<'a> {
    version: u32,
    llvm: &'a str,
    passes: String,
    outcome: &'static str,
    #[serde(flatten)]
    whole: ViewJson<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<WindowJson<'a>>,
}

#[derive(Serialize)]
struct WindowJson<'a> {
    invocations: Vec<String>,
    #[serde(flatten)]
    view: ViewJson<'a>,
}

#[derive(Serialize)]
struct ViewJson<'a> {
    blocks: usize,
    files: Vec<FileJson<'a>>,
    functions: Vec<FunctionJson<'a>>,
}

#[derive(Serialize)]
struct FileJson<'a> {
    path: &'a str,
    blocks: usize,
}

#[derive(Serialize)]
struct FunctionJson<'a> {
    name: &'a str,
    path: &'a str,
    blocks: usize,
}

/// Files and functions of a coverage, most blocks first, then by name.
fn view<'a>(map: &'a CodeMap, coverage: &Coverage) -> ViewJson<'a> {
    let mut files: Vec<FileJson<'a>> = map
        .per_file(coverage)
        .into_iter()
        .map(|(file, blocks)| FileJson { path: map.file(file), blocks })
        .collect();
    files.sort_by_key(|file| (Reverse(file.blocks), file.path));
    let mut functions: Vec<FunctionJson<'a>> = map
        .per_function(coverage)
        .into_iter()
        .map(|(id, blocks)| {
            let function = map.function(id);
            FunctionJson { name: &function.name, path: map.file(function.file), blocks }
        })
        .collect();
    functions.sort_by_key(|function| (Reverse(function.blocks), function.name, function.path));
    ViewJson { blocks: coverage.count(), files, functions }
}

/// One run as a JSON document.
pub fn cov_json(report: &CovReport, run: &CovRun) -> String {
    let json = CovJson {
        version: JSON_VERSION,
        llvm: &report.llvm,
        passes: run.passes.to_string(),
        outcome: run.outcome.kind(),
        whole: view(&report.map, &run.coverage),
        window: run.window.as_ref().map(|(coverage, invocations)| WindowJson {
            invocations: invocations.iter().map(ToString::to_string).collect(),
            view: view(&report.map, coverage),
        }),
    };
    to_json(&json)
}

/// One run for a person: its window if it has one.
pub fn cov_text(report: &CovReport, run: &CovRun, top: usize, style: Style) -> String {
    let mut out = String::new();
    let (view, what) = match &run.window {
        None => (view(&report.map, &run.coverage), "the run".to_owned()),
        Some((coverage, invocations)) => {
            let names: Vec<String> = invocations.iter().map(ToString::to_string).collect();
            (view(&report.map, coverage), names.join(", "))
        }
    };
    let total: usize = report.map.functions.iter().map(|f| f.origin.offsets.len()).sum();
    let head = format!(
        "{} blocks of LLVM {} executed by {what} ({}; {total} in all)",
        view.blocks,
        report.llvm,
        run.outcome.kind(),
    );
    let _ = writeln!(out, "{head}");
    let _ =
        writeln!(out, "{}", style.heading(&format!("blocks  file ({} files)", view.files.len())));
    for file in view.files.iter().take(top) {
        let _ = writeln!(out, "{:>6}  {}", file.blocks, file.path);
    }
    let heading = format!("blocks  function ({} functions)", view.functions.len());
    let _ = writeln!(out, "{}", style.heading(&heading));
    for function in view.functions.iter().take(top) {
        let path = style.quiet(function.path);
        let _ = writeln!(out, "{:>6}  {}  {path}", function.blocks, cut(function.name, WIDTH));
    }
    out
}

#[derive(Serialize)]
struct DiffJson<'a> {
    version: u32,
    llvm: &'a str,
    a: SideJson,
    b: SideJson,
    jaccard: f64,
    files: Vec<FileDiffJson<'a>>,
    functions: Vec<FunctionDiffJson<'a>>,
}

#[derive(Serialize)]
struct SideJson {
    passes: String,
    outcome: &'static str,
    blocks: usize,
    only: usize,
}

#[derive(Clone, Copy, Serialize)]
struct Counts {
    only_a: usize,
    only_b: usize,
    both: usize,
}

#[derive(Serialize)]
struct FileDiffJson<'a> {
    path: &'a str,
    #[serde(flatten)]
    counts: Counts,
}

#[derive(Serialize)]
struct FunctionDiffJson<'a> {
    name: &'a str,
    path: &'a str,
    #[serde(flatten)]
    counts: Counts,
}

/// What differs between two runs; files and functions that do not differ are
/// left out, the most different come first.
fn diff<'a>(report: &'a CovReport, a: &CovRun, b: &CovRun) -> DiffJson<'a> {
    let map = &report.map;
    let (only_a, only_b) = (a.coverage.difference(&b.coverage), b.coverage.difference(&a.coverage));
    let both = a.coverage.intersection(&b.coverage);
    let side = |run: &CovRun, only: &Coverage| SideJson {
        passes: run.passes.to_string(),
        outcome: run.outcome.kind(),
        blocks: run.coverage.count(),
        only: only.count(),
    };
    let weight = |counts: &Counts| Reverse(counts.only_a + counts.only_b);
    let mut functions = Vec::new();
    let mut per_file: Vec<Counts> = vec![Counts { only_a: 0, only_b: 0, both: 0 }; map.files.len()];
    for function in &map.functions {
        let count = |coverage: &Coverage| -> usize {
            function.blocks.iter().map(|&(from, end)| coverage.count_range(from, end)).sum()
        };
        let counts = Counts { only_a: count(&only_a), only_b: count(&only_b), both: count(&both) };
        let file = &mut per_file[function.file.0 as usize];
        file.only_a += counts.only_a;
        file.only_b += counts.only_b;
        file.both += counts.both;
        if counts.only_a + counts.only_b > 0 {
            let path = map.file(function.file);
            functions.push(FunctionDiffJson { name: &function.name, path, counts });
        }
    }
    functions.sort_by_key(|function| (weight(&function.counts), function.name, function.path));
    let mut files: Vec<FileDiffJson<'a>> = map
        .files
        .iter()
        .zip(per_file)
        .filter(|(_, counts)| counts.only_a + counts.only_b > 0)
        .map(|(path, counts)| FileDiffJson { path, counts })
        .collect();
    files.sort_by_key(|file| (weight(&file.counts), file.path));
    DiffJson {
        version: JSON_VERSION,
        llvm: &report.llvm,
        a: side(a, &only_a),
        b: side(b, &only_b),
        jaccard: a.coverage.jaccard(&b.coverage),
        files,
        functions,
    }
}

/// Two runs compared, as a JSON document.
pub fn diff_json(report: &CovReport, a: &CovRun, b: &CovRun) -> String {
    let json = diff(report, a, b);
    to_json(&json)
}

/// Two runs compared, for a person.
pub fn diff_text(report: &CovReport, a: &CovRun, b: &CovRun, top: usize, style: Style) -> String {
    let mut out = String::new();
    let diff = diff(report, a, b);
    for (name, side) in [("A", &diff.a), ("B", &diff.b)] {
        let _ = writeln!(
            out,
            "{name}: {} blocks, {} of them not in the other; {}; -passes='{}'",
            side.blocks, side.only, side.outcome, side.passes
        );
    }
    let _ = writeln!(out, "similarity (Jaccard) {:.3}", diff.jaccard);
    let heading = format!("only A  only B    both  file ({} differ)", diff.files.len());
    let _ = writeln!(out, "{}", style.heading(&heading));
    for FileDiffJson { path, counts } in diff.files.iter().take(top) {
        let _ = writeln!(out, "{} {path}", columns(counts));
    }
    let heading = format!("only A  only B    both  function ({} differ)", diff.functions.len());
    let _ = writeln!(out, "{}", style.heading(&heading));
    for FunctionDiffJson { name, path, counts } in diff.functions.iter().take(top) {
        let _ = writeln!(out, "{} {}  {}", columns(counts), cut(name, WIDTH), style.quiet(path));
    }
    out
}

fn columns(counts: &Counts) -> String {
    format!("{:>6}  {:>6}  {:>6} ", counts.only_a, counts.only_b, counts.both)
}
