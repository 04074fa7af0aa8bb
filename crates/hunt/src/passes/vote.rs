//! What the CTOS paper takes for the oracle, and what is only counted here: the
//! behaviour on which most sequences agree.

use std::collections::BTreeMap;

use optsleuth_model::CaseKind;

use crate::campaign::Deviation;

/// Whether more sequences agree on some other behaviour than on the unoptimized
/// program's. The CTOS paper lets the majority decide what is right; here
/// several unoptimized executions do, because one pass that is often drawn and
/// wrong has most sequences on its side.
pub(super) fn is_outvoted(letters: &str, deviations: &[Deviation]) -> bool {
    let right = letters.chars().filter(|letter| *letter == '.').count();
    let mut votes: BTreeMap<&str, usize> = BTreeMap::new();
    for wrong in deviations.iter().filter(|one| one.mark.kind == CaseKind::WrongCode) {
        *votes.entry(&wrong.mark.signature).or_default() += 1;
    }
    votes.values().any(|votes| *votes > right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::{Mark, TestId};

    #[test]
    fn a_majority_agrees_on_one_behaviour() {
        let wrong = |printed: &str| Deviation {
            id: TestId { unit: 0, program: 0, position: 0 },
            test: 1,
            seconds: 0.0,
            compiler: "llvm-19".to_owned(),
            mark: Mark { kind: CaseKind::WrongCode, pass: None, signature: printed.to_owned() },
        };
        assert!(!is_outvoted("..W", &[wrong("a")]));
        assert!(is_outvoted("WWW.", &[wrong("a"), wrong("a"), wrong("a")]));
        assert!(!is_outvoted("WWW.", &[wrong("a"), wrong("b"), wrong("c")]));
        assert!(!is_outvoted("CCC", &[]));
    }
}
