//! Puts what was made for statements into the text, with markers.
//!
//! **Invariant:** each statement has one thing done to it at most, none of them
//! within one that is deleted; what is around a statement closes before
//! anything of the next one opens, and inner before outer.

use std::collections::BTreeMap;

use crate::edit::{Edit, rewrite};
use crate::emi::variant::Variant;
use crate::marks;
use crate::marks::SnippetKind;
use crate::program::Program;

/// Changes to a program that are still to be made.
pub(super) struct Placing<'p> {
    program: &'p Program,
    first_id: u32,
    next_id: u32,
    actions: BTreeMap<usize, (u32, Action)>,
    prerequisites: Vec<Edit>,
}

enum Action {
    Before(SnippetKind, String),
    Guarded(String),
    Deleted,
}

impl<'p> Placing<'p> {
    pub(super) fn on(program: &'p Program) -> Placing<'p> {
        let first_id = marks::next_id(program.text());
        let (actions, prerequisites) = (BTreeMap::new(), Vec::new());
        Placing { program, first_id, next_id: first_id, actions, prerequisites }
    }

    /// Statements before a statement.
    pub(super) fn before(&mut self, statement: usize, kind: SnippetKind, text: String) {
        self.act(statement, Action::Before(kind, text));
    }

    /// A condition around a statement.
    pub(super) fn guard(&mut self, statement: usize, condition: String) {
        self.act(statement, Action::Guarded(condition));
    }

    /// Nothing instead of a statement.
    pub(super) fn delete(&mut self, statement: usize) {
        self.act(statement, Action::Deleted);
    }

    /// Declarations at file scope for what was placed last.
    pub(super) fn carry(&mut self, offset: usize, names: &[String], text: &str) {
        let id = self.next_id - 1;
        self.prerequisites.push(Edit::insert(offset, marks::prerequisites(id, names, text) + "\n"));
    }

    fn act(&mut self, statement: usize, action: Action) {
        self.actions.insert(statement, (self.next_id, action));
        self.next_id += 1;
    }

    /// The changed program; `None` if nothing was changed.
    pub(super) fn finish(self) -> Option<Variant> {
        if self.actions.is_empty() {
            return None;
        }
        let mut openings = self.prerequisites;
        let mut closings = Vec::new();
        for (statement, (id, action)) in self.actions {
            let statement = &self.program.statements[statement];
            let (mut opening, mut closing) = match action {
                Action::Deleted => {
                    let was = marks::deleted(id, statement.span.of(self.program.text()));
                    openings.push(Edit::replace(statement.span, was));
                    continue;
                }
                Action::Before(kind, text) => {
                    (marks::inserted(id, kind, &format!("{text} ")), String::new())
                }
                Action::Guarded(condition) => {
                    let marked = |text: &str| marks::inserted(id, SnippetKind::TrueGuard, text);
                    (marked(&format!("if ({condition}) {{ ")), marked(" }"))
                }
            };
            if statement.block.is_none() {
                opening.insert_str(0, marks::OPEN_BRACE);
                closing.push_str(marks::CLOSE_BRACE);
            }
            openings.push(Edit::insert(statement.span.start, opening));
            if !closing.is_empty() {
                closings.push(Edit::insert(statement.span.end, closing));
            }
        }
        // Statements come outer ones first, so they have to close in reverse.
        closings.reverse();
        closings.extend(openings);
        let text = rewrite(self.program.text(), closings);
        let mut snippets = marks::snippets(&text);
        snippets.retain(|snippet| snippet.id >= self.first_id);
        snippets.sort_by_key(|snippet| (snippet.line, snippet.id));
        Some(Variant { text, snippets })
    }
}
