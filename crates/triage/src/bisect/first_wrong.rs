//! The first wrong step: the earliest invocation after which the program is wrong
//! by the referee's word, and the first value that shows it.
//!
//! Wrong IR need not fail where it is made: an attribute that does not hold is
//! wrong from the invocation that added it, and shows when another one relies on it.
//!
//! **Invariant:** before the step that is named the referee found the program
//! right, and after it wrong. Where it has no word, no step is named.

use optsleuth_case::refinement::{NoMeasure, Refined, Refinement};
use optsleuth_model::{
    FirstWrong, FirstWrongStep, IndexSet, Limits, OutputByte, RunRequest, WrongValue,
};

use super::inquiry::Choice;
use super::prefix::PrefixSearch;
use super::trials::{Halt, Trials, plain};
use super::wrong_value::{self, Pair};
use crate::TriageError;

/// A minimal set with more members is not walked through.
const MAX_CHAIN: usize = 16;

/// Looks for it among the first `end` invocations, after which the program fails,
/// or LLVM does on it. `minimal` is the set that the failure needs.
pub(super) fn first_wrong(
    trials: &mut Trials<'_>,
    end: u32,
    minimal: &[u32],
) -> Result<FirstWrongStep, TriageError> {
    trials.progress.step("asking the referee for the first wrong step");
    let limits = Limits { compile: trials.template.limits.compile, ..Limits::STANDARD };
    let measured = Refinement::of_loaded(trials.loaded.workers.pool.first(), limits)?;
    trials.n_runs += 1;
    let refinement = match measured {
        Ok(refinement) => refinement,
        Err(NoMeasure::NoProgram) => return Ok(FirstWrongStep::NotAsked),
        Err(NoMeasure::NoVerdict(why)) => {
            return Ok(unknown(&format!("of the unoptimized program, {why}")));
        }
    };
    match (Search { trials, refinement }).first(end, minimal) {
        Ok(found) => Ok(found),
        Err(Halt::OutOfTime) => Ok(unknown("the time was up")),
        Err(Halt::Interrupted) => Ok(unknown("it was interrupted")),
        Err(Halt::Failed(error)) => Err(error),
    }
}

fn unknown(why: &str) -> FirstWrongStep {
    FirstWrongStep::Unknown { why: why.to_owned() }
}

/// An invocation, and what is skipped in the run without it and in the run with it.
struct WrongStep {
    invocation: u32,
    without: IndexSet,
    with: IndexSet,
}

/// Why no step is named.
enum Unclear {
    /// After all of them, the program is right.
    Right,
    NoVerdict(String),
}

struct Search<'a, 'b> {
    trials: &'a mut Trials<'b>,
    refinement: Refinement,
}

impl Search<'_, '_> {
    fn first(&mut self, end: u32, minimal: &[u32]) -> Result<FirstWrongStep, Halt> {
        let mut step = match self.in_run(end)? {
            Ok(number) => self.step(number),
            Err(Unclear::Right) => return Ok(FirstWrongStep::NoPass),
            Err(Unclear::NoVerdict(why)) => return Ok(unknown(&why)),
        };
        if !minimal.contains(&step.invocation) {
            // The failure does not need that one: what it needs has its own.
            step = self.among(minimal)?.unwrap_or(step);
        }
        Ok(match self.value(&step)? {
            Some(value) => {
                FirstWrongStep::Found(Box::new(FirstWrong { invocation: step.invocation, value }))
            }
            None => unknown("the runs before and after it could not be compared"),
        })
    }

    /// The invocation of the failing run after which it is wrong, and stays so.
    fn in_run(&mut self, end: u32) -> Result<Result<u32, Unclear>, Halt> {
        match &self.judge(&[IndexSet::from(end)])?[0] {
            Refined::Wrong => {}
            Refined::Right => return Ok(Err(Unclear::Right)),
            Refined::Unknown(why) => return Ok(Err(Unclear::NoVerdict(why.clone()))),
        }
        let mut search = PrefixSearch::new(end);
        let mut unsure: Vec<(u32, String)> = Vec::new();
        loop {
            let ends = search.ask();
            if ends.is_empty() {
                break;
            }
            let skips: Vec<IndexSet> = ends.iter().copied().map(IndexSet::from).collect();
            let said = self.judge(&skips)?;
            for (end, refined) in ends.iter().zip(&said) {
                if let Refined::Unknown(why) = refined {
                    unsure.push((*end, why.clone()));
                }
            }
            let wrong: Vec<bool> = said.iter().map(|said| *said == Refined::Wrong).collect();
            search.tell(&wrong);
        }
        let number = search.certain_after();
        match unsure.into_iter().find(|(end, _)| *end == number) {
            Some((_, why)) => Ok(Err(Unclear::NoVerdict(format!("before #{number}, {why}")))),
            None => Ok(Ok(number)),
        }
    }

    fn step(&self, invocation: u32) -> WrongStep {
        let with = IndexSet::from(invocation.saturating_add(1));
        WrongStep { invocation, without: IndexSet::from(invocation), with }
    }

    /// The same where only the members of a minimal set run.
    fn among(&mut self, minimal: &[u32]) -> Result<Option<WrongStep>, Halt> {
        if minimal.len() > MAX_CHAIN {
            return Ok(None);
        }
        let mut without = IndexSet::from(0);
        for (place, &invocation) in minimal.iter().enumerate() {
            let choice = Choice::Only(minimal[..=place].to_vec());
            let Some(with) = self.trials.skips_of(&choice)? else { return Ok(None) };
            match self.judge(std::slice::from_ref(&with))?[0] {
                Refined::Right => without = with,
                Refined::Wrong => return Ok(Some(WrongStep { invocation, without, with })),
                Refined::Unknown(_) => return Ok(None),
            }
        }
        Ok(None)
    }

    fn judge(&mut self, skips: &[IndexSet]) -> Result<Vec<Refined>, Halt> {
        let requests: Vec<_> = skips.iter().map(|skips| self.request(skips, None)).collect();
        let said = self.trials.interpret(&requests)?;
        Ok(said.iter().map(|said| self.refinement.judge(said.as_ref())).collect())
    }

    /// The failing run without some of its invocations, interpreted.
    fn request(&self, skips: &IndexSet, observe: Option<OutputByte>) -> RunRequest {
        let passes = plain(&self.trials.template);
        self.refinement.request(RunRequest { skips: skips.clone(), ..passes }, observe)
    }

    /// The first observable at which the runs without and with a step differ.
    fn value(&mut self, step: &WrongStep) -> Result<Option<WrongValue>, Halt> {
        let Some(pair) = self.pair(step, None)? else { return Ok(None) };
        let is_endless = self.refinement.is_endless(&pair.after);
        let Some(byte) = wrong_value::first_difference(&pair) else {
            return Ok(Some(wrong_value::of_ends(&pair, is_endless)));
        };
        let observed = self.pair(step, Some(byte))?;
        Ok(observed.map(|pair| wrong_value::of_output(&pair)))
    }

    fn pair(
        &mut self,
        step: &WrongStep,
        observe: Option<OutputByte>,
    ) -> Result<Option<Pair>, Halt> {
        let requests = [&step.without, &step.with].map(|skips| self.request(skips, observe));
        let mut said = self.trials.interpret(&requests)?.into_iter();
        Ok(match (said.next().flatten(), said.next().flatten()) {
            (Some(before), Some(after)) => Some(Pair { before, after }),
            _ => None,
        })
    }
}
