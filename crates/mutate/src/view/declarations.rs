//! Functions, variables, parameters and fields, and the words they are
//! declared with.
//!
//! **Invariant:** what the C library's headers declare is frozen: functions
//! without a body, variables without a definition, unused records.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::program::{
    BlockKind, Declaration, Declarator, Field, Function, Owner, Record, Specifier, Storage,
    Variable, Word,
};
use crate::span::Span;
use crate::tree::{Kind, TokenKind};
use crate::types::{Type, TypeKind};
use crate::view::{Builder, Context, oracle};

impl Builder<'_> {
    pub(super) fn function(&mut self, index: usize, context: Context) {
        let node = self.node(index);
        let body =
            node.children.iter().copied().find(|&child| self.node(child).kind == Kind::Block);
        let parameters: Vec<usize> = node
            .children
            .iter()
            .copied()
            .filter(|&child| self.node(child).kind == Kind::Parameter)
            .collect();
        let is_frozen = body.is_none() || oracle::is_runtime(&node.name);
        let number = self.program.functions.len();
        let name_span = Span { start: node.location, end: node.location + node.name.len() };
        self.program.functions.push(Function {
            name: node.name.clone(),
            span: node.span,
            name_span,
            result: node.result.clone().unwrap_or_else(|| Arc::new(unknown())),
            parameters: Vec::new(),
            parameter_types: parameters.iter().filter_map(|&p| self.node(p).ty.clone()).collect(),
            is_variadic: node.is_variadic,
            is_static: node.is_static,
            body: None,
            n_declarations: self
                .n_declarations
                .get(&node.key.unwrap_or_default())
                .copied()
                .unwrap_or(1),
            is_frozen,
        });
        let Some(body) = body else { return };
        let mut inner = context;
        inner.site.function = Some(number);
        inner.site.is_frozen = is_frozen;
        inner.site.is_constant = false;
        inner.scope_end = self.node(body).span.end;
        let first = self.program.variables.len();
        for parameter in parameters {
            self.variable(parameter, inner);
        }
        self.program.functions[number].parameters = (first..self.program.variables.len()).collect();
        let block = self.block(body, BlockKind::Body, None, inner);
        self.program.functions[number].body = Some(block);
    }

    /// A variable or a parameter.
    pub(super) fn variable(&mut self, index: usize, context: Context) {
        let node = self.node(index);
        let Some(ty) = node.ty.clone() else { return };
        let is_parameter = node.kind == Kind::Parameter;
        let storage = match (is_parameter, context.site.function, node.is_static) {
            (true, _, _) => Storage::Parameter,
            (false, None, _) => Storage::Global,
            (false, Some(_), true) => Storage::LocalStatic,
            (false, Some(_), false) => Storage::Local,
        };
        let owner = match (is_parameter, context.site.function) {
            (true, Some(function)) => Owner::Function(function),
            (_, None) => Owner::File,
            (false, Some(_)) => Owner::Block,
        };
        let key = node.key.unwrap_or(node.location);
        let known = self.variables.get(&key).copied();
        let variable = known.unwrap_or(self.program.variables.len());
        self.variables.insert(key, variable);
        let declaration = self.declarator(index, owner, Some(variable), context);
        let declared = &self.program.declarations[declaration];
        let has_initializer =
            declared.declarators.last().is_some_and(|last| last.initializer.is_some());
        if known.is_some() {
            let variable = &mut self.program.variables[variable];
            variable.n_declarations += 1;
            variable.is_external &= node.is_extern;
            // `extern int a[]; int a[3];`
            variable.ty = ty;
        } else {
            self.program.variables.push(Variable {
                name: node.name.clone(),
                ty,
                storage,
                name_span: Span { start: node.location, end: node.location + node.name.len() },
                scope: Span { start: node.span.end, end: context.scope_end.max(node.span.end) },
                function: context.site.function,
                declaration,
                n_declarations: 1,
                is_external: node.is_extern && !has_initializer,
                is_register: node.is_register,
                is_initialized: has_initializer || storage != Storage::Local,
                is_written: false,
                is_address_taken: false,
                is_pinned: false,
                is_sized: false,
                is_frozen: context.site.is_frozen || oracle::is_runtime_variable(&node.name),
                has_namesakes: false,
            });
        }
        self.parts_of_declarator(index, declaration, context, storage);
    }

    /// The expressions of a declarator: sizes of arrays, and the initializer.
    fn parts_of_declarator(
        &mut self,
        index: usize,
        declaration: usize,
        context: Context,
        storage: Storage,
    ) {
        let initializer = self.program.declarations[declaration]
            .declarators
            .last()
            .and_then(|declarator| declarator.initializer);
        for &child in &self.node(index).children {
            let node = self.node(child);
            let mut inner = context;
            match node.kind {
                Kind::Record => self.record(child, context),
                kind if kind.is_expression() => {
                    let is_value = initializer.is_some_and(|span| node.span.start >= span.start);
                    inner.site.is_frozen |= !is_value;
                    inner.site.is_constant |=
                        !is_value || matches!(storage, Storage::Global | Storage::LocalStatic);
                    self.read(child, inner);
                }
                _ => {}
            }
        }
    }

    /// The fields of a structure or union, once.
    pub(super) fn record(&mut self, index: usize, context: Context) {
        let node = self.node(index);
        if !node.is_definition || !self.seen.insert(node.span.start) {
            return;
        }
        let record = node.ty.as_ref().map_or_else(String::new, |ty| ty.bare.clone());
        let fields = node.children.iter().map(|&child| self.node(child));
        let named = fields.filter(|child| child.kind == Kind::Field && !child.name.is_empty());
        let fields = named.filter_map(|field| {
            let ty = field.ty.clone()?;
            Some(Field { name: field.name.clone(), ty, bit_width: field.bit_width })
        });
        self.program.records.push(Record {
            bare: record.clone(),
            is_union: !node.span.of(self.text).starts_with("struct"),
            fields: fields.collect(),
        });
        for &child in &node.children {
            match self.node(child).kind {
                Kind::Field => {
                    let declaration = self.declarator(child, Owner::Record, None, context);
                    self.fields.push((declaration, record.clone()));
                    for &part in &self.node(child).children {
                        if self.node(part).kind == Kind::Record {
                            self.record(part, context);
                        }
                    }
                }
                Kind::Record => self.record(child, context),
                _ => {}
            }
        }
    }

    /// Freezes the fields of records that no variable of the program has: most
    /// come from headers.
    pub(super) fn freeze_unused_records(&mut self) {
        let own = self.program.variables.iter().filter(|variable| !variable.is_external);
        let mut used: BTreeSet<String> =
            own.map(|variable| variable.ty.innermost().bare.clone()).collect();
        loop {
            let inner: Vec<String> = self
                .fields
                .iter()
                .filter(|(_, record)| used.contains(record))
                .flat_map(|(declaration, _)| &self.program.declarations[*declaration].declarators)
                .map(|field| field.ty.innermost().bare.clone())
                .collect();
            let n_used = used.len();
            used.extend(inner);
            if used.len() == n_used {
                break;
            }
        }
        for (declaration, record) in &self.fields {
            let site = &mut self.program.declarations[*declaration].site;
            site.is_frozen |= !used.contains(record);
        }
    }

    /// Adds a declarator to its declaration, which is made if it is the first.
    fn declarator(
        &mut self,
        index: usize,
        owner: Owner,
        variable: Option<usize>,
        context: Context,
    ) -> usize {
        let node = self.node(index);
        // libclang has the second name of a statement start at itself.
        let parent = self.node(node.parent);
        let span = match parent.kind {
            Kind::Declaration => Span { start: parent.span.start, end: node.span.end },
            _ => node.span,
        };
        let name_end = node.location + node.name.len();
        let first = self.token_from(span.start);
        let specifiers = self.specifiers(first, node.location);
        let declaration = *self.declarations.entry(span.start).or_insert_with(|| {
            self.program.declarations.push(Declaration {
                span,
                owner,
                specifiers,
                declarators: Vec::new(),
                site: context.site,
            });
            self.program.declarations.len() - 1
        });
        let own_qualifiers = self.qualifiers_before(node.location);
        let from = own_qualifiers.first().map_or(node.location, |first| first.span.start);
        let before = self.token_from(from).checked_sub(1).and_then(|at| self.token(at));
        let declarator = Declarator {
            name: node.name.clone(),
            name_span: Span { start: node.location, end: name_end },
            span,
            ty: node.ty.clone().unwrap_or_else(|| Arc::new(unknown())),
            variable,
            bit_width: node.bit_width,
            initializer: self.initializer(name_end, span.end),
            has_star: before.is_some_and(|(text, token)| {
                text == "*" && token.span.start > span.start && !node.name.is_empty()
            }),
            own_qualifiers,
        };
        let declared = &mut self.program.declarations[declaration];
        declared.span.end = declared.span.end.max(span.end);
        declared.declarators.push(declarator);
        declaration
    }

    /// What stands behind `=`.
    fn initializer(&self, name_end: usize, end: usize) -> Option<Span> {
        let mut at = self.token_from(name_end);
        while let Some((text, token)) = self.token(at) {
            match text {
                _ if token.span.start >= end => return None,
                "=" => return Some(Span { start: self.token(at + 1)?.1.span.start, end }),
                "(" | "[" => at = self.closing(at) + 1,
                _ => at += 1,
            }
        }
        None
    }

    fn qualifiers_before(&self, name: usize) -> Vec<Specifier> {
        let mut found = Vec::new();
        let mut at = self.token_from(name);
        while let Some((text, token)) = at.checked_sub(1).and_then(|before| self.token(before)) {
            let word = word(text);
            if !matches!(word, Some(Word::Const | Word::Volatile | Word::Restrict)) {
                break;
            }
            found.extend(word.map(|word| Specifier { word, span: token.span }));
            at -= 1;
        }
        found.reverse();
        found
    }

    /// The words from a token on, up to the declarator.
    fn specifiers(&self, first: usize, name: usize) -> Vec<Specifier> {
        let mut found: Vec<Specifier> = Vec::new();
        let mut has_type = false;
        let mut at = first;
        while let Some((text, token)) = self.token(at) {
            if token.span.start >= name && token.kind == TokenKind::Identifier {
                break;
            }
            let mut end = at;
            let word = match text {
                "struct" | "union" | "enum" => {
                    while let Some((next, _)) = self.token(end + 1) {
                        match next {
                            "{" | "(" => end = self.closing(end + 1),
                            "__attribute__" | "__attribute" => end += 1,
                            _ if self.token(end + 1).is_some_and(|(_, t)| {
                                t.kind == TokenKind::Identifier && t.span.start != name
                            }) =>
                            {
                                end += 1
                            }
                            _ => break,
                        }
                        if self.token(end).is_some_and(|(text, _)| text == "}") {
                            break;
                        }
                    }
                    Some(Word::Tag)
                }
                _ if self.token(at + 1).is_some_and(|(next, _)| next == "(")
                    && takes_parentheses(text) =>
                {
                    end = self.closing(at + 1);
                    Some(Word::Other)
                }
                _ => match token.kind {
                    TokenKind::Keyword => word(text),
                    TokenKind::Identifier if !has_type => Some(Word::TypeName),
                    TokenKind::Identifier | TokenKind::Literal | TokenKind::Punctuation => None,
                },
            };
            let Some(word) = word else { break };
            has_type |=
                !matches!(word, Word::Const | Word::Volatile | Word::Restrict | Word::Storage)
                    && (word != Word::Other || text != "__attribute__");
            let last = self.token(end).map_or(token, |(_, token)| token);
            found.push(Specifier {
                word,
                span: Span { start: token.span.start, end: last.span.end },
            });
            at = end + 1;
        }
        found
    }
}

