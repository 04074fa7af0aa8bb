//! Corpus -> embedding, on many threads.
//!
//! The vocabularies here are tiny, so all threads would write to the same few
//! vectors of words all the time. Instead, the documents are split into lanes.
//! A lane goes through a few of its documents with its own copy of the words'
//! vectors; then the copies of all lanes are averaged, and it goes on.
//!
//! **Invariant:** how many lanes there are, and when they meet, depends on the
//! corpus alone, and copies are added up in the order of lanes.

use rayon::prelude::*;

use super::corpus::{Corpus, Word};
use super::lesson::{Lesson, Slate, Subject, Weights};
use super::settings::Settings;
use super::sigmoid::Sigmoid;
use super::vocabulary::Vocabulary;
use crate::kernel::{self, Group};
use crate::random::SplitMix64;
use crate::vectors::Vectors;

/// A lane has at least so many documents. With fewer, averages of words'
/// vectors learn so much more slowly than one copy that it shows.
const DOCUMENTS_PER_LANE: usize = 2500;
/// Enough for the cores of a desktop, and few enough that averages are good.
const MOST_LANES: usize = 16;
/// How many documents of each lane are gone through before copies are averaged.
const DOCUMENTS_PER_BLOCK: usize = 16;

/// Streams of random numbers that are not those of an epoch.
const INITIAL_WORDS: u64 = u64::MAX;
const INITIAL_DOCUMENTS: u64 = u64::MAX - 1;
const INFERENCE: u64 = u64::MAX - 2;

/// A trained model.
#[derive(Clone, Debug)]
pub struct Embedding {
    subject: Subject,
    weights: Weights,
    documents: Vectors,
}

impl Embedding {
    /// A vector for each document of the corpus, in order. That of a document
    /// without words is nearly zero.
    pub fn documents(&self) -> &Vectors {
        &self.documents
    }

    /// The same, without the model.
    pub fn into_documents(self) -> Vectors {
        self.documents
    }

    /// The vector of a document that may not be in the corpus. Words that are
    /// not are ignored. The same words have the same vector.
    pub fn infer(&self, words: &[Word]) -> Vec<f32> {
        let Subject { settings, width, .. } = &self.subject;
        let mut random = SplitMix64::stream(settings.seed, [INFERENCE, 0]);
        let mut vector = vec![[0.0; 8]; *width];
        initialize(&mut vector, settings.vector_size, &mut random);
        let mut weights = self.weights.clone();
        let mut slate = Slate::default();
        for epoch in 0..settings.epochs {
            kernel::widely(Lesson::<false> {
                subject: &self.subject,
                document: words,
                vector: &mut vector,
                weights: &mut weights,
                rate: settings.rate(f64::from(epoch) / f64::from(settings.epochs)),
                random: SplitMix64::stream(settings.seed, [INFERENCE, u64::from(epoch) + 1]),
                slate: &mut slate,
            });
        }
        vector.as_flattened()[..settings.vector_size].to_vec()
    }
}

/// Trains a model. `progress` hears from time to time how many documents were
/// gone through, and how many there are in all epochs together.
pub fn train(corpus: &Corpus, settings: &Settings, progress: &dyn Fn(u64, u64)) -> Embedding {
    let lanes = (corpus.len() / DOCUMENTS_PER_LANE).clamp(1, MOST_LANES);
    train_in_lanes(corpus, settings, lanes, progress)
}

fn train_in_lanes(
    corpus: &Corpus,
    settings: &Settings,
    n_lanes: usize,
    progress: &dyn Fn(u64, u64),
) -> Embedding {
    let mut documents = Vectors::zeros(settings.vector_size, corpus.len());
    let width = documents.width();
    let subject = Subject {
        settings: settings.clone(),
        vocabulary: Vocabulary::of(corpus, settings),
        sigmoid: Sigmoid::new(),
        width,
    };
    documents.groups_mut().par_chunks_mut(width).enumerate().for_each(|(index, vector)| {
        let mut random = SplitMix64::stream(settings.seed, [INITIAL_DOCUMENTS, index as u64]);
        initialize(vector, settings.vector_size, &mut random);
    });
    let n_groups = corpus.vocabulary_size() * width;
    let mut weights =
        Weights { contexts: vec![[0.0; 8]; n_groups], outputs: vec![[0.0; 8]; n_groups] };
    let mut random = SplitMix64::stream(settings.seed, [INITIAL_WORDS, 0]);
    for vector in weights.contexts.chunks_mut(width) {
        initialize(vector, settings.vector_size, &mut random);
    }

    // At least one, so that a chunk is never empty.
    let per_lane = corpus.len().div_ceil(n_lanes).max(1);
    let mut lanes: Vec<Lane> = (0..corpus.len().div_ceil(per_lane))
        .map(|lane| Lane {
            first: lane * per_lane,
            weights: weights.clone(),
            slate: Slate::default(),
            n_done: 0,
        })
        .collect();
    let total = corpus.len() as u64 * u64::from(settings.epochs);
    let mut done = 0;
    for epoch in 0..settings.epochs {
        for start in (0..per_lane).step_by(DOCUMENTS_PER_BLOCK) {
            let vectors = documents.groups_mut().par_chunks_mut(per_lane * width);
            lanes.par_iter_mut().zip(vectors).for_each(|(lane, vectors)| {
                lane.go_through(&subject, corpus, epoch, start, vectors, &weights);
            });
            merge(&lanes, &mut weights);
            done += lanes.iter().map(|lane| lane.n_done as u64).sum::<u64>();
            progress(done, total);
        }
    }
    Embedding { subject, weights, documents }
}

