//! One document in one epoch: every kept word is predicted from its context
//! and the document, and all vectors involved learn from the error.
//!
//! This is where all time is spent.
//!
//! **Invariant:** touches the document's own vector and the weights handed in,
//! nothing else.

use pulp::{Simd, WithSimd};

use super::corpus::Word;
use super::settings::Settings;
use super::sigmoid::Sigmoid;
use super::vocabulary::Vocabulary;
use crate::kernel::{self, Group};
use crate::random::SplitMix64;

/// The vector of a document of 100 numbers, in groups: the one case that is
/// compiled with a constant length.
const USUAL_WIDTH: usize = 13;

/// How many words are told apart at a time: a word and five of noise are two
/// times as many.
const TOGETHER: usize = 3;

/// What is learnt about words: a vector for each as context, and one as what is
/// predicted.
#[derive(Clone, Debug)]
pub(crate) struct Weights {
    pub(crate) contexts: Vec<Group>,
    pub(crate) outputs: Vec<Group>,
}

/// What does not change while a model is trained.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    pub(crate) settings: Settings,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) sigmoid: Sigmoid,
    /// How many groups a vector has.
    pub(crate) width: usize,
}

/// Memory that lessons share, so that none allocates.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slate {
    sampled: Vec<Word>,
    hidden: Vec<Group>,
    error: Vec<Group>,
    /// Words to tell apart, and what they ought to be predicted as; then, by
    /// how much their vectors have to change.
    targets: Vec<(Word, f32)>,
}

/// One document in one epoch. Words learn if `WORDS_LEARN`; the document's own
/// vector always does.
pub(crate) struct Lesson<'a, const WORDS_LEARN: bool> {
    pub(crate) subject: &'a Subject,
    pub(crate) document: &'a [Word],
    pub(crate) vector: &'a mut [Group],
    pub(crate) weights: &'a mut Weights,
    pub(crate) rate: f32,
    pub(crate) random: SplitMix64,
    pub(crate) slate: &'a mut Slate,
}

impl<const WORDS_LEARN: bool> WithSimd for Lesson<'_, WORDS_LEARN> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let Slate { sampled, hidden, error, .. } = &mut *self.slate;
        self.subject.vocabulary.sample(self.document, &mut self.random, sampled);
        hidden.resize(self.subject.width, [0.0; 8]);
        error.resize(self.subject.width, [0.0; 8]);
        match self.subject.width {
            USUAL_WIDTH => self.learn(simd, USUAL_WIDTH),
            width => self.learn(simd, width),
        }
    }
}

impl<const WORDS_LEARN: bool> Lesson<'_, WORDS_LEARN> {
    #[inline(always)]
    fn learn<S: Simd>(self, simd: S, width: usize) {
        let Lesson { subject, vector, weights, rate, mut random, slate, .. } = self;
        let Slate { sampled, hidden, error, targets } = slate;
        let contexts = kernel::registers_mut::<S>(&mut weights.contexts);
        let outputs = kernel::registers_mut::<S>(&mut weights.outputs);
        let vector = &mut kernel::registers_mut::<S>(vector)[..width];
        let hidden = &mut kernel::registers_mut::<S>(hidden)[..width];
        let error = &mut kernel::registers_mut::<S>(error)[..width];
        let row = |word: Word| usize::from(word) * width..(usize::from(word) + 1) * width;
        let window = subject.settings.window.max(1);

        for (position, &word) in sampled.iter().enumerate() {
            let reach = 1 + random.below(window) as usize;
            let before = &sampled[position.saturating_sub(reach)..position];
            let behind = &sampled[position + 1..sampled.len().min(position + 1 + reach)];

            hidden.copy_from_slice(vector);
            for &neighbour in before.iter().chain(behind) {
                kernel::add(simd, hidden, &contexts[row(neighbour)]);
            }
            kernel::scale(simd, hidden, 1.0 / (before.len() + behind.len() + 1) as f32);

            // All predictions come before any change: they do not wait for
            // each other then.
            targets.clear();
            targets.push((word, 1.0));
            for _ in 0..subject.settings.negative {
                let noise = subject.vocabulary.noise(&mut random);
                if noise != word {
                    targets.push((noise, 0.0));
                }
            }
            let (groups, rest) = targets.as_chunks_mut::<TOGETHER>();
            for group in groups {
                let rows = group.map(|(target, _)| &outputs[row(target)]);
                let predictions = kernel::dots(simd, hidden, rows);
                for ((_, by), prediction) in group.iter_mut().zip(predictions) {
                    *by = subject.sigmoid.at(prediction).map_or(0.0, |p| (*by - p) * rate);
                }
            }
            for (target, by) in rest {
                let [prediction] = kernel::dots(simd, hidden, [&outputs[row(*target)]]);
                *by = subject.sigmoid.at(prediction).map_or(0.0, |p| (*by - p) * rate);
            }

            error.fill(simd.splat_f32s(0.0));
            // Three at a time, unless they are the same: the error is read and
            // written less often then.
            let (groups, rest) = targets.as_chunks::<TOGETHER>();
            for group in groups {
                let rows = group.map(|(target, _)| row(target));
                if let Ok(rows) = outputs.get_disjoint_mut(rows) {
                    let by = group.map(|(_, by)| by);
                    change::<S, WORDS_LEARN, _>(simd, rows, by, hidden, error);
                } else {
                    for &(target, by) in group {
                        let rows = [&mut outputs[row(target)]];
                        change::<S, WORDS_LEARN, _>(simd, rows, [by], hidden, error);
                    }
                }
            }
            for &(target, by) in rest {
                let rows = [&mut outputs[row(target)]];
                change::<S, WORDS_LEARN, _>(simd, rows, [by], hidden, error);
            }

            // Each vector gets the whole error, not its share: so does Gensim.
            kernel::add(simd, vector, error);
            if WORDS_LEARN {
                for &neighbour in before.iter().chain(behind) {
                    kernel::add(simd, &mut contexts[row(neighbour)], error);
                }
            }
        }
    }
}

