//! Random numbers that are the same on every machine and in every version.
//!
//! SplitMix64: G. L. Steele, D. Lea, C. H. Flood, Fast Splittable Pseudorandom
//! Number Generators, OOPSLA 2014. A counter and a mixing function: cheap
//! enough to be asked five times per word of a corpus, and a new stream for
//! every document costs nothing.
//!
//! **Invariant:** nothing but the seed decides what comes out.

/// The golden ratio, as the odd number nearest to 2^64 times it.
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// The stream of a seed.
    #[inline(always)]
    pub(crate) fn new(seed: u64) -> SplitMix64 {
        SplitMix64 { state: seed }
    }

    /// One of many streams of a seed, such as that of a document in an epoch.
    #[inline(always)]
    pub(crate) fn stream(seed: u64, parts: [u64; 2]) -> SplitMix64 {
        SplitMix64 { state: mix(mix(seed.wrapping_add(parts[0])).wrapping_add(parts[1])) }
    }

    /// 64 random bits.
    #[inline(always)]
    pub(crate) fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GAMMA);
        mix(self.state)
    }

    /// From 0 up to and without 1, in steps of 2^-24.
    #[inline(always)]
    pub(crate) fn fraction(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1u32 << 24) as f32
    }

    /// Below `n`, which is below 2^32. Its bias of `n` in 2^32 is not seen.
    #[inline(always)]
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        (((self.bits() >> 32) * u64::from(n)) >> 32) as u32
    }
}

#[inline(always)]
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_of_a_seed_is_the_published_one() {
        let mut random = SplitMix64::new(1_234_567);
        let drawn: Vec<u64> = (0..3).map(|_| random.bits()).collect();
        let published =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(drawn, published);
    }

    #[test]
    fn every_number_below_is_drawn_about_as_often() {
        let mut random = SplitMix64::stream(7, [1, 2]);
        let mut counts = [0; 5];
        for _ in 0..10_000 {
            counts[random.below(5) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (1800..2200).contains(count)), "{counts:?}");
        assert!((0..1000).all(|_| (0.0..1.0).contains(&random.fraction())));
    }
}
