//! Guides against a scripted compiler: what they are told must show in what they
//! choose.
//!
//! The compiler is a table. Each operator succeeds with a rate of its own and then
//! gives a witness of some worth. The best operators neither succeed most often nor
//! give the best witnesses, and have no low numbers.

use optsleuth_search::{ProgramMethod, Told};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const N_SEEDS: u64 = 8;
const N_STEPS: usize = 6000;

/// Rate of success and mean worth of a witness, for each operator.
type Operators = [(f64, f64); 10];

const OPERATORS: Operators = [
    (0.60, 0.05), // Often, and worth little.
    (0.05, 0.60), // Worth much, and seldom.
    (0.10, 0.20),
    (0.00, 0.00),
    (0.20, 0.10),
    (0.45, 0.45), // Best: 0.20.
    (0.30, 0.10),
    (0.40, 0.40), // Second: 0.16.
    (0.02, 0.30),
    (0.15, 0.15),
];
const BEST: [usize; 2] = [5, 7];

/// The choices of a method, with batches of which nothing is told before all of it
/// is chosen.
fn choices(method: ProgramMethod, operators: &Operators, batch: usize, seed: u64) -> Vec<usize> {
    let mut guide = method.guide(operators.len(), ChaCha8Rng::seed_from_u64(seed)).unwrap();
    let mut compiler = ChaCha8Rng::seed_from_u64(seed + 1000);
    let mut chosen = Vec::new();
    while chosen.len() < N_STEPS {
        let choices: Vec<usize> = (0..batch).map(|_| guide.choose()).collect();
        for &choice in &choices {
            let (rate, worth) = operators[choice];
            let accepted = compiler.random::<f64>() < rate;
            let worth = worth * (0.5 + compiler.random::<f64>());
            let worth = if accepted { worth } else { 0.0 };
            guide.learn(&Told { choice, accepted, distance: worth, gain: worth });
        }
        chosen.extend(choices);
    }
    chosen
}

/// How much of the last third of choices is the best operators', over all seeds.
fn best_shares(method: ProgramMethod, batch: usize) -> Vec<f64> {
    let share = |seed| {
        let chosen = choices(method, &OPERATORS, batch, seed);
        let last = &chosen[chosen.len() * 2 / 3..];
        last.iter().filter(|choice| BEST.contains(choice)).count() as f64 / last.len() as f64
    };
    (0..N_SEEDS).map(share).collect()
}

fn check_prefers_the_best(method: ProgramMethod, at_least: f64) {
    for batch in [1, 4, 8] {
        let shares = best_shares(method, batch);
        assert!(shares.iter().all(|&share| share >= at_least), "batches of {batch}: {shares:.2?}");
    }
}

#[test]
fn metropolis_comes_to_prefer_the_best_operators() {
    check_prefers_the_best(ProgramMethod::Diwi, 0.3);
}

#[test]
fn the_actor_comes_to_prefer_the_best_operators() {
    check_prefers_the_best(ProgramMethod::Recbi, 0.8);
}

#[test]
fn without_guidance_the_best_operators_are_chosen_like_any_other() {
    let shares = best_shares(ProgramMethod::RecbiRandom, 4);
    assert!(shares.iter().all(|share| (0.17..0.23).contains(share)), "{shares:.2?}");
}

#[test]
fn the_same_seed_and_answers_lead_to_the_same_choices() {
    for method in [ProgramMethod::Diwi, ProgramMethod::Recbi, ProgramMethod::RecbiRandom] {
        let run = |seed| choices(method, &OPERATORS, 4, seed);
        assert_eq!(run(3), run(3), "{method}");
        assert_ne!(run(3), run(4), "{method}");
    }
}

#[test]
fn every_operator_keeps_coming_up_when_nothing_or_everything_succeeds() {
    for method in [ProgramMethod::Diwi, ProgramMethod::Recbi, ProgramMethod::RecbiRandom] {
        for operators in [[(0.0, 0.0); 10], [(1.0, 0.3); 10], OPERATORS] {
            for seed in 0..N_SEEDS {
                let chosen = choices(method, &operators, 4, seed);
                for operator in 0..operators.len() {
                    let is_there = chosen[N_STEPS * 2 / 3..].contains(&operator);
                    assert!(is_there, "{method}, {:?}: no {operator}", operators[0]);
                }
            }
        }
    }
}
