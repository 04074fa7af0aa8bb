//! Which kind of mutation to try next: the guides of DiWi, RecBi and chance.
//!
//! Stands between the operators that can change a program and what came of it. A
//! caller chooses an operator, mutates, compiles and runs, and tells the guide.
//! Operators are numbers here; what they do to a program is not known.
//!
//! Several may be chosen before anything is told of them, so that their programs
//! run at the same time. How many is the caller's constant, not the number of
//! cores: then the choices depend on the seed alone.
//!
//! **Invariant:** no guide ever gives an operator up; each keeps a chance above 0.

mod actor_critic;
mod metropolis;
mod network;
mod policy;
mod random;

pub use actor_critic::{ActorCritic, ActorCriticParameters};
pub use metropolis::Metropolis;
pub use random::RandomGuide;

/// Chooses which kind of mutation to try next, and learns what came of it.
pub trait Guide: Send {
    /// The number of an operator, among `0..n_choices`.
    fn choose(&mut self) -> usize;

    /// What came of a choice. Every choice is told once, in the order of choosing,
    /// though others may have been chosen meanwhile.
    ///
    /// # Panics
    /// May do so if the order is another, or nothing was chosen.
    fn learn(&mut self, told: &Told);
}

/// What came of one mutation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Told {
    /// The operator that was chosen.
    pub choice: usize,
    /// Whether the mutant became a witness of the set.
    pub accepted: bool,
    /// The mean coverage distance to the witnesses there were; 0 if there were
    /// none, or if the mutant became none.
    pub distance: f64,
    /// What it would add to the set's quality, or adds: `ΔQ` of
    /// [`Quality::gain`](crate::Quality::gain). 0 if it is no passing program.
    pub gain: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A mutant that is no witness.
    pub(super) fn rejected(choice: usize) -> Told {
        Told { choice, accepted: false, distance: 0.0, gain: 0.0 }
    }

    /// A witness.
    pub(super) fn accepted(choice: usize, distance: f64, gain: f64) -> Told {
        Told { choice, accepted: true, distance, gain }
    }
}
