//! Ranks or times of several methods -> boxes below each other, on one
//! logarithmic axis.
//!
//! **Invariant:** the smallest stands on the left. Every value is in the box, its
//! whiskers, or drawn by itself; one that is no true rank has a sign of its own.

use std::fmt::{self, Write as _};

use optsleuth_eval::{Quartiles, mean, quartiles};

use super::axis::Axis;
use super::{BAR_STYLE, N_COLOURS, Picture, WIDTH, headings, longest, mark, places};
use crate::escape::Text;
use crate::names::cut;

const TOP: f64 = 8.0;
const ROW: f64 = 34.0;
/// Half of a box's height.
const HALF: f64 = 9.0;
/// For the axis and the legend.
const BELOW: f64 = 82.0;
const MAX_LABEL: usize = 20;
/// So many box lengths belong to the whiskers: J. W. Tukey, Exploratory Data
/// Analysis, 1977.
const WHISKER: f64 = 1.5;

pub struct Boxes<'a> {
    /// Distinguishes it from the page's other pictures.
    pub id: String,
    pub title: &'a str,
    /// What one sees in it, for those who do not.
    pub description: String,
    /// What is measured, and in which unit.
    pub x_label: &'a str,
    /// Of ranks or times.
    pub axis: Axis,
    /// What the mean is called in the legend.
    pub mean: &'a str,
    /// What [`BoxRow::unreached`] means; `None` where nothing can be that.
    pub unreached: Option<&'a str>,
    /// From above.
    pub rows: Vec<BoxRow<'a>>,
}

pub struct BoxRow<'a> {
    /// What stands above this box and those that follow.
    pub heading: Option<String>,
    pub label: &'a str,
    /// What is written at the right.
    pub said: String,
    /// Decides about the colour.
    pub series: usize,
    /// The whiskers' ends, the quartiles between them.
    pub cuts: [f64; 5],
    pub mean: f64,
    /// True ranks beyond the whiskers.
    pub outliers: Vec<f64>,
    /// What counts where there is no true rank.
    pub unreached: Vec<f64>,
}

impl<'a> BoxRow<'a> {
    /// The box of these values; `None` if there are none.
    pub fn of(
        label: &'a str,
        series: usize,
        found: &[f64],
        unreached: &[f64],
    ) -> Option<BoxRow<'a>> {
        let all = [found, unreached].concat();
        let Quartiles { lower, median, upper } = quartiles(&all)?;
        let reach = WHISKER * (upper - lower);
        let is_near = |value: &f64| (lower - reach..=upper + reach).contains(value);
        let near = || all.iter().copied().filter(is_near);
        let (low, high) = (near().fold(lower, f64::min), near().fold(upper, f64::max));
        let mut outliers: Vec<f64> = found.iter().copied().filter(|v| !is_near(v)).collect();
        let mut unreached = unreached.to_vec();
        outliers.sort_by(f64::total_cmp);
        unreached.sort_by(f64::total_cmp);
        let cuts = [low, lower, median, upper, high];
        let (heading, said, mean) = (None, String::new(), mean(&all)?);
        Some(BoxRow { heading, label, said, series, cuts, mean, outliers, unreached })
    }
}

impl<'a> Boxes<'a> {
    pub fn picture(self) -> Picture<'a> {
        let mut body = String::new();
        if let Err(error) = self.draw(&mut body) {
            unreachable!("a string takes every text: {error}");
        }
        let height = self.places().1 + BELOW;
        let has_headings = self.rows.iter().any(|row| row.heading.is_some());
        let style = if has_headings { BAR_STYLE } else { "" };
        let Boxes { id, title, description, .. } = self;
        Picture { id, title, description, height, style, body }
    }

    fn places(&self) -> (Vec<f64>, f64) {
        places(TOP, ROW, self.rows.iter().map(|row| row.heading.is_some()))
    }

    fn left(&self) -> f64 {
        longest(self.rows.iter().map(|row| cut(row.label, MAX_LABEL))) + 18.0
    }

    fn right(&self) -> f64 {
        WIDTH - longest(self.rows.iter().map(|row| row.said.clone())) - 16.0
    }

    fn x_at(&self, rank: f64) -> f64 {
        let (left, right) = (self.left(), self.right());
        left + (right - left) * (1.0 - self.axis.at(rank))
    }

    fn draw(&self, out: &mut String) -> fmt::Result {
        let (left, right) = (self.left(), self.right());
        let (middles, bottom) = self.places();
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
            "<path class=\"axis\" d=\"M{left:.1} {TOP}V{bottom}H{right}\"/>\n\
             <text class=\"name middle\" x=\"{:.1}\" y=\"{}\">{}</text>",
            (left + right) / 2.0,
            bottom + 37.0,
            Text(self.x_label)
        )?;
        headings(out, self.rows.iter().map(|row| row.heading.as_deref()), &middles, ROW)?;
        for (row, y) in self.rows.iter().zip(middles) {
            writeln!(
                out,
                "<text class=\"name end\" x=\"{:.1}\" y=\"{}\">{}</text>",
                left - 8.0,
                y + 4.0,
                Text(&cut(row.label, MAX_LABEL))
            )?;
            self.row(out, row, y)?;
        }
        self.legend(out, bottom)
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
        if !row.said.is_empty() {
            let (x, below, said) = (WIDTH - 2.0, y + 4.0, Text(&row.said));
            writeln!(out, "<text class=\"end\" x=\"{x}\" y=\"{below}\">{said}</text>")?;
        }
        Ok(())
    }

    /// What the signs mean, in two lines.
    fn legend(&self, out: &mut String, bottom: f64) -> fmt::Result {
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
        sign(out, "mark", mark::diamond(164.0, first), 160.0, first, self.mean)?;
        let whiskers = format!("M264 {first}h16M264 {0}v8M280 {0}v8", first - 4.0);
        sign(out, "series", whiskers, 272.0, first, "within 1.5 box lengths")?;
        sign(out, "mark", mark::circle(10.0, second), 8.0, second, "beyond")?;
        match self.unreached {
            Some(text) => sign(out, "mark", mark::cross(92.0, second), 88.0, second, text),
            None => Ok(()),
        }
    }
}
