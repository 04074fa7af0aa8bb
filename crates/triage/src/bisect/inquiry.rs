//! Which invocations does a failure come from? All decisions of a bisection,
//! over a compiler that can be asked what a choice of invocations does.
//!
//! **Invariant:** no I/O, no clock, no number of workers: the questions and
//! their order depend on the answers alone. What is found stays found when the
//! inquiry is halted.

use std::collections::BTreeSet;

use optsleuth_case::oracle::Verdict;
use optsleuth_model::{BisectionVerdict, Invocation};
use optsleuth_search::Minimizer;

use super::prefix::PrefixSearch;

/// Which of the failing run's invocations are to run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Choice {
    /// All below a number, but for some. Every number means what it means in
    /// the failing run, because nothing before it differs, or only one thing.
    Below {
        /// Where it ends.
        end: u32,
        /// What is left out before that.
        without: Vec<u32>,
    },
    /// These alone, ascending, by their names.
    Only(Vec<u32>),
}

/// How far a failing run comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reach {
    /// How many invocations it comes to.
    pub(super) n: u32,
    /// The one in which it fails, where it fails in one.
    pub(super) failed_in: Option<u32>,
}

/// Something that knows what a choice of invocations does.
pub(super) trait Compiler {
    /// Why it stops answering.
    type Halt;
    /// How far it comes with all invocations but some.
    fn reach(&mut self, without: &[u32]) -> Result<Reach, Self::Halt>;
    /// Whether a failing run takes long.
    fn is_slow(&self) -> bool;
    /// What comes of each choice.
    fn judge(&mut self, choices: &[Choice]) -> Result<Vec<Verdict>, Self::Halt>;
    /// Which invocations change the IR, as far as that is known; the failure
    /// is certain after the one of this number.
    fn changes(&mut self, certain_after: u32) -> Result<Vec<Option<bool>>, Self::Halt>;
    /// The failing run's number of an invocation that has this one where some
    /// are left out; `None` if the failing run does not come to it.
    fn original(&mut self, number: u32, without: &[u32]) -> Result<Option<u32>, Self::Halt>;
}

/// What is known so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Findings {
    /// It fails with everything skipped that can be.
    pub(super) needs_nothing: bool,
    pub(super) certain_after: Option<u32>,
    pub(super) masked: bool,
    pub(super) changed: Vec<Option<bool>>,
    /// Empty until it is known.
    pub(super) minimal: Vec<u32>,
    pub(super) needed: Vec<u32>,
    /// The guilty one, and those that take its place when it is left out.
    pub(super) culprits: Vec<u32>,
    pub(super) more_culprits: bool,
}

/// Candidates that a minimizer is asked for at a time; fixed, as all numbers
/// here.
const WIDTH: usize = 4;
/// So many that take each other's place are looked for.
const MAX_CULPRITS: usize = 5;
/// So many are left out one by one, besides those of the minimal set.
const MAX_REMOVALS: usize = 64;
/// As in "up to the end".
const ALL: u32 = u32::MAX;

/// Finds out what a failure comes from. `log` is the failing run's.
pub(super) fn inquire<C: Compiler>(
    log: &[Invocation],
    compiler: &mut C,
    findings: &mut Findings,
) -> Result<(), C::Halt> {
    if fails(compiler, &[Choice::Below { end: 0, without: Vec::new() }])?[0] {
        findings.needs_nothing = true;
        return Ok(());
    }
    let (certain_after, masked) = first_certain(&[], compiler)?;
    findings.certain_after = Some(certain_after);
    findings.masked = masked;
    findings.changed = compiler.changes(certain_after)?;
    findings.minimal = minimal(log, certain_after, &findings.changed, compiler)?;
    // Left alone, what is masked may need less than what comes last.
    let guilty = findings.minimal.last().copied().unwrap_or(certain_after);
    findings.masked |= guilty != certain_after;
    findings.culprits = vec![guilty];
    take_its_place(compiler, findings)?;
    findings.needed = needed(log, certain_after, findings, compiler)?;
    Ok(())
}

impl Findings {
    /// What it means, where it means something.
    pub(super) fn verdict(&self) -> Option<BisectionVerdict> {
        let guilty = self.culprits.first().copied().or(self.certain_after)?;
        let needs_also: Vec<u32> =
            self.minimal.iter().copied().filter(|&number| number != guilty).collect();
        Some(match self.culprits.len() < 2 && !self.more_culprits {
            true => BisectionVerdict::Guilty { invocation: guilty, needs_also },
            false => BisectionVerdict::SeveralCulprits {
                invocations: self.culprits.clone(),
                needs_also,
                more: self.more_culprits,
            },
        })
    }
}

/// Whether each choice fails as the case does.
fn fails<C: Compiler>(compiler: &mut C, choices: &[Choice]) -> Result<Vec<bool>, C::Halt> {
    let verdicts = compiler.judge(choices)?;
    Ok(verdicts.into_iter().map(|verdict| verdict == Verdict::Fails).collect())
}

