//! Blocks -> lines of the compiler's source, where its debug information says.

use std::collections::BTreeMap;

use crate::{BlockId, Coverage};

/// Source lines of blocks. Blocks that are not in it have no known line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockLines {
    /// Paths, each once.
    pub files: Vec<String>,
    /// For each block its file, by place in `files`, and its line.
    pub lines: BTreeMap<BlockId, (u32, u32)>,
}

impl BlockLines {
    /// For each file and line that has blocks, whether one of them is covered;
    /// by path, then line.
    pub fn hits(&self, coverage: &Coverage) -> BTreeMap<(&str, u32), bool> {
        let mut hits = BTreeMap::new();
        for (&block, &(file, line)) in &self.lines {
            let hit = hits.entry((self.files[file as usize].as_str(), line)).or_insert(false);
            *hit |= coverage.contains(block);
        }
        hits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_hit_if_one_of_its_blocks_is() {
        let lines = BlockLines {
            files: vec!["a.c".to_owned()],
            lines: [(0, 5), (1, 5), (2, 9)].map(|(b, line)| (BlockId(b), (0, line))).into(),
        };
        let hits = lines.hits(&Coverage::of([BlockId(1)]));
        assert_eq!(hits, BTreeMap::from([(("a.c", 5), true), (("a.c", 9), false)]));
    }
}
