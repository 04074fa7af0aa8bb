//! What a bisection found -> a section of a case's page: the verdict, all
//! invocations in a row, and what the culprit did.
//!
//! **Invariant:** the words are those of the terminal; see `report/src/bisect`.

use std::fmt::{self, Write as _};

use optsleuth_model::{
    Bisection, BisectionVerdict, GccBisection, SINGLE_PASS_FILE, SinglePassForm, UnitChange,
};
use similar::ChangeTag;

use crate::authors::{ChangedLine, changed_lines, column, lines_before};
use crate::bisect::{
    by_options, certain, cut_short, files, no_pass_guilty, several, transformations,
};
use crate::escape::{Sentence, Text};
use crate::first_wrong::{not_known, step_aside, two_steps, wrong_value};
use crate::svg::Strip;
use crate::words;

/// Lines around a change; a longer stretch between two changes is folded up.
const CONTEXT: usize = 4;
/// So many lines of a change are shown.
const MAX_LINES: usize = 1500;

pub(super) fn write(out: &mut String, found: &Bisection, failure: Option<&str>) -> fmt::Result {
    out.push_str("<section id=\"bisection\">\n<h2>Guilty invocations of passes</h2>\n");
    verdict(out, found)?;
    // One invocation is no row.
    if found.invocations.len() > 1 {
        super::figure(out, &strip(found).picture())?;
    }
    facts(out, found)?;
    match &found.gcc {
        Some(gcc) => of_gcc(out, gcc)?,
        None => single_pass(out, &found.single_pass, failure)?,
    }
    if let Some(change) = &found.change {
        changed(out, change)?;
    }
    out.push_str("</section>\n");
    Ok(())
}

fn verdict(out: &mut String, found: &Bisection) -> fmt::Result {
    match &found.verdict {
        BisectionVerdict::Guilty { invocation, needs_also } => {
            writeln!(out, "<p class=\"what\">Guilty: {}</p>", Name(found, *invocation))?;
            list(out, "It needs also", found, needs_also)
        }
        BisectionVerdict::SeveralCulprits { invocations, needs_also, more } => {
            writeln!(out, "<p class=\"what\">Not one single culprit</p>")?;
            writeln!(out, "<p class=\"note\">{}.</p>", several(*more))?;
            list(out, "Guilty", found, invocations)?;
            list(out, "The first of them needs also", found, needs_also)
        }
        other => {
            writeln!(out, "<p class=\"what\">Guilty: {}</p>", Text(&no_pass_guilty(found, other)))
        }
    }
}

/// An invocation for a page.
struct Name<'a>(&'a Bisection, u32);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.invocation(self.1) {
            Some(invocation) => write!(f, "<code>{}</code>", Text(&invocation.to_string())),
            None => write!(f, "#{}", self.1),
        }
    }
}

fn list(out: &mut String, head: &str, found: &Bisection, numbers: &[u32]) -> fmt::Result {
    if numbers.is_empty() {
        return Ok(());
    }
    writeln!(out, "<p>{head}:</p>\n<ul class=\"truth\">")?;
    for number in numbers {
        writeln!(out, "<li>{}</li>", Name(found, *number))?;
    }
    out.push_str("</ul>\n");
    Ok(())
}

/// All invocations in their order.
fn strip(found: &Bisection) -> Strip<'static> {
    let place = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let n = found.invocations.len();
    let changed = found.invocations.iter().enumerate();
    let active: Vec<usize> =
        changed.filter(|(_, one)| one.changed == Some(true)).map(|(place, _)| place).collect();
    let few: Vec<usize> = found.minimal.iter().map(|&number| place(number)).collect();
    let chosen = found.culprit().map(|culprit| culprit.index).filter(|&number| place(number) < n);
    let label = |number: u32| {
        let pass = found.invocation(number).map_or("", |invocation| invocation.pass.as_str());
        (place(number), format!("#{number} {pass}"))
    };
    Strip {
        id: "bisection-strip".to_owned(),
        title: "The invocations of the failing run, in their order",
        description: format!(
            "Of {}, {} changed the IR and {} in the minimal set.",
            words::counted(n, "invocation", "invocations"),
            words::count(active.len()),
            words::counted(few.len(), "is", "are"),
        ),
        n,
        active,
        active_label: "changed the IR, as a share",
        few: few.into_iter().filter(|&place| place < n).collect(),
        few_label: "in the minimal set that fails",
        chosen: chosen.map(label),
    }
}

