//! From an actor's outputs to a choice: chances, their slopes, a draw.
//!
//! Chances are a softmax of which a share, the exploration, is given up and dealt
//! out equally: an operator that dies could become good without the actor ever
//! learning of it. Slopes are those of the mixture, so they fade where the floor is
//! most of a chance.
//!
//! **Invariant:** each of `n` chances is at least `exploration / n`, and they sum to
//! 1 but for rounding.

/// The softmax of `outputs`. The largest one is taken off first, so that no power
/// is beyond what a number can hold.
fn softmax(outputs: &[f64]) -> Vec<f64> {
    let largest = outputs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers = outputs.iter().map(|output| libm::exp(output - largest));
    let sum: f64 = powers.clone().sum();
    powers.map(|power| power / sum).collect()
}

/// How likely each operator is.
pub(super) fn chances(outputs: &[f64], exploration: f64) -> Vec<f64> {
    let floor = exploration / outputs.len() as f64;
    softmax(outputs).into_iter().map(|share| floor + (1.0 - exploration) * share).collect()
}

/// The derivative of the logarithm of the chance of `choice` by each output.
pub(super) fn log_chance_slopes(outputs: &[f64], choice: usize, exploration: f64) -> Vec<f64> {
    let shares = softmax(outputs);
    // How much of the chance is the softmax's: the rest has no slope. Below the
    // smallest number both may be 0, and then there is none either.
    let chance = chances(outputs, exploration)[choice];
    let learnt = if chance > 0.0 { (1.0 - exploration) * shares[choice] / chance } else { 0.0 };
    let is_choice = |index: usize| if index == choice { 1.0 } else { 0.0 };
    shares.iter().enumerate().map(|(i, share)| learnt * (is_choice(i) - share)).collect()
}

/// The operator at `point` when chances are laid side by side from 0 to 1.
pub(super) fn draw(chances: &[f64], point: f64) -> usize {
    let mut end = 0.0;
    let found = chances.iter().position(|chance| {
        end += chance;
        point < end
    });
    // Rounding may leave a gap before 1.
    found.unwrap_or(chances.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::super::network::tests::{check_gradient, trained};
    use super::*;

    #[test]
    fn the_actors_gradient_is_the_quotient_of_differences() {
        let actor = trained(3, 6, 3);
        let state = [0.6, 0.0, 0.8];
        for (choice, exploration) in [(0, 0.0), (1, 0.1), (2, 0.5)] {
            let answer = actor.answer(&state);
            let slopes = log_chance_slopes(&answer.outputs, choice, exploration);
            let gradient = actor.gradient(&state, &answer, &slopes);
            check_gradient(&actor, &gradient, |actor| {
                chances(&actor.answer(&state).outputs, exploration)[choice].ln()
            });
        }
    }

    #[test]
    fn chances_have_a_floor_and_sum_to_one_however_large_the_outputs_are() {
        let chances = chances(&[1e300, -1e300, 0.0, 1e300], 0.5);
        assert_eq!(chances, [0.375, 0.125, 0.125, 0.375]);
        for choice in 0..4 {
            let slopes = log_chance_slopes(&[1e300, -1e300, 0.0, 1e300], choice, 0.0);
            assert!(slopes.iter().all(|slope| slope.is_finite()), "{slopes:?}");
        }
    }

    #[test]
    fn a_point_falls_on_the_operator_whose_chance_it_is_in() {
        let chances = [0.25, 0.5, 0.25];
        let drawn = [0.0, 0.2499, 0.25, 0.7499, 0.75, 1.0].map(|point| draw(&chances, point));
        assert_eq!(drawn, [0, 0, 1, 1, 2, 2]);
    }
}
