//! Rankings without witnesses, to measure others by: what a person would look
//! at first comes first, then whatever the failing run executed most of.
//!
//! **Invariant:** of the failing run nothing counts but how many blocks of an
//! entity it executed. Those that tie share the worst rank, as everywhere.

use std::collections::HashMap;
use std::hash::Hash;

use optsleuth_model::{CodeMap, FileId, FunctionId};

use crate::ranking::{Entity, Ranker, Ranking, Suspect, in_order};

/// What comes before everything else; the higher the number, the earlier.
#[derive(Clone, Debug, Default)]
pub struct Precedence {
    files: HashMap<FileId, u32>,
    functions: HashMap<FunctionId, u32>,
}

impl Precedence {
    /// One file and all that is in it.
    pub fn of_file(map: &CodeMap, file: FileId) -> Precedence {
        let inside = (0u32..).map(FunctionId).zip(&map.functions).filter(|(_, f)| f.file == file);
        Precedence {
            files: HashMap::from([(file, 1)]),
            functions: inside.map(|(id, _)| (id, 1)).collect(),
        }
    }

    /// The functions of a stack, innermost first, by their demangled names; and
    /// their files. Of functions with the same name all are meant.
    pub fn of_frames(map: &CodeMap, frames: &[String]) -> Precedence {
        let mut precedence = Precedence::default();
        for (place, frame) in (1u32..).zip(frames.iter().rev()) {
            let named =
                |(_, function): &(_, &optsleuth_model::CodeFunction)| function.name == *frame;
            for (id, function) in (0u32..).map(FunctionId).zip(&map.functions).filter(named) {
                // Going inwards: an inner frame of the same file counts.
                precedence.functions.insert(id, place);
                precedence.files.insert(function.file, place);
            }
        }
        precedence
    }
}

impl Ranker {
    /// By precedence, then by the number of blocks.
    pub fn rank_by_size(&self, precedence: &Precedence) -> Ranking {
        Ranking {
            files: by_size(&self.files, &precedence.files),
            functions: by_size(&self.functions, &precedence.functions),
        }
    }
}

fn by_size<Id: Copy + Eq + Hash>(
    entities: &[Entity<Id>],
    precedence: &HashMap<Id, u32>,
) -> Vec<Suspect<Id>> {
    let score = |entity: &Entity<Id>| {
        let first = precedence.get(&entity.id).copied().unwrap_or(0);
        // Exact: no compiler has 2³² blocks, no stack 2²⁰ frames.
        f64::from(first) * (1u64 << 32) as f64 + entity.blocks.len() as f64
    };
    in_order(entities.iter().map(|entity| (entity.id, score(entity))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{coverage, named};
    use crate::spectrum::Spectrum;

    /// Four functions in three files; the failing run executes 1, 2, 3 and 3
    /// blocks of them.
    fn check(precedence: impl Fn(&CodeMap) -> Precedence, expected: &[&str]) {
        let map = named(&[
            ("f()", "a.cpp", &[(0, 4)]),
            ("g()", "b.cpp", &[(4, 8)]),
            ("h()", "b.cpp", &[(8, 12)]),
            ("k()", "c.cpp", &[(12, 16)]),
        ]);
        let failing = coverage([0, 4, 5, 8, 9, 10, 12, 13, 14]);
        let spectrum = Spectrum::new(&[failing]);
        let ranking = Ranker::new(&map, spectrum.universe()).rank_by_size(&precedence(&map));
        let files = ranking.files.iter().map(|s| format!("{} {}", s.rank, map.file(s.id)));
        let functions =
            ranking.functions.iter().map(|s| format!("{} {}", s.rank, map.function(s.id).name));
        assert_eq!(files.chain(functions).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn without_precedence_size_decides_and_ties_share_the_worst_rank() {
        check(
            |_| Precedence::default(),
            &["1 b.cpp", "2 c.cpp", "3 a.cpp", "2 h()", "2 k()", "3 g()", "4 f()"],
        );
    }

    #[test]
    fn a_file_comes_first_with_all_that_is_in_it() {
        check(
            |map| Precedence::of_file(map, map.functions[0].file),
            &["1 a.cpp", "2 b.cpp", "3 c.cpp", "1 f()", "3 h()", "3 k()", "4 g()"],
        );
    }

    #[test]
    fn frames_come_first_innermost_before_all() {
        let frames = ["g()", "unknown()", "f()", "h()"].map(str::to_owned);
        check(
            |map| Precedence::of_frames(map, &frames),
            &["1 b.cpp", "2 a.cpp", "3 c.cpp", "1 g()", "2 f()", "3 h()", "4 k()"],
        );
    }
}