fn takes_parentheses(text: &str) -> bool {
    matches!(
        text,
        "__attribute__"
            | "__attribute"
            | "typeof"
            | "__typeof__"
            | "__typeof"
            | "_Atomic"
            | "_Alignas"
            | "alignas"
            | "_BitInt"
    )
}

/// The meaning of a keyword among specifiers; `None` for what ends them.
fn word(text: &str) -> Option<Word> {
    Some(match text {
        "const" | "__const" | "__const__" => Word::Const,
        "volatile" | "__volatile" | "__volatile__" => Word::Volatile,
        "restrict" | "__restrict" | "__restrict__" => Word::Restrict,
        "unsigned" => Word::Unsigned,
        "signed" | "__signed" | "__signed__" => Word::Signed,
        "short" => Word::Short,
        "long" => Word::Long,
        "int" => Word::Int,
        "char" => Word::Char,
        "double" => Word::Double,
        "static" | "extern" | "register" | "auto" | "typedef" | "inline" | "__inline"
        | "__inline__" | "_Thread_local" | "__thread" | "__extension__" | "_Noreturn" => {
            Word::Storage
        }
        "void" | "float" | "_Bool" | "bool" | "_Complex" | "__complex__" | "__int128"
        | "__int128_t" | "_Float16" | "__float128" | "_Float128" | "_Atomic" => Word::Other,
        _ => return None,
    })
}

fn unknown() -> Type {
    Type {
        spelling: String::new(),
        bare: String::new(),
        is_const: false,
        is_volatile: false,
        is_restrict: false,
        kind: TypeKind::Other,
    }
}
