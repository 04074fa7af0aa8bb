//! A piece of C with the names in it, which can be given others.
//!
//! **Invariant:** refers to no program; rendered with no new names, it is the
//! text it was cut from.

use crate::program::Program;
use crate::span::Span;

/// A piece of text, and where names are in it.
#[derive(Clone, Debug)]
pub(crate) struct Snippet {
    pub text: String,
    names: Vec<Span>,
}

impl Snippet {
    pub(crate) fn cut(program: &Program, span: Span) -> Snippet {
        let names = &program.outline.names[program.outline.names_in(span)];
        let shift =
            |name: &Span| Span { start: name.start - span.start, end: name.end - span.start };
        Snippet {
            text: span.of(program.text()).to_owned(),
            names: names.iter().map(shift).collect(),
        }
    }

    /// Its names, in order; one that occurs twice comes twice.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| name.of(&self.text))
    }

    /// The text with new names; `new_name` is asked with the number of a name
    /// and the name itself.
    pub(crate) fn render(&self, new_name: impl Fn(usize, &str) -> Option<String>) -> String {
        let mut text = String::with_capacity(self.text.len() + 4 * self.names.len());
        let mut done = 0;
        for (number, span) in self.names.iter().enumerate() {
            text.push_str(self.text.get(done..span.start).unwrap_or_default());
            let name = span.of(&self.text);
            match new_name(number, name) {
                Some(new) => text.push_str(&new),
                None => text.push_str(name),
            }
            done = span.end;
        }
        text.push_str(self.text.get(done..).unwrap_or_default());
        text
    }
}
