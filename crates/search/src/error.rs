//! Why there is no such search.

/// Why there is no such search.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// A name that no method has.
    #[error("unknown method `{name}`; there are {known}")]
    UnknownMethod {
        name: String,
        /// The names that there are.
        known: String,
    },
    /// Nothing to be similar to.
    #[error("the buggy sequence has no optimizations")]
    NothingBuggy,
    /// Nothing to draw from.
    #[error("there are no candidate optimizations")]
    NoCandidates,
    /// More than there are genes.
    #[error("there are more than 65536 different optimizations")]
    TooMany,
}
