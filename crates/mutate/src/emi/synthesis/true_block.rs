//! A block that is entered, changes objects of the program, and puts them back
//! (the paper's figures 4 and 6).
//!
//! What the cells may hold is followed line by line: each line is made for the
//! environment that the lines before it leave.
//!
//! **Invariant:** every cell that is written is neither constant nor volatile
//! and has its value again behind the block; nothing else is written.

use rand::Rng;
use rand::seq::IndexedRandom as _;

use crate::emi::environment::{Cell, Environment};
use crate::emi::synthesis::expression::{Expression, expression};
use crate::emi::synthesis::names::Names;
use crate::emi::synthesis::predicate::condition;
use crate::emi::synthesis::visible::Visible;
use crate::operator::BinaryOperator;

/// So many cells are written at most.
const CELLS: usize = 3;

/// A cell that is written, and the variable that keeps its value.
struct Change {
    cell: Cell,
    backup: Cell,
}

/// A statement to stand at the visible. `None` if nothing is known there, or no
/// cell can be written.
pub(crate) fn true_block(
    visible: &Visible<'_>,
    environment: &Environment,
    names: &mut Names,
    rng: &mut impl Rng,
) -> Option<String> {
    let mut environment = environment.clone();
    let changes = changes(&environment, names, rng);
    let mut lines = Vec::new();
    for Change { backup, .. } in &changes {
        let initial = expression(&environment, rng)?;
        lines.push(format!("{} {} = {};", backup.ty.name(), backup.text, initial.text()));
        environment = environment.with(backup.clone(), initial.stored(backup));
    }
    lines.push(format!("if ({}) {{", condition(&environment, true, rng)?));
    for Change { cell, backup } in &changes {
        lines.push(format!("{} = {};", backup.text, cell.text));
        let kept = environment.get(&cell.text)?.to_vec();
        environment = environment.with(backup.clone(), kept);
    }
    for Change { cell, .. } in &changes {
        let (line, values) = assignment(cell, &environment, rng)?;
        lines.push(line);
        environment = environment.with(cell.clone(), values);
    }
    let shown = &changes.choose(rng)?.cell;
    let word = super::if_or_while(rng);
    let never = condition(&environment, false, rng)?;
    lines.push(format!("{word} ({never}) {{ {} }} }}", show(visible, shown, rng)));
    for Change { cell, backup } in &changes {
        lines.push(format!("{} = {};", cell.text, backup.text));
    }
    Some(format!("{{ {} }}", lines.join(" ")))
}

/// One to three cells, each with a new variable of its type.
fn changes(environment: &Environment, names: &mut Names, rng: &mut impl Rng) -> Vec<Change> {
    let cells = environment.cells().iter().map(|(cell, _)| cell);
    let writable: Vec<&Cell> = cells.filter(|cell| !cell.is_const && !cell.is_volatile).collect();
    let n_cells = rng.random_range(1..=CELLS);
    let chosen: Vec<&Cell> = writable.choose_multiple(rng, n_cells).copied().collect();
    let mut change = |cell: &Cell| {
        let text = names.fresh("backup");
        let backup = Cell { text, bit_width: None, variable: None, ..cell.clone() };
        Change { cell: cell.clone(), backup }
    };
    chosen.into_iter().map(&mut change).collect()
}

/// A new value for a cell, and what it may hold then.
fn assignment(
    cell: &Cell,
    environment: &Environment,
    rng: &mut impl Rng,
) -> Option<(String, Vec<i128>)> {
    let value = expression(environment, rng)?;
    let compound: Vec<&BinaryOperator> =
        BinaryOperator::ALL.iter().filter(|operator| operator.assigns()).collect();
    let operator = compound.choose(rng)?;
    let result = match rng.random_bool(0.4) && has_standard_type(cell) {
        // `a op= e` stores `a op e`, if that is defined.
        true => Expression::cell(cell, environment.get(&cell.text)?).joined(**operator, &value),
        false => None,
    };
    Some(match result {
        Some(result) => {
            (format!("{} {} {};", cell.text, operator.text(), value.text()), result.stored(cell))
        }
        None => (format!("{} = {};", cell.text, value.text()), value.stored(cell)),
    })
}

/// Whether C says in which type a cell is computed with; of long bit-fields,
/// gcc has its own opinion.
fn has_standard_type(cell: &Cell) -> bool {
    cell.bit_width.is_none_or(|width| cell.ty.promoted_field(width).is_some())
}

/// A use of a cell that no compiler may drop: it is printed, or copied to something
/// that the program has.
fn show(visible: &Visible<'_>, cell: &Cell, rng: &mut impl Rng) -> String {
    let others = visible.places.iter().filter(|place| place.is_writable && place.text != cell.text);
    let others: Vec<_> = others.collect();
    match (visible.has_printf, others.choose(rng)) {
        (true, _) => super::print("printf", &cell.text),
        (false, Some(other)) => format!("{} = {};", other.text, cell.text),
        // gcc and clang both have it.
        (false, None) => super::print("__builtin_printf", &cell.text),
    }
}
