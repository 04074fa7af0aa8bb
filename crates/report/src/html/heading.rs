//! A case -> the top of its page: what it is, what fails, how to see it.
//!
//! **Invariant:** no link leads out of the page; where a case comes from is text.

use std::fmt::{self, Write as _};

use optsleuth_model::{Case, CompilerSpec, Truth};

use super::CaseView;
use crate::escape::Text;
use crate::words;

/// How many lines of the program a page shows.
const MAX_INPUT_LINES: usize = 200;

pub(super) fn write(out: &mut String, case: &Case) -> fmt::Result {
    write!(out, "<header>\n<p class=\"kicker\">Case <code>{}</code></p>\n", Text(&case.id))?;
    let title = case.title.as_ref().unwrap_or(&case.id);
    writeln!(out, "<h1>{}</h1>", Text(title))?;
    let compiler = compiler(&case.compiler);
    writeln!(
        out,
        "<p class=\"tags\"><span>{}</span> <span>{}</span></p>\n</header>",
        Text(&compiler),
        words::kind(case.kind)
    )
}

/// Writes what fails and how to see it.
pub(super) fn failure(out: &mut String, view: &CaseView<'_>) -> fmt::Result {
    out.push_str("<section id=\"failure\">\n<h2>The failure</h2>\n");
    let mut said: Vec<&str> = Vec::new();
    let localized = view.localizations.iter().map(|found| found.failure.what.as_str());
    let bisected = view.bisection.iter().map(|found| found.what.as_str());
    for what in localized.chain(bisected) {
        if !said.contains(&what) {
            writeln!(out, "<p class=\"what\">{}</p>", Text(what))?;
            said.push(what);
        }
    }
    facts(out, view.case)?;
    let outputs = [("Expected", &view.case.expected), ("Observed", &view.case.observed)];
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

fn compiler(compiler: &CompilerSpec) -> String {
    match compiler {
        CompilerSpec::Llvm(number) => format!("LLVM {number}"),
        CompilerSpec::LlvmConfig(path) => format!("LLVM of {path}"),
        CompilerSpec::Clang(by) => format!("clang {by}"),
        CompilerSpec::Gcc(by) => format!("GCC {by}"),
    }
}

fn facts(out: &mut String, case: &Case) -> fmt::Result {
    let fix = case.truth.as_ref().and_then(|truth: &Truth| truth.fix_commit.clone());
    let list = |items: &[String], between: &str| {
        if items.is_empty() { None } else { Some(items.join(between)) }
    };
    let facts = [
        ("Source", case.source.clone(), false),
        ("Fault", case.fault.as_ref().map(ToString::to_string), true),
        ("Passes", Some(case.pipeline.passes()), true),
        ("LLVM options", list(&case.flags, " "), true),
        ("clang options", list(&case.cflags, " "), true),
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
