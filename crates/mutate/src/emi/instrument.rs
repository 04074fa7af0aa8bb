//! The program with probes and records.
//!
//! **Invariant:** an instrumented program does what the program does; standard
//! output and the way it ends are the same.

use rand::Rng;

use crate::emi::profile::{IncompleteProfile, Profile};
use crate::emi::variant::Variant;
use crate::pool::Pool;
use crate::program::Program;

/// A program that tells what it does on standard error.
#[derive(Clone, Debug)]
pub struct Instrumented {
    /// C.
    pub text: String,
}

impl Instrumented {
    /// Reads what a run wrote to standard error.
    pub fn profile(&self, _stderr: &[u8]) -> Result<Profile, IncompleteProfile> {
        Err(IncompleteProfile)
    }
}

impl Program {
    /// Probes before every statement; records of values at points chosen with
    /// this probability.
    pub fn instrument(&self, _probability: f64, _rng: &mut impl Rng) -> Instrumented {
        Instrumented { text: self.text().to_owned() }
    }

    /// A variant by what variables held; `None` if nothing could be done.
    pub fn hermes(&self, _profile: &Profile, _rng: &mut impl Rng) -> Option<Variant> {
        None
    }

    /// A variant without some of what was not reached; `None` if everything was.
    pub fn orion(&self, _profile: &Profile, _rng: &mut impl Rng) -> Option<Variant> {
        None
    }

    /// A proposal of Athena's walk; acceptance is the caller's, by
    /// [`crate::emi::accepts`].
    pub fn athena(&self, _profile: &Profile, _pool: &Pool, _rng: &mut impl Rng) -> Option<Variant> {
        None
    }
}

/// How far a variant is from its seed.
pub fn distance(_seed: &Program, _variant: &Program) -> f64 {
    0.0
}

/// Whether the walk goes on from a proposal.
pub fn accepts(_current: f64, _proposed: f64, _rng: &mut impl Rng) -> bool {
    true
}
