//! Lines over runs or seconds -> a picture with axes, ticks, legend and words.
//!
//! **Invariant:** lines differ in more than their colour. A gap in the data is a
//! gap in the line.

use std::fmt::{self, Write as _};

use super::axis::Axis;
use super::{CHARACTER, N_COLOURS, Picture, WIDTH, mark};
use crate::escape::Text;

/// The most points of a line.
const MAX_POINTS: usize = 400;

const HEIGHT: f64 = 260.0;
const LEFT: f64 = 48.0;
const RIGHT: f64 = WIDTH - 24.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = HEIGHT - 42.0;
const SAMPLE: f64 = 22.0;
/// How high a row of a legend of several is.
const LEGEND_ROW: f64 = 20.0;
/// How far apart the signs on a line are, at least.
const BETWEEN_SIGNS: f64 = 66.0;
const N_DASHES: usize = 4;

/// A picture of lines over one pair of axes.
pub(crate) struct Plot<'a> {
    /// Distinguishes it from the page's other pictures.
    pub(crate) id: String,
    pub(crate) title: &'a str,
    /// What one sees in it, for those who do not.
    pub(crate) description: String,
    /// What the horizontal axis counts.
    pub(crate) x_label: &'a str,
    /// What the vertical axis counts.
    pub(crate) y_label: &'a str,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    /// Behind the lines.
    pub(crate) bands: Vec<Band>,
    /// In the order of the legend; the first is drawn on top.
    pub(crate) lines: Vec<Line<'a>>,
}

/// A line of a picture.
pub(crate) struct Line<'a> {
    pub(crate) label: &'a str,
    pub(crate) look: Look,
    pub(crate) shape: Shape,
    /// Places and values; a gap where there is none.
    pub(crate) points: Vec<(f64, Option<f64>)>,
}

/// What lies between two values, in steps.
pub(crate) struct Band {
    /// Decides about the colour.
    pub(crate) series: usize,
    /// Places, and the two values.
    pub(crate) points: Vec<(f64, f64, f64)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// Thick: what matters.
    First,
    /// Broken: what else matters.
    Broken,
    /// Thin: what is behind it.
    Thin,
    /// One of many of the same weight.
    Series(usize),
}

/// How a line goes from point to point.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A value holds until the next.
    Steps,
    /// Straight on.
    Straight,
}

impl Look {
    fn class(self) -> String {
        match self {
            Look::First => "line first".to_owned(),
            Look::Broken => "line broken".to_owned(),
            Look::Thin => "line thin".to_owned(),
            Look::Series(i) => format!("line series s{} d{}", i % N_COLOURS, i % N_DASHES),
        }
    }
}

