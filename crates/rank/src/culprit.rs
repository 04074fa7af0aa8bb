//! Clues of several kinds -> ranking: how OptSleuth itself ranks suspects.
//!
//! Every block that the failing run executed gets a weight. It falls with the
//! witnesses that execute the block, too, and with how common the block is in the baseline; it
//! rises where the failure vanishes as soon as a condition in the block is
//! decided the other way. An entity's score is the sum over its blocks, scaled
//! to the highest, times the weight of its layer of the compiler, and more for
//! the functions on a crash's stack. `docs/culprit.md` has the reasons.
//!
//! **Invariant:** each part can be left out, and no part knows which case it is
//! about.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use optsleuth_model::{CodeMap, FileId, FunctionId};

use crate::aggregate::Aggregation;
use crate::layers::layer;
use crate::ranking::{Entity, Ranker, Ranking, Suspect, in_order};
use crate::spectrum::Spectrum;

/// What is known about the blocks of a failing run, each list by their index in
/// its universe.
#[derive(Clone, Debug)]
pub struct Clues {
    /// Executed by the guilty invocation.
    pub in_window: Vec<bool>,
    /// The share of baseline runs that execute it, from 0 to 1.
    pub baseline: Vec<f64>,
    /// Executed by the transformation that makes the wrong change, up to that
    /// change, as far as cures tell. Empty, where they do not.
    pub on_the_way: Vec<bool>,
    /// What came of deciding one of its conditions the other way.
    pub cures: Vec<Cure>,
    /// How many of the failing run's changes to the IR each function wrote, by
    /// itself or by what it called: the nearer it is, the more, from 0 to 1.
    pub authors: BTreeMap<FunctionId, f64>,
    /// Witnesses that differ in their passes.
    pub sequences: Spectrum,
    /// Witnesses that differ in their program a little.
    pub mutants: Spectrum,
    /// Witnesses whose program is another one.
    pub others: Spectrum,
    /// The functions on a crash's stack, innermost first.
    pub frames: Vec<FunctionId>,
    /// It is code generation that fails, and not a pass.
    pub in_codegen: bool,
}

impl Clues {
    /// For a failing run of which nothing else is known.
    pub fn new(failing: &Spectrum) -> Clues {
        let n_blocks = failing.universe().len();
        Clues {
            in_window: vec![true; n_blocks],
            baseline: vec![0.0; n_blocks],
            on_the_way: Vec::new(),
            cures: vec![Cure::default(); n_blocks],
            authors: BTreeMap::new(),
            sequences: failing.clone(),
            mutants: failing.clone(),
            others: failing.clone(),
            frames: Vec::new(),
            in_codegen: false,
        }
    }
}

/// What deciding a block's conditions the other way came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cure {
    /// The failure vanishes.
    pub cures: bool,
    /// It takes a whole function's return, not one of its conditions.
    pub by_return: bool,
    /// The share of the guilty invocation's blocks that such a run still executes.
    pub executed: f64,
    /// The share of its changes to the IR that such a run still makes.
    pub written: f64,
}

impl Cure {
    /// How much it says: from 0, where it does not cure, to 1, where nothing else
    /// changes.
    pub fn grade(&self) -> f64 {
        let cures = f64::from(u8::from(self.cures));
        cures * self.executed.powi(2) * self.written.max(UNWRITTEN).sqrt()
    }
}

/// A kind of clue, or a step, that can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// Conditions that cure the failure.
    Detours,
    /// What else a cure changes.
    Grades,
    /// Cures that are whole functions.
    Returns,
    /// Who wrote the changes to the IR.
    Authors,
    /// How common a block is in the baseline.
    Rarity,
    /// All three kinds of witnesses.
    Witnesses,
    /// The guilty invocation's blocks count more.
    Window,
    /// Layers of the compiler count differently.
    Layers,
    /// A crash's stack.
    Frames,
    /// The sum over blocks; their mean instead.
    Sum,
}

