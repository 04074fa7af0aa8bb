//! Raw data -> SVG pictures for README and docs. Pure.
//!
//! **Invariant:** the same data gives the same bytes. A picture brings its own
//! background, light or dark as the reader has it, so that it can be read on
//! any page; what colours say is also said in words.

use std::fmt::Write as _;

use super::figures::{Spread, count, middle, rate};
use super::raw::Raw;

/// The pictures' file names.
pub(super) const RATES: &str = "runs-per-second.svg";
pub(super) const SPREAD: &str = "run-times.svg";
pub(super) const SEARCH: &str = "search-time.svg";

const WIDTH: f64 = 700.0;
const LEFT: f64 = 222.0;
const MARGIN: f64 = 20.0;
/// From one row to the next.
const ROW: f64 = 30.0;
const BAR: f64 = 20.0;

const STYLE: &str = "
text { font: 14px system-ui, -apple-system, 'Segoe UI', sans-serif; fill: #1f2328; }
.title { font-weight: 600; font-size: 16px; }
.group { font-weight: 600; }
.end { text-anchor: end; }
.middle { text-anchor: middle; }
.quiet { fill: #59636e; }
.card { fill: #ffffff; stroke: #d1d9e0; }
.grid { stroke: #d1d9e0; }
.ours { fill: #2563eb; stroke: #2563eb; }
.covered { fill: #0f8b7d; stroke: #0f8b7d; }
.theirs { fill: #9198a1; stroke: #9198a1; }
.bar { stroke: none; }
.samples { stroke-opacity: 0.35; }
.median { stroke-width: 3; }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc; }
  .quiet { fill: #9198a1; }
  .card { fill: #0d1117; stroke: #3d444d; }
  .grid { stroke: #3d444d; }
  .ours { fill: #4c8dff; stroke: #4c8dff; }
  .covered { fill: #2bb3a3; stroke: #2bb3a3; }
  .theirs { fill: #7d8590; stroke: #7d8590; }
}
";

/// Whose time a row shows.
#[derive(Clone, Copy)]
enum Whose {
    Ours,
    Covered,
    Theirs,
}

impl Whose {
    fn class(self) -> &'static str {
        match self {
            Whose::Ours => "ours",
            Whose::Covered => "covered",
            Whose::Theirs => "theirs",
        }
    }
}

/// Something that was measured, and its name.
struct Row<'a> {
    name: String,
    whose: Whose,
    samples: &'a [f64],
}

/// Rows that are compared with each other.
struct Group<'a> {
    title: String,
    rows: Vec<Row<'a>>,
}

/// File names and their texts.
pub(super) fn plots(raw: &Raw) -> Vec<(&'static str, String)> {
    let groups = groups(raw);
    let note = raw.machine.busy().map_or(String::new(), |busy| format!(" — busy machine: {busy}"));
    vec![
        (RATES, rates(&groups, &note)),
        (SPREAD, spread(&groups, &note)),
        (SEARCH, search(raw, &note)),
    ]
}

fn groups(raw: &Raw) -> Vec<Group<'_>> {
    let ms = &raw.ms;
    let major = raw.llvm.split('.').next().unwrap_or_default();
    let row = |name: &str, whose, samples| Row { name: name.to_owned(), whose, samples };
    let three = |opt, worker, covered| {
        vec![
            row(&format!("opt-{major}, a process"), Whose::Theirs, opt),
            row("worker", Whose::Ours, worker),
            row("worker with coverage", Whose::Covered, covered),
        ]
    };
    vec![
        Group {
            title: format!("{} over 15 lines of C", raw.passes),
            rows: three(&ms.opt_small, &ms.worker_small, &ms.covered_small),
        },
        Group {
            title: "Compile and execute the same program".to_owned(),
            rows: vec![
                row(&format!("clang-{major} -O2, execution"), Whose::Theirs, &ms.clang_execute),
                row("worker", Whose::Ours, &ms.worker_execute),
            ],
        },
        Group {
            title: format!("{} over {} lines of csmith", raw.passes, count(raw.big_program_lines)),
            rows: three(&ms.opt_big, &ms.worker_big, &ms.covered_big),
        },
    ]
}

/// Bars; each group has its own scale, because they differ by a factor of 25.
fn rates(groups: &[Group<'_>], note: &str) -> String {
    let mut body = String::new();
    let mut y = MARGIN + 8.0;
    title(&mut body, &mut y, &format!("Runs per second and core{note}"));
    for group in groups {
        heading(&mut body, &mut y, &group.title);
        let rates: Vec<f64> =
            group.rows.iter().map(|row| Spread::of(row.samples).per_second()).collect();
        let most = rates.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let first = rates.first().copied().unwrap_or(1.0);
        for (i, (row, &runs)) in group.rows.iter().zip(&rates).enumerate() {
            let length = runs / most * (WIDTH - LEFT - 150.0);
            let times = match i {
                0 => String::new(),
                _ => format!(" · {:.1} ×", runs / first),
            };
            let _ = writeln!(
                body,
                "<text class=\"end\" x=\"{:.0}\" y=\"{:.0}\">{}</text>\
                 <rect class=\"bar {}\" x=\"{LEFT:.0}\" y=\"{y:.0}\" width=\"{length:.1}\" height=\"{BAR:.0}\" rx=\"3\"/>\
                 <text x=\"{:.1}\" y=\"{:.0}\">{}/s{times}</text>",
                LEFT - 10.0,
                y + 15.0,
                escaped(&row.name),
                row.whose.class(),
                LEFT + length + 8.0,
                y + 15.0,
                rate(runs)
            );
            y += ROW;
        }
        y += 6.0;
    }
    let what =
        "Bars: runs per second of opt or clang processes, of workers, and of workers with coverage";
    svg(what, y + 2.0, &body)
}

/// Every sample as a stroke on a logarithmic axis of time.
fn spread(groups: &[Group<'_>], note: &str) -> String {
    let samples = || groups.iter().flat_map(|group| &group.rows).flat_map(|row| row.samples);
    let least = samples().copied().fold(f64::INFINITY, f64::min).max(0.001);
    let most = samples().copied().fold(least * 2.0, f64::max);
    let right = WIDTH - MARGIN - 70.0;
    let at = |ms: f64| LEFT + (right - LEFT) * (ms / least).ln() / (most / least).ln();
    let (mut axis, mut rows) = (String::new(), String::new());
    let mut y = MARGIN + 8.0;
    title(&mut rows, &mut y, &format!("Time of a run in ms{note}"));
    let top = y + 14.0;
    for group in groups {
        heading(&mut rows, &mut y, &group.title);
        for row in &group.rows {
            let (class, median) = (row.whose.class(), Spread::of(row.samples).median);
            let mut path = String::new();
            for ms in row.samples {
                let _ = write!(path, "M{:.1} {:.0}v12", at(*ms), y + 4.0);
            }
            let _ = writeln!(
                rows,
                "<text class=\"end\" x=\"{:.0}\" y=\"{:.0}\">{}</text>\
                 <path class=\"samples {class}\" d=\"{path}\"/>\
                 <path class=\"median {class}\" d=\"M{:.1} {y:.0}v20\"/>\
                 <text class=\"end\" x=\"{:.0}\" y=\"{:.0}\">{median:.1}</text>",
                LEFT - 10.0,
                y + 15.0,
                escaped(&row.name),
                at(median),
                WIDTH - MARGIN,
                y + 15.0,
            );
            y += ROW;
        }
        y += 6.0;
    }
    let mut last = 0.0;
    for tick in [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0] {
        let x = at(tick);
        // Labels need some room.
        if (least..=most).contains(&tick) && x > last + 36.0 {
            last = x;
            let _ = writeln!(
                axis,
                "<path class=\"grid\" d=\"M{x:.1} {top:.0}V{y:.0}\"/>\
                 <text class=\"middle quiet\" x=\"{x:.1}\" y=\"{:.0}\">{tick:.0}</text>",
                y + 16.0
            );
        }
    }
    let what = "Strokes on a logarithmic axis: the time of every run that was measured";
    svg(what, y + 26.0, &(axis + &rows))
}

/// The time of the workers in LocSeq's loop, by what it goes to.
fn search(raw: &Raw, note: &str) -> String {
    let mut body = String::new();
    let mut y = MARGIN + 8.0;
    title(&mut body, &mut y, &format!("Where the time of a search goes{note}"));
    let parts = middle(&raw.locseq.searches).map_or(Vec::new(), |search| {
        let (overhead, outside) = (search.overhead(), search.outside_llvm());
        vec![
            ("ours", 1.0 - outside, "in LLVM"),
            ("covered", outside - overhead, "requests, and reading coverage"),
            ("theirs", overhead, "search, ranking, waiting for a batch to end"),
        ]
    });
    let width = WIDTH - 2.0 * MARGIN;
    let mut x = MARGIN;
    for (class, part, _) in &parts {
        let length = part.max(0.0) * width;
        let _ = writeln!(
            body,
            "<rect class=\"bar {class}\" x=\"{x:.1}\" y=\"{y:.0}\" width=\"{length:.1}\" height=\"26\"/>"
        );
        x += length;
    }
    y += 38.0;
    for (class, part, what) in &parts {
        let _ = writeln!(
            body,
            "<rect class=\"bar {class}\" x=\"{MARGIN:.0}\" y=\"{y:.0}\" width=\"14\" height=\"14\" rx=\"3\"/>\
             <text class=\"end\" x=\"96\" y=\"{:.0}\">{:.1} %</text>\
             <text x=\"108\" y=\"{:.0}\">{what}</text>",
            y + 12.0,
            part * 100.0,
            y + 12.0
        );
        y += 24.0;
    }
    svg(
        "A bar: how much of the workers' time goes to LLVM, to requests and to the search",
        y + 6.0,
        &body,
    )
}

/// The line above everything.
fn title(out: &mut String, y: &mut f64, text: &str) {
    line(out, *y + 8.0, "title", text);
    *y += 30.0;
}

/// A line above rows.
fn heading(out: &mut String, y: &mut f64, text: &str) {
    line(out, *y + 8.0, "group", text);
    *y += 20.0;
}

fn line(out: &mut String, y: f64, class: &str, text: &str) {
    let text = escaped(text);
    let _ = writeln!(out, "<text class=\"{class}\" x=\"{MARGIN:.0}\" y=\"{y:.0}\">{text}</text>");
}

fn svg(description: &str, height: f64, body: &str) -> String {
    let (inner_width, inner_height) = (WIDTH - 1.0, height - 1.0);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {WIDTH:.0} {height:.0}\" role=\"img\">\n\
         <title>{}</title>\n<style>{STYLE}</style>\n\
         <rect class=\"card\" x=\"0.5\" y=\"0.5\" width=\"{inner_width:.0}\" height=\"{inner_height:.0}\" rx=\"8\"/>\n\
         {body}</svg>\n",
        escaped(description)
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
