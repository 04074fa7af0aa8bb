//! Where the next programs come from: mutants that a guide chooses, a folder,
//! or csmith.
//!
//! **Invariant:** the same seed proposes the same programs in the same order, as
//! long as the same came of those before.

use std::path::Path;

use optsleuth_compiler::csmith;
use optsleuth_search::ProgramMethod;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::WitnessPlan;
use super::candidate::Candidate;
use super::collection::Weighed;
use super::mutable::MutableProgram;
use super::mutants::Mutants;
use super::trial::{Compiler, Judgement, Text};
use crate::TriageError;
use crate::baseline::SOURCES;
use crate::c_programs::c_files;

/// Proposes programs.
pub(super) enum Proposer<'a> {
    Mutants(Box<Mutants<'a>>),
    /// In the order in which they are tried, last first.
    Foreign(Vec<Candidate>),
    /// The seed of the next.
    Csmith(u64),
}

impl<'a> Proposer<'a> {
    pub(super) fn new(
        plan: &WitnessPlan,
        mutable: &'a MutableProgram,
    ) -> Result<Proposer<'a>, TriageError> {
        match plan.method {
            ProgramMethod::Dev => Ok(Proposer::Foreign(foreign_programs(plan)?)),
            ProgramMethod::Csmith => match csmith::is_installed() {
                true => Ok(Proposer::Csmith(plan.seed.wrapping_mul(1_000_003) % (1 << 31))),
                false => Err(TriageError::NoCsmith),
            },
            ProgramMethod::Diwi
            | ProgramMethod::DiwiRandom
            | ProgramMethod::Recbi
            | ProgramMethod::RecbiMh
            | ProgramMethod::RecbiRandom
            | ProgramMethod::RecbiFilter => {
                Ok(Proposer::Mutants(Box::new(Mutants::new(plan, mutable)?)))
            }
        }
    }

    /// The next programs, none of which was proposed before; none if there is
    /// nothing left, or none is asked for.
    pub(super) fn ask(
        &mut self,
        n_wanted: usize,
        compiler: &mut dyn Compiler,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Vec<Candidate>, TriageError> {
        Ok(match self {
            Proposer::Mutants(mutants) => mutants.ask(n_wanted, compiler, go_on)?,
            Proposer::Foreign(left) => (0..n_wanted).map_while(|_| left.pop()).collect(),
            Proposer::Csmith(next) => {
                let seeds = *next..*next + n_wanted as u64;
                *next = seeds.end;
                let candidate = |seed| Candidate {
                    text: Text::Csmith(seed),
                    what: format!("csmith --seed {seed}"),
                };
                seeds.map(candidate).collect()
            }
        })
    }

    /// Learns what came of a proposal.
    pub(super) fn learn(&mut self, candidate: &Candidate, judgement: &Judgement, weighed: Weighed) {
        match self {
            Proposer::Mutants(mutants) => mutants.learn(candidate, judgement, weighed),
            Proposer::Foreign(_) | Proposer::Csmith(_) => {}
        }
    }
}

/// The programs of the folder, or the tool's own, in random order.
fn foreign_programs(plan: &WitnessPlan) -> Result<Vec<Candidate>, TriageError> {
    let named = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut all: Vec<Candidate> = match &plan.pool {
        Some(folder) => {
            let of_file =
                |path: std::path::PathBuf| Candidate { what: named(&path), text: Text::File(path) };
            c_files(folder)?.into_iter().map(of_file).collect()
        }
        None => {
            let own = |(name, text): &(&str, &str)| Candidate {
                text: Text::Ready((*text).to_owned()),
                what: (*name).to_owned(),
            };
            SOURCES.iter().map(own).collect()
        }
    };
    all.shuffle(&mut ChaCha8Rng::seed_from_u64(plan.seed));
    Ok(all)
}