fn facts(out: &mut String, found: &Bisection) -> fmt::Result {
    out.push_str("<dl class=\"facts\">\n");
    if let Some(both) = two_steps(found).or_else(|| step_aside(found)) {
        writeln!(out, "<dt>First wrong step</dt><dd>{}</dd>", Text(&both))?;
    }
    if let Some(first) = found.first_wrong() {
        let said = wrong_value(&first.value);
        write!(out, "<dt>First wrong value</dt><dd>{}", Sentence(&said))?;
        if let Some(place) = &first.value.place_after {
            let (instruction, function) = (Text(&place.instruction), Text(&place.function));
            write!(out, ", by <code>{instruction}</code> in <code>{function}</code>")?;
        }
        out.push_str("</dd>\n");
    }
    if let Some(why) = not_known(found) {
        writeln!(out, "<dt>First wrong step</dt><dd>not known: {}</dd>", Text(why))?;
    }
    if let Some(last) = found.certain_after {
        let said = certain(found, last);
        writeln!(out, "<dt>Certain after</dt><dd>{}</dd>", Text(&said))?;
    }
    if let Some(broken) = &found.broken_earlier {
        writeln!(
            out,
            "<dt>Broken earlier</dt><dd>by {}, says {}: {}</dd>",
            Name(found, broken.invocation),
            Text(&broken.verifier),
            Text(&broken.message)
        )?;
    }
    if !found.needed.is_empty() {
        let numbers: Vec<String> = found.needed.iter().map(|number| format!("#{number}")).collect();
        writeln!(out, "<dt>Passes without</dt><dd>any one of {}</dd>", Text(&numbers.join(", ")))?;
    }
    if let Some(why) = cut_short(found.ended) {
        writeln!(out, "<dt>Cut short</dt><dd>{why}</dd>")?;
    }
    writeln!(
        out,
        "<dt>Effort</dt><dd>{} in {:.1} s, {} {}</dd>\n</dl>",
        words::counted(found.runs, "run", "runs"),
        found.seconds,
        found.compiler(),
        Text(&found.llvm)
    )
}

/// What is found of a gcc alone, and what its bug tracker asks for.
fn of_gcc(out: &mut String, gcc: &GccBisection) -> fmt::Result {
    out.push_str("<dl class=\"facts\">\n");
    if let Some(files) = files(gcc) {
        writeln!(out, "<dt>The pass is in</dt><dd><code>{}</code></dd>", Text(&files))?;
    }
    for line in transformations(gcc) {
        writeln!(out, "<dt>Single transformation</dt><dd>{}</dd>", Text(&line))?;
    }
    out.push_str("</dl>\n");
    if let Some(why) = by_options(gcc) {
        writeln!(out, "<p class=\"note\">{}.</p>", Sentence(&why))?;
    }
    writeln!(
        out,
        "<details>\n<summary><code>gcc -v</code></summary>\n<pre class=\"wrap\"><code>{}</code>\
         </pre>\n</details>",
        Text(&gcc.version)
    )
}

