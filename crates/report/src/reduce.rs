//! The result of `optsleuth reduce`: for a terminal, as JSON.

use std::fmt::Write as _;

use optsleuth_model::{ProgramSize, ReduceReport, Reduction, ReductionEnd};
use serde::Serialize;

use crate::words::{count, counted};
use crate::{Style, to_json};

#[derive(Serialize)]
struct ReduceJson<'a> {
    #[serde(flatten)]
    reduction: &'a Reduction,
    folder: String,
    was_finished: bool,
}

/// The whole result as a JSON document.
pub fn reduce_json(report: &ReduceReport) -> String {
    let json = ReduceJson {
        reduction: &report.reduction,
        folder: report.case.folder.display().to_string(),
        was_finished: report.was_finished,
    };
    to_json(&json)
}

/// What became smaller, for a person.
pub fn reduce_text(report: &ReduceReport, style: Style) -> String {
    let Reduction { case, what, sequence, program, .. } = &report.reduction;
    let mut out = String::new();
    let _ = writeln!(out, "{}: {what}", style.heading(case));
    // A driver's case has a level and no passes.
    let passes = match sequence.n_before {
        0 => String::new(),
        n_before => {
            let passes = counted(sequence.n_after, "pass", "passes");
            format!("{passes} (of {}): ", count(n_before))
        }
    };
    let _ = writeln!(out, "  {passes}{}", sequence.after);
    let (before, after) = (&program.before, &program.after);
    let _ = writeln!(out, "  {}: {} (of {})", program.input_after, size(after), size(before));
    for note in &report.reduction.notes {
        let _ = writeln!(out, "  {}: {note}", style.notable("note"));
    }
    let _ = writeln!(out, "  {}", end(report, style));
    out
}

fn size(size: &ProgramSize) -> String {
    let lines = counted(size.lines, "line", "lines");
    match size.instructions {
        0 => lines,
        n => format!("{lines}, {}", counted(n, "instruction", "instructions")),
    }
}

fn end(report: &ReduceReport, style: Style) -> String {
    let Reduction { runs, seconds, end, .. } = &report.reduction;
    let effort = format!("{} in {seconds:.1} s", counted(*runs, "run", "runs"));
    let how = match end {
        _ if report.was_finished => {
            return format!(
                "{}; `--again` begins with the original",
                style.good("it was finished before")
            );
        }
        ReductionEnd::Finished => style.good("finished"),
        ReductionEnd::Unfinished => style.notable("not finished"),
        ReductionEnd::Budget => style.notable("the time was up; the same command goes on"),
        ReductionEnd::Interrupted => style.notable("interrupted; the same command goes on"),
    };
    format!("{effort}: {how}")
}
