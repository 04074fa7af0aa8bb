//! How a search went -> pictures over its runs.
//!
//! **Invariant:** the history is drawn as it is; where it holds nothing, there
//! is no picture.

use std::fmt;

use optsleuth_model::{HistoryEntry, Localization};

use crate::svg::{Axis, Line, Look, Plot, Shape};
use crate::words;

/// Writes the pictures of a localization.
pub(super) fn write(out: &mut String, section: &str, localization: &Localization) -> fmt::Result {
    let plots: Vec<Plot<'_>> = [similarity(section, localization), ranks(section, localization)]
        .into_iter()
        .flatten()
        .collect();
    if plots.is_empty() {
        out.push_str("<p class=\"note\">The search left no history.</p>\n");
        return Ok(());
    }
    out.push_str("<div class=\"plots\">\n");
    for plot in plots {
        super::figure(out, &plot.picture())?;
    }
    out.push_str("</div>\n");
    Ok(())
}

fn points(
    history: &[HistoryEntry],
    value: impl Fn(&HistoryEntry) -> Option<f64>,
) -> Vec<(f64, Option<f64>)> {
    history.iter().map(|entry| (entry.runs as f64, value(entry))).collect()
}

fn runs_axis(history: &[HistoryEntry]) -> Axis {
    Axis::counts(history.iter().map(|entry| entry.runs).max().unwrap_or(0))
}

fn similarity<'a>(section: &str, localization: &'a Localization) -> Option<Plot<'a>> {
    let history = &localization.history;
    let (first, last) = (history.first()?, history.last()?);
    // Before the first witness there is no best one.
    let best = |entry: &HistoryEntry| (entry.witnesses > 0).then_some(entry.best_similarity);
    let values = history.iter().flat_map(|entry| [best(entry), entry.batch_similarity]);
    Some(Plot {
        id: format!("{section}-similarity"),
        title: "Similarity of the witnesses to the failing run",
        description: format!(
            "The best similarity so far is {} after {} and {} after {}.",
            words::similarity(first.best_similarity),
            words::counted(first.runs, "run", "runs"),
            words::similarity(last.best_similarity),
            words::counted(last.runs, "run", "runs"),
        ),
        x_label: "runs",
        y_label: "similarity",
        x: runs_axis(history),
        y: Axis::around(values.flatten()),
        bands: Vec::new(),
        lines: vec![
            Line {
                label: "best so far",
                look: Look::First,
                shape: Shape::Steps,
                points: points(history, best),
            },
            Line {
                label: "mean of a batch",
                look: Look::Thin,
                shape: Shape::Straight,
                points: points(history, |entry| entry.batch_similarity),
            },
        ],
    })
}

fn ranks<'a>(section: &str, localization: &'a Localization) -> Option<Plot<'a>> {
    localization.truth.as_ref()?;
    let history = &localization.history;
    let last = history.last()?;
    let file = |entry: &HistoryEntry| entry.true_file.map(|rank| rank as f64);
    let function = |entry: &HistoryEntry| entry.true_function.map(|rank| rank as f64);
    let ranks = history.iter().flat_map(|entry| [entry.true_file, entry.true_function]);
    let worst = ranks.flatten().max()?;
    let said = |rank: Option<usize>| match rank {
        Some(rank) => format!("rank {}", words::count(rank)),
        None => "no rank".to_owned(),
    };
    let lines = [
        ("best true file", points(history, file)),
        ("best true function", points(history, function)),
    ];
    Some(Plot {
        id: format!("{section}-ranks"),
        title: "Rank of the true culprit",
        description: format!(
            "After {} the best true file has {} and the best true function {}.",
            words::counted(last.runs, "run", "runs"),
            said(last.true_file),
            said(last.true_function),
        ),
        x_label: "runs",
        y_label: "rank",
        x: runs_axis(history),
        y: Axis::ranks(worst),
        bands: Vec::new(),
        lines: lines
            .into_iter()
            .filter(|(_, points)| points.iter().any(|(_, rank)| rank.is_some()))
            .zip([Look::First, Look::Broken])
            .map(|((label, points), look)| Line { label, look, shape: Shape::Steps, points })
            .collect(),
    })
}
