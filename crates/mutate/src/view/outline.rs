//! The items of a file, its names, and what else dependencies are found with.
//!
//! **Invariant:** an item begins behind the one before it, so no specifier or
//! attribute is ever left behind.

use std::cmp::Reverse;
use std::collections::HashSet;

use crate::outline::{Item, ItemKind, Local, Outline};
use crate::program::{Owner, Program};
use crate::span::Span;
use crate::tree::{Kind, TokenKind, Tree};

/// Reads the outline; fields are known already.
pub(super) fn read(text: &str, tree: &Tree, program: &Program) -> Outline {
    let reader = Reader { text, tree };
    Outline {
        items: reader.items(),
        names: reader.names(program),
        choices: reader.choices(),
        locals: reader.locals(),
    }
}

struct Reader<'t> {
    text: &'t str,
    tree: &'t Tree,
}

impl Reader<'_> {
    fn items(&self) -> Vec<Item> {
        let nodes = &self.tree.nodes;
        let mut top: Vec<usize> = nodes.first().map_or_else(Vec::new, |root| root.children.clone());
        // The outer one first: `struct S { int a; } f(void) { ... }`.
        top.sort_by_key(|&index| (nodes[index].span.start, Reverse(nodes[index].span.end)));
        let mut items: Vec<Item> = Vec::new();
        for index in top {
            let node = &nodes[index];
            let end_of_last = items.last().map_or(0, |item| item.span.end);
            if node.span.start >= end_of_last {
                let body = node.children.iter().any(|&child| nodes[child].kind == Kind::Block);
                let kind = match (node.kind, body) {
                    (Kind::Function, true) => ItemKind::Definition,
                    (Kind::Function, false) => ItemKind::Prototype,
                    _ => ItemKind::Other,
                };
                let end = match kind {
                    ItemKind::Definition => node.span.end,
                    ItemKind::Prototype | ItemKind::Other => self.semicolon(node.span.end),
                };
                let span = Span { start: self.first_behind(end_of_last, node.span.start), end };
                items.push(Item { span, declares: Vec::new(), kind, key: self.key(span) });
            }
            if let Some(item) = items.last_mut() {
                // A function that is declared by its call is no part of the caller.
                let is_implied = item.kind == ItemKind::Definition
                    && node.kind == Kind::Function
                    && !item.declares.is_empty();
                if !is_implied {
                    self.declares(index, &mut item.declares);
                }
            }
        }
        items
    }

    /// The names that a node declares at file scope.
    fn declares(&self, index: usize, names: &mut Vec<String>) {
        let node = &self.tree.nodes[index];
        let is_word = !node.name.is_empty()
            && node.name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
        let is_named = node.kind.is_declaration() && node.kind != Kind::Field;
        if is_word && is_named && !names.contains(&node.name) {
            names.push(node.name.clone());
        }
        for &child in &node.children {
            let kind = self.tree.nodes[child].kind;
            if matches!(kind, Kind::Record | Kind::Enum | Kind::EnumConstant | Kind::Field) {
                self.declares(child, names);
            }
        }
    }

    /// Behind the semicolon that ends a declaration.
    fn semicolon(&self, from: usize) -> usize {
        let tokens = &self.tree.tokens;
        let mut depth = 0_usize;
        for token in &tokens[tokens.partition_point(|token| token.span.start < from)..] {
            match token.span.of(self.text) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                ";" if depth == 0 => return token.span.end,
                _ => {}
            }
        }
        self.text.len()
    }

    fn first_behind(&self, from: usize, latest: usize) -> usize {
        let tokens = &self.tree.tokens;
        tokens[tokens.partition_point(|token| token.span.start < from)..]
            .iter()
            .find(|token| token.span.of(self.text) != ";")
            .map_or(latest, |token| token.span.start.min(latest))
    }

    fn key(&self, span: Span) -> String {
        let tokens = &self.tree.tokens;
        let first = tokens.partition_point(|token| token.span.start < span.start);
        let words: Vec<&str> = tokens[first..]
            .iter()
            .take_while(|token| token.span.start < span.end)
            .map(|token| token.span.of(self.text))
            .collect();
        words.join(" ")
    }

    fn names(&self, program: &Program) -> Vec<Span> {
        let fields: HashSet<usize> = program
            .declarations
            .iter()
            .filter(|declaration| declaration.owner == Owner::Record)
            .flat_map(|declaration| &declaration.declarators)
            .map(|field| field.name_span.start)
            .collect();
        let mut names = Vec::new();
        let mut follows_dot = false;
        for token in &self.tree.tokens {
            let is_member = follows_dot || fields.contains(&token.span.start);
            if token.kind == TokenKind::Identifier && !is_member {
                names.push(token.span);
            }
            follows_dot = matches!(token.span.of(self.text), "." | "->");
        }
        names
    }

    fn choices(&self) -> Vec<Span> {
        let nodes = &self.tree.nodes;
        let conditionals = nodes.iter().filter(|node| node.kind == Kind::Conditional);
        let mut spans: Vec<Span> = conditionals
            .filter_map(|node| node.children.first().map(|&child| nodes[child].span))
            .collect();
        spans.sort();
        spans.dedup();
        spans
    }

    fn locals(&self) -> Vec<Local> {
        let nodes = &self.tree.nodes;
        let mut is_inside = vec![false; nodes.len()];
        let mut locals = Vec::new();
        for (index, node) in nodes.iter().enumerate().skip(1) {
            is_inside[index] = is_inside[node.parent] || nodes[node.parent].kind == Kind::Function;
            let is_wanted = match node.kind {
                Kind::Typedef | Kind::Record | Kind::Enum | Kind::EnumConstant | Kind::Function => {
                    is_inside[index]
                }
                _ => false,
            };
            if is_wanted && !node.name.is_empty() {
                locals.push(Local { name: node.name.clone(), span: node.span });
            }
        }
        locals
    }
}