fn single_pass(out: &mut String, form: &SinglePassForm, failure: Option<&str>) -> fmt::Result {
    match form {
        SinglePassForm::Found(form) => {
            writeln!(
                out,
                "<h3>The failure with {}, on <code>{SINGLE_PASS_FILE}</code></h3>",
                words::counted(form.n_passes, "pass", "passes"),
            )?;
            if failure != Some(form.what.as_str()) {
                writeln!(out, "<p>There, {}.</p>", Sentence(&form.what))?;
            }
            let lines = match form.commands.is_empty() {
                true => form.passes.clone(),
                false => form.commands.join("\n"),
            };
            writeln!(out, "<pre class=\"wrap\"><code>{}</code></pre>", Text(&lines))
        }
        SinglePassForm::Missing { why } => {
            writeln!(out, "<p class=\"note\">There is no single-pass form: {}.</p>", Text(why))
        }
    }
}

/// The IR before the guilty invocation, or what became of it.
fn changed(out: &mut String, change: &UnitChange) -> fmt::Result {
    let lines = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    let before = lines(&change.before);
    let Some(after) = &change.after else {
        out.push_str("<h3>The IR before it</h3>\n<pre><code>");
        let lines = lines_before(&before, change.authors.as_ref());
        let column = column(&lines);
        for line in lines.iter().take(MAX_LINES) {
            writeln!(out, "{}{}", Text(line.text), By { line, column })?;
        }
        out.push_str("</code></pre>\n");
        return cut(out, change);
    };
    let after = lines(after);
    let changes = changed_lines(&before, &after, change.authors.as_ref());
    let count = |wanted| changes.iter().filter(|line| line.tag == wanted).count();
    let (n_removed, n_added) = (count(ChangeTag::Delete), count(ChangeTag::Insert));
    writeln!(
        out,
        "<h3>What it did to the IR <span class=\"quiet\">-{n_removed} +{n_added}</span></h3>\n\
         <pre class=\"change\"><code>"
    )?;
    let column = column(&changes);
    let mut n_folded = 0;
    for (place, line) in changes.iter().enumerate().take(MAX_LINES) {
        let near = &changes[place.saturating_sub(CONTEXT)..changes.len().min(place + CONTEXT + 1)];
        if !near.iter().any(ChangedLine::differs) {
            n_folded += 1;
            continue;
        }
        folded(out, &mut n_folded)?;
        let (text, by) = (Text(line.text), By { line, column });
        match line.tag {
            ChangeTag::Equal => writeln!(out, "  {text}")?,
            ChangeTag::Delete => writeln!(out, "<del>- {text}{by}</del>")?,
            ChangeTag::Insert => writeln!(out, "<ins>+ {text}{by}</ins>")?,
        }
    }
    n_folded += changes.len().saturating_sub(MAX_LINES);
    folded(out, &mut n_folded)?;
    out.push_str("</code></pre>\n");
    cut(out, change)
}

/// Says that some authors are missing.
fn cut(out: &mut String, change: &UnitChange) -> fmt::Result {
    match &change.authors {
        Some(authors) if authors.cut => out.write_str(
            "<p class=\"note\">More was done than could be recorded: authors may be missing.</p>\n",
        ),
        _ => Ok(()),
    }
}

/// Who wrote a line, in a column behind it; who called them shows on demand.
struct By<'a> {
    line: &'a ChangedLine<'a>,
    column: usize,
}

impl fmt::Display for By<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(by) = self.line.by() else { return Ok(()) };
        let gap = self.column.saturating_sub(self.line.text.chars().count()) + 2;
        let callers = self.line.authors.iter().flat_map(|author| &author.called_by);
        let callers: Vec<String> = callers.map(|caller| format!("called by {caller}")).collect();
        let (title, by) = (callers.join("\n"), Text(&by));
        write!(f, "{:gap$}<span class=\"by\" title=\"{}\">; {by}</span>", "", Text(&title))
    }
}

/// Says how many lines are not shown.
fn folded(out: &mut String, n_lines: &mut usize) -> fmt::Result {
    if *n_lines > 0 {
        let text = words::counted(*n_lines, "line", "lines");
        writeln!(out, "<span class=\"quiet\">  ... {text} not shown</span>")?;
        *n_lines = 0;
    }
    Ok(())
}
