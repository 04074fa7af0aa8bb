//! Mutants of the failing program, and of those of its mutants that fail, too:
//! DiWi's Algorithm 1, with RecBi's operators and guidance where they are asked
//! for.
//!
//! A place that the program does not execute is left alone where the program
//! computes something wrong: such a change cannot show, and what passes with it
//! may hide the bug. Up to the place of the change a mutant does what its parent
//! does, so it is enough to know which statements the parent executes.
//!
//! **Invariant:** no text is proposed twice.

use std::cell::OnceCell;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use optsleuth_compiler::llvm::Pool;
use optsleuth_model::Case;
use optsleuth_mutate::{Family, Insertion, Mutant, Rule};
use optsleuth_search::{Guide, ProgramMethod, Seeds, Told};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::WitnessPlan;
use super::collection::Weighed;
use super::pantry::Pantry;
use super::proposal::Candidate;
use super::setting::{Ready, Setting};
use super::trial::{Judgement, Text};
use crate::setup::LabError;

/// The order goes up after so many mutants without a witness. The papers give
/// every order an hour.
const WITHOUT_WITNESS: usize = 200;
/// And after so many attempts in a row that made nothing new: then there is
/// hardly anything left.
const NOTHING_NEW: usize = 2000;

/// Something a guide can choose.
#[derive(Clone, Copy, Debug)]
enum Action {
    /// One of DiWi's rules.
    Rule(Rule),
    /// Any rule of a family: RecBi's operators 5 to 10.
    Family(Family),
    /// RecBi's operators 1 to 4.
    Insertion(Insertion),
}

/// A program to mutate.
struct Seed {
    text: String,
    /// What was changed so far.
    changes: Option<String>,
    /// Read when it is first used.
    ready: OnceCell<Option<Arc<Ready>>>,
}

/// Proposes mutants.
pub(super) struct Mutants<'a> {
    setting: &'a Setting,
    case: &'a Case,
    pantry: Option<&'a Pantry>,
    actions: Vec<Action>,
    guide: Box<dyn Guide>,
    /// What it chose and was not told about, and whether a mutant came of it.
    untold: VecDeque<(usize, bool)>,
    seeds: Seeds<Seed>,
    tried: HashSet<blake3::Hash>,
    rng: ChaCha8Rng,
    /// Of the present order.
    n_without_witness: usize,
    has_witness: bool,
}

