//! The first wrong step in words: who makes a program wrong, who makes it show, and
//! the first value that is wrong. Terminal, Markdown and page say the same.

use optsleuth_model::{Bisection, FirstWrongStep, WrongValue};

use crate::names::cut;

/// How much of a value is shown.
const VALUE: usize = 120;

/// `#57 attributor on module makes it wrong; #103 gvn on f makes it show`, where
/// these are two, and the failure needs both.
pub(crate) fn two_steps(found: &Bisection) -> Option<String> {
    let (wrong, shows) = (found.first_wrong()?.invocation, found.guilty()?);
    let culprit = found.culprit()?;
    (wrong != shows && culprit.index == wrong).then_some(())?;
    Some(format!("{culprit} makes it wrong; {} makes it show", found.invocation(shows)?))
}

/// A first wrong step that the failure does not need.
pub(crate) fn step_aside(found: &Bisection) -> Option<String> {
    let wrong = found.first_wrong()?.invocation;
    (found.culprit()?.index != wrong).then_some(())?;
    let name = found.invocation(wrong)?;
    Some(format!("{name} makes the program wrong; the failure does not need that"))
}

/// `argument 2 of printf is 39 instead of 15`.
pub(crate) fn wrong_value(value: &WrongValue) -> String {
    let WrongValue { observable, before, after, .. } = value;
    let (before, after) = (cut(before, VALUE), cut(after, VALUE));
    match observable.as_str() {
        // These say it all.
        "the program's behaviour" | "the program's end" => after,
        _ => format!("{observable} is {after} instead of {before}"),
    }
}

/// Why no first wrong step is named, where the referee was asked for one.
pub(crate) fn not_known(found: &Bisection) -> Option<&str> {
    match &found.first_wrong {
        FirstWrongStep::Unknown { why } => Some(why),
        FirstWrongStep::NoPass => Some("the referee finds the optimized program right"),
        FirstWrongStep::NotAsked | FirstWrongStep::Found(_) => None,
    }
}
