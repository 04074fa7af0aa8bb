//! A case -> the top of its page: what it is, what fails, how to see it.
//!
//! **Invariant:** no link leads out of the page; where a case comes from is text.
//! The failure of the case as it is in its folder is said once, at the top. What
//! is seen on another form of it (before a reduction, with one pass) is said where
//! that form is shown.

use std::fmt::{self, Write as _};

use optsleuth_model::{Bisection, CompilerSpec, Definedness, Pipeline, Truth};

use super::{CaseView, lines};
use crate::escape::{Sentence, Text};
use crate::names::short_name;
use crate::words;

/// How many lines of the program a page shows.
const MAX_INPUT_LINES: usize = 200;

pub(super) fn write(out: &mut String, view: &CaseView<'_>) -> fmt::Result {
    let case = view.case;
    write!(out, "<header>\n<p class=\"kicker\">Case <code>{}</code></p>\n", Text(&case.id))?;
    writeln!(out, "<h1>{}</h1>", Text(&title(view)))?;
    let compiler = compiler(&case.compiler);
    writeln!(
        out,
        "<p class=\"tags\"><span>{}</span> <span>{}</span></p>\n</header>",
        Text(&compiler),
        words::kind(case.kind)
    )
}

/// What people call the case, or else what fails and by which pass.
pub(super) fn title(view: &CaseView<'_>) -> String {
    if let Some(title) = &view.case.title {
        return title.clone();
    }
    let kind = words::capitalized(words::kind(view.case.kind));
    match view.bisection.and_then(Bisection::culprit) {
        Some(culprit) => format!("{kind}: {} on {}", culprit.pass, culprit.unit),
        None => kind,
    }
}

/// What fails in the program that the case is about, in a line.
pub(super) fn what<'a>(view: &CaseView<'a>) -> Option<&'a str> {
    let bisected = view.bisection.map(|found| found.what.as_str());
    let own = view.localizations.iter().find(|found| found.case == view.case.id);
    let localized = own.map(|found| found.failure.what.as_str());
    bisected.or(localized).or(view.case.observed.as_deref())
}

/// Writes what fails and how to see it.
pub(super) fn failure(out: &mut String, view: &CaseView<'_>) -> fmt::Result {
    out.push_str("<section id=\"failure\">\n<h2>The failure</h2>\n");
    let what = what(view);
    if let Some(what) = what {
        writeln!(out, "<p class=\"what\">{}</p>", Sentence(what))?;
    }
    if let Some(found) = view.localizations.first() {
        lines::assertion(out, found)?;
    }
    definedness(out, view.definedness)?;
    facts(out, view)?;
    let observed = view.case.observed.as_deref().filter(|observed| Some(*observed) != what);
    let outputs = [("Expected", view.case.expected.as_deref()), ("As reported", observed)];
    if outputs.iter().any(|(_, text)| text.is_some()) {
        out.push_str("<div class=\"pair\">\n");
        for (name, text) in outputs {
            if let Some(text) = text {
                let text = Text(text);
                writeln!(out, "<div><h3>{name}</h3><pre><code>{text}</code></pre></div>")?;
            }
        }
        out.push_str("</div>\n");
    }
    commands(out, view.commands)?;
    input(out, &view.case.input, view.input)?;
    out.push_str("</section>\n");
    Ok(())
}

/// Who was asked whether the program is defined. That nobody could say is no
/// matter of small print.
fn definedness(out: &mut String, said: Option<&Definedness>) -> fmt::Result {
    let Some(said) = said else { return Ok(()) };
    for (number, line) in said.summary().iter().enumerate() {
        match number == 0 && !said.has_verdict() {
            true => writeln!(out, "<p class=\"what\"><strong>{}.</strong></p>", Text(line))?,
            false => writeln!(out, "<p class=\"note\">{}.</p>", Text(line))?,
        }
    }
    Ok(())
}

