//! Which pass sequences to try next, and how good the last ones were.
//!
//! Stands between a case and its witnesses: sequences that resemble the buggy
//! one as closely as possible and do not show the bug. A [`Search`] proposes
//! candidates, the caller runs them, [`Reference`] says how similar the runs
//! were, and the search learns of it.
//!
//! The methods are those of Zhou, Jiang, Ren, Chen and Qiao, "LocSeq: Automated
//! Localization for Compiler Optimization Sequence Bugs of LLVM", IEEE
//! Transactions on Reliability, 2022, doi:10.1109/TR.2022.3165378. Algorithms,
//! formulas and tables are cited by the numbers they have there.
//!
//! Witnesses may also be other programs under the same passes: mutants of the
//! failing one. For those, [`Parents`] says what to mutate, a [`Guide`] how, and
//! [`Quality`] what a witness is worth beside the others; a [`ProgramMethod`] puts
//! them together. They are of two papers, which the modules cite by these names:
//! - DiWi: Chen, Han, Sun, Zhang, Hao and Zhang, "Compiler Bug Isolation via
//!   Effective Witness Test Program Generation", ESEC/FSE 2019,
//!   doi:10.1145/3338906.3338957.
//! - RecBi: Chen, Ma and Zhang, "Enhanced Compiler Bug Isolation via Memoized
//!   Search", ASE 2020, doi:10.1145/3324884.3416570.
//!
//! **Invariant:** no I/O, no clock, no randomness but the generator handed in.
//! The same case, generator and answers lead to the same questions.

mod alphabet;
mod asked;
mod error;
mod genetic;
mod guide;
mod method;
mod minimize;
mod mutation;
mod operators;
mod parents;
mod program_method;
mod quality;
mod random;
mod sequence;
mod similarity;

pub use alphabet::{Alphabet, TABLE_I};
pub use error::SearchError;
pub use genetic::{Genetic, Parameters};
pub use guide::{ActorCritic, ActorCriticParameters, Guide, Metropolis, RandomGuide, Told};
pub use method::Method;
pub use minimize::Minimizer;
pub use operators::Constraint;
pub use parents::Parents;
pub use program_method::{Acceptance, ProgramMethod};
pub use quality::Quality;
pub use random::Random;
pub use sequence::{Gene, Individual, Sequence};
pub use similarity::{Reference, Similarity};

/// A search that asks for what it wants to know. The caller asks, evaluates and
/// tells in turn, and stops when it likes: nothing has to be told any more then.
///
/// ```
/// use optsleuth_model::PassSequence;
/// use optsleuth_search::{Alphabet, Method, Parameters};
/// use rand::SeedableRng;
/// use rand_chacha::ChaCha8Rng;
///
/// let buggy: PassSequence = "sroa,gvn".parse()?;
/// let candidates: PassSequence = "adce,licm,dse".parse()?;
/// let alphabet = Alphabet::new(buggy.optimizations(), candidates.optimizations())?;
/// let rng = ChaCha8Rng::seed_from_u64(7);
/// let mut search = Method::Locseq.search(alphabet.clone(), Parameters::default(), rng);
/// for _ in 0..3 {
///     let candidates = search.ask();
///     let n_passes = |candidate| alphabet.render(candidate).optimizations().len();
///     let fitness: Vec<f64> = candidates.iter().map(|c| 1.0 / n_passes(c) as f64).collect();
///     search.tell(&fitness);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Search {
    /// The next candidates to evaluate, none of which was asked before; empty if
    /// there is nothing new to try. Until [`Search::tell`] is called, the answer
    /// stays the same.
    fn ask(&mut self) -> Vec<Sequence>;

    /// What came of the candidates of the last [`Search::ask`]: a fitness for
    /// each, in their order. One that is no witness has 0, and so has everything
    /// that is not above 0.
    ///
    /// # Panics
    /// If there are not as many values as candidates.
    fn tell(&mut self, fitness: &[f64]);
}
