//! Blocks and statements.
//!
//! **Invariant:** a statement's number is smaller than those of the statements
//! in it, and its span ends with its semicolon or brace.

use crate::program::{Block, BlockKind, Statement, StatementKind};
use crate::span::Span;
use crate::tree::Kind;
use crate::view::{Builder, Context};

impl Builder<'_> {
    /// A block, and what is in it. `statement` is the one that it is.
    pub(super) fn block(
        &mut self,
        index: usize,
        kind: BlockKind,
        statement: Option<usize>,
        mut context: Context,
    ) -> usize {
        let node = self.node(index);
        let function = context.site.function.unwrap_or_default();
        let number = self.program.blocks.len();
        self.program.blocks.push(Block {
            kind,
            span: node.span,
            statements: Vec::new(),
            function,
            statement,
        });
        context.scope_end = node.span.end;
        context.site.statement = statement;
        for &child in &node.children {
            if let Some(inner) = self.statement(child, Some(number), context) {
                self.program.blocks[number].statements.push(inner);
            }
        }
        number
    }

    /// A statement; `None` for a node that is none.
    pub(super) fn statement(
        &mut self,
        index: usize,
        block: Option<usize>,
        context: Context,
    ) -> Option<usize> {
        let node = self.node(index);
        if !node.kind.is_statement() && !node.kind.is_expression() {
            return None;
        }
        let number = self.program.statements.len();
        let is_oracle = self.oracle[index];
        self.program.statements.push(Statement {
            kind: StatementKind::Other,
            span: node.span,
            block,
            parent: context.site.statement,
            function: context.site.function.unwrap_or_default(),
            is_oracle,
            is_pinned: self.follows_directive(node.span.start),
        });
        let mut inner = context;
        inner.site.statement = Some(number);
        inner.site.is_frozen |= is_oracle;
        let kind = self.statement_kind(index, number, inner);
        let mut end = node.span.end;
        for &body in bodies(&kind).iter().flatten() {
            end = end.max(self.program.statements[body].span.end);
        }
        let has_semicolon =
            bodies(&kind) == [None, None] || matches!(kind, StatementKind::Do { .. });
        if let Some((";", token)) = self.token(self.token_from(end))
            && has_semicolon
            && !matches!(kind, StatementKind::Block(_))
        {
            end = token.span.end;
        }
        let statement = &mut self.program.statements[number];
        statement.span.end = end;
        statement.kind = kind;
        Some(number)
    }

    /// Whether a pragma, which has to stay next to it, comes right before, or is
    /// how it starts.
    fn follows_directive(&self, start: usize) -> bool {
        let (before, behind) = self.text.split_at_checked(start).unwrap_or_default();
        let line_before = before.trim_end().lines().next_back().unwrap_or_default();
        behind.starts_with('#') || line_before.trim_start().starts_with('#')
    }

    fn statement_kind(&mut self, index: usize, number: usize, context: Context) -> StatementKind {
        let node = self.node(index);
        let parts: Vec<usize> = node
            .children
            .iter()
            .copied()
            .filter(|&child| {
                let kind = self.node(child).kind;
                kind.is_statement() || kind.is_expression()
            })
            .collect();
        match (node.kind, &parts[..]) {
            (Kind::Block, _) => {
                StatementKind::Block(self.block(index, BlockKind::Plain, Some(number), context))
            }
            (Kind::If, &[condition, then, ref rest @ ..]) => {
                let condition = self.condition(condition, context);
                let otherwise = rest.first().copied();
                match self.statement(then, None, context) {
                    Some(then) => StatementKind::If {
                        condition,
                        then,
                        otherwise: otherwise.and_then(|other| self.statement(other, None, context)),
                    },
                    None => StatementKind::Other,
                }
            }
            (Kind::While, &[condition, body]) => {
                let condition = self.condition(condition, context);
                match self.statement(body, None, context) {
                    Some(body) => StatementKind::While { condition, body },
                    None => StatementKind::Other,
                }
            }
            (Kind::Do, &[body, condition]) => {
                let body = self.statement(body, None, context);
                let condition = self.condition(condition, context);
                match body {
                    Some(body) => StatementKind::Do { condition, body },
                    None => StatementKind::Other,
                }
            }
            (Kind::Switch, &[condition, body]) => {
                let condition = self.condition(condition, context);
                match self.statement(body, None, context) {
                    Some(body) => StatementKind::Switch { condition, body },
                    None => StatementKind::Other,
                }
            }
            (Kind::For, _) => self.for_loop(index, &parts, context),
            (Kind::Case, &[ref values @ .., body]) => {
                let mut frozen = context;
                frozen.site.is_frozen = true;
                frozen.site.is_constant = true;
                let values = values.iter().map(|&value| self.condition(value, frozen)).collect();
                StatementKind::Case { values, body: self.statement(body, None, context) }
            }
            (Kind::Default, _) => StatementKind::Default {
                body: parts.first().and_then(|&body| self.statement(body, None, context)),
            },
            (Kind::Label, _) => StatementKind::Label {
                name: node.name.clone(),
                body: parts.first().and_then(|&body| self.statement(body, None, context)),
            },
            (Kind::Goto, _) => {
                let label = node.children.first().map(|&label| self.node(label).name.clone());
                StatementKind::Goto { label: label.unwrap_or_default() }
            }
            (Kind::Return, _) => StatementKind::Return {
                value: parts.first().map(|&value| self.condition(value, context)),
            },
            (Kind::Declaration, _) => {
                let start = node.span.start;
                for &child in &node.children {
                    self.declaration(child, context);
                }
                StatementKind::Declaration(self.declarations.get(&start).copied())
            }
            (Kind::Asm, _) => {
                let mut frozen = context;
                frozen.site.is_frozen = true;
                frozen.is_pinned = true;
                for &part in &parts {
                    self.read(part, frozen);
                }
                StatementKind::Asm
            }
            (Kind::Break, _) => StatementKind::Break,
            (Kind::Continue, _) => StatementKind::Continue,
            (Kind::Empty, _) => StatementKind::Empty,
            (Kind::ComputedGoto, _) => {
                for &part in &parts {
                    self.read(part, context);
                }
                StatementKind::ComputedGoto
            }
            (kind, _) if kind.is_expression() => {
                self.read(index, context);
                StatementKind::Expression
            }
            _ => {
                for &part in &parts {
                    self.statement(part, None, context);
                }
                StatementKind::Other
            }
        }
    }

    /// Reads an expression and says where it is.
    fn condition(&mut self, index: usize, context: Context) -> Span {
        self.read(index, context);
        self.node(index).span
    }

    /// The parts of a `for` may be missing; its semicolons never are.
    fn for_loop(&mut self, index: usize, parts: &[usize], mut context: Context) -> StatementKind {
        let node = self.node(index);
        context.scope_end = node.span.end;
        let open = self.token_from(node.span.start) + 1;
        let close = self.closing(open);
        let mut semicolons = Vec::new();
        let mut at = open + 1;
        while at < close {
            match self.token(at) {
                Some(("(" | "[" | "{", _)) => at = self.closing(at),
                Some((";", token)) => semicolons.push(token.span.start),
                _ => {}
            }
            at += 1;
        }
        let end = self.token(close).map_or(node.span.end, |(_, token)| token.span.start);
        let (&[first, second], Some((&body, heads))) = (&semicolons[..], parts.split_last()) else {
            return StatementKind::Other;
        };
        let (mut init, mut condition, mut step) = (None, None, None);
        for &head in heads {
            let span = self.node(head).span;
            let slot = match span.start {
                start if start < first => &mut init,
                start if start < second => &mut condition,
                start if start < end => &mut step,
                _ => continue,
            };
            *slot = Some(span);
            if self.node(head).kind == Kind::Declaration {
                for &child in &self.node(head).children {
                    self.declaration(child, context);
                }
            } else {
                self.read(head, context);
            }
        }
        match self.statement(body, None, context) {
            Some(body) => {
                // What the head declares lives as long as the whole loop.
                StatementKind::For { init, condition, step, body }
            }
            None => StatementKind::Other,
        }
    }
}

/// The statements that a statement ends with.
fn bodies(kind: &StatementKind) -> [Option<usize>; 2] {
    match kind {
        StatementKind::If { then, otherwise, .. } => [Some(*then), *otherwise],
        StatementKind::While { body, .. }
        | StatementKind::Do { body, .. }
        | StatementKind::For { body, .. }
        | StatementKind::Switch { body, .. } => [Some(*body), None],
        StatementKind::Case { body, .. }
        | StatementKind::Default { body }
        | StatementKind::Label { body, .. } => [*body, None],
        _ => [None, None],
    }
}
