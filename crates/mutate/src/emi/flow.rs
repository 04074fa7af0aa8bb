//! The control flow of a program's own functions, from its statements: basic
//! blocks known by their text, and edges between them.
//!
//! **Invariant:** blanks and comments, markers among them, make no difference;
//! the runtime has no part in it.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::program::{Program, StatementKind};
use crate::span::Span;

/// Blocks and edges as sets.
pub(super) struct Flow {
    pub blocks: BTreeSet<u64>,
    pub edges: BTreeSet<(u64, u64)>,
    /// Statements of the functions.
    pub n_statements: usize,
}

impl Flow {
    pub(super) fn of(program: &Program) -> Flow {
        let is_own = |function: usize| !program.functions[function].is_frozen;
        let own = program.statements.iter().filter(|statement| is_own(statement.function));
        let n_statements = own.count();
        let (mut blocks, mut edges) = (BTreeSet::new(), BTreeSet::new());
        for (number, function) in program.functions.iter().enumerate() {
            let Some(body) = function.body.filter(|_| is_own(number)) else { continue };
            let mut builder = Builder::new(program);
            let exits = builder.all(&program.blocks[body].statements, Vec::new());
            builder.node("", exits);
            builder.resolve();
            let hashes: Vec<u64> = builder.nodes.iter().map(|node| hash(&node.text)).collect();
            blocks.extend(hashes.iter().copied());
            edges.extend(builder.edges.iter().map(|&(from, to)| (hashes[from], hashes[to])));
        }
        Flow { blocks, edges, n_statements }
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

struct Node {
    text: String,
    /// Whether the next statement belongs to it.
    is_open: bool,
}

/// What `break` and `continue` lead to.
#[derive(Default)]
struct Around {
    breaks: Vec<usize>,
    /// `None` for a switch.
    again: Option<usize>,
    /// Of a switch: its condition, and whether it has a default.
    switch: Option<(usize, bool)>,
}

struct Builder<'p> {
    program: &'p Program,
    nodes: Vec<Node>,
    edges: BTreeSet<(usize, usize)>,
    labels: BTreeMap<&'p str, usize>,
    gotos: Vec<(usize, &'p str)>,
    around: Vec<Around>,
}

/// The nodes that control comes from.
type Exits = Vec<usize>;

impl<'p> Builder<'p> {
    fn new(program: &'p Program) -> Builder<'p> {
        let (nodes, edges, labels) = (Vec::new(), BTreeSet::new(), BTreeMap::new());
        Builder { program, nodes, edges, labels, gotos: Vec::new(), around: Vec::new() }
    }

    fn node(&mut self, text: &str, from: Exits) -> usize {
        let node = self.nodes.len();
        self.nodes.push(Node { text: text.to_owned(), is_open: true });
        from.into_iter().for_each(|from| self.edge(from, node));
        node
    }

    fn edge(&mut self, from: usize, to: usize) {
        self.nodes[from].is_open = false;
        self.edges.insert((from, to));
    }

    /// Goes on in the same block where there is nothing but that.
    fn simple(&mut self, span: Span, from: Exits) -> usize {
        let text = essence(span.of(&self.program.text));
        match from[..] {
            [only] if self.nodes[only].is_open => {
                self.nodes[only].text.push_str(&text);
                only
            }
            _ => self.node(&text, from),
        }
    }

    fn all(&mut self, statements: &'p [usize], from: Exits) -> Exits {
        statements.iter().fold(from, |from, &statement| self.statement(statement, from))
    }

    fn maybe(&mut self, statement: Option<usize>, from: Exits) -> Exits {
        match statement {
            Some(statement) => self.statement(statement, from),
            None => from,
        }
    }

    /// What is around a body; the body's exits, and those of its breaks.
    fn inside(&mut self, around: Around, body: usize, from: Exits) -> (Exits, Around) {
        self.around.push(around);
        let exits = self.statement(body, from);
        (exits, self.around.pop().unwrap_or_default())
    }

    fn statement(&mut self, number: usize, from: Exits) -> Exits {
        let program = self.program;
        let statement = &program.statements[number];
        match &statement.kind {
            StatementKind::Block(block) => self.all(&program.blocks[*block].statements, from),
            StatementKind::Expression
            | StatementKind::Declaration(_)
            | StatementKind::Asm
            | StatementKind::Other => vec![self.simple(statement.span, from)],
            StatementKind::Empty => from,
            StatementKind::If { condition, then, otherwise } => {
                let condition = self.simple(*condition, from);
                self.nodes[condition].is_open = false;
                let mut exits = self.statement(*then, vec![condition]);
                exits.extend(self.maybe(*otherwise, vec![condition]));
                exits
            }
            StatementKind::While { condition, body } => {
                let head = self.node(&essence(condition.of(program.text())), from);
                let around = Around { again: Some(head), ..Around::default() };
                self.nodes[head].is_open = false;
                let (exits, around) = self.inside(around, *body, vec![head]);
                exits.into_iter().for_each(|exit| self.edge(exit, head));
                [vec![head], around.breaks].concat()
            }
            StatementKind::Do { condition, body } => {
                let head = self.node("do", from);
                let end = self.node(&essence(condition.of(program.text())), Vec::new());
                let around = Around { again: Some(end), ..Around::default() };
                let (exits, around) = self.inside(around, *body, vec![head]);
                exits.into_iter().for_each(|exit| self.edge(exit, end));
                self.edge(end, head);
                [vec![end], around.breaks].concat()
            }
            StatementKind::For { init, condition, step, body } => {
                let text =
                    |span: &Option<Span>| essence(span.map_or("", |span| span.of(program.text())));
                let from = match init {
                    Some(init) => vec![self.simple(*init, from)],
                    None => from,
                };
                let head = self.node(&text(condition), from);
                let step = self.node(&text(step), Vec::new());
                self.edge(step, head);
                let around = Around { again: Some(step), ..Around::default() };
                let (exits, around) = self.inside(around, *body, vec![head]);
                exits.into_iter().for_each(|exit| self.edge(exit, step));
                [vec![head], around.breaks].concat()
            }
            StatementKind::Switch { condition, body } => {
                let head = self.simple(*condition, from);
                self.nodes[head].is_open = false;
                let around = Around { switch: Some((head, false)), ..Around::default() };
                let (mut exits, around) = self.inside(around, *body, Vec::new());
                exits.extend(around.breaks);
                match around.switch {
                    Some((_, true)) => exits,
                    Some((_, false)) | None => [exits, vec![head]].concat(),
                }
            }
            StatementKind::Case { body, .. } => self.case(*body, false, from),
            StatementKind::Default { body } => self.case(*body, true, from),
            StatementKind::Label { name, body } => {
                let node = self.node("label", from);
                self.labels.insert(name, node);
                self.maybe(*body, vec![node])
            }
            StatementKind::Goto { label } => {
                let node = self.simple(statement.span, from);
                self.gotos.push((node, label));
                Vec::new()
            }
            StatementKind::ComputedGoto | StatementKind::Return { .. } => {
                let node = self.simple(statement.span, from);
                self.nodes[node].is_open = false;
                Vec::new()
            }
            StatementKind::Break => {
                let node = self.simple(statement.span, from);
                if let Some(around) = self.around.last_mut() {
                    around.breaks.push(node);
                }
                Vec::new()
            }
            StatementKind::Continue => {
                let node = self.simple(statement.span, from);
                let again = self.around.iter().rev().find_map(|around| around.again);
                again.into_iter().for_each(|again| self.edge(node, again));
                Vec::new()
            }
        }
    }

    fn case(&mut self, body: Option<usize>, is_default: bool, mut from: Exits) -> Exits {
        let around = self.around.iter_mut().rev().find_map(|around| around.switch.as_mut());
        if let Some((head, has_default)) = around {
            *has_default |= is_default;
            from.push(*head);
        }
        self.maybe(body, from)
    }

    fn resolve(&mut self) {
        for (from, label) in std::mem::take(&mut self.gotos) {
            if let Some(&to) = self.labels.get(label) {
                self.edge(from, to);
            }
        }
    }
}

/// A text without blanks and comments.
fn essence(text: &str) -> String {
    let mut essence = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((code, behind)) = rest.split_once("/*") {
        essence.extend(code.split_whitespace());
        rest = behind.split_once("*/").map_or("", |(_, rest)| rest);
    }
    essence.extend(rest.split_whitespace());
    essence
}
