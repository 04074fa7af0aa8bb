//! RecBi's guide: advantage actor-critic over operators (section 3.2, formulas (6)
//! to (8)).
//!
//! The state is how often each operator was chosen. The actor makes chances of it,
//! the critic predicts the reward to come. What the paper leaves open:
//! - **State.** Counts grow without end, so they are scaled: each plus 1, divided by
//!   the length of the vector. The input then has length 1 for any number of
//!   operators at any time, which bounds a step of learning, and the first choices
//!   do not throw it about.
//! - **Networks.** One hidden layer each, as in the paper; 32 `tanh` units.
//! - **Chances** are a softmax with a floor; see `policy.rs`.
//! - **Reward (6)** is the operator's mean `ΔQ` over all it was told of.
//! - **Advantage (7)** of step `t` looks at the rewards of `t` to `t + u` and at the
//!   state after them. The paper repeats a step to see them; here they are the next
//!   steps themselves, so a step is learnt from `u` steps later. Chances are then
//!   those of the current actor.
//! - **Update (8)** is followed for the actor, with the advantage as a constant. For
//!   the critic its gradient would be `-log P` times that of the prediction: upwards,
//!   whatever the reward. As usual in A2C the critic descends `A²/2` instead, with
//!   what it is compared with as a constant.
//!
//! Choices that nothing was told of yet wait in a queue with the state they were made
//! in: a batch is some steps of the same actor.
//!
//! **Invariant:** a step is learnt from once, and never before the rewards of its
//! whole horizon are known.

use std::collections::VecDeque;

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::network::Network;
use super::policy::{chances, draw, log_chance_slopes};
use super::{Guide, Told};

/// How the guide learns. The default is the paper's (section 4.2) where it says
/// something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActorCriticParameters {
    /// `u`: how many further steps an advantage looks at.
    pub horizon: usize,
    /// `γ`: what a reward is worth one step earlier.
    pub discount: f64,
    /// `β`, of both networks.
    pub learning_rate: f64,
    /// Units in each hidden layer; not in the paper.
    pub n_hidden: usize,
    /// The share of choices that are made uniformly; not in the paper.
    pub exploration: f64,
}

impl Default for ActorCriticParameters {
    fn default() -> Self {
        ActorCriticParameters {
            horizon: 5,
            discount: 0.9,
            learning_rate: 0.01,
            n_hidden: 32,
            exploration: 0.1,
        }
    }
}

/// An actor, a critic, and the steps they have not learnt from yet.
#[derive(Clone, Debug)]
pub struct ActorCritic {
    parameters: ActorCriticParameters,
    actor: Network,
    critic: Network,
    operators: Vec<Operator>,
    /// Oldest first; those with a reward before those without.
    steps: VecDeque<Step>,
    rng: ChaCha8Rng,
}

/// What is known of one operator.
#[derive(Clone, Debug, Default)]
struct Operator {
    n_chosen: u32,
    n_told: u32,
    gains: f64,
}

/// One choice.
#[derive(Clone, Debug)]
struct Step {
    state: Vec<f64>,
    choice: usize,
    /// Formula (6), once it is known.
    reward: Option<f64>,
}

impl ActorCritic {
    /// A guide among `0..n_choices` at its beginning: all are equally likely.
    ///
    /// # Panics
    /// If there is nothing to choose from.
    pub fn new(
        n_choices: usize,
        parameters: ActorCriticParameters,
        mut rng: ChaCha8Rng,
    ) -> ActorCritic {
        assert!(n_choices > 0, "there is no operator to choose");
        ActorCritic {
            parameters,
            actor: Network::new(n_choices, parameters.n_hidden, n_choices, &mut rng),
            critic: Network::new(n_choices, parameters.n_hidden, 1, &mut rng),
            operators: vec![Operator::default(); n_choices],
            steps: VecDeque::new(),
            rng,
        }
    }

    /// How often each operator was chosen, as the networks see it.
    fn state(&self) -> Vec<f64> {
        let counts = self.operators.iter().map(|operator| f64::from(operator.n_chosen) + 1.0);
        let length = counts.clone().map(|count| count * count).sum::<f64>().sqrt();
        counts.map(|count| count / length).collect()
    }

    fn prediction(&self, state: &[f64]) -> f64 {
        self.critic.answer(state).outputs[0]
    }

    /// Learns from the oldest step if all that its advantage needs is known.
    fn learn_from_oldest(&mut self) {
        let n_rewards = self.parameters.horizon + 1;
        let rewards: Option<Vec<f64>> =
            (0..n_rewards).map(|i| self.steps.get(i).and_then(|step| step.reward)).collect();
        let Some(rewards) = rewards else { return };
        let after = self.steps.get(n_rewards).map_or_else(|| self.state(), |s| s.state.clone());
        let Some(step) = self.steps.pop_front() else { return };

        let target = discounted(&rewards, self.prediction(&after), self.parameters.discount);
        let predicted = self.critic.answer(&step.state);
        let advantage = target - predicted.outputs[0];
        let upwards = self.critic.gradient(&step.state, &predicted, &[advantage]);
        self.critic.climb(&upwards, self.parameters.learning_rate);

        let answer = self.actor.answer(&step.state);
        let slopes = log_chance_slopes(&answer.outputs, step.choice, self.parameters.exploration);
        let by_outputs: Vec<f64> = slopes.iter().map(|slope| slope * advantage).collect();
        let upwards = self.actor.gradient(&step.state, &answer, &by_outputs);
        self.actor.climb(&upwards, self.parameters.learning_rate);
    }
}