/// Moves predicted words' vectors by so much towards what they were predicted
/// from, and adds to the error what they were before, by as much.
#[inline(always)]
fn change<S: Simd, const WORDS_LEARN: bool, const N: usize>(
    simd: S,
    outputs: [&mut [S::f32s]; N],
    by: [f32; N],
    hidden: &[S::f32s],
    error: &mut [S::f32s],
) {
    let by = by.map(|by| simd.splat_f32s(by));
    let outputs = outputs.map(|output| &mut output[..hidden.len()]);
    for (place, (error, &hidden)) in error.iter_mut().zip(hidden).enumerate() {
        let mut sum = *error;
        for target in 0..N {
            let old = outputs[target][place];
            sum = simd.add_f32s(sum, simd.mul_f32s(by[target], old));
            if WORDS_LEARN {
                outputs[target][place] = simd.add_f32s(old, simd.mul_f32s(by[target], hidden));
            }
        }
        *error = sum;
    }
}

#[cfg(test)]
mod tests {
    use pulp::Scalar256b;

    use super::*;
    use crate::doc2vec::Corpus;

    #[test]
    fn a_machine_without_wide_registers_learns_the_same_bits() {
        let document: Vec<Word> = (0..200).map(|position| position * 7 % 31).collect();
        let corpus: Corpus = [document.clone()].into_iter().collect();
        let settings = Settings { sample: 0.0, ..Settings::sequences(1) };
        for width in [1, 5, USUAL_WIDTH] {
            let vocabulary = Vocabulary::of(&corpus, &settings);
            let sigmoid = Sigmoid::new();
            let subject = Subject { settings: settings.clone(), vocabulary, sigmoid, width };
            let mut random = SplitMix64::new(4);
            let mut numbers = |n: usize| -> Vec<Group> {
                (0..n).map(|_| std::array::from_fn(|_| random.fraction() - 0.5)).collect()
            };
            let vector = numbers(width);
            let weights = Weights { contexts: numbers(31 * width), outputs: numbers(31 * width) };
            let learn = |is_wide: bool| {
                let (mut vector, mut weights) = (vector.clone(), weights.clone());
                let lesson = Lesson::<true> {
                    subject: &subject,
                    document: &document,
                    vector: &mut vector,
                    weights: &mut weights,
                    rate: 0.05,
                    random: SplitMix64::new(9),
                    slate: &mut Slate::default(),
                };
                match is_wide {
                    true => kernel::widely(lesson),
                    false => Scalar256b.vectorize(lesson),
                }
                (vector, weights.contexts, weights.outputs)
            };
            let learnt = learn(true);
            assert_eq!(learnt, learn(false));
            assert_ne!(learnt.0, vector);
        }
    }
}
