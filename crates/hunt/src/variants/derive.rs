//! A base program -> its variants, one after the other.
//!
//! ```text
//! text ──► libclang ──► probes and records ──► two runs behind the fence ──► profile
//!   ▲                                                                           │
//!   └────────────── variant ◄── strategy ◄──────────────────────────────────────┘
//! ```
//! Hermes goes on from its last variant (Algorithm 1 of Sun, Le, Su, "Finding
//! Compiler Bugs via Live Code Mutation", OOPSLA 2016), Orion always begins with
//! the base program, Athena walks: from a proposal it goes on, or not, by how far
//! that is from the base program. Each strategy knows nothing of what the others made.
//!
//! **Invariant:** a variant depends on the base program, its number and the
//! campaign's random numbers, and on nothing else. A strategy goes on from a
//! variant only if that was seen to be equivalent to the base program.

use optsleuth_case::oracle::same_behaviour;
use optsleuth_compiler::llvm::Worker;
use optsleuth_model::Execution;
use optsleuth_mutate::emi::{Profile, Strategy, Unfit, Variant, accepts, distance};
use optsleuth_mutate::{Libclang, Pool, Program};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::trial::Source;
use super::valid::{Compiler, Judges, Ran};
use crate::HuntError;

/// How many of a program's points are profiled, as in the paper (Section 4.5.1).
const PROFILED: f64 = 0.1;

/// Hermes profiles a program so often before there is nothing to be done.
const ATTEMPTS: usize = 3;

/// What it takes to derive variants.
#[derive(Clone, Copy)]
pub struct Tools<'a> {
    pub clang: &'a Libclang,
    pub judges: &'a Judges,
    /// What Athena inserts.
    pub pool: &'a Pool,
}

/// Why a program is no base program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsuited {
    /// libclang does not take it.
    DoesNotParse,
    /// A profile would say nothing about it.
    Unfit(Unfit),
    /// Its probes change what it does, or say nothing.
    NoProfile,
}

impl Unsuited {
    /// In words that many programs have in common.
    pub fn reason(&self) -> String {
        match self {
            Unsuited::DoesNotParse => "libclang does not read it".to_owned(),
            Unsuited::Unfit(Unfit::Calls(callee)) => format!("calls {callee}"),
            Unsuited::Unfit(Unfit::Addresses) => "turns addresses into numbers".to_owned(),
            Unsuited::Unfit(Unfit::Restricted(_)) => "has restricted pointers".to_owned(),
            Unsuited::Unfit(Unfit::Attribute(_)) => {
                "has attributes that forbid inserted code".to_owned()
            }
            Unsuited::NoProfile => "its profile is not complete".to_owned(),
        }
    }
}

/// A program and what was seen of its run.
struct Profiled {
    program: Program,
    profile: Profile,
}

/// A variant that is so many times as large as its base program is the last of its
/// chain: the next one begins with the base program again. All of it is compiled dozens of times.
const GROWTH: usize = 3;
/// Base programs of fewer bytes count as this large.
const SMALL: usize = 10_000;

/// The variants of one base program.
pub struct Derivation<'a> {
    tools: Tools<'a>,
    expected: &'a Execution,
    /// Decides about all random numbers, with a variant's number.
    key: [u8; 32],
    base: Profiled,
    /// The text of Hermes's last variant.
    hermes: String,
    /// Where Athena's walk is, if it left the base program, and how far from it.
    athena: Option<(Profiled, f64)>,
}