fn compiler(compiler: &CompilerSpec) -> String {
    match compiler {
        CompilerSpec::Llvm(number) => format!("LLVM {number}"),
        CompilerSpec::LlvmConfig(path) => format!("LLVM of {path}"),
        CompilerSpec::Clang(by) => format!("clang {by}"),
        CompilerSpec::Gcc(by) => format!("GCC {by}"),
    }
}

fn facts(out: &mut String, view: &CaseView<'_>) -> fmt::Result {
    let case = view.case;
    let culprit = view.bisection.and_then(Bisection::culprit);
    // The first localization is the one that a reader comes to first.
    let suspect = view.localizations.first().and_then(|found| found.functions.first());
    let suspect =
        suspect.map(|suspect| format!("{} in {}", short_name(&suspect.name), suspect.path));
    let line = view.localizations.first().and_then(|found| found.lines.first());
    let line = line.map(|line| format!("{} in {}", line.place, short_name(&line.function)));
    let fix = case.truth.as_ref().and_then(|truth: &Truth| truth.fix_commit.clone());
    let list = |items: &[String], between: &str| {
        if items.is_empty() { None } else { Some(items.join(between)) }
    };
    // A driver is told a level; its passes are its own affair.
    let (asked, what) = match (&case.compiler, &case.pipeline) {
        (CompilerSpec::Gcc(_) | CompilerSpec::Clang(_), Pipeline::Level(level)) => {
            ("Level", format!("-{}", level.name()))
        }
        (_, pipeline) => ("Passes", pipeline.in_words()),
    };
    let facts = [
        ("Source", case.source.clone(), false),
        ("Fault", case.fault.as_ref().map(ToString::to_string), true),
        (asked, Some(what), true),
        ("Guilty", culprit.map(ToString::to_string), true),
        ("Most suspect", suspect, true),
        ("Suspect line", line, true),
        ("LLVM options", list(&case.llvm_options(), " "), true),
        ("clang options", list(&case.clang_flags(), " "), true),
        ("Fails in", list(&case.fails_in, ", "), false),
        ("Fixed in", case.fixed_in.clone(), false),
        ("Fixed by", fix, true),
    ];
    out.push_str("<dl class=\"facts\">\n");
    for (name, text, is_code) in facts {
        match text {
            Some(text) if is_code => {
                writeln!(out, "<dt>{name}</dt><dd><code>{}</code></dd>", Text(&text))?;
            }
            Some(text) => writeln!(out, "<dt>{name}</dt><dd>{}</dd>", Text(&text))?,
            None => {}
        }
    }
    out.push_str("</dl>\n");
    Ok(())
}

fn commands(out: &mut String, commands: &[String]) -> fmt::Result {
    if commands.is_empty() {
        return Ok(());
    }
    let commands = commands.join("\n");
    write!(
        out,
        "<div class=\"copy\"><h3>Reproduce, in the case’s folder</h3>\n\
         <button type=\"button\" data-copy=\"commands\" hidden>Copy</button>\n\
         <span class=\"said\" role=\"status\"></span></div>\n\
         <pre><code id=\"commands\">{}</code></pre>\n",
        Text(&commands)
    )
}

fn input(out: &mut String, name: &str, text: &str) -> fmt::Result {
    let n_lines = text.lines().count();
    let lines: Vec<&str> = text.lines().take(MAX_INPUT_LINES).collect();
    write!(
        out,
        "<details id=\"input\">\n<summary>Input program <code>{}</code>, {}</summary>\n\
         <pre><code>{}</code></pre>\n",
        Text(name),
        words::counted(n_lines, "line", "lines"),
        Text(&lines.join("\n"))
    )?;
    if n_lines > MAX_INPUT_LINES {
        let (shown, all) = (words::count(MAX_INPUT_LINES), words::count(n_lines));
        writeln!(out, "<p class=\"note\">The first {shown} of {all} lines are shown.</p>")?;
    }
    out.push_str("</details>\n");
    Ok(())
}
