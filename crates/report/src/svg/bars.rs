//! Numbers of named things -> bars below each other, each in parts.
//!
//! **Invariant:** every bar says its number in digits. Parts differ in a sign,
//! where there is room for one, and not in their colours alone.

use std::fmt::{self, Write as _};

use super::axis::Axis;
use super::{BAR_STYLE, CHARACTER, N_COLOURS, Picture, WIDTH, headings, longest, mark, places};
use crate::escape::Text;
use crate::names::cut;

const TOP: f64 = 8.0;
const ROW: f64 = 24.0;
/// Half of a bar's height.
const HALF: f64 = 8.0;
/// For the axis.
const BELOW: f64 = 44.0;
const MAX_LABEL: usize = 22;
/// A part that is narrower has no sign.
const SIGN: f64 = 11.0;
const LEGEND_ROW: f64 = 22.0;
/// As wide as a bar in the legend.
const SAMPLE: f64 = 16.0;

pub struct Bars<'a> {
    /// Distinguishes it from the page's other pictures.
    pub id: String,
    pub title: &'a str,
    /// What one sees in it, for those who do not.
    pub description: String,
    pub x_label: &'a str,
    /// On a logarithmic one, bars have one part.
    pub axis: Axis,
    /// What the parts are called, with the numbers that decide about their
    /// colours and signs. A legend is drawn if there are several.
    pub parts: Vec<(usize, &'a str)>,
    /// From above.
    pub bars: Vec<Bar>,
}

pub struct Bar {
    /// What stands above this bar and those that follow.
    pub heading: Option<String>,
    pub label: String,
    /// From the left: the number of the part, and how much it counts.
    pub parts: Vec<(usize, f64)>,
    /// What is written at its end.
    pub said: String,
}