impl<'a> Derivation<'a> {
    /// Reads and profiles a base program.
    pub fn begin(
        tools: Tools<'a>,
        text: &str,
        expected: &'a Execution,
        key: [u8; 32],
        fence: &mut Worker,
    ) -> Result<Result<Derivation<'a>, Unsuited>, HuntError> {
        let Ok(program) = tools.clang.parse(text, &[]) else {
            return Ok(Err(Unsuited::DoesNotParse));
        };
        if let Some(unfit) = program.unfit() {
            return Ok(Err(Unsuited::Unfit(unfit)));
        }
        let mut rng = numbers(&key, 0);
        let Some(profile) = profiled(tools, &program, expected, &mut rng, fence)? else {
            return Ok(Err(Unsuited::NoProfile));
        };
        let base = Profiled { program, profile };
        let hermes = text.to_owned();
        Ok(Ok(Derivation { tools, expected, key, base, hermes, athena: None }))
    }

    /// The next variant of a strategy; `None` if it makes none this time.
    pub fn propose(
        &self,
        strategy: Strategy,
        generation: u64,
        fence: &mut Worker,
    ) -> Result<Option<Variant>, HuntError> {
        let mut rng = numbers(&self.key, generation);
        match strategy {
            Strategy::Hermes => {
                let Ok(program) = self.tools.clang.parse(&self.hermes, &[]) else {
                    return Ok(None);
                };
                let (tools, expected) = (self.tools, self.expected);
                // In a small program, few points are chosen, or none that is executed.
                for _ in 0..ATTEMPTS {
                    let profile = profiled(tools, &program, expected, &mut rng, fence)?;
                    let made = profile.and_then(|profile| program.hermes(&profile, &mut rng));
                    if made.is_some() {
                        return Ok(made);
                    }
                }
                Ok(None)
            }
            Strategy::Orion => Ok(self.base.program.orion(&self.base.profile, &mut rng)),
            Strategy::Athena => {
                let from = self.athena.as_ref().map_or(&self.base, |(walked, _)| walked);
                Ok(from.program.athena(&from.profile, self.tools.pool, &mut rng))
            }
        }
    }

    /// Goes on from a variant that is equivalent to the base program, where its
    /// strategy does so.
    pub fn go_on(
        &mut self,
        strategy: Strategy,
        generation: u64,
        variant: &Variant,
        fence: &mut Worker,
    ) -> Result<(), HuntError> {
        match strategy {
            Strategy::Orion => {}
            Strategy::Hermes => {
                let base = self.base.program.text();
                let is_large = variant.text.len() > GROWTH * base.len().max(SMALL);
                self.hermes.clear();
                self.hermes.push_str(if is_large { base } else { &variant.text });
            }
            Strategy::Athena => {
                let Ok(program) = self.tools.clang.parse(&variant.text, &[]) else { return Ok(()) };
                // Other numbers than those the variant was made with.
                let mut rng = numbers(&self.key, u64::MAX - generation);
                let proposed = distance(&self.base.program, &program);
                let current = self.athena.as_ref().map_or(0.0, |(_, distance)| *distance);
                if !accepts(current, proposed, &mut rng) {
                    return Ok(());
                }
                let (tools, expected) = (self.tools, self.expected);
                if let Some(profile) = profiled(tools, &program, expected, &mut rng, fence)? {
                    self.athena = Some((Profiled { program, profile }, proposed));
                }
            }
        }
        Ok(())
    }
}

/// What runs of a program by two compilers show; `None` where its probes do not
/// get through, or it does something else with them.
fn profiled(
    tools: Tools<'_>,
    program: &Program,
    expected: &Execution,
    rng: &mut ChaCha8Rng,
    fence: &mut Worker,
) -> Result<Option<Profile>, HuntError> {
    let instrumented = program.instrument(PROFILED, rng);
    let source = Source::new(instrumented.text.clone())?;
    let mut agreed: Option<Profile> = None;
    for compiler in [Compiler::Clang, Compiler::Gcc] {
        let execution = match tools.judges.executed(compiler, &source, fence)? {
            Ran::Executed(execution) if same_behaviour(&execution, expected) => execution,
            Ran::Executed(_) => {
                tracing::warn!("a program does something else with probes");
                return Ok(None);
            }
            Ran::Refused(why) | Ran::Fell(why) => {
                tracing::warn!(why, "a program with probes cannot be executed");
                return Ok(None);
            }
        };
        let Ok(profile) = instrumented.profile(&execution.stderr) else { return Ok(None) };
        agreed = Some(agreed.map_or(profile.clone(), |known| known.agreed(&profile)));
    }
    Ok(agreed)
}

/// The random numbers of one variant.
fn numbers(key: &[u8; 32], generation: u64) -> ChaCha8Rng {
    let seed = blake3::keyed_hash(key, &generation.to_le_bytes());
    ChaCha8Rng::from_seed(*seed.as_bytes())
}

/// The key of base program number `number` of a campaign.
pub fn key(campaign: u64, number: u64) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"emi").update(&campaign.to_le_bytes()).update(&number.to_le_bytes());
    *hasher.finalize().as_bytes()
}

/// Whose turn it is: strategies follow each other, and which is first depends on
/// the base program.
pub fn turn(strategies: &[Strategy], number: u64, generation: u64) -> Strategy {
    let place = (number + generation - 1) % strategies.len() as u64;
    strategies[usize::try_from(place).unwrap_or_default()]
}

#[cfg(test)]
mod tests {
    use rand::Rng as _;

    use super::*;

    #[test]
    fn numbers_depend_on_campaign_program_and_generation() {
        let first = |campaign, number, generation| -> u64 {
            numbers(&key(campaign, number), generation).random()
        };
        assert_eq!(first(1, 2, 3), first(1, 2, 3));
        let all = [first(1, 2, 3), first(2, 2, 3), first(1, 3, 3), first(1, 2, 4)];
        let different: std::collections::BTreeSet<u64> = all.into_iter().collect();
        assert_eq!(different.len(), all.len());
    }

    #[test]
    fn strategies_take_turns_and_each_is_first_with_some_program() {
        let all = [Strategy::Hermes, Strategy::Athena, Strategy::Orion];
        let turns = |number| -> Vec<&str> {
            (1..=4).map(|generation| turn(&all, number, generation).name()).collect()
        };
        assert_eq!(turns(0), ["hermes", "athena", "orion", "hermes"]);
        assert_eq!(turns(1), ["athena", "orion", "hermes", "athena"]);
        assert_eq!(turn(&all[2..], 7, 1).name(), "orion");
    }
}
