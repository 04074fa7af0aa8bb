//! What a search works on: optimizations as numbers, and lists of them.
//!
//! Equation (1). What a number stands for is known to the alphabet alone; nothing
//! here looks behind it.

/// An optimization, by its place in an [`Alphabet`](crate::Alphabet).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Gene(pub u16);

/// A pass sequence in the eyes of a search; an optimization may occur repeatedly.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sequence(Vec<Gene>); // Invariant: never empty.

/// A sequence, and how fit it proved to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Individual {
    pub sequence: Sequence,
    /// Its fitness: 0 if it is no witness, above 0 otherwise.
    pub fitness: f64,
}

impl Sequence {
    /// The sequence of these genes; `None` if there are none.
    pub fn new(genes: Vec<Gene>) -> Option<Sequence> {
        if genes.is_empty() { None } else { Some(Sequence(genes)) }
    }

    /// Its genes, in order.
    pub fn genes(&self) -> &[Gene] {
        &self.0
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A letter is a gene: `a` is the first of the alphabet.
    pub(crate) fn sequence(letters: &str) -> Sequence {
        let gene = |letter: u8| Gene(u16::from(letter - b'a'));
        Sequence::new(letters.bytes().map(gene).collect()).unwrap()
    }

    pub(crate) fn letters(sequence: &Sequence) -> String {
        sequence.genes().iter().map(|gene| char::from(b'a' + gene.0 as u8)).collect()
    }

    #[test]
    fn a_sequence_without_genes_does_not_exist() {
        assert_eq!(Sequence::new(Vec::new()), None);
        assert_eq!(sequence("ab").genes(), [Gene(0), Gene(1)]);
        assert_eq!(letters(&sequence("cab")), "cab");
    }
}
