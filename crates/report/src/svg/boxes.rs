//! Ranks of several methods -> boxes below each other, on one logarithmic axis.
//!
//! **Invariant:** rank 1 stands on the left. Every value is in the box, its
//! whiskers, or drawn by itself; one that is no true rank has a sign of its own.

use std::fmt::{self, Write as _};

use super::axis::Axis;
use super::{CHARACTER, N_COLOURS, Picture, WIDTH, mark};
use crate::escape::Text;
use crate::names::cut;

const RIGHT: f64 = WIDTH - 16.0;
const TOP: f64 = 8.0;
const ROW: f64 = 34.0;
/// Half of a box's height.
const HALF: f64 = 9.0;
/// For the axis and the legend.
const BELOW: f64 = 82.0;
const MAX_LABEL: usize = 20;

/// A picture of boxes.
pub(crate) struct Boxes<'a> {
    /// Distinguishes it from the page's other pictures.
    pub(crate) id: String,
    /// What it shows.
    pub(crate) title: &'a str,
    /// What one sees in it, for those who do not.
    pub(crate) description: String,
    /// What is ranked, and how it is counted.
    pub(crate) x_label: &'a str,
    /// Of ranks.
    pub(crate) axis: Axis,
    /// From above.
    pub(crate) rows: Vec<BoxRow<'a>>,
}

/// One box.
pub(crate) struct BoxRow<'a> {
    pub(crate) label: &'a str,
    /// Decides about the colour.
    pub(crate) series: usize,
    /// The whiskers' ends, the quartiles between them.
    pub(crate) cuts: [f64; 5],
    /// The mean.
    pub(crate) mean: f64,
    /// True ranks beyond the whiskers.
    pub(crate) outliers: Vec<f64>,
    /// What counts where there is no true rank.
    pub(crate) unreached: Vec<f64>,
}

impl<'a> Boxes<'a> {
    /// Draws it.
    pub(crate) fn picture(self) -> Picture<'a> {
        let mut body = String::new();
        if let Err(error) = self.draw(&mut body) {
            unreachable!("a string takes every text: {error}");
        }
        let height = self.bottom() + BELOW;
        let Boxes { id, title, description, .. } = self;
        Picture { id, title, description, height, style: "", body }
    }

    fn bottom(&self) -> f64 {
        TOP + ROW * self.rows.len() as f64
    }

    fn left(&self) -> f64 {
        let longest = self.rows.iter().map(|row| cut(row.label, MAX_LABEL).chars().count()).max();
        longest.unwrap_or(0) as f64 * CHARACTER + 18.0
    }

    fn x_at(&self, rank: f64) -> f64 {
        let left = self.left();
        left + (RIGHT - left) * (1.0 - self.axis.at(rank))
    }

    fn draw(&self, out: &mut String) -> fmt::Result {
        let (left, bottom) = (self.left(), self.bottom());
        for (value, label) in &self.axis.ticks {
            let x = self.x_at(*value);
            writeln!(
                out,
                "<path class=\"grid\" d=\"M{x:.1} {TOP}V{bottom}\"/>\
                 <path class=\"axis\" d=\"M{x:.1} {bottom}v5\"/>\
                 <text class=\"middle\" x=\"{x:.1}\" y=\"{}\">{label}</text>",
                bottom + 19.0
            )?;
        }
        writeln!(
            out,
            "<path class=\"axis\" d=\"M{left:.1} {TOP}V{bottom}H{RIGHT}\"/>\n\
             <text class=\"name middle\" x=\"{:.1}\" y=\"{}\">{}</text>",
            (left + RIGHT) / 2.0,
            bottom + 37.0,
            Text(self.x_label)
        )?;
        for (i, row) in self.rows.iter().enumerate() {
            let y = TOP + ROW * (i as f64 + 0.5);
            writeln!(
                out,
                "<text class=\"name end\" x=\"{:.1}\" y=\"{}\">{}</text>",
                left - 8.0,
                y + 4.0,
                Text(&cut(row.label, MAX_LABEL))
            )?;
            self.row(out, row, y)?;
        }
        legend(out, bottom)
    }

    fn row(&self, out: &mut String, row: &BoxRow<'_>, y: f64) -> fmt::Result {
        let colour = row.series % N_COLOURS;
        let [low, lower, middle, upper, high] = row.cuts.map(|rank| self.x_at(rank));
        let (above, below) = (y - HALF, y + HALF);
        writeln!(
            out,
            "<path class=\"series s{colour}\" d=\"M{low:.1} {y}H{high:.1}M{low:.1} {}v{HALF}\
             M{high:.1} {}v{HALF}\"/>\
             <path class=\"box s{colour}\" d=\"M{lower:.1} {above}H{upper:.1}V{below}H{lower:.1}z\"/>\
             <path class=\"thick s{colour}\" d=\"M{middle:.1} {above}V{below}\"/>",
            y - HALF / 2.0,
            y - HALF / 2.0,
        )?;
        let signs = |ranks: &[f64], sign: fn(f64, f64) -> String| -> String {
            let at = |(i, rank): (usize, &f64)| {
                // Those that would hide each other step aside.
                let aside = [0.0, 4.0, -4.0, 8.0, -8.0][i % 5];
                sign(self.x_at(*rank), y + aside)
            };
            ranks.iter().enumerate().map(at).collect()
        };
        let own = [
            signs(&row.outliers, mark::circle),
            signs(&row.unreached, mark::cross),
            mark::diamond(self.x_at(row.mean), y),
        ];
        for path in own.iter().filter(|path| !path.is_empty()) {
            writeln!(out, "<path class=\"mark s{colour}\" d=\"{path}\"/>")?;
        }
        Ok(())
    }
}

/// What the signs mean, in two lines.
fn legend(out: &mut String, bottom: f64) -> fmt::Result {
    let (first, second) = (bottom + 57.0, bottom + 75.0);
    let sign = |out: &mut String, class: &str, path: String, x: f64, y: f64, text: &str| {
        let (x, y) = (x + 14.0, y + 4.0);
        writeln!(
            out,
            "<path class=\"{class} s5\" d=\"{path}\"/><text x=\"{x}\" y=\"{y}\">{text}</text>"
        )
    };
    let quartiles = format!("M3 {}h14v10h-14z", first - 5.0);
    sign(out, "box", quartiles, 8.0, first, "quartiles")?;
    sign(out, "thick", format!("M92 {}v10", first - 5.0), 88.0, first, "median")?;
    sign(out, "mark", mark::diamond(164.0, first), 160.0, first, "mean (MFR)")?;
    let whiskers = format!("M264 {first}h16M264 {0}v8M280 {0}v8", first - 4.0);
    sign(out, "series", whiskers, 272.0, first, "within 1.5 box lengths")?;
    sign(out, "mark", mark::circle(10.0, second), 8.0, second, "beyond")?;
    let unreached = "not among the suspects: counts as the last of them";
    sign(out, "mark", mark::cross(92.0, second), 88.0, second, unreached)
}
