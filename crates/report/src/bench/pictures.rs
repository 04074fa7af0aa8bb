//! A bench -> pictures: how the first ranks are spread, how many cases have a
//! culprit among the first suspects, and how ranks improve as searches go on.
//!
//! **Invariant:** a picture without anything in it is left out. A method has
//! the same colour, dashes and sign in all pictures.

use optsleuth_eval::{CaseRanks, Clock, Granularity, Moment, case_ranks, course};

use super::BenchReport;
use super::board::Board;
use super::tables::SIDES;
use crate::svg::{Axis, Band, BoxRow, Boxes, Line, Look, Picture, Plot, Shape};
use crate::words;

/// How many suspects the Top-N curve goes down.
const MAX_TOP: usize = 50;
/// How many moments a course has.
const MOMENTS: usize = 160;

/// A picture as a file of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchPicture {
    /// What to call the file, as in `ranks-files.svg`.
    pub name: String,
    pub svg: String,
}

pub fn bench_pictures(report: &BenchReport<'_>) -> Vec<BenchPicture> {
    let file = |picture: Picture<'_>| BenchPicture {
        name: format!("{}.svg", picture.id),
        svg: picture.alone(),
    };
    pictures(&Board::of(report)).into_iter().map(file).collect()
}

/// The pictures for the page: those of files and of functions side by side.
pub(super) fn pictures<'a>(board: &'a Board<'a>) -> Vec<Picture<'a>> {
    type Draw = for<'a> fn(&'a Board<'a>, Granularity, &'static str) -> Option<Picture<'a>>;
    let all: [Draw; 3] = [top_picture, ranks_picture, course_picture];
    let both = |draw: &Draw| SIDES.map(|(what, plural, _)| draw(board, what, plural));
    all.iter().flat_map(both).flatten().collect()
}

/// A method's number, its name, and the ranks of its cases.
fn ranks_by_method<'a>(
    board: &'a Board<'a>,
    what: Granularity,
) -> Vec<(usize, &'a str, Vec<CaseRanks>)> {
    let set = board.main();
    let of_method = |(i, method): (usize, &'a String)| {
        let ranks = case_ranks(method, set.measurements.iter().copied(), what);
        (i, method.as_str(), ranks.into_values().collect::<Vec<_>>())
    };
    let all = board.report.methods.iter().enumerate().map(of_method);
    all.filter(|(_, _, ranks)| !ranks.is_empty()).collect()
}

fn top_picture<'a>(
    board: &'a Board<'a>,
    what: Granularity,
    plural: &'static str,
) -> Option<Picture<'a>> {
    let methods = ranks_by_method(board, what);
    if methods.is_empty() {
        return None;
    }
    let percent = |ranks: &[CaseRanks], n: usize| {
        100.0 * ranks.iter().filter(|ranks| ranks.is_in_top(n)).count() as f64 / ranks.len() as f64
    };
    let said = methods.iter().map(|(_, method, ranks)| {
        format!(
            "{method}: {:.0} % within 10, {:.0} % within {MAX_TOP}.",
            percent(ranks, 10),
            percent(ranks, MAX_TOP)
        )
    });
    let description = said.collect::<Vec<_>>().join(" ");
    let line = |(i, label, ranks): &(usize, &'a str, Vec<CaseRanks>)| Line {
        label,
        look: Look::Series(*i),
        shape: Shape::Straight,
        points: (1..=MAX_TOP).map(|n| (n as f64, Some(percent(ranks, n)))).collect(),
    };
    let plot = Plot {
        id: format!("top-{plural}"),
        title: match what {
            Granularity::Files => "Cases with a true file among the first N",
            Granularity::Functions => "Cases with a true function among the first N",
        },
        description,
        x_label: match what {
            Granularity::Files => "N, files read",
            Granularity::Functions => "N, functions read",
        },
        y_label: "share of cases",
        x: Axis::counts(MAX_TOP),
        y: Axis::shares(),
        bands: Vec::new(),
        lines: methods.iter().map(line).collect(),
    };
    Some(plot.picture())
}

