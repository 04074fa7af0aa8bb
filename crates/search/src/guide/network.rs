//! A network with one hidden layer: numbers in, numbers out, gradients by hand.
//!
//! The actor and the critic of [`ActorCritic`](super::ActorCritic) are one each.
//! They have some thousand weights and learn from one example at a time: a tensor
//! library would take longer to build than all of it takes to run, and would bring
//! a random generator of its own.
//!
//! Hidden units are `tanh`, which is bounded and smooth; outputs are linear. An
//! input is expected to have length 1. Then hidden weights that start with variance
//! 1 make sums of variance 1, where `tanh` is neither flat nor a line. Outputs start
//! at exactly 0: the actor begins with equal chances, the critic expects nothing.
//!
//! **Invariant:** a network knows nothing of rewards; what to climb is handed in as
//! the derivative by its outputs.

use rand::Rng;

/// The weights of two layers, with a bias for each unit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Network {
    n_hidden: usize,
    /// Of each hidden unit its inputs' weights and its bias, then of each output
    /// its hidden units' weights and its bias.
    weights: Vec<f64>,
}

/// What a network makes of an input.
pub(super) struct Answer {
    hidden: Vec<f64>,
    pub(super) outputs: Vec<f64>,
}

impl Network {
    /// A network at its beginning.
    pub(super) fn new(
        n_inputs: usize,
        n_hidden: usize,
        n_outputs: usize,
        rng: &mut impl Rng,
    ) -> Network {
        // Uniform between -√3 and √3 has variance 1.
        let spread = 3f64.sqrt();
        let mut weight = || spread * (2.0 * rng.random::<f64>() - 1.0);
        let mut weights: Vec<f64> = (0..n_hidden * (n_inputs + 1)).map(|_| weight()).collect();
        weights.resize(weights.len() + n_outputs * (n_hidden + 1), 0.0);
        Network { n_hidden, weights }
    }

    /// What it makes of `input`.
    pub(super) fn answer(&self, input: &[f64]) -> Answer {
        let (hidden_layer, output_layer) = self.layers(input.len());
        let hidden: Vec<f64> = sums(hidden_layer, input).map(libm::tanh).collect();
        let outputs = sums(output_layer, &hidden).collect();
        Answer { hidden, outputs }
    }

    /// The derivative by every weight of a function whose derivatives by the outputs
    /// at `input` are `by_outputs`.
    pub(super) fn gradient(&self, input: &[f64], answer: &Answer, by_outputs: &[f64]) -> Vec<f64> {
        let (_, output_layer) = self.layers(input.len());
        let mut by_hidden = vec![0.0; self.n_hidden];
        for (unit, by_output) in output_layer.chunks_exact(self.n_hidden + 1).zip(by_outputs) {
            for (sum, weight) in by_hidden.iter_mut().zip(unit) {
                *sum += by_output * weight;
            }
        }
        // The derivative of tanh is 1 - tanh².
        let by_sums = by_hidden.iter().zip(&answer.hidden).map(|(by, h)| by * (1.0 - h * h));
        let mut gradient = Vec::with_capacity(self.weights.len());
        by_sums.for_each(|by_sum| extend(&mut gradient, by_sum, input));
        by_outputs.iter().for_each(|&by| extend(&mut gradient, by, &answer.hidden));
        gradient
    }

    /// A step of size `rate` along `gradient`, upwards.
    pub(super) fn climb(&mut self, gradient: &[f64], rate: f64) {
        for (weight, slope) in self.weights.iter_mut().zip(gradient) {
            *weight += rate * slope;
        }
    }

    fn layers(&self, n_inputs: usize) -> (&[f64], &[f64]) {
        self.weights.split_at(self.n_hidden * (n_inputs + 1))
    }
}

/// The weighted sum of each unit of a layer, its bias included.
fn sums<'a>(layer: &'a [f64], inputs: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
    layer.chunks_exact(inputs.len() + 1).map(move |unit| {
        let weighted = unit.iter().zip(inputs).map(|(weight, input)| weight * input);
        weighted.sum::<f64>() + unit[inputs.len()]
    })
}

/// Adds the derivatives by one unit's weights and bias.
fn extend(gradient: &mut Vec<f64>, by_sum: f64, inputs: &[f64]) {
    gradient.extend(inputs.iter().map(|input| by_sum * input));
    gradient.push(by_sum);
}

#[cfg(test)]
pub(super) mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// A network whose weights are all different from 0, as after some learning.
    pub(crate) fn trained(n_inputs: usize, n_hidden: usize, n_outputs: usize) -> Network {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let mut network = Network::new(n_inputs, n_hidden, n_outputs, &mut rng);
        for weight in &mut network.weights {
            *weight += rng.random::<f64>() - 0.5;
        }
        network
    }

    /// Compares `gradient` with differences of `f`, for every weight.
    pub(crate) fn check_gradient(network: &Network, gradient: &[f64], f: impl Fn(&Network) -> f64) {
        const STEP: f64 = 1e-5;
        assert_eq!(gradient.len(), network.weights.len());
        for (index, slope) in gradient.iter().enumerate() {
            let moved = |by: f64| {
                let mut network = network.clone();
                network.weights[index] += by;
                f(&network)
            };
            let difference = (moved(STEP) - moved(-STEP)) / (2.0 * STEP);
            assert!((slope - difference).abs() < 1e-8, "weight {index}: {slope}, {difference}");
        }
    }

    #[test]
    fn the_gradient_of_every_weight_is_the_quotient_of_differences() {
        let network = trained(4, 5, 3);
        let input = [0.5, -0.1, 0.7, 0.2];
        let by_outputs = [1.0, -2.0, 0.5];
        let gradient = network.gradient(&input, &network.answer(&input), &by_outputs);
        check_gradient(&network, &gradient, |network| {
            let outputs = network.answer(&input).outputs;
            outputs.iter().zip(by_outputs).map(|(output, by)| output * by).sum()
        });
    }

    #[test]
    fn a_small_network_answers_what_was_computed_by_hand() {
        // One hidden unit tanh(0.5 x + 0.25), one output 2 h - 1.
        let weights = vec![0.5, 0.25, 2.0, -1.0];
        let network = Network { n_hidden: 1, weights };
        let outputs = network.answer(&[1.5]).outputs;
        assert!((outputs[0] - (2.0 * 1f64.tanh() - 1.0)).abs() < 1e-15);
    }

    #[test]
    fn a_new_network_answers_with_zeros() {
        let network = Network::new(3, 8, 2, &mut ChaCha8Rng::seed_from_u64(1));
        assert_eq!(network.answer(&[0.6, 0.0, 0.8]).outputs, [0.0, 0.0]);
    }

    #[test]
    fn climbing_the_gradient_raises_the_output() {
        let mut network = trained(2, 4, 1);
        let input = [0.6, 0.8];
        let before = network.answer(&input);
        network.climb(&network.gradient(&input, &before, &[1.0]), 0.01);
        assert!(network.answer(&input).outputs[0] > before.outputs[0]);
    }
}
