//! Witnesses -> how each one's sequence differs from the failing one.
//!
//! **Invariant:** a pass that was put in or left out has a sign before it, and
//! not a colour alone. A sequence that cannot be read is shown as text.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use optsleuth_model::{Localization, PassSequence, WitnessEntry};
use similar::ChangeTag;

use super::{Shown, suspects};
use crate::diff::{Change, diff};
use crate::escape::Text;
use crate::words;

/// How many of the nearest are shown in any case, and how many at most.
const NEAREST: usize = 10;
const MAX_SHOWN: usize = 50;
/// Passes around a change; a longer stretch between two changes is folded up.
const CONTEXT: usize = 3;

/// The places of the witnesses that a page shows: the nearest, and those that
/// the suspects it shows refer to.
pub(super) fn shown(localization: &Localization) -> BTreeSet<usize> {
    let n_witnesses = localization.witness_list.len();
    let mut places: BTreeSet<usize> = (0..n_witnesses.min(NEAREST)).collect();
    let files = localization.files.iter().map(|file| (file.rank, &file.evidence));
    let functions = suspects::shown_functions(localization);
    let functions = functions.iter().map(|function| (function.rank, &function.evidence));
    let mut referred: Vec<(usize, usize)> = files
        .chain(functions)
        .filter_map(|(rank, evidence)| Some((rank, evidence.nearest?)))
        .filter(|(_, place)| *place < n_witnesses)
        .collect();
    referred.sort_unstable();
    for (_, place) in referred {
        if places.len() == MAX_SHOWN {
            break;
        }
        places.insert(place);
    }
    places
}

/// Writes the witnesses that a page shows.
pub(super) fn write(out: &mut String, page: &Shown<'_>) -> fmt::Result {
    let localization = page.localization;
    let failing = &localization.failure.passes;
    let passes = split(failing);
    let n_passes = passes.as_ref().map(|passes| words::counted(passes.len(), "pass", "passes"));
    write!(
        out,
        "<details>\n<summary>The failing sequence{}</summary>\n\
         <pre class=\"wrap\"><code>{}</code></pre>\n</details>\n",
        n_passes.map(|text| format!(", {text}")).unwrap_or_default(),
        Text(failing)
    )?;
    if page.witnesses.is_empty() {
        out.push_str("<p class=\"note\">There is no witness.</p>\n");
        return Ok(());
    }
    out.push_str(
        "<p class=\"note\">Against the failing sequence: \
         <del><b>-</b> a pass that the witness lacks</del>, \
         <ins><b>+</b> a pass that only the witness has</ins>.</p>\n",
    );
    for place in page.witnesses {
        if let Some(witness) = localization.witness_list.get(*place) {
            one(out, page.section, place + 1, witness, passes.as_deref())?;
        }
    }
    let n_left = localization.witness_list.len() - page.witnesses.len();
    if n_left > 0 {
        let left = words::counted(n_left, "more witness is", "more witnesses are");
        writeln!(out, "<p class=\"note\">{left} not shown here.</p>")?;
    }
    Ok(())
}

fn split(passes: &str) -> Option<Vec<String>> {
    let sequence: PassSequence = passes.parse().ok()?;
    Some(sequence.optimizations().iter().map(ToString::to_string).collect())
}

fn one(
    out: &mut String,
    section: &str,
    n: usize,
    witness: &WitnessEntry,
    failing: Option<&[String]>,
) -> fmt::Result {
    let similarity = words::similarity(witness.similarity);
    write!(
        out,
        "<section class=\"witness\" id=\"{section}-w{n}\">\n\
         <h4>Witness {} <span class=\"quiet\">similarity {}</span>",
        words::count(n),
        Text(&similarity)
    )?;
    if let Some(edit) = &witness.edit {
        write!(out, " <span class=\"quiet\">program changed: {}</span>", Text(edit))?;
    }
    let (Some(failing), Some(passes)) = (failing, split(&witness.passes)) else {
        let passes = Text(&witness.passes);
        return write!(out, "</h4>\n<pre class=\"wrap\"><code>{passes}</code></pre>\n</section>\n");
    };
    let changes = diff(failing, &passes);
    let count = |wanted| changes.iter().filter(|(tag, _)| *tag == wanted).count();
    let (n_removed, n_added) = (count(ChangeTag::Delete), count(ChangeTag::Insert));
    writeln!(out, " <span class=\"quiet\">-{n_removed} +{n_added}</span></h4>")?;
    sequence(out, &changes)?;
    out.push_str("</section>\n");
    Ok(())
}

fn sequence(out: &mut String, changes: &[Change<'_>]) -> fmt::Result {
    let is_kept = |(tag, _): &Change<'_>| *tag == ChangeTag::Equal;
    out.push_str("<div class=\"sequence\">\n");
    let mut at = 0;
    while at < changes.len() {
        let stretch = changes[at..].iter().take_while(|change| is_kept(change)).count();
        let end = at + stretch;
        // No context is needed where nothing changes: at the two ends.
        let before = if at == 0 { 0 } else { CONTEXT };
        let after = if end == changes.len() { 0 } else { CONTEXT };
        if stretch > before + after + 1 {
            let folded = &changes[at + before..end - after];
            passes(out, &changes[at..at + before])?;
            let text = words::counted(folded.len(), "pass", "passes");
            writeln!(out, "<details class=\"kept\"><summary>{text} kept</summary>")?;
            passes(out, folded)?;
            out.push_str("</details>\n");
            passes(out, &changes[end - after..end])?;
        } else {
            passes(out, &changes[at..end])?;
        }
        let changed = changes[end..].iter().take_while(|change| !is_kept(change)).count();
        passes(out, &changes[end..end + changed])?;
        at = end + changed;
    }
    out.push_str("</div>\n");
    Ok(())
}

fn passes(out: &mut String, changes: &[Change<'_>]) -> fmt::Result {
    for (tag, pass) in changes {
        match tag {
            ChangeTag::Equal => writeln!(out, "<span>{}</span>", Pass(pass))?,
            ChangeTag::Delete => writeln!(out, "<del><b>-</b> {}</del>", Pass(pass))?,
            ChangeTag::Insert => writeln!(out, "<ins><b>+</b> {}</ins>", Pass(pass))?,
        }
    }
    Ok(())
}

/// A pass whose adaptors step back behind its name.
struct Pass<'a>(&'a str);

impl fmt::Display for Pass<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = self.0.rfind('(').map_or(0, |at| at + 1);
        let end = self.0[start..].find(')').map_or(self.0.len(), |at| start + at);
        for (part, is_name) in
            [(&self.0[..start], false), (&self.0[start..end], true), (&self.0[end..], false)]
        {
            match (part, is_name) {
                ("", _) => {}
                (_, true) => Text(part).fmt(f)?,
                (_, false) => write!(f, "<i>{}</i>", Text(part))?,
            }
        }
        Ok(())
    }
}
