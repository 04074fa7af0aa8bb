//! Suspect lines -> the source around them, with the line marked and a link to
//! the released source.

use std::fmt::{self, Write as _};

use optsleuth_model::{LineSuspect, Localization};

use crate::escape::Text;
use crate::lines::{accessed, asserted, failed_assertion, link, memory_error, reasons, zoomed};
use crate::names::short_name;

/// So many are shown; the first of them unfolded.
const SHOWN: usize = 10;
const OPEN: usize = 3;

/// The assertion that fails and the memory error, where there are such: they stand
/// above everything else.
pub(super) fn assertion(out: &mut String, found: &Localization) -> fmt::Result {
    if let Some(failed) = failed_assertion(found) {
        writeln!(out, "<p class=\"asserted\">{}</p>", Text(&asserted(failed)))?;
    }
    let Some(error) = memory_error(found) else { return Ok(()) };
    writeln!(out, "<p class=\"asserted\">{}</p>", Text(&accessed(error)))?;
    for stack in &error.stacks {
        let functions: Vec<String> = stack.functions.iter().map(|name| short_name(name)).collect();
        writeln!(
            out,
            "<details><summary>{}</summary><pre><code>{}</code></pre></details>",
            Text(&stack.title),
            Text(&functions.join("\n"))
        )?;
    }
    Ok(())
}

pub(super) fn write(out: &mut String, section: &str, found: &Localization) -> fmt::Result {
    if let Some(zoom) = &found.zoom {
        writeln!(out, "<p class=\"note\">{}</p>", Text(&zoomed(zoom)))?;
    }
    if found.lines.is_empty() {
        return Ok(());
    }
    writeln!(out, "<h3 id=\"{section}-lines\">Suspect lines</h3>")?;
    for (number, suspect) in found.lines.iter().take(SHOWN).enumerate() {
        one(out, found, suspect, number < OPEN)?;
    }
    Ok(())
}

fn one(
    out: &mut String,
    found: &Localization,
    suspect: &LineSuspect,
    is_open: bool,
) -> fmt::Result {
    let LineSuspect { rank, place, excerpt, function, .. } = suspect;
    let open = if is_open { " open" } else { "" };
    write!(
        out,
        "<details class=\"line\"{open}>\n<summary>{rank}. <code>{}</code> in <code>{}</code>\
         </summary>\n",
        Text(&place.to_string()),
        Text(&short_name(function)),
    )?;
    let reasons = reasons(suspect);
    let stop = if reasons.is_empty() { "" } else { ". " };
    writeln!(
        out,
        "<p class=\"note\">{}{stop}<a href=\"{}\">This line on GitHub</a></p>",
        Text(&reasons),
        Text(&link(found, place)),
    )?;
    out.push_str("<pre class=\"source\"><code>");
    for (number, line) in (excerpt.first..).zip(&excerpt.lines) {
        match number == place.line {
            true => writeln!(
                out,
                "<mark>{number:>6}  {}</mark>",
                Marked { line, column: place.column }
            )?,
            false => writeln!(out, "{number:>6}  {}", Text(line))?,
        }
    }
    out.push_str("</code></pre>\n</details>\n");
    Ok(())
}

/// A line, underlined from a column to the end of the word there.
struct Marked<'a> {
    line: &'a str,
    column: u32,
}

impl fmt::Display for Marked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = (self.column as usize).saturating_sub(1);
        let rest = self.line.get(start..).filter(|_| self.column > 0);
        let Some(rest) = rest else { return Text(self.line).fmt(f) };
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        // An operator is as long as it is.
        let operator = rest.find(|c: char| is_word(c) || c.is_whitespace() || c == '(');
        let length = if word > 0 { word } else { operator.unwrap_or(rest.len()).max(1) };
        let Some((marked, after)) = rest.split_at_checked(length) else {
            return Text(self.line).fmt(f);
        };
        write!(f, "{}<u>{}</u>{}", Text(&self.line[..start]), Text(marked), Text(after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_or_operator_at_a_column_is_marked() {
        let check = |line: &str, column: u32, expected: &str| {
            assert_eq!(Marked { line, column }.to_string(), expected);
        };
        check("if (a < b)", 7, "if (a <u>&lt;</u> b)");
        check("if (a && foo(b))", 10, "if (a &amp;&amp; <u>foo</u>(b))");
        check("if (!I)", 5, "if (<u>!</u>I)");
        check("x", 0, "x");
        check("x", 9, "x");
    }
}
