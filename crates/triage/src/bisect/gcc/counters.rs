//! The single transformation, by gcc's debug counters.
//!
//! A counter numbers one kind of transformation, whichever pass makes it: `match` all
//! simplifications of `match.pd`, `dse` all stores that are removed.
//! `-fdbg-cnt=NAME:N` allows the first N.
//!
//! **Invariant:** a transformation is named only if the failure shows with it and
//! those of its kind before it, and does not without it.

use optsleuth_case::oracle::Verdict;
use optsleuth_model::Transformation;

use super::super::trials::Halt;
use super::trials::GccTrials;

/// No failure needs more of one kind.
const MOST: u32 = 1 << 20;

/// Finds the single transformation of each counter that decides.
pub(super) fn find(
    trials: &mut GccTrials<'_>,
    found: &mut Vec<Transformation>,
) -> Result<(), Halt> {
    let counters = trials.counters()?;
    let none: Vec<Vec<String>> = counters.iter().map(|name| vec![option(name, 0)]).collect();
    let verdicts = trials.with_flags(&none)?;
    for (counter, verdict) in counters.into_iter().zip(verdicts) {
        if verdict != Verdict::Passes {
            continue;
        }
        if let Some(number) = first_failing(trials, &counter)? {
            let option = option(&counter, number);
            found.push(Transformation { counter, number, option });
        }
    }
    Ok(())
}

/// The number of transformations from which on it fails; `None` where that depends
/// on more than their number.
fn first_failing(trials: &mut GccTrials<'_>, counter: &str) -> Result<Option<u32>, Halt> {
    let mut fails = |number: u32| -> Result<bool, Halt> {
        Ok(trials.with_flags(&[vec![option(counter, number)]])?[0] == Verdict::Fails)
    };
    let (mut sound, mut failing) = (0, 1);
    while !fails(failing)? {
        (sound, failing) = (failing, failing * 4);
        if failing > MOST {
            return Ok(None);
        }
    }
    while failing - sound > 1 {
        let middle = sound + (failing - sound) / 2;
        match fails(middle)? {
            true => failing = middle,
            false => sound = middle,
        }
    }
    // What fails otherwise one before says nothing of this one.
    let before = trials.with_flags(&[vec![option(counter, failing - 1)]])?[0];
    Ok((before == Verdict::Passes).then_some(failing))
}

fn option(counter: &str, number: u32) -> String {
    format!("-fdbg-cnt={counter}:{number}")
}