impl<'a> Mutants<'a> {
    pub(super) fn new(
        plan: &WitnessPlan,
        setting: &'a Setting,
        case: &'a Case,
    ) -> Result<Mutants<'a>, LabError> {
        let is_diwi = matches!(plan.method, ProgramMethod::Diwi | ProgramMethod::DiwiRandom);
        let actions: Vec<Action> = match is_diwi {
            true => Rule::all().map(Action::Rule).collect(),
            false => {
                let insertions = Insertion::ALL.into_iter().map(Action::Insertion);
                insertions.chain(Family::ALL.into_iter().map(Action::Family)).collect()
            }
        };
        let pantry = match is_diwi {
            true => None,
            false => Some(setting.pantry(plan.pool.as_deref())?),
        };
        let mut rng = ChaCha8Rng::seed_from_u64(plan.seed);
        let own = ChaCha8Rng::from_rng(&mut rng);
        let guide = plan.method.guide(actions.len(), own);
        let guide = guide.ok_or_else(|| LabError::NoPrograms("nothing is mutated".to_owned()))?;
        let failing = &setting.failing_program;
        let first = Seed {
            text: failing.program.text().to_owned(),
            changes: None,
            ready: OnceCell::from(Some(Arc::clone(failing))),
        };
        let tried = HashSet::from([blake3::hash(first.text.as_bytes())]);
        let (n_without_witness, has_witness) = (0, false);
        Ok(Mutants {
            setting,
            case,
            pantry,
            actions,
            guide,
            untold: VecDeque::new(),
            seeds: Seeds::new(first),
            tried,
            rng,
            n_without_witness,
            has_witness,
        })
    }

    /// New mutants of the present order; of the next one if there are none.
    pub(super) fn ask(&mut self, n_wanted: usize, pool: &mut Pool) -> Vec<Candidate> {
        if !self.has_witness && self.n_without_witness >= WITHOUT_WITNESS && self.seeds.advance() {
            self.n_without_witness = 0;
        }
        loop {
            let mut found = Vec::new();
            let mut n_vain = 0;
            while found.len() < n_wanted && n_vain < NOTHING_NEW {
                match self.propose(pool) {
                    Some(candidate) => found.push(candidate),
                    None => n_vain += 1,
                }
            }
            if !found.is_empty() || !self.seeds.advance() {
                return found;
            }
        }
    }

    fn propose(&mut self, pool: &mut Pool) -> Option<Candidate> {
        let choice = self.guide.choose();
        let proposed = self.mutate(self.actions[choice], pool);
        self.untold.push_back((choice, proposed.is_some()));
        let (mutant, before) = proposed?;
        let line = self.setting.lines.original(mutant.line, &mutant.text);
        let change = format!("{line}{} ({})", mutant.what, mutant.by);
        let what = match before {
            Some(before) => format!("{before}; {change}"),
            None => change,
        };
        Some(Candidate { text: Text::Ready(mutant.text), what })
    }

    /// A mutant that is new, and what was changed before it.
    fn mutate(&mut self, action: Action, pool: &mut Pool) -> Option<(Mutant, Option<String>)> {
        let (setting, case) = (self.setting, self.case);
        let seed = self.seeds.pick(&mut self.rng);
        let read = || setting.ready(&seed.text, case, pool).map(Arc::new);
        let ready = Arc::clone(seed.ready.get_or_init(read).as_ref()?);
        let before = seed.changes.clone();
        let rng = &mut self.rng;
        let mutant = match action {
            Action::Rule(rule) => by_rule(&ready, rule, rng),
            Action::Family(family) => {
                let rules: Vec<Rule> = family.rules().collect();
                let start = rng.random_range(0..rules.len());
                // The first from here on that has a place.
                let turned = rules[start..].iter().chain(&rules[..start]);
                turned.copied().find_map(|rule| by_rule(&ready, rule, rng))
            }
            Action::Insertion(insertion) => {
                let reached = |statement| ready.is_reached(Some(statement));
                let ingredients = &self.pantry?.ingredients;
                ready.program.insert(insertion, ingredients, &reached, rng)
            }
        }?;
        self.tried.insert(blake3::hash(mutant.text.as_bytes())).then_some((mutant, before))
    }

    /// Tells of choices of which nothing came, up to the next of which something
    /// did: there was no place, or nothing new to make of it.
    fn tell_vain(&mut self) {
        while let Some((choice, false)) = self.untold.front().copied() {
            self.untold.pop_front();
            let (accepted, distance, gain) = (false, 0.0, 0.0);
            self.guide.learn(&Told { choice, accepted, distance, gain });
        }
    }

    /// Learns what came of a mutant. In the order in which they were asked for.
    pub(super) fn learn(&mut self, candidate: &Candidate, judgement: &Judgement, weighed: Weighed) {
        self.tell_vain();
        let Weighed { accepted, distance, gain } = weighed;
        if let Some((choice, _)) = self.untold.pop_front() {
            self.guide.learn(&Told { choice, accepted, distance, gain });
        }
        self.tell_vain();
        self.has_witness |= accepted;
        self.n_without_witness += 1;
        if let (Judgement::Fails, Text::Ready(text)) = (judgement, &candidate.text) {
            let changes = Some(candidate.what.clone());
            let seed = Seed { text: text.clone(), changes, ready: OnceCell::new() };
            self.seeds.failed(seed, &mut self.rng);
        }
    }
}

/// A mutant by a rule, at a random place that is executed.
fn by_rule(ready: &Ready, rule: Rule, rng: &mut ChaCha8Rng) -> Option<Mutant> {
    ready.program.mutate_where(rule, |statement| ready.is_reached(statement), rng)
}
