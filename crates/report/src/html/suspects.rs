//! Suspect files and functions -> tables.
//!
//! **Invariant:** rows stand in the order of the ranks. Sorting and filtering
//! is for `report.js`; without it all rows are there and can be read.

use std::fmt::{self, Write as _};

use optsleuth_model::{Cures, Evidence, FunctionSuspect, Localization, TrueCulprit};

use super::Shown;
use crate::escape::{Breakable, Text};
use crate::localize::has_cures;
use crate::names::short_name;
use crate::words;

/// How many functions a page shows; all files are shown.
const MAX_FUNCTIONS: usize = 200;

/// The functions that a page shows.
pub(super) fn shown_functions(localization: &Localization) -> &[FunctionSuspect] {
    let functions = &localization.functions;
    &functions[..functions.len().min(MAX_FUNCTIONS)]
}

struct Column {
    name: &'static str,
    /// What the numbers mean.
    hint: &'static str,
    /// The first click puts the largest on top.
    largest_first: bool,
}

const RANK: Column =
    Column { name: "Rank", hint: "Those that tie share the last place", largest_first: false };
const FILE: Column = Column { name: "File", hint: "", largest_first: false };
const FUNCTION: Column = Column { name: "Function", hint: "", largest_first: false };
const EVIDENCE: [Column; 5] = [
    Column { name: "Score", hint: "The higher, the more suspect", largest_first: true },
    Column {
        name: "Blocks",
        hint: "Blocks of it that the failing run executed",
        largest_first: true,
    },
    Column {
        name: "Unwitnessed",
        hint: "Blocks of those that no witness executed",
        largest_first: true,
    },
    Column {
        name: "Witnesses",
        hint: "Witnesses that executed any of those blocks",
        largest_first: true,
    },
    Column {
        name: "Nearest",
        hint: "The nearest witness that did not execute all of those blocks",
        largest_first: false,
    },
];

const CURES: Column = Column {
    name: "Cures",
    hint: "Blocks of it whose conditions, decided the other way, make the failure vanish; \
           of those that were tried",
    largest_first: true,
};

/// Writes the table of files.
pub(super) fn files(out: &mut String, page: &Shown<'_>) -> fmt::Result {
    let files = &page.localization.files;
    let truth = page.localization.truth.as_ref();
    open(out, page, "files", files.len(), &[&RANK, &FILE])?;
    for file in files {
        let is_culprit = truth.is_some_and(|truth| truth.names_file(&file.path));
        row(out, file.rank, is_culprit)?;
        write!(out, "<td class=\"name\">{}{}</td>", Path(&file.path), label(is_culprit))?;
        evidence(out, page, file.score, &file.evidence)?;
    }
    out.push_str("</tbody>\n</table>\n</div>\n</div>\n");
    Ok(())
}

/// Writes the table of functions.
pub(super) fn functions(out: &mut String, page: &Shown<'_>) -> fmt::Result {
    let functions = shown_functions(page.localization);
    let truth = page.localization.truth.as_ref();
    open(out, page, "functions", functions.len(), &[&RANK, &FUNCTION, &FILE])?;
    for function in functions {
        let is_culprit =
            truth.is_some_and(|truth| truth.names_function(&function.name, &function.path));
        row(out, function.rank, is_culprit)?;
        write!(
            out,
            "<td class=\"name\"><span title=\"{}\">{}</span>{}</td><td class=\"path\">{}</td>",
            Text(&function.name),
            Breakable { text: &short_name(&function.name), after: "::" },
            label(is_culprit),
            Path(&function.path)
        )?;
        evidence(out, page, function.score, &function.evidence)?;
    }
    out.push_str("</tbody>\n</table>\n</div>\n</div>\n");
    let n_left = page.localization.functions.len() - functions.len();
    if n_left > 0 {
        let left = words::counted(n_left, "more function", "more functions");
        writeln!(out, "<p class=\"note\">{left} with lower scores are not shown here.</p>")?;
    }
    Ok(())
}

