//! LLVM assembly as text: the functions that an invocation is about.
//!
//! **Invariant:** pure; nothing is parsed but where a function begins and ends.

use optsleuth_model::UnitChange;

use super::inquiry::function_of;

/// Of a module without a function to show, so many lines are kept.
const MAX_LINES: usize = 2000;

/// What an invocation on `unit` did: its function before and after it, or all
/// functions that differ.
pub(super) fn unit_change(unit: &str, before: &str, after: Option<&str>) -> UnitChange {
    let (old, new) = (functions(before), after.map(functions).unwrap_or_default());
    let body_in = |all: &[(&str, &str)], name: &str| {
        all.iter().find(|(known, _)| *known == name).map(|(_, body)| (*body).to_owned())
    };
    let is_shown = |name: &str| match function_of(unit) {
        Some(function) => name == function,
        None => after.is_none() || body_in(&old, name) != body_in(&new, name),
    };
    let shown = |all: &[(&str, &str)]| -> String {
        let bodies = all.iter().filter(|(name, _)| is_shown(name)).map(|(_, body)| *body);
        let lines = bodies.flat_map(|body| body.lines().chain([""])).take(MAX_LINES);
        lines.map(|line| format!("{line}\n")).collect()
    };
    let whole = |text: &str| -> String {
        text.lines().take(MAX_LINES).map(|line| format!("{line}\n")).collect()
    };
    let (was, is) = (shown(&old), shown(&new));
    match was.is_empty() && is.is_empty() {
        // Something else than a function.
        true => UnitChange { before: whole(before), after: after.map(whole), authors: None },
        false => UnitChange { before: was, after: after.map(|_| is), authors: None },
    }
}

/// The defined functions of a module: name and text.
fn functions(module: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = module;
    while let Some(start) = find_line(rest, "define ") {
        let text = &rest[start..];
        let end = find_line(text, "}").map_or(text.len(), |end| end + 1);
        if let Some(name) = defined_name(text) {
            found.push((name, &text[..end]));
        }
        rest = &text[end..];
    }
    found
}

/// Where a line begins that begins so.
fn find_line(text: &str, beginning: &str) -> Option<usize> {
    if text.starts_with(beginning) {
        return Some(0);
    }
    text.match_indices('\n').map(|(at, _)| at + 1).find(|&at| text[at..].starts_with(beginning))
}

/// The name in a line that begins a function, as it is written there.
pub(super) fn defined_name(definition: &str) -> Option<&str> {
    let (_, name) = definition.lines().next()?.split_once('@')?;
    match name.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"').map(|(name, _)| name),
        None => name.split_once('(').map(|(name, _)| name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "; a module\n@g = global i32 0\n\ndefine i32 @f(ptr @g) {\n  ret i32 1\n}\n\n\
                          define void @\"odd name\"() #0 {\n  ret void\n}\n\nattributes #0 = {}\n";

    #[test]
    fn functions_are_found_by_their_names() {
        let names: Vec<&str> = functions(BEFORE).iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["f", "odd name"]);
        assert_eq!(functions(BEFORE)[0].1, "define i32 @f(ptr @g) {\n  ret i32 1\n}");
    }

    #[test]
    fn a_change_shows_what_it_is_about() {
        let after = BEFORE.replace("i32 1", "i32 2");
        let change = unit_change("function f", BEFORE, Some(&after));
        assert_eq!(change.before, "define i32 @f(ptr @g) {\n  ret i32 1\n}\n\n");
        assert!(change.after.as_ref().unwrap().contains("ret i32 2"));
        assert_eq!(unit_change("module", BEFORE, Some(&after)), change);
        assert_eq!(unit_change("loop l in f", BEFORE, Some(&after)), change);
        let crashed = unit_change("function odd name", BEFORE, None);
        assert_eq!(crashed.before, "define void @\"odd name\"() #0 {\n  ret void\n}\n\n");
        assert_eq!(crashed.after, None);
    }

    #[test]
    fn a_change_outside_of_functions_shows_the_module() {
        let after = BEFORE.replace("global i32 0", "global i32 7");
        let change = unit_change("module", BEFORE, Some(&after));
        assert_eq!((change.before.as_str(), change.after), (BEFORE, Some(after)));
    }
}
