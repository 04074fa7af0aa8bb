//! The result of `optsleuth localize`: for a terminal, as JSON, as Markdown.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use optsleuth_model::{
    Evidence, FileSuspect, FunctionSuspect, Localization, ProgramCounts, StopReason, TrueCulprit,
    WitnessEntry,
};
use serde::Serialize;

use crate::markdown::{code, inline};
use crate::names::{cut, short_name};
use crate::words::counted;
use crate::{JSON_VERSION, Style, lines, to_json};

/// The whole result as a JSON document: what is kept in the case's folder.
pub fn localize_json(localization: &Localization) -> String {
    to_json(localization)
}

#[derive(Serialize)]
struct ReportJson<'a> {
    version: u32,
    report: &'a str,
    methods: Vec<&'a str>,
}

/// Where a case's report is and what it shows, as a JSON document.
pub fn report_json(path: &str, localizations: &[Localization]) -> String {
    let methods = localizations.iter().map(|localization| localization.method.as_str()).collect();
    let json = ReportJson { version: JSON_VERSION, report: path, methods };
    to_json(&json)
}

/// The first suspects, for a person.
pub fn localize_text(localization: &Localization, top: usize, style: Style) -> String {
    const COLUMNS: &str = "rank  score  blocks  unwitnessed  witnesses  nearest ";
    let detours = if has_cures(localization) { " cures/tried " } else { "" };
    let mut out = String::new();
    let failure = &localization.failure;
    let head = style.heading(&localization.case);
    let _ = writeln!(out, "{head}: {}", failure.what);
    let _ = writeln!(out, "{}", summary(localization));
    let heading = format!("\n{COLUMNS}{detours} file ({} covered)", localization.files.len());
    let _ = writeln!(out, "{}", style.heading(&heading));
    for FileSuspect { rank, path, score, evidence } in localization.files.iter().take(top) {
        let _ = writeln!(out, "{} {path}", columns(*rank, *score, evidence));
    }
    let heading =
        format!("\n{COLUMNS}{detours} function ({} covered)", localization.functions.len());
    let _ = writeln!(out, "{}", style.heading(&heading));
    for suspect in localization.functions.iter().take(top) {
        let FunctionSuspect { rank, name, path, score, evidence } = suspect;
        let (name, path) = (cut(&short_name(name), 70), style.quiet(path));
        let _ = writeln!(out, "{} {name}  {path}", columns(*rank, *score, evidence));
    }
    lines::text(&mut out, localization, top, style);
    let _ = writeln!(out, "{}", style.heading("\nnearest witnesses, by their similarity"));
    let _ = writeln!(out, "  fails     {}", failure.passes);
    for (place, witness) in nearest(localization, top) {
        let number = format!("#{}", place + 1);
        let what = match &witness.edit {
            Some(edit) if witness.passes == failure.passes => format!("with {edit}"),
            Some(edit) => format!("{}  with {edit}", witness.passes),
            None => witness.passes.clone(),
        };
        let _ = writeln!(out, "{number:>4} {:.3}  {what}", witness.similarity);
    }
    truth(&mut out, localization, style);
    out
}

fn columns(rank: usize, score: f64, evidence: &Evidence) -> String {
    let Evidence { blocks, unwitnessed, witnesses, .. } = evidence;
    let nearest = number(evidence);
    let cures = evidence.cures.map(|cures| format!(" {:>5}/{:<5} ", cures.blocks, cures.tried));
    let cures = cures.unwrap_or_default();
    format!(
        "{rank:>4}  {score:.3}  {blocks:>6}  {unwitnessed:>11}  {witnesses:>9}  {nearest:>7} {cures}"
    )
}

/// Whether conditions were decided the other way.
pub(crate) fn has_cures(localization: &Localization) -> bool {
    localization.files.iter().any(|suspect| suspect.evidence.cures.is_some())
}

/// The number of the nearest witness that leaves something of a suspect out.
fn number(evidence: &Evidence) -> String {
    evidence.nearest.map_or("-".to_owned(), |place| format!("#{}", place + 1))
}

/// The nearest witness, and those that the first suspects refer to.
fn nearest(localization: &Localization, top: usize) -> Vec<(usize, &WitnessEntry)> {
    let files = localization.files.iter().take(top).map(|suspect| &suspect.evidence);
    let functions = localization.functions.iter().take(top).map(|suspect| &suspect.evidence);
    let referred = files.chain(functions).filter_map(|evidence| evidence.nearest);
    let places: BTreeSet<usize> = referred.chain([0]).collect();
    let entry = |place: usize| localization.witness_list.get(place).map(|entry| (place, entry));
    places.into_iter().filter_map(entry).collect()
}

