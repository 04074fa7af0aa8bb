//! Statements that are never executed, by a random walk through the grammar of
//! C (the paper's section 4.2): they use what the program has as much as
//! possible, so that a compiler that cannot tell sees many dependencies.
//!
//! **Invariant:** the statements are C for gcc and clang: nothing constant is
//! written to, no address taken of what has none, no type mixed up.

mod value;

use rand::Rng;
use rand::seq::IndexedRandom as _;

use crate::emi::environment::Environment;
use crate::emi::synthesis::names::Names;
use crate::emi::synthesis::visible::{Place, Visible};
use crate::types::{Integer, TypeKind};

/// How deep statements are nested.
const DEPTH: u32 = 2;
/// How deep expressions are.
const VALUE_DEPTH: u32 = 2;
/// So many statements are in a block at most.
const STATEMENTS: usize = 3;

const COMPOUND: [&str; 10] = ["+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="];

/// Writes one body.
pub(super) struct Writer<'a, R> {
    visible: &'a Visible<'a>,
    /// Integers that are visible where it writes now.
    places: Vec<Place>,
    names: &'a mut Names,
    rng: &'a mut R,
}

/// The kinds of statements.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Assign,
    Compound,
    Step,
    If,
    For,
    While,
    Point,
    Call,
    Print,
    Jump,
    Return,
}

/// How often each kind is drawn, where it can be written.
const KINDS: [(Kind, u32); 11] = [
    (Kind::Assign, 5),
    (Kind::Compound, 4),
    (Kind::Step, 2),
    (Kind::If, 3),
    (Kind::For, 3),
    (Kind::While, 1),
    (Kind::Point, 2),
    (Kind::Call, 2),
    (Kind::Print, 1),
    (Kind::Jump, 2),
    (Kind::Return, 1),
];

impl<'a, R: Rng> Writer<'a, R> {
    /// For a body at a visible; the environment's cells are in it, too.
    pub(super) fn new(
        visible: &'a Visible<'a>,
        environment: &Environment,
        names: &'a mut Names,
        rng: &'a mut R,
    ) -> Writer<'a, R> {
        let mut places = visible.places.clone();
        for (cell, _) in environment.cells() {
            let place = Place { text: cell.text.clone(), is_writable: !cell.is_const };
            if !places.contains(&place) {
                places.push(place);
            }
        }
        Writer { visible, places, names, rng }
    }

    /// Statements in braces. `None` if there is nothing to write to.
    pub(super) fn body(mut self) -> Option<String> {
        self.places.iter().any(|place| place.is_writable).then(|| self.block(DEPTH, false))
    }

    fn block(&mut self, depth: u32, in_loop: bool) -> String {
        let n_places = self.places.len();
        let mut text = "{".to_owned();
        if self.rng.random_bool(0.3) {
            text += &format!(" {}", self.declaration());
        }
        for _ in 0..self.rng.random_range(1..=STATEMENTS) {
            text += &format!(" {}", self.statement(depth, in_loop));
        }
        self.places.truncate(n_places);
        text + " }"
    }

    fn declaration(&mut self) -> String {
        let ty = Integer::ALL.choose(self.rng).copied().unwrap_or(Integer::INT);
        let value = self.value(VALUE_DEPTH);
        let name = self.names.fresh("v");
        self.places.push(Place { text: name.clone(), is_writable: true });
        format!("{} {name} = {value};", ty.name())
    }

    /// One statement; the first kind drawn that can be written here.
    fn statement(&mut self, depth: u32, in_loop: bool) -> String {
        loop {
            let Ok((kind, _)) = KINDS.choose_weighted(self.rng, |(_, weight)| *weight) else {
                return ";".to_owned();
            };
            let written = match kind {
                Kind::Assign => Some(self.assignment("=")),
                Kind::Compound => {
                    let operator = COMPOUND.choose(self.rng).copied().unwrap_or("+=");
                    Some(self.assignment(operator))
                }
                Kind::Step => Some(format!("{};", self.step())),
                Kind::If => (depth > 0).then(|| self.branch(depth - 1, in_loop)),
                Kind::For => (depth > 0).then(|| self.counted_loop(depth - 1)),
                Kind::While => (depth > 0).then(|| {
                    let condition = self.value(VALUE_DEPTH);
                    format!("while ({condition}) {}", self.block(depth - 1, true))
                }),
                Kind::Point => self.pointer_assignment(),
                Kind::Call => self.call().map(|(call, _)| format!("{call};")),
                Kind::Print => {
                    let value = self.value(1);
                    self.visible.has_printf.then(|| super::print("printf", &value))
                }
                Kind::Jump => in_loop.then(|| {
                    let word = ["break", "continue"].choose(self.rng).copied().unwrap_or("break");
                    format!("if ({}) {word};", self.value(1))
                }),
                Kind::Return => self.exit(),
            };
            if let Some(written) = written {
                return written;
            }
        }
    }

    fn assignment(&mut self, operator: &str) -> String {
        let value = self.value(VALUE_DEPTH);
        format!("{} {operator} {value};", self.target())
    }

    fn step(&mut self) -> String {
        let target = self.target();
        match self.rng.random_range(0..4) {
            0 => format!("++{target}"),
            1 => format!("--{target}"),
            2 => format!("{target}++"),
            _ => format!("{target}--"),
        }
    }

    fn branch(&mut self, depth: u32, in_loop: bool) -> String {
        let condition = self.value(VALUE_DEPTH);
        let then = self.block(depth, in_loop);
        match self.rng.random_bool(0.4) {
            true => format!("if ({condition}) {then} else {}", self.block(depth, in_loop)),
            false => format!("if ({condition}) {then}"),
        }
    }

    /// A loop that counts in a place of the program.
    fn counted_loop(&mut self, depth: u32) -> String {
        let counter = self.target();
        let (from, to) = (self.value(1), self.value(1));
        let (relation, step) = match self.rng.random_range(0..4) {
            0 => ("<", "++"),
            1 => ("<=", " += 2"),
            2 => (">", "--"),
            _ => ("!=", "++"),
        };
        let body = self.block(depth, true);
        format!("for ({counter} = {from}; {counter} {relation} {to}; {counter}{step}) {body}")
    }

    /// `p = &x;`
    fn pointer_assignment(&mut self) -> Option<String> {
        let pointers = self.visible.variables.iter().filter(|it| !it.ty.is_const);
        let pointers: Vec<_> = pointers.filter(|it| it.ty.is_pointer()).collect();
        let pointer = pointers.choose(self.rng)?;
        let address = self.argument(&pointer.ty)?;
        Some(format!("{} = {address};", pointer.name))
    }

    /// An end of the function, on a condition.
    fn exit(&mut self) -> Option<String> {
        let what = match self.visible.result?.kind {
            TypeKind::Void => "return".to_owned(),
            TypeKind::Integer(_) | TypeKind::Enum | TypeKind::Floating => {
                format!("return {}", self.value(VALUE_DEPTH))
            }
            TypeKind::Pointer(_)
            | TypeKind::Array { .. }
            | TypeKind::Record
            | TypeKind::Function
            | TypeKind::Other => return None,
        };
        Some(format!("if ({}) {what};", self.value(1)))
    }
}