/// Some documents, and a copy of the words' vectors.
struct Lane {
    first: usize,
    weights: Weights,
    slate: Slate,
    /// How many documents it went through in this block.
    n_done: usize,
}

impl Lane {
    /// Goes through a block of the lane's documents, whose vectors these are.
    fn go_through(
        &mut self,
        subject: &Subject,
        corpus: &Corpus,
        epoch: u32,
        start: usize,
        vectors: &mut [Group],
        weights: &Weights,
    ) {
        let Subject { settings, width, .. } = subject;
        let n_documents = vectors.len() / width;
        let end = n_documents.min(start + DOCUMENTS_PER_BLOCK);
        self.n_done = end.saturating_sub(start);
        if self.n_done == 0 {
            return;
        }
        self.weights.contexts.copy_from_slice(&weights.contexts);
        self.weights.outputs.copy_from_slice(&weights.outputs);
        let block = vectors[start * width..end * width].chunks_mut(*width);
        for (vector, document) in block.zip(start..end) {
            let done = f64::from(epoch) + document as f64 / n_documents as f64;
            let index = self.first + document;
            kernel::widely(Lesson::<true> {
                subject,
                document: corpus.document(index),
                vector,
                weights: &mut self.weights,
                rate: settings.rate(done / f64::from(settings.epochs)),
                random: SplitMix64::stream(settings.seed, [u64::from(epoch), index as u64]),
                slate: &mut self.slate,
            });
        }
    }
}

/// The lanes' copies, weighted by how many documents they went through.
fn merge(lanes: &[Lane], weights: &mut Weights) {
    let total: usize = lanes.iter().map(|lane| lane.n_done).sum();
    let shares: Vec<(&Weights, f32)> = lanes
        .iter()
        .filter(|lane| lane.n_done > 0)
        .map(|lane| (&lane.weights, lane.n_done as f32 / total as f32))
        .collect();
    let average = |sum: &mut [Group], part: fn(&Weights) -> &[Group]| {
        sum.fill([0.0; 8]);
        for (copy, share) in &shares {
            for (sum, copy) in sum.as_flattened_mut().iter_mut().zip(part(copy).as_flattened()) {
                *sum += share * copy;
            }
        }
    };
    average(&mut weights.contexts, |copy| &copy.contexts);
    average(&mut weights.outputs, |copy| &copy.outputs);
}

