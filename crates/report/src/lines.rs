//! Suspect lines of the compiler's source, in words: for a terminal and as
//! Markdown. The page has its own form, in `html/lines.rs`.

use std::fmt::Write as _;

use optsleuth_model::{
    AssertionCheck, CodePlace, FailedAssertion, LineSuspect, Localization, MemoryCheck,
    MemoryError, MemoryStack, ZoomReport,
};

use crate::Style;
use crate::markdown::{code, fenced, inline};
use crate::names::{cut, short_name};
use crate::words::counted;

/// How many lines are shown with the source around them.
const SHOWN: usize = 3;
/// How much of a line of source a table shows.
const WIDTH: usize = 90;

/// Where a line stands in the released source, on the web.
pub(crate) fn link(found: &Localization, place: &CodePlace) -> String {
    released(found.of_gcc, &found.llvm, place)
}

fn released(of_gcc: bool, version: &str, place: &CodePlace) -> String {
    let release = match of_gcc {
        true => "https://github.com/gcc-mirror/gcc/blob/releases/gcc-",
        false => "https://github.com/llvm/llvm-project/blob/llvmorg-",
    };
    format!("{release}{version}/{}#L{}", place.path, place.line)
}

/// The assertion that fails in the zoomed files, if one does.
pub(crate) fn failed_assertion(found: &Localization) -> Option<&FailedAssertion> {
    match &found.zoom.as_ref()?.assertions {
        AssertionCheck::Fails(failed) => Some(failed),
        AssertionCheck::NotTried | AssertionCheck::Hold | AssertionCheck::Unknown { .. } => None,
    }
}

/// An assertion in a sentence.
pub(crate) fn asserted(failed: &FailedAssertion) -> String {
    let place = failed.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
    // An assertion of a header says little without who came there.
    let functions: Vec<String> = failed.functions.iter().map(|name| short_name(name)).collect();
    let by = match functions.as_slice() {
        [] => String::new(),
        some => format!("; by {}", some.join(" < ")),
    };
    format!("With assertions on, it fails earlier: {}{place}{by}", failed.text)
}

/// The memory error of the zoomed files, if there is one.
pub(crate) fn memory_error(found: &Localization) -> Option<&MemoryError> {
    match found.zoom.as_ref()?.memory.as_ref()? {
        MemoryCheck::Fails(error) => Some(error),
        MemoryCheck::Clean | MemoryCheck::Unknown { .. } => None,
    }
}

/// A memory error in a sentence: what, and the innermost functions of its stacks.
pub(crate) fn accessed(error: &MemoryError) -> String {
    let place = |stack: &MemoryStack| {
        let function = stack.functions.first().map(|name| short_name(name));
        Some(format!("{} {}", stack.title, function?))
    };
    let places: Vec<String> = error.stacks.iter().filter_map(place).collect();
    format!("With the address sanitizer, it is a {}: {}", error.what, places.join("; "))
}

/// What was compiled anew, in a sentence or two.
pub(crate) fn zoomed(zoom: &ZoomReport) -> String {
    let names: Vec<&str> = zoom.files.iter().map(|path| file_name(path)).collect();
    let mut said = format!(
        "Zoomed into {} of {}, compiled without inlining: {}.",
        counted(zoom.files.len(), "file", "files"),
        zoom.source,
        names.join(", ")
    );
    let mut reasons: Vec<&str> = zoom.left_out.iter().map(|left| left.why.as_str()).collect();
    reasons.dedup();
    for why in reasons {
        let these = zoom.left_out.iter().filter(|left| left.why == why);
        let names: Vec<&str> = these.map(|left| file_name(&left.path)).collect();
        let _ = write!(said, " Not into {}: {why}.", names.join(", "));
    }
    match &zoom.assertions {
        AssertionCheck::Hold => said += " With assertions on in these files, none fails.",
        AssertionCheck::Unknown { why } => {
            let _ = write!(said, " Assertions could not be checked: {why}.");
        }
        AssertionCheck::NotTried | AssertionCheck::Fails(_) => {}
    }
    said
}

/// The text of the line itself, without what it is indented by.
pub(crate) fn own_text(suspect: &LineSuspect) -> &str {
    let index = suspect.place.line.saturating_sub(suspect.excerpt.first) as usize;
    suspect.excerpt.lines.get(index).map_or("", |line| line.trim())
}

