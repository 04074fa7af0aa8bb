//! A range of bytes of a program's text.
//!
//! **Invariant:** `start <= end`, and both are at borders of characters of the
//! text they were made for.

/// A half-open range of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The first byte behind it.
    pub end: usize,
}

impl Span {
    /// The part of a text that it covers.
    pub fn of(self, text: &str) -> &str {
        text.get(self.start..self.end).unwrap_or_default()
    }

    /// Whether a place is in it.
    pub fn contains(self, offset: usize) -> bool {
        (self.start..self.end).contains(&offset)
    }
}
