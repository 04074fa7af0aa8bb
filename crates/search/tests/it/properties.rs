//! What holds for every search, whatever the case, the seed and the answers.
//!
//! Nothing is compiled here: answers are arbitrary numbers.

use std::collections::HashSet;

use optsleuth_model::Element;
use optsleuth_search::{
    Alphabet, Constraint, Genetic, Individual, Method, Parameters, Search, Sequence,
};
use proptest::collection::vec;
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// An arbitrary case and arbitrary answers, which repeat when they run out.
#[derive(Clone, Debug)]
struct Scenario {
    alphabet: Alphabet,
    parameters: Parameters,
    seed: u64,
    answers: Vec<f64>,
}

fn scenarios() -> impl Strategy<Value = Scenario> {
    // Eight passes, so that both sides often share some, and some repeat.
    let passes = |n_passes| vec((0u8..8).prop_map(|n| Element::pass(format!("p{n}"))), n_passes);
    let alphabets = (passes(1..8), passes(1..8))
        .prop_map(|(buggy, candidates)| Alphabet::new(buggy, candidates).unwrap());
    let parameters = (1usize..14, 0.0..=1.0, 0.0..=1.0, 0usize..14).prop_map(
        |(population, crossover, mutation, max_size)| Parameters {
            population,
            crossover,
            mutation,
            max_size,
        },
    );
    let answer = prop_oneof![4 => 0.0..100.0, 2 => Just(0.0), 1 => any::<f64>()];
    (alphabets, parameters, any::<u64>(), vec(answer, 1..40)).prop_map(
        |(alphabet, parameters, seed, answers)| Scenario { alphabet, parameters, seed, answers },
    )
}

impl Scenario {
    fn rng(&self) -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(self.seed)
    }

    fn search(&self, method: Method) -> Box<dyn Search + Send> {
        method.search(self.alphabet.clone(), self.parameters, self.rng())
    }

    /// Asks and tells for some generations; `after` sees each batch and its answers.
    fn play<S: Search + ?Sized>(
        &self,
        search: &mut S,
        mut after: impl FnMut(&S, &[Sequence], &[f64]),
    ) {
        let mut answers = self.answers.iter().copied().cycle();
        for _ in 0..12 {
            let candidates = search.ask();
            let fitness: Vec<f64> = answers.by_ref().take(candidates.len()).collect();
            search.tell(&fitness);
            after(search, &candidates, &fitness);
        }
    }

    /// Everything a method asks for.
    fn questions(&self, method: Method) -> Vec<Sequence> {
        let mut all = Vec::new();
        self.play(&mut *self.search(method), |_, candidates, _| all.extend_from_slice(candidates));
        all
    }

    fn contains_buggy(&self, sequence: &Sequence) -> bool {
        let there = self.alphabet.render(sequence).optimizations();
        let mut buggy = self.alphabet.buggy().iter().map(|&gene| self.alphabet.optimization(gene));
        buggy.all(|optimization| there.contains(optimization))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn with_the_constraint_every_candidate_contains_the_buggy_optimizations(
        scenario in scenarios(),
    ) {
        for method in [Method::Locseq, Method::LocseqR] {
            for sequence in scenario.questions(method) {
                prop_assert!(scenario.contains_buggy(&sequence), "{method}: {sequence:?}");
            }
        }
    }

    #[test]
    fn no_candidate_is_asked_twice_or_empty(scenario in scenarios()) {
        for method in Method::ALL {
            let mut seen = HashSet::new();
            for sequence in scenario.questions(method) {
                prop_assert!(!sequence.genes().is_empty());
                prop_assert!(seen.insert(sequence.clone()), "{method}: {sequence:?}");
            }
        }
    }

    #[test]
    fn the_same_seed_and_answers_lead_to_the_same_questions(scenario in scenarios()) {
        for method in Method::ALL {
            prop_assert_eq!(scenario.questions(method), scenario.questions(method));
        }
    }

    #[test]
    fn the_population_is_the_fittest_of_all(scenario in scenarios()) {
        for constraint in [Constraint::ContainsBuggy, Constraint::Unconstrained] {
            let Scenario { alphabet, parameters, .. } = scenario.clone();
            let mut search = Genetic::new(alphabet, constraint, parameters, scenario.rng());
            // All there ever were, fittest first; of equals, those asked earlier.
            let mut all: Vec<Individual> = Vec::new();
            let mut is_as_expected = true;
            scenario.play(&mut search, |search, candidates, fitness| {
                let told = candidates.iter().zip(fitness);
                all.extend(told.map(|(sequence, &fitness)| Individual {
                    sequence: sequence.clone(),
                    fitness: if fitness > 0.0 { fitness } else { 0.0 },
                }));
                all.sort_by(|a, b| b.fitness.total_cmp(&a.fitness));
                let fittest = &all[..all.len().min(parameters.population)];
                is_as_expected &= search.population() == fittest;
            });
            prop_assert!(is_as_expected);
        }
    }

    #[test]
    fn without_the_constraint_the_buggy_optimizations_get_lost_sometimes(seed: u64) {
        let passes = |names: &str| names.split(',').map(Element::pass).collect::<Vec<_>>();
        let scenario = Scenario {
            alphabet: Alphabet::new(passes("a,b,c"), passes("d,e,f")).unwrap(),
            parameters: Parameters::default(),
            seed,
            answers: vec![1.0],
        };
        for method in [Method::LocseqWc, Method::LocseqRwc] {
            let questions = scenario.questions(method);
            prop_assert!(questions.iter().any(|sequence| !scenario.contains_buggy(sequence)));
        }
    }
}