impl Guide for ActorCritic {
    fn choose(&mut self) -> usize {
        let state = self.state();
        let chances = chances(&self.actor.answer(&state).outputs, self.parameters.exploration);
        let choice = draw(&chances, self.rng.random());
        self.operators[choice].n_chosen += 1;
        self.steps.push_back(Step { state, choice, reward: None });
        choice
    }

    fn learn(&mut self, told: &Told) {
        let waiting = self.steps.iter_mut().find(|step| step.reward.is_none());
        let Some(step) = waiting.filter(|step| step.choice == told.choice) else {
            panic!("choices are told in the order in which they were made");
        };
        let operator = &mut self.operators[told.choice];
        operator.n_told += 1;
        operator.gains += told.gain;
        step.reward = Some(operator.gains / f64::from(operator.n_told));
        self.learn_from_oldest();
    }
}

/// Formula (7) without the last term: rewards, and what is predicted after them.
fn discounted(rewards: &[f64], predicted_after: f64, discount: f64) -> f64 {
    rewards.iter().rev().fold(predicted_after, |later, reward| reward + discount * later)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::super::network::tests::{check_gradient, trained};
    use super::super::tests::{accepted, rejected};
    use super::*;

    fn guide(n_choices: usize, horizon: usize) -> ActorCritic {
        let parameters = ActorCriticParameters { horizon, ..ActorCriticParameters::default() };
        ActorCritic::new(n_choices, parameters, ChaCha8Rng::seed_from_u64(4))
    }

    #[test]
    fn the_critics_gradient_descends_half_the_square_of_the_advantage() {
        let critic = trained(3, 6, 1);
        let (state, target) = ([0.6, 0.0, 0.8], 1.7);
        let answer = critic.answer(&state);
        let gradient = critic.gradient(&state, &answer, &[target - answer.outputs[0]]);
        check_gradient(&critic, &gradient, |critic| {
            -(target - critic.answer(&state).outputs[0]).powi(2) / 2.0
        });
    }

    #[test]
    fn rewards_and_the_prediction_after_them_are_discounted_step_by_step() {
        // 1 + 0.5 * 2 + 0.25 * 4 + 0.125 * 8.
        assert_eq!(discounted(&[1.0, 2.0, 4.0], 8.0, 0.5), 4.0);
    }

    #[test]
    fn a_reward_is_the_operators_mean_gain() {
        let mut guide = guide(1, 5);
        for (gain, expected) in [(0.4, 0.4), (0.0, 0.2), (-0.1, 0.1)] {
            guide.choose();
            guide.learn(&accepted(0, 0.0, gain));
            let reward = guide.steps.back().and_then(|step| step.reward).unwrap();
            assert!((reward - expected).abs() < 1e-12, "{reward}");
        }
    }

    #[test]
    fn a_step_is_learnt_from_when_the_rewards_of_its_horizon_are_known() {
        let mut guide = guide(3, 2);
        let untrained = guide.critic.clone();
        let choices: Vec<usize> = (0..8).map(|_| guide.choose()).collect();
        for (n_told, &choice) in choices.iter().enumerate() {
            guide.learn(&accepted(choice, 0.0, 0.5));
            assert_eq!(guide.critic == untrained, n_told < 2);
            assert_eq!(guide.steps.len(), 8 - (n_told + 1).saturating_sub(2));
        }
    }

    #[test]
    fn a_rewarded_choice_becomes_likelier_and_its_reward_expected() {
        let mut guide = guide(2, 0);
        let choice = guide.choose();
        let state = guide.steps[0].state.clone();
        guide.learn(&accepted(choice, 0.0, 0.5));
        assert!(chances(&guide.actor.answer(&state).outputs, 0.1)[choice] > 0.5);
        assert!((0.0..0.5).contains(&guide.prediction(&state)));
        assert!(guide.prediction(&state) > 0.0);
    }

    #[test]
    fn a_lesson_of_a_batch_looks_at_the_state_after_its_horizon_and_not_at_the_last_one() {
        let mut guide = guide(3, 1);
        guide.critic = trained(3, 6, 1);
        guide.actor = trained(3, 6, 3);
        let choices: Vec<usize> = (0..6).map(|_| guide.choose()).collect();
        let [state, _, after] = [0, 1, 2].map(|i| guide.steps[i].state.clone());
        assert_ne!(after, guide.state());
        let (mut critic, mut actor) = (guide.critic.clone(), guide.actor.clone());
        choices[..2].iter().for_each(|&choice| guide.learn(&accepted(choice, 0.0, 0.5)));

        let [predicted, later] = [&state, &after].map(|state| critic.answer(state));
        let target = 0.5 + 0.9 * (0.5 + 0.9 * later.outputs[0]);
        let advantage = target - predicted.outputs[0];
        critic.climb(&critic.gradient(&state, &predicted, &[advantage]), 0.01);
        assert_eq!(guide.critic, critic);
        let answer = actor.answer(&state);
        let slopes = log_chance_slopes(&answer.outputs, choices[0], 0.1);
        let by_outputs: Vec<f64> = slopes.iter().map(|slope| slope * advantage).collect();
        actor.climb(&actor.gradient(&state, &answer, &by_outputs), 0.01);
        assert_eq!(guide.actor, actor);
    }

    #[test]
    #[should_panic(expected = "in the order in which they were made")]
    fn another_choice_than_the_oldest_is_not_taken() {
        let mut guide = guide(2, 5);
        let choice = guide.choose();
        guide.learn(&rejected(1 - choice));
    }
}
