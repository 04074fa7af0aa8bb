//! How often words occur -> which are left out, and which are drawn as noise.

use super::corpus::{Corpus, Word};
use super::settings::Settings;
use crate::random::SplitMix64;

/// Noise is drawn by the number of occurrences to this power, as Mikolov et
/// al. found best, and Gensim has it.
const NOISE_EXPONENT: f64 = 0.75;

/// What is known about the words of a corpus.
#[derive(Clone, Debug)]
pub(crate) struct Vocabulary {
    /// The chance of each word to be kept, in steps of 2^-32; 0 for what is too
    /// rare, 2^32 for what is always kept.
    kept: Vec<u64>,
    /// Walker's alias method, as Vose has it: a column per word, its chance in
    /// steps of 2^-32, and whose word it is otherwise.
    noise: Vec<(u64, Word)>,
}

impl Vocabulary {
    pub(crate) fn of(corpus: &Corpus, settings: &Settings) -> Vocabulary {
        let mut counts = vec![0u64; corpus.vocabulary_size()];
        for &word in corpus.words() {
            counts[usize::from(word)] += 1;
        }
        for count in &mut counts {
            if *count < settings.min_count {
                *count = 0;
            }
        }
        let total = counts.iter().sum::<u64>() as f64;
        Vocabulary {
            kept: counts.iter().map(|&count| kept(count, settings.sample * total)).collect(),
            noise: alias_table(&counts),
        }
    }

    /// Fills `kept` with the document's words but those that are left out.
    #[inline(always)]
    pub(crate) fn sample(
        &self,
        document: &[Word],
        random: &mut SplitMix64,
        sampled: &mut Vec<Word>,
    ) {
        sampled.clear();
        for &word in document {
            let chance = self.kept.get(usize::from(word)).copied().unwrap_or(0);
            if random.bits() >> 32 < chance {
                sampled.push(word);
            }
        }
    }

    /// A word of noise. There has to be a word.
    #[inline(always)]
    pub(crate) fn noise(&self, random: &mut SplitMix64) -> Word {
        let bits = random.bits();
        let column = ((bits >> 32) * self.noise.len() as u64) >> 32;
        let (chance, other) = self.noise[column as usize];
        if bits & 0xffff_ffff < chance { column as Word } else { other }
    }
}

/// Gensim's chance that an occurrence is kept, `(sqrt(c/t) + 1) · t/c`, of a
/// word that occurs `c` times, where `t` is the threshold.
fn kept(count: u64, threshold: f64) -> u64 {
    if count == 0 {
        return 0;
    }
    let ratio = if threshold > 0.0 { threshold / count as f64 } else { 1.0 };
    let chance = ((1.0 / ratio).sqrt() + 1.0) * ratio;
    if chance >= 1.0 { 1 << 32 } else { (chance * (1u64 << 32) as f64) as u64 }
}

/// Columns of the same height, each with at most two words.
fn alias_table(counts: &[u64]) -> Vec<(u64, Word)> {
    let weights: Vec<f64> =
        counts.iter().map(|&count| libm::pow(count as f64, NOISE_EXPONENT)).collect();
    let total: f64 = weights.iter().sum();
    let mut heights: Vec<f64> =
        weights.iter().map(|weight| weight / total * counts.len() as f64).collect();
    let mut table = vec![(1 << 32, 0); counts.len()];
    let (mut low, mut high): (Vec<usize>, Vec<usize>) =
        (0..counts.len()).partition(|&word| heights[word] < 1.0);
    while let (Some(&short), Some(&tall)) = (low.last(), high.last()) {
        low.pop();
        table[short] = ((heights[short] * (1u64 << 32) as f64) as u64, tall as Word);
        heights[tall] -= 1.0 - heights[short];
        if heights[tall] < 1.0 {
            high.pop();
            low.push(tall);
        }
    }
    // What is left is full but for rounding; a word that never occurs is not.
    let some = counts.iter().position(|&count| count > 0).unwrap_or(0);
    for word in low {
        if counts[word] == 0 {
            table[word] = (0, some as Word);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corpus(counts: &[usize]) -> Corpus {
        counts.iter().enumerate().map(|(word, &n)| vec![word as Word; n]).collect()
    }

    #[test]
    fn noise_is_drawn_by_the_power_of_the_counts() {
        let vocabulary = Vocabulary::of(&corpus(&[16, 0, 81, 1]), &Settings::sequences(1));
        let mut random = SplitMix64::new(5);
        let mut drawn = [0u32; 4];
        for _ in 0..36_000 {
            drawn[usize::from(vocabulary.noise(&mut random))] += 1;
        }
        // 16, 81 and 1 to the power 3/4 are 8, 27 and 1.
        let near = |drawn: u32, expected: u32| drawn.abs_diff(expected) < 400;
        assert!(near(drawn[0], 8000) && near(drawn[2], 27_000) && near(drawn[3], 1000));
        assert_eq!(drawn[1], 0);
    }

    #[test]
    fn frequent_words_are_left_out_as_often_as_gensim_leaves_them_out() {
        // 114 words, each as frequent: t/c is 0.114.
        let expected = ((1.0f64 / 0.114).sqrt() + 1.0) * 0.114;
        let chance = kept(1000, 114.0) as f64 / (1u64 << 32) as f64;
        assert!((chance - expected).abs() < 1e-9 && (0.45..0.453).contains(&chance));
        assert_eq!((kept(10, 114.0), kept(10, 0.0), kept(0, 1.0)), (1 << 32, 1 << 32, 0));
    }

    #[test]
    fn rare_words_are_ignored() {
        let settings = Settings { min_count: 3, ..Settings::sequences(1) };
        let vocabulary = Vocabulary::of(&corpus(&[2, 3]), &settings);
        let mut random = SplitMix64::new(1);
        assert!((0..100).all(|_| vocabulary.noise(&mut random) == 1));
        let mut kept = Vec::new();
        vocabulary.sample(&[0; 100], &mut random, &mut kept);
        assert_eq!(kept, []);
    }
}