/// Why a line is suspect, in a few words.
pub(crate) fn reasons(suspect: &LineSuspect) -> String {
    let mut reasons = Vec::new();
    if suspect.cures.blocks > 0 {
        let (cures, tried) = (suspect.cures.blocks, suspect.cures.tried);
        reasons.push(format!(
            "{cures} of {} of it, decided the other way, {} the failure vanish",
            counted(tried, "condition", "conditions"),
            if cures == 1 { "makes" } else { "make" }
        ));
    }
    if let Some(depth) = suspect.on_stack {
        reasons.push(format!("it is number {depth} on the stack of the crash"));
    }
    if suspect.writes > 0 {
        let changes = counted(suspect.writes, "change", "changes");
        reasons.push(format!("it makes {changes} to the IR in the guilty invocation"));
    }
    reasons.join("; ")
}

/// `GVN.cpp:123 in foo: if (x)`, in a row of a summary.
pub(crate) fn in_a_row(suspect: &LineSuspect) -> String {
    let function = cut(&short_name(&suspect.function), 50);
    let (file, line) = (file_name(&suspect.place.path), suspect.place.line);
    format!("{file}:{line} in {function}: {}", cut(own_text(suspect), 70))
}

/// The table of a terminal.
pub(crate) fn text(out: &mut String, found: &Localization, top: usize, style: Style) {
    if let Some(zoom) = &found.zoom {
        let _ = writeln!(out, "{}", zoomed(zoom));
    }
    if let Some(failed) = failed_assertion(found) {
        let _ = writeln!(out, "{}", style.heading(&asserted(failed)));
    }
    if let Some(error) = memory_error(found) {
        let _ = writeln!(out, "{}", style.heading(&accessed(error)));
        for stack in &error.stacks {
            let functions: Vec<String> =
                stack.functions.iter().map(|name| short_name(name)).collect();
            let _ = writeln!(out, "  {}: {}", stack.title, functions.join(" <- "));
        }
    }
    if found.lines.is_empty() {
        return;
    }
    let _ = writeln!(out, "{}", style.heading("\nrank  score  cures/tried  line"));
    for suspect in found.lines.iter().take(top) {
        let LineSuspect { rank, place, score, cures, .. } = suspect;
        let cures = format!("{:>5}/{:<5}", cures.blocks, cures.tried);
        let function = style.quiet(&cut(&short_name(&suspect.function), 60));
        let _ = writeln!(out, "{rank:>4}  {score:.3}  {cures}  {place}  {function}");
        let _ = writeln!(out, "                          {}", cut(own_text(suspect), WIDTH));
    }
}

/// The first lines with the source around them, for an issue tracker.
pub(crate) fn markdown(out: &mut String, found: &Localization) {
    if let Some(zoom) = &found.zoom {
        let _ = writeln!(out, "{}\n", inline(&zoomed(zoom)));
    }
    if let Some(error) = memory_error(found) {
        let _ = writeln!(out, "{}:\n", inline(&accessed(error)));
        for MemoryStack { title, functions } in &error.stacks {
            let functions: Vec<String> = functions.iter().map(|name| short_name(name)).collect();
            fenced(out, "", &format!("{title}:\n{}", functions.join("\n")));
        }
    }
    for suspect in found.lines.iter().take(SHOWN) {
        let place = &suspect.place;
        let _ = writeln!(
            out,
            "{}. [{}]({}) in {}{}\n",
            suspect.rank,
            inline(&place.to_string()),
            link(found, place),
            code(&short_name(&suspect.function)),
            match reasons(suspect).as_str() {
                "" => String::new(),
                reasons => format!(": {reasons}"),
            }
        );
        let numbered = (suspect.excerpt.first..).zip(&suspect.excerpt.lines);
        let lines = numbered.map(|(number, line)| {
            let mark = if number == place.line { '>' } else { ' ' };
            format!("{mark} {number:>5}  {line}")
        });
        fenced(out, "cpp", &lines.collect::<Vec<_>>().join("\n"));
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_stands_in_the_release_of_its_compiler() {
        let place = CodePlace { path: "gcc/tree.cc".to_owned(), line: 7, column: 0 };
        let of = |of_gcc| released(of_gcc, "12.2.0", &place);
        assert!(of(true).ends_with("/releases/gcc-12.2.0/gcc/tree.cc#L7"));
        assert!(of(false).contains("/llvmorg-12.2.0/"));
    }
}
