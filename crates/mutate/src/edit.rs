//! Changes to a text, by ranges.
//!
//! **Invariant:** edits of one rewrite do not overlap, and no token of the new
//! text consists of parts that an edit brought together.

use crate::span::Span;

/// Replaces a range of a text; an empty range inserts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub span: Span,
    pub text: String,
}

impl Edit {
    /// Puts something in front of a place.
    pub(crate) fn insert(offset: usize, text: impl Into<String>) -> Edit {
        Edit { span: Span { start: offset, end: offset }, text: text.into() }
    }

    /// Puts something in the place of a range.
    pub(crate) fn replace(span: Span, text: impl Into<String>) -> Edit {
        Edit { span, text: text.into() }
    }

    /// Takes a word away, and the blanks behind it.
    pub(crate) fn remove_word(source: &str, span: Span) -> Edit {
        let behind = source.get(span.end..).unwrap_or_default();
        let blanks = behind.len() - behind.trim_start_matches([' ', '\t']).len();
        Edit { span: Span { start: span.start, end: span.end + blanks }, text: String::new() }
    }
}

/// The text with all edits made. Insertions at one place keep their order.
pub(crate) fn rewrite(source: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| edit.span.start);
    let added: usize = edits.iter().map(|edit| edit.text.len()).sum();
    let mut text = String::with_capacity(source.len() + added);
    let mut done = 0;
    for edit in edits {
        append(&mut text, source.get(done..edit.span.start).unwrap_or_default());
        append(&mut text, &edit.text);
        done = edit.span.end.max(done);
    }
    append(&mut text, source.get(done..).unwrap_or_default());
    text
}

/// Code as the description of an edit quotes it: on one line and not too long.
pub(crate) fn short(text: &str) -> String {
    const LONGEST: usize = 60;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

/// Puts a text behind another, with a blank where the two would grow together.
fn append(text: &mut String, next: &str) {
    if let (Some(last), Some(first)) = (text.chars().next_back(), next.chars().next())
        && (joins(last, first) || goes_on(number_at_end(text), first))
    {
        text.push(' ');
    }
    text.push_str(next);
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

/// Whether two characters next to each other are read as one token, or as the
/// start of a comment.
fn joins(last: char, first: char) -> bool {
    match (last, first) {
        ('+', '+') | ('-', '-' | '>') | ('&', '&') | ('|', '|') | ('#', '#') | ('.', '.') => true,
        ('<', '<' | ':' | '%') | ('>', '>') | ('%', ':' | '>') | (':', '>') => true,
        ('/', '/' | '*') => true,
        ('+' | '-' | '*' | '/' | '%' | '&' | '|' | '^' | '<' | '>' | '=' | '!', '=') => true,
        ('.', first) => first.is_ascii_digit(),
        (last, first) => is_word(last) && is_word(first),
    }
}

/// The number that a text ends with, as the preprocessor sees it.
fn number_at_end(text: &str) -> Option<&str> {
    let before = text.trim_end_matches(|c: char| is_word(c) || c == '.');
    let word = text.get(before.len()..)?;
    word.trim_start_matches('.').starts_with(|c: char| c.is_ascii_digit()).then_some(word)
}

/// Whether a character would become part of a number: `0xE+1` is one to the
/// preprocessor, and no compiler takes it.
fn goes_on(number: Option<&str>, first: char) -> bool {
    number.is_some_and(|number| match first {
        '+' | '-' => number.ends_with(['e', 'E', 'p', 'P']),
        first => first == '.',
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_made_in_the_order_of_the_text() {
        let edits = vec![
            Edit::replace(Span { start: 4, end: 5 }, "-"),
            Edit::insert(0, "("),
            Edit::insert(0, "!"),
        ];
        assert_eq!(rewrite("a = b + c", edits), "(!a = - + c");
    }

    #[test]
    fn a_word_goes_with_its_blank() {
        let source = "const int a;";
        let edit = Edit::remove_word(source, Span { start: 0, end: 5 });
        assert_eq!(rewrite(source, vec![edit]), "int a;");
    }

    /// Puts something between two texts.
    fn check(before: &str, new: &str, behind: &str, expected: &str) {
        let edit = Edit::insert(before.len(), new);
        assert_eq!(rewrite(&format!("{before}{behind}"), vec![edit]), expected);
    }

    #[test]
    fn what_would_become_one_token_is_kept_apart() {
        check("a", "/", "*p", "a/ *p");
        check("a", "-", "-b", "a- -b");
        check("a+", "++b", ";", "a+ ++b;");
        check("a", "<", "<b", "a< <b");
        check("a", "&", "&b", "a& &b");
        check("a", "-", ">b", "a- >b");
        check("return", "x", ";", "return x;");
        check("else", "", "x;", "else x;");
        check("0xE", "+", "x", "0xE +x");
        check("", "0xE", "+x", "0xE +x");
        check("1e", "-", "x", "1e -x");
    }

    #[test]
    fn what_stays_two_tokens_is_left_alone() {
        check("a", "+", "*p", "a+*p");
        check("(", "x", ")", "(x)");
        check("cafe", "+", "x", "cafe+x");
        check("s.e", "-", "x", "s.e-x");
        check("v[1].e", "-", "x", "v[1].e-x");
        check("0xF", "-", "x", "0xF-x");
        check("x", "-", "!y", "x-!y");
    }
}
