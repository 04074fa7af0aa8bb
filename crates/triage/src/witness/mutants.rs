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

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use optsleuth_mutate::{Family, Insertion, Mutant, Rule};
use optsleuth_search::{Parents, ProgramMethod};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::WitnessPlan;
use super::candidate::Candidate;
use super::choices::Choices;
use super::collection::Weighed;
use super::ingredient_pool::IngredientPool;
use super::mutable::{MutableProgram, Ready};
use super::trial::{Compiler, Judgement, Text};
use crate::TriageError;

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

/// So many programs that were read are kept: one of csmith's takes megabytes.
const KEPT: usize = 32;

/// A program to mutate.
#[derive(Clone)]
struct Parent {
    text: String,
    hash: blake3::Hash,
    /// What was changed so far.
    changes: Option<String>,
}

impl Parent {
    fn new(text: &str, changes: Option<String>) -> Parent {
        Parent { text: text.to_owned(), hash: blake3::hash(text.as_bytes()), changes }
    }
}

/// Proposes mutants.
pub(super) struct Mutants<'a> {
    mutable: &'a MutableProgram,
    ingredient_pool: Option<&'a IngredientPool>,
    actions: Vec<Action>,
    choices: Choices,
    parents: Parents<Parent>,
    /// Parents that were read, the oldest first; `None` if they cannot be.
    read: VecDeque<(blake3::Hash, Option<Arc<Ready>>)>,
    tried: HashSet<blake3::Hash>,
    rng: ChaCha8Rng,
    /// Mutants since the order last went up.
    n_without_witness: usize,
    /// Whether there is any, of whatever order.
    has_witness: bool,
}

impl<'a> Mutants<'a> {
    pub(super) fn new(
        plan: &WitnessPlan,
        mutable: &'a MutableProgram,
    ) -> Result<Mutants<'a>, TriageError> {
        let is_diwi = matches!(plan.method, ProgramMethod::Diwi | ProgramMethod::DiwiRandom);
        let actions: Vec<Action> = match is_diwi {
            true => Rule::all().map(Action::Rule).collect(),
            false => {
                let insertions = Insertion::ALL.into_iter().map(Action::Insertion);
                insertions.chain(Family::ALL.into_iter().map(Action::Family)).collect()
            }
        };
        let ingredient_pool = match is_diwi {
            true => None,
            false => mutable.ingredient_pool.as_ref(),
        };
        let mut rng = ChaCha8Rng::seed_from_u64(plan.seed);
        let own = ChaCha8Rng::from_rng(&mut rng);
        let guide = plan.method.guide(actions.len(), own);
        let guide =
            guide.ok_or_else(|| TriageError::NoPrograms("nothing is mutated".to_owned()))?;
        let failing = &mutable.failing_program;
        let first = Parent::new(failing.program.text(), None);
        let tried = HashSet::from([first.hash]);
        let read = VecDeque::from([(first.hash, Some(Arc::clone(failing)))]);
        let (n_without_witness, has_witness) = (0, false);
        Ok(Mutants {
            mutable,
            ingredient_pool,
            actions,
            choices: Choices::new(guide),
            parents: Parents::new(first),
            read,
            tried,
            rng,
            n_without_witness,
            has_witness,
        })
    }

    /// New mutants of the present order; of the next one if there are none.
    pub(super) fn ask(
        &mut self,
        n_wanted: usize,
        compiler: &mut dyn Compiler,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Vec<Candidate>, TriageError> {
        if !self.has_witness && self.n_without_witness >= WITHOUT_WITNESS {
            self.advance();
        }
        loop {
            let mut found = Vec::new();
            let mut n_vain = 0;
            while found.len() < n_wanted && n_vain < NOTHING_NEW && go_on() {
                match self.propose(compiler)? {
                    Some(candidate) => found.push(candidate),
                    None => n_vain += 1,
                }
            }
            if !found.is_empty() || !go_on() || !self.advance() {
                return Ok(found);
            }
        }
    }

    /// Goes on with mutants that failed; `false` if there are none.
    fn advance(&mut self) -> bool {
        self.n_without_witness = 0;
        self.parents.advance()
    }

    fn propose(&mut self, compiler: &mut dyn Compiler) -> Result<Option<Candidate>, TriageError> {
        let choice = self.choices.choose();
        let proposed = self.mutate(self.actions[choice], compiler)?;
        self.choices.note(choice, proposed.is_some());
        Ok(proposed.map(|(mutant, before)| {
            let line = self.mutable.lines.original(mutant.line, &mutant.text);
            let change = format!("{line}{} ({})", mutant.what, mutant.by);
            let what = match before {
                Some(before) => format!("{before}; {change}"),
                None => change,
            };
            Candidate { text: Text::Ready(mutant.text), what }
        }))
    }

    /// A mutant that is new, and what was changed before it.
    fn mutate(
        &mut self,
        action: Action,
        compiler: &mut dyn Compiler,
    ) -> Result<Option<(Mutant, Option<String>)>, TriageError> {
        let parent = self.parents.pick(&mut self.rng).clone();
        let Some(ready) = self.ready(&parent, compiler)? else { return Ok(None) };
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
                self.ingredient_pool.and_then(|ingredient_pool| {
                    ready.program.insert(insertion, &ingredient_pool.ingredients, &reached, rng)
                })
            }
        };
        let is_new = |mutant: &Mutant| self.tried.insert(blake3::hash(mutant.text.as_bytes()));
        Ok(mutant.filter(is_new).map(|mutant| (mutant, parent.changes)))
    }

    /// A parent that was read, now or before.
    fn ready(
        &mut self,
        parent: &Parent,
        compiler: &mut dyn Compiler,
    ) -> Result<Option<Arc<Ready>>, TriageError> {
        if let Some((_, ready)) = self.read.iter().find(|(hash, _)| *hash == parent.hash) {
            return Ok(ready.clone());
        }
        let ready = self.mutable.ready(&parent.text, compiler)?.map(Arc::new);
        if self.read.len() == KEPT {
            self.read.pop_front();
        }
        self.read.push_back((parent.hash, ready.clone()));
        Ok(ready)
    }

    /// Learns what came of a mutant. In the order in which they were asked for.
    pub(super) fn learn(&mut self, candidate: &Candidate, judgement: &Judgement, weighed: Weighed) {
        self.has_witness |= weighed.accepted;
        self.choices.learn(weighed);
        self.n_without_witness += 1;
        if let (Judgement::Fails, Text::Ready(text)) = (judgement, &candidate.text) {
            let parent = Parent::new(text, Some(candidate.what.clone()));
            self.parents.failed(parent, &mut self.rng);
        }
    }
}

/// A mutant by a rule, at a random place that is executed.
fn by_rule(ready: &Ready, rule: Rule, rng: &mut ChaCha8Rng) -> Option<Mutant> {
    ready.program.mutate_where(rule, |statement| ready.is_reached(statement), rng)
}
