//! Searches against a scripted compiler: learning from answers must pay.
//!
//! The compiler is a function. A sequence is the fitter the more of a hidden
//! sequence it has, in order; it is no witness while the bug shows.

use optsleuth_model::Element;
use optsleuth_search::{Alphabet, Gene, Method, Parameters, Sequence, TABLE_I};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const N_SEEDS: u64 = 20;
const N_EVALUATIONS: usize = 1500;

/// Shows its bug whenever `culprits.0` stands directly before `culprits.1`.
struct ScriptedCompiler {
    hidden: Vec<Gene>,
    culprits: (Gene, Gene),
}

impl ScriptedCompiler {
    fn fitness(&self, sequence: &Sequence) -> f64 {
        let genes = sequence.genes();
        let is_failing = genes.windows(2).any(|pair| (pair[0], pair[1]) == self.culprits);
        if is_failing {
            return 0.0;
        }
        let n_common = longest_common_subsequence(genes, &self.hidden);
        n_common as f64 / genes.len().max(self.hidden.len()) as f64
    }
}

fn longest_common_subsequence(a: &[Gene], b: &[Gene]) -> usize {
    let mut row = vec![0; b.len() + 1];
    for x in a {
        let mut diagonal = 0;
        for (index, y) in b.iter().enumerate() {
            let above = row[index + 1];
            row[index + 1] = if x == y { diagonal + 1 } else { above.max(row[index]) };
            diagonal = above;
        }
    }
    row[b.len()]
}

/// The best fitness after a fixed number of evaluations.
fn best(method: Method, seed: u64) -> f64 {
    let passes = |names: &[&str]| names.iter().copied().map(Element::pass).collect();
    let alphabet = Alphabet::new(passes(&["sroa", "gvn", "licm"]), passes(&TABLE_I)).unwrap();
    let buggy = alphabet.buggy().to_vec();
    let candidates = alphabet.candidates().to_vec();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    // The buggy optimizations, each after some others.
    let mut hidden = Vec::new();
    for gene in buggy.iter().rev() {
        hidden.extend((0..3).map(|_| candidates[rng.random_range(0..candidates.len())]));
        hidden.push(*gene);
    }
    let compiler = ScriptedCompiler { hidden, culprits: (buggy[0], buggy[1]) };

    let mut search = method.search(alphabet, Parameters::default(), rng);
    let (mut best, mut n_left) = (0.0f64, N_EVALUATIONS);
    while n_left > 0 {
        let candidates = search.ask();
        assert!(!candidates.is_empty());
        let fitness: Vec<f64> = candidates.iter().map(|one| compiler.fitness(one)).collect();
        best = fitness.iter().take(n_left).copied().fold(best, f64::max);
        n_left -= candidates.len().min(n_left);
        search.tell(&fitness);
    }
    best
}

fn mean(method: Method) -> f64 {
    (0..N_SEEDS).map(|seed| best(method, seed)).sum::<f64>() / N_SEEDS as f64
}

fn check(better: Method, worse: Method, at_least: f64) {
    let (better_mean, worse_mean) = (mean(better), mean(worse));
    let margin = better_mean - worse_mean;
    assert!(margin >= at_least, "{better}: {better_mean:.3}, {worse}: {worse_mean:.3}");
}

#[test]
fn the_genetic_search_finds_fitter_sequences_than_the_random_one() {
    check(Method::Locseq, Method::LocseqR, 0.15);
    check(Method::LocseqWc, Method::LocseqRwc, 0.15);
}

#[test]
fn the_constraint_helps_where_the_buggy_optimizations_matter() {
    check(Method::LocseqR, Method::LocseqRwc, 0.02);
}

#[test]
fn common_subsequences_are_measured_right() {
    let genes = |text: &str| text.bytes().map(|byte| Gene(byte.into())).collect::<Vec<_>>();
    let measure = |a: &str, b: &str| longest_common_subsequence(&genes(a), &genes(b));
    assert_eq!(measure("abcbdab", "bdcaba"), 4);
    assert_eq!((measure("", "ab"), measure("ab", "ab"), measure("ab", "cd")), (0, 2, 0));
}
