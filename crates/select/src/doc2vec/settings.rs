//! The parameters of a model.

/// How a model is trained. Names and meanings are those of Gensim 4.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// How many numbers a vector has.
    pub vector_size: usize,
    /// How many words before and behind a word are its context, at most. For
    /// every word the number is drawn from 1 to this.
    pub window: u32,
    /// The rate of learning at the beginning.
    pub alpha: f32,
    /// The rate at the end. Between them it falls along a line.
    pub min_alpha: f32,
    /// How often the corpus is gone through.
    pub epochs: u32,
    /// With how many words of noise a word is contrasted.
    pub negative: u32,
    /// Words that are a larger part of the corpus than this are left out now
    /// and then; 0 leaves out none.
    pub sample: f64,
    /// Words that occur more rarely in the corpus are ignored.
    pub min_count: u64,
    /// Decides all that is drawn.
    pub seed: u64,
}

impl Settings {
    /// For pass sequences: Section 4.1 of the CTOS paper; what it does not name
    /// is as Gensim has it. No pass is too rare to count.
    pub fn sequences(seed: u64) -> Settings {
        Settings {
            vector_size: 100,
            window: 3,
            alpha: 0.05,
            min_alpha: 0.0001,
            epochs: 20,
            negative: 5,
            sample: 1e-3,
            min_count: 1,
            seed,
        }
    }

    /// For sequences of instructions: the same with a larger window.
    pub fn instructions(seed: u64) -> Settings {
        Settings { window: 5, ..Settings::sequences(seed) }
    }

    /// The rate of learning when this part of all work is done.
    pub(crate) fn rate(&self, done: f64) -> f32 {
        let (first, last) = (f64::from(self.alpha), f64::from(self.min_alpha));
        (first - (first - last) * done) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_falls_along_a_line() {
        let settings = Settings::sequences(1);
        assert_eq!(settings.rate(0.0), 0.05);
        assert_eq!(settings.rate(1.0), 0.0001);
        assert!((settings.rate(0.5) - 0.02505).abs() < 1e-7);
    }
}
