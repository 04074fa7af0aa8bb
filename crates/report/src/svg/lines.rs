//! Lines over runs -> one SVG picture with axes, ticks, legend and words.
//!
//! **Invariant:** colours come from the page's style, so that a picture follows
//! the page into the dark; lines differ in more than their colour. What is not
//! finite is not drawn.

use std::fmt::{self, Write as _};

use super::axis::Axis;
use super::escape::Text;

/// The most points of a line.
const MAX_POINTS: usize = 400;

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 48.0;
const RIGHT: f64 = WIDTH - 24.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = HEIGHT - 42.0;
/// About as wide as a character of a label is.
const CHARACTER: f64 = 6.6;
const SAMPLE: f64 = 22.0;

/// A picture.
pub(super) struct Plot<'a> {
    /// Distinguishes it from the page's other pictures.
    pub(super) id: String,
    /// What it shows.
    pub(super) title: &'a str,
    /// What one sees in it, for those who do not.
    pub(super) description: String,
    /// What the vertical axis counts.
    pub(super) y_label: &'a str,
    /// The horizontal axis: runs.
    pub(super) x: Axis,
    /// The vertical axis.
    pub(super) y: Axis,
    /// In the order of the legend; the first is drawn on top.
    pub(super) lines: Vec<Line<'a>>,
}

/// A line of a picture.
pub(super) struct Line<'a> {
    pub(super) label: &'a str,
    pub(super) shape: Shape,
    /// Runs and values; a gap where there is none.
    pub(super) points: Vec<(usize, Option<f64>)>,
}

/// How a line goes from point to point.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A value holds until the next.
    Steps,
    /// Straight on.
    Straight,
}

impl Plot<'_> {
    /// Writes the `svg` element.
    pub(super) fn write(&self, out: &mut String) -> fmt::Result {
        let id = &self.id;
        write!(
            out,
            "<svg class=\"plot\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
             aria-labelledby=\"{id}-title {id}-desc\">\n\
             <title id=\"{id}-title\">{}</title>\n<desc id=\"{id}-desc\">{}</desc>\n",
            Text(self.title),
            Text(&self.description)
        )?;
        self.axes(out)?;
        for (i, line) in self.lines.iter().enumerate().rev() {
            let (class, path) = (class(i, line.shape), self.path(line));
            writeln!(out, "<path class=\"{class}\" d=\"{path}\"/>")?;
        }
        self.legend(out)?;
        out.push_str("</svg>\n");
        Ok(())
    }

    fn axes(&self, out: &mut String) -> fmt::Result {
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
                "<path class=\"axis\" d=\"M{x:.1} {BOTTOM}v5\"/>\
                 <text class=\"middle\" x=\"{x:.1}\" y=\"{:.1}\">{label}</text>",
                BOTTOM + 19.0
            )?;
        }
        write!(
            out,
            "<path class=\"axis\" d=\"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}\"/>\n\
             <text class=\"name\" x=\"2\" y=\"14\">{}</text>\n\
             <text class=\"name middle\" x=\"{:.1}\" y=\"{:.1}\">runs</text>\n",
            Text(self.y_label),
            (LEFT + RIGHT) / 2.0,
            HEIGHT - 4.0
        )
    }

    /// From the right end of the top edge.
    fn legend(&self, out: &mut String) -> fmt::Result {
        let mut right = RIGHT;
        for (i, line) in self.lines.iter().enumerate().rev() {
            let text = right - line.label.chars().count() as f64 * CHARACTER;
            let sample = text - 6.0 - SAMPLE;
            let class = class(i, line.shape);
            writeln!(
                out,
                "<path class=\"{class}\" d=\"M{sample:.1} 10h{SAMPLE}\"/>\
                 <text x=\"{text:.1}\" y=\"14\">{}</text>",
                Text(line.label)
            )?;
            right = sample - 14.0;
        }
        Ok(())
    }

    fn path(&self, line: &Line<'_>) -> String {
        let mut path = String::new();
        let mut is_down = false;
        for (runs, value) in thin(&line.points) {
            let Some(value) = value.filter(|value| value.is_finite()) else {
                is_down = false;
                continue;
            };
            let (x, y) = (self.x_at(runs as f64), self.y_at(value));
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

    fn x_at(&self, value: f64) -> f64 {
        LEFT + (RIGHT - LEFT) * self.x.at(value)
    }

    fn y_at(&self, value: f64) -> f64 {
        BOTTOM - (BOTTOM - TOP) * self.y.at(value)
    }
}

/// How a line looks: the first is thick, others are thin or, in steps, broken.
fn class(i: usize, shape: Shape) -> &'static str {
    match (i, shape) {
        (0, _) => "line first",
        (_, Shape::Steps) => "line broken",
        (_, Shape::Straight) => "line thin",
    }
}

/// At most [`MAX_POINTS`] of these points: the first, the last, and the lowest
/// and highest of each stretch between them. A gap stays if it fills a stretch.
fn thin(points: &[(usize, Option<f64>)]) -> Vec<(usize, Option<f64>)> {
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
        let points: Vec<_> = (0..MAX_POINTS).map(|i| (i, Some(i as f64))).collect();
        assert_eq!(thin(&points), points);
        assert_eq!(thin(&[]), []);
    }

    #[test]
    fn many_points_keep_their_ends_and_peaks() {
        let mut points: Vec<_> = (0..10_000).map(|i| (i, Some(0.5))).collect();
        points[1234].1 = Some(0.9);
        points[8765].1 = Some(0.1);
        for gap in &mut points[4000..4500] {
            gap.1 = None;
        }
        let thinned = thin(&points);
        assert!(thinned.len() <= MAX_POINTS, "{}", thinned.len());
        assert!(thinned.is_sorted_by_key(|point| point.0));
        for kept in [0, 1234, 8765, 9999] {
            assert!(thinned.contains(&points[kept]), "{kept}");
        }
        assert!(thinned.iter().any(|(_, value)| value.is_none()));
    }

    fn path(shape: Shape, points: &[(usize, Option<f64>)]) -> String {
        let plot = Plot {
            id: "p".into(),
            title: "",
            description: String::new(),
            y_label: "",
            x: Axis::counts(10),
            y: Axis::around([0.0, 1.0]),
            lines: Vec::new(),
        };
        plot.path(&Line { label: "", shape, points: points.to_vec() })
    }

    #[test]
    fn gaps_and_what_is_not_finite_interrupt_a_line() {
        let points =
            [(0, Some(0.0)), (5, Some(1.0)), (6, None), (7, Some(f64::NAN)), (10, Some(1.0))];
        assert_eq!(path(Shape::Straight, &points), "M48.0 218.0h0L252.0 34.0M456.0 34.0h0");
        assert_eq!(path(Shape::Steps, &points), "M48.0 218.0h0H252.0V34.0M456.0 34.0h0");
    }
}
