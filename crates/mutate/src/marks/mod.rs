//! Markers: comments in a variant's text that say which part is whose, so that
//! any subset of what was done, by any generation, can be undone by text alone.
//!
//! What was put in stands between `/*emi 17 false-block{*/` and `/*}emi 17*/`;
//! what was taken away is kept in the closing marker, `/*}emi 17 was ...*/`.
//! Declarations that come along at file scope are `prerequisites` and name what they
//! declare. Braces that a statement needs as soon as something stands before it
//! belong to no snippet, `{/*emi{*/ ... /*}emi*/}`: they go when nothing marked is
//! left between them.
//!
//! **Invariant:** regions nest; a marker has no line break, so that a place has
//! the same line with and without markers.

mod snippet;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use crate::marks::text::{Part, Role, parse, render};
use crate::span::Span;

pub use snippet::{Snippet, SnippetKind};
pub(crate) use text::{CLOSE_BRACE, OPEN_BRACE, deleted, inserted, prerequisites};

/// The first id that no snippet of a text has.
pub(crate) fn next_id(text: &str) -> u32 {
    snippets(text).iter().map(|snippet| snippet.id + 1).max().unwrap_or(1)
}

/// Whether every region that begins in a text ends in it, and the other way
/// round.
pub(crate) fn is_whole(text: &str) -> bool {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some((_, comment)) = rest.split_once("/*") {
        // What was taken away stands in a comment, and is whole by itself.
        let (comment, behind) = comment.split_once("*/").unwrap_or((comment, ""));
        rest = behind;
        let id = |words: &'static str| comment.strip_prefix(words)?.split([' ', '{']).next();
        if comment.ends_with('{') {
            open.extend(id("emi ").or_else(|| id("emi")));
        } else if let Some(id) = id("}emi ").or_else(|| id("}emi"))
            && open.pop() != Some(id)
        {
            return false;
        }
    }
    open.is_empty()
}

/// Where prerequisites stand.
pub(crate) fn prerequisite_spans(text: &str) -> Vec<Span> {
    let mut start = 0;
    let mut spans = Vec::new();
    for part in parse(text) {
        let end = start + render(std::slice::from_ref(&part)).len();
        if let Part::Region { role: Role::Prerequisites(_), .. } = part {
            spans.push(Span { start, end });
        }
        start = end;
    }
    spans
}

/// All that a text is marked with, by id; also what earlier generations did, and
/// what stands in deleted code.
pub fn snippets(text: &str) -> Vec<Snippet> {
    let mut found = BTreeMap::new();
    collect(&parse(text), &mut 1, &mut found);
    found.into_values().collect()
}

/// Takes snippets out, with whatever stands in them: the text as if they had not
/// been made. Prerequisites of theirs stays as long as something else needs it.
pub fn without(text: &str, ids: &BTreeSet<u32>) -> String {
    let mut parts = undone(parse(text), ids);
    let mut left = BTreeMap::new();
    collect(&parts, &mut 1, &mut left);
    // Prerequisites may need other prerequisites, which come before them.
    for index in (0..parts.len()).rev() {
        let names = match &parts[index] {
            Part::Region { id, role: Role::Prerequisites(names), .. } if !left.contains_key(id) => {
                names
            }
            Part::Region { .. } | Part::Text(_) | Part::Braces(_) => continue,
        };
        let around = render(&parts[..index]) + &render(&parts[index + 1..]);
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
        let words: BTreeSet<&str> = around.split(|c| !is_word(c)).collect();
        if !names.iter().any(|name| words.contains(name.as_str())) {
            parts.remove(index);
        }
    }
    render(&parts)
}

/// The text without markers and without what was deleted: what a case holds.
pub fn unmarked(text: &str) -> String {
    fn plain(parts: &[Part], text: &mut String) {
        for part in parts {
            match part {
                Part::Text(piece) => text.push_str(piece),
                Part::Region { inner, .. } => plain(inner, text),
                Part::Braces(inner) => {
                    text.push('{');
                    plain(inner, text);
                    text.push('}');
                }
            }
        }
    }
    let mut plain_text = String::with_capacity(text.len());
    plain(&parse(text), &mut plain_text);
    plain_text
}

fn collect(parts: &[Part], line: &mut usize, found: &mut BTreeMap<u32, Snippet>) {
    for part in parts {
        match part {
            Part::Text(text) => *line += text.matches('\n').count(),
            Part::Braces(inner) => collect(inner, line, found),
            Part::Region { id, role, inner, was } => {
                if let Role::Snippet(kind) = role {
                    let snippet = Snippet { id: *id, kind: *kind, line: *line };
                    found.entry(*id).or_insert(snippet);
                }
                collect(was, &mut line.clone(), found);
                collect(inner, line, found);
            }
        }
    }
}

/// The parts without some snippets; prerequisites are left where they are.
fn undone(parts: Vec<Part>, ids: &BTreeSet<u32>) -> Vec<Part> {
    let mut left = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            Part::Text(text) => left.push(Part::Text(text)),
            Part::Region { id, role: Role::Snippet(_), was, .. } if ids.contains(&id) => {
                left.extend(undone(was, ids));
            }
            Part::Region { id, role, inner, was } => {
                let (inner, was) = (undone(inner, ids), undone(was, ids));
                left.push(Part::Region { id, role, inner, was });
            }
            Part::Braces(inner) => {
                let inner = undone(inner, ids);
                match is_marked(&inner) {
                    true => left.push(Part::Braces(inner)),
                    false => left.extend(inner),
                }
            }
        }
    }
    left
}

fn is_marked(parts: &[Part]) -> bool {
    parts.iter().any(|part| match part {
        Part::Text(_) => false,
        Part::Region { .. } => true,
        Part::Braces(inner) => is_marked(inner),
    })
}

