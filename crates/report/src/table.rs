//! A table of texts -> Markdown, HTML, or columns for a terminal.
//!
//! For everything that is said in the same table in several forms.
//!
//! **Invariant:** cells hold plain text, already rounded and worded; each form
//! escapes it in its own way. A row is a line of a terminal, whatever its texts
//! hold, and has as many cells as there are columns.

use std::fmt::{self, Write as _};

use crate::escape::Text;
use crate::markdown::{code, inline};
use crate::names::cut;
use crate::{Style, words};

/// So many characters stay in one line.
const SHORT: usize = 28;
/// So many characters of what goes with a row are shown on a terminal.
const MAX_BELOW: usize = 140;

#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Vec<Cell>>,
}

#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// What it means; may be empty.
    pub(crate) hint: &'static str,
    pub(crate) kind: Kind,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or a sentence.
    Words,
    /// Numbers of which a large one is good.
    MoreIsBetter,
    /// Numbers of which a small one is good.
    LessIsBetter,
    /// Other numbers.
    Number,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    pub(crate) text: String,
    /// What it is sorted and compared by, if it is a number.
    pub(crate) value: Option<f64>,
    /// As good as any of the same column.
    pub(crate) is_best: bool,
    /// Where it leads to on a page: an address that is safe in an attribute.
    pub(crate) link: Option<String>,
    /// Names and sentences that go with it, too long for a column.
    pub(crate) below: Vec<Below>,
}

/// What goes with a cell.
#[derive(Clone, Debug)]
pub(crate) enum Below {
    /// A sentence.
    Words(String),
    /// What is beside the point.
    Quiet(String),
    /// Something that a compiler would read.
    Name(String),
}

impl Column {
    pub(crate) fn words(name: &str) -> Column {
        Column { name: name.to_owned(), hint: "", kind: Kind::Words }
    }

    pub(crate) fn new(name: &str, kind: Kind, hint: &'static str) -> Column {
        Column { name: name.to_owned(), hint, kind }
    }
}

impl Cell {
    pub(crate) fn words(text: &str) -> Cell {
        Cell { text: text.to_owned(), ..Cell::default() }
    }

    pub(crate) fn count(n: usize) -> Cell {
        Cell::number(words::count(n), n as f64)
    }

    pub(crate) fn number(text: String, value: f64) -> Cell {
        Cell { text, value: Some(value).filter(|value| value.is_finite()), ..Cell::default() }
    }

    /// For a figure that does not exist.
    pub(crate) fn none() -> Cell {
        Cell::words("–")
    }
}

impl Table {
    /// The same, with the best of each column marked, if there are several.
    pub(crate) fn with_best(mut self) -> Table {
        for (i, column) in self.columns.iter().enumerate() {
            let values = self.rows.iter().filter_map(|row| row[i].value);
            let best = match column.kind {
                Kind::MoreIsBetter => values.reduce(f64::max),
                Kind::LessIsBetter => values.reduce(f64::min),
                Kind::Words | Kind::Number => None,
            };
            let is_best = |cell: &Cell| cell.value.is_some() && cell.value == best;
            if self.rows.iter().all(|row| is_best(&row[i])) {
                continue; // Where all are the best, none is.
            }
            for row in &mut self.rows {
                row[i].is_best = is_best(&row[i]);
            }
        }
        self
    }

    pub(crate) fn markdown(&self, out: &mut String) {
        let line = |out: &mut String, cells: &mut dyn Iterator<Item = String>| {
            let cells: Vec<String> = cells.collect();
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        };
        line(out, &mut self.columns.iter().map(|column| inline(&column.name)));
        let dashes = |column: &Column| if column.is_number() { "---:" } else { "---" };
        let dashes: Vec<&str> = self.columns.iter().map(dashes).collect();
        let _ = writeln!(out, "|{}|", dashes.join("|"));
        for row in &self.rows {
            line(out, &mut row.iter().map(Cell::markdown));
        }
        out.push('\n');
    }

