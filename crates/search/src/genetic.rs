//! The genetic algorithm: Algorithm 1, with or without the constraint.
//!
//! A batch of questions is a generation. What the paper leaves open is decided as
//! follows.
//! - `S` is a list and takes in pairs, so it may have one more than `N`. A
//!   population has distinct individuals.
//! - The parents are two different individuals drawn at random; a population of
//!   one is both parents.
//! - Equally fit individuals rank by age, older ones first.
//! - Nothing is evaluated twice. A known sequence that is bred again is dropped:
//!   either it is in the population already, or `N` older ones were at least as
//!   fit when it fell out, and the population has not got worse since.
//! - A generation without any new sequence is bred again, up to
//!   [`FRUITLESS_GENERATIONS`] times.
//!
//! **Invariant:** the population has at most `N` individuals, fittest first, and
//! never loses the fittest.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::asked::Asked;
use crate::operators::{Space, another};
use crate::{Alphabet, Constraint, Individual, Search, Sequence};

/// After so many generations without a new sequence the search is over.
const FRUITLESS_GENERATIONS: usize = 200;

/// How the search goes about it. The default is the paper's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// `N`: how many individuals survive, and how many there are at first.
    pub population: usize,
    /// `PB_cx`: how likely two parents exchange their tails.
    pub crossover: f64,
    /// `PB_mut`: how likely an individual is mutated.
    pub mutation: f64,
    /// `MAX_SIZE`: how long the first individuals are at most. Later ones may
    /// be longer.
    pub max_size: usize,
}

#[derive(Clone, Debug)]
pub struct Genetic {
    space: Space,
    parameters: Parameters,
    rng: ChaCha8Rng,
    population: Vec<Individual>,
    asked: Asked,
}

impl Default for Parameters {
    fn default() -> Self {
        Parameters { population: 50, crossover: 0.5, mutation: 0.3, max_size: 15 }
    }
}

impl Genetic {
    /// A search at its beginning.
    pub fn new(
        alphabet: Alphabet,
        constraint: Constraint,
        parameters: Parameters,
        rng: ChaCha8Rng,
    ) -> Genetic {
        let space = Space::new(alphabet, constraint, parameters.max_size);
        Genetic { space, parameters, rng, population: Vec::new(), asked: Asked::default() }
    }

    /// The fittest individuals so far, fittest first.
    pub fn population(&self) -> &[Individual] {
        &self.population
    }

    /// A new `S`: lines 7 to 15.
    fn breed(&mut self) -> Vec<Sequence> {
        let mut offspring = Vec::new();
        while offspring.len() < self.parameters.population {
            let mut pair = self.parents();
            if self.rng.random::<f64>() < self.parameters.crossover {
                let [p1, p2] = &pair;
                pair = self.space.crossover(p1, p2, &mut self.rng);
            }
            offspring.extend(pair);
        }
        for individual in &mut offspring {
            if self.rng.random::<f64>() < self.parameters.mutation {
                *individual = self.space.mutate(individual, &mut self.rng);
            }
        }
        offspring
    }

    fn parents(&mut self) -> [Sequence; 2] {
        let n = self.population.len();
        let one = self.rng.random_range(0..n);
        let other = another(n, one, &mut self.rng).unwrap_or(one);
        [one, other].map(|index| self.population[index].sequence.clone())
    }

    fn next_generation(&mut self) {
        if self.population.is_empty() {
            let draw = || self.space.individual(&mut self.rng);
            return self.asked.fill(self.parameters.population, draw);
        }
        for _ in 0..FRUITLESS_GENERATIONS {
            for individual in self.breed() {
                self.asked.offer(individual);
            }
            if !self.asked.waiting().is_empty() {
                return;
            }
        }
    }
}

impl Search for Genetic {
    fn ask(&mut self) -> Vec<Sequence> {
        if self.asked.waiting().is_empty() {
            self.next_generation();
        }
        self.asked.waiting().to_vec()
    }

