//! Marked text <-> its parts.
//!
//! **Invariant:** what was read is written again just so; a comment that only
//! looks like a marker is text.

use crate::marks::snippet::SnippetKind;

pub(crate) const OPEN_BRACE: &str = "{/*emi{*/";
pub(crate) const CLOSE_BRACE: &str = "/*}emi*/}";
const OPEN: &str = "/*emi ";
const CLOSE: &str = "/*}emi ";
const PREREQUISITES: &str = "prerequisites";

/// A piece of a marked text.
#[derive(Clone, Debug)]
pub(super) enum Part {
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
pub(super) enum Role {
    Snippet(SnippetKind),
    /// Declares these names.
    Prerequisites(Vec<String>),
}

/// The opening marker of a snippet's region.
pub(crate) fn open(id: u32, kind: SnippetKind) -> String {
    format!("{OPEN}{id} {}{{*/", kind.name())
}

/// The closing marker of any region.
pub(crate) fn close(id: u32) -> String {
    format!("{CLOSE}{id}*/")
}

/// The closing marker of a region that stands for something.
fn close_for(id: u32, was: &str) -> String {
    format!("{CLOSE}{id} was {}*/", escaped(was))
}

/// Something that was put in.
pub(crate) fn inserted(id: u32, kind: SnippetKind, text: &str) -> String {
    format!("{}{text}{}", open(id, kind), close(id))
}

/// Declarations that came along with a snippet.
pub(crate) fn prerequisites(id: u32, names: &[String], text: &str) -> String {
    let names: String = names.iter().map(|name| format!(" {name}")).collect();
    format!("{OPEN}{id} {PREREQUISITES}{names}{{*/{text}{}", close(id))
}

/// The statement that stands where another one was taken away.
pub(crate) fn deleted(id: u32, was: &str) -> String {
    format!("{};{}", open(id, SnippetKind::Deletion), close_for(id, was))
}

pub(super) fn render(parts: &[Part]) -> String {
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
                    Role::Prerequisites(names) => prerequisites(*id, names, &inner),
                    Role::Snippet(kind) if was.is_empty() => inserted(*id, *kind, &inner),
                    Role::Snippet(kind) => {
                        format!("{}{inner}{}", open(*id, *kind), close_for(*id, &render(was)))
                    }
                });
            }
        }
    }
    text
}

pub(super) fn parse(text: &str) -> Vec<Part> {
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
            let is_brace =
                self.rest[..comment].ends_with('{') && behind.starts_with(&OPEN_BRACE[1..]);
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
        PREREQUISITES => Role::Prerequisites(words.map(str::to_owned).collect()),
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
