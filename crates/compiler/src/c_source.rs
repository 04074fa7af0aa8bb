//! A C program in memory, as front ends take it.

/// A C program in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CSource {
    /// What clang takes for its file name. `#include "..."` looks into its
    /// folder; the file itself need not exist.
    pub name: String,
    /// The text.
    pub text: Vec<u8>,
}