    fn tell(&mut self, fitness: &[f64]) {
        self.population.extend(self.asked.answer(fitness));
        // The sort is stable: of equals, those who were there before stay in front.
        self.population.sort_by(|a, b| b.fitness.total_cmp(&a.fitness));
        self.population.truncate(self.parameters.population);
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::alphabet::tests::alphabet;
    use crate::sequence::tests::letters;

    fn genetic(buggy: &str, candidates: &str, parameters: Parameters) -> Genetic {
        let rng = ChaCha8Rng::seed_from_u64(3);
        Genetic::new(alphabet(buggy, candidates), Constraint::ContainsBuggy, parameters, rng)
    }

    #[test]
    fn the_fittest_survive_and_of_equals_the_oldest() {
        let parameters = Parameters { population: 3, ..Parameters::default() };
        let mut search = genetic("ab", "cdefgh", parameters);
        let first = search.ask();
        search.tell(&[1.0, 2.0, 1.0]);
        let order = |search: &Genetic| -> Vec<Sequence> {
            search.population().iter().map(|one| one.sequence.clone()).collect()
        };
        assert_eq!(order(&search), [first[1].clone(), first[0].clone(), first[2].clone()]);
        let second = search.ask();
        let mut fitness = vec![1.0; second.len()];
        fitness[0] = 1.5;
        search.tell(&fitness);
        assert_eq!(order(&search), [first[1].clone(), second[0].clone(), first[0].clone()]);
    }

    #[test]
    fn without_crossover_and_mutation_there_is_nothing_new_to_try() {
        let parameters =
            Parameters { population: 5, crossover: 0.0, mutation: 0.0, ..Parameters::default() };
        let mut search = genetic("ab", "cd", parameters);
        let n_candidates = search.ask().len();
        assert_eq!(n_candidates, 5);
        search.tell(&vec![1.0; n_candidates]);
        assert!(search.ask().is_empty());
        search.tell(&[]);
        assert!(search.ask().is_empty());
        assert_eq!(search.population().len(), 5);
    }

    #[test]
    fn a_pair_that_is_only_crossed_has_tails_of_its_parents() {
        let parameters = Parameters { population: 2, crossover: 1.0, mutation: 0.0, max_size: 8 };
        let mut search = genetic("a", "bcdefgh", parameters);
        let parents = search.ask();
        search.tell(&[1.0, 1.0]);
        let children = search.ask();
        assert!(!children.is_empty());
        for child in children.iter().map(letters) {
            let [p1, p2] = [0, 1].map(|index| letters(&parents[index]));
            let from = |head: &str, tail: &str| {
                (1..=head.len().min(tail.len()))
                    .any(|d| child == format!("{}{}", &head[..d], &tail[d..]))
            };
            assert!(from(&p1, &p2) || from(&p2, &p1), "{child} of {p1} and {p2}");
        }
    }

    #[test]
    fn parents_are_two_and_offspring_come_in_pairs() {
        let parameters = Parameters { population: 3, ..Parameters::default() };
        let mut search = genetic("ab", "cdef", parameters);
        search.ask();
        search.tell(&[1.0, 2.0, 3.0]);
        for _ in 0..100 {
            let [p1, p2] = search.parents();
            assert_ne!(p1, p2);
            assert_eq!(search.breed().len(), 4);
        }
    }

    #[test]
    fn a_population_of_one_goes_on_by_mutation() {
        let parameters = Parameters { population: 1, ..Parameters::default() };
        let mut search = genetic("ab", "cdef", parameters);
        for generation in 0..20 {
            let n_candidates = search.ask().len();
            assert!((1..=2).contains(&n_candidates), "{n_candidates} in generation {generation}");
            search.tell(&vec![f64::from(generation); n_candidates]);
            assert_eq!(search.population().len(), 1);
        }
    }

    #[test]
    fn no_population_asks_for_nothing() {
        let parameters = Parameters { population: 0, ..Parameters::default() };
        assert!(genetic("ab", "cd", parameters).ask().is_empty());
    }

    #[test]
    fn a_question_stays_until_it_is_answered() {
        let mut search = genetic("ab", "cd", Parameters::default());
        let first = search.ask();
        assert_eq!(search.ask(), first);
        search.tell(&vec![0.0; first.len()]);
        assert_ne!(search.ask(), first);
    }
}