impl<'a> Plot<'a> {
    pub(crate) fn picture(self) -> Picture<'a> {
        let mut body = String::new();
        if let Err(error) = self.draw(&mut body) {
            unreachable!("a string takes every text: {error}");
        }
        let height = HEIGHT + self.extra();
        let Plot { id, title, description, .. } = self;
        Picture { id, title, description, height, style: "", body }
    }

    fn draw(&self, out: &mut String) -> fmt::Result {
        self.axes(out)?;
        for band in &self.bands {
            let (colour, path) = (band.series % N_COLOURS, self.outline(band));
            writeln!(out, "<path class=\"band s{colour}\" d=\"{path}\"/>")?;
        }
        for line in self.lines.iter().rev() {
            let (class, path) = (line.look.class(), self.path(line));
            writeln!(out, "<path class=\"{class}\" d=\"{path}\"/>")?;
            if let Look::Series(i) = line.look {
                let (colour, signs) = (i % N_COLOURS, self.signs(line, i));
                writeln!(out, "<path class=\"mark s{colour}\" d=\"{signs}\"/>")?;
            }
        }
        self.legend(out)
    }

    fn axes(&self, out: &mut String) -> fmt::Result {
        let (top, bottom) = (TOP + self.extra(), BOTTOM + self.extra());
        for (value, label) in &self.y.ticks {
            let y = self.y_at(*value);
            writeln!(
                out,
                "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{RIGHT}\"/>\
                 <text class=\"end\" x=\"{:.1}\" y=\"{:.1}\">{label}</text>",
                LEFT - 7.0,
                y + 4.0
            )?;
        }
        for (value, label) in &self.x.ticks {
            let x = self.x_at(*value);
            writeln!(
                out,
                "<path class=\"axis\" d=\"M{x:.1} {bottom}v5\"/>\
                 <text class=\"middle\" x=\"{x:.1}\" y=\"{:.1}\">{label}</text>",
                bottom + 19.0
            )?;
        }
        write!(
            out,
            "<path class=\"axis\" d=\"M{LEFT} {top}V{bottom}H{RIGHT}\"/>\n\
             <text class=\"name\" x=\"2\" y=\"{:.1}\">{}</text>\n\
             <text class=\"name middle\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\n",
            top - 20.0,
            Text(self.y_label),
            (LEFT + RIGHT) / 2.0,
            bottom + 38.0,
            Text(self.x_label)
        )
    }

    /// Where the legend's samples begin: from the right end of the top edge if
    /// they fit beside the axis's name, otherwise in rows above it.
    fn legend_places(&self) -> Vec<(f64, f64)> {
        let width = |line: &Line<'_>| line.label.chars().count() as f64 * CHARACTER + 6.0 + SAMPLE;
        let all: f64 = self.lines.iter().map(|line| width(line) + 14.0).sum();
        let name = self.y_label.chars().count() as f64 * CHARACTER;
        let mut places = Vec::new();
        if all + name <= RIGHT {
            let mut right = RIGHT;
            for line in self.lines.iter().rev() {
                places.push((right - width(line), 10.0));
                right -= width(line) + 14.0;
            }
            places.reverse();
            return places;
        }
        // Columns of the same width.
        let widest = self.lines.iter().map(width).fold(0.0, f64::max) + 18.0;
        let n_columns = ((RIGHT / widest).floor() as usize).max(1);
        for i in 0..self.lines.len() {
            let (row, column) = (i / n_columns, i % n_columns);
            places.push((2.0 + column as f64 * widest, 10.0 + row as f64 * LEGEND_ROW));
        }
        places
    }

    /// What a legend of several rows adds to the height.
    fn extra(&self) -> f64 {
        let places = self.legend_places();
        match places.as_slice() {
            [(x, _), .., (_, y)] if *x < LEFT => y - 10.0 + LEGEND_ROW + 4.0,
            _ => 0.0,
        }
    }

    fn legend(&self, out: &mut String) -> fmt::Result {
        for (line, (x, y)) in self.lines.iter().zip(self.legend_places()) {
            let (class, text) = (line.look.class(), x + SAMPLE + 6.0);
            write!(out, "<path class=\"{class}\" d=\"M{x:.1} {y}h{SAMPLE}\"/>")?;
            if let Look::Series(i) = line.look {
                let sign = mark::of_series(i, x + SAMPLE / 2.0, y);
                write!(out, "<path class=\"mark s{}\" d=\"{sign}\"/>", i % N_COLOURS)?;
            }
            writeln!(out, "<text x=\"{text:.1}\" y=\"{}\">{}</text>", y + 4.0, Text(line.label))?;
        }
        Ok(())
    }

    fn path(&self, line: &Line<'_>) -> String {
        let mut path = String::new();
        let mut is_down = false;
        for (place, value) in thin(&line.points) {
            let Some(value) = value.filter(|value| value.is_finite()) else {
                is_down = false;
                continue;
            };
            let (x, y) = (self.x_at(place), self.y_at(value));
            let _ = match (is_down, line.shape) {
                // No length, but round ends: a dot, if nothing follows.
                (false, _) => write!(path, "M{x:.1} {y:.1}h0"),
                (true, Shape::Steps) => write!(path, "H{x:.1}V{y:.1}"),
                (true, Shape::Straight) => write!(path, "L{x:.1} {y:.1}"),
            };
            is_down = true;
        }
        path
    }

    /// Signs along a line; those of several lines stand beside each other.
    fn signs(&self, line: &Line<'_>, series: usize) -> String {
        let mut path = String::new();
        let mut next = LEFT + (series % N_COLOURS) as f64 * BETWEEN_SIGNS / N_COLOURS as f64;
        let mut last = None;
        for (place, value) in &line.points {
            let Some(value) = value.filter(|value| value.is_finite()) else { continue };
            let (x, y) = (self.x_at(*place), self.y_at(value));
            last = Some((x, y));
            if x >= next {
                path.push_str(&mark::of_series(series, x, y));
                next = x + BETWEEN_SIGNS;
            }
        }
        match last {
            Some((x, y)) if path.is_empty() => mark::of_series(series, x, y),
            _ => path,
        }
    }

    /// Around a band, in steps.
    fn outline(&self, band: &Band) -> String {
        let mut path = String::new();
        let points: Vec<(f64, f64, f64)> = band
            .points
            .iter()
            .filter(|(_, a, b)| a.is_finite() && b.is_finite())
            .map(|(place, a, b)| (self.x_at(*place), self.y_at(*a), self.y_at(*b)))
            .collect();
        for (i, (x, y, _)) in points.iter().enumerate() {
            let _ = match i {
                0 => write!(path, "M{x:.1} {y:.1}"),
                _ => write!(path, "H{x:.1}V{y:.1}"),
            };
        }
        for pair in points.windows(2).rev() {
            let [(before, _, y_before), (_, _, y)] = pair else { continue };
            let _ = write!(path, "V{y:.1}V{y_before:.1}H{before:.1}");
        }
        path.push('z');
        path
    }

    fn x_at(&self, value: f64) -> f64 {
        LEFT + (RIGHT - LEFT) * self.x.at(value)
    }

    fn y_at(&self, value: f64) -> f64 {
        BOTTOM + self.extra() - (BOTTOM - TOP) * self.y.at(value)
    }
}

