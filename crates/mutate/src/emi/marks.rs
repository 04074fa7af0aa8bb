//! Markers: comments in a variant's text that say which part is whose, so that
//! any subset of what was done, by any generation, can be undone by text alone.
//!
//! What was put in stands between `/*emi 17 false-block{*/` and `/*}emi 17*/`;
//! what was taken away is kept in the closing marker, `/*}emi 17 was ...*/`.
//! Declarations that come along at file scope are `luggage` and name what they
//! declare. Braces that a statement needs as soon as something stands before it
//! belong to nobody, `{/*emi{*/ ... /*}emi*/}`: they go when nothing marked is
//! left between them.
//!
//! **Invariant:** regions nest; a marker has no line break, so that a place has
//! the same line with and without markers.

use std::collections::{BTreeMap, BTreeSet};

use crate::emi::variant::{Snippet, SnippetKind};
use crate::span::Span;

pub(crate) const OPEN_BRACE: &str = "{/*emi{*/";
pub(crate) const CLOSE_BRACE: &str = "/*}emi*/}";
const OPEN: &str = "/*emi ";
const CLOSE: &str = "/*}emi ";
const LUGGAGE: &str = "luggage";

/// A piece of a marked text.
#[derive(Clone, Debug)]
enum Part {
    Text(String),
    Region {
        id: u32,
        role: Role,
        inner: Vec<Part>,
        /// What stood here before.
        was: Vec<Part>,
    },
    Braces(Vec<Part>),
}

/// What a region is to its snippet.
#[derive(Clone, Debug)]
enum Role {
    Snippet(SnippetKind),
    /// Declares these names.
    Luggage(Vec<String>),
}

/// The opening marker of a snippet's region.
pub(crate) fn open(id: u32, kind: SnippetKind) -> String {
    format!("{OPEN}{id} {}{{*/", kind.name())
}

/// The closing marker of any region.
pub(crate) fn close(id: u32) -> String {
    format!("{CLOSE}{id}*/")
}

/// Something that was put in.
pub(crate) fn inserted(id: u32, kind: SnippetKind, text: &str) -> String {
    format!("{}{text}{}", open(id, kind), close(id))
}

/// Declarations that came along with a snippet.
pub(crate) fn luggage(id: u32, names: &[String], text: &str) -> String {
    let names: String = names.iter().map(|name| format!(" {name}")).collect();
    format!("{OPEN}{id} {LUGGAGE}{names}{{*/{text}{}", close(id))
}

/// The statement that stands where another one was taken away.
pub(crate) fn deleted(id: u32, was: &str) -> String {
    format!("{};{CLOSE}{id} was {}*/", open(id, SnippetKind::Deletion), escaped(was))
}

/// The first id that no snippet of a text has.
pub(crate) fn next_id(text: &str) -> u32 {
    snippets(text).iter().map(|snippet| snippet.id + 1).max().unwrap_or(1)
}

/// Whether every region that begins in a text ends in it, and the other way
/// round.
pub(crate) fn is_whole(text: &str) -> bool {
    let mut open: Vec<&str> = Vec::new();
    for (at, _) in text.match_indices("/*") {
        let comment = &text[at..];
        if let Some((_, _, length)) = header(comment) {
            let id = comment[OPEN.len()..length].split(' ').next();
            open.extend(id);
        } else if let Some(rest) = comment.strip_prefix(CLOSE) {
            let id = rest.split(|c: char| !c.is_ascii_digit()).next();
            if open.pop() != id {
                return false;
            }
        } else if comment.starts_with(&OPEN_BRACE[1..]) {
            open.push("");
        } else if comment.starts_with(&CLOSE_BRACE[..CLOSE_BRACE.len() - 1])
            && open.pop() != Some("")
        {
            return false;
        }
    }
    open.is_empty()
}

