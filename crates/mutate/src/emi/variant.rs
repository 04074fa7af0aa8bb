//! A derived program, and what was done to it.
//!
//! **Invariant:** every snippet of a variant is marked in its text.

/// A program that does the same as the one it was derived from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// C with markers: comments that say which part is whose.
    pub text: String,
    /// What was done, earlier generations excluded, in the order of the text.
    pub snippets: Vec<Snippet>,
}

/// One thing that was done to a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snippet {
    /// No other snippet of the text has it; later generations have larger ones.
    pub id: u32,
    /// What it is.
    pub kind: SnippetKind,
    /// Where it begins, from 1 on; the same with and without markers.
    pub line: usize,
}

/// What can be done to a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SnippetKind {
    /// Code behind a condition that is never true.
    FalseBlock,
    /// A condition that is always true, around a statement.
    TrueGuard,
    /// Code behind a condition that is always true, which undoes what it does.
    TrueBlock,
    /// A statement that is never executed, taken away.
    Deletion,
    /// A statement of another program where nothing is executed.
    Insertion,
}

impl SnippetKind {
    /// All, in the order of the papers: Hermes's, Orion's, Athena's.
    pub const ALL: [SnippetKind; 5] = [
        SnippetKind::FalseBlock,
        SnippetKind::TrueGuard,
        SnippetKind::TrueBlock,
        SnippetKind::Deletion,
        SnippetKind::Insertion,
    ];

    /// `false-block`.
    pub fn name(self) -> &'static str {
        match self {
            SnippetKind::FalseBlock => "false-block",
            SnippetKind::TrueGuard => "true-guard",
            SnippetKind::TrueBlock => "true-block",
            SnippetKind::Deletion => "deletion",
            SnippetKind::Insertion => "insertion",
        }
    }

    pub(crate) fn named(name: &str) -> Option<SnippetKind> {
        SnippetKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}
