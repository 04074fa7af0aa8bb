//! Raw data -> SVG pictures for README and docs, drawn as all other reports'
//! pictures are. Pure.
//!
//! **Invariant:** the same data gives the same bytes; what colours say is also
//! said in words.

use optsleuth_report::svg::{Axis, Bar, Bars, BoxRow, Boxes};

use super::figures::{Spread, count, middle, rate};
use super::raw::Raw;

/// The pictures' file names.
pub(super) const RATES: &str = "runs-per-second.svg";
pub(super) const SPREAD: &str = "run-times.svg";
pub(super) const SEARCH: &str = "search-time.svg";

/// Whose time a row shows, as the number of its colour.
const OURS: usize = 0;
const THEIRS: usize = 1;
const COVERED: usize = 2;

/// Something that was measured, and its name.
struct Row<'a> {
    /// Of this row and those that follow.
    heading: Option<String>,
    name: String,
    whose: usize,
    samples: &'a [f64],
    /// How many times as fast as the process that is compared with; `None` for
    /// that process.
    times: Option<f64>,
}

/// File names and their texts.
pub(super) fn plots(raw: &Raw) -> Vec<(&'static str, String)> {
    let rows = rows(raw);
    let note = raw.machine.busy().map_or(String::new(), |busy| format!(" — busy machine: {busy}"));
    vec![(RATES, rates(&rows, &note)), (SPREAD, spread(&rows, &note)), (SEARCH, search(raw, &note))]
}

fn rows(raw: &Raw) -> Vec<Row<'_>> {
    let ms = &raw.ms;
    let major = raw.llvm.split('.').next().unwrap_or_default();
    let opt = format!("opt-{major}, a process");
    let clang = format!("clang-{major}, execution");
    let small = format!("{} over 15 lines of C", raw.passes);
    let big = format!("{} over {} lines of csmith", raw.passes, count(raw.big_program_lines));
    let mut rows = group(small, &opt, &ms.opt_small, &ms.worker_small, &ms.covered_small);
    let execute = "-O2 and execution of the same program".to_owned();
    rows.extend(group(execute, &clang, &ms.clang_execute, &ms.worker_execute, &[]));
    rows.extend(group(big, &opt, &ms.opt_big, &ms.worker_big, &ms.covered_big));
    rows
}

/// Rows that are compared with each other; the first is a process.
fn group<'a>(
    heading: String,
    process: &str,
    theirs: &'a [f64],
    ours: &'a [f64],
    covered: &'a [f64],
) -> Vec<Row<'a>> {
    let base = Spread::of(theirs).per_second();
    let row = |name: &str, whose, samples| Row {
        heading: None,
        name: name.to_owned(),
        whose,
        samples,
        times: Some(Spread::of(samples).per_second() / base),
    };
    let first = Row { heading: Some(heading), times: None, ..row(process, THEIRS, theirs) };
    let mut rows = vec![first, row("worker", OURS, ours)];
    if !covered.is_empty() {
        rows.push(row("worker with coverage", COVERED, covered));
    }
    rows
}

/// Bars as long as their ratio to the process: runs per second differ by a factor
/// of 25 between the groups.
fn rates(rows: &[Row<'_>], note: &str) -> String {
    let bar = |row: &Row<'_>| {
        let runs = rate(Spread::of(row.samples).per_second());
        Bar {
            heading: row.heading.clone(),
            label: row.name.clone(),
            parts: vec![(row.whose, row.times.unwrap_or(1.0))],
            said: match row.times {
                Some(times) => format!("{runs}/s · {times:.1} ×"),
                None => format!("{runs}/s"),
            },
        }
    };
    let longest = rows.iter().filter_map(|row| row.times).fold(1.0, f64::max);
    let title = format!("Runs per second and core{note}");
    let bars = Bars {
        id: "rates".to_owned(),
        title: &title,
        description: "Bars: runs per second of opt or clang processes, of workers, and of \
                      workers with coverage"
            .to_owned(),
        x_label: "times as many as by processes",
        axis: Axis::up_to(longest),
        parts: vec![(OURS, "")],
        bars: rows.iter().map(bar).collect(),
    };
    bars.picture().alone()
}

/// Every group's times as boxes, with their medians in digits.
fn spread(rows: &[Row<'_>], note: &str) -> String {
    let title = format!("Time of a run in ms{note}");
    let boxes = Boxes {
        id: "times".to_owned(),
        title: &title,
        description: "Boxes on a logarithmic axis: the times of all runs that were measured"
            .to_owned(),
        x_label: "ms (logarithmic); on the right: medians",
        axis: Axis::times(rows.iter().flat_map(|row| row.samples).copied()),
        mean: "mean",
        unreached: None,
        rows: rows.iter().filter_map(box_row).collect(),
    };
    boxes.picture().alone()
}

fn box_row<'a>(row: &'a Row<'_>) -> Option<BoxRow<'a>> {
    let said = format!("{:.1}", Spread::of(row.samples).median);
    let heading = row.heading.clone();
    Some(BoxRow { heading, said, ..BoxRow::of(&row.name, row.whose, row.samples, &[])? })
}

/// The time of the workers in LocSeq's loop, by what it goes to.
fn search(raw: &Raw, note: &str) -> String {
    let parts = middle(&raw.locseq.searches).map_or(Vec::new(), |search| {
        let (overhead, outside) = (search.overhead(), search.outside_llvm());
        vec![
            (OURS, 1.0 - outside, "in LLVM"),
            (COVERED, outside - overhead, "requests, and reading coverage"),
            (THEIRS, overhead, "search, ranking, waiting for a batch to end"),
        ]
    });
    let legend: Vec<(usize, String)> = parts
        .iter()
        .map(|(colour, part, what)| (*colour, format!("{:.1} % {what}", part * 100.0)))
        .collect();
    let title = format!("Where the time of a search goes{note}");
    let bars = Bars {
        id: "search".to_owned(),
        title: &title,
        description: "A bar: how much of the workers' time goes to LLVM, to requests and to the \
                      search"
            .to_owned(),
        x_label: "share of the workers' time",
        axis: Axis::shares(),
        parts: legend.iter().map(|(colour, text)| (*colour, text.as_str())).collect(),
        bars: vec![Bar {
            heading: None,
            label: "a search".to_owned(),
            parts: parts.iter().map(|(colour, part, _)| (*colour, part.max(0.0) * 100.0)).collect(),
            said: String::new(),
        }],
    };
    bars.picture().alone()
}