impl Part {
    pub const ALL: [Part; 10] = [
        Part::Detours,
        Part::Grades,
        Part::Returns,
        Part::Authors,
        Part::Rarity,
        Part::Witnesses,
        Part::Window,
        Part::Layers,
        Part::Frames,
        Part::Sum,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Part::Detours => "detours",
            Part::Grades => "grades",
            Part::Returns => "returns",
            Part::Authors => "authors",
            Part::Rarity => "rarity",
            Part::Witnesses => "witnesses",
            Part::Window => "window",
            Part::Layers => "layers",
            Part::Frames => "frames",
            Part::Sum => "sum",
        }
    }
}

/// A set of witnesses counts as if it had so many members, or as many as it has
/// if they are fewer: how long a search went on must not matter.
const WITNESSES: f64 = 50.0;
/// And the baseline as if it were so many runs.
const BASELINE_RUNS: f64 = 400.0;
/// Outside the guilty invocation a block counts this much: what an earlier pass
/// left behind may be to blame, but seldom is.
const OUTSIDE: f64 = 0.1;
/// What leads to the wrong change promises so many times as much. It is tried
/// first, but does not count more: docs/culprit.md.
const WAY: f64 = 3.0;
/// A block that cures counts as so many that do not.
const CURE: f64 = 100.0;
/// A cure that keeps the pass from changing anything counts as if it left this
/// share of the changes.
const UNWRITTEN: f64 = 0.05;
/// What the function has in addition that wrote all changes to the IR.
const AUTHOR: f64 = 0.1;
/// What the innermost function of a crash's stack has in addition; the next
/// one has half of it, the third a third.
const FRAME: f64 = 0.5;

impl Ranker {
    /// Ranks by clues, but for the parts that are to be left out.
    ///
    /// # Panics
    ///
    /// If the clues are of another universe than the ranker was made for.
    pub fn rank_by_clues(&self, map: &CodeMap, clues: &Clues, without: &[Part]) -> Ranking {
        for spectrum in [&clues.sequences, &clues.mutants, &clues.others] {
            self.check(spectrum);
        }
        let has = |part: Part| !without.contains(&part);
        let weights: Vec<f64> =
            (0..clues.cures.len()).map(|block| weight(clues, block, &has)).collect();
        let frames: Vec<FunctionId> = match has(Part::Frames) {
            true => clues.frames.iter().map(|id| map.host(*id)).collect(),
            false => Vec::new(),
        };
        let layer = |path: &str| match has(Part::Layers) {
            true => layer(path, clues.in_codegen),
            false => 1.0,
        };
        let aggregation = if has(Part::Sum) { Aggregation::Sum } else { Aggregation::Mean };
        let file_of = |id: &FunctionId| map.function(*id).file;
        let on_stack: Vec<FileId> = frames.iter().map(file_of).collect();
        let (mut by_function, mut by_file) = (nearness(&frames), nearness(&on_stack));
        if has(Part::Authors) {
            // In their order: sums of numbers depend on it.
            for (id, share) in &clues.authors {
                *by_function.entry(map.host(*id)).or_default() += AUTHOR * share;
                *by_file.entry(file_of(id)).or_default() += AUTHOR * share;
            }
        }
        Ranking {
            files: suspects(&self.files, &weights, aggregation, &by_file, |id| layer(map.file(id))),
            functions: suspects(&self.functions, &weights, aggregation, &by_function, |id| {
                layer(map.file(file_of(&id)))
            }),
        }
    }
}

impl Ranker {
    /// What each block of the universe counts, times its layer.
    pub fn block_weights(&self, map: &CodeMap, clues: &Clues) -> Vec<f64> {
        let mut weights = vec![0.0; clues.cures.len()];
        for entity in &self.functions {
            let layer = layer(map.file(map.function(entity.id).file), clues.in_codegen);
            for &block in &entity.blocks {
                let block = block as usize;
                weights[block] = layer * weight(clues, block, &|_| true);
            }
        }
        weights
    }

    /// The same, and more for the way to the wrong change: where to look first.
    pub fn promise(&self, map: &CodeMap, clues: &Clues) -> Vec<f64> {
        let mut promise = self.block_weights(map, clues);
        for (promise, on_the_way) in promise.iter_mut().zip(&clues.on_the_way) {
            *promise *= if *on_the_way { WAY } else { 1.0 };
        }
        promise
    }
}