impl<'a> Bars<'a> {
    pub fn picture(self) -> Picture<'a> {
        let mut body = String::new();
        if let Err(error) = self.draw(&mut body) {
            unreachable!("a string takes every text: {error}");
        }
        let height = self.places().1 + BELOW;
        let Bars { id, title, description, .. } = self;
        Picture { id, title, description, height, style: BAR_STYLE, body }
    }

    fn left(&self) -> f64 {
        longest(self.bars.iter().map(|bar| cut(&bar.label, MAX_LABEL))) + 18.0
    }

    fn right(&self) -> f64 {
        WIDTH - longest(self.bars.iter().map(|bar| bar.said.clone())) - 12.0
    }

    fn top(&self) -> f64 {
        TOP + self.legend_places().last().map_or(0.0, |(_, y)| y + LEGEND_ROW - 4.0)
    }

    fn places(&self) -> (Vec<f64>, f64) {
        places(self.top(), ROW, self.bars.iter().map(|bar| bar.heading.is_some()))
    }

    fn x_at(&self, value: f64) -> f64 {
        let (left, right) = (self.left(), self.right());
        left + (right - left) * self.axis.at(value)
    }

    fn draw(&self, out: &mut String) -> fmt::Result {
        let (left, right) = (self.left(), self.right());
        let (top, (middles, bottom)) = (self.top(), self.places());
        for (value, label) in &self.axis.ticks {
            let x = self.x_at(*value);
            writeln!(
                out,
                "<path class=\"grid\" d=\"M{x:.1} {top}V{bottom}\"/>\
                 <text class=\"middle\" x=\"{x:.1}\" y=\"{}\">{label}</text>",
                bottom + 17.0
            )?;
        }
        for (bar, y) in self.bars.iter().zip(&middles) {
            self.bar(out, bar, *y)?;
        }
        writeln!(
            out,
            "<path class=\"axis\" d=\"M{left:.1} {top}V{bottom}H{right:.1}\"/>\n\
             <text class=\"name middle\" x=\"{:.1}\" y=\"{}\">{}</text>",
            (left + right) / 2.0,
            bottom + 35.0,
            Text(self.x_label)
        )?;
        headings(out, self.bars.iter().map(|bar| bar.heading.as_deref()), &middles, ROW)?;
        self.legend(out)
    }

    fn bar(&self, out: &mut String, bar: &Bar, y: f64) -> fmt::Result {
        let below = y + 4.0;
        writeln!(
            out,
            "<text class=\"name end\" x=\"{:.1}\" y=\"{below}\">{}</text>",
            self.left() - 8.0,
            Text(&cut(&bar.label, MAX_LABEL)),
        )?;
        let (mut sum, mut x) = (0.0, self.left());
        for (part, value) in bar.parts.iter().filter(|(_, value)| value.is_finite()) {
            sum += value;
            let end = self.x_at(sum);
            self.part(out, *part, (x, end), y)?;
            x = end;
        }
        writeln!(
            out,
            "<text class=\"over\" x=\"{:.1}\" y=\"{below}\">{}</text>",
            x + 6.0,
            Text(&bar.said)
        )
    }

    fn part(&self, out: &mut String, part: usize, (x, end): (f64, f64), y: f64) -> fmt::Result {
        let (colour, above, height) = (part % N_COLOURS, y - HALF, 2.0 * HALF);
        write!(
            out,
            "<path class=\"bar s{colour}\" d=\"M{x:.1} {above}H{end:.1}v{height}H{x:.1}z\"/>"
        )?;
        if self.parts.len() > 1 && end - x >= SIGN {
            let sign = mark::of_series(part, (x + end) / 2.0, y);
            write!(out, "<path class=\"sign\" d=\"{sign}\"/>")?;
        }
        Ok(())
    }

    /// Where the legend's samples begin: in rows, as many as fit beside each
    /// other.
    fn legend_places(&self) -> Vec<(f64, f64)> {
        if self.parts.len() < 2 {
            return Vec::new();
        }
        let (mut x, mut y) = (2.0, 10.0);
        let mut places = Vec::new();
        for (_, label) in &self.parts {
            let width = SAMPLE + 6.0 + label.chars().count() as f64 * CHARACTER;
            if x + width > WIDTH && x > 2.0 {
                (x, y) = (2.0, y + LEGEND_ROW);
            }
            places.push((x, y));
            x += width + 16.0;
        }
        places
    }

    fn legend(&self, out: &mut String) -> fmt::Result {
        for ((part, label), (x, y)) in self.parts.iter().zip(self.legend_places()) {
            self.part(out, *part, (x, x + SAMPLE), y)?;
            let (text, below) = (x + SAMPLE + 6.0, y + 4.0);
            writeln!(out, "<text x=\"{text:.1}\" y=\"{below}\">{}</text>", Text(label))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(parts: Vec<(usize, &'static str)>, bars: Vec<Bar>) -> Picture<'static> {
        let bars = Bars {
            id: "b".to_owned(),
            title: "",
            description: String::new(),
            x_label: "n",
            axis: Axis::counts(10),
            parts,
            bars,
        };
        bars.picture()
    }

    #[test]
    fn parts_stand_beside_each_other_and_have_signs_where_there_is_room() {
        let bar = |label: &str, parts| Bar {
            heading: None,
            label: label.into(),
            parts,
            said: "n".into(),
        };
        let bars = vec![bar("<a>", vec![(0, 5.0), (1, 5.0)]), bar("b", vec![(1, 0.1)])];
        let picture = picture(vec![(0, "first"), (1, "second")], bars);
        assert!(picture.alone().contains(".plot .bar.s1 { fill: #b4540a; }"));
        let body = picture.body;
        assert_eq!(body.matches("class=\"bar").count(), 3 + 2, "{body}");
        assert_eq!(body.matches("class=\"sign\"").count(), 2 + 2, "{body}");
        assert!(body.contains("&lt;a&gt;"), "{body}");
        // From the left end of the axis to its middle, and on to its end.
        assert!(body.contains("M37.8 40H249.6v16H37.8z"), "{body}");
        assert!(body.contains("M249.6 40H461.4v16H249.6z"), "{body}");
    }

    #[test]
    fn one_kind_of_part_needs_no_legend_and_nothing_has_no_length() {
        let bar = Bar {
            heading: Some("above".into()),
            label: "a".into(),
            parts: vec![(0, 0.0), (0, f64::NAN)],
            said: "0".into(),
        };
        let body = picture(vec![(0, "only")], vec![bar]).body;
        assert!(!body.contains("only") && !body.contains("NaN"), "{body}");
        assert!(body.contains("y=\"25\">above</text>"), "{body}");
    }
}
