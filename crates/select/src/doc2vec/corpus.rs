//! Documents as numbers: what a model is trained on.
//!
//! **Invariant:** a corpus is flat. Two vectors, however many documents.

use std::collections::HashMap;

/// A word, as a number. Vocabularies are small here: passes, opcodes.
pub type Word = u16;

/// Documents in order; each is a sequence of words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Corpus {
    words: Vec<Word>,
    /// Where each document ends in `words`.
    ends: Vec<usize>,
    vocabulary: usize,
}

impl Corpus {
    pub fn new() -> Corpus {
        Corpus::default()
    }

    /// Adds a document behind all others.
    pub fn push(&mut self, document: impl IntoIterator<Item = Word>) {
        let start = self.words.len();
        self.words.extend(document);
        self.ends.push(self.words.len());
        let largest = self.words[start..].iter().max();
        self.vocabulary = self.vocabulary.max(largest.map_or(0, |&word| usize::from(word) + 1));
    }

    /// How many documents there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// A document.
    ///
    /// # Panics
    /// If there are not so many.
    #[inline(always)]
    pub fn document(&self, index: usize) -> &[Word] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.words[start..self.ends[index]]
    }

    /// Every document, in order.
    pub fn documents(&self) -> impl ExactSizeIterator<Item = &[Word]> {
        (0..self.len()).map(|index| self.document(index))
    }

    /// One more than the largest word.
    pub fn vocabulary_size(&self) -> usize {
        self.vocabulary
    }

    /// The words of all documents, one after the other.
    pub(crate) fn words(&self) -> &[Word] {
        &self.words
    }
}

impl<D: IntoIterator<Item = Word>> FromIterator<D> for Corpus {
    fn from_iter<I: IntoIterator<Item = D>>(documents: I) -> Corpus {
        let mut corpus = Corpus::new();
        for document in documents {
            corpus.push(document);
        }
        corpus
    }
}

/// Gives names numbers, in the order in which they are first seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dictionary {
    words: HashMap<String, Word>,
}

impl Dictionary {
    pub fn new() -> Dictionary {
        Dictionary::default()
    }

    /// The name's word; a new one if the name is new.
    ///
    /// # Panics
    /// If there are more than 65,536 names.
    pub fn word(&mut self, name: &str) -> Word {
        if let Some(&word) = self.words.get(name) {
            return word;
        }
        let word = Word::try_from(self.words.len()).expect("at most 65,536 names");
        self.words.insert(name.to_owned(), word);
        word
    }

    /// The name's word, if it has one.
    pub fn known(&self, name: &str) -> Option<Word> {
        self.words.get(name).copied()
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_as_they_were_pushed() {
        let documents: [&[Word]; 4] = [&[3, 1], &[], &[7, 7, 7], &[0]];
        let corpus: Corpus = documents.iter().map(|words| words.iter().copied()).collect();
        assert!(corpus.documents().eq(documents));
        assert_eq!((corpus.len(), corpus.vocabulary_size()), (4, 8));
        assert_eq!(Corpus::new().vocabulary_size(), 0);
    }

    #[test]
    fn names_are_numbered_as_they_come() {
        let mut dictionary = Dictionary::new();
        let words = ["load", "store", "load", "br"].map(|name| dictionary.word(name));
        assert_eq!(words, [0, 1, 0, 2]);
        assert_eq!((dictionary.known("br"), dictionary.known("ret")), (Some(2), None));
    }
}
