//! The optimizations that a search draws from, each with a number.
//!
//! Stands between pass sequences and the search: the buggy sequence and the
//! candidates come in as optimizations, what the search proposes goes out as a
//! pass sequence.
//!
//! **Invariant:** equal optimizations have one gene, and genes are numbered in
//! the order in which the optimizations come in. Whether LLVM knows a pass is
//! never asked here.

use optsleuth_model::{Element, PassSequence};

use crate::{Gene, SearchError, Sequence};

/// The candidate optimizations of Table I, as the new pass manager spells them.
/// Every LLVM from 14 on has them.
pub const TABLE_I: [&str; 32] = [
    "adce",
    "argpromotion",
    "bdce",
    "correlated-propagation",
    "constmerge",
    "dse",
    "early-cse",
    "early-cse<memssa>",
    "globaldce",
    "globalopt",
    "gvn",
    "indvars",
    "instcombine",
    "instsimplify",
    "ipsccp",
    "lcssa",
    "licm",
    "loop-deletion",
    "loop-distribute",
    "loop-idiom",
    "loop-load-elim",
    "loop-rotate",
    "loop-simplify",
    "loop-sink",
    "loop-unroll",
    "simple-loop-unswitch<nontrivial>",
    "loop-vectorize",
    "reassociate",
    "sccp",
    "simplifycfg",
    "slp-vectorizer",
    "sroa",
];

/// The optimizations of the buggy sequence and the candidates: the union of
/// `O_b` and `O_c`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alphabet {
    optimizations: Vec<Element>,
    buggy: Vec<Gene>,
    buggy_set: Vec<Gene>,
    candidates: Vec<Gene>,
}

impl Alphabet {
    /// Of the buggy sequence's optimizations, in order and with repetitions, and
    /// the candidates, whose repetitions do not matter. Both may share some.
    pub fn new(buggy: Vec<Element>, candidates: Vec<Element>) -> Result<Alphabet, SearchError> {
        if buggy.is_empty() {
            return Err(SearchError::NothingBuggy);
        }
        if candidates.is_empty() {
            return Err(SearchError::NoCandidates);
        }
        let mut optimizations = Vec::new();
        let mut genes = |elements: Vec<Element>| -> Result<Vec<Gene>, SearchError> {
            elements.into_iter().map(|element| gene(&mut optimizations, element)).collect()
        };
        let buggy = genes(buggy)?;
        let candidates = distinct(&genes(candidates)?);
        let buggy_set = distinct(&buggy);
        Ok(Alphabet { optimizations, buggy, buggy_set, candidates })
    }

    /// The buggy sequence, in order and with repetitions.
    pub fn buggy(&self) -> &[Gene] {
        &self.buggy
    }

    /// The candidates `O_c`, each once.
    pub fn candidates(&self) -> &[Gene] {
        &self.candidates
    }

    /// Every gene: the union of `O_b` and `O_c`.
    pub fn genes(&self) -> impl Iterator<Item = Gene> + '_ {
        (0..self.optimizations.len()).map(|index| Gene(index as u16))
    }

    /// Whether every optimization of the buggy sequence is among these genes,
    /// however often: `O_b` as a set.
    pub fn contains_buggy(&self, genes: &[Gene]) -> bool {
        self.buggy_set.iter().all(|gene| genes.contains(gene))
    }

    /// An optimization.
    ///
    /// # Panics
    /// For a gene of another alphabet.
    pub fn optimization(&self, Gene(index): Gene) -> &Element {
        &self.optimizations[index as usize]
    }

    /// The pass sequence that a sequence of genes stands for.
    ///
    /// # Panics
    /// For a sequence of another alphabet.
    pub fn render(&self, sequence: &Sequence) -> PassSequence {
        let elements = sequence.genes().iter().map(|&gene| self.optimization(gene).clone());
        PassSequence::of_optimizations(elements).expect("a sequence has a gene")
    }
}

/// The optimization's gene; a new one if it is new.
fn gene(optimizations: &mut Vec<Element>, element: Element) -> Result<Gene, SearchError> {
    let known = optimizations.iter().position(|other| *other == element);
    let index = known.unwrap_or(optimizations.len());
    let gene = u16::try_from(index).map_err(|_| SearchError::TooMany)?;
    if known.is_none() {
        optimizations.push(element);
    }
    Ok(Gene(gene))
}

fn distinct(genes: &[Gene]) -> Vec<Gene> {
    let mut out = Vec::new();
    for gene in genes {
        if !out.contains(gene) {
            out.push(*gene);
        }
    }
    out
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Letters are passes. The buggy sequence comes first, so if its first
    /// occurrences are in alphabetical order, `a` is gene 0 and so on.
    pub(crate) fn alphabet(buggy: &str, candidates: &str) -> Alphabet {
        let passes = |text: &str| text.chars().map(|c| Element::pass(c.to_string())).collect();
        Alphabet::new(passes(buggy), passes(candidates)).unwrap()
    }

    #[test]
    fn equal_optimizations_share_a_gene() {
        let alphabet = alphabet("aba", "cbcd");
        assert_eq!(alphabet.buggy(), [0, 1, 0].map(Gene));
        assert_eq!(alphabet.candidates(), [2, 1, 3].map(Gene));
        assert_eq!(alphabet.genes().collect::<Vec<_>>(), [0, 1, 2, 3].map(Gene));
    }

    #[test]
    fn the_constraint_is_about_the_set() {
        let alphabet = alphabet("aba", "cd");
        assert!(alphabet.contains_buggy(&[1, 2, 0].map(Gene)));
        assert!(!alphabet.contains_buggy(&[0, 0, 2].map(Gene)));
    }

    #[test]
    fn what_is_rendered_shares_adaptors_between_neighbours() {
        let buggy: PassSequence = "function(sroa,loop(a)),globaldce".parse().unwrap();
        let candidates: PassSequence = "function(sroa),cgscc(inline)".parse().unwrap();
        let alphabet = Alphabet::new(buggy.optimizations(), candidates.optimizations()).unwrap();
        let render = |genes: &[u16]| {
            let genes = genes.iter().map(|&gene| Gene(gene)).collect();
            alphabet.render(&Sequence::new(genes).unwrap()).to_string()
        };
        assert_eq!(render(&[0, 1, 2]), "function(sroa,loop(a)),globaldce");
        assert_eq!(render(&[1, 3, 0, 0]), "function(loop(a)),cgscc(inline),function(sroa,sroa)");
        assert_eq!(alphabet.candidates(), [Gene(0), Gene(3)]);
    }

    #[test]
    fn a_side_without_optimizations_is_refused() {
        let some = || vec![Element::pass("a")];
        assert_eq!(Alphabet::new(vec![], some()), Err(SearchError::NothingBuggy));
        assert_eq!(Alphabet::new(some(), vec![]), Err(SearchError::NoCandidates));
    }

    #[test]
    fn the_candidates_of_the_paper_are_32_different_passes() {
        let passes: Vec<Element> = TABLE_I.map(Element::pass).to_vec();
        assert_eq!(Alphabet::new(passes.clone(), passes).unwrap().candidates().len(), 32);
    }
}