/// What a block counts.
fn weight(clues: &Clues, block: usize, has: &dyn Fn(Part) -> bool) -> f64 {
    let executing = |spectrum: &Spectrum| {
        let n_witnesses = spectrum.n_witnesses().max(1) as f64;
        spectrum.witnesses_of(block) as f64 / n_witnesses * n_witnesses.min(WITNESSES)
    };
    let mut passing = 0.0;
    if has(Part::Witnesses) {
        let all = [&clues.sequences, &clues.mutants, &clues.others];
        passing += all.into_iter().map(executing).sum::<f64>();
    }
    if has(Part::Rarity) {
        passing += clues.baseline[block] * BASELINE_RUNS;
    }
    let outside = has(Part::Window) && !clues.in_window[block];
    let by_place = if outside { OUTSIDE } else { 1.0 };
    let cure = &clues.cures[block];
    let is_left_out = !has(Part::Detours) || cure.by_return && !has(Part::Returns);
    let grade = match cure.cures {
        _ if is_left_out => 0.0,
        cures if !has(Part::Grades) => f64::from(u8::from(cures)),
        _ => cure.grade(),
    };
    let by_cure = 1.0 + CURE * grade;
    by_place * by_cure / (1.0 + passing)
}

/// What a stack adds: most for the innermost, half of it for the next, and so on;
/// of a recursion the innermost counts.
fn nearness<Id: Copy + Eq + Hash>(stack: &[Id]) -> HashMap<Id, f64> {
    let mut nearness = HashMap::new();
    for (depth, id) in stack.iter().enumerate() {
        nearness.entry(*id).or_insert(FRAME / (depth + 1) as f64);
    }
    nearness
}

