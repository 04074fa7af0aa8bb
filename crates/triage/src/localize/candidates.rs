//! The optimizations that a search puts together: those of the case, and the
//! candidates of the LocSeq paper's Table I in this LLVM's words.

use optsleuth_case::workers::Workers;
use optsleuth_model::{Element, Outcome, PassSequence};
use optsleuth_search::{Alphabet, TABLE_I};

use crate::TriageError;

/// All of them. A candidate that this LLVM does not have is left out.
pub(super) fn alphabet(
    workers: &Workers,
    buggy: Option<&PassSequence>,
    failure: &Outcome,
) -> Result<Alphabet, TriageError> {
    let is_lenient =
        workers.registry.takes_parameter(INSTCOMBINE, LENIENT) && !is_about_fixpoints(failure);
    let spelled = |element: Element| if is_lenient { lenient(element) } else { element };
    // Where code is generated alone, sequences are what comes before that.
    let nothing = || vec![Element::pass(NOTHING.to_owned())];
    let buggy = buggy.map_or_else(nothing, PassSequence::optimizations);
    let buggy = buggy.into_iter().map(spelled).collect();
    let candidates = TABLE_I
        .iter()
        .filter_map(|name| workers.passes(name).ok())
        .flat_map(|sequence| sequence.optimizations())
        .map(spelled)
        .collect();
    Ok(Alphabet::new(buggy, candidates)?)
}

/// Whether the failure is just what [`lenient`] avoids.
fn is_about_fixpoints(outcome: &Outcome) -> bool {
    let says = |message: &String| message.contains("fixpoint");
    matches!(outcome, Outcome::Crash(crash) if crash.message.as_ref().is_some_and(says))
}

/// A pass of LLVM's own that does nothing.
const NOTHING: &str = "no-op-module";
const INSTCOMBINE: &str = "instcombine";
const LENIENT: &str = "no-verify-fixpoint";

/// From LLVM 17 on, plain `instcombine` ends with an error where it would need
/// a second iteration, and most sequences with it would fail for that reason
/// alone. The default pipelines use the form that does not.
fn lenient(element: Element) -> Element {
    match element.inner {
        None if element.name == INSTCOMBINE => Element::pass(format!("{INSTCOMBINE}<{LENIENT}>")),
        None => element,
        Some(inner) => {
            let inner = inner.into_iter().map(lenient).collect();
            Element { name: element.name, inner: Some(inner) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_instcombine_becomes_lenient_at_any_depth() {
        let sequence: PassSequence = "function(sroa,instcombine,instcombine<x>)".parse().unwrap();
        let spelled = sequence.optimizations().into_iter().map(lenient);
        let texts: Vec<String> = spelled.map(|element| element.to_string()).collect();
        let expected = [
            "function(sroa)",
            "function(instcombine<no-verify-fixpoint>)",
            "function(instcombine<x>)",
        ];
        assert_eq!(texts, expected);
    }
}
