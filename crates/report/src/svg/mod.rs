//! Numbers -> SVG pictures: lines over runs or seconds, boxes below each other,
//! bars, and strips of things in a row.
//! On a page, or as a file of their own.
//!
//! **Invariant:** pure. On a page, colours come from the page's style, so that
//! a picture follows it into the dark; alone, a picture brings its own ground.
//! What differs in colour differs in its dashes or marks too. What is not
//! finite is not drawn.

mod axis;
mod bars;
mod boxes;
mod lines;
mod mark;
mod strip;

use std::fmt::{self, Write as _};

use crate::escape::Text;
pub use axis::Axis;
pub use bars::{Bar, Bars};
pub use boxes::{BoxRow, Boxes};
pub(crate) use lines::{Band, Line, Look, Plot, Shape};
pub(crate) use strip::Strip;

/// How pictures look; a page has to include it.
pub(crate) const PLOT_STYLE: &str = include_str!("plot.css");
/// How bars and headings look, on top of that.
pub(crate) const BAR_STYLE: &str = include_str!("bars.css");

/// How wide every picture is, in its own units.
const WIDTH: f64 = 480.0;
/// About as wide as a character of a label is.
const CHARACTER: f64 = 6.6;
/// How many colours there are; see `plot.css`.
const N_COLOURS: usize = 6;

/// What stands for the names of the page's style in a picture of its own:
/// viewers other than browsers do not know such names.
const ALONE: [(&str, &str); 13] = [
    ("--page", "#ffffff"),
    ("--panel", "#f5f6f8"),
    ("--line", "#dcdfe4"),
    ("--text", "#1d2127"),
    ("--quiet", "#5a626d"),
    ("--accent", "#0b5cad"),
    ("--second", "#b4540a"),
    ("--s0", "#0b5cad"),
    ("--s1", "#b4540a"),
    ("--s2", "#00795a"),
    ("--s3", "#9b3d95"),
    ("--s4", "#857000"),
    ("--s5", "#4d5560"),
];
const FONTS: &str = "\"Segoe UI\", Roboto, \"Noto Sans\", \"Liberation Sans\", sans-serif";

/// For a heading above rows.
const HEADING: f64 = 22.0;

/// Where rows stand: the middle of each, and where the last of them ends. Some
/// have a heading above them.
fn places(top: f64, height: f64, has_heading: impl Iterator<Item = bool>) -> (Vec<f64>, f64) {
    let mut y = top;
    let mut middles = Vec::new();
    for has_heading in has_heading {
        y += if has_heading { HEADING } else { 0.0 };
        middles.push(y + height / 2.0);
        y += height;
    }
    (middles, y)
}

/// Writes the headings of rows, over whatever is drawn there; `middles` and
/// `height` are those of the rows.
fn headings<'r>(
    out: &mut String,
    headings: impl Iterator<Item = Option<&'r str>>,
    middles: &[f64],
    height: f64,
) -> fmt::Result {
    for (text, middle) in headings.zip(middles).filter_map(|(text, y)| Some((text?, y))) {
        let (y, text) = (middle - height / 2.0 - 5.0, Text(text));
        writeln!(out, "<text class=\"name heading\" x=\"2\" y=\"{y}\">{text}</text>")?;
    }
    Ok(())
}

/// About as wide as the longest of these texts is.
fn longest(texts: impl Iterator<Item = String>) -> f64 {
    texts.map(|text| text.chars().count()).max().unwrap_or(0) as f64 * CHARACTER
}

/// A picture that is drawn.
pub struct Picture<'a> {
    /// Distinguishes it from the page's other pictures.
    pub(crate) id: String,
    pub(crate) title: &'a str,
    /// What one sees in it, for those who do not.
    description: String,
    height: f64,
    /// What it needs beside [`PLOT_STYLE`].
    style: &'static str,
    /// The elements.
    body: String,
}

impl Picture<'_> {
    /// Writes the `svg` element for a page.
    pub(crate) fn write(&self, out: &mut String) -> fmt::Result {
        let height = self.height;
        self.element(out, &format!("viewBox=\"0 0 {WIDTH} {height}\""), "")
    }

    /// A file of its own, with its title in it.
    pub fn alone(&self) -> String {
        /// Around the picture, and above it for the title.
        const EDGE: f64 = 12.0;
        const ABOVE: f64 = 32.0;
        let (width, height) = (WIDTH + 2.0 * EDGE, self.height + EDGE + ABOVE);
        let mut style = format!("{PLOT_STYLE}{}", self.style).replace("var(--sans)", FONTS);
        for (name, colour) in ALONE {
            style = style.replace(&format!("var({name})"), colour);
        }
        let ground = format!(
            "<style>\n{style}.plot .title {{ font-size: 14px; font-weight: 600; }}\n</style>\n\
             <rect x=\"-{EDGE}\" y=\"-{ABOVE}\" width=\"{width}\" height=\"{height}\" rx=\"6\" \
             fill=\"#ffffff\"/>\n\
             <text class=\"name title\" x=\"2\" y=\"-10\">{}</text>\n",
            Text(self.title)
        );
        let attributes = format!(
            "xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" \
             viewBox=\"-{EDGE} -{ABOVE} {width} {height}\"",
            width * 1.5,
            height * 1.5
        );
        let mut out = String::new();
        match self.element(&mut out, &attributes, &ground) {
            Ok(()) => out,
            Err(error) => unreachable!("a string takes every text: {error}"),
        }
    }

    fn element(&self, out: &mut String, attributes: &str, ground: &str) -> fmt::Result {
        let Picture { id, title, description, body, .. } = self;
        write!(
            out,
            "<svg class=\"plot\" {attributes} role=\"img\" \
             aria-labelledby=\"{id}-title {id}-desc\">\n\
             <title id=\"{id}-title\">{}</title>\n<desc id=\"{id}-desc\">{}</desc>\n\
             {ground}{body}</svg>\n",
            Text(title),
            Text(description)
        )
    }
}