/// The first invocation after which the failure is certain, with some left out.
fn first_certain<C: Compiler>(without: &[u32], compiler: &mut C) -> Result<(u32, bool), C::Halt> {
    let below = |&end: &u32| Choice::Below { end, without: without.to_vec() };
    let Reach { n, failed_in } = compiler.reach(without)?;
    // Up to there, the run without the rest is the same.
    if let Some(place) = failed_in
        && !fails(compiler, &[below(&place)])?[0]
    {
        return Ok((place, false));
    }
    let mut search = PrefixSearch::new(n);
    loop {
        let ends = search.ask();
        if ends.is_empty() {
            return Ok((search.certain_after(), search.masked()));
        }
        let choices: Vec<Choice> = ends.iter().map(below).collect();
        search.tell(&as_before(&compiler.judge(&choices)?));
    }
}

/// Whether each beginning fails, from the shortest on. One that fails in another way,
/// because something that belongs together was cut in two, says nothing: it counts as
/// the one before it.
fn as_before(verdicts: &[Verdict]) -> Vec<bool> {
    let mut before = false; // What is shorter than all of them is known not to fail.
    let one = |verdict: &Verdict| {
        before = match verdict {
            Verdict::Fails => true,
            Verdict::Passes => false,
            Verdict::Other => before,
        };
        before
    };
    verdicts.iter().map(one).collect()
}

/// A set that fails and of which nothing can be left out, up to the one after
/// which the failure is certain.
fn minimal<C: Compiler>(
    log: &[Invocation],
    last: u32,
    changed: &[Option<bool>],
    compiler: &mut C,
) -> Result<Vec<u32>, C::Halt> {
    let can_go: Vec<u32> = optional(log, last);
    let has_changed = |number: &u32| {
        *number == last || changed.get(index(*number)).is_none_or(|known| *known != Some(false))
    };
    let effective: Vec<u32> = can_go.iter().copied().filter(has_changed).collect();
    let home = log.get(index(last)).and_then(|invocation| function_of(&invocation.unit));
    let is_near = |number: &u32| {
        log.get(index(*number)).is_some_and(|other| function_of(&other.unit) == home)
    };
    let near: Vec<u32> = effective.iter().copied().filter(is_near).collect();
    // From the boldest guess to what is known to fail.
    let mut guesses = vec![vec![last], near, effective];
    guesses.dedup();
    let choices: Vec<Choice> = guesses.iter().cloned().map(Choice::Only).collect();
    let first = fails(compiler, &choices)?.iter().position(|&fails| fails);
    let start = first.map_or(can_go, |first| guesses.swap_remove(first));
    let mut minimizer = Minimizer::new(start.len());
    while !minimizer.is_done() {
        let candidates = minimizer.ask(WIDTH);
        let numbers = |kept: &Vec<usize>| kept.iter().map(|&place| start[place]).collect();
        let choices: Vec<Choice> =
            candidates.iter().map(|kept| Choice::Only(numbers(kept))).collect();
        minimizer.tell(&fails(compiler, &choices)?);
    }
    Ok(minimizer.kept().iter().map(|&place| start[place]).collect())
}

/// What makes the same failure when the culprits found so far are left out.
fn take_its_place<C: Compiler>(compiler: &mut C, findings: &mut Findings) -> Result<(), C::Halt> {
    // As numbered where those before them are left out.
    let mut without = findings.culprits.clone();
    while fails(compiler, &[Choice::Below { end: ALL, without: without.clone() }])?[0] {
        if without.len() == MAX_CULPRITS {
            findings.more_culprits = true;
            return Ok(());
        }
        let (next, _) = first_certain(&without, compiler)?;
        let original = match without.last() {
            // To leave it out would give the others new numbers.
            Some(&last) if next <= last => None,
            _ => compiler.original(next, &without)?,
        };
        let Some(original) = original else {
            findings.more_culprits = true;
            return Ok(());
        };
        findings.culprits.push(original);
        without.push(next);
    }
    Ok(())
}

/// Those without any one of which nothing fails: of the minimal set, and of all
/// where they are few. Where nothing is masked, no other one can be needed.
fn needed<C: Compiler>(
    log: &[Invocation],
    last: u32,
    findings: &Findings,
    compiler: &mut C,
) -> Result<Vec<u32>, C::Halt> {
    let effective: Vec<u32> = optional(log, last)
        .into_iter()
        .filter(|&number| findings.changed.get(index(number)).is_none_or(|c| *c != Some(false)))
        .collect();
    let mut tried: BTreeSet<u32> = findings.minimal.iter().copied().collect();
    if effective.len() <= MAX_REMOVALS && !compiler.is_slow() {
        tried.extend(effective);
    }
    let tried: Vec<u32> = tried.into_iter().collect();
    let choice = |&number: &u32| Choice::Below { end: ALL, without: vec![number] };
    let verdicts = compiler.judge(&tried.iter().map(choice).collect::<Vec<_>>())?;
    let passes = |(number, verdict)| (verdict == Verdict::Passes).then_some(number);
    Ok(tried.into_iter().zip(verdicts).filter_map(passes).collect())
}

/// The numbers up to `last` that can be skipped.
fn optional(log: &[Invocation], last: u32) -> Vec<u32> {
    let can_go = |invocation: &&Invocation| !invocation.required && !invocation.skipped;
    let upto = log.iter().take(index(last) + 1);
    upto.filter(can_go).map(|invocation| invocation.index).collect()
}

/// The function that a unit lies in.
pub(super) fn function_of(unit: &str) -> Option<&str> {
    match unit.split_once(' ')? {
        ("function", name) => Some(name),
        ("loop", rest) => rest.split_once(" in ").map(|(_, name)| name),
        _ => None,
    }
}

fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
