//! A case and what was found about it -> one HTML file that needs no other.
//!
//! `heading` says what fails, `bisection` which invocations of passes it comes
//! from, `suspects` who is to blame, `history` how the search went, and
//! `witnesses` which sequences do not fail.
//!
//! **Invariant:** a function from data to text: the same data gives the same
//! bytes. A page asks no network for anything, can be read without JavaScript,
//! and shows foreign text through `escape` alone.

mod bisection;
mod heading;
mod history;
mod lines;
pub(crate) mod sections;
mod suspects;
mod witnesses;

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use optsleuth_model::{Bisection, Case, Definedness, Localization};

use crate::escape::{Sentence, Text};
use crate::localize::{programs, why};
use crate::svg::{BAR_STYLE, PLOT_STYLE, Picture};
use crate::words;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("report.js");

/// What a page may do: show itself.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; \
                      script-src 'unsafe-inline'";

/// Everything that the page of a case shows.
#[derive(Clone, Copy, Debug)]
pub struct CaseView<'a> {
    pub case: &'a Case,
    /// What was found, in the order in which it is shown.
    pub localizations: &'a [Localization],
    /// Which invocations of passes it comes from, if that was looked for.
    pub bisection: Option<&'a Bisection>,
    /// Of wrong code: who was asked whether the program is defined.
    pub definedness: Option<&'a Definedness>,
    /// Shell commands that reproduce the failure.
    pub commands: &'a [String],
    /// The program's text; of a long one, the beginning is shown.
    pub input: &'a str,
}

/// The page of a case, as one HTML document.
pub fn case_html(view: &CaseView<'_>) -> String {
    let mut out = String::new();
    match page(&mut out, view) {
        Ok(()) => out,
        Err(error) => unreachable!("a string takes every text: {error}"),
    }
}

/// One localization on a page.
struct Shown<'a> {
    /// Begins the names of all places in it.
    section: &'a str,
    localization: &'a Localization,
    /// The places of the witnesses that are shown.
    witnesses: &'a BTreeSet<usize>,
}

fn page(out: &mut String, view: &CaseView<'_>) -> fmt::Result {
    open(out, &format!("{}: {}", view.case.id, heading::title(view)))?;
    heading::write(out, view)?;
    out.push_str("<main>\n");
    heading::failure(out, view)?;
    if let Some(found) = view.bisection {
        bisection::write(out, found, heading::what(view))?;
    }
    for (i, localization) in view.localizations.iter().enumerate() {
        let section = format!("l{}", i + 1);
        let witnesses = witnesses::shown(localization);
        let page = Shown { section: &section, localization, witnesses: &witnesses };
        localized(out, &page, heading::what(view))?;
    }
    if view.localizations.is_empty() {
        out.push_str("<p class=\"note\">Nothing was localized yet.</p>\n");
    }
    close(out)
}

/// Begins a document, up to the start of its body.
pub(crate) fn open(out: &mut String, title: &str) -> fmt::Result {
    write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{} – OptSleuth</title>\n<style>\n{PLOT_STYLE}{BAR_STYLE}{STYLE}</style>\n</head>\n<body>\n",
        Text(title)
    )
}

/// Ends a document, from the end of its main part.
pub(crate) fn close(out: &mut String) -> fmt::Result {
    write!(
        out,
        "</main>\n<footer><p>Made by OptSleuth {}.</p></footer>\n\
         <script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// Writes a picture with its title above it.
pub(crate) fn figure(out: &mut String, picture: &Picture<'_>) -> fmt::Result {
    let title = Text(picture.title);
    writeln!(out, "<figure>\n<figcaption aria-hidden=\"true\">{title}</figcaption>")?;
    picture.write(out)?;
    out.push_str("</figure>\n");
    Ok(())
}

fn localized(out: &mut String, page: &Shown<'_>, failure: Option<&str>) -> fmt::Result {
    let (section, localization) = (page.section, page.localization);
    let counts = [localization.files.len(), localization.functions.len()];
    let [n_files, n_functions] =
        counts.map(|n| format!("<span class=\"quiet\">{}</span>", words::count(n)));
    write!(
        out,
        "<section id=\"{section}\">\n<h2>Suspects <span class=\"quiet\">by {}</span></h2>\n",
        Text(&localization.method)
    )?;
    let ranked_on = &localization.failure;
    if failure != Some(ranked_on.what.as_str()) {
        writeln!(
            out,
            "<p class=\"note\">Ranked on a smaller form of the failure, <code>{}</code> with \
             <code>{}</code>: {}.</p>",
            Text(&localization.case),
            Text(&ranked_on.passes),
            Sentence(&ranked_on.what)
        )?;
    }
    summary(out, localization)?;
    suspects::truth(out, localization)?;
    let lines = match localization.lines.is_empty() {
        true => String::new(),
        false => format!("<a href=\"#{section}-lines\">Lines</a> "),
    };
    writeln!(
        out,
        "<nav aria-label=\"Suspects by {}\">{lines}<a href=\"#{section}-files\">Files</a> \
         <a href=\"#{section}-functions\">Functions</a> <a href=\"#{section}-search\">Search</a> \
         <a href=\"#{section}-witnesses\">Witnesses</a></nav>",
        Text(&localization.method)
    )?;
    lines::write(out, section, localization)?;
    writeln!(out, "<h3 id=\"{section}-files\">Suspect files {n_files}</h3>")?;
    suspects::files(out, page)?;
    writeln!(out, "<h3 id=\"{section}-functions\">Suspect functions {n_functions}</h3>")?;
    suspects::functions(out, page)?;
    writeln!(out, "<h3 id=\"{section}-search\">How the search went</h3>")?;
    history::write(out, section, localization)?;
    writeln!(out, "<h3 id=\"{section}-witnesses\">Nearest witnesses</h3>")?;
    witnesses::write(out, page)?;
    out.push_str("</section>\n");
    Ok(())
}

/// The search in words.
fn summary(out: &mut String, found: &Localization) -> fmt::Result {
    write!(
        out,
        "<p class=\"summary\">{}, {}, best similarity <strong>{}</strong>; \
         {} failed as the case does and {} did something else. \
         The search stopped because {}",
        words::counted(found.runs, "run", "runs"),
        words::counted(found.witnesses, "witness", "witnesses"),
        Text(&words::similarity(found.best_similarity)),
        words::count(found.failing),
        words::count(found.discarded),
        why(found.stopped),
    )?;
    if let Some(seconds) = found.seconds {
        write!(out, ", after {seconds:.1} s")?;
    }
    let weights = match found.weights.as_str() {
        "" => String::new(), // Not every method has them.
        weights => format!(", weights {weights}"),
    };
    writeln!(
        out,
        ".{} {}, method {}, seed {}, formula {}, aggregation {}{}. \
         The failing run executed {} of the compiler.</p>",
        Text(&programs(found)),
        Text(&found.compiler()),
        Text(&found.method),
        found.seed,
        Text(&found.formula),
        Text(&found.aggregation),
        Text(&weights),
        words::counted(found.failure.blocks, "block", "blocks"),
    )
}
