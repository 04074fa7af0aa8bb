//! libclang's tree -> [`Program`]: one walk that finds out what stands where.
//!
//! `oracle` says beforehand what must not be touched; `declarations`,
//! `statements` and `expressions` each read their part of the tree.
//!
//! **Invariant:** an element is listed once, however often libclang visits it.

mod declarations;
mod expressions;
mod oracle;
mod outline;
mod statements;

use std::collections::{HashMap, HashSet};

use crate::program::{Program, Site};
use crate::span::Span;
use crate::tree::{Kind, Node, Token, Tree};

pub(crate) use oracle::is_oracle_call;

pub(crate) fn build(text: &str, mut tree: Tree) -> Program {
    drop_directives(text, &mut tree.tokens);
    let oracle = oracle::find(text, &tree);
    let mut builder = Builder {
        text,
        tree: &tree,
        oracle,
        program: Program { text: text.to_owned(), ..Program::default() },
        variables: HashMap::new(),
        declarations: HashMap::new(),
        n_declarations: HashMap::new(),
        seen: HashSet::new(),
        fields: Vec::new(),
    };
    builder.file();
    builder.freeze_unused_records();
    let mut program = builder.program;
    let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
    program.line_starts = [0].into_iter().chain(newlines.map(|(at, _)| at + 1)).collect();
    let mut names: HashMap<String, usize> = HashMap::new();
    let hidden = program.hidden.iter().map(|(name, _)| name);
    for name in program.variables.iter().map(|variable| &variable.name).chain(hidden) {
        *names.entry(name.clone()).or_default() += 1;
    }
    for variable in &mut program.variables {
        variable.has_namesakes = names[&variable.name] > 1;
    }
    // libclang visits some operands twice.
    program.references.sort_by_key(|reference| reference.span);
    program.references.dedup_by_key(|reference| reference.span);
    program.calls.sort_by_key(|call| (call.span.start, std::cmp::Reverse(call.span.end)));
    program.calls.dedup_by_key(|call| call.span);
    program.binaries.sort_by_key(|binary| binary.operator_span);
    program.binaries.dedup_by_key(|binary| binary.operator_span);
    program.unaries.sort_by_key(|unary| (unary.span.start, std::cmp::Reverse(unary.span.end)));
    program.unaries.dedup_by_key(|unary| unary.span);
    program.literals.sort_by_key(|literal| literal.span);
    program.literals.dedup_by_key(|literal| literal.span);
    program.outline = outline::read(text, &tree, &program);
    program
}

/// Takes the tokens of pragmas and line markers away: they are no C.
fn drop_directives(text: &str, tokens: &mut Vec<Token>) {
    let mut end_of_directive = 0;
    tokens.retain(|token| {
        if token.span.start < end_of_directive {
            return false;
        }
        let (before, rest) = text.split_at_checked(token.span.start).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        if token.span.of(text) == "#" && line.trim().is_empty() {
            end_of_directive = token.span.start + rest.find('\n').unwrap_or(rest.len());
            return false;
        }
        true
    });
}

struct Builder<'t> {
    text: &'t str,
    tree: &'t Tree,
    /// Of each node, whether it is oracle code.
    oracle: Vec<bool>,
    program: Program,
    /// By the place of the first declaration.
    variables: HashMap<usize, usize>,
    /// By where the specifiers start.
    declarations: HashMap<usize, usize>,
    /// How often each function is declared, by its key.
    n_declarations: HashMap<usize, usize>,
    /// Records that were read, by their place.
    seen: HashSet<usize>,
    /// Declarations of fields, and the type of the record they are in.
    fields: Vec<(usize, String)>,
}

/// What is around a node.
#[derive(Clone, Copy)]
struct Context {
    site: Site,
    /// The block that a declaration belongs to ends here.
    scope_end: usize,
    /// The type of what is here must not change.
    is_pinned: bool,
    /// An argument of an oracle's call.
    is_sized: bool,
}

impl<'t> Builder<'t> {
    fn node(&self, index: usize) -> &'t Node {
        &self.tree.nodes[index]
    }

    /// The index of the first token at or behind a place.
    fn token_from(&self, offset: usize) -> usize {
        self.tree.tokens.partition_point(|token| token.span.start < offset)
    }

    fn token(&self, index: usize) -> Option<(&'t str, Token)> {
        let token = *self.tree.tokens.get(index)?;
        Some((token.span.of(self.text), token))
    }

    /// The end of the token's partner: of `(`, `[` or `{`.
    fn closing(&self, open: usize) -> usize {
        let mut depth = 0_usize;
        for index in open..self.tree.tokens.len() {
            match self.token(index).map(|(text, _)| text) {
                Some("(" | "[" | "{") => depth += 1,
                Some(")" | "]" | "}") => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return index;
            }
        }
        self.tree.tokens.len()
    }

    fn file(&mut self) {
        for &child in &self.node(0).children {
            let node = self.node(child);
            if node.kind == Kind::Function {
                *self.n_declarations.entry(node.key.unwrap_or_default()).or_default() += 1;
            }
        }
        let site = Site { is_constant: true, ..Site::default() };
        let context =
            Context { site, scope_end: self.text.len(), is_pinned: false, is_sized: false };
        for &child in &self.node(0).children {
            self.declaration(child, context);
        }
    }

    /// A declaration of any kind, at file scope or in a block.
    fn declaration(&mut self, index: usize, context: Context) {
        let node = self.node(index);
        match node.kind {
            Kind::Function => self.function(index, context),
            Kind::Variable => self.variable(index, context),
            Kind::Record => self.record(index, context),
            Kind::Typedef | Kind::Enum => {
                if context.site.function.is_some() {
                    self.hide(index, context.scope_end);
                }
                for &child in &node.children {
                    if self.node(child).kind == Kind::Record {
                        self.record(child, context);
                    }
                }
            }
            _ => {}
        }
    }

    /// Notes that a local name that is no variable hides others.
    fn hide(&mut self, index: usize, end: usize) {
        let node = self.node(index);
        self.program.hidden.push((node.name.clone(), Span { start: node.location, end }));
        for &child in &node.children {
            if self.node(child).kind == Kind::EnumConstant {
                self.hide(child, end);
            }
        }
    }
}
