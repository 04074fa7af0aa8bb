//! Programs -> the documents that their edges are.
//!
//! The document of an edge is the instructions of the block it leaves, then
//! those of the block it enters. A function without edges is one document: the
//! instructions of its only block.
//!
//! **Invariant:** what is written the same is one document. So it has one
//! vector, and a population's documents are few: unoptimized code repeats
//! itself.

use std::collections::HashMap;

use optsleuth_model::{FunctionShape, ProgramShape};

use super::function::edges;
use crate::doc2vec::{Corpus, Dictionary, Word};

/// What is to be embedded, and whose it is.
#[derive(Clone, Debug, Default)]
pub struct Documents {
    /// The documents, each once.
    pub corpus: Corpus,
    /// The numbers that the opcodes have in it.
    pub opcodes: Dictionary,
    /// For each program its functions.
    pub programs: Vec<Vec<FunctionDocuments>>,
}

/// The documents of a function, as indices into the corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FunctionDocuments {
    /// No edge: its only block that is reached.
    Block(usize),
    /// In the order of [`edges`].
    Edges(Vec<usize>),
    /// Not even a block.
    Nothing,
}

impl Documents {
    /// The documents of programs, in order.
    pub fn of(programs: &[ProgramShape]) -> Documents {
        let mut documents = Documents::default();
        let mut known = HashMap::new();
        for program in programs {
            let functions = program.functions.iter();
            let functions = functions.map(|function| documents.function(function, &mut known));
            let functions = functions.collect();
            documents.programs.push(functions);
        }
        documents
    }

    fn function(
        &mut self,
        function: &FunctionShape,
        known: &mut HashMap<Vec<Word>, usize>,
    ) -> FunctionDocuments {
        if function.blocks.is_empty() {
            return FunctionDocuments::Nothing;
        }
        let words: Vec<Vec<Word>> = function
            .blocks
            .iter()
            .map(|block| block.opcodes.iter().map(|opcode| self.opcodes.word(opcode)).collect())
            .collect();
        let mut document = |document: Vec<Word>| {
            *known.entry(document).or_insert_with_key(|document| {
                self.corpus.push(document.iter().copied());
                self.corpus.len() - 1
            })
        };
        let edges = edges(function);
        if edges.is_empty() {
            return FunctionDocuments::Block(document(words[0].clone()));
        }
        let edges = edges.iter().map(|edge| [words[edge.from].clone(), words[edge.to].clone()]);
        FunctionDocuments::Edges(edges.map(|parts| document(parts.concat())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use optsleuth_model::BlockShape;

    #[test]
    fn an_edge_is_the_instructions_of_both_ends() {
        let block = |opcode: &str, successors: &[usize]| BlockShape {
            opcodes: vec![opcode.to_owned(), "br".to_owned()],
            successors: successors.to_vec(),
            ..BlockShape::default()
        };
        let branch = FunctionShape {
            blocks: vec![
                block("icmp", &[1, 2]),
                block("load", &[3]),
                block("load", &[3]),
                block("ret", &[]),
            ],
            ..FunctionShape::default()
        };
        let single = FunctionShape { blocks: vec![block("ret", &[])], ..FunctionShape::default() };
        let program = ProgramShape { functions: vec![branch, single, FunctionShape::default()] };
        let documents = Documents::of(std::slice::from_ref(&program));
        // icmp 0, br 1, load 2, ret 3. The second way is written as the first.
        let texts: [&[Word]; 3] = [&[0, 1, 2, 1], &[2, 1, 3, 1], &[3, 1]];
        assert!(documents.corpus.documents().eq(texts));
        use FunctionDocuments::{Block, Edges, Nothing};
        assert_eq!(documents.programs, [[Edges(vec![0, 0, 1, 1]), Block(2), Nothing]]);
    }
}
