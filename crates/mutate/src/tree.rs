//! libclang's tree as plain data: nodes in the order of the text, and tokens.
//!
//! Comes from [`crate::sys`], goes into [`crate::view`].
//!
//! **Invariant:** node 0 is the root, and a parent stands before its children.

#![expect(non_upper_case_globals, reason = "libclang's own names")]

use std::sync::Arc;

use clang_sys::*;

use crate::span::Span;
use crate::types::Type;

/// Nodes and tokens of one text.
#[derive(Default)]
pub(crate) struct Tree {
    pub nodes: Vec<Node>,
    /// In order, without comments.
    pub tokens: Vec<Token>,
}

#[derive(Default)]
pub(crate) struct Node {
    pub kind: Kind,
    pub span: Span,
    /// Where libclang points at: the name of a declaration.
    pub location: usize,
    pub parent: usize,
    pub children: Vec<usize>,
    pub name: String,
    pub ty: Option<Arc<Type>>,
    /// What a function returns.
    pub result: Option<Arc<Type>>,
    /// Which declaration this is, or is a reference to: the place of the first
    /// one of its name.
    pub key: Option<usize>,
    /// What a reference refers to.
    pub target: Kind,
    pub is_definition: bool,
    pub is_static: bool,
    pub is_extern: bool,
    pub is_register: bool,
    pub is_variadic: bool,
    pub bit_width: Option<u32>,
}

#[derive(Clone, Copy)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Keyword,
    Identifier,
    Literal,
    Punctuation,
}

/// What a node is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    Root,
    Function,
    Variable,
    Parameter,
    Field,
    Record,
    Enum,
    EnumConstant,
    Typedef,
    DeclRef,
    MemberRef,
    Call,
    IntegerLiteral,
    Paren,
    Unary,
    Subscript,
    Binary,
    CompoundAssign,
    Conditional,
    Cast,
    CompoundLiteral,
    InitList,
    StatementExpression,
    Generic,
    /// `sizeof` and its like.
    TypeTrait,
    /// Mostly an implicit cast.
    Wrapper,
    /// Another expression, without parts that matter.
    Expression,
    Block,
    Label,
    Case,
    Default,
    If,
    Switch,
    While,
    Do,
    For,
    Goto,
    ComputedGoto,
    Continue,
    Break,
    Return,
    Asm,
    Empty,
    Declaration,
    /// Another statement: one with attributes.
    Statement,
    /// The name of a label.
    LabelRef,
    /// Types, attributes, assertions.
    #[default]
    Other,
}

impl Kind {
    /// From libclang's number.
    pub(crate) fn of(kind: CXCursorKind) -> Kind {
        match kind {
            CXCursor_TranslationUnit => Kind::Root,
            CXCursor_FunctionDecl => Kind::Function,
            CXCursor_VarDecl => Kind::Variable,
            CXCursor_ParmDecl => Kind::Parameter,
            CXCursor_FieldDecl => Kind::Field,
            CXCursor_StructDecl | CXCursor_UnionDecl => Kind::Record,
            CXCursor_EnumDecl => Kind::Enum,
            CXCursor_EnumConstantDecl => Kind::EnumConstant,
            CXCursor_TypedefDecl => Kind::Typedef,
            CXCursor_DeclRefExpr => Kind::DeclRef,
            CXCursor_MemberRefExpr => Kind::MemberRef,
            CXCursor_CallExpr => Kind::Call,
            CXCursor_IntegerLiteral => Kind::IntegerLiteral,
            CXCursor_ParenExpr => Kind::Paren,
            CXCursor_UnaryOperator => Kind::Unary,
            CXCursor_ArraySubscriptExpr => Kind::Subscript,
            CXCursor_BinaryOperator => Kind::Binary,
            CXCursor_CompoundAssignOperator => Kind::CompoundAssign,
            CXCursor_ConditionalOperator => Kind::Conditional,
            CXCursor_CStyleCastExpr => Kind::Cast,
            CXCursor_CompoundLiteralExpr => Kind::CompoundLiteral,
            CXCursor_InitListExpr => Kind::InitList,
            CXCursor_StmtExpr => Kind::StatementExpression,
            CXCursor_GenericSelectionExpr => Kind::Generic,
            CXCursor_UnaryExpr => Kind::TypeTrait,
            CXCursor_UnexposedExpr => Kind::Wrapper,
            CXCursor_CompoundStmt => Kind::Block,
            CXCursor_LabelStmt => Kind::Label,
            CXCursor_CaseStmt => Kind::Case,
            CXCursor_DefaultStmt => Kind::Default,
            CXCursor_IfStmt => Kind::If,
            CXCursor_SwitchStmt => Kind::Switch,
            CXCursor_WhileStmt => Kind::While,
            CXCursor_DoStmt => Kind::Do,
            CXCursor_ForStmt => Kind::For,
            CXCursor_GotoStmt => Kind::Goto,
            CXCursor_IndirectGotoStmt => Kind::ComputedGoto,
            CXCursor_ContinueStmt => Kind::Continue,
            CXCursor_BreakStmt => Kind::Break,
            CXCursor_ReturnStmt => Kind::Return,
            CXCursor_AsmStmt | CXCursor_MSAsmStmt => Kind::Asm,
            CXCursor_NullStmt => Kind::Empty,
            CXCursor_DeclStmt => Kind::Declaration,
            CXCursor_LabelRef => Kind::LabelRef,
            other if (100..200).contains(&other) => Kind::Expression,
            other if (200..300).contains(&other) => Kind::Statement,
            _ => Kind::Other,
        }
    }

    /// Whether its name is worth reading.
    pub(crate) fn has_name(self) -> bool {
        self.is_declaration() || matches!(self, Kind::DeclRef | Kind::Label | Kind::LabelRef)
    }

    /// Whether it gives a name a meaning.
    pub(crate) fn is_declaration(self) -> bool {
        matches!(
            self,
            Kind::Function
                | Kind::Variable
                | Kind::Parameter
                | Kind::Field
                | Kind::Record
                | Kind::Enum
                | Kind::EnumConstant
                | Kind::Typedef
        )
    }

    /// Whether it has a value.
    pub(crate) fn is_expression(self) -> bool {
        matches!(
            self,
            Kind::DeclRef
                | Kind::MemberRef
                | Kind::Call
                | Kind::IntegerLiteral
                | Kind::Paren
                | Kind::Unary
                | Kind::Subscript
                | Kind::Binary
                | Kind::CompoundAssign
                | Kind::Conditional
                | Kind::Cast
                | Kind::CompoundLiteral
                | Kind::InitList
                | Kind::StatementExpression
                | Kind::Generic
                | Kind::TypeTrait
                | Kind::Wrapper
                | Kind::Expression
        )
    }

    /// Whether it stands in a block, or could.
    pub(crate) fn is_statement(self) -> bool {
        matches!(
            self,
            Kind::Block
                | Kind::Label
                | Kind::Case
                | Kind::Default
                | Kind::If
                | Kind::Switch
                | Kind::While
                | Kind::Do
                | Kind::For
                | Kind::Goto
                | Kind::ComputedGoto
                | Kind::Continue
                | Kind::Break
                | Kind::Return
                | Kind::Asm
                | Kind::Empty
                | Kind::Declaration
                | Kind::Statement
        )
    }
}