/// Where luggage stands.
pub(crate) fn luggage_spans(text: &str) -> Vec<Span> {
    let mut start = 0;
    let mut spans = Vec::new();
    for part in parse(text) {
        let end = start + render(std::slice::from_ref(&part)).len();
        if let Part::Region { role: Role::Luggage(_), .. } = part {
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

/// Takes snippets out: the text as if they had not been made. Luggage stays as
/// long as something else needs it.
pub fn without(text: &str, ids: &BTreeSet<u32>) -> String {
    let mut parts = undone(parse(text), ids);
    for index in (0..parts.len()).rev() {
        let names = match &parts[index] {
            Part::Region { id, role: Role::Luggage(names), .. } if ids.contains(id) => names,
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

/// The parts without some snippets; luggage is left where it is.
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

fn render(parts: &[Part]) -> String {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Text(piece) => text.push_str(piece),
            Part::Braces(inner) => {
                text.push_str(OPEN_BRACE);
                text.push_str(&render(inner));
                text.push_str(CLOSE_BRACE);
            }
            Part::Region { id, role, inner, was } => {
                let inner = render(inner);
                text.push_str(&match role {
                    Role::Luggage(names) => luggage(*id, names, &inner),
                    Role::Snippet(_) if !was.is_empty() => deleted(*id, &render(was)),
                    Role::Snippet(kind) => inserted(*id, *kind, &inner),
                });
            }
        }
    }
    text
}

fn parse(text: &str) -> Vec<Part> {
    Reader { rest: text }.parts(None)
}

/// Reads a marked text. A comment that only looks like a marker is text.
struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    /// Up to a closing marker, which is left.
    fn parts(&mut self, closing: Option<&str>) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut at = 0;
        while let Some(found) = self.rest.get(at..).and_then(|rest| rest.find("/*")) {
            let comment = at + found;
            at = comment + 2;
            let behind = &self.rest[comment..];
            if closing.is_some_and(|closing| behind.starts_with(closing)) {
                parts.extend(self.text_up_to(comment));
                return parts;
            }
            let is_brace = comment > 0 && self.rest[comment - 1..].starts_with(OPEN_BRACE);
            if !is_brace && header(behind).is_none() {
                continue;
            }
            parts.extend(self.text_up_to(comment - usize::from(is_brace)));
            parts.push(if is_brace { self.braces() } else { self.region() });
            at = 0;
        }
        parts.extend(self.text_up_to(self.rest.len()));
        parts
    }

    fn text_up_to(&mut self, end: usize) -> Option<Part> {
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!text.is_empty()).then(|| Part::Text(text.to_owned()))
    }

    fn braces(&mut self) -> Part {
        self.skip(OPEN_BRACE.len());
        let inner = self.parts(Some(CLOSE_BRACE));
        self.skip(CLOSE_BRACE.len());
        Part::Braces(inner)
    }

    fn region(&mut self) -> Part {
        let Some((id, role, length)) = header(self.rest) else {
            return Part::Text(std::mem::take(&mut self.rest).to_owned());
        };
        self.skip(length);
        let closing = format!("{CLOSE}{id}");
        let inner = self.parts(Some(&closing));
        let end = self.rest.find("*/").map_or(self.rest.len(), |end| end + 2);
        let was = self.rest[..end].trim_end_matches("*/").split_once(" was ");
        let was = was.map_or_else(Vec::new, |(_, was)| parse(&original(was)));
        self.skip(end);
        Part::Region { id, role, inner, was }
    }

    fn skip(&mut self, length: usize) {
        self.rest = self.rest.get(length..).unwrap_or_default();
    }
}

/// What an opening marker says, and how long it is.
fn header(text: &str) -> Option<(u32, Role, usize)> {
    let words = text.strip_prefix(OPEN)?;
    let end = words.find("{*/")?;
    let mut words = words[..end].split(' ');
    let id = words.next()?.parse().ok()?;
    let role = match words.next()? {
        LUGGAGE => Role::Luggage(words.map(str::to_owned).collect()),
        name => Role::Snippet(SnippetKind::named(name)?),
    };
    Some((id, role, OPEN.len() + end + "{*/".len()))
}

/// A text as it can stand in a comment, on one line.
fn escaped(text: &str) -> String {
    text.replace('~', "~~").replace('\n', "~n").replace("*/", "*~/")
}

fn original(escaped: &str) -> String {
    let mut text = String::with_capacity(escaped.len());
    let mut characters = escaped.chars();
    while let Some(character) = characters.next() {
        match (character, character == '~') {
            (_, true) => match characters.next() {
                Some('n') => text.push('\n'),
                other => text.extend(other),
            },
            (character, false) => text.push(character),
        }
    }
    text
}

#[cfg(test)]
mod tests {
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
    fn braces_stay_as_long_as_something_is_marked_between_them() {
        let block = |id: u32| inserted(id, SnippetKind::TrueBlock, "{ }");
        let marked = format!("if (a) {OPEN_BRACE}{}{}b;{CLOSE_BRACE}", block(1), block(2));
        let one = format!("if (a) {OPEN_BRACE}{}b;{CLOSE_BRACE}", block(2));
        check(&marked, &[1], &one, "if (a) {{ }b;}");
        check(&marked, &[1, 2], "if (a) b;", "if (a) b;");
    }

    #[test]
    fn luggage_stays_as_long_as_it_is_needed() {
        let names = ["f_in1".to_owned()];
        let front = luggage(1, &names, "static int f_in1(void);");
        let call = |id: u32| inserted(id, SnippetKind::Insertion, "f_in1();");
        let marked = format!("{front} {{ {} {} }}", call(1), call(2));
        let one = format!("{front} {{  {} }}", call(2));
        check(&marked, &[1], &one, "static int f_in1(void); {  f_in1(); }");
        check(&marked, &[1, 2], " {   }", " {   }");
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
        for text in ["/*emi*/ a;", "/*emi 1 x{*/ a;", "/*}emi 3*/ b;", "{/* emi{*/}", "/*"] {
            check(text, &[1, 3], text, text);
        }
    }
}
