//! Parts of a page that is about many things: sections with links to them,
//! facts, tables and pictures. For the pages of a bench and of a campaign.
//!
//! **Invariant:** a part without content is not written, and nothing links to
//! it. Titles and identifiers are ours; all other text goes through `escape`.

use std::fmt::{self, Write as _};

use super::figure;
use crate::escape::Text;
use crate::svg::Picture;
use crate::table::Table;

/// A part of a page, under its heading.
pub(crate) struct Section {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// Markup; without any, there is no such section.
    pub(crate) body: String,
}

pub(crate) fn links(out: &mut String, sections: &[Section]) -> fmt::Result {
    let mut sections = sections.iter().filter(|section| !section.body.is_empty()).peekable();
    if sections.peek().is_none() {
        return Ok(());
    }
    out.push_str("<nav aria-label=\"Sections\">");
    for Section { id, title, .. } in sections {
        write!(out, "<a href=\"#{id}\">{title}</a> ")?;
    }
    out.push_str("</nav>\n");
    Ok(())
}

pub(crate) fn write(out: &mut String, sections: &[Section]) -> fmt::Result {
    for Section { id, title, body } in sections.iter().filter(|section| !section.body.is_empty()) {
        write!(out, "<section id=\"{id}\">\n<h2>{title}</h2>\n{body}</section>\n")?;
    }
    Ok(())
}

/// Writes pairs of a name and words.
pub(crate) fn facts(out: &mut String, facts: &[(&str, String)]) -> fmt::Result {
    out.push_str("<dl class=\"facts\">\n");
    for (name, said) in facts {
        writeln!(out, "<dt>{name}</dt><dd>{}</dd>", Text(said))?;
    }
    out.push_str("</dl>\n");
    Ok(())
}

/// Writes pictures side by side, with what is said about them.
pub(crate) fn pictures(out: &mut String, said: &str, pictures: &[Picture<'_>]) -> fmt::Result {
    if pictures.is_empty() {
        return Ok(());
    }
    note(out, said)?;
    out.push_str("<div class=\"plots\">\n");
    for picture in pictures {
        figure(out, picture)?;
    }
    out.push_str("</div>\n");
    Ok(())
}

/// A table and what is said about it; nothing if it has no rows.
pub(crate) fn tabled(
    said: &str,
    table: &Table,
    id: &str,
    label: &str,
) -> Result<String, fmt::Error> {
    let mut out = String::new();
    if !table.rows.is_empty() {
        note(&mut out, said)?;
        table.html(&mut out, id, label)?;
    }
    Ok(out)
}

fn note(out: &mut String, said: &str) -> fmt::Result {
    match said {
        "" => Ok(()),
        said => writeln!(out, "<p class=\"note\">{}</p>", Text(said)),
    }
}