#[cfg(test)]
mod tests {
    use super::text::{close, open};
    use super::*;

    /// What is left without some snippets, and without markers.
    fn check(marked: &str, ids: &[u32], left: &str, plain: &str) {
        assert_eq!(render(&parse(marked)), marked);
        assert_eq!(without(marked, &ids.iter().copied().collect()), left);
        assert_eq!(unmarked(left), plain);
    }

    #[test]
    fn any_subset_can_be_taken_out() {
        let guard = |text: &str| inserted(2, SnippetKind::TrueGuard, text);
        let block = inserted(1, SnippetKind::FalseBlock, "if (a) f();");
        let marked = format!("{block} {}x;{}", guard("if (b) {"), guard("}"));
        check(&marked, &[1], &format!(" {}x;{}", guard("if (b) {"), guard("}")), " if (b) {x;}");
        check(&marked, &[2], &format!("{block} x;"), "if (a) f(); x;");
        check(&marked, &[1, 2], " x;", " x;");
    }

    #[test]
    fn what_was_deleted_comes_back_as_it_was() {
        let inner = deleted(3, "s = \"*/~n\\\n\";");
        let marked = format!("a; {} b;", deleted(4, &format!("{{\n{inner} }}")));
        assert_eq!(marked.lines().count(), 1);
        check(&marked, &[3, 4], "a; {\ns = \"*/~n\\\n\"; } b;", "a; {\ns = \"*/~n\\\n\"; } b;");
        check(&marked, &[4], &format!("a; {{\n{inner} }} b;"), "a; {\n; } b;");
        check(&marked, &[], &marked, "a; ; b;");
        let kept = without(&marked, &BTreeSet::from([3]));
        assert_eq!(without(&kept, &BTreeSet::from([4])), "a; {\ns = \"*/~n\\\n\"; } b;");
    }

    #[test]
    fn what_was_put_before_nothing_stays_with_it() {
        let block = inserted(2, SnippetKind::Insertion, "f();");
        let marked = deleted(1, "a;").replacen(';', &format!("{block};"), 1);
        check(&marked, &[], &marked, "f();;");
        check(&marked, &[2], &deleted(1, "a;"), ";");
        check(&marked, &[1], "a;", "a;");
    }

    #[test]
    fn braces_stay_as_long_as_something_is_marked_between_them() {
        let block = |id: u32| inserted(id, SnippetKind::TrueBlock, "{ }");
        let marked = format!("if (a) {OPEN_BRACE}{}{}b;{CLOSE_BRACE}", block(1), block(2));
        let one = format!("if (a) {OPEN_BRACE}{}b;{CLOSE_BRACE}", block(2));
        check(&marked, &[1], &one, "if (a) {{ }b;}");
        check(&marked, &[1, 2], "if (a) b;", "if (a) b;");
    }

    #[test]
    fn prerequisites_stay_as_long_as_they_are_needed() {
        let names = ["f_in1".to_owned()];
        let front = prerequisites(1, &names, "static int f_in1(void);");
        let call = |id: u32| inserted(id, SnippetKind::Insertion, "f_in1();");
        let marked = format!("{front} {{ {} {} }}", call(1), call(2));
        let one = format!("{front} {{  {} }}", call(2));
        check(&marked, &[1], &one, "static int f_in1(void); {  f_in1(); }");
        check(&marked, &[1, 2], " {   }", " {   }");
    }

    #[test]
    fn prerequisites_go_with_what_its_snippet_stands_in() {
        let front = prerequisites(2, &["f_in1".to_owned()], "static int f_in1(void);");
        let call = inserted(2, SnippetKind::Insertion, "f_in1();");
        let block = inserted(1, SnippetKind::Insertion, &format!("{{ {call} }}"));
        let marked = format!("{front} {{ {block} }}");
        check(&marked, &[1], " {  }", " {  }");
        check(&marked, &[2], &format!(" {{ {} }}", block.replace(&call, "")), " { {  } }");
    }

    #[test]
    fn snippets_are_told_with_their_lines() {
        let deletion = deleted(2, &inserted(1, SnippetKind::FalseBlock, "if (a) b;"));
        let marked = format!("x;\n{deletion}\n{}", inserted(7, SnippetKind::TrueBlock, "{}"));
        let told: Vec<_> = snippets(&marked).iter().map(|it| (it.id, it.kind, it.line)).collect();
        let expected = [
            (1, SnippetKind::FalseBlock, 2),
            (2, SnippetKind::Deletion, 2),
            (7, SnippetKind::TrueBlock, 3),
        ];
        assert_eq!(told, expected);
        assert_eq!(next_id(&marked), 8);
    }

    #[test]
    fn a_part_of_a_region_is_not_whole() {
        let block = inserted(12, SnippetKind::TrueBlock, "{ }");
        assert!(is_whole(&format!("{OPEN_BRACE}{block} a;{CLOSE_BRACE} {}", deleted(3, &block))));
        assert!(!is_whole(&format!("if (a) {{ {} a; }}", close(1))));
        assert!(!is_whole(&format!("{} a;", open(1, SnippetKind::TrueGuard))));
        assert!(!is_whole(&format!("a; {CLOSE_BRACE}")));
        assert!(!is_whole(&format!("{} {OPEN_BRACE} {}", block, close(2))));
    }

    #[test]
    fn a_comment_that_only_looks_like_a_marker_is_text() {
        for text in [
            "/*emi*/ a;",
            "\u{e9}/*emi{*/",
            "/*emi 1 x{*/ a;",
            "/*}emi 3*/ b;",
            "{/* emi{*/}",
            "/*",
        ] {
            check(text, &[1, 3], text, text);
        }
    }
}
