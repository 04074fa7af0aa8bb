//! Blocks -> functions -> source files of the compiler.
//!
//! Made once when a worker is built; afterwards it only answers questions.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{BlockId, Coverage};

/// A source file of the compiler, by its place in [`CodeMap::files`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileId(pub u32);

/// A function of the compiler, by its place in [`CodeMap::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FunctionId(pub u32);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeFunction {
    /// As the linker knows it.
    pub symbol: String,
    /// As people know it.
    pub name: String,
    pub file: FileId,
    /// The function that it is a lambda, a local class's method or a cut-out part
    /// of: to a person they are one.
    pub host: Option<FunctionId>,
    /// Its blocks: half-open ranges of block numbers, in order.
    pub blocks: Vec<(u32, u32)>,
    /// Where the function's section and each block lie in their object: the
    /// object's number, the section's, and an offset for each block in order.
    pub origin: Origin,
}

/// Where blocks come from, in the original archive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The object, by its place in [`CodeMap::objects`].
    pub object: u32,
    pub section: u32,
    /// Where the function starts in it.
    pub start: u32,
    /// Where each block starts in it.
    pub offsets: Vec<u32>,
}

/// An object that a worker was linked from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeObject {
    /// The archive's path.
    pub archive: String,
    pub member: String,
    /// How many members of that archive stand before it.
    pub position: u32,
    /// Where the object lies that took the member's place, if one did.
    pub zoomed: Option<String>,
}

/// Everything known about the blocks of one worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeMap {
    /// Source files.
    pub files: Vec<String>,
    pub functions: Vec<CodeFunction>,
    pub objects: Vec<CodeObject>,
    /// Block numbers are below this.
    pub n_blocks: u32,
    /// The folder of LLVM's source that objects were compiled from, if any were.
    pub source: Option<String>,
}

/// The file that stands for all code from headers.
pub const HEADERS: &str = "(headers)";

impl CodeMap {
    pub fn function(&self, FunctionId(id): FunctionId) -> &CodeFunction {
        &self.functions[id as usize]
    }

    /// The function that a person would name: the one that this one is written in.
    pub fn host(&self, id: FunctionId) -> FunctionId {
        let mut host = id;
        // Lambdas in lambdas; a chain is short, and a ring would be a damaged map.
        for _ in 0..8 {
            match self.functions.get(host.0 as usize).and_then(|function| function.host) {
                Some(next) => host = next,
                None => break,
            }
        }
        host
    }

    /// A file's path.
    pub fn file(&self, FileId(id): FileId) -> &str {
        &self.files[id as usize]
    }

    /// How many blocks of each covered function are in a coverage, in the order
    /// of the functions.
    pub fn per_function(&self, coverage: &Coverage) -> Vec<(FunctionId, usize)> {
        let count = |function: &CodeFunction| {
            function.blocks.iter().map(|&(from, end)| coverage.count_range(from, end)).sum()
        };
        self.functions
            .iter()
            .enumerate()
            .map(|(id, function)| (FunctionId(id as u32), count(function)))
            .filter(|(_, n_blocks)| *n_blocks > 0)
            .collect()
    }

    /// How many blocks of each covered file are in a coverage, in the order of
    /// the files.
    pub fn per_file(&self, coverage: &Coverage) -> Vec<(FileId, usize)> {
        let mut counts = vec![0; self.files.len()];
        for (function, n_blocks) in self.per_function(coverage) {
            counts[self.function(function).file.0 as usize] += n_blocks;
        }
        let counts = counts.into_iter().enumerate().filter(|(_, n_blocks)| *n_blocks > 0);
        counts.map(|(id, n_blocks)| (FileId(id as u32), n_blocks)).collect()
    }

    /// The functions of a stack, by their demangled names, in its order; of
    /// functions with the same name all are meant. A name that is none is left
    /// out.
    pub fn functions_on_stack(&self, frames: &[String]) -> Vec<FunctionId> {
        let ids = (0u32..).map(FunctionId).zip(&self.functions);
        let mut on_stack: Vec<(usize, FunctionId)> = ids
            .filter_map(|(id, function)| {
                let depth = frames.iter().position(|frame| *frame == function.name)?;
                Some((depth, id))
            })
            .collect();
        on_stack.sort_unstable();
        on_stack.into_iter().map(|(_, id)| id).collect()
    }

    /// The files with functions in objects that were compiled anew, but for headers
    /// of LLVM's interface: any object may have the copy of their functions that is
    /// left.
    pub fn zoomed_files(&self) -> BTreeSet<String> {
        let is_zoomed = |function: &&CodeFunction| {
            self.objects.get(function.origin.object as usize).is_some_and(|o| o.zoomed.is_some())
        };
        let files =
            self.functions.iter().filter(is_zoomed).map(|function| self.file(function.file));
        files.filter(|file| file.starts_with("llvm/lib/")).map(str::to_owned).collect()
    }

    /// For each block number the function it belongs to; `None` for padding.
    pub fn owners(&self) -> Vec<Option<FunctionId>> {
        let mut owners = vec![None; self.n_blocks as usize];
        for (id, function) in self.functions.iter().enumerate() {
            for &(from, end) in &function.blocks {
                for owner in &mut owners[from as usize..end as usize] {
                    *owner = Some(FunctionId(id as u32));
                }
            }
        }
        owners
    }
}

impl CodeFunction {
    /// The function's block numbers, in order.
    pub fn block_ids(&self) -> impl Iterator<Item = BlockId> + '_ {
        self.blocks.iter().flat_map(|&(from, end)| (from..end).map(BlockId))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Two files, three functions, ten blocks; block 5 is padding.
    pub(crate) fn small() -> CodeMap {
        let function = |name: &str, file, blocks: &[(u32, u32)]| CodeFunction {
            symbol: format!("_Z{name}"),
            name: name.to_owned(),
            file: FileId(file),
            host: None,
            blocks: blocks.to_vec(),
            origin: Origin::default(),
        };
        CodeMap {
            files: vec!["a.cpp".to_owned(), "b.cpp".to_owned()],
            functions: vec![
                function("f", 0, &[(0, 3)]),
                function("g", 1, &[(3, 5), (8, 10)]),
                function("h", 0, &[(6, 8)]),
            ],
            objects: Vec::new(),
            n_blocks: 10,
            source: None,
        }
    }

    #[test]
    fn blocks_are_counted_for_their_function_and_file() {
        let coverage = Coverage::of([1, 2, 4, 5, 9].map(BlockId));
        let map = small();
        assert_eq!(map.per_function(&coverage), [(FunctionId(0), 2), (FunctionId(1), 2)]);
        assert_eq!(map.per_file(&coverage), [(FileId(0), 2), (FileId(1), 2)]);
    }

    #[test]
    fn a_lambda_in_a_lambda_has_the_outermost_function_as_its_host() {
        let mut map = small();
        map.functions[1].host = Some(FunctionId(2));
        map.functions[2].host = Some(FunctionId(0));
        assert_eq!([0, 1, 2].map(|id| map.host(FunctionId(id)).0), [0, 0, 0]);
        map.functions[0].host = Some(FunctionId(1)); // A damaged map ends, too.
        map.host(FunctionId(0));
    }

    #[test]
    fn every_block_but_padding_has_an_owner() {
        let owners = small().owners();
        assert_eq!(owners[9], Some(FunctionId(1)));
        assert_eq!(owners[5], None);
        let ids: Vec<u32> = small().functions[1].block_ids().map(|block| block.0).collect();
        assert_eq!(ids, [3, 4, 8, 9]);
    }
}
