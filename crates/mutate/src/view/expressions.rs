//! Expressions: operators, constants, calls, and what is done to variables.
//!
//! **Invariant:** every use of a variable is listed, frozen or not, because
//! whether a variable may become `const` depends on all of them.

use std::sync::Arc;

use crate::operator::{BinaryOperator, UnaryOperator};
use crate::program::{Binary, BlockKind, Call, Literal, Operand, Reference, Role, Unary, Use};
use crate::span::Span;
use crate::tree::Kind;
use crate::types::{Integer, Rank, Type, TypeKind};
use crate::view::{Builder, Context, oracle};

impl Builder<'_> {
    /// An expression whose value is wanted.
    pub(super) fn read(&mut self, index: usize, context: Context) {
        self.expression(index, Use::Read, false, context);
    }

    fn expression(&mut self, index: usize, used: Use, is_part: bool, mut context: Context) {
        let node = self.node(index);
        self.program.has_numeric_addresses |=
            !self.is_in_runtime(context) && self.makes_number_of_address(index);
        context.site.is_frozen |= self.oracle[index];
        match node.kind {
            Kind::DeclRef if matches!(node.target, Kind::Variable | Kind::Parameter) => {
                self.reference(index, used, is_part, context);
            }
            Kind::DeclRef if node.target == Kind::Function => {
                self.program.addressed_functions.insert(node.name.clone());
            }
            Kind::IntegerLiteral => self.literal(index, context),
            Kind::Paren => self.each(index, used, is_part, context),
            Kind::MemberRef => {
                if used == Use::AddressTaken || context.is_pinned {
                    self.program.addressed_fields.extend(node.key);
                }
                let base = node.children.iter().copied().find(|&c| self.is_expression(c));
                if let Some(base) = base {
                    match self.ty(self.bare(base)).is_some_and(|ty| ty.is_pointer()) {
                        true => self.read(base, context),
                        false => self.expression(base, used, true, context),
                    }
                }
            }
            Kind::Subscript => {
                for &child in &node.children {
                    let bare = self.bare(child);
                    match self.ty(bare).is_some_and(|ty| ty.is_array()) {
                        true => self.expression(bare, used, true, context),
                        false => self.read(child, context),
                    }
                }
            }
            Kind::Unary => self.unary(index, used, context),
            Kind::Binary | Kind::CompoundAssign => self.binary(index, context),
            Kind::Call => self.call(index, context),
            Kind::StatementExpression => {
                if let Some(&block) = node.children.first() {
                    self.block(
                        block,
                        BlockKind::StatementExpression,
                        context.site.statement,
                        context,
                    );
                }
            }
            Kind::Generic => {
                context.site.is_frozen = true;
                context.is_pinned = true;
                self.each(index, Use::Read, false, context);
            }
            Kind::TypeTrait => {
                context.site.is_frozen = true;
                self.each(index, Use::Read, false, context);
            }
            Kind::Wrapper => self.wrapper(index, used, is_part, context),
            Kind::DeclRef
            | Kind::Conditional
            | Kind::Cast
            | Kind::CompoundLiteral
            | Kind::InitList
            | Kind::Expression => self.each(index, Use::Read, false, context),
            Kind::Record => self.record(index, context),
            _ => {}
        }
    }

    fn is_in_runtime(&self, context: Context) -> bool {
        let function = context.site.function.and_then(|it| self.program.functions.get(it));
        function.is_some_and(|function| function.is_frozen)
    }

    /// Whether a conversion, written or not, takes a pointer to an integer.
    /// `_Bool` only tells whether it is null.
    fn makes_number_of_address(&self, index: usize) -> bool {
        let node = self.node(index);
        let is_number = |ty: &Arc<Type>| match ty.kind {
            TypeKind::Integer(Integer { rank, .. }) => rank != Rank::Bool,
            _ => ty.is_integer(),
        };
        matches!(node.kind, Kind::Cast | Kind::Wrapper)
            && node.ty.as_ref().is_some_and(is_number)
            && node.children.last().is_some_and(|&operand| {
                self.ty(self.core(operand)).is_some_and(|ty| {
                    ty.is_pointer() || ty.is_array() || ty.kind == TypeKind::Function
                })
            })
    }

    fn each(&mut self, index: usize, used: Use, is_part: bool, context: Context) {
        for &child in &self.node(index).children {
            self.expression(child, used, is_part, context);
        }
    }

    fn is_expression(&self, index: usize) -> bool {
        self.node(index).kind.is_expression()
    }

    fn ty(&self, index: usize) -> Option<&Arc<Type>> {
        self.tree.nodes[index].ty.as_ref()
    }

    /// The expression as written, without what C converts it to.
    fn bare(&self, index: usize) -> usize {
        let node = self.node(index);
        match (node.kind, &node.children[..]) {
            (Kind::Wrapper, &[only]) if self.node(only).span == node.span => self.bare(only),
            _ => index,
        }
    }

    /// The same without parentheses.
    fn core(&self, index: usize) -> usize {
        let bare = self.bare(index);
        match (self.node(bare).kind, &self.node(bare).children[..]) {
            (Kind::Paren, &[only]) => self.core(only),
            _ => bare,
        }
    }

    /// The node around this one that stands in the text.
    fn outer(&self, index: usize) -> usize {
        let parent = self.node(index).parent;
        match self.node(parent).kind == Kind::Wrapper
            && self.node(parent).span == self.node(index).span
        {
            true => self.outer(parent),
            false => parent,
        }
    }

    /// An implicit cast, a designated initializer, or something rare.
    fn wrapper(&mut self, index: usize, used: Use, is_part: bool, context: Context) {
        let node = self.node(index);
        if node.children.len() == 1 && self.bare(index) != index {
            let child = node.children[0];
            let decays = self.ty(index).is_some_and(|ty| ty.is_pointer())
                && self.ty(child).is_some_and(|ty| ty.is_array());
            match decays {
                true => self.expression(child, Use::AddressTaken, is_part, context),
                false => self.expression(child, used, is_part, context),
            }
            return;
        }
        let is_designated = matches!(self.text.as_bytes().get(node.span.start), Some(b'[' | b'.'));
        let n_children = node.children.len();
        for (at, &child) in node.children.iter().enumerate() {
            let mut inner = context;
            inner.site.is_frozen |= is_designated && at + 1 < n_children;
            self.expression(child, Use::Read, false, inner);
        }
    }

    fn reference(&mut self, index: usize, used: Use, is_part: bool, context: Context) {
        let node = self.node(index);
        let Some(&variable) = node.key.and_then(|key| self.variables.get(&key)) else { return };
        let known = &mut self.program.variables[variable];
        known.is_written |= matches!(used, Use::Written | Use::ReadAndWritten);
        known.is_address_taken |= used == Use::AddressTaken || context.is_pinned;
        known.is_written |= context.is_pinned;
        known.is_pinned |= context.is_pinned;
        known.is_sized |= context.is_sized;
        let site = context.site;
        self.program.references.push(Reference { span: node.span, variable, used, is_part, site });
    }

    fn unary(&mut self, index: usize, used: Use, context: Context) {
        let node = self.node(index);
        let Some(&child) = node.children.first() else { return };
        let before =
            Span { start: node.span.start, end: self.node(child).span.start }.of(self.text);
        let behind = Span { start: self.node(child).span.end, end: node.span.end }.of(self.text);
        let operator = match (before.trim(), behind.trim()) {
            ("", text) if text.ends_with("++") => Some(UnaryOperator::PostIncrement),
            ("", text) if text.ends_with("--") => Some(UnaryOperator::PostDecrement),
            ("++", _) => Some(UnaryOperator::PreIncrement),
            ("--", _) => Some(UnaryOperator::PreDecrement),
            ("!" | "~", _) => Some(UnaryOperator::Negation),
            _ => None,
        };
        match (before.chars().next(), operator) {
            (_, Some(operator)) => {
                let written = match operator {
                    UnaryOperator::Negation => Use::Read,
                    UnaryOperator::PreIncrement
                    | UnaryOperator::PreDecrement
                    | UnaryOperator::PostIncrement
                    | UnaryOperator::PostDecrement => Use::ReadAndWritten,
                };
                let core = self.core(child);
                let place = self.node(core);
                let is_place =
                    matches!(place.kind, Kind::DeclRef | Kind::MemberRef | Kind::Subscript)
                        || (place.kind == Kind::Unary
                            && self.text.as_bytes().get(place.span.start) == Some(&b'*'));
                let (Some(operand), Some(ty)) = (self.operand(child), node.ty.clone()) else {
                    return;
                };
                let is_assignable = is_place
                    && place.target != Kind::Function
                    && place.target != Kind::EnumConstant
                    && self.ty(core).is_some_and(|ty| !ty.is_const && ty.is_scalar());
                let site = context.site;
                self.program.unaries.push(Unary {
                    span: node.span,
                    operator,
                    operand,
                    is_assignable,
                    ty,
                    site,
                });
                self.expression(child, written, false, context);
            }
            (Some('&'), None) if !before.trim().starts_with("&&") => {
                self.expression(child, Use::AddressTaken, false, context);
            }
            (Some('*'), None) => {
                let bare = self.core(child);
                match self.ty(bare).is_some_and(|ty| ty.is_array()) {
                    true => self.expression(bare, used, true, context),
                    false => self.read(child, context),
                }
            }
            (_, None) => self.read(child, context),
        }
    }

    fn operand(&self, index: usize) -> Option<Operand> {
        let bare = self.bare(index);
        let node = self.node(bare);
        let core = self.node(self.core(index));
        Some(Operand {
            span: node.span,
            ty: node.ty.clone()?,
            is_compound: matches!(
                node.kind,
                Kind::Binary
                    | Kind::CompoundAssign
                    | Kind::Conditional
                    | Kind::Cast
                    | Kind::Unary
                    | Kind::Wrapper
            ),
            is_zero: core.kind == Kind::IntegerLiteral
                && core
                    .span
                    .of(self.text)
                    .trim_end_matches(['u', 'U', 'l', 'L'])
                    .trim_start_matches("0x")
                    .trim_start_matches("0X")
                    .bytes()
                    .all(|b| b == b'0'),
        })
    }

    fn binary(&mut self, index: usize, context: Context) {
        let node = self.node(index);
        let &[left, right] = &node.children[..] else { return };
        let Some((text, token)) = self.token(self.token_from(self.node(left).span.end)) else {
            return;
        };
        let used = match (text, node.kind) {
            ("=", _) => Use::Written,
            (_, Kind::CompoundAssign) => Use::ReadAndWritten,
            _ => Use::Read,
        };
        if let (Some(operator), Some(left), Some(right), Some(ty)) = (
            BinaryOperator::from_text(text),
            self.operand(left),
            self.operand(right),
            node.ty.clone(),
        ) {
            let outer = self.node(self.outer(index)).kind;
            self.program.binaries.push(Binary {
                span: node.span,
                operator,
                operator_span: token.span,
                left,
                right,
                ty,
                is_bare: matches!(outer, Kind::Binary | Kind::Conditional | Kind::Wrapper),
                site: context.site,
            });
        }
        self.expression(left, used, false, context);
        self.read(right, context);
    }

    fn call(&mut self, index: usize, mut context: Context) {
        let node = self.node(index);
        let Some((&callee, arguments)) = node.children.split_first() else { return };
        let core = self.node(self.core(callee));
        let name = (core.kind == Kind::DeclRef && core.target == Kind::Function)
            .then(|| core.name.clone());
        let called = name.as_deref().unwrap_or_default();
        context.is_sized |= oracle::is_oracle_call(called);
        // Many builtin functions want constants, or just this variable.
        context.site.is_frozen |= called.starts_with("__builtin_")
            || called.starts_with("__sync_")
            || called.starts_with("__atomic_");
        if let Some(ty) = node.ty.clone() {
            let arguments = arguments.iter().map(|&argument| self.node(argument).span).collect();
            self.program.calls.push(Call {
                callee: name,
                span: node.span,
                arguments,
                ty,
                site: context.site,
            });
        }
        let is_named = self.program.calls.last().is_some_and(|call| call.callee.is_some());
        for &child in node.children.iter().skip(usize::from(is_named)) {
            self.read(child, context);
        }
    }

    fn literal(&mut self, index: usize, context: Context) {
        let node = self.node(index);
        let Some(ty) = node.ty.clone() else { return };
        let (role, is_negated) = self.role(index);
        self.program.literals.push(Literal {
            span: node.span,
            ty,
            role,
            is_negated,
            site: context.site,
        });
    }

    /// What a constant is for, and whether a minus stands before it.
    fn role(&self, index: usize) -> (Role, bool) {
        let mut is_negated = false;
        let mut inner = index;
        loop {
            let outer = self.node(inner).parent;
            let node = self.node(outer);
            let is_pointer = node.ty.as_ref().is_some_and(|ty| ty.is_pointer());
            match node.kind {
                Kind::Wrapper | Kind::Cast if is_pointer => return (Role::Null, is_negated),
                Kind::Wrapper | Kind::Paren | Kind::Cast => {}
                Kind::Unary => {
                    is_negated |= self.text.as_bytes().get(node.span.start) == Some(&b'-');
                }
                Kind::Binary | Kind::CompoundAssign if node.children.get(1) == Some(&inner) => {
                    let left = node.children[0];
                    let token = self.token(self.token_from(self.node(left).span.end));
                    let operator = token.and_then(|(text, _)| BinaryOperator::from_text(text));
                    let bits = self.ty(self.bare(left)).map_or(32, |ty| ty.promoted_bits());
                    let role = match operator.map(BinaryOperator::text) {
                        Some("/" | "%" | "/=" | "%=") => Role::Divisor,
                        Some("<<" | ">>" | "<<=" | ">>=") => Role::Shift(bits),
                        _ => Role::Plain,
                    };
                    return (role, is_negated);
                }
                Kind::Subscript => {
                    let length = node.children.iter().find_map(|&child| {
                        match self.ty(self.bare(child)).map(|ty| &ty.kind) {
                            Some(TypeKind::Array { length, .. }) => *length,
                            _ => None,
                        }
                    });
                    return (Role::Index(length), is_negated);
                }
                _ => return (Role::Plain, is_negated),
            }
            inner = outer;
        }
    }
}
