//! Programs -> vectors, by their instructions, control flow and calls: Section
//! 3.3.
//!
//! ```text
//! edges' instructions ──doc2vec──► edges ──Algorithm 1──► functions ──Algorithm 2──► programs
//! ```
//!
//! **Invariant:** programs of the same shape have the same vector, if they are
//! in the same population.

mod calls;
mod documents;
mod function;

use optsleuth_model::ProgramShape;
use rayon::prelude::*;

use crate::doc2vec::{self, Settings};
use crate::vectors::Vectors;

pub use calls::{is_recursive, program_vector};
pub use documents::{Documents, FunctionDocuments};
pub use function::{Edge, edges, function_vector};

/// A vector for each program. What is learnt about instructions is learnt from
/// these programs alone, as in Section 4.1.
pub fn program_vectors(
    programs: &[ProgramShape],
    settings: &Settings,
    progress: &dyn Fn(u64, u64),
) -> Vectors {
    let documents = Documents::of(programs);
    let vectors = doc2vec::train(&documents.corpus, settings, progress).into_documents();
    let rows: Vec<Vec<f32>> = programs
        .par_iter()
        .zip(&documents.programs)
        .map(|(program, documents)| one(program, documents, &vectors))
        .collect();
    Vectors::from_rows(settings.vector_size, rows)
}

fn one(program: &ProgramShape, documents: &[FunctionDocuments], vectors: &Vectors) -> Vec<f32> {
    let row = |&document: &usize| vectors.row(document).to_vec();
    let functions =
        program.functions.iter().zip(documents).map(|(function, documents)| match documents {
            FunctionDocuments::Block(block) => row(block),
            FunctionDocuments::Edges(edges) => {
                function_vector(function, edges.iter().map(row).collect())
            }
            FunctionDocuments::Nothing => vec![0.0; vectors.dimension()],
        });
    let callees: Vec<&[usize]> =
        program.functions.iter().map(|function| function.callees.as_slice()).collect();
    program_vector(&callees, functions.collect(), vectors.dimension())
}

#[cfg(test)]
mod tests {
    use super::*;
    use optsleuth_model::{BlockShape, FunctionShape, RegionShape};

    /// A function that loops over one of these bodies.
    fn looping(body: &[&str], callees: Vec<usize>) -> FunctionShape {
        let block = |opcodes: &[&str], successors: &[usize], is_loop_entry| BlockShape {
            opcodes: opcodes.iter().map(|&opcode| opcode.to_owned()).collect(),
            successors: successors.to_vec(),
            region: Some(0),
            is_loop_entry,
        };
        FunctionShape {
            name: "f".to_owned(),
            blocks: vec![
                block(&["alloca", "store", "br"], &[1], false),
                block(&["load", "icmp", "br"], &[2, 3], true),
                block(body, &[1], false),
                block(&["load", "ret"], &[], false),
            ],
            regions: vec![RegionShape { depth: 0, entry: 0, exit: None }],
            callees,
        }
    }

    fn straight(opcodes: &[&str]) -> FunctionShape {
        let opcodes = opcodes.iter().map(|&opcode| opcode.to_owned()).collect();
        let block = BlockShape { opcodes, region: Some(0), ..BlockShape::default() };
        let regions = vec![RegionShape { depth: 0, entry: 0, exit: None }];
        FunctionShape { blocks: vec![block], regions, ..FunctionShape::default() }
    }

    #[test]
    fn same_shapes_have_the_same_vector_and_others_another() {
        let first = ProgramShape {
            functions: vec![looping(&["add", "br"], vec![1]), straight(&["fadd", "ret"])],
        };
        let second = ProgramShape { functions: vec![looping(&["fmul", "call", "br"], vec![])] };
        let programs = [first.clone(), second, first, ProgramShape::default()];
        let settings = Settings { vector_size: 12, ..Settings::instructions(1) };
        let vectors = program_vectors(&programs, &settings, &|_, _| {});
        assert_eq!((vectors.len(), vectors.dimension()), (4, 12));
        assert_eq!(vectors.row(0), vectors.row(2));
        assert_ne!(vectors.row(0), vectors.row(1));
        assert_eq!(vectors.row(3), [0.0; 12]);
        assert!(vectors.rows().flatten().all(|number| number.is_finite()));
    }
}