/// Writes what is known about the culprit.
pub(super) fn truth(out: &mut String, localization: &Localization) -> fmt::Result {
    let Some(truth) = &localization.truth else {
        return Ok(());
    };
    if truth.files.is_empty() && truth.functions.is_empty() {
        return Ok(());
    }
    out.push_str("<h3>Known culprit</h3>\n<ul class=\"truth\">\n");
    let lists: [(&str, &[TrueCulprit]); 2] =
        [("file", &truth.files), ("function", &truth.functions)];
    for (noun, culprits) in lists {
        for TrueCulprit { name, rank } in culprits {
            write!(out, "<li>{noun} <code>{}</code>: ", Text(name))?;
            match rank {
                Some(rank) => writeln!(out, "<strong>rank {}</strong></li>", words::count(*rank))?,
                None => out.push_str("no rank: the failing run executed nothing of it that has a symbol of its own</li>\n"),
            }
        }
    }
    out.push_str("</ul>\n");
    Ok(())
}

fn open(
    out: &mut String,
    page: &Shown<'_>,
    what: &str,
    n_rows: usize,
    columns: &[&Column],
) -> fmt::Result {
    let id = format!("{}-{what}", page.section);
    let n_rows = words::count(n_rows);
    write!(
        out,
        "<div class=\"listing suspects\">\n\
         <p class=\"tools\" hidden><label for=\"{id}-filter\">Filter {what}</label> \
         <input type=\"search\" id=\"{id}-filter\" autocomplete=\"off\" spellcheck=\"false\"> \
         <output for=\"{id}-filter\">showing {n_rows} of {n_rows}</output></p>\n\
         <div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Suspect {what}\">\n\
         <table>\n<thead><tr>"
    )?;
    let cures = has_cures(page.localization).then_some(&CURES);
    for column in columns.iter().copied().chain(&EVIDENCE).chain(cures) {
        out.push_str("<th scope=\"col\"");
        if !matches!(column.name, "File" | "Function") {
            out.push_str(" class=\"number\"");
        }
        if !column.hint.is_empty() {
            write!(out, " title=\"{}\"", column.hint)?;
        }
        if column.largest_first {
            out.push_str(" data-first=\"descending\"");
        }
        if column.name == "Rank" {
            out.push_str(" aria-sort=\"ascending\"");
        }
        write!(out, ">{}</th>", column.name)?;
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    Ok(())
}

fn row(out: &mut String, rank: usize, is_culprit: bool) -> fmt::Result {
    out.push_str(if is_culprit { "<tr class=\"culprit\">" } else { "<tr>" });
    number(out, rank)
}

fn label(is_culprit: bool) -> &'static str {
    if is_culprit { " <strong class=\"label\">culprit</strong>" } else { "" }
}

fn number(out: &mut String, n: usize) -> fmt::Result {
    write!(out, "<td class=\"number\" data-v=\"{n}\">{}</td>", words::count(n))
}

fn evidence(out: &mut String, page: &Shown<'_>, score: f64, evidence: &Evidence) -> fmt::Result {
    write!(out, "<td class=\"number\" data-v=\"{score}\">{}</td>", words::score(score))?;
    number(out, evidence.blocks)?;
    number(out, evidence.unwitnessed)?;
    number(out, evidence.witnesses)?;
    match evidence.nearest {
        None => out.push_str("<td class=\"number\" data-v=\"\">–</td>"),
        Some(place) => {
            let n = place + 1;
            let text = words::count(n);
            if page.witnesses.contains(&place) {
                let link = format!("<a href=\"#{}-w{n}\">{text}</a>", page.section);
                write!(out, "<td class=\"number\" data-v=\"{n}\">{link}</td>")?;
            } else {
                write!(out, "<td class=\"number\" data-v=\"{n}\">{text}</td>")?;
            }
        }
    }
    if let Some(Cures { blocks, tried }) = evidence.cures {
        let (cures, all) = (words::count(blocks), words::count(tried));
        write!(out, "<td class=\"number\" data-v=\"{blocks}\">{cures} / {all}</td>")?;
    }
    out.push_str("</tr>\n");
    Ok(())
}

/// A path whose folders step back behind the file's name.
struct Path<'a>(&'a str);

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (folders, file) = self.0.split_at(self.0.rfind('/').map_or(0, |at| at + 1));
        if !folders.is_empty() {
            let folders = Breakable { text: folders, after: "/" };
            write!(f, "<span class=\"quiet\">{folders}</span>")?;
        }
        Text(file).fmt(f)
    }
}
