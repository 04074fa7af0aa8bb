//! Documents -> vectors: the distributed-memory model of paragraph vectors,
//! with negative sampling.
//!
//! Q. Le, T. Mikolov, Distributed Representations of Sentences and Documents,
//! ICML 2014. A word is predicted from the mean of the vectors of its context
//! and of its document, against words of noise. What the CTOS paper uses
//! through Gensim (Sections 2.2 and 4.1), with the same parameters.
//!
//! ```text
//! Corpus ──► Vocabulary ──► train: lanes of lessons, merged ──► Embedding
//! ```
//!
//! **Invariant:** the same corpus and settings give the same bits, with any
//! number of threads.

mod corpus;
mod lesson;
mod settings;
mod sigmoid;
mod train;
mod vocabulary;

pub use corpus::{Corpus, Dictionary, Word};
pub use settings::Settings;
pub use train::{Embedding, train};
