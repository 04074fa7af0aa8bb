//! Hermes: code for what is executed, made from the values that were seen there
//! (Sun, Le, Su, OOPSLA 2016, Algorithm 1 with sparse profiling, section 4.5.1:
//! every point with a non-empty environment gets something).
//!
//! **Invariant:** a guard stands around what can be guarded only; whatever is
//! put in leaves what the environments of all other points say true.

use rand::Rng;
use rand::seq::SliceRandom as _;

use crate::emi::place::Placing;
use crate::emi::points::can_be_guarded;
use crate::emi::profile::Profile;
use crate::emi::synthesis::{Names, Visible, false_block, true_block, true_guard};
use crate::emi::variant::Variant;
use crate::marks::SnippetKind;
use crate::program::Program;

/// The three things that Hermes makes, each as often as the others.
#[derive(Clone, Copy)]
enum Kind {
    FalseBlock,
    TrueGuard,
    TrueBlock,
}

impl Program {
    /// A variant by what variables held; `None` if nothing could be done.
    pub fn hermes(&self, profile: &Profile, rng: &mut impl Rng) -> Option<Variant> {
        let mut names = Names::new(self.text());
        let mut placing = Placing::on(self);
        for (&point, environment) in profile.points() {
            let Some(statement) = self.statements.get(point) else { continue };
            let visible = Visible::new(self, statement.span.start);
            let mut kinds = [Kind::FalseBlock, Kind::TrueGuard, Kind::TrueBlock];
            kinds.shuffle(rng);
            // What cannot be made here leaves its turn to the next.
            for kind in kinds {
                let made = match kind {
                    Kind::FalseBlock => false_block(&visible, environment, &mut names, rng),
                    Kind::TrueBlock => true_block(&visible, environment, &mut names, rng),
                    Kind::TrueGuard if can_be_guarded(statement) => true_guard(environment, rng),
                    Kind::TrueGuard => None,
                };
                let Some(text) = made else { continue };
                match kind {
                    Kind::FalseBlock => placing.before(point, SnippetKind::FalseBlock, text),
                    Kind::TrueBlock => placing.before(point, SnippetKind::TrueBlock, text),
                    Kind::TrueGuard => placing.guard(point, text),
                }
                break;
            }
        }
        placing.finish()
    }
}
