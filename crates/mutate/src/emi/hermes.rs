//! Hermes: code for what is executed, made from the values that were seen there
//! (Sun, Le, Su, OOPSLA 2016, Algorithm 1 with sparse profiling, section 4.5.1:
//! every point with a non-empty environment gets something).
//!
//! **Invariant:** a guard stands around what can be guarded only; whatever is
//! put in leaves what the environments of all other points say true.

use rand::Rng;
use rand::seq::SliceRandom as _;

use crate::emi::environment::Environment;
use crate::emi::place::Placing;
use crate::emi::points::can_be_guarded;
use crate::emi::profile::Profile;
use crate::emi::variant::{SnippetKind, Variant};
use crate::program::Program;

impl Program {
    /// A variant by what variables held; `None` if nothing could be done.
    pub fn hermes(&self, profile: &Profile, rng: &mut impl Rng) -> Option<Variant> {
        self.hermes_by(profile, rng, |_, _, _, _| None)
    }

    /// The same with texts from elsewhere: statements for blocks, a condition for
    /// a guard.
    fn hermes_by<R: Rng>(
        &self,
        profile: &Profile,
        rng: &mut R,
        mut make: impl FnMut(SnippetKind, usize, &Environment, &mut R) -> Option<String>,
    ) -> Option<Variant> {
        let mut placing = Placing::on(self);
        for (&point, environment) in profile.points() {
            let Some(statement) = self.statements.get(point) else { continue };
            let mut kinds =
                [SnippetKind::FalseBlock, SnippetKind::TrueGuard, SnippetKind::TrueBlock];
            kinds.shuffle(rng);
            for kind in kinds {
                let is_guard = kind == SnippetKind::TrueGuard;
                if is_guard && !can_be_guarded(statement) {
                    continue;
                }
                if let Some(text) = make(kind, point, environment, rng) {
                    match is_guard {
                        true => placing.guard(point, text),
                        false => placing.before(point, kind, text),
                    }
                    break;
                }
            }
        }
        placing.finish()
    }
}