/// Small numbers around zero, as Gensim begins with.
fn initialize(vector: &mut [Group], dimension: usize, random: &mut SplitMix64) {
    for number in &mut vector.as_flattened_mut()[..dimension] {
        *number = (random.fraction() * 2.0 - 1.0) / dimension as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random sequences of passes, some of them copies with a few changes: the
    /// last `n_copies` of the first.
    fn corpus(n_originals: usize, n_copies: usize) -> Corpus {
        let mut random = SplitMix64::new(11);
        let mut documents: Vec<Vec<Word>> = (0..n_originals)
            .map(|_| {
                let length = 50 + random.below(151);
                (0..length).map(|_| random.below(114) as Word).collect()
            })
            .collect();
        for original in 0..n_copies {
            let mut copy = Vec::new();
            for &word in &documents[original] {
                match random.below(20) {
                    0 => {}
                    1 => copy.push(random.below(114) as Word),
                    _ => copy.push(word),
                }
            }
            documents.push(copy);
        }
        documents.into_iter().collect()
    }

    fn cosine(left: &[f32], right: &[f32]) -> f32 {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        dot(left, right) / (dot(left, left) * dot(right, right)).sqrt()
    }

    /// How many of the vectors have their original as the nearest of the first.
    fn n_found(originals: &[&[f32]], copies: &[&[f32]]) -> usize {
        let is_found = |&(index, copy): &(usize, &&[f32])| {
            let own = cosine(originals[index], copy);
            originals.iter().all(|other| cosine(other, copy) <= own)
        };
        copies.iter().enumerate().filter(is_found).count()
    }

    fn quick() -> Settings {
        Settings { vector_size: 20, epochs: 3, ..Settings::sequences(1) }
    }

    #[test]
    fn copies_are_near_their_originals() {
        let corpus = corpus(400, 100);
        let embedding = train(&corpus, &Settings::sequences(1), &|_, _| {});
        let rows: Vec<&[f32]> = embedding.documents().rows().collect();
        let found = n_found(&rows[..400], &rows[400..]);
        assert!(found >= 90, "{found} of 100");
        let inferred: Vec<Vec<f32>> =
            (0..100).map(|index| embedding.infer(corpus.document(index))).collect();
        let inferred: Vec<&[f32]> = inferred.iter().map(Vec::as_slice).collect();
        let found = n_found(&rows[..400], &inferred);
        assert!(found >= 90, "{found} of 100 inferred");
    }

    #[test]
    fn threads_change_no_bit() {
        let corpus = corpus(300, 0);
        let on = |n_threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| train_in_lanes(&corpus, &quick(), 4, &|_, _| {}).into_documents())
        };
        let one = on(1);
        assert_eq!(one, on(3));
        assert_eq!(one, on(2));
    }

    #[test]
    fn the_seed_decides() {
        let corpus = corpus(50, 0);
        let with =
            |seed| train(&corpus, &Settings { seed, ..quick() }, &|_, _| {}).into_documents();
        assert_eq!(with(1), with(1));
        assert_ne!(with(1), with(2));
    }

    #[test]
    fn registers_of_other_widths_learn_too() {
        let corpus = corpus(20, 0);
        for vector_size in [1, 8, 33, 100] {
            let settings = Settings { vector_size, ..quick() };
            let embedding = train(&corpus, &settings, &|_, _| {});
            let rows = embedding.documents();
            assert_eq!((rows.len(), rows.dimension()), (20, vector_size));
            assert!(rows.rows().flatten().all(|number| number.is_finite()));
            // Nothing leaks into the padding.
            let padded = rows.groups().chunks(rows.width());
            let mut padding = padded.flat_map(|row| &row.as_flattened()[vector_size..]);
            assert!(padding.all(|&number| number == 0.0));
        }
    }

    #[test]
    fn progress_ends_with_everything() {
        let corpus = corpus(100, 0);
        let last = std::cell::Cell::new((0, 0));
        train_in_lanes(&corpus, &quick(), 3, &|done, total| {
            assert!(last.get().0 < done);
            last.set((done, total));
        });
        assert_eq!(last.get(), (300, 300));
    }

    #[test]
    fn nothing_and_empty_documents_are_fine() {
        assert!(train(&Corpus::new(), &quick(), &|_, _| {}).documents().is_empty());
        let empty: Corpus = [vec![], vec![0, 1], vec![]].into_iter().collect();
        let embedding = train(&empty, &quick(), &|_, _| {});
        assert_eq!(embedding.documents().len(), 3);
        assert!(embedding.infer(&[77]).iter().all(|number| number.abs() <= 1.0));
        let wordless: Corpus = [vec![]].into_iter().collect();
        assert_eq!(train(&wordless, &quick(), &|_, _| {}).documents().len(), 1);
    }

    /// The example of Section 3.2: every sequence of up to five of five passes. (a)
    /// and (b) are the same passes in two orders, (c) is (a) without its first pass.
    /// Their vectors differ, but the paper's claim that (a) is nearer to (c) than to
    /// (b) does not hold (docs/select.md).
    #[test]
    fn two_orders_of_the_same_passes_get_different_vectors() {
        let mut documents: Vec<Vec<Word>> = vec![vec![]];
        let mut grown = documents.clone();
        for _ in 0..5 {
            let longer = |document: &Vec<Word>, word| [document.as_slice(), &[word]].concat();
            grown = grown.iter().flat_map(|d| (0..5).map(move |word| longer(d, word))).collect();
            documents.extend(grown.iter().cloned());
        }
        documents.remove(0);
        assert_eq!(documents.len(), 3905);
        // functionattrs, gvn, loop-rotate, loop-vectorize, sroa
        let sequences: [&[Word]; 3] = [&[0, 2, 4, 1, 3], &[0, 4, 3, 2, 1], &[2, 4, 1, 3]];
        let at = sequences.map(|s| documents.iter().position(|d| d == s).unwrap());
        let corpus: Corpus = documents.into_iter().collect();
        let embedding = train(&corpus, &Settings::sequences(1), &|_, _| {});
        let [a, b, c] = at.map(|index| embedding.documents().row(index));
        assert_ne!(a, b);
        assert!(cosine(a, b) < 0.999 && cosine(a, c) < 0.999);
    }
}
