//! Things in a row -> a strip: where among thousands something happens, and the
//! few that matter.
//!
//! **Invariant:** each of the few is drawn by itself, however many things there
//! are; the others are drawn together, bin by bin, as high as their share.

use std::fmt::{self, Write as _};

use super::{Picture, WIDTH};
use crate::escape::Text;

const LEFT: f64 = 2.0;
const RIGHT: f64 = WIDTH - 2.0;
/// Between which the shares are drawn.
const TOP: f64 = 44.0;
const BOTTOM: f64 = 92.0;
const HEIGHT: f64 = 136.0;
/// As many bins as can be told apart.
const MAX_BINS: usize = 160;
/// How wide the mark of a single thing is at least.
const MARK: f64 = 3.0;

/// A picture of things in a row.
pub(crate) struct Strip<'a> {
    /// Distinguishes it from the page's other pictures.
    pub(crate) id: String,
    pub(crate) title: &'a str,
    /// What one sees in it, for those who do not.
    pub(crate) description: String,
    /// How many things there are.
    pub(crate) n: usize,
    /// Where something happens, ascending.
    pub(crate) active: Vec<usize>,
    pub(crate) active_label: &'a str,
    /// The few that matter.
    pub(crate) few: Vec<usize>,
    pub(crate) few_label: &'a str,
    /// One of them, and what it is called.
    pub(crate) chosen: Option<(usize, String)>,
}

impl<'a> Strip<'a> {
    pub(crate) fn picture(self) -> Picture<'a> {
        let mut body = String::new();
        if let Err(error) = self.draw(&mut body) {
            unreachable!("a string takes every text: {error}");
        }
        let Strip { id, title, description, .. } = self;
        Picture { id, title, description, height: HEIGHT, style: "", body }
    }

    /// Where the thing of this number begins.
    fn x_at(&self, number: usize) -> f64 {
        LEFT + (RIGHT - LEFT) * number as f64 / self.n.max(1) as f64
    }

    fn draw(&self, out: &mut String) -> fmt::Result {
        for (from, end) in self.bins() {
            let n_active = self.active.iter().filter(|&&n| from <= n && n < end).count();
            if n_active > 0 {
                let share = n_active as f64 / (end - from) as f64;
                let (x, y) = (self.x_at(from), BOTTOM - (BOTTOM - TOP) * share);
                let right = self.x_at(end);
                writeln!(
                    out,
                    "<path class=\"bin\" d=\"M{x:.1} {BOTTOM}V{y:.1}H{right:.1}V{BOTTOM}Z\"/>"
                )?;
            }
        }
        writeln!(out, "<path class=\"axis\" d=\"M{LEFT} {BOTTOM}H{RIGHT}\"/>")?;
        for &number in &self.few {
            let (x, width) = self.mark(number);
            writeln!(
                out,
                "<path class=\"few\" d=\"M{x:.1} {}h{width:.1}v10h-{width:.1}Z\"/>",
                BOTTOM + 3.0
            )?;
        }
        if let Some((number, label)) = &self.chosen {
            let (x, width) = self.mark(*number);
            let (middle, class) = (x + width / 2.0, self.side(x));
            writeln!(
                out,
                "<path class=\"chosen\" d=\"M{middle:.1} 24V{BOTTOM}M{:.1} 24h10l-5 7Z\"/>\n\
                 <text class=\"name {class}\" x=\"{middle:.1}\" y=\"18\">{}</text>",
                middle - 5.0,
                Text(label)
            )?;
        }
        let (numbers, key) = (BOTTOM + 27.0, BOTTOM + 34.0);
        let (last, words) = (self.n.saturating_sub(1), key + 9.0);
        writeln!(
            out,
            "<text x=\"{LEFT}\" y=\"{numbers}\">#0</text>\
             <text class=\"end\" x=\"{RIGHT}\" y=\"{numbers}\">#{last}</text>\n\
             <path class=\"bin\" d=\"M{LEFT} {key}h9v9h-9Z\"/>\
             <text x=\"16\" y=\"{words}\">{}</text>\n\
             <path class=\"few\" d=\"M242 {key}h9v9h-9Z\"/>\
             <text x=\"256\" y=\"{words}\">{}</text>",
            Text(self.active_label),
            Text(self.few_label),
        )
    }

    /// Half-open ranges of the things that are drawn together.
    fn bins(&self) -> Vec<(usize, usize)> {
        let n_bins = self.n.min(MAX_BINS);
        let at = |bin: usize| bin * self.n / n_bins.max(1);
        (0..n_bins).map(|bin| (at(bin), at(bin + 1))).collect()
    }

    /// Where the mark of a thing begins, and how wide it is.
    fn mark(&self, number: usize) -> (f64, f64) {
        let (from, end) = (self.x_at(number), self.x_at(number + 1));
        let width = (end - from).max(MARK);
        (from.min(RIGHT - width), width)
    }

    /// To which side a label at this place has room.
    fn side(&self, x: f64) -> &'static str {
        match x {
            _ if x < WIDTH * 0.3 => "",
            _ if x > WIDTH * 0.7 => "end",
            _ => "middle",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strip(n: usize, active: Vec<usize>) -> Strip<'static> {
        Strip {
            id: "s".to_owned(),
            title: "t",
            description: String::new(),
            n,
            active,
            active_label: "active",
            few: vec![n / 2, n - 1],
            few_label: "few",
            chosen: Some((n - 1, "<last>".to_owned())),
        }
    }

    #[test]
    fn every_thing_is_in_one_bin() {
        for n in [1, 7, 159, 160, 161, 5000] {
            let bins = strip(n, Vec::new()).bins();
            assert!(bins.len() <= MAX_BINS);
            assert_eq!((bins[0].0, bins[bins.len() - 1].1), (0, n));
            assert!(bins.windows(2).all(|pair| pair[0].1 == pair[1].0));
            assert!(bins.iter().all(|(from, end)| from < end));
        }
    }

    #[test]
    fn thousands_of_things_stay_a_small_picture_and_the_few_stay_visible() {
        let picture = strip(100_000, (0..100_000).step_by(3).collect()).picture();
        assert!(picture.body.len() < 20_000, "{}", picture.body.len());
        assert_eq!(picture.body.matches("class=\"few\"").count(), 3); // One is the legend's.
        assert!(picture.body.contains("h3.0v10"), "{}", picture.body);
        assert!(picture.body.contains("&lt;last&gt;"));
    }
}
