//! RecBi's structural operators (section 3.1, Table 1: operators 1 to 4), a file
//! per operator, and DiWi's blending (section 5.6.4).
//!
//! `locations` says where something may be inserted, `target` what the program
//! has there, `fitting` makes an ingredient of the pool fit.
//!
//! **Invariant:** nothing is inserted outside of functions, before declarations
//! or oracle code, or into a runtime; same random numbers, same mutant.

mod blend;
mod call;
mod fitting;
mod goto;
mod guard;
mod ingredient;
mod locations;
mod oracle;
mod target;

use std::fmt;

use optsleuth_model::Mutant;
use rand::Rng;
use rand::seq::IndexedRandom as _;

use crate::edit::{Edit, rewrite, short};
use crate::pool::Pool;
use crate::program::Program;
use crate::structure::fitting::Fitted;
use crate::structure::target::{InsertionPoint, Target};

pub(crate) use ingredient::Inserter;

/// How many locations are tried before an operator gives up.
const LOCATIONS: usize = 10;
/// How many ingredients are tried at each of them.
const INGREDIENTS: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Insertion {
    /// A condition around a statement.
    If,
    /// A loop around a statement.
    While,
    /// A call of another program's function.
    Call,
    /// A jump, and the label it leads to.
    Goto,
}

impl Insertion {
    /// All, in the order of RecBi's table.
    pub const ALL: [Insertion; 4] =
        [Insertion::If, Insertion::While, Insertion::Call, Insertion::Goto];

    /// `insert-if`.
    pub fn name(self) -> &'static str {
        match self {
            Insertion::If => "insert-if",
            Insertion::While => "insert-while",
            Insertion::Call => "insert-call",
            Insertion::Goto => "insert-goto",
        }
    }
}

impl fmt::Display for Insertion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What an operator does at a location.
struct Change {
    edits: Vec<Edit>,
    what: String,
}

impl Program {
    /// Inserts something at a random location; `allowed` says of a statement, by
    /// its number, whether it may stand before it. `None` if nothing fits.
    pub fn insert(
        &self,
        insertion: Insertion,
        pool: &Pool,
        allowed: &dyn Fn(usize) -> bool,
        rng: &mut impl Rng,
    ) -> Option<Mutant> {
        let locations = match insertion {
            Insertion::If | Insertion::While => locations::wrappable(self),
            Insertion::Call | Insertion::Goto => locations::insertable(self),
        };
        let allowed: Vec<usize> = locations.iter().copied().filter(|&it| allowed(it)).collect();
        let name = insertion.name();
        match insertion {
            Insertion::If => self.at_some(name, &allowed, rng, |point, rng| {
                guard::branch(point, pool.conditions.choose(rng)?, rng)
            }),
            Insertion::While => self.at_some(name, &allowed, rng, |point, rng| {
                guard::repeat(point, pool.conditions.choose(rng)?, rng)
            }),
            Insertion::Call => self.at_some(name, &allowed, rng, |point, rng| {
                call::insert(point, pool.calls.choose(rng)?, rng)
            }),
            Insertion::Goto => {
                self.at_some(name, &allowed, rng, |point, rng| goto::insert(point, &locations, rng))
            }
        }
    }

    /// Puts a statement or block of another program at a random location, with
    /// what it depends on. `None` if nothing fits.
    pub fn blend(&self, pool: &Pool, rng: &mut impl Rng) -> Option<Mutant> {
        let locations = locations::insertable(self);
        self.at_some("blend", &locations, rng, |point, rng| {
            blend::insert(point, pool.statements.choose(rng)?, rng)
        })
    }

    /// Tries locations and ingredients until something fits.
    fn at_some<R: Rng>(
        &self,
        by: &str,
        locations: &[usize],
        rng: &mut R,
        change: impl Fn(&InsertionPoint<'_>, &mut R) -> Option<Change>,
    ) -> Option<Mutant> {
        let target = Target::new(self);
        for _ in 0..LOCATIONS {
            let location = *locations.choose(rng)?;
            let point = InsertionPoint::new(&target, location);
            let made = (0..INGREDIENTS).find_map(|_| change(&point, rng));
            if let Some(Change { edits, what }) = made {
                let (line, _) = self.line_and_column(self.statements[location].span.start);
                return Some(Mutant {
                    text: rewrite(self.text(), edits),
                    by: by.to_owned(),
                    line,
                    what,
                    statement: Some(location),
                });
            }
        }
        None
    }
}

/// The edits that put statements in front of a location, with their prerequisites.
fn put_before(point: &InsertionPoint<'_>, statements: &str, prerequisites: &Fitted) -> Vec<Edit> {
    let statement = point.statement();
    let mut edits = prerequisites.edits(point);
    match statement.block {
        Some(_) => edits.push(Edit::insert(statement.span.start, format!("{statements} "))),
        None => {
            edits.push(Edit::insert(statement.span.start, format!("{{ {statements} ")));
            edits.push(Edit::insert(statement.span.end, " }"));
        }
    }
    edits
}

/// As in "`x = f(y);` before `a = b;`".
fn describe(point: &InsertionPoint<'_>, inserted: &str) -> String {
    let before = point.statement().span.of(point.target.program.text());
    format!("`{}` before `{}`", short(inserted), short(before))
}
