//! DiWi's guide: a Metropolis-Hastings chain over ranked rules (section 4.2.2 and
//! Algorithm 1).
//!
//! A rule's priority score is the mean distance of its last accepted witness to
//! those there were, times its success rate: accepted over selected. A rejected
//! mutant changes the rate alone. The chain proposes a rule uniformly and takes it
//! with probability `min(1, (1-p)^(k_b - k_a))`, with `k` the places of the new and
//! of the current rule in the ranking. The details:
//! - Line 10 of the algorithm proposes again after a refusal; the chain does not
//!   stay where it is. So the share of the rule at place `k` tends to
//!   `(1-p)^k (k + Σ_{j=1}^{n-k} (1-p)^j)` of the sum over all, flatter than the
//!   geometric distribution that the paper aims at.
//! - Equal scores rank by number. At first all scores are 0, so rules with low
//!   numbers come up more often until there are successes.
//! - The first witness has no others to be distant from: its distance is 0, and so
//!   is its rule's score until the next success.
//! - The current rule is the last one chosen, whether anything is known of it yet
//!   or not. A selection counts in the rate when it is told of.
//! - `p` follows section 5.2: the smallest number with three decimals for which
//!   places 1 to `n` have 0.95 of the geometric distribution, and which is at least
//!   `1/n`. The paper's 132 rules get its 0.023. Its third condition, a last place
//!   with less than a small ε, is left out: 0.023 gives 0.00109, above the ε of
//!   0.001 named there, and for few rules no `p` this small can satisfy it.
//!
//! **Invariant:** the ranking has every rule once, at any time.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::{Guide, Told};

/// How much of the geometric distribution the rules have to cover.
const COVERED: f64 = 0.95;

/// `p` has three decimals.
const STEPS: u32 = 1000;

/// A chain over rules.
#[derive(Clone, Debug)]
pub struct Metropolis {
    p: f64,
    rules: Vec<Rule>,
    /// Rule -> its place in the ranking, the best at 0.
    places: Vec<usize>,
    current: usize,
    rng: ChaCha8Rng,
}

/// What is known of one rule.
#[derive(Clone, Debug, Default)]
struct Rule {
    n_told: u32,
    n_accepted: u32,
    /// Of the last witness: how far it was from the others, on average.
    distance: f64,
}

impl Rule {
    /// `Score(MR)` of section 4.2.2; 0 before anything is told.
    fn score(&self) -> f64 {
        self.distance * f64::from(self.n_accepted) / f64::from(self.n_told.max(1))
    }
}

impl Metropolis {
    /// A chain among `0..n_choices` at its beginning: line 1 of Algorithm 1.
    ///
    /// # Panics
    /// If there is nothing to choose from.
    pub fn new(n_choices: usize, mut rng: ChaCha8Rng) -> Metropolis {
        assert!(n_choices > 0, "there is no rule to choose");
        Metropolis {
            p: success_probability(n_choices),
            rules: vec![Rule::default(); n_choices],
            places: (0..n_choices).collect(),
            current: rng.random_range(0..n_choices),
            rng,
        }
    }

    fn acceptance(&self, proposed: usize) -> f64 {
        let [k_a, k_b] = [self.current, proposed].map(|rule| self.places[rule] as f64);
        if k_b <= k_a { 1.0 } else { libm::pow(1.0 - self.p, k_b - k_a) }
    }

    fn rank(&mut self) {
        let mut ranking: Vec<usize> = (0..self.rules.len()).collect();
        // The sort is stable: of equals, the lower number stays in front.
        ranking.sort_by(|&a, &b| self.rules[b].score().total_cmp(&self.rules[a].score()));
        for (place, rule) in ranking.into_iter().enumerate() {
            self.places[rule] = place;
        }
    }
}

impl Guide for Metropolis {
    fn choose(&mut self) -> usize {
        // This ends: one proposal in n is the current rule, which is always taken.
        loop {
            let proposed = self.rng.random_range(0..self.rules.len());
            if self.rng.random::<f64>() < self.acceptance(proposed) {
                self.current = proposed;
                return proposed;
            }
        }
    }