fn suspects<Id: Copy + Eq + Hash>(
    entities: &[Entity<Id>],
    weights: &[f64],
    aggregation: Aggregation,
    in_addition: &HashMap<Id, f64>,
    layer: impl Fn(Id) -> f64,
) -> Vec<Suspect<Id>> {
    let combine = |entity: &Entity<Id>| {
        let own: Vec<f64> = entity.blocks.iter().map(|&block| weights[block as usize]).collect();
        aggregation.combine(&own)
    };
    let scores: Vec<f64> = entities.iter().map(combine).collect();
    let highest = scores.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    in_order(entities.iter().zip(scores).map(|(entity, score)| {
        let more = in_addition.get(&entity.id).copied().unwrap_or(0.0);
        (entity.id, layer(entity.id) * (score / highest + more))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{coverage, named};

    const GVN: &str = "llvm/lib/Transforms/Scalar/GVN.cpp";
    const LOADS: &str = "llvm/lib/Analysis/Loads.cpp";
    const VALUE: &str = "llvm/lib/IR/Value.cpp";

    fn map() -> CodeMap {
        named(&[
            ("gvn()", GVN, &[(0, 4)]),
            ("pre()", GVN, &[(4, 6)]),
            ("isSafe()", LOADS, &[(6, 12)]),
            ("setName()", VALUE, &[(12, 20)]),
        ])
    }

    /// Clues about a run that executed everything -> functions and their scores.
    fn check(change: impl Fn(&mut Clues), without: &[Part], expected: &[&str]) {
        let map = map();
        let failing = Spectrum::new(&[coverage(0..20)]);
        let mut clues = Clues::new(&failing);
        change(&mut clues);
        let ranking = Ranker::new(&map, failing.universe()).rank_by_clues(&map, &clues, without);
        let line = |s: &Suspect<FunctionId>| format!("{} {:.3}", map.function(s.id).name, s.score);
        assert_eq!(ranking.functions.iter().map(line).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn without_clues_size_and_layer_decide() {
        let by_layer = ["gvn() 0.500", "isSafe() 0.375", "pre() 0.250", "setName() 0.100"];
        check(|_| (), &[], &by_layer);
        let by_size = ["setName() 1.000", "isSafe() 0.750", "gvn() 0.500", "pre() 0.250"];
        check(|_| (), &[Part::Layers], &by_size);
        check(
            |_| (),
            &[Part::Sum],
            &["gvn() 1.000", "pre() 1.000", "isSafe() 0.500", "setName() 0.100"],
        );
    }

    #[test]
    fn what_cures_counts_a_hundred_times() {
        let cure = Cure { cures: true, by_return: false, executed: 1.0, written: 1.0 };
        let cures = |clues: &mut Clues| clues.cures[4] = cure;
        let expected = ["pre() 1.000", "gvn() 0.039", "isSafe() 0.029", "setName() 0.008"];
        check(cures, &[], &expected); // 102, 4, 6, 8 blocks' worth.
        let without = ["gvn() 0.500", "isSafe() 0.375", "pre() 0.250", "setName() 0.100"];
        check(cures, &[Part::Detours], &without);
        let by_return = |clues: &mut Clues| clues.cures[4] = Cure { by_return: true, ..cure };
        check(by_return, &[], &expected);
        check(by_return, &[Part::Returns], &without);
    }

    #[test]
    fn what_leads_to_the_wrong_change_is_tried_first_and_counts_no_more() {
        let way = |clues: &mut Clues| {
            clues.on_the_way = vec![false; 20];
            clues.on_the_way[4..6].fill(true);
        };
        let by_size = ["gvn() 0.500", "isSafe() 0.375", "pre() 0.250", "setName() 0.100"];
        check(way, &[], &by_size);
        let (map, failing) = (map(), Spectrum::new(&[coverage(0..20)]));
        let mut clues = Clues::new(&failing);
        way(&mut clues);
        let promise = Ranker::new(&map, failing.universe()).promise(&map, &clues);
        assert_eq!((promise[3], promise[4], promise[6]), (1.0, 3.0, 0.5));
    }

    #[test]
    fn a_cure_is_worth_the_less_the_more_else_it_changes() {
        // A quarter of a cure: 100 / 4 more than the other blocks.
        let half = Cure { cures: true, by_return: false, executed: 0.5, written: 1.0 };
        let graded = |clues: &mut Clues| clues.cures[4] = half;
        let expected = ["pre() 1.000", "gvn() 0.148", "isSafe() 0.111", "setName() 0.030"];
        check(graded, &[], &expected); // 27, 4, 6, 8 blocks' worth.
        let whole = ["pre() 1.000", "gvn() 0.039", "isSafe() 0.029", "setName() 0.008"];
        check(graded, &[Part::Grades], &whole);
        let nothing = Cure { cures: true, by_return: false, executed: 1.0, written: 0.0 };
        let off = |clues: &mut Clues| clues.cures[4] = nothing;
        let expected = ["pre() 1.000", "gvn() 0.164", "isSafe() 0.123", "setName() 0.033"];
        check(off, &[], &expected); // 1 + 100 · √0.05 for the block.
    }

    #[test]
    fn who_wrote_the_changes_is_suspect() {
        let wrote = |clues: &mut Clues| _ = clues.authors.insert(FunctionId(1), 1.0);
        let expected = ["gvn() 0.500", "isSafe() 0.375", "pre() 0.350", "setName() 0.100"];
        check(wrote, &[], &expected);
        let without = ["gvn() 0.500", "isSafe() 0.375", "pre() 0.250", "setName() 0.100"];
        check(wrote, &[Part::Authors], &without);
    }

    #[test]
    fn what_passing_runs_execute_counts_less() {
        let passing = |clues: &mut Clues| {
            for _ in 0..1000 {
                clues.mutants.push_witness(&coverage(0..4), 1.0);
            }
            clues.baseline[6..12].fill(0.01);
        };
        // gvn 4/51, pre 2, isSafe 6/5, setName 8.
        check(passing, &[], &["pre() 0.250", "setName() 0.100", "isSafe() 0.075", "gvn() 0.010"]);
        check(
            passing,
            &[Part::Witnesses, Part::Rarity],
            &["gvn() 0.500", "isSafe() 0.375", "pre() 0.250", "setName() 0.100"],
        );
    }

    #[test]
    fn a_stack_and_a_window_shift_the_blame() {
        let crash = |clues: &mut Clues| clues.frames = vec![FunctionId(2), FunctionId(0)];
        let expected = ["gvn() 0.750", "isSafe() 0.625", "pre() 0.250", "setName() 0.100"];
        check(crash, &[], &expected);
        let window = |clues: &mut Clues| clues.in_window[..4].fill(false);
        let expected = ["isSafe() 0.375", "pre() 0.250", "setName() 0.100", "gvn() 0.050"];
        check(window, &[], &expected);
    }
}
