//! What is known of blocks and conditions -> suspect lines of the compiler's
//! source, with the text around them. Only where the worker's objects have lines.
//!
//! A block's weight goes to the lines of those of its conditions that cure; where
//! none does, to the line on which it begins. A line is as suspect as its blocks
//! together, times its function's score: what a function's other blocks say
//! counts for its lines, too.
//!
//! **Invariant:** nothing here changes the ranking of functions.

use std::collections::{BTreeMap, HashMap};

use optsleuth_compiler::llvm::SourceLines;
use optsleuth_model::{BlockId, CodeMap, CodePlace, Cures, Excerpt, FunctionId, LineSuspect};
use optsleuth_rank::Suspect;

use super::detours::Tried;

/// So many lines are kept.
const KEPT: usize = 20;
/// And so many of the source above and below each of them.
const AROUND: u32 = 5;
/// What the innermost line of a crash's stack has in addition, of the highest.
const ON_STACK: f64 = 0.5;
/// What a line has in addition that makes all changes to the IR.
const WRITES: f64 = 0.1;

pub(super) struct LineEvidence<'a> {
    pub(super) map: &'a CodeMap,
    pub(super) universe: &'a [BlockId],
    /// By index in the universe.
    pub(super) weights: &'a [f64],
    pub(super) functions: &'a [Suspect<FunctionId>],
    pub(super) tried: &'a [Tried],
    /// Of a crash.
    pub(super) stack: &'a [(BlockId, u32)],
    /// The calls that change the IR, each as often as it does.
    pub(super) writers: &'a [(BlockId, u32)],
}

/// What is known of one line.
#[derive(Default)]
struct Known {
    weight: f64,
    column: u32,
    function: Option<FunctionId>,
    cures: Cures,
    on_stack: Option<usize>,
    writes: usize,
}

impl LineEvidence<'_> {
    /// The top, most suspect first.
    pub(super) fn suspects(&self, mut source: SourceLines<'_>) -> Vec<LineSuspect> {
        let lines = self.collect(&mut source);
        let scores: HashMap<FunctionId, f64> =
            self.functions.iter().map(|suspect| (suspect.id, suspect.score)).collect();
        let score_of = |known: &Known| {
            known.function.and_then(|id| scores.get(&id)).copied().unwrap_or(0.0) * known.weight
        };
        let highest = lines.values().map(&score_of).fold(f64::MIN_POSITIVE, f64::max);
        let mut scored: Vec<(f64, (String, u32), Known)> = lines
            .into_iter()
            .map(|(line, known)| {
                let near = known.on_stack.map_or(0.0, |depth| ON_STACK / depth as f64);
                let writes = WRITES * known.writes as f64 / self.writers.len().max(1) as f64;
                (score_of(&known) / highest + near + writes, line, known)
            })
            .collect();
        scored.sort_by(|(a, one, _), (b, other, _)| b.total_cmp(a).then_with(|| one.cmp(other)));
        let ranks: Vec<usize> = (scored.iter())
            .map(|(score, ..)| scored.partition_point(|(other, ..)| other >= score))
            .collect();
        let suspect =
            |(rank, (score, (path, line), known)): (usize, (f64, (String, u32), Known))| {
                let excerpt =
                    source.text(&path).map(|text| excerpt(&text, line)).unwrap_or_default();
                let function = known.function.map(|id| self.map.function(id).name.clone());
                LineSuspect {
                    rank,
                    place: CodePlace { path, line, column: known.column },
                    function: function.unwrap_or_default(),
                    score,
                    cures: known.cures,
                    on_stack: known.on_stack,
                    writes: known.writes,
                    excerpt,
                }
            };
        ranks.into_iter().zip(scored).take(KEPT).map(suspect).collect()
    }

    fn collect(&self, source: &mut SourceLines<'_>) -> BTreeMap<(String, u32), Known> {
        let owners = self.map.owners();
        let mut lines: BTreeMap<(String, u32), Known> = BTreeMap::new();
        let mut at = |block: BlockId, nth: u32, weight: f64, note: &dyn Fn(&mut Known)| {
            let Some(place) = source.place(block, nth) else { return };
            let known = lines.entry((place.path, place.line)).or_default();
            // The weightiest place of a line stands for it.
            if known.function.is_none() || weight > known.weight {
                known.column = place.column;
                let owner = owners.get(block.0 as usize).copied().flatten();
                known.function = owner.map(|function| self.map.host(function));
            }
            known.weight += weight;
            note(known);
        };
        let mut has_cure = vec![false; self.universe.len()];
        for tried in self.tried {
            let index = tried.index as usize;
            has_cure[index] |= tried.cures;
            let weight = if tried.cures { self.weights[index] } else { 0.0 };
            at(self.universe[index], tried.nth, weight, &|known| {
                known.cures.tried += 1;
                known.cures.blocks += usize::from(tried.cures);
            });
        }
        for (index, &block) in self.universe.iter().enumerate() {
            if !has_cure[index] {
                at(block, 0, self.weights[index], &|_| {});
            }
        }
        for &(block, nth) in self.writers {
            at(block, nth, 0.0, &|known| known.writes += 1);
        }
        for (depth, &(block, nth)) in self.stack.iter().enumerate() {
            at(block, nth, 0.0, &|known| {
                known.on_stack.get_or_insert(depth + 1);
            });
        }
        lines
    }
}

/// The text around a line.
fn excerpt(text: &str, line: u32) -> Excerpt {
    let first = line.saturating_sub(AROUND).max(1);
    let lines = text.lines().skip(first as usize - 1).take((line + AROUND - first + 1) as usize);
    Excerpt { first, lines: lines.map(str::to_owned).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_cut_at_the_ends_of_the_file() {
        let text: String = (1..=12).map(|n| format!("line {n}\n")).collect();
        let check = |line: u32, first: u32, n_lines: usize| {
            let Excerpt { first: found, lines } = excerpt(&text, line);
            assert_eq!((found, lines.len()), (first, n_lines), "around {line}");
            assert_eq!(lines[(line - first) as usize], format!("line {line}"));
        };
        check(1, 1, 6);
        check(6, 1, 11);
        check(12, 7, 6);
    }
}
