//! Changes to a text, by ranges.
//!
//! **Invariant:** edits of one rewrite do not overlap.

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
        let behind = &source[span.end..];
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
        text.push_str(&source[done..edit.span.start.max(done)]);
        text.push_str(&edit.text);
        done = edit.span.end.max(done);
    }
    text.push_str(&source[done..]);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_made_in_the_order_of_the_text() {
        let edits = vec![
            Edit::replace(Span { start: 4, end: 5 }, "-"),
            Edit::insert(0, "x"),
            Edit::insert(0, "y"),
        ];
        assert_eq!(rewrite("a = b + c", edits), "xya = - + c");
    }

    #[test]
    fn a_word_goes_with_its_blank() {
        let source = "const int a;";
        let edit = Edit::remove_word(source, Span { start: 0, end: 5 });
        assert_eq!(rewrite(source, vec![edit]), "int a;");
    }
}