    fn learn(&mut self, told: &Told) {
        let rule = &mut self.rules[told.choice];
        rule.n_told += 1;
        if told.accepted {
            rule.n_accepted += 1;
            rule.distance = told.distance;
        }
        self.rank();
    }
}

/// `p` for `n` rules.
fn success_probability(n: usize) -> f64 {
    let candidates = (1..STEPS).map(|step| f64::from(step) / f64::from(STEPS));
    let is_enough = |p: f64| 1.0 - libm::pow(1.0 - p, n as f64) >= COVERED && p * n as f64 >= 1.0;
    candidates.into_iter().find(|&p| is_enough(p)).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::super::tests::{accepted, rejected};
    use super::*;

    fn chain(n_choices: usize) -> Metropolis {
        Metropolis::new(n_choices, ChaCha8Rng::seed_from_u64(5))
    }

    fn ranking(chain: &Metropolis) -> Vec<usize> {
        let mut rules: Vec<usize> = (0..chain.rules.len()).collect();
        rules.sort_by_key(|&rule| chain.places[rule]);
        rules
    }

    #[test]
    fn p_is_the_papers_for_its_132_rules() {
        for (n, p) in [(132, 0.023), (10, 0.259), (2, 0.777), (1, 1.0), (100_000, 0.001)] {
            assert_eq!(success_probability(n), p, "{n} rules");
        }
    }

    #[test]
    fn a_score_is_the_last_distance_times_the_success_rate() {
        let mut chain = chain(3);
        let mut check = |told: Told, expected: f64| {
            chain.learn(&told);
            let score = chain.rules[told.choice].score();
            assert!((score - expected).abs() < 1e-12, "{told:?}: {score}");
        };
        check(rejected(1), 0.0); // 0 of 1.
        check(accepted(1, 0.4, 0.0), 0.2); // 0.4 * 1/2.
        check(rejected(1), 0.4 / 3.0);
        check(accepted(1, 0.1, 0.0), 0.05); // 0.1 * 2/4: the older distance is gone.
        check(accepted(2, 0.0, 0.0), 0.0); // The first witness of a set.
    }

    #[test]
    fn rules_rank_by_score_and_equal_ones_by_number() {
        let mut chain = chain(4);
        assert_eq!(ranking(&chain), [0, 1, 2, 3]);
        chain.learn(&accepted(3, 0.5, 0.0));
        assert_eq!(ranking(&chain), [3, 0, 1, 2]);
        chain.learn(&accepted(2, 0.5, 0.0));
        assert_eq!(ranking(&chain), [2, 3, 0, 1]);
        chain.learn(&rejected(2));
        assert_eq!(ranking(&chain), [3, 2, 0, 1]);
    }

    #[test]
    fn a_better_rule_is_always_taken_and_a_worse_one_by_its_places() {
        let mut chain = chain(10);
        chain.current = 4;
        for (proposed, expected) in [(0, 1.0), (4, 1.0), (5, 0.741), (7, 0.741 * 0.741 * 0.741)] {
            assert!((chain.acceptance(proposed) - expected).abs() < 1e-12, "{proposed}");
        }
    }

    #[test]
    fn shares_tend_to_the_chains_equilibrium() {
        const N_CHOICES: usize = 100_000;
        let mut chain = chain(10);
        let mut n_chosen = [0.0; 10];
        (0..N_CHOICES).for_each(|_| n_chosen[chain.choose()] += 1.0);
        let q = 1.0 - chain.p;
        let weight =
            |k: i32| q.powi(k) * (f64::from(k) + (1..=10 - k).map(|j| q.powi(j)).sum::<f64>());
        let all: f64 = (1..=10).map(weight).sum();
        for (rule, n) in n_chosen.into_iter().enumerate() {
            let (share, expected) = (n / N_CHOICES as f64, weight(rule as i32 + 1) / all);
            assert!((share - expected).abs() < 0.01, "{rule}: {share:.3}, not {expected:.3}");
        }
    }

    #[test]
    fn a_single_rule_is_chosen_always() {
        let mut chain = chain(1);
        for _ in 0..10 {
            assert_eq!(chain.choose(), 0);
            chain.learn(&rejected(0));
        }
    }
}
