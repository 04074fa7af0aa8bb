//! What a marker says was done to a program.

/// One thing that was done to a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snippet {
    /// No other snippet of the text has it; later generations have larger ones.
    pub id: u32,
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

    pub(super) fn named(name: &str) -> Option<SnippetKind> {
        SnippetKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}