/// What was done, in a sentence or two.
fn summary(localization: &Localization) -> String {
    let Localization { method, seed, runs, witnesses, .. } = localization;
    let compiler = localization.compiler();
    let time = match localization.seconds {
        Some(seconds) => format!(" in {seconds:.1} s"),
        None => String::new(),
    };
    let witnesses = counted(*witnesses, "witness", "witnesses");
    format!(
        "{method} on {compiler}, seed {seed}: {runs} runs{time}, {witnesses}, \
         best similarity {:.3}; ended because {}.{} Scored with {}, {} over blocks.",
        localization.best_similarity,
        why(localization.stopped),
        programs(localization),
        localization.formula,
        localization.aggregation,
    )
}

/// What became of programs that are no witnesses, as a sentence; nothing where
/// no programs were tried.
pub(crate) fn programs(localization: &Localization) -> String {
    let Some(ProgramCounts { invalid, unneeded, fakes }) = localization.programs else {
        return String::new();
    };
    let hiding = match fakes {
        Some(fakes) => format!("{} suspected to hide the bug", counted(fakes, "is", "are")),
        None => "which of them hide the bug cannot be told".to_owned(),
    };
    format!(
        " Of the programs, {} not compile, {} and {} nothing new, and {hiding}.",
        counted(invalid, "does", "do"),
        counted(unneeded, "passes", "pass"),
        if unneeded == 1 { "shows" } else { "show" },
    )
}

/// Why a search ended, after "because".
pub(crate) fn why(stopped: StopReason) -> &'static str {
    match stopped {
        StopReason::Runs => "all runs were made",
        StopReason::Budget => "the time was up",
        StopReason::Stable => "the top of the ranking did not change any more",
        StopReason::Exhausted => "there was nothing new to try",
        StopReason::Interrupted => "it was interrupted",
    }
}

fn truth(out: &mut String, localization: &Localization, style: Style) {
    let Some(truth) = &localization.truth else { return };
    let _ = writeln!(out, "{}", style.heading("\ntrue culprits, by their ranks"));
    for TrueCulprit { name, rank } in truth.files.iter().chain(&truth.functions) {
        let rank = rank.map_or("  --".to_owned(), |rank| format!("{rank:>4}"));
        let _ = writeln!(out, "{rank}  {name}");
    }
}

/// The first suspects as Markdown, for an issue tracker.
pub fn localize_markdown(localization: &Localization, top: usize) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "### Suspects of {}\n", inline(&localization.case));
    let _ = writeln!(out, "{}\n", inline(&localization.failure.what));
    let _ = writeln!(out, "{}\n", summary(localization));
    let _ = writeln!(
        out,
        "| rank | file | score | blocks | unwitnessed | witnesses | nearest | cures |"
    );
    let _ = writeln!(out, "|---:|---|---:|---:|---:|---:|---:|---:|");
    for FileSuspect { rank, path, score, evidence } in localization.files.iter().take(top) {
        let _ = writeln!(out, "| {rank} | {} | {} |", code(path), cells(*score, evidence));
    }
    let _ = writeln!(
        out,
        "\n| rank | function | file | score | blocks | unwitnessed | witnesses | nearest | cures |"
    );
    let _ = writeln!(out, "|---:|---|---|---:|---:|---:|---:|---:|---:|");
    for suspect in localization.functions.iter().take(top) {
        let FunctionSuspect { rank, name, path, score, evidence } = suspect;
        let (name, path) = (code(&short_name(name)), code(path));
        let _ = writeln!(out, "| {rank} | {name} | {path} | {} |", cells(*score, evidence));
    }
    out.push('\n');
    lines::markdown(&mut out, localization);
    let _ = writeln!(out, "\nNearest witnesses, by their similarity:\n");
    let _ = writeln!(out, "- fails: {}", code(&localization.failure.passes));
    for (place, witness) in nearest(localization, top) {
        let passes = code(&witness.passes);
        let edit = witness.edit.as_ref().map(|edit| format!(" with {}", inline(edit)));
        let edit = edit.unwrap_or_default();
        let _ = writeln!(out, "- \\#{} ({:.3}): {passes}{edit}", place + 1, witness.similarity);
    }
    out
}

fn cells(score: f64, evidence: &Evidence) -> String {
    let Evidence { blocks, unwitnessed, witnesses, .. } = evidence;
    let cures = evidence.cures.map_or("-".to_owned(), |c| format!("{}/{}", c.blocks, c.tried));
    format!("{score:.3} | {blocks} | {unwitnessed} | {witnesses} | {} | {cures}", number(evidence))
}
