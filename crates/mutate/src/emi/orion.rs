//! Orion: statements that were not executed are deleted at random (Le, Afshari,
//! Su, "Compiler validation via equivalence modulo inputs", PLDI 2014).
//!
//! **Invariant:** only dead statements go, and one that is within another that
//! goes is not decided on.

use rand::Rng;
use rand::seq::IndexedRandom as _;

use crate::emi::dead::Dead;
use crate::emi::place::Placing;
use crate::emi::profile::Profile;
use crate::emi::variant::Variant;
use crate::program::{Program, StatementKind};

/// How often a statement with others in it goes. Half of them, so that about as
/// many of the outermost stay as go, and what is in those is decided on, too.
const COMPOUND: f64 = 0.5;
/// How often another one goes: less, so that what is left of a block still does
/// something.
const SIMPLE: f64 = 0.3;

impl Program {
    /// A variant without some of what was not reached; `None` if nothing can go.
    pub fn orion(&self, profile: &Profile, rng: &mut impl Rng) -> Option<Variant> {
        let candidates = Dead::of(self, profile).deletable();
        let mut placing = Placing::on(self);
        let mut gone_up_to = 0;
        for &candidate in &candidates {
            let statement = &self.statements[candidate];
            let probability = if is_compound(&statement.kind) { COMPOUND } else { SIMPLE };
            if statement.span.start >= gone_up_to && rng.random_bool(probability) {
                placing.delete(candidate);
                gone_up_to = statement.span.end;
            }
        }
        if gone_up_to == 0 {
            placing.delete(*candidates.choose(rng)?);
        }
        placing.finish()
    }
}

fn is_compound(kind: &StatementKind) -> bool {
    matches!(
        kind,
        StatementKind::Block(_)
            | StatementKind::If { .. }
            | StatementKind::While { .. }
            | StatementKind::Do { .. }
            | StatementKind::For { .. }
            | StatementKind::Switch { .. }
    )
}