fn ranks_picture<'a>(
    board: &'a Board<'a>,
    what: Granularity,
    plural: &'static str,
) -> Option<Picture<'a>> {
    let rows: Vec<BoxRow<'_>> = ranks_by_method(board, what)
        .into_iter()
        .filter_map(|(series, label, ranks)| {
            let found: Vec<f64> = ranks.iter().filter_map(CaseRanks::found).collect();
            let unreached = ranks.iter().filter(|ranks| ranks.found().is_none());
            let unreached: Vec<f64> = unreached.map(CaseRanks::first).collect();
            BoxRow::of(label, series, &found, &unreached)
        })
        .collect();
    let last = |row: &BoxRow<'_>| {
        row.unreached.iter().chain(&row.outliers).copied().fold(row.cuts[4], f64::max)
    };
    let worst = rows.iter().map(last).reduce(f64::max)?;
    let said = rows.iter().map(|row| {
        format!(
            "{}: median {}, mean {}, unreached in {}.",
            row.label,
            words::middle(row.cuts[2]),
            words::decimal(row.mean),
            words::counted(row.unreached.len(), "case", "cases")
        )
    });
    let description = said.collect::<Vec<_>>().join(" ");
    let boxes = Boxes {
        id: format!("ranks-{plural}"),
        title: match what {
            Granularity::Files => "First rank of a true file",
            Granularity::Functions => "First rank of a true function",
        },
        description,
        x_label: match what {
            Granularity::Files => "rank among the files (logarithmic)",
            Granularity::Functions => "rank among the functions (logarithmic)",
        },
        axis: Axis::ranks(worst.ceil() as usize),
        mean: "mean (MFR)",
        unreached: Some("not among the suspects: counts as the last of them"),
        rows,
    };
    Some(boxes.picture())
}

fn course_picture<'a>(
    board: &'a Board<'a>,
    what: Granularity,
    plural: &'static str,
) -> Option<Picture<'a>> {
    let set = board.main();
    let clock = Clock::of(set.measurements.iter().copied());
    let of_method = |(i, method): (usize, &'a String)| {
        let moments = course(method, set.measurements.iter().copied(), what, clock, MOMENTS);
        (i, method.as_str(), moments)
    };
    let methods: Vec<(usize, &str, Vec<Moment>)> = board
        .report
        .methods
        .iter()
        .enumerate()
        .map(of_method)
        .filter(|(_, _, moments)| moments.iter().any(|moment| moment.median.is_some()))
        .collect();
    let moments = || methods.iter().flat_map(|(_, _, moments)| moments);
    let end = moments().map(|moment| moment.at).reduce(f64::max)?;
    let ranks = moments().flat_map(|moment| [moment.median, moment.upper]);
    let worst = ranks.flatten().reduce(f64::max)?;
    let unit = match clock {
        Clock::Seconds => "s",
        Clock::Runs => "runs",
    };
    let said = methods.iter().map(|(_, method, moments)| {
        let last = moments.last().and_then(|moment| moment.median);
        let last =
            last.map_or("no rank".to_owned(), |rank| format!("rank {}", words::middle(rank)));
        format!("{method}: {last} after {} {unit}.", words::middle(end))
    });
    let description = said.collect::<Vec<_>>().join(" ");
    let extended = |moments: &[Moment]| {
        let mut moments = moments.to_vec();
        if let Some(last) = moments.last().filter(|last| last.at < end) {
            moments.push(Moment { at: end, ..*last });
        }
        moments
    };
    let line = |(i, label, moments): &(usize, &'a str, Vec<Moment>)| Line {
        label,
        look: Look::Series(*i),
        shape: Shape::Steps,
        points: extended(moments).iter().map(|moment| (moment.at, moment.median)).collect(),
    };
    let axis = Axis::ranks(worst.ceil() as usize);
    let lowest = axis.ticks.last().map_or(worst, |(value, _)| value.max(worst));
    let band = |(i, _, moments): &(usize, &str, Vec<Moment>)| {
        let point = |moment: &Moment| {
            moment.lower.map(|lower| (moment.at, lower, moment.upper.unwrap_or(lowest)))
        };
        Band { series: *i, points: extended(moments).iter().filter_map(point).collect() }
    };
    let plot = Plot {
        id: format!("course-{plural}"),
        title: match what {
            Granularity::Files => "Rank of the true file as searches go on",
            Granularity::Functions => "Rank of the true function as searches go on",
        },
        description,
        x_label: match clock {
            Clock::Seconds => "seconds",
            Clock::Runs => "runs",
        },
        y_label: "median rank; shaded: quartiles of the first",
        x: match clock {
            Clock::Seconds => Axis::up_to(end),
            Clock::Runs => Axis::counts(end as usize),
        },
        y: axis,
        // More than one would hide each other.
        bands: methods.iter().take(1).map(band).collect(),
        lines: methods.iter().map(line).collect(),
    };
    Some(plot.picture())
}
