//! Short sequences that are known to make programs go wrong, and whose findings
//! they show.
//!
//! Wrong code has no signature: only a run tells whether another program goes
//! wrong by the passes of a known finding, too. One run for each program and
//! sequence.

use optsleuth_case::oracle::{Oracle, Verdict};
use optsleuth_case::workers::Workers;
use optsleuth_model::{CaseKind, Element, PassSequence};

use super::choice::leaf_name;
use super::request::request;
use crate::HuntError;
use crate::programs::TestProgram;

/// So many sequences of a finding are tried on other programs.
const ENOUGH_SHOWN: usize = 8;

/// Findings of wrong code, and short sequences that show them.
#[derive(Debug, Default)]
pub(super) struct KnownWrongCode {
    known: Vec<(u64, PassSequence)>,
    /// Whether the loaded program goes wrong by each, as far as that was tried.
    goes_wrong: Vec<Option<bool>>,
}

impl KnownWrongCode {
    pub(super) fn new(known: Vec<(u64, PassSequence)>) -> KnownWrongCode {
        KnownWrongCode { known, goes_wrong: Vec::new() }
    }

    /// Another program is loaded.
    pub(super) fn begin_program(&mut self) {
        self.goes_wrong.clear();
    }

    /// A sequence shows a finding; whether that is to be remembered.
    pub(super) fn learn(&mut self, number: u64, passes: &PassSequence) -> bool {
        let n_shown = self.known.iter().filter(|(other, _)| *other == number).count();
        if n_shown < ENOUGH_SHOWN {
            self.known.push((number, passes.clone()));
        }
        n_shown < ENOUGH_SHOWN
    }

    /// A finding whose few passes are in a sequence and, alone, make the loaded
    /// program go wrong, too.
    pub(super) fn shown_by(
        &mut self,
        workers: &mut Workers,
        program: &TestProgram,
        drawn: &[Element],
    ) -> Result<Option<u64>, HuntError> {
        let oracle = Oracle::new(CaseKind::WrongCode, Some(program.expected.clone()));
        self.goes_wrong.resize(self.known.len(), None);
        for ((number, passes), tried) in self.known.iter().zip(&mut self.goes_wrong) {
            if !is_subsequence(&passes.optimizations(), drawn) {
                continue;
            }
            let goes_wrong = match tried {
                Some(goes_wrong) => *goes_wrong,
                None => {
                    let request = request(CaseKind::WrongCode, passes);
                    let outcome = workers.pool.first().run(&request)?.outcome;
                    let verdict = oracle.clone().like(&outcome).judge(&outcome);
                    *tried.insert(verdict == Verdict::Fails)
                }
            };
            if goes_wrong {
                return Ok(Some(*number));
            }
        }
        Ok(None)
    }
}

/// Whether the first list is what is left of the second without some of it,
/// parameters and adaptors aside.
fn is_subsequence(part: &[Element], whole: &[Element]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|element| rest.any(|other| leaf_name(other) == leaf_name(element)))
}