/// At most [`MAX_POINTS`] of these points: the first, the last, and the lowest
/// and highest of each stretch between them. A gap stays if it fills a stretch.
fn thin(points: &[(f64, Option<f64>)]) -> Vec<(f64, Option<f64>)> {
    let ([first, inner @ .., last], true) = (points, points.len() > MAX_POINTS) else {
        return points.to_vec();
    };
    let mut out = vec![*first];
    for stretch in inner.chunks(inner.len().div_ceil((MAX_POINTS - 2) / 2)) {
        let mut values: Vec<(usize, f64)> =
            stretch.iter().enumerate().filter_map(|(i, (_, value))| Some((i, (*value)?))).collect();
        values.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        match (values.first(), values.last()) {
            (Some(low), Some(high)) => {
                let mut ends = vec![low.0, high.0];
                ends.sort_unstable();
                ends.dedup();
                out.extend(ends.into_iter().map(|i| stretch[i]));
            }
            _ => out.push(stretch[0]),
        }
    }
    out.push(*last);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_points_are_all_drawn() {
        let points: Vec<_> = (0..MAX_POINTS).map(|i| (i as f64, Some(i as f64))).collect();
        assert_eq!(thin(&points), points);
        assert_eq!(thin(&[]), []);
    }

    #[test]
    fn many_points_keep_their_ends_and_peaks() {
        let mut points: Vec<_> = (0..10_000).map(|i| (f64::from(i), Some(0.5))).collect();
        points[1234].1 = Some(0.9);
        points[8765].1 = Some(0.1);
        for gap in &mut points[4000..4500] {
            gap.1 = None;
        }
        let thinned = thin(&points);
        assert!(thinned.len() <= MAX_POINTS, "{}", thinned.len());
        assert!(thinned.is_sorted_by(|a, b| a.0 <= b.0));
        for kept in [0, 1234, 8765, 9999] {
            assert!(thinned.contains(&points[kept]), "{kept}");
        }
        assert!(thinned.iter().any(|(_, value)| value.is_none()));
    }

    fn path(shape: Shape, points: &[(f64, Option<f64>)]) -> String {
        let plot = Plot {
            id: "p".into(),
            title: "",
            description: String::new(),
            x_label: "",
            y_label: "",
            x: Axis::counts(10),
            y: Axis::around([0.0, 1.0]),
            bands: Vec::new(),
            lines: Vec::new(),
        };
        plot.path(&Line { label: "", look: Look::First, shape, points: points.to_vec() })
    }

    #[test]
    fn gaps_and_what_is_not_finite_interrupt_a_line() {
        let points = [
            (0.0, Some(0.0)),
            (5.0, Some(1.0)),
            (6.0, None),
            (7.0, Some(f64::NAN)),
            (10.0, Some(1.0)),
        ];
        assert_eq!(path(Shape::Straight, &points), "M48.0 218.0h0L252.0 34.0M456.0 34.0h0");
        assert_eq!(path(Shape::Steps, &points), "M48.0 218.0h0H252.0V34.0M456.0 34.0h0");
    }
}