    /// Writes it in columns. What goes with a row stands in lines under it.
    pub(crate) fn text(&self, out: &mut String, style: Style) {
        let width = |i: usize| {
            let cells = self.rows.iter().map(|row| row[i].text.chars().count());
            cells.chain([self.columns[i].name.chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let padded = |i: usize, text: &str| {
            let space = " ".repeat(widths[i].saturating_sub(text.chars().count()));
            match self.columns[i].is_number() {
                true => (space, String::new()),
                // Nothing follows the last one.
                false if i + 1 == widths.len() => (String::new(), String::new()),
                false => (String::new(), space),
            }
        };
        let heads = self.columns.iter().enumerate().map(|(i, column)| {
            let (before, after) = padded(i, &column.name);
            format!("{before}{}{after}", column.name)
        });
        let heads = heads.collect::<Vec<_>>().join("  ");
        let _ = writeln!(out, "{}", style.heading(&heads));
        for row in &self.rows {
            let cells = row.iter().enumerate().map(|(i, cell)| {
                let text = one_line(&cell.text);
                let (before, after) = padded(i, &text);
                let text = match cell.is_best {
                    true => style.good(&text),
                    false => text,
                };
                format!("{before}{text}{after}")
            });
            let _ = writeln!(out, "{}", cells.collect::<Vec<_>>().join("  "));
            for below in row.iter().flat_map(|cell| &cell.below) {
                let (Below::Words(text) | Below::Quiet(text) | Below::Name(text)) = below;
                let text = format!("    {}", cut(&one_line(text), MAX_BELOW));
                let _ = writeln!(out, "{}", style.quiet(&text));
            }
        }
    }

    /// Writes it as HTML, with a field to filter it by if it is long.
    pub(crate) fn html(&self, out: &mut String, id: &str, label: &str) -> fmt::Result {
        const LONG: usize = 12;
        let n_rows = words::count(self.rows.len());
        out.push_str("<div class=\"listing\">\n");
        if self.rows.len() >= LONG {
            writeln!(
                out,
                "<p class=\"tools\" hidden><label for=\"{id}-filter\">Filter</label> \
                 <input type=\"search\" id=\"{id}-filter\" autocomplete=\"off\" \
                 spellcheck=\"false\"> \
                 <output for=\"{id}-filter\">showing {n_rows} of {n_rows}</output></p>"
            )?;
        }
        write!(
            out,
            "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n\
             <table>\n<thead><tr>",
            Text(label)
        )?;
        for column in &self.columns {
            out.push_str("<th scope=\"col\"");
            match (column.is_number(), column.name.contains(' ')) {
                (true, true) => out.push_str(" class=\"number\""),
                // No place for a break: its arrow would stand above it.
                (true, false) => out.push_str(" class=\"number short\""),
                (false, _) => {}
            }
            if !column.hint.is_empty() {
                write!(out, " title=\"{}\"", Text(column.hint))?;
            }
            if column.kind == Kind::MoreIsBetter {
                out.push_str(" data-first=\"descending\"");
            }
            write!(out, ">{}</th>", Text(&column.name))?;
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for row in &self.rows {
            out.push_str("<tr>");
            for (column, cell) in self.columns.iter().zip(row) {
                cell.html(out, column)?;
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody>\n</table>\n</div>\n</div>\n");
        Ok(())
    }
}

/// A text that cannot leave its line, nor steer a terminal.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

impl Column {
    fn is_number(&self) -> bool {
        self.kind != Kind::Words
    }
}

impl Cell {
    fn html(&self, out: &mut String, column: &Column) -> fmt::Result {
        let text = Text(&self.text);
        match (column.is_number(), self.value) {
            (true, Some(value)) => write!(out, "<td class=\"number\" data-v=\"{value}\">")?,
            (true, None) => out.push_str("<td class=\"number\" data-v=\"\">"),
            (false, _) if self.below.is_empty() && self.text.chars().count() <= SHORT => {
                out.push_str("<td class=\"short\">")
            }
            (false, _) => out.push_str("<td class=\"name\">"),
        }
        match (self.is_best, &self.link) {
            (true, _) => write!(out, "<strong>{text}</strong>")?,
            (false, Some(link)) => write!(out, "<a href=\"{link}\">{text}</a>")?,
            (false, None) => write!(out, "{text}")?,
        }
        for below in &self.below {
            match below {
                Below::Words(words) => write!(out, "<br>{}", Text(words))?,
                Below::Quiet(words) => {
                    write!(out, "<br><span class=\"quiet\">{}</span>", Text(words))?;
                }
                Below::Name(name) => {
                    write!(out, "<br><code class=\"quiet\">{}</code>", Text(name))?;
                }
            }
        }
        out.push_str("</td>");
        Ok(())
    }

    fn markdown(&self) -> String {
        let mut out = match self.is_best {
            true => format!("**{}**", inline(&self.text)),
            false => inline(&self.text),
        };
        for below in &self.below {
            out.push_str("<br>");
            out.push_str(&match below {
                Below::Words(words) | Below::Quiet(words) => inline(words),
                Below::Name(name) => code(name),
            });
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(texts: &[[&str; 2]]) -> Table {
        let columns = ["A", "B"].map(Column::words).into();
        let rows = texts.iter().map(|row| row.map(Cell::words).into()).collect();
        Table { columns, rows }
    }

    #[test]
    fn a_row_is_a_line_and_what_goes_with_it_is_cut() {
        let mut table = table(&[["a\nb\u{1b}", "c"], ["long enough", "d"]]);
        table.rows[0][0].below =
            vec![Below::Words("x\ny".to_owned()), Below::Name("z".repeat(1000))];
        let mut out = String::new();
        table.text(&mut out, Style::Plain);
        let z = "z".repeat(MAX_BELOW);
        assert_eq!(
            out,
            format!("A            B\na b          c\n    x y\n    {z}...\nlong enough  d\n")
        );
    }

    #[test]
    fn cells_can_lead_somewhere_and_have_names_below() {
        let mut table = table(&[["a<b", "c|d"]]);
        table.rows[0][0].link = Some("./x".to_owned());
        table.rows[0][1].below =
            vec![Below::Name("e|<f>".to_owned()), Below::Words("<g>".to_owned())];
        let (mut html, mut markdown) = (String::new(), String::new());
        table.html(&mut html, "t", "T").unwrap();
        table.markdown(&mut markdown);
        assert!(html.contains("<td class=\"short\"><a href=\"./x\">a&lt;b</a></td>"), "{html}");
        assert!(
            html.contains("c|d<br><code class=\"quiet\">e|&lt;f&gt;</code><br>&lt;g&gt;</td>"),
            "{html}"
        );
        assert!(markdown.contains("| a\\<b | c\\|d<br>`e\\|<f>`<br>\\<g> |"), "{markdown}");
    }
}
